#!/bin/bash
# strake devices, with and without OpenCL.
support=$(cd "$(dirname "$0")/../support" && pwd)
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

# The same device as a GPU: kernels that march know the length of a row; and as one without double precision.
if [ "$found" -gt 0 ] && "${CC:-cc}" -shared -fPIC -o gpu.so -Wl,--no-as-needed \
    "$support/gpu_opencl.c" -l:libOpenCL.so.1 -ldl 2>cc.err; then
    larger=(--set grid.rows=150 --set grid.cols=211 --steps 5)
    try run case.yaml --on serial --quiet "${larger[@]}" --output whole
    for set in precision=double run.vector=2; do
        STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run case.yaml --on ocl:0 --no-tune --quiet "${larger[@]}" \
            --set run.fusion=stream --set "$set" --set run.dump_kernels=. --output gpu
        exits 0 "it runs as a GPU, $set"
        check "with rows at fixed distances" grep -q 'enum { LINE = ' mpdata2d_double_*.cl
        check "to the bytes of serial" cmp gpu/psi_00000005.npy whole/psi_00000005.npy
        rm -f mpdata2d_double_*.cl gpu/psi_00000005.npy
    done
    export STRAKE_TEST_WITHOUT_FP64=1
    STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run case.yaml --on ocl:0 --no-tune --quiet
    fails 2 "a device without double precision is refused for it" "ocl:0" "double" "precision: single"
    STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run case.yaml --on auto --no-tune --quiet
    exits 0 "auto goes without it"
    STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run case.yaml --on ocl:0 --no-tune --quiet \
        --set precision=single --output single
    exits 0 "in single precision it runs"
    try run case.yaml --on serial --quiet --set precision=single --output single-serial
    check "to the bytes of serial" cmp single/psi_00000020.npy single-serial/psi_00000020.npy
    unset STRAKE_TEST_WITHOUT_FP64
else
    skip "devices as GPUs and without double precision" "no device, or no library to link with"
fi

# A driver whose fills count patterns in few bits, as one does in 32 where arrays have more.
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
if [ "$found" -gt 0 ] && [ -n "$faulty" ]; then
    try run case.yaml --on serial --quiet --steps 5 --output whole
    check "fills of 6 bits go elsewhere" env STRAKE_TEST_FILL_BITS=6 STRAKE_OPENCL_LIBRARY="$faulty" \
        "$(dirname "$faulty")/fill_elsewhere"
    check "unless all bits count" test "$(STRAKE_OPENCL_LIBRARY=$faulty "$(dirname "$faulty")/fill_elsewhere"; echo $?)" = 1
    for bits in 6 9 12; do
        for place in ocl:0 ocl:0,ocl:0 "ocl:0 --set run.blocks=3"; do
            # shellcheck disable=SC2086 # words
            STRAKE_TEST_FILL_BITS=$bits STRAKE_OPENCL_LIBRARY=$faulty try run case.yaml --on $place \
                --no-tune --quiet --steps 5 --output fills
            exits 0 "fills of $bits bits do not matter to $place"
            check "to the bytes of serial" cmp fills/psi_00000005.npy whole/psi_00000005.npy
            rm -f fills/psi_00000005.npy
        done
    done
    # One that fails where two contexts of a device pin the same memory of the host.
    STRAKE_TEST_FAULTS=pin:twice STRAKE_OPENCL_LIBRARY=$faulty try run case.yaml --on ocl:0,ocl:0 \
        --no-tune --quiet --steps 5 --output pins
    exits 0 "two parts of a device share it, though they may not pin the same memory"
    check "to the bytes of serial" cmp pins/psi_00000005.npy whole/psi_00000005.npy
else
    skip "a driver whose fills are wrong" "no device, or no library to stand in front of one"
fi

export STRAKE_OPENCL_LIBRARY=$scratch/none
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
try run case.yaml --on hybrid
exits 0 "hybrid without a device is cpu"
check "which it says" grep -q '^strake: note: ' .err

# Some OpenMP libraries bind the first thread before the program begins.
usable=$("$STRAKE" devices | sed -n 's/^  threads  *\([0-9]*\) by default.*/\1/p')
for words in OMP_PROC_BIND=true OMP_PLACES=threads; do
    bound=$(env "$words" "$STRAKE" devices | sed -n 's/^  threads  *\([0-9]*\) by default.*/\1/p')
    check "$words leaves as many threads ($usable)" test "${bound:-none}" = "$usable"
done
done_testing
