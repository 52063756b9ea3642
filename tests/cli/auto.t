#!/bin/bash
# `auto` and what `strake check` says of it. A device that calls itself a GPU stands for one.
support=$(cd "$(dirname "$0")/../support" && pwd)
. "$(dirname "$0")/tap.bash"

try run case.yaml --on serial --quiet --output whole
exits 0 "the reference runs"
try check case.yaml --on cpu
exits 0 "a check of the CPU"
prints "predicts" "prediction " "ms a step" "20 steps in about"
check "with the range of its trials" grep -Eq '^ +between [0-9.e+-]+ and [0-9.e+-]+ ms a step in [0-9]+ trials: [0-9.e+-]+ to [0-9.e+-]+ s$' .out
try check case.yaml --on cpu --report check.json
exits 0 "a check with a report"
number() { sed -n "/forecast/s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" check.json; }
check "has the forecast within its range" awk -v low="$(number seconds_low)" -v mid="$(number seconds)" \
    -v high="$(number seconds_high)" 'BEGIN { exit !(0 <= low && low <= mid && mid <= high && high > 0) }'
try check case.yaml --on cpu --report -
check "--report - leaves standard output to it" sh -c 'head -c 1 .out | grep -q "{" && grep -q ^prediction .err'
try check case.yaml --on serial
exits 0 "a check of the reference"
lacks "measures nothing" 'prediction' .out
try check case.yaml --on serial --report check.json
check "and reports no forecast" grep -q '"forecast": null' check.json

if ! "$STRAKE" devices --json | grep -q '"id": "ocl:0"'; then
    skip "auto with a device" "no OpenCL device"
    done_testing
fi
try check case.yaml --on cpu,ocl:0 --split 1,1
prints "a mixture is predicted too" "prediction " "ms a step"

if ! "${CC:-cc}" -shared -fPIC -o gpu.so -Wl,--no-as-needed "$support/gpu_opencl.c" -l:libOpenCL.so.1 -ldl 2>cc.err; then
    skip "auto with a device" "no library to link with: $(head -n 1 cc.err)"
    done_testing
fi
export STRAKE_OPENCL_LIBRARY=$PWD/gpu.so
large=(--set grid.rows=400 --set grid.cols=600)

try check case.yaml --on auto "${large[@]}"
exits 0 "a check of auto"
prints "with what was measured" "measured alone" ": it runs there" "prediction "
check "and a line for each part" sh -c 'grep -q "^cpu  *[0-9.e+-]*  measured alone" .out && grep -q "^ocl:0  *[0-9.e+-]*  measured alone" .out'
check "and one about the second" grep -q 'switched on: ' .out

try run case.yaml --on auto --quiet --output auto --report auto.json
exits 0 "auto runs"
check "to the same bytes" "$STRAKE" compare whole auto
check "the report has the choice" grep -q '"taken": true, "why": "the fastest"' auto.json
check "exactly one" test "$(grep -c '"taken": true' auto.json)" -eq 1
check "every part is listed" test "$(grep -c '"id": "\(cpu\|ocl:0\)"' auto.json)" -eq 2

# What is slow is not used; whoever is chosen, the other takes over when it fails.
injected lost:ocl:0@5 try run case.yaml --on auto --quiet --output auto
exits 0 "a device that auto may have chosen is lost"
check "to the same bytes" "$STRAKE" compare whole auto

# A device to which the case leaves too little memory is left out; named, it is an error.
try run case.yaml --on auto --output small --report small.json --set run.device_memory=2kB
exits 0 "auto with too small a cap of device memory"
check "says so, and why" grep -q '^strake: note: auto: ocl:0 is left out: .*raise run.device_memory' .err
check "in one line" test "$(grep -c 'left out' .err)" -eq 1
check "and runs on the CPU" grep -q '"where": "cpu", .*"taken": true' small.json
check "to the same bytes" "$STRAKE" compare whole small
try run case.yaml --on cpu,ocl:0 --quiet --output small --set run.device_memory=2kB
fails 2 "the same with the device named" "raise run.device_memory"

check "without tuning it says what is missing" grep -q '"predicted": true, .*unknown: not tuned' auto.json

# Tuned rates and models come first, and are measured.
export STRAKE_CACHE_DIR=$scratch/known
space() { # space PLACE: one configuration, the program's own
    cat >space.yaml <<YAML
problem: mpdata2d
place: $1
fields: {psi: {random: {seed: 1, minimum: 0, maximum: 1}}, u1: {constant: 0.2}, u2: {constant: -0.1}, h: {constant: 1}}
steps: 11
grids: [[400, 600]]
parameters:
  - {path: run.$2, values: [$3]}
constraints:
  - {keep: rows > 1, why: the grid is too small}
YAML
}
space cpu steps_per_sweep 2
tune_quickly --on cpu --space space.yaml --budget 1000 --quiet
exits 0 "the CPU is tuned"
space opencl fusion stream
tune_quickly --on ocl:0 --space space.yaml --budget 1000 --quiet
exits 0 "the device is tuned"
try check case.yaml --on auto "${large[@]}"
check "without a model its transfers are unknown" grep -q 'ocl:0 .*its transfers are unknown' .out
little_memory
try model --on ocl:0 --budget 1 --quiet
exits 0 "its transfers are measured"
try check case.yaml --on auto "${large[@]}"
exits 0 "a check with everything known"
check "predicts the CPU" grep -Eq '^cpu  *[0-9.e+-]+  tuned 20' .out
check "and the device with its exchange" \
    grep -Eq '^ocl:0  *[0-9.e+-]+  tuned 20.*; exchange every [0-9]+ steps? (beside|after) kernels' .out
check "and whether two pay" grep -Eq '^\+ (cpu|ocl:0)  *[0-9.e+-]+  (not )?worth it: ' .out
check "and the team" grep -Eq '^team  *[0-9.e+-]+  predicted: [12] part' .out
prints "and measures that" "measured alone" ": it runs there"
try run case.yaml --on auto --quiet --output auto
check "the bytes are the same" "$STRAKE" compare whole auto
try check case.yaml --on auto "${large[@]}" --threads 1
check "other threads are not what was tuned" grep -q '^cpu .*unknown with 1 threads' .out

done_testing
