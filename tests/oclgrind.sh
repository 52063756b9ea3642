#!/bin/bash
# Usage: bash tests/oclgrind.sh BUILD
# Runs small cases on Oclgrind, a simulated OpenCL device that checks every access, and fails if it
# found anything. Oclgrind itself exits with the program's status whatever it saw, so the log decides.
#
# Checked are accesses, the use of the API and data races. Not uninitialised values: Oclgrind 21.10
# reports the constants that kernels take as arguments, and forgets the offset of
# clEnqueueWriteBuffer. Strake opens the simulator through a small library (oclgrind_write.c) that
# writes whole buffers.
#
# Oclgrind compares an index into an array of arrays, which the compiler has flattened, with the length
# of the innermost one ("exceeds static array size"): left out, since a real overrun is reported as an
# invalid access too.
set -u

# The log without what the simulator misunderstands.
findings() { # LOG
    awk 'BEGIN { RS = ""; ORS = "\n\n" } !/exceeds static array size/' "$1"
}

build=$(cd "$1" && pwd) || exit 1
out=$build/oclgrind
rm -rf "$out"
mkdir -p "$out"
# Kernels built for the simulator must not land in the user's cache. Strake opens its OpenCL library
# by name, which the preloading of oclgrind alone would not redirect.
export STRAKE_CACHE_DIR=$out/cache
folder=$(oclgrind env | sed -n 's/^LD_LIBRARY_PATH=\([^:]*\).*/\1/p')
${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -shared -fPIC -o "$out/libwrite.so" \
    tests/support/oclgrind_write.c "$folder/liboclgrind-rt.so" -ldl || exit 1
export STRAKE_OPENCL_LIBRARY=$out/libwrite.so

cat >"$out/open.yaml" <<'CASE'
problem: mpdata2d
grid: {rows: 24, cols: 40}
time: {dt: 0.1, steps: 3}
boundary: {rows: open, cols: open}
scheme: {iterations: 2, nonoscillatory: true}
fields:
  psi: {cone: {center: [12, 24], radius: 6, height: 4, base: 1}}
  u1: {rotation: {omega: 0.2, center: [12, 20]}}
  u2: {rotation: {omega: 0.2, center: [12, 20]}}
CASE
sed -e 's/^boundary:.*/boundary: {rows: periodic, cols: periodic}/' \
    -e 's/^  u1:.*/  u1: {constant: 0.3}/' -e 's/^  u2:.*/  u2: {constant: -0.2}/' \
    "$out/open.yaml" >"$out/periodic.yaml"
cat >"$out/planes.yaml" <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 9, rows: 11, cols: 13}
time: {dt: 0.001, steps: 2}
boundary: {rows: no_flux}
parameters: {M: 1, K: 1}
fields: {u: {random: {seed: 1, minimum: -1, maximum: 1}}}
CASE

failed=0
one() { # NAME CASE WHERE SPLIT [OPTION]...
    local name=$1 case_file=$2 where=$3 split=$4 word reference=()
    shift 4
    for word in "$@"; do # without what only devices heed
        case $word in
            --set | run.*) ;;
            *) reference+=(--set "$word") ;;
        esac
    done
    echo "oclgrind: $name"
    if ! timeout 600 oclgrind --check-api --data-races --max-errors 100000 \
        --log "$out/$name.log" \
        "$build/strake" run "$out/$case_file.yaml" --on "$where" --split "$split" --no-tune --quiet \
        --output "$out/$name" "$@"; then
        echo "oclgrind: $name: strake failed"
        failed=1
    elif ! "$build/strake" run "$out/$case_file.yaml" --on serial --quiet \
        --output "$out/$name.serial" "${reference[@]}" ||
        ! "$build/strake" compare "$out/$name" "$out/$name.serial"; then
        echo "oclgrind: $name: differs from serial"
        failed=1
    fi
    # The log may be missing: Oclgrind makes it when it has something to say.
    [ -f "$out/$name.log" ] || : >"$out/$name.log"
    findings "$out/$name.log" >"$out/$name.findings"
    if [ -s "$out/$name.findings" ]; then
        head -n 40 "$out/$name.findings"
        echo "oclgrind: $name: these and more findings are in $out/$name.findings"
        failed=1
    fi
}

if ! oclgrind "$build/strake" devices --json | grep -qi oclgrind; then
    echo "oclgrind: strake does not see the simulated device:"
    oclgrind "$build/strake" devices
    exit 1
fi
for fusion in none plain stream tile; do
    one open-$fusion open ocl:0 1 --set run.fusion=$fusion
    one periodic-$fusion periodic ocl:0 1 --set run.fusion=$fusion
    one single-$fusion open ocl:0 1 --set precision=single --set run.fusion=$fusion
done
one basic open ocl:0 1 --set scheme.nonoscillatory=false --set run.fusion=none
one blocks open ocl:0 1 --set run.blocks=3 --set run.steps_per_sweep=2
one refined open ocl:0 1 --set run.fusion=stream --set run.division=refined
one refined-plain periodic ocl:0 1 --set run.fusion=plain --set run.division=refined --set precision=single
one mixed open cpu,ocl:0 1,1 --set run.fusion=stream
one columns open ocl:0 1 --set run.fusion=stream --set run.vector=2 --set run.group_width=8
one columns-single periodic ocl:0 1 --set run.fusion=stream --set run.vector=4 --set precision=single
one tiles periodic ocl:0 1 --set run.fusion=tile --set run.group_width=7 --set run.group_height=3 --set run.group_rows=9 --set run.prefetch=1
one planes planes ocl:0 1 --set run.fusion=stream --set run.group_width=8 --set run.group_height=6
one planes-columns planes ocl:0 1 --set run.fusion=stream --set run.vector=2 --set run.group_width=6 --set run.group_height=4
# No ocl:0,ocl:0: Oclgrind 21.10 computes wrong results when two threads drive a context each.

[ "$failed" -eq 0 ] && echo "oclgrind: no findings"
exit "$failed"
