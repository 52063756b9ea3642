#!/bin/bash
# Signals that end a run: a checkpoint is left with or without a `checkpoint` key, by each problem, and
# it continues to the bytes of an unbroken run; where there is nothing to save, or no place for it, that is said.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"

cat >mpdata.yaml <<'END'
problem: mpdata2d
grid: {rows: 400, cols: 500}
time: {dt: 0.1, steps: 100000000}
boundary: {rows: open, cols: periodic}
fields: {psi: {random: {seed: 1}}, u1: {constant: 0.2}, u2: {constant: -0.1}, h: {constant: 1}}
END
cat >lava.yaml <<'END'
problem: lava
grid: {rows: 200, cols: 250, dx: 10, dy: 10}
time: {steps: 100000000, end: 100000000}
vents: [{row: 100, col: 120, rate: 1}]
fields: {terrain: {plane: {slope: [0.2, -0.1]}}, thickness: {cone: {center: [110, 120], radius: 60, height: 3}}}
END
cat >sph.yaml <<'END'
problem: sph2d
scene:
  spacing: 0.01
  to: [0.8, 0.4]
  fluid: [{box: {from: [0, 0], to: [0.24, 0.24]}}]
  walls: [{sides: [left, right, bottom]}]
time: {steps: 100000000, end: 100000}
END

wait_for() { # wait_for PROCESS COMMAND...: until the command succeeds, or the process has ended
    local process=$1 tries
    shift
    for tries in $(seq 2400); do
        "$@" && return 0
        kill -0 "$process" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}
# Bash starts programs behind it with SIGINT ignored; mpirun takes it from there.
behind() { env --default-signal=INT "$@" >.out 2>.err </dev/null & }
later() { # later PROCESS: a moment in which some steps are made
    kill -0 "$1" 2>/dev/null && sleep 0.1
}
ended() { # ended PROCESS: leaves its exit status in $code
    code=0
    wait "$1" || code=$?
}
continues() { # continues NAME FOLDER CASE: the checkpoint there leads to the files of an unbroken run
    local step
    step=$(sed -n 's/^strake: interrupted after step \([0-9]*\)[ ,].*/\1/p' .err)
    rm -rf unbroken
    try run "$3" --on cpu --quiet --set output.initial=true --steps $((${step:-0} + 7)) --output unbroken
    try run "$3" --on serial --quiet --set output.initial=true --steps $((${step:-0} + 7)) --output "$2" \
        --resume "$2/checkpoint.strake"
    [ "$code" -eq 0 ] && [ "$(wc -l <unbroken/index.csv)" -ge 3 ] &&
        diff -r -x run.json -x checkpoint.strake -x index.csv unbroken "$2" >>.err &&
        diff <(cut -d, -f1-4 unbroken/index.csv) <(cut -d, -f1-4 "$2/index.csv") >>.err # the fifth is the run's id
    report $? "$1"
}

for problem in mpdata lava sph; do
    for signal in INT TERM; do
        [ $signal = INT ] && status=130 || status=143
        rm -rf stop
        behind "$STRAKE" run $problem.yaml --on cpu --quiet --set output.initial=true --output stop
        process=$!
        wait_for $process test -e stop/index.csv && later $process
        kill -$signal $process
        ended $process
        fails $status "$problem, $signal: ends with $status and says how to continue" "interrupted after step" \
            "continue with: strake run --resume stop/checkpoint.strake $problem.yaml"
        continues "$problem, $signal: the checkpoint leads to the bytes of an unbroken run" stop $problem.yaml
    done
done
check "one checkpoint is there, whatever was interrupted before" test "$(find stop -name '*.strake' | wc -l)" = 1

# timeout(1), launchers and batch systems signal a process and then its group.
lost=0
for attempt in 1 2 3 4 5 6; do
    rm -rf twice
    behind "$STRAKE" run mpdata.yaml --on cpu --quiet --set output.initial=true --output twice
    process=$!
    wait_for $process test -e twice/index.csv && later $process
    kill -TERM $process && sleep 0.002
    kill -TERM $process
    ended $process
    [ "$code" -eq 143 ] && [ -e twice/checkpoint.strake ] || lost=$((lost + 1))
done
check "two signals in a row are one request: a checkpoint is left" test $lost -eq 0

# During the set-up, here while the case is read.
catches() { [ $((0x$(sed -n 's/^SigCgt:[ \t]*//p' "/proc/$1/status") >> 14 & 1)) -eq 1 ]; }
mkfifo slow
sleep 1000 >slow &
writer=$!
for signal in INT TERM; do
    [ $signal = INT ] && status=130 || status=143
    env --default-signal=INT "$STRAKE" run /dev/stdin --on serial --output early >.out 2>.err <slow &
    process=$!
    wait_for $process catches $process
    kill -$signal $process
    ended $process
    fails $status "$signal during the set-up ends it at once" "interrupted before the first step: there is nothing to save"
done
check "and leaves no folder" test ! -e early
kill $writer

# Without files there is no place for a checkpoint. Nothing tells that a step was made: a second, and more if need be.
for seconds in 1 2 4 8 16 32; do
    behind "$STRAKE" run mpdata.yaml --on serial --quiet --output off --set 'output.fields=[]'
    process=$!
    wait_for $process catches $process
    sleep $seconds
    kill -TERM $process
    ended $process
    grep -q 'before the first step' .err || break
done
fails 143 "a run that writes no files says that it leaves no checkpoint" "interrupted after step" \
    "there is no checkpoint to continue from, because the run writes no files"
check "and makes no folder" test ! -e off
behind "$STRAKE" run mpdata.yaml --on serial --quiet --set output.initial=true --output gone
process=$!
wait_for $process test -e gone/index.csv && later $process
rm -rf gone
kill -TERM $process
ended $process
fails 1 "where the checkpoint cannot be written, that is said" "interrupted after step" "whose checkpoint is not written" \
    "gone"
done_testing
