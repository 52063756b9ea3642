#!/bin/bash
# What measures and forecasts, for a problem whose time steps follow from its states and whose cells are mostly still:
# tune, bench, check, model and auto.
support=$(cd "$(dirname "$0")/../support" && pwd)
. "$(dirname "$0")/tap.bash"
export STRAKE_CACHE_DIR=$scratch/known
cat >flow.yaml <<'EOF2'
problem: lava
grid: {rows: 40, cols: 50, dx: 10, dy: 10}
time: {end: 90, dt_max: 3}
fields:
  terrain: {plane: {slope: [2, -1]}}
vents: [{row: 8, col: 30, rate: 4}]
output: {every_seconds: 30}
checkpoint: {every_minutes: 5}
EOF2

little_memory
try bench flow.yaml --on serial --on cpu
fails 2 "a benchmark cannot know how many steps are meant" "needs between 1 and 1e15" "--steps N"
try bench flow.yaml --on serial --on cpu --steps 100 --repeats 2 --quiet --report bench.jsonl
exits 0 "a benchmark goes on beyond the end of the case"
check "with the same bits everywhere" test "$(grep -c ' same$' .out)" -eq 2
prints "rates of active cells are told" "Rates above are of all cells" "Mcell/s of active cells"
# A step of all cells in less time than memory takes to read them would be none.
check "and steps were computed: none beyond the roof" awk -F'"percent_of_roof": ' \
    '/"where": "serial"/ { split($2, roof, ","); exit !(roof[1] > 0 && roof[1] < 100) }' bench.jsonl
check "and reported" grep -Eq '"active_cells": [1-9][0-9]*, "active_cells_per_second": [1-9]' bench.jsonl

try check flow.yaml --on cpu --report check.json
exits 0 "a check"
prints "tells outputs and checkpoints by time" "every 30 s and at the last step" "checkpoint every 5 minutes"
prints "what a step takes at most, and the least number of them" "prediction at most " "where every cell is active" \
    "30 steps or more"
check "the report has no total" grep -q '"seconds": null, "seconds_low": null' check.json
check "but the least number of steps" grep -q '"end": 90, "least_steps": 30' check.json

# Every cell is active in what is tuned.
cat >space.yaml <<'EOF2'
problem: lava
cpu:
  grids: [[48, 40]]
  parameters:
    - {path: run.block_columns, values: [0, 16], start: 0}
    - {path: run.instruction_set, values: [auto], start: auto}
    - {path: run.threads, values: [0], start: 0}
    - {path: run.teams, values: [0], start: 0}
EOF2
tune_quickly --on cpu --problem lava --space space.yaml --budget 1000
exits 0 "the CPU is tuned"
prints "for its own problem" "lava, double precision" "48 x 40"
try run flow.yaml --on cpu --quiet --output tuned --report tuned.json
exits 0 "a run"
check "uses what was found" grep -q '"tuned": {"level": "\(exact\|variant\)"' tuned.json
try run flow.yaml --on serial --quiet --output whole
check "to the same bytes" "$STRAKE" compare whole tuned

if ! "$STRAKE" devices --json | grep -q '"id": "ocl:0"' ||
    ! "${CC:-cc}" -shared -fPIC -o gpu.so -Wl,--no-as-needed "$support/gpu_opencl.c" -l:libOpenCL.so.1 -ldl 2>cc.err; then
    skip "auto with a device" "no OpenCL device, or no library to link with"
    done_testing
fi
export STRAKE_OPENCL_LIBRARY=$PWD/gpu.so POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable # compiling takes most of the time
try run flow.yaml --on auto --output auto --report auto.json
exits 0 "auto runs"
check "to the same bytes" "$STRAKE" compare whole auto
check "it says what it cannot know" grep -q '^strake: note: auto: .* ms a step where every cell is active' .err
check "the report too" grep -q '"taken": true, "why": "the fastest alone where every cell is active; how many' auto.json
# On a grid this large two kernels of tiles would be cheaper for all cells, but for a list there is one.
printf 'problem: lava\ngrid: {rows: 378, cols: 517, dx: 10, dy: 10}\ntime: {end: 5}\nfields: {terrain: 0}\nvents: [{row: 60, col: 60, rate: 30}]\noutput: {fields: []}\n' >wide.yaml
try run wide.yaml --on gpu:0 --no-tune --quiet --report wide.json
exits 0 "few active cells of many on a device"
check "it lists tiles" grep -q '"activity": {"cells": [0-9]' wide.json
if command -v python3 >/dev/null; then
    try run flow.yaml --on cpu,ocl:0 --set run.balance=model --set time.end=150 --set output.every_seconds=150 \
        --output shared --quiet --report shared.json
    exits 0 "parts that share work"
    python3 "$support/../../bench/parts.py" shared.json --units 2,14 >rules.csv
    check "its report is read" test $? -eq 0
    check "for lines of both parts" test "$(grep -c '^part [01]: ' rules.csv)" -eq 2
    check "every look has rows by either rule, all of them" awk -F, '/^[0-9]+,/ { n++; split($3, a, "+"); split($6, b, "+")
        if (a[1] + a[2] != 40 || b[1] + b[2] != 40) bad = 1 } END { exit bad || n < 1 }' rules.csv
    check "the rule takes no second device for few cells" awk -F, '/^[0-9]+,/ && $6 != "40+0" { bad = 1 } END { exit bad }' rules.csv
else
    skip "parts that share work" "no python3 here"
fi
# Its large grids would take three times what compiling does.
POCL_EXTRA_BUILD_FLAGS='' try model flow.yaml --on ocl:0 --budget 1 --quiet --report model.json
exits 0 "a model"
check "advises one step between two exchanges" grep -q '"steps_per_exchange": 1' model.json
check "and no transfers of small borders beside kernels" grep -q '"overlap": false, "path"' model.json
check "and says what a meeting takes" grep -q '"meeting_seconds": [0-9]' model.json
prints "to whoever reads" "a meeting, where all decide on the next time step: "
for on in ocl:0,ocl:0 cpu,ocl:0; do
    try run flow.yaml --on $on --split 1,1 --set run.balance=fixed --steps 20 --set output.fields='[]' --no-tune --report met.json
    prints "a run on $on tells what its meetings took, and what the model says" "meeting of 2 parts: " "the model of ocl:0 says "
    check "so does its report, and the step is what it is made of" awk -F'"meeting": ' 'NF > 1 { split($2, m, /[:,}]/)
        sum = m[9] + m[11] + m[15] + m[17]; off = sum > m[7] ? sum - m[7] : m[7] - sum
        n = m[2] == 2 && m[4] ~ /ocl/ && m[7] > 0 && m[11] > 0 && m[13] > 0 && m[15] >= 0 && m[17] >= 0 &&
            (m[9] == 0 || off <= 1e-9 * m[7]) && $2 ~ /"waiting_by_part": \[[0-9.e-]+, [0-9.e-]+\]/ } END { exit !n }' met.json
done
try run flow.yaml --on ocl:0 --steps 20 --set output.fields='[]' --no-tune --report alone.json
check "a device alone meets nobody" sh -c '! grep -q meeting alone.json .out'
done_testing
