#!/bin/bash
# Ranks of mpirun: the same files as one process on any number of ranks, exchange and places; a restart on
# others; no more memory than their slabs need. What goes wrong is in rank_failures.t.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
. "$here/ranks.bash"
# Kernels of several problems, compiled by all ranks at once; their speed does not matter here.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable STRAKE_CACHE_DIR=$scratch/programs
cat >even.yaml <<'END'
problem: mpdata2d
grid: {rows: 61, cols: 40}
time: {dt: 0.1, steps: 75}
boundary: {rows: periodic, cols: open}
fields:
  psi: {cone: {center: [20, 20], radius: 12, height: 4, base: 0.1}}
  u1: {constant: 0.3}
  u2: {constant: -0.2}
run: {on: cpu}
output: {every: 31}
END

# Of a sample every case with each exchange that it knows, on processors and on devices, and every row with a case.
sample="flow:4 flow:uneven even:2w even:3 even:late ring:3w ring:3m ring:uneven ring:2dm ring:2dw walls:3 walls:3d \
    cube:2m cube:3w cube:3dw winds:3 poles:3"
# row ROW WHAT RANKS ARGUMENTS...: the present case on ranks writes what one process writes
row() {
    case " $sample " in
        *" $case:$1 "*) ;;
        *) [ "${STRAKE_TESTS_LONG:-}" = 1 ] || return 1 ;;
    esac
    on_ranks "$3" run $case.yaml --quiet --output ranks "${@:4}"
    same "$case on $3 ranks$2"
}
one_way=(--set run.exchange=one_way)
messages=(--set run.exchange=messages)
for case in flow even ring walls cube winds poles; do
    rm -rf one
    "$STRAKE" run $case.yaml --on serial --quiet --output one || exit 1
    case $case in
        even | ring | cube) knows_one_way=1 ;;
        *) knows_one_way=0 ;;
    esac
    for ranks in 2 3 4; do
        [ $case$ranks = even4 ] || [ $case$ranks = walls2 ] || [ $case$ranks = walls4 ] && continue
        row $ranks "" $ranks
        [ $knows_one_way = 0 ] || row ${ranks}w ", exchanging one way" $ranks "${one_way[@]}"
        row ${ranks}m ", exchanging messages" $ranks "${messages[@]}"
    done
    row uneven " with uneven shares, step by step, with two threads each" 3 --set run.shares=1,3,2 \
        --set run.steps_per_sweep=1 --threads 2
    if row late " that compute all rows before they send any" 3 "${messages[@]}" --set run.overlap=off; then
        check "where run.overlap has an effect" test ! -s .err
    fi
    if [ -n "$("$STRAKE" devices | grep '^ocl:0')" ]; then
        row 2d " with an OpenCL device each" 2 --on ocl:0
        row 2dm " with OpenCL devices, exchanging messages" 2 --on ocl:0/cpu,ocl:0 --split 1/1,1 \
            "${messages[@]}" --set run.overlap=on
        if [ $case = ring ]; then
            on_ranks 2 run ring.yaml --on ocl:0 --set run.exchange=one_way --set run.blocks=4
            says 2 "one way through a device in blocks" "must fit in their device's memory" "one_way"
        fi
        if [ $knows_one_way = 1 ]; then
            row 2dw " with OpenCL devices, exchanging one way" 2 --on ocl:0/cpu,ocl:0 "${one_way[@]}" \
                --set run.overlap=on
            row 3dw " with places of their own, exchanging one way, step by step" 3 --on ocl:0,cpu/ocl:0/cpu \
                "${one_way[@]}" --set run.steps_per_sweep=1
        fi
        row 3d " with OpenCL places of their own each" 3 --on cpu/cpu,ocl:0/ocl:0 --split 1/1,1/1 \
            --set run.overlap=on
    else
        skip "$case on ranks with OpenCL devices" "no OpenCL device"
    fi
done

rm -rf one
"$STRAKE" run flow.yaml --on cpu --quiet --output one --report one.json
on_ranks 2 run flow.yaml --quiet --output two --steps 14 --report two.json
check "a run on 2 ranks leaves a checkpoint" test -s two/checkpoint.strake
check "its report counts the ranks" grep -q '"ranks": 2' two.json
on_ranks 3 run flow.yaml --quiet --output three --resume two/checkpoint.strake --report three.json
check "3 ranks continue it to the same bytes" cmp one/psi_00000023.npy three/psi_00000023.npy
check "and the same statistics" cmp <(grep checksum one.json) <(grep checksum three.json)
try run flow.yaml --on cpu --quiet --output again --resume two/checkpoint.strake
check "and so does one process" cmp one/psi_00000023.npy again/psi_00000023.npy
on_ranks 2 run flow.yaml --output two --steps 3
check "one summary is printed" test "$(grep -c 'steps 0 to 3 done' .out)" = 1
check "with the places of both ranks" grep -q '^1:cpu' .out

# Tracers with all that they may have, in 3D: fields, what is measured, and a restart on other ranks.
cat >tracers.yaml <<'END'
problem: mpdata3d
tracers: [a, b]
grid: {planes: 17, rows: 6, cols: 10}
time: {dt: 0.5, steps: 12}
boundary: {planes: open, rows: open, cols: periodic}
parameters: {decay: [0, 0.1], diffusivity: [0.05, 0]}
fields:
  a: {random: {seed: 1, minimum: 0, maximum: 1}}
  b: {cone: {center: [8, 3, 5], radius: 4, height: 2, base: 1}}
  source_a: {random: {seed: 2, minimum: -0.1, maximum: 0.1}}
  inflow_b: {random: {seed: 3, minimum: 1, maximum: 3}}
  h: {random: {seed: 4, minimum: 1, maximum: 2}}
  u1: {random: {seed: 5, minimum: -0.1, maximum: 0.1}}
  u2: {random: {seed: 6, minimum: -0.1, maximum: 0.1}}
  u3: {random: {seed: 7, minimum: -0.1, maximum: 0.1}}
run: {on: cpu}
output: {every: 6}
diagnostics: {every: 4}
checkpoint: {every: 5}
END
rm -rf one two
"$STRAKE" run tracers.yaml --on serial --quiet --output one || exit 1
on_ranks 3 run tracers.yaml --quiet --output ranks
same "tracers in 3D on 3 ranks"
on_ranks 2 run tracers.yaml --quiet --output two --steps 5
on_ranks 3 run tracers.yaml --quiet --output ranks --resume two/checkpoint.strake
check "3 ranks continue what 2 began to the same bytes" \
    cmp <(cat one/[ab]_00000012.npy) <(cat ranks/[ab]_00000012.npy)
check "and measure the same" cmp <(tail -n 2 one/diagnostics.csv) <(tail -n 2 ranks/diagnostics.csv)

# A rank has memory for its own slabs only, whatever is written and continued.
cat >large.yaml <<'END'
problem: mpdata2d
grid: {rows: 2048, cols: 2048}
time: {dt: 0.01, steps: 3}
boundary: {rows: periodic, cols: open}
fields:
  psi: {random: {seed: 1, minimum: 0, maximum: 1}}
  u1: {rotation: {omega: 0.001, center: [1000, 900]}}
  u2: {random: {seed: 3, minimum: -0.1, maximum: 0.1}}
  h: {random: {seed: 4, minimum: 1, maximum: 2}}
run: {on: cpu}
output: {every: 2, fields: [psi, h, u1]}
checkpoint: {every: 2}
END
# most_on RANKS ARGUMENTS...: what the largest of some ranks has resident [MiB]
most_on() {
    local ranks=$1
    shift
    timeout -k 5 600 mpirun -np "$ranks" "$peak" "$STRAKE" run large.yaml --quiet "$@" 2>.err \
        </dev/null | sort -n | tail -n 1 | awk '{print int($1 / 1024)}'
}
peak=${STRAKE_BUILD:-build}/tests/peak
field=32 # MiB; psi twice, u1, u2, h
if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "the memory of ranks" "memory is not the program's own under a sanitizer"
else
    rm -rf one four two base
    # What a rank has without a grid is MPI's, and differs from one MPI to the next.
    base=$(most_on 4 --output base --set grid.rows=64 --set grid.cols=64)
    alone=$(most_on 1 --output one)
    four=$(most_on 4 --output four --set run.shares=1,1,1,1)
    check "of four ranks none has more than a quarter and a little" \
        test "$four" -lt $((5 * field * 11 / 40 + 26 + base))
    check "where one process has everything" test "$alone" -ge $((5 * field))
    two=$(most_on 2 --output two --set run.shares=1,1 --resume four/checkpoint.strake)
    check "and two that continue, no more than a half" test "$two" -lt $((5 * field * 11 / 20 + 26 + base))
    echo "# $alone MiB in one process, $four in the largest of 4 ranks, $two of 2, $base with next to no grid"
    check "inputs and states are those of one process" \
        cmp <(cat one/*_0000000[23].npy) <(cat four/*_0000000[23].npy)
    check "also after a restart" cmp <(cat one/*_00000003.npy) <(cat two/*_00000003.npy)
    rm -rf one four two base
fi

done_testing
