#!/bin/bash
# strake devices, with and without OpenCL.
. "$(dirname "$0")/tap.bash"

try devices
exits 0 "devices succeeds"
prints "the CPU is listed" "cpu: " "cores" "memory"
found=$(grep -c '^ocl:[0-9]*: ' .out)
if [ "$found" -gt 0 ]; then
    prints "OpenCL devices are listed with their limits" "ocl:0: " "vendor" "driver" "compute units" \
        "max allocation" "local memory" "work-group limit" "fp64" "bit-exact"
    try run case.yaml --on ocl:0 --no-tune --quiet --output ocl
    exits 0 "the OpenCL device of that name runs a case"
    try run case.yaml --on serial --quiet --output serial
    check "the OpenCL device gives the bytes of serial" cmp ocl/psi_00000020.npy serial/psi_00000020.npy
    try run case.yaml --on "ocl:$found"
    fails 2 "an OpenCL device beyond the list is a usage error" "ocl:$found"
else
    skip "OpenCL devices are listed with their limits" "no OpenCL device"
fi
try devices --json
exits 0 "devices --json succeeds"
prints "it is one object with the CPU first" '"devices": [' '{"id": "cpu"' '"bit_exact"'
check "as many OpenCL devices in JSON as in text" test "$(grep -c '"id": "ocl:' .out)" -eq "$found"
if command -v python3 >/dev/null; then
    check "it is valid JSON" python3 -c 'import json; json.load(open(".out"))'
else
    skip "it is valid JSON" "no python3 here"
fi

export STRAKE_OPENCL_LIBRARY=/nonexistent
try devices
exits 0 "devices succeeds without a loader"
prints "and says why there is no device" "cpu: " "No OpenCL device: "
check "no device is listed then" test "$(grep -c '^ocl:' .out)" -eq 0
try devices --json
check "and in JSON" grep -qE '"why_no_opencl": "[^"]+"' .out
try run case.yaml --on cpu --quiet
exits 0 "a CPU run needs no loader"
try run case.yaml --on ocl:0 --quiet
fails 2 "an OpenCL run without a loader is refused" "ocl:0"
try run case.yaml --on hybrid --quiet
exits 0 "hybrid without a device is cpu"
check "which it says" grep -q '^strake: note: ' .err
done_testing
