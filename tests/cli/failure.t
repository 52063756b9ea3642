#!/bin/bash
# Devices that fail in mid-run: the others go on and the bytes stay. They do so in a program of the tests alone.
. "$(dirname "$0")/tap.bash"
try() { # as in tap.bash, but what hangs fails
    code=0
    timeout 600 "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || code=$?
}

if ! "$STRAKE" devices --json | grep -q '"id": "ocl:0"'; then
    skip "devices that fail" "no OpenCL device"
    done_testing
fi

for word in fail:ocl:0 fail:ocl:0@ fail:ocl:0@0 fail:cpu@1 slow:ocl:0@3 slow:ocl:0@3*1 burn:ocl:0@3 \
    fail:ocl:0@3*2 fail:ocl:x@3 fail:ocl:0#0@3 fail:ocl:0@3/input fail:ocl:0@3,x; do
    injected $word try run case.yaml --on ocl:0 --quiet --output bad
    fails 2 "STRAKE_INJECT=$word is refused" "STRAKE_INJECT: \`" "expected fail|lost|hang|slow"
done
for word in fail:ocl:7@1 fail:ocl:0#2@1; do
    injected $word try run case.yaml --on cpu,ocl:0 --quiet --output bad
    fails 2 "STRAKE_INJECT=$word names nobody" "STRAKE_INJECT: \`$word\`" "no such device"
done
STRAKE_INJECT=fail:ocl:0@3,slow try run case.yaml --on cpu,ocl:0 --split 1,1
exits 0 "the program itself knows of no failures to inject"
lacks "it warns of none" 'warning' .err
check "nor do the libraries" sh -c '! grep -q STRAKE_INJECT "$@"' - "$STRAKE" "${STRAKE%/*}"/libstrake.*
try run case.yaml --on cpu --set run.hang_seconds=0
fails 2 "run.hang_seconds=0 is refused" "run.hang_seconds"

every=(--set output.every=7)
try run case.yaml --on serial --quiet --output whole "${every[@]}"
exits 0 "the reference runs"

# survives NAME WORD WHERE OPTIONS...: the run ends well, with the same files and a warning.
survives() {
    local name=$1 word=$2 where=$3 patience=20
    shift 3
    # Who is only slow, because others have the processors, must not count as hung.
    case "$word $*" in
        hang*steps_per_sweep=3*) patience=0.5 ;; # for each of them
        hang*) patience=1.5 ;;
    esac
    rm -rf broken report.json
    # Equal shares at first: on a busy machine a small case may be measured not to need the device.
    injected $word try run case.yaml --on "$where" --split "$(sed 's/[^,][^,]*/1/g' <<<"$where")" --quiet \
        --output broken --report report.json "${every[@]}" --set run.hang_seconds=$patience --set run.balance=model "$@"
    exits 0 "$name: goes on"
    check "$name: same bytes" "$STRAKE" compare whole broken
    check "$name: one warning" test "$(grep -c '^strake: warning: ocl:0 is dropped after step' .err)" -eq 1
    check "$name: the report tells" grep -q '"id": "ocl:0".*"dropped": {"step": .*"rows": \[\([0-9]*\), \1\]' report.json
}

# Of a sample a third: every kind of failure at every moment, each of both in every place, every setting in one.
number=0
takes() { [ $((number++ % 3)) = 0 ] || [ "${STRAKE_TESTS_LONG:-}" = 1 ]; }
for where in cpu,ocl:0 ocl:0,ocl:0 cpu,ocl:0,ocl:0; do
    for kind in fail lost hang; do
        for moment in 1 11 14/output; do
            takes && survives "$kind in step $moment of $where" "$kind:ocl:0@$moment" "$where"
        done
        number=$((number + 1))
    done
    takes && survives "with three steps per exchange, $where" hang:ocl:0@11 "$where" --set run.steps_per_sweep=3
    takes && survives "with transfers beside kernels, $where" hang:ocl:0@8 "$where" --set run.overlap=on
    takes && survives "with fixed shares, $where" lost:ocl:0@11 "$where" --set run.balance=fixed
    number=$((number + 1))
done
survives "the second of two" fail:ocl:0#2@9 ocl:0,ocl:0
survives "a device in the middle" lost:ocl:0#2@9 ocl:0,ocl:0,ocl:0
survives "a device with all rows" fail:ocl:0@9 cpu,ocl:0 --split 0,1
for kind in fail lost hang; do
    survives "$kind of a stripe that streams" "$kind:ocl:0@5" cpu,ocl:0 --set run.blocks=3
done

rm -rf broken
injected fail:ocl:0@4,lost:ocl:0#2@9 try run case.yaml --on cpu,ocl:0,ocl:0 --split 1,1,1 --quiet --output broken "${every[@]}"
exits 0 "two devices, one after the other"
check "to the same bytes" "$STRAKE" compare whole broken
check "with two warnings" test "$(grep -c 'is dropped after step' .err)" -eq 2

# A longer run has a copy of its states from the middle.
large=(--set grid.rows=500 --set grid.cols=700 --set time.steps=150)
try run case.yaml --on cpu --quiet --output large "${large[@]}"
injected lost:ocl:0@149 try run case.yaml --on cpu,ocl:0 --split 1,1 --quiet --output broken2 "${large[@]}"
exits 0 "a failure at the end of a longer run"
check "the same bytes" "$STRAKE" compare large broken2

# Reading never steps: what reads begins with the states, and steps again where they are lost.
cat >flow.yaml <<'EOF'
problem: lava
grid: {rows: 40, cols: 50, dx: 10, dy: 10}
time: {end: 90, dt_max: 3}
parameters: {solidus_temperature: 1320}
fields: {terrain: {plane: {slope: [2, -1]}}}
vents: [{row: 8, col: 30, rate: [[0, 6], [30, 20], [60, 1]]}]
output: {every_seconds: 20}
diagnostics: {every_seconds: 20}
EOF
try run flow.yaml --on serial --quiet --output flow
for word in fail:ocl:0@25 lost:ocl:0@28/output; do # back over a change of the vents, which the copy is older than
    rm -rf broken
    injected $word try run flow.yaml --on cpu,ocl:0 --split 1,1 --quiet --output broken
    exits 0 "$word while vents change"
    check "$word: same bytes" "$STRAKE" compare flow broken
    check "$word: same diagnostics" cmp flow/diagnostics.csv broken/diagnostics.csv
    check "$word: one warning" test "$(grep -c 'ocl:0 is dropped after step' .err)" -eq 1
done
little_memory
few=(--set grid.rows=60 --set grid.cols=50 --steps 3 --repeats 1 --quiet)
for report in whole broken; do
    word=lost:ocl:0@1/output
    [ $report = broken ] || word=
    injected "$word" try bench case.yaml --on ocl:0,ocl:0 "${few[@]}" --report $report.json
    exits 0 "a benchmark on a device that is ${word:-whole}"
done
check "which was lost" grep -q '"dropped": {"step"' broken.json
check "has the same checksums" test "$(grep -o '"checksums": [^]]*' broken.json)" = "$(grep -o '"checksums": [^]]*' whole.json)"

# Nobody is left.
for kind in fail lost hang; do
    rm -rf broken
    injected $kind:ocl:0@9 try run case.yaml --on ocl:0 --quiet --output broken \
        --set checkpoint.every=5 --set run.hang_seconds=1.5
    fails 1 "$kind of the only device is an error" "no other part of this run is left"
    check "$kind: that names the checkpoint" grep -q 'checkpoint.strake of step 5 is complete' .err
    check "$kind: no output is half-written" test ! -e broken/psi_00000020.npy
    try run case.yaml --on cpu --quiet --output broken --set output.every=7 --resume broken/checkpoint.strake
    exits 0 "$kind: the checkpoint is good"
    check "$kind: for the same bytes" cmp whole/psi_00000020.npy broken/psi_00000020.npy
done

# Slower, not failing: the bytes stay and rows move away from it, of two that are alike.
large=(--set grid.rows=300 --set grid.cols=500 --set time.steps=400)
try run case.yaml --on cpu --quiet --output fast "${large[@]}"
injected slow:ocl:0@80*25 try run case.yaml --on ocl:0,ocl:0 --split 1,1 --quiet --output slow \
    --report slow.json "${large[@]}" --set run.balance=model
exits 0 "a device that becomes slow"
check "the same bytes as before" "$STRAKE" compare fast slow
after=$(sed -n 's/.*"id": "ocl:0".*"rows": \[0, \([0-9]*\)\].*/\1/p' slow.json)
check "it ends with less than a third of the rows (${after:-?} of 300)" test "${after:-300}" -lt 100
check "the report has the decisions" grep -q '"moves": true, "why": "predicted' slow.json

done_testing
