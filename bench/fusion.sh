#!/bin/sh
# Measures how far stages are fused on one OpenCL device: parity with serial, then rates.
# usage: bench/fusion.sh OUTPUT_FOLDER WHERE PLAN [STRAKE]      (from the repository root, after `make`)
# PLAN is a shell file of lines such as `measure SIZE STEPS [--set ...]` and `parity [--set ...]`.
set -eu
out=$1 on=$2 plan=$3 strake=${4:-build/strake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cat >"$work/parity.yaml" <<'YAML'
problem: mpdata2d
grid: {rows: 733, cols: 1021}
time: {dt: 0.1, steps: 20}
boundary: {rows: open, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {deformation: {amplitude: 0.4, waves: [3, 4]}}
  u2: {deformation: {amplitude: 0.4, waves: [3, 4]}}
  h: {random: {seed: 2, minimum: 1, maximum: 2}}
YAML
parity() { # options of the case, then -- and options of the kernels
    both=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        both="$both $1"
        shift
    done
    [ $# -gt 0 ] && shift
    # shellcheck disable=SC2086
    {
        "$strake" run "$work/parity.yaml" --on serial --quiet $both --output "$work/serial"
        "$strake" run "$work/parity.yaml" --on "$on" --quiet $both "$@" --output "$work/other"
    } 2>>"$out/errors.txt" || echo "FAILED: $both $*" | tee -a "$out/parity.txt"
    if "$strake" compare "$work/serial" "$work/other" >"$work/compare.txt" 2>&1; then
        echo "equal: $both $*" >>"$out/parity.txt"
    else
        echo "DIFFERENT: $both $*" | tee -a "$out/parity.txt"
    fi
}
measure() { # SIZE STEPS options
    size=$1 steps=$2
    shift 2
    cat >"$work/cone.yaml" <<YAML
problem: mpdata2d
grid: {rows: $size, cols: $size}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: open}
fields:
  psi: {cone: {center: [$((size / 2)), $((size * 3 / 4))], radius: $((size / 7)), height: 4, base: 0}}
  u1: {rotation: {omega: $(awk "BEGIN {print 4.0 / $size}"), center: [$((size / 2)), $((size / 2))]}}
  u2: {rotation: {omega: $(awk "BEGIN {print 4.0 / $size}"), center: [$((size / 2)), $((size / 2))]}}
  h: {random: {seed: 2, minimum: 1, maximum: 1.5}}
output: {fields: []}
YAML
    "$strake" run "$work/cone.yaml" --on "$on" "$@" --quiet --report "$work/report.json" 2>"$work/err" || {
        echo "$size $*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '%6s  %-100s %10.1f Mcell/s\n' "$size" "$*" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 |
            awk '{print $2 / 1e6}')" | tee -a "$out/rates.txt"
}
cp "$plan" "$out/plan.sh"
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || echo 'commit unknown'
    uname -sr
    "$strake" devices
    echo "on $on"
} >"$out/machine.txt"
. "$out/plan.sh"
