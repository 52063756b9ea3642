#!/bin/bash
# Particles on several ranks: the same bytes as one process in two and three dimensions and both precisions, with filtered
# densities and what leaves the box, restarts on other numbers of ranks; a rank that fails ends all. STRAKE_TESTS_LONG: a thousand steps.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
. "$here/ranks.bash"
long=${STRAKE_TESTS_LONG:-}
# Who exchanges what with whom matters here, not how fast kernels are (particles.t has some as users get them).
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable STRAKE_CACHE_DIR=$scratch/programs

# Water on a step that falls to the right, and some that leaves through the bottom, which is open.
cat >drop.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [0.8, 0.4]
  fluid: [{box: {from: [0, 0.04], to: [0.24, 0.24]}}, {box: {from: [0.4, 0.02], to: [0.44, 0.06]}, velocity: [0, -4]}]
  walls: [{sides: [left, right]}]
  obstacles: [{box: {from: [0, 0], to: [0.3, 0.04]}}]
  probes: [{name: wall, pressure: [0.12, 0]}, {height: [0]}]
scheme: {shepard: 9}
time: {end: 0.03}
output: {every: 40, formats: [npy, vtp]}
diagnostics: {every: 20}
checkpoint: {every: 30}
YAML
# A stream round the end, which all particles of it pass.
cat >round.yaml <<'YAML'
problem: sph3d
precision: single
scene:
  spacing: 0.05
  to: [1.0, 0.2, 0.3]
  periodic: [x]
  fluid: [{box: {from: [0, 0, 0], to: [1.0, 0.2, 0.1]}, velocity: [3, 0, 0]}, {box: {from: [0.4, 0, 0.1], to: [0.6, 0.2, 0.2]}, velocity: [-2, 0, 0]}]
  walls: [{sides: [front, back, bottom]}]
scheme: {sound: 30, slices: x, shepard: 7}
time: {steps: 60, end: 10}
output: {every: 30}
diagnostics: {every: 20}
YAML
[ "$long" = 1 ] && sed -i 's/steps: 60/steps: 1000/; s/every: 30/every: 250/' round.yaml
has_device=$("$STRAKE" devices | grep '^ocl:0')
sums() { # sums FILE.json: what the statistics and the record of who left say
    grep -E '"checksum"|"number": [0-9]*, "kind"' "$1"
}

"$STRAKE" run drop.yaml --on cpu --quiet --output one --report one.json 2>one.err || exit 1
check "some particles leave" grep -q '"number": 120, "kind": "fluid"' one.json
on_ranks 2 run drop.yaml --on cpu --output ranks --report two.json --set run.exchange=messages \
    --set run.steps_per_sweep=3 --set run.overlap=on
check "keys of grids are told to have no effect, once" test "$(grep -c ' no effect: ' .err)" = 1 -a \
    "$(grep -c 'run.exchange, run.steps_per_sweep, run.overlap have no effect: particles' .err)" = 1
check "statistics on 2 ranks are those of one process" cmp <(sums one.json) <(sums two.json)
check "one summary, of both, and of what they exchange" test "$(grep -c 'steps 0 to .* done' .out)" = 1 -a "$(grep -c '^[01]:cpu ' .out)" = 4
# Who has most work waits for nobody's, whichever rank that is; the other one's wait is known from it.
check "who waits for whose work is told across ranks" bash -c '
    tr -d "\n" <two.json | grep -oE "\"waiting\": \{[^}]*" | sed "s/.*predicted_seconds_per_step\": *//" |
        awk "{n++; zeros += \$1 == 0; more += \$1 > 0} END {exit !(n == 2 && zeros == 1 && more == 1)}"'
check "pairs of both are counted" cmp <(grep -o '"pairs": [0-9.e+]*' one.json) <(grep -o '"pairs": [0-9.e+]*' two.json)
same "2 ranks make the files of one process"
on_ranks 3 run drop.yaml --quiet --on "cpu${has_device:+,ocl:0}" --output ranks --set run.shares=1,5,1 --report three.json
check "given shares are those of the work" test "$(grep -o '"rows": \[0, [0-9]*' three.json | head -1 | grep -o '[0-9]*$')" -lt 3
same "3 uneven ranks${has_device:+ with OpenCL devices}, with who leaves on record"
# Every rule moves slices between ranks; bisection moves some of equal shares at its first look, whatever that shows.
on_ranks 3 run drop.yaml --quiet --on cpu --output ranks --set run.shares=1,1,1 --set run.balance=bisection --report three.json
check "slices move between ranks" awk '/"rank_balance":/ { on = 1 } on && /"moves": [0-9]+/ { match($0, /"moves": [0-9]+/)
    moves = substr($0, RSTART + 9, RLENGTH - 9); exit } END { exit !(moves > 0) }' three.json
same "who keep their bytes"
on_ranks 2 run drop.yaml --quiet --on cpu --output two --steps 45
check "they end between two orders" test "$code" -eq 0
on_ranks 3 run drop.yaml --quiet --on cpu --output two --resume two/checkpoint.strake
last=$(basename "$(ls one/position_*.npy | tail -1)")
check "3 ranks continue what 2 have written" cmp "one/$last" "two/$last"
try run drop.yaml --quiet --on serial --output three --resume two/checkpoint.strake
check "and one process continues what 3 have" cmp "one/$last" "three/$last"

rm -rf one
"$STRAKE" run drop.yaml --on serial --quiet --set precision=single --steps 60 --output one || exit 1
on_ranks 3 run drop.yaml --quiet --set precision=single --steps 60 --on "cpu${has_device:+,ocl:0}" --output ranks
same "3 ranks${has_device:+ with OpenCL devices} in single precision"

rm -rf one
"$STRAKE" run round.yaml --on cpu --quiet --output one || exit 1
for ranks in 4 ${long:+2 3}; do
    on_ranks "$ranks" run round.yaml --quiet --on cpu --output ranks
    same "$ranks ranks in a ring, in three dimensions and single precision"
done
if [ "$long" = 1 ]; then
    [ -z "$has_device" ] || on_ranks 3 run round.yaml --quiet --on ocl:0,cpu/ocl:0/cpu --output ranks
    [ -z "$has_device" ] || same "with devices"
    for other in '--set precision=double' '--set scene.periodic=[]'; do
        rm -rf one
        # shellcheck disable=SC2086
        "$STRAKE" run round.yaml --on cpu --quiet --output one $other 2>/dev/null || exit 1
        for ranks in 2 4; do
            # shellcheck disable=SC2086
            on_ranks "$ranks" run round.yaml --quiet --on cpu --output ranks $other
            same "$ranks ranks with $other"
        done
    done
    # The same in two dimensions.
    sed 's/sph3d/sph2d/; s/, 0\(\.[0-9]\)\?, /, /g; s/front, back, //; s/0\.05/0.04/' round.yaml >round2.yaml
    for other in '' '--set precision=double' '--set scene.periodic=[]'; do
        rm -rf one
        # shellcheck disable=SC2086
        "$STRAKE" run round2.yaml --on cpu --threads 1 --quiet --output one $other 2>/dev/null || exit 1
        for ranks in 2 4; do
            # shellcheck disable=SC2086
            on_ranks "$ranks" run round2.yaml --quiet --on cpu --output ranks $other
            same "2D: $ranks ranks${other:+ with $other}"
        done
        [ -z "$has_device" ] && continue
        # shellcheck disable=SC2086
        on_ranks 3 run round2.yaml --quiet --on ocl:0,cpu/ocl:0/cpu --output ranks $other
        same "2D: with devices${other:+ and $other}"
    done
    check "2D: a thousand steps of them" test -e one/density_00001000.npy
fi

on_ranks 3 run drop.yaml --quiet --on cpu --output bad --set 'scene.fluid=[{box: {from: [0, 0.04], to: [0.24, 0.24]}}]' \
    --set 'scene.gravity={along: [1, 0], series: [[0, 0], [0.01, 0], [0.0101, 2e6]]}'
says 1 "who is too fast is named once" " is so fast, "
if [ -n "$has_device" ]; then
    # Devices have begun the step after the one of which all learn where they meet; forces that processors left do not travel any more.
    on_ranks 2 run drop.yaml --quiet --on cpu,ocl:0/cpu,ocl:0 --output bad --no-tune --set precision=single --set scheme.shepard=0 \
        --set time.end=1 --set run.balance=fixed --set 'scene.gravity={along: [1, 0], series: [[0, 0], [0.01, 0], [0.0101, 1e60]]}' \
        --set 'scene.fluid=[{box: {from: [0, 0.04], to: [0.24, 0.24]}}]'
    says 1 "NaN is named beside devices that have gone ahead" " has NaN or Inf after step "
    # Four slices, which bisection moves between ranks of two parts each.
    cat >narrow.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [0.16, 0.4]
  fluid: [{box: {from: [0, 0], to: [0.1, 0.24]}}]
  walls: [{sides: [left, right, bottom]}]
scheme: {slices: x}
time: {steps: 80, end: 10}
output: {every: 40}
YAML
    rm -rf one
    "$STRAKE" run narrow.yaml --on cpu --quiet --output one || exit 1
    on_ranks 2 run narrow.yaml --quiet --on cpu,ocl:0 --no-tune --output ranks --set run.balance=bisection --report narrow.json
    same "ranks do not take the last slice of a part"
    check "which they had wanted to" grep -q '"why": "refused: fewer slices than parts"' narrow.json
    injected fail:1:ocl:0@20 on_ranks 3 run drop.yaml --quiet --output bad --on cpu/ocl:0/cpu
    says 1 "a device that fails stops all" "rank 1:" "CL_OUT_OF_RESOURCES"
else
    skip "a device that fails" "no OpenCL device"
fi
on_ranks 40 run drop.yaml --quiet --on cpu --output bad
says 2 "too many ranks are refused" "slices of cells are too few for 40 ranks"
done_testing
