#!/bin/bash
# Usage: bash tests/oclgrind.sh BUILD
# Runs small cases on Oclgrind, a simulated OpenCL device that checks every access, and fails if it
# found anything. Oclgrind itself exits with the program's status whatever it saw, so the log decides.
#
# Oclgrind 21.10 forgets the offset of clEnqueueWriteBuffer in its record of initialised memory: it
# then reports written data as uninitialised and may corrupt its own heap. A small library between
# Strake and Oclgrind (tests/support/oclgrind_write.c) therefore writes whole buffers.
#
# Ghost kernels copy whole slabs with the padding of their lines, which nothing writes and nothing
# reads; a stage that did read it would be reported itself. Those copies are left out.
set -u

# The log without copies of padding.
findings() { # LOG
    awk 'BEGIN { RS = ""; ORS = "\n\n" }
        !(/^Uninitialized value written/ && /Kernel: ghost_(slabs|lines)/)' "$1"
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

failed=0
one() { # NAME CASE WHERE SPLIT [OPTION]...
    local name=$1 case_file=$2 where=$3 split=$4
    shift 4
    # The record of initialised memory is not made for a second thread, such as the CPU stripe's.
    local memory=--uninitialized
    [ "$where" = ocl:0 ] || memory=
    echo "oclgrind: $name"
    if ! timeout 600 oclgrind --check-api --data-races $memory --max-errors 100000 \
        --log "$out/$name.log" \
        "$build/strake" run "$out/$case_file.yaml" --on "$where" --split "$split" --no-tune --quiet \
        --output "$out/$name" "$@"; then
        echo "oclgrind: $name: strake failed"
        failed=1
    elif ! "$build/strake" run "$out/$case_file.yaml" --on serial --quiet \
        --output "$out/$name.serial" "$@" ||
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
one open open ocl:0 1
one periodic periodic ocl:0 1
one mixed open cpu,ocl:0 1,1
# No ocl:0,ocl:0: Oclgrind 21.10 computes wrong results when two threads drive a context each.
one basic open ocl:0 1 --set scheme.nonoscillatory=false
one single open ocl:0 1 --set precision=single

[ "$failed" -eq 0 ] && echo "oclgrind: no findings"
exit "$failed"
