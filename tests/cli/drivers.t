#!/bin/bash
# Several OpenCL drivers and kinds of devices, by a library in front of the real one: their order and names,
# words for GPUs, and what processes that the program starts see of them.
. "$(dirname "$0")/tap.bash"
export STRAKE_CACHE_DIR=$scratch/programs
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
if ! "$STRAKE" devices | grep -q '^ocl:0: ' || [ ! -f "$faulty" ]; then
    skip "several drivers" "no OpenCL device or loader"
    done_testing
fi
export STRAKE_OPENCL_LIBRARY=$faulty
export POCL_DEVICES="pthread pthread" # two devices, of one driver as of two

# Devices of contexts of their own pin what they share of the host's arrays; two parts of one device do not.
if "$STRAKE" devices | grep -q '^ocl:1: '; then
    try run case.yaml --on ocl:0,ocl:1 --split 1,1 --no-tune --quiet --set run.blocks=3 --output pins --report pins.json
    check "stripes that stream through two devices are pinned" test "$(grep -c '"streaming": .*"pinned": true' pins.json)" = 2
    try run case.yaml --on ocl:0,ocl:0 --split 1,1 --no-tune --quiet --set run.blocks=3 --output pins --report pins.json
    check "those that stream through one are not" test "$(grep -c '"streaming": .*"pinned": false' pins.json)" = 2
else
    skip "stripes that stream through two devices" "the driver does not offer two devices"
fi

# A loader that cuts the list of drivers while it reads it.
cat >space.yaml <<'YAML'
problem: mpdata2d
place: opencl
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {constant: 0.1}
  u2: {constant: 0.1}
steps: 3
grids: [[96, 80]]
parameters:
  - {path: run.fusion, values: [plain]}
constraints:
  - {keep: rows > 1, why: the grid is too small}
YAML
export STRAKE_TEST_FAULTS=cut:drivers
OCL_ICD_FILENAMES=one try devices
check "one driver has one device" test "$(grep -c '^ocl:' .out)" -eq 1
OCL_ICD_FILENAMES=one:two try devices
if grep -q '^ocl:1: ' .out; then
    # The second device is a GPU, so that it is the first of the list.
    OCL_ICD_FILENAMES=one:two STRAKE_TEST_KINDS="cpu gpu" tune_quickly --on gpu:0 --space space.yaml --cache second --budget 1000
    exits 0 "the second driver's device can be tuned, though the loader cuts the list of drivers"
    check "it was measured" grep -q '^complete: true$' second/tuned-*.yaml
else
    skip "the second driver's device can be tuned" "the driver does not offer two devices"
fi
unset STRAKE_TEST_FAULTS

# A driver that takes seconds to compile: what goes on is told, on a terminal by a bar.
# PoCL's own cache, for which the program keeps no binaries, is left out where these matter.
compile() {
    STRAKE_CACHE_DIR=$scratch/empty$1 STRAKE_TEST_BUILD_SECONDS=1.8 POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable \
        POCL_KERNEL_CACHE=$(($1 > 1)) "${@:2}"
}
compile 1 try run case.yaml --on cpu,ocl:0 --steps 2 --output slow
exits 0 "a run whose kernels take seconds to compile"
for k in 1 2 3 4; do
    check "says which is compiled, for what: program $k of 4" \
        grep -qE "^ *[0-9]+ % compiling program $k of 4 for ocl:0 \(.+\), [1-9][0-9]* s$" .err
done
check "in plain lines" test "$(tr -d -c '\r\033' <.err | wc -c)" -eq 0
compile 1 try run case.yaml --on cpu,ocl:0 --steps 2 --output slow
lacks "not where the cache has them" 'compiling' .err
compile 2 try run case.yaml --on cpu,ocl:0 --steps 2 --output slow --quiet
check "nor with --quiet" test "$code,$(cat .out .err | wc -c)" = 0,0
compile 3 try devices
check "devices tells it of self-tests" grep -q 'compiling program 2 of 4 for ocl:0 ' .err
if has_terminal; then
    compile 4 script -qec "'$STRAKE' run case.yaml --on ocl:1 --steps 2 --no-tune --output slow" /dev/null >shown.txt 2>&1
    check "on a terminal there is a bar" grep -q '\[#.*\] compiling program 2 of 4 for ocl:1 ' shown.txt
    check "that is removed" grep -qE $'\r\033.\\[?K?[^#]*where ' <(tr '\n' ' ' <shown.txt)
else
    skip "on a terminal there is a bar" "no script(1)"
fi

# Without a GPU a job that asks for one does not run on something else.
for word in gpu gpu:0; do
    for command in "run case.yaml" "check case.yaml" "bench --sizes 32 --steps 2" "tune" "model"; do
        # shellcheck disable=SC2086
        try $command --on $word --quiet
        [ "${command%% *}" = check ] && try check case.yaml --on $word
        fails 2 "${command%% *} --on $word without a GPU is an error" "\`$word\`" "no GPU or accelerator" "ocl:0 ("
    done
done
check "and writes nothing" test ! -e out
try run case.yaml --set run.on=gpu
fails 2 "so it is where the case says so" "no GPU or accelerator" "ocl:0 ("
try run case.yaml --on hybrid --report hybrid.json
exits 0 "hybrid runs without a GPU"
check "and says so" grep -q '^strake: note: no GPU here: `hybrid` runs on the CPU alone' .err

# GPUs, then accelerators, then the processors, whatever the driver's order.
export POCL_DEVICES="pthread pthread pthread pthread" STRAKE_TEST_KINDS="cpu accelerator gpu gpu"
try devices
if [ "$(grep -c '^ocl:' .out)" -ne 4 ]; then
    skip "GPUs come first" "the driver does not offer four devices"
    done_testing
fi
check "GPUs come first" test "$(sed -n 's/^  vendor .*, //p' .out | tr '\n' ' ')" = "gpu gpu accelerator cpu "
prints "each has a second name" "gpu:0" "gpu:1" "gpu:2"
check "the processors do not" test "$(grep -c 'gpu:' .out)" -eq 3
try devices --json
check "nor in JSON" test "$(grep -o '"id": "ocl:[0-9]", "kind": "[a-z]*"\(, "gpu": [0-9]\)*' .out | tr -d '\n')" = \
    '"id": "ocl:0", "kind": "gpu", "gpu": 0"id": "ocl:1", "kind": "gpu", "gpu": 1"id": "ocl:2", "kind": "accelerator", "gpu": 2"id": "ocl:3", "kind": "cpu"'
parts() { grep -o '"id": "[a-z]*:*[0-9]*"' "$1" | cut -d'"' -f4 | tr '\n' ' '; }
try run case.yaml --on serial --quiet --output whole
try run case.yaml --on gpu --split 1,1,1 --quiet --report all.json --output all
exits 0 "gpu is all of them"
check "without the processors" test "$(parts all.json)" = "ocl:0 ocl:1 ocl:2 "
check "to the same bytes" "$STRAKE" compare whole all
try run case.yaml --set run.on=gpu:2,cpu --split 1,1 --quiet --report one.json --output one
exits 0 "gpu:2 is one, in a case's list, too"
check "the third" test "$(parts one.json)" = "ocl:2 cpu "
check "to the same bytes" "$STRAKE" compare whole one
try run case.yaml --on gpu:3
fails 2 "a GPU beyond them is refused" "\`gpu:3\`" "there are only gpu:0 to gpu:2"
try check case.yaml --on gpu:x
fails 2 "and one without a number" "\`gpu:x\`" "gpu:0"
try run case.yaml --on gpu0
fails 2 "a name that is none gets a suggestion" "did you mean \`gpu:0\`"
try run case.yaml --set run.on=gpu0
fails 2 "in a case, too" "gpu:0"
try check case.yaml --on gpu:1
prints "check takes the word" "ocl:1"
little_memory
try bench case.yaml --on gpu:1 --on cpu --steps 2 --repeats 1 --quiet --report bench.jsonl
check "so does bench" grep -q '"where": "gpu:1".*"id": "ocl:1"' bench.jsonl
try model --on gpu:2 --budget 1 --quiet --cache models --report model.json
check "and model" grep -q '"id": "ocl:2"' model.json
done_testing
