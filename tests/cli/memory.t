#!/bin/bash
# Memory of a run on the CPU alone: the input fields and two buffers of psi, and 10 % more for all else, the
# program with its libraries (6 MiB) among it. It also holds while outputs, checkpoints and reports are
# written and read: one more field anywhere would exceed every limit.
build=$(realpath "${STRAKE_BUILD:-build}")
. "$(dirname "$0")/tap.bash"

if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    echo "1..0 # SKIP memory is not the program's own under a sanitizer"
    exit 0
fi
peak=$build/tests/peak
# Every thread has rings of its own: as many here as the limits are for.
export OMP_NUM_THREADS=2

# Every field is an array: nothing here may be one number everywhere.
cat >flow.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 2048, cols: 2048}
time: {dt: 0.01, steps: 2}
boundary: {rows: open, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: 0, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.1, maximum: 0.1}}
  u2: {random: {seed: 3, minimum: -0.1, maximum: 0.1}}
output: {every: 1, initial: true}
checkpoint: {every: 1}
CASE
sed '/psi:/a\  h: {random: {seed: 4, minimum: 1, maximum: 2}}' flow.yaml >flow_h.yaml

cat >wave.yaml <<'CASE'
problem: cahn_hilliard2d
grid: {rows: 3072, cols: 2048}
time: {dt: 0.0001, steps: 2}
parameters: {M: 1, B: 1, U: 1, K: 0.5}
fields:
  u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}
CASE
sed -e 's/2d/3d/' -e 's/grid:.*/grid: {planes: 256, rows: 256, cols: 256}/' wave.yaml >space.yaml

# Rings of rows are as large as the second cache of a core lets them be: where that has more than 1 MiB, for which the
# limits were measured, two threads may have twice that beside the arrays [KiB].
cache=$(($(getconf LEVEL2_CACHE_SIZE 2>/dev/null || echo 0) / 1024))
rings=$((cache > 1024 ? 2 * cache : 0))

# within NAME ARRAYS MIB_OF_A_FIELD ARGUMENTS...: a run succeeds and needs no more than allowed. How many pages of
# the program and of libraries count varies by 0.5 MiB with how these lie in the system's cache, and with what else runs: the
# least of up to three runs is what it needs, and twice as much more is allowed (in three dimensions a run needs 109.98 of 110 %).
within() {
    local name=$1 arrays=$2 field=$3 good=0 used=0 limit tries
    shift 3
    limit=$((arrays * field * 1024 * 11 / 10 + 1024 + rings))
    for tries in 1 2 3; do
        "$peak" "$STRAKE" run --on cpu --quiet "$@" >.out 2>.err </dev/null || good=1
        used=$(tail -n 1 .out)
        [ "$used" -gt "$limit" ] || break
    done
    [ "$used" -le "$limit" ] && [ "$used" -ge $((arrays * field * 1024)) ] || good=1
    report $good "$name"
    echo "# $used KiB used, $limit allowed, $((arrays * field * 1024)) in $arrays arrays"
}

within "h is a number: psi twice, u1, u2" 4 32 flow.yaml --output plain --report plain.json
within "h is a field: one array more" 5 32 flow_h.yaml --output field --report field.json
cp plain/checkpoint.strake .
within "a resumed run needs no more" 4 32 flow.yaml --output resumed --report resumed.json \
    --steps 3 --resume checkpoint.strake
within "nor does output of another field" 5 32 flow_h.yaml --output several --steps 1 \
    --set 'output.fields=[psi, h, u1]'
within "one thread or two" 4 32 flow.yaml --output one --threads 1
within "ghosts of three axes are no part of it" 2 128 space.yaml --output space --steps 1
within "single precision halves it" 4 32 flow.yaml --output single --set precision=single --set grid.rows=4096
within "a problem of one field needs two arrays" 2 48 wave.yaml --output wave
within "nor do 16 threads need more" 4 64 flow.yaml --output many --threads 16 --set grid.rows=4096

try run flow.yaml --on cpu --quiet --output straight --report straight.json --steps 3
exits 0 "the same run without a break succeeds"
check "the resumed run ended with the same bytes" cmp straight/psi_00000003.npy resumed/psi_00000003.npy
check "and the same sum and checksum" test \
    "$(grep '"sum"' straight.json)" = "$(grep '"sum"' resumed.json)"

# The same numbers under another header are the transposed field.
LC_ALL=C sed "1s/'fortran_order': False,/'fortran_order': True, /" plain/psi_00000000.npy >transposed.npy
sed 's/psi: {.*/psi: {file: transposed.npy}/' flow.yaml >file.yaml
within "nor does a file in Fortran order" 4 32 file.yaml --output file
done_testing
