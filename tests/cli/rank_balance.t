#!/bin/bash
# Slabs that move between ranks while a run goes on: the same files as without, under every policy and
# exchange, on the CPU and on OpenCL devices; away from a rank that becomes slow; not where shares are given.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
. "$here/ranks.bash"

# moved NAME LEAST MOST: the last report has so many moves between ranks
moved() {
    local moves
    moves=$(sed -n 's/.*"rank_balance": .*"moves": \([0-9]*\), "decisions".*/\1/p' report.json)
    check "$1: $2 to $3 moves (${moves:-none reported})" \
        test "${moves:-0}" -ge "$2" -a "${moves:-99}" -le "$3"
}

# rows_of RANK: slabs of a rank with one place, at the end of the last report
rows_of() {
    sed -n 's/.*"rank": '"$1"', .*"rows": \[\([0-9]*\), \([0-9]*\)\].*/\1 \2/p' report.json |
        awk '{print $2 - $1}'
}

has_device=$("$STRAKE" devices | grep '^ocl:0')

# bisected RANKS NAME ARGUMENTS...: bisection moves slabs of equal shares at its first looks, whatever they show; who
# was measured to be slow would begin with no more than a rank must have
bisected() {
    local ranks=$1 shares=1,1,1 name="$case on $1 ranks$2"
    shift 2
    on_ranks "$ranks" run $case.yaml --quiet --output ranks --report report.json \
        --set run.balance=bisection --set run.shares="${shares:0:2*ranks-1}" "$@"
    same "$name"
    moved "$name" 1 3
}

for case in flow ring walls cube; do
    rm -rf one
    "$STRAKE" run $case.yaml --on serial --quiet --output one || exit 1
    bisected 2 ""
    case $case in
        flow | cube)
            bisected 3 ", exchanging messages" --set run.exchange=messages --set run.steps_per_sweep=1
            # Kernels take long to compile: with the devices of the flow only where whole matrices are asked for.
            if [ $case = flow ] && [ "${STRAKE_TESTS_LONG:-}" != 1 ]; then
                continue
            elif [ -n "$has_device" ]; then
                bisected 2 " with OpenCL devices" --on cpu,ocl:0/ocl:0 --split 1,1/1
            else
                skip "$case on 2 ranks with OpenCL devices" "no OpenCL device"
            fi
            ;;
        ring) bisected 3 ", exchanging one way" --set run.exchange=one_way ;;
        walls)
            on_ranks 3 run $case.yaml --quiet --output ranks --set run.balance=slice
            same "$case on 3 ranks, by slices"
            ;;
    esac
done

rm -rf one
"$STRAKE" run flow.yaml --on serial --quiet --output one
on_ranks 3 run flow.yaml --quiet --output three --steps 14 --set run.shares=1,1,1 \
    --set run.balance=bisection --report report.json
moved "before a checkpoint" 1 3
on_ranks 2 run flow.yaml --quiet --output two --resume three/checkpoint.strake --set run.balance=bisection
check "2 ranks continue what 3 with moves have written" cmp one/psi_00000023.npy two/psi_00000023.npy

on_ranks 2 run flow.yaml --quiet --output ranks --report report.json --set run.shares=1,2
check "given shares stay" grep -q '"rank_balance": {"policy": "fixed".*"decisions": \[\]' report.json
check "as they were given" test "$(rows_of 0) $(rows_of 1)" = "20 41"
try run flow.yaml --quiet --output ranks --report report.json
check "one process has no ranks to balance" test "$(grep -c rank_balance report.json)" = 0

# Much slower than what other programs could make the other one: it keeps few of the 200 rows of 400 that both get.
slow=(--set grid.rows=400 --set grid.cols=500 --set time.steps=600 --set output.every=300
    --set checkpoint.every=0 --set diagnostics.every=0 --report report.json --quiet)
both=(--set run.shares=1,1 --set run.balance=model)
rm -rf one
"$STRAKE" run walls.yaml "${slow[@]}" --output one
injected slow:1:cpu@60*20 on_ranks 2 run walls.yaml "${slow[@]}" "${both[@]}" --output ranks
same "a rank that becomes slow"
moved "a rank that becomes slow" 1 30
check "it ends with less than 180 of 400 rows ($(rows_of 1))" test "$(rows_of 1)" -lt 180
check "the report has the reason" grep -q '"moves": true, "why": "predicted' report.json
if [ -n "$has_device" ]; then
    deep=(--set grid.planes=60 --set grid.rows=24 --set grid.cols=50 --set time.steps=300
        --set output.every=150 --set checkpoint.every=0 --set diagnostics.every=0 --report report.json --quiet)
    rm -rf one
    "$STRAKE" run cube.yaml "${deep[@]}" --output one
    injected slow:0:ocl:0@60*30 on_ranks 2 run cube.yaml "${deep[@]}" "${both[@]}" --on ocl:0 --output ranks
    same "a device of a rank that becomes slow"
    most=$(grep -o '"rows": \[[0-9]*, [0-9]*\], "seconds"' report.json | grep -o '[0-9]*,' | sort -n | tail -1)
    moved "a device of a rank that becomes slow" 1 30
    check "its rank ends with less than the ${most%,} of 60 planes that it had ($(rows_of 0))" \
        test "$(rows_of 0)" -lt "${most%,}"

    # A device for 50 rows, and one more move that would bring 70.
    rm -rf one
    "$STRAKE" run ring.yaml --quiet --output one --set grid.rows=99 --set grid.cols=136
    on_ranks 2 run ring.yaml --output ranks --set grid.rows=99 --set grid.cols=136 --on ocl:0 \
        --report report.json --set run.shares=1,1 --set run.balance=bisection \
        --set run.exchange=one_way --set run.device_memory=400000
    check "a device without room ends the moves" \
        grep -q '^strake: note: rows stay with their ranks from now on: .*stripes must fit' .err
    same "and not the run"
    moved "and nothing counts as moved" 0 0
else
    skip "devices of ranks that become slow, or have no room" "no OpenCL device"
fi

for rank in 0 1; do
    rm -rf lost
    injected die:$rank:move@1 on_ranks 3 run flow.yaml --quiet --output lost \
        --set checkpoint.every=2 --set run.shares=1,1,1 --set run.balance=bisection
    check "rank $rank dies in a move: it is named" grep -q "^strake: .*rank $rank (process [0-9]*) has died" .err
    check "once" test "$(grep -c 'has died' .err)" = 1
    check "with the last checkpoint" grep -q '^strake: the last checkpoint has step [0-9]*;' .err
done

for word in die:move@3 die:1:move@0 die:1:move@3*2 die:1:cpu@3 fail:1:cpu@3 fail:1:move@3 slow:1:cpu@3; do
    injected $word try run flow.yaml --quiet --output bad
    fails 2 "STRAKE_INJECT=$word is refused" "STRAKE_INJECT: \`$word\`: expected"
done
injected slow:2:cpu@3*3 on_ranks 2 run flow.yaml --quiet --output bad
says 2 "a rank that is not there" "STRAKE_INJECT: \`slow:2:cpu@3*3\`"
done_testing
