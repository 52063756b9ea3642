#!/bin/bash
# Stripes larger than device memory stream through it in blocks: what users see of it.
support=$(cd "$(dirname "$0")/../support" && pwd)
. "$(dirname "$0")/tap.bash"

try run case.yaml --on serial --quiet --output whole
exits 0 "the reference runs"
if ! "$STRAKE" devices --json | grep -q '"id": "ocl:0"'; then
    skip "streaming through an OpenCL device" "no OpenCL device"
    done_testing
fi

try run case.yaml --on ocl:0 --quiet --output resident --report resident.json
exits 0 "a stripe that fits is resident"
check "and says nothing of blocks" test ! -s .err
check "nor its report" sh -c '! grep -q streaming resident.json'

try run case.yaml --on ocl:0 --quiet --output capped --report capped.json --set run.device_memory=100kB
exits 0 "a stripe beyond run.device_memory streams"
check "to the same bytes" "$STRAKE" compare whole capped
check "with one line of notice" test "$(wc -l <.err)" -eq 1
check "that names the device and the blocks" grep -q '^strake: note: ocl:0: .* streams .* blocks of up to' .err
number() { # number KEY: from the report
    grep -o "\"$1\": [0-9.e+-]*" capped.json | head -n 1 | cut -d' ' -f2
}
check "the report counts blocks" test "$(number blocks)" -gt 1
check "and the memory they take" test "$(number device_memory_bytes)" -le 100000
check "and the bytes moved" test "$(number uploaded_bytes)" -gt "$(number downloaded_bytes)"
for key in streams steps_per_sweep block_rows predicted_seconds measured_seconds \
    upload_bytes_per_second download_bytes_per_second kernel_cells_per_second; do
    check "and has $key" awk -v x="$(number $key)" 'BEGIN { exit !(x > 0) }'
done

try run case.yaml --on ocl:0 --quiet --output asked --report capped.json --set run.blocks=5 \
    --set run.streams=3 --set run.steps_per_sweep=4
exits 0 "blocks, streams and steps can be asked for"
check "to the same bytes" "$STRAKE" compare whole asked
check "and nobody needs to be told" test ! -s .err
check "five blocks" test "$(number blocks)" -eq 5
check "three streams" test "$(number streams)" -eq 3
check "four steps" test "$(number steps_per_sweep)" -eq 4

every="--set checkpoint.every=7 --set output.every=5"
# shellcheck disable=SC2086
try run case.yaml --on serial --quiet --output plain $every --steps 14
# shellcheck disable=SC2086
try run case.yaml --on ocl:0 --quiet --output streamed $every --steps 14 --set run.device_memory=100kB
check "checkpoints are the same" cmp plain/checkpoint.strake streamed/checkpoint.strake
check "and outputs on the way" cmp plain/psi_00000010.npy streamed/psi_00000010.npy
try run case.yaml --on ocl:0 --quiet --output resumed --resume streamed/checkpoint.strake --set run.blocks=3
exits 0 "a run continues in other blocks"
check "to the same bytes" "$STRAKE" compare whole resumed

try run case.yaml --on ocl:0 --quiet --output small --set run.device_memory=2kB
fails 2 "memory that holds not even one row" "needs at least" "run.device_memory" "MiB"
try run case.yaml --on ocl:0 --quiet --output small --set run.blocks=1 --set run.device_memory=20kB
fails 2 "blocks that do not fit" "needs at least" "run.blocks"
check "leaves no output" test ! -e small/psi_00000020.npy
for value in -1 1.5XB MiB '"1 2"' '[1]' 1e3; do
    try run case.yaml --on ocl:0 --set "run.device_memory=$value"
    fails 2 "run.device_memory=$value" "run.device_memory" "bytes >= 0"
done
for value in 0 200000 0.2MB 200kB 0.0002GB 195.3KiB 0.19MiB 1GiB; do
    try run case.yaml --on ocl:0 --quiet --output sizes --set "run.device_memory=$value"
    exits 0 "run.device_memory=$value is a size"
done

# A driver that reports memory it cannot give.
if "${CC:-cc}" -shared -fPIC -o small.so -Wl,--no-as-needed "$support/small_memory.c" -l:libOpenCL.so.1 -ldl 2>cc.err; then
    export STRAKE_OPENCL_LIBRARY=$PWD/small.so STRAKE_TEST_LARGEST_BUFFER=24000
    try run case.yaml --on ocl:0 --quiet --output fallback --report capped.json
    exits 0 "running out of device memory falls back to blocks"
    check "to the same bytes" "$STRAKE" compare whole fallback
    check "with one line of notice" test "$(grep -c '^strake: note: ocl:0: .* streams' .err)" -eq 1
    check "in several blocks" test "$(number blocks)" -gt 1
    export STRAKE_TEST_LARGEST_BUFFER=8
    try run case.yaml --on ocl:0 --quiet --output none
    fails 1 "a device without any memory" "clCreateBuffer" "CL_MEM_OBJECT_ALLOCATION_FAILURE"
else
    skip "running out of device memory" "no library to link with: $(head -n 1 cc.err)"
fi

done_testing
