#!/bin/bash
# What goes wrong on ranks of mpirun: refusals and failures end every rank with one message; ranks that die, stop or get
# a signal are named, with how to go on; messages between ranks are modelled.
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

begin serial 2 run flow.yaml --on serial
begin places 2 run flow.yaml --on cpu/cpu/cpu
begin one 2 run flow.yaml --on cpu/ocl:99
begin shares 2 run flow.yaml --set run.shares=1,2,3
begin rows 4 run flow.yaml --set grid.rows=7
begin edges 2 run flow.yaml --set run.exchange=one_way
begin static 2 run flow.yaml --set run.exchange=one_way --set boundary.rows=periodic
begin nofile 2 run nofile.yaml
begin nan 2 run ring.yaml --quiet --output bad --set scheme.unstable=allow --set time.dt=1
begin model 2 model --on ocl:99
ended serial
says 2 "serial is for one process" "start one"
ended places
says 2 "places for other ranks than there are" "parts for 3 ranks" "there are 2"
ended one
says 2 "what only one rank finds wrong" "rank 1: --on: \`ocl:99\`"
ended shares
says 2 "shares for other ranks than there are" "run.shares"
ended rows
says 2 "more ranks than rows suffice for" "7 rows are too few for 4 ranks"
ended edges
says 2 "one way between open edges" "needs a periodic boundary"
ended static
says 2 "one way with static fields" "field u1"
ended nofile
says 1 "a case that is not there" "nofile.yaml"
ended model
says 2 "a device that rank 0 does not have ends both" "ocl:99"
ended nan
says 1 "NaN stops all ranks" "NaN or Inf"
check "and no output of a later step is there" test -e nan/bad -a ! -e nan/bad/u_00000025.npy

little_memory
on_ranks 3 model --on cpu --budget 1 --quiet --report model.json
check "messages between ranks are modelled" grep -q '^rank 0 to rank 2' .out
check "from 8 bytes on" grep -qE '^  messages +8 B' .out
check "and reported" grep -qE '"messages": .*"from": 0, "to": 2, .*"regimes"' model.json
check "once" test "$(grep -c '^rank 0' .out)" = 1

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
tries=0
files=
# Rows that move between ranks bring another file: for a moment one rank has none, or the one before.
while [ "$(echo "$files" | grep -c '[1-9]')" != 1 ] && [ $tries -lt 600 ]; do
    [ $tries -eq 0 ] || sleep 0.1
    files=$(for rank in 0 1; do awk '/memfd:strake/ {print $5}' /proc/"$(rank_of $rank)"/maps; done | sort -u)
    tries=$((tries + 1))
done
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
lose STOP 1 --set run.patience=2 --set checkpoint.every=10000
check "a rank that does not answer is given up" grep -q 'rank 0 has waited [0-9]* s for rank 1' .err
lose STOP 0 --set run.patience=2 --set checkpoint.every=10000
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
