#!/bin/bash
# Usage: bash tests/fuzz/seeds.sh PROGRAM FOLDER
# Makes what the targets of `make fuzz` begin with, from what the repository has and the program writes:
# FOLDER/case, npy, checkpoint, tuned, model, asc.
set -eu
program=$(realpath "$1")
mkdir -p "$2"/{case,npy,checkpoint,tuned,model,asc}
out=$(realpath "$2")
cd "$(dirname "$0")/../.."
for file in data/cases/*.yaml tests/cases_bad/*.yaml; do
    # One that is too large to be read at all teaches nothing.
    [ "$(wc -c <"$file")" -gt 20000 ] || cp "$file" "$out/case/"
done
printf 'problem: mpdata2d\ngrid: {rows: 8, cols: 9}\ntime: {steps: 1}\nfields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n--set\ngrid.rows=9\nrun.shares=[1, 2]\noutput.fields=[psi]\n' \
    >"$out/case/sets.yaml"
cp tests/cases_bad/*.npy "$out/npy/"
cp data/tuned/*.yaml "$out/tuned/"
grid='ncols 3\nnrows 2\nxllcorner 500000.5\nyllcorner 4177000\ncellsize 10\nNODATA_value -9999\n1 2.5 -9999\n4e2 nan 6\n'
printf "f$grid" >"$out/asc/corner.asc"
printf "g$grid" | sed 's/corner/CENTER/; s/$/\r/; s/ /\t/g' >"$out/asc/center.asc"
printf 'hNROWS 1\nNCOLS 1\nxllcenter 0\nyllcenter 0\ncellsize .5\nnodata_value 0.0\n0' >"$out/asc/zero.asc"
printf '{"strake": "0.1.0", "format": 4,\n "paths": {}, "active": {}, "overlap": {}, "launch": {}}\n' >"$out/model/plain.yaml"
for precision in double single; do
    "$program" run "$out/case/sets.yaml" --on serial --quiet --output "$out/run" --set precision=$precision \
        --set checkpoint.every=1 2>/dev/null || sed '/^--set/,$d' "$out/case/sets.yaml" >"$out/plain.yaml"
    [ ! -f "$out/plain.yaml" ] || "$program" run "$out/plain.yaml" --on serial --quiet --output "$out/run" \
        --set precision=$precision --set checkpoint.every=1
    cp "$out/run/checkpoint.strake" "$out/checkpoint/$precision.strake"
    cp "$out"/run/psi_00000001.npy "$out/npy/$precision.npy"
done
# A model as the program stores it, where there is a device to measure.
if "$program" model --on ocl:0 --budget 2 --cache "$out/cache" --quiet >/dev/null 2>&1; then
    cp "$out"/cache/model-*.yaml "$out/model/"
fi
rm -rf "$out/run" "$out/cache" "$out/plain.yaml"
