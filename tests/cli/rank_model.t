#!/bin/bash
# Ranks decide how they exchange by what `strake model` keeps of them: figures are found again by the same set-up
# only, a run says what it made of them, and other figures lead to other choices with the same bytes.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
. "$here/ranks.bash"
little_memory
export STRAKE_CACHE_DIR=$scratch/kept
"$STRAKE" run ring.yaml --on serial --quiet --output one || exit 1

# tells TEXT...: one note of the last on_ranks has every TEXT
tells() {
    local text lines
    lines=$(grep '^strake: note: ' .err)
    for text in "$@"; do
        lines=$(grep -F -- "$text" <<<"$lines") || return 1
    done
}
# chose EXCHANGE STEPS: what the report of the last run says
chose() {
    grep -qF "\"exchange\": \"$1\", \"steps_per_sweep\": $2, \"chose_exchange\": true, \"chose_steps_per_sweep\": true" report.json
}
# Equal shares, since the number of steps falls with the rows of the rank that has fewest, by balancing, too.
exchanging() { # exchanging RANKS ARGUMENTS...
    on_ranks "$1" run ring.yaml --output ranks --report report.json --set "run.shares=$(seq -s, "$1" | sed 's/[0-9]/1/g')" "${@:2}"
}

on_ranks 2 model --on cpu --budget 1 --report model.json
check "messages between ranks are measured" test "$code" = 0
prints "with tables and sentences" "rank 0 to rank 1: 2 ranks on 1 machine" "all ranks at once, a processor each" \
    "threads share processors" "in a ring" "one way" "an all-reduce of a number takes" "256 KiB in 16 messages take"
missing=
for key in setup path rounds awake crowded line ring one_way reduce meet active pairs latency rate further total; do
    grep -qF "\"$key\":" model.json || missing="$missing $key"
done
check "and a report that has every key$missing" test -z "$missing"
file=$(ls kept/ranks-*.yaml)
check "and kept, in one file" test "$(wc -w <<<"$file")" = 1
cp "$file" measured

exchanging 2
check "a run uses them and says so" tells "ranks exchange both every" "chosen by the figures of 20" "predicted" "measured"
check "with what is predicted and measured in its report" grep -qE \
    '"figures": "20.*"predicted_seconds": [0-9.e-]+,.*"measured_seconds": [0-9.e-]+, "samples": [1-9]' report.json
same "which does not change its files"
exchanging 2 --quiet --set run.exchange=messages --set run.steps_per_sweep=2
check "keys of the case go first" grep -qF '"exchange": "messages", "steps_per_sweep": 2, "chose_exchange": false, "chose_steps_per_sweep": false' report.json
same "and their exchange is predicted, too"
exchanging 2 --quiet --set run.tuned=false
check "run.tuned: false leaves figures alone" grep -qF '"figures": null' report.json
cat >drop.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [0.8, 0.4]
  fluid: [{box: {from: [0, 0.04], to: [0.24, 0.24]}}]
  walls: [{sides: [left, right, bottom]}]
time: {steps: 3, end: 1}
output: {fields: []}
YAML
on_ranks 2 run drop.yaml --on cpu --report report.json
check "particles say what messages after a pass take" tells "ranks exchange messages after every pass; by the figures of 20" \
    "predicted" "measured"
check "and report that, and the all-reduce of a step, beside what was predicted" grep -qE \
    '"exchange": "messages",.*"predicted_seconds": [0-9.e-]+,.*"measured_seconds": [0-9.e-]+,.*"predicted_reduce_seconds": [0-9.e-]+, "measured_reduce_seconds": [0-9.e-]+' report.json
check "and no steps of a sweep, of which there are none" bash -c '! grep "\"rank_exchange\"" report.json | grep -q "\"steps_per_sweep\""'
exchanging 3
check "those of other ranks are not taken for theirs" tells "3 ranks on 1 machine" "only that of another set-up (2 ranks on 1 machine"

# figures WORDS MESSAGES: rounds of words take so long, and those of more than 1 byte [s]
figures() {
    awk -v words="$1" -v more="$2" '
        /"(line|ring)_sizes":/ {
            sub(/"bytes": \[[^]]*\]/, "\"bytes\": [1, 2, 4194304]")
            sub(/"seconds": \[[^]]*\]/, "\"seconds\": [" words ", " more ", " more "]")
        }
        { print }' measured >"$file"
}
figures 1 1e-7
exchanging 2 --set run.steps_per_sweep=1
check "where words take long, ranks send messages" grep -qF '"exchange": "messages", "steps_per_sweep": 1, "chose_exchange": true' report.json
check "which the run says" tells "ranks exchange messages every 1 step," "0.1 us predicted"
same "with the same bytes"
figures 1e-7 1
exchanging 2 --set run.steps_per_sweep=1
check "where messages do, words" grep -qF '"exchange": "both", "steps_per_sweep": 1, "chose_exchange": true' report.json
same "with the same bytes, too"
figures 1 1
exchanging 2
check "where both do, they exchange as rarely as their rows allow" chose both 4
same "to the same bytes"
rm -rf one
"$STRAKE" run ring.yaml --on serial --quiet --output one --steps 2000 --set output.every=1000 || exit 1
figures 1e-2 1e-2 # so that the run is predicted to be long
exchanging 2 --quiet --steps 2000 --set output.every=1000
same "a longer run tries some before its first step, and makes the same bytes"
# Where a busy machine makes steps so long that two options, three sweeps of each, take longer than trials may, none is tried.
check "and takes one of those that are told, with what trials corrected" awk '
    function number(key) { return match($0, "\"" key "\": [0-9.e-]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0 : 0 }
    /"rank_exchange":/ { match($0, /"exchange": "[a-z_]*", "steps_per_sweep": [0-9]*/); taken = substr($0, RSTART, RLENGTH) }
    /"predicted_step_seconds"/ {
        match($0, /"exchange": "[a-z_]*", "steps_per_sweep": [0-9]*/); told[substr($0, RSTART, RLENGTH)]
        tried += /"measured_step_seconds": [0-9].*"corrected_step_seconds": [0-9]/
        step = number("predicted_step_seconds"); sweep = step * number("steps_per_sweep")
        least = least == 0 || step < least ? step : least
        shortest = shortest == 0 || sweep < shortest ? sweep : shortest
    }
    END { budget = 20 * least > 1 ? 20 * least : 1
          exit !((tried > 0 || 6 * shortest > 0.9 * budget) && taken in told) }' report.json
rm -rf one
"$STRAKE" run ring.yaml --on serial --quiet --output one || exit 1
head -c 700 measured >"$file"
exchanging 2
check "damaged figures are said to be" tells "$file" "is damaged or of another version, and not used"
same "and do no harm"
on_ranks 2 run drop.yaml --on cpu
check "by particles, too" tells "$file" "is damaged or of another version, and not used"

if [ "${STRAKE_TESTS_LONG:-}" = 1 ] && "$STRAKE" devices | grep -q '^ocl:0'; then
    on_ranks 2 model --on ocl:0 --budget 3 --report model.json
    check "the whole way from a device to another rank's is measured" grep -qE '^  from device to +64 B' .out
    check "and reported" grep -qE '"device": ".*"whole": \{"regimes"' <(tr -d '\n' <model.json)
    exchanging 2 --on ocl:0 --set run.exchange=messages --no-tune
    check "runs on devices predict it" grep -qE '"predicted_with_devices_seconds": [0-9.e-]+, "measured' report.json
    same "with the same bytes as processors"
fi
done_testing
