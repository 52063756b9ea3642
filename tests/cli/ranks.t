#!/bin/bash
# Ranks of mpirun: the same files as one process on any number of ranks, exchange and places; a restart on
# others; failures that end every rank with one message.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
if [ ! -e "$(dirname "$STRAKE")/libstrake-mpi.so" ]; then
    OMPI_COMM_WORLD_SIZE=2 try run case.yaml --quiet
    fails 2 "several ranks without MPI are refused" "built without MPI" "one of several ranks (OMPI_COMM_WORLD_SIZE=2)"
fi
. "$here/ranks.bash"
# Kernels of several problems, compiled by all ranks at once; their speed does not matter here.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable STRAKE_CACHE_DIR=$scratch/programs
try run flow.yaml --on cpu --steps 1 --output lone --set 'run.shares=[1,2]' --set run.exchange=messages
exits 0 "settings of ranks do no harm to a lone process"
check "which is told so" grep -q 'note: run.shares, run.exchange have no effect: no other rank' .err

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
sample="flow:4 flow:3m flow:uneven flow:2dm even:2w even:3 even:late even:2d even:3dw ring:3w ring:3m ring:uneven \
    ring:2dm ring:2dw ring:3d walls:3 walls:late walls:3d cube:2m cube:3w cube:2d cube:3dw cube:3d"
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
for case in flow even ring walls cube; do
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
    rm -rf one four two
    alone=$(most_on 1 --output one)
    four=$(most_on 4 --output four --set run.shares=1,1,1,1)
    check "of four ranks none has more than a quarter and a little" \
        test "$four" -lt $((5 * field * 11 / 40 + 40))
    check "where one process has everything" test "$alone" -ge $((5 * field))
    two=$(most_on 2 --output two --set run.shares=1,1 --resume four/checkpoint.strake)
    check "and two that continue, no more than a half" test "$two" -lt $((5 * field * 11 / 20 + 40))
    echo "# $alone MiB in one process, $four in the largest of 4 ranks, $two of 2"
    check "inputs and states are those of one process" \
        cmp <(cat one/*_0000000[23].npy) <(cat four/*_0000000[23].npy)
    check "also after a restart" cmp <(cat one/*_00000003.npy) <(cat two/*_00000003.npy)
    rm -rf one four two
fi

on_ranks 2 run flow.yaml --on serial
says 2 "serial is for one process" "start one"
on_ranks 2 run flow.yaml --on cpu/cpu/cpu
says 2 "places for other ranks than there are" "parts for 3 ranks" "there are 2"
on_ranks 2 run flow.yaml --on cpu/ocl:99
says 2 "what only one rank finds wrong" "rank 1: --on: \`ocl:99\`"
on_ranks 2 run flow.yaml --set run.shares=1,2,3
says 2 "shares for other ranks than there are" "run.shares"
on_ranks 4 run flow.yaml --set grid.rows=7
says 2 "more ranks than rows suffice for" "7 rows are too few for 4 ranks"
on_ranks 2 run flow.yaml --set run.exchange=one_way
says 2 "one way between open edges" "needs a periodic boundary"
on_ranks 2 run flow.yaml --set run.exchange=one_way --set boundary.rows=periodic
says 2 "one way with static fields" "field u1"
if [ -n "$("$STRAKE" devices | grep '^ocl:0')" ]; then
    on_ranks 2 run ring.yaml --on ocl:0 --set run.exchange=one_way --set run.blocks=4
    says 2 "one way through a device in blocks" "must fit in their device's memory" "one_way"
else
    skip "one way through a device in blocks" "no OpenCL device"
fi
on_ranks 2 run nofile.yaml
says 1 "a case that is not there" "nofile.yaml"
on_ranks 2 run ring.yaml --quiet --output bad --set scheme.unstable=allow --set time.dt=1
says 1 "NaN stops all ranks" "NaN or Inf"
check "and no output of a later step is there" test ! -e bad/u_00000025.npy

on_ranks 3 model --on cpu --budget 1 --quiet --report model.json
check "messages between ranks are modelled" grep -q '^rank 0 to rank 2' .out
check "from 8 bytes on" grep -qE '^  messages +8 B' .out
check "and reported" grep -qE '"messages": .*"from": 0, "to": 2, .*"regimes"' model.json
check "once" test "$(grep -c '^rank 0' .out)" = 1
on_ranks 2 model --on ocl:99
says 2 "a device that rank 0 does not have ends both" "ocl:99"

# rank_of NUMBER: process of that rank in the present run.
rank_of() { processes_of "$mark" "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1"; }

# lose SIGNAL RANK ARGUMENTS...: a long run on 2 ranks, one of which gets a signal after a checkpoint.
lose() {
    local signal=$1 rank=$2 tries=0
    shift 2
    rm -rf lost
    on_ranks 2 run flow.yaml --output lost --quiet --steps 100000000 --set output.every=0 \
        --set checkpoint.every=200 "$@" &
    while [ ! -s lost/checkpoint.strake ] && [ $tries -lt 3000 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    # Without a rank to lose there is nothing to wait for.
    kill -"$signal" "$(rank_of "$rank")" || end_processes "$mark"
    wait $!
}

# Ranks of one machine have the rows between them in common.
on_ranks 2 run flow.yaml --output lost --quiet --steps 100000000 --set output.every=0 &
tries=0
while ! grep -q memfd:strake /proc/"$(rank_of 1)"/maps 2>/dev/null && [ $tries -lt 3000 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
files=$(for rank in 0 1; do awk '/memfd:strake/ {print $5}' /proc/"$(rank_of $rank)"/maps; done | sort -u)
check "ranks of one machine have one file in memory" test "$(echo "$files" | grep -c '[1-9]')" = 1
kill "$(rank_of 1)" || end_processes "$mark"
wait $!

lose KILL 1
check "a rank that dies is named" grep -q '^strake: .*rank 1 (process [0-9]*) has died' .err
check "once" test "$(grep -c 'has died' .err)" = 1
check "with the last checkpoint" grep -q \
    '^strake: the last checkpoint has step [0-9]*00; .* with: mpirun -np 2 strake run --resume lost/' .err
lose KILL 0
check "so is rank 0, by another" grep -q '^strake: .*rank 0 (process [0-9]*) has died' .err
steps=$(od -An -t d8 -j 32 -N 8 lost/checkpoint.strake | tr -d ' ')
rm -rf whole
"$STRAKE" run flow.yaml --on cpu --quiet --output whole --steps $((steps + 10)) --set output.every=0
try run flow.yaml --on cpu --quiet --output rest --steps $((steps + 10)) --set output.every=0 \
    --resume lost/checkpoint.strake
check "and the checkpoint continues to the right bytes" \
    cmp whole/psi_"$(printf %08d $((steps + 10)))".npy rest/psi_"$(printf %08d $((steps + 10)))".npy
lose TERM 1
check "a signal to one rank ends all after a step" grep -q '^strake: interrupted after step' .err
check "and says how to continue" grep -q 'continue with: mpirun -np 2 strake run --resume lost/' .err
# Seldom a checkpoint: the ranks are between two steps when one stops, not gathering fields.
lose STOP 1 --set run.patience=4 --set checkpoint.every=20000
check "a rank that does not answer is given up" grep -q 'rank 0 has waited [0-9]* s for rank 1' .err
lose STOP 0 --set run.patience=4 --set checkpoint.every=20000
check "so is rank 0, by another" grep -q 'rank 1 has waited [0-9]* s for rank 0' .err

# Rank 0 takes longer for the diagnostics than the others have patience.
on_ranks 2 run ring.yaml --quiet --output slow --set grid.rows=1009 --set grid.cols=1009 --steps 1 \
    --set diagnostics.every=2 --set output.every=0 --set checkpoint.every=0 --set run.patience=2
check "rank 0 has the time that diagnostics take" test "$code" = 0
check "and writes them" test "$(grep -c . slow/diagnostics.csv)" = 2
# As many steps at once as the ranks have rows for.
on_ranks 4 run ring.yaml --on cpu --output ranks --set grid.rows=17 --set run.steps_per_sweep=4 \
    --set run.shares=1,1,1,1
check "fewer steps at once than asked for, where a rank has too few rows" test "$code" = 0
check "which is told" grep -q '^strake: note: run.steps_per_sweep: 4; the ranks take no more than ' .err
done_testing
