#!/bin/bash
# strake model: tables, statements, JSON, SVG, stored models and what runs make of them, usage errors.
. "$(dirname "$0")/tap.bash"
little_memory
devices=$("$STRAKE" devices | grep -c '^ocl:[0-9]*: ')

try model --on nowhere
fails 2 "an unknown place is a usage error" '`nowhere`' "ocl:N" "auto"
try model --on serial
fails 2 "serial has no transfers" '`serial`'
try model --on "ocl:$devices"
fails 2 "a device beyond the list is a usage error" "\`ocl:$devices\`"
try model --on ocl:1x
fails 2 "a device that is no number is refused" '`ocl:1x`'
try model --budget 0
fails 2 "--budget 0 is out of range" "option --budget: 0"
try model case.yaml case.yaml
fails 2 "one case at most" "unexpected argument 'case.yaml'"
try model --on ocl:0 --report "$scratch/none/x.json"
fails 1 "a report that cannot be written is found at once" "$scratch/none/x.json"
try model nothing.yaml
check "a case that is not there is an error" bash -c '[ "$1" -ne 0 ] && grep -q "nothing.yaml" .err' - "$code"
code=0
STRAKE_OPENCL_LIBRARY=$scratch/none "$STRAKE" model --report none.json >.out 2>.err || code=$?
fails 2 "without a loader there is nothing to measure" "no OpenCL device"
check "nothing was written by failed commands" test ! -e none.json
if [ "$devices" -eq 0 ]; then
    skip "models are measured" "no OpenCL device"
    done_testing
fi

mkdir kept
try model case.yaml --on ocl:0,ocl:0,cpu --budget 3 --cache kept --report model.json --plot model.svg
exits 0 "models are measured"
check "the verdict stands first, in three lines" sh -c '
    sed -n 1p .out | grep -q "^transfers from pinned memory: ocl:0 .* up, .* down, after a start of " &&
    sed -n 2p .out | grep -q "^an exchange of 192 KiB each way: ocl:0 .* beside kernels$" &&
    sed -n 3p .out | grep -Eq "^trust: models are off by .*: (good|uncertain; measure again)" &&
    [ -z "$(sed -n 4p .out)" ]'
check "and in the report" grep -q '"verdict": \[' model.json
prints "tables, statements and advice" "up_pinned" "publish" "fetch" "through host" "in one context" \
    "ocl:0: up: pinned memory starts after" "hide behind a kernel" "a kernel launch takes" \
    "ocl:0 to ocl:0: a copy within one context" "host: memory moves" "steps per exchange" \
    "advice: run.steps_per_sweep="
if has_terminal; then
    script -qec "'$STRAKE' model case.yaml --on ocl:0 --budget 1 --cache shown" /dev/null >shown.txt 2>&1
    check "a terminal shows progress" grep -q ' % \[[#.]*\]' shown.txt
else
    skip "a terminal shows progress" "no script(1) to make a terminal"
fi
check "the case shows up with its cells" grep -qF 'case.yaml: 61 x 97 cells' .out
missing=
for key in strake host host_memory devices pairs statements advice paths up_pageable up_pinned up_mapped \
    down_pageable down_pinned down_mapped within publish fetch publish_beside fetch_beside regimes alpha alpha_interval beta \
    beta_interval measured predicted p90 repeats messages further_up active queues threads both_ways \
    overlap launch in_a_row with_wait barrier enqueue_pinned bandwidth through_host in_context \
    steps_per_exchange transfer_seconds; do
    grep -qF "\"$key\":" model.json || missing="$missing $key"
done
check "the JSON has every key$missing" test -z "$missing"
if command -v python3 >/dev/null && python3 -c 'import json, xml.dom.minidom' 2>/dev/null; then
    cat >verify.py <<'PY'
import json, xml.dom.minidom
model = json.load(open("model.json"))
device = model["devices"][0]
assert device["id"] == "ocl:0" and len(device["paths"]) == 11 and len(model["pairs"]) == 1
paths = list(device["paths"].values()) + [model["pairs"][0]["through_host"], model["pairs"][0]["in_context"]]
for path in paths:
    regimes, points = path["regimes"], path["measured"]
    assert len(points) == path["points"] >= 14 and points[0]["bytes"] >= 64
    assert [r["from"] for r in regimes] == sorted(r["from"] for r in regimes) and regimes[0]["from"] == 0
    for r in regimes:
        for name in ("alpha", "beta"):
            low, high = r[name + "_interval"]
            assert 0 <= low <= r[name] <= high
    for p in points:
        last = [r for r in regimes if r["from"] <= p["bytes"]][-1]
        assert abs(last["alpha"] + last["beta"] * p["bytes"] - p["predicted"]) <= 1e-9 * p["predicted"]
        assert 0 < p["least"] <= p["seconds"] and p["repeats"] >= 5
assert device["launch"]["in_a_row"] > 0 and device["bandwidth"] > 0
for share in (device["overlap"]["up"], device["overlap"]["down"], device["active"]["both_ways"]):
    assert 0 <= share <= 1
said = " ".join(model["statements"])
rate = 1e-9 / device["paths"]["up_pinned"]["regimes"][-1]["beta"] if \
    device["paths"]["up_pinned"]["regimes"][-1]["beta"] > 0 else None
assert rate is None or "%.3g GB/s" % rate in said or rate >= 999.5
assert len(model["statements"]) >= 11
advice = model["advice"][0]
assert 1 <= advice["steps_per_exchange"] <= 8 and advice["by_steps"][0]["bytes"] > 0
page = xml.dom.minidom.parse("model.svg")
assert len(page.getElementsByTagName("circle")) >= sum(p["points"] for p in paths)
PY
    check "JSON and SVG are well-formed and agree with each other" python3 verify.py
else
    skip "JSON and SVG are well-formed and agree with each other" "no python3 here"
fi
check "the model is kept" bash -c '[ "$(ls kept/model-*.yaml | wc -l)" -eq 1 ]'

export STRAKE_CACHE_DIR=$PWD/kept
two() { # REPORT OPTIONS...: two stripes, long enough for two timed exchanges
    "$STRAKE" run case.yaml --on ocl:0,cpu --split 1,1 --steps 200 --quiet --no-tune \
        --output "${1%.json}" --report "$@"
}
two with.json
check "runs use it and say so" grep -qE '"model": \{"date": "20..-..-..",.*"chose_overlap": true' with.json
two tall.json --set grid.rows=500
check "for the steps of a sweep too" grep -qF '"chose_steps_per_sweep": true' tall.json
check "with what it predicts" grep -qE '"predicted_exchange_seconds": [0-9]' with.json
check "and what was measured" grep -qE '"measured_exchange_seconds": [0-9].*"samples": [1-9]' with.json
two given.json --set run.steps_per_sweep=2 --set run.overlap=on
check "keys of the case go first" grep -qE '"chose_steps_per_sweep": false, "chose_overlap": false, "overlap": true' given.json
two off.json --set run.tuned=false
check "run.tuned=false leaves models alone" grep -qE '"model": \{"date": null.*"predicted_exchange_seconds": null' off.json
"$STRAKE" run case.yaml --on serial --steps 200 --quiet --output serial
for run in with given off; do
    check "same bytes as serial: $run" cmp "$run/psi_00000200.npy" serial/psi_00000200.npy
done
cut=$(ls kept/model-*.yaml)
head -c 500 "$cut" >short && mv short "$cut"
two cut.json
check "a damaged model is no model" grep -qE '"model": \{"date": null' cut.json

interrupt_when_ready model --on ocl:0 --budget 300 --quiet --report stopped.json
fails 130 "Ctrl-C ends the measurement" "interrupted" "nothing was written"
check "and leaves no report" test ! -e stopped.json
try model --on ocl:0 --budget 1 --quiet --cache /proc/nothing --report -
check "a cache that cannot be written is a warning" bash -c \
    '[ "$1" -eq 0 ] && grep -q "^strake: warning: .*/proc/nothing" .err' - "$code"
check "--report - keeps stdout for JSON" bash -c 'head -1 .out | grep -q "^{$" && tail -1 .out | grep -q "^}$"'
done_testing
