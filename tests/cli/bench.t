#!/bin/bash
# strake bench: tables, JSON lines, SVG, verification, usage errors.
. "$(dirname "$0")/tap.bash"
repository=$(cd "$OLDPWD" && cd "$(dirname "$0")/../.." && pwd)
little_memory
devices=$("$STRAKE" devices | grep -c '^ocl:[0-9]*: ')

small="--sizes 48,40x56 --steps 6 --repeats 3"

# shellcheck disable=SC2086
try bench $small --on serial --on cpu@1 --on cpu --report bench.jsonl --plot bench.svg --quiet
exits 0 "a small benchmark succeeds"
prints "it names case, sizes and repeats" "rotating cone: 48 x 48 cells" "40 x 56 cells, double" \
    "3 repeats of 6 steps, interleaved" "Seconds for 6 steps"
check "its tables fit 80 columns" awk 'length > 80 { exit 1 } END { exit NR < 15 }' .out
check "each placement has the same bits" test "$(grep -c ' same$' .out)" -eq 6
check "--quiet shows no progress" test ! -s .err
check "one line of JSON for each placement and size" test "$(wc -l <bench.jsonl)" -eq 6
missing=
for key in strake host cpu cores os compiler case problem shape precision where steps repeats warm_up \
    interleaved cells_per_second median min max seconds speedup_over_serial speedup_over_cpu \
    percent_of_sum karp_flatt roof_bytes_per_second percent_of_roof checksums same_bits devices name \
    driver compute exchange idle; do
    [ "$(grep -cF "\"$key\":" bench.jsonl)" -eq 6 ] || missing="$missing $key"
done
check "each line has every key$missing" test -z "$missing"
check "shapes are those asked for" test \
    "$(grep -cF '"shape": [48, 48]' bench.jsonl) $(grep -cF '"shape": [40, 56]' bench.jsonl)" = "3 3"
check "the checksums of a size agree" test \
    "$(grep -o '"checksums": \["[0-9a-f]*"' bench.jsonl | sort -u | wc -l)" -eq 2
check "cpu@1 has one thread" grep -qE '"where": "cpu@1".*"threads": 1,' bench.jsonl
check "cpu with two has a serial fraction" grep -qE '"where": "cpu",.*"karp_flatt": -?[0-9]' bench.jsonl
check "three seconds for three repeats" bash -c \
    '[ "$(grep -cE "\"seconds\": \[[0-9.e-]+, [0-9.e-]+, [0-9.e-]+\]" bench.jsonl)" -eq 6 ]'
if command -v python3 >/dev/null && python3 -c 'import json' 2>/dev/null; then
    cat >verify.py <<'PY'
import json, statistics
lines = [json.loads(line) for line in open("bench.jsonl")]
for line in lines:
    cells = line["shape"][0] * line["shape"][1]
    rates = [cells * line["steps"] / s for s in line["seconds"]]
    rate = line["cells_per_second"]
    assert abs(rate["median"] / statistics.median(rates) - 1) < 1e-12
    assert abs(rate["min"] / min(rates) - 1) < 1e-12 and abs(rate["max"] / max(rates) - 1) < 1e-12
    peers = {l["where"]: l for l in lines if l["shape"] == line["shape"]}
    over = rate["median"] / peers["serial"]["cells_per_second"]["median"]
    assert abs(line["speedup_over_serial"] / over - 1) < 1e-12
    share = 100 * rate["median"] * line["bytes_per_cell"] / line["roof_bytes_per_second"]
    assert abs(line["percent_of_roof"] / share - 1) < 1e-12
    timeline = line["timeline"]
    assert (timeline is None) == (line["where"] == "serial")
    if timeline is not None:
        assert len(timeline["lanes"]) == line["devices"][0]["threads"]
        worked = [sum(s["end"] - s["begin"] for s in lane["spans"]) for lane in timeline["lanes"]]
        assert abs(sum(worked) / len(worked) - timeline["sums"][0]["compute"]) < 1e-9
PY
    check "the JSON parses and its figures agree with each other" python3 verify.py
else
    skip "the JSON parses and its figures agree with each other" "no python3 here"
fi
if command -v xmllint >/dev/null; then
    check "the SVG is well-formed" xmllint --noout bench.svg
else
    skip "the SVG is well-formed" "no xmllint here"
fi
check "the SVG has bars, steps and sizes" bash -c \
    'grep -q "48 x 48 cells" bench.svg && grep -q "40 x 56 cells" bench.svg &&
     [ "$(grep -c "<title>median " bench.svg)" -eq 6 ] && [ "$(grep -c "<title>step of " bench.svg)" -eq 4 ]'
check "and tells where, with what and when it was measured" bash -c \
    'grep -Eq "strake [0-9.]+, 20[0-9-]+ [0-9:]+ UTC; host: " bench.svg && grep -q ">cpu: " bench.svg'
check "no entry of its legend runs into the next, nor out of the page" awk -F'"' '
    /^<rect .*<title>(compute, and|computed first|new order|transfer|waiting|idle)[^:0-9]*<\/title>/ && !done {
        if (count++ && $2 < end) exit 1 }
    /^<text .*>(compute, and|computed first|new order|transfer|waiting|idle)[^:0-9]*<\/text>/ && !done {
        name = $0; gsub(/<[^>]*>/, "", name); end = $2 + 7.9 * length(name); done = name == "idle" }
    END { exit !(count == 6 && end <= 960) }' bench.svg
check "and that its timeline is one recorded step" grep -q "One recorded step of each placement" bench.svg

try bench case.yaml --on cpu --steps 2 --repeats 1 --report - --quiet
exits 0 "a case file is benchmarked"
check "--report - keeps stdout for JSON" bash -c 'grep -q "^{.*}$" .out && [ "$(wc -l <.out)" -eq 1 ]'
check "with the steps that are asked for" grep -qF '"steps": 2, ' .out
check "the table goes to stderr then" grep -q 'case.yaml: 61 x 97 cells' .err
# One way to the same state: 3 + 1 + 2 steps.
"$STRAKE" run case.yaml --on serial --steps 6 --quiet --report six.json
sum=$(sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' six.json)
check "its last checksum is that of a run of as many steps" grep -qF "\"$sum\"]" .out
try bench case.yaml case.yaml --on cpu --steps 2 --repeats 1 --set precision=single --quiet
prints "several cases, with --set" "case.yaml: 61 x 97 cells, single"
try bench case.yaml --on cpu --steps 2 --repeats 1 --set run.on=serial --set 'run.split=[1, 2]' --quiet
exits 0 "where and split of the case do not matter"

if [ "$devices" -gt 0 ]; then
    # shellcheck disable=SC2086
    try bench $small --report all.jsonl --quiet
    exits 0 "without --on everything is measured"
    prints "serial, cpu, device and a mixture" "serial " "cpu " "ocl:0 "
    check "a device's kernels have times" grep -qE '"id": "ocl:0", "name": "kernels", "spans": \[\{"begin"' all.jsonl
    check "a mixture says its percent of the sum" grep -qE '"percent_of_sum": [0-9]' all.jsonl
    check "all placements have the same bits" test "$(grep -c '"same_bits": true' all.jsonl)" -eq \
        "$(wc -l <all.jsonl)"
    # A device that computes something else: in what its compiler gets a formula is another one.
    faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so")
    code=0
    STRAKE_CACHE_DIR=$PWD/other-cache STRAKE_OPENCL_LIBRARY=$faulty \
        STRAKE_TEST_SOURCE='return psi - divergence(=>return psi - REAL(1.0000001) * divergence(' \
        "$STRAKE" bench --sizes 48 --steps 6 --repeats 1 --on cpu --on ocl:0 \
        --report other.jsonl --quiet >.out 2>.err || code=$?
    fails 1 "a device that computes something else is noticed" "48 x 48 cells on ocl:0" "DIFFERS" "cpu"
    prints "the table shows it" " DIFF"
    check "and the JSON" test "$(grep -c '"same_bits": false' other.jsonl)" -eq 1
else
    skip "without --on everything is measured" "no OpenCL device"
    skip "a device that computes something else is noticed" "no OpenCL device"
fi
code=0
STRAKE_OPENCL_LIBRARY=$scratch/none "$STRAKE" bench --sizes 32 --steps 2 --repeats 1 >.out 2>.err ||
    code=$?
exits 0 "without a loader the CPU is measured"
check "and a note says what is left out" grep -q '^strake: note: no OpenCL device here' .err
STRAKE_OPENCL_LIBRARY=$scratch/none try bench --sizes 32 --steps 2 --repeats 1 --quiet
check "unless --quiet silences notes" test "$code,$(wc -c <.err)" = 0,0

interrupt_when_ready bench --sizes 1024 --steps 100000 --on cpu --quiet --report stopped.jsonl
fails 130 "Ctrl-C ends a benchmark" "interrupted in benchmark 1 of 1" "nothing was written"
check "and leaves no report" test ! -e stopped.jsonl

# Runs side by side, by their number.
small="--sizes 12,8x16 --steps 40 --repeats 2"
# shellcheck disable=SC2086
try bench --members 3,5,3 $small --on cpu --on cpu@1 --report members.jsonl --plot members.svg --quiet
exits 0 "numbers of members are measured"
prints "with their unit and what is compared" "12 x 12 cells" "8 x 16 cells" "2 repeats of 40 steps" "members" \
    "Mcell/s of all members together"
check "the tables fit 80 columns" awk 'length > 80 { exit 1 } END { exit NR < 20 }' .out
check "each number once, and one member in any case, at each place and size" test \
    "$(grep -cE '^cpu(@1)? +[135] .* same$' .out)" -eq 12
check "nothing is said with --quiet" test ! -s .err
check "one line of JSON for each number, place and size" test "$(wc -l <members.jsonl)" -eq 12
missing=
for key in strake host case problem shape precision where members steps repeats cells_per_second median min max \
    members_per_second seconds whole_seconds setup_seconds at_a_time over_one_member over_fastest_part checksum same_bits; do
    [ "$(grep -cF "\"$key\":" members.jsonl)" -eq 12 ] || missing="$missing $key"
done
check "each line has every key$missing" test -z "$missing"
check "the checksums of a size agree" test \
    "$(grep -o '"checksum": "[0-9a-f]*"' members.jsonl | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = "6 6 "
if command -v python3 >/dev/null && python3 -c 'import json' 2>/dev/null; then
    cat >verify.py <<'PY'
import json, statistics
lines = [json.loads(line) for line in open("members.jsonl")]
for line in lines:
    work = line["shape"][0] * line["shape"][1] * line["steps"] * line["members"]
    rates = [work / s for s in line["seconds"]]
    assert abs(line["cells_per_second"]["median"] / statistics.median(rates) - 1) < 1e-12
    assert all(w >= s > 0 for w, s in zip(line["whole_seconds"], line["seconds"]))
    whole = [line["members"] / w for w in line["whole_seconds"]]
    assert abs(line["members_per_second"] / statistics.median(whole) - 1) < 1e-12
    one = [l for l in lines if l["shape"] == line["shape"] and l["where"] == line["where"] and l["members"] == 1][0]
    rate = line["cells_per_second"]["median"]
    assert abs(line["over_one_member"] * one["cells_per_second"]["median"] / rate - 1) < 1e-12
    assert line["over_fastest_part"] is None
    assert line["at_a_time"] == (1 if line["where"] == "cpu@1" else min(2, line["members"]))
PY
    check "the JSON parses and its figures agree with each other" python3 verify.py
else
    skip "the JSON parses and its figures agree with each other" "no python3 here"
fi
check "the SVG has a curve for each place and size, and its points" test \
    "$(grep -c '^<circle .* members: median ' members.svg),$(grep -c 'stroke-width="1.5" d="M[0-9. L]*"/>$' members.svg)" = 12,4
if command -v xmllint >/dev/null; then
    check "and is well-formed" xmllint --noout members.svg
else
    skip "and is well-formed" "no xmllint here"
fi
try bench case.yaml --members 2 --steps 3 --repeats 1 --on cpu --set fields.u1.constant=0.3 --report - --quiet
"$STRAKE" run case.yaml --on serial --steps 3 --set fields.u1.constant=0.3 --quiet --report three.json
check "members of a case file end as a run does" grep -qF "$(grep -o '"checksum": "[0-9a-f]*"' three.json)" .out
if [ "$devices" -gt 0 ]; then
    try bench --members 4 --sizes 12 --steps 20 --repeats 1 --report all.jsonl --quiet
    exits 0 "without --on members are measured on the processors, each device and all"
    prints "which are compared with each other" "cpu " "ocl:0 " ",ocl:0 "
    check "a mixture with the fastest of its parts" test \
        "$(grep -c '"over_fastest_part": [0-9]' all.jsonl),$(grep -c '"over_fastest_part": null' all.jsonl)" = "2,$((2 * devices + 2))"
    check "all have the same bits" test "$(grep -c '"same_bits": true' all.jsonl)" -eq "$(wc -l <all.jsonl)"
    # A device that computes something else: in what its compiler gets a formula is another one.
    code=0
    STRAKE_CACHE_DIR=$PWD/other-cache STRAKE_OPENCL_LIBRARY=$faulty \
        STRAKE_TEST_SOURCE='return psi - divergence(=>return psi - REAL(1.0000001) * divergence(' \
        "$STRAKE" bench --members 2 --sizes 12 --steps 6 --repeats 1 --on cpu --on ocl:0 --quiet >.out 2>.err || code=$?
    exits 1 "a device whose members end otherwise is noticed"
    prints "in the table" " DIFF"
else
    skip "without --on members are measured on the processors, each device and all" "no OpenCL device"
    skip "a device whose members end otherwise is noticed" "no OpenCL device"
fi
try bench case.yaml --members 2 --steps 2 --repeats 1 --on cpu --set fields.u1.constant=7 --quiet
fails 2 "a case that cannot run is refused" "unstable"
try bench --members 2 --sizes 12 --steps 2 --on nowhere
fails 2 "a place that is none is refused" "nowhere"
for members in 0 x 1,,2 2, 5000 1.5; do
    try bench --members=$members --sizes 12
    fails 2 "--members $members is refused" "option --members: '$members'" "1,16,256"
done
interrupt_when_ready bench --members 2 --sizes 256 --steps 100000 --on cpu --quiet --report stopped.jsonl
fails 130 "Ctrl-C ends it" "nothing was written"
check "and it leaves no report" test ! -e stopped.jsonl

# Series that end with their case.
"$STRAKE" run case.yaml --on serial --quiet --output winds --steps 5 --set output.every=1 --set output.initial=true --set 'output.fields=[u1]'
sed 's/u1: {constant: 0.2}/u1: {series: {file: winds\/u1_%08d.npy, every: 0.2}}/; s/steps: 20/steps: 10/' case.yaml >windy.yaml
for steps in 1 7 10; do
    try bench windy.yaml --on serial --on cpu --steps $steps --report windy.jsonl
    exits 0 "a case is begun anew where its series end: $steps steps"
    prints "and has the same bits everywhere" "same"
    check "a step of it is recorded" grep -q '"where": "cpu".*"timeline": {"step"' windy.jsonl
done

for sizes in 0 x 64x 64,,32 64, -5 64x32x16 1e3; do
    try bench --sizes=$sizes
    fails 2 "--sizes $sizes is refused" "option --sizes: '$sizes'" "1024,2048"
done
cat >cube.yaml <<'END'
problem: cahn_hilliard3d
grid: {planes: 5, rows: 6, cols: 7}
time: {dt: 0.004, steps: 2}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
END
try bench cube.yaml --sizes 9,8x4,3x5x6 --steps 2 --repeats 1 --on cpu
exits 0 "sizes of three axes are taken"
prints "one number is for all of them, two leave the planes" "9 x 9 x 9 cells" "5 x 8 x 4 cells" "3 x 5 x 6 cells"
try bench --sizes 99999999999 --on cpu
fails 2 "a size beyond every memory is refused"
try bench --sizes 32 --on cpy
fails 2 "an unknown place is a usage error" "cpy" "cpu"
try bench --sizes 32 --on cpu@x
fails 2 "threads that are no number are refused" "cpu@x" "cpu@4"
try bench --sizes 32 --on ocl:0@2
fails 2 "a device has no threads to choose" "ocl:0@2"
try bench --sizes 32 --on cpu --on cpu
fails 2 "a place listed twice is refused" "listed twice"
try bench --sizes 32 --on serial,cpu
fails 2 "serial stands alone" "serial" "alone"
try bench --repeats 0
fails 2 "--repeats 0 is out of range" "option --repeats: 0"
try bench case.yaml --set time.steps=0 --on cpu
fails 2 "a case without steps is refused" "0 steps" "--steps"
try bench nothing.yaml
check "a case that is not there is an error" bash -c '[ "$1" -ne 0 ] && grep -q "nothing.yaml" .err' - "$code"
try bench case.yaml --sizes 40 --set fields.u1.constant=7 --on cpu --report no.jsonl --plot no.svg
fails 2 "an unstable flow is refused" "unstable"
try bench --sizes 32 --on cpu --report "$scratch/none/x.jsonl"
fails 1 "a report that cannot be written is found at once" "$scratch/none/x.jsonl"
check "nothing was written by failed commands" bash -c '[ ! -e no.jsonl ] && [ ! -e no.svg ]'
done_testing
