#!/bin/bash
# Several OpenCL drivers and kinds of devices, by a library in front of the real one: what processes that the
# program starts see of them.
. "$(dirname "$0")/tap.bash"
export STRAKE_CACHE_DIR=$scratch/programs
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
if ! "$STRAKE" devices | grep -q '^ocl:0: ' || [ ! -f "$faulty" ]; then
    skip "several drivers" "no OpenCL device or loader"
    done_testing
fi
export STRAKE_OPENCL_LIBRARY=$faulty
export POCL_DEVICES="pthread pthread" # two devices, of one driver as of two

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
    OCL_ICD_FILENAMES=one:two try tune --on ocl:1 --space space.yaml --cache second --budget 30
    exits 0 "the second driver's device can be tuned, though the loader cuts the list of drivers"
    check "it was measured" grep -q '^complete: true$' second/tuned-*.yaml
else
    skip "the second driver's device can be tuned" "the driver does not offer two devices"
fi
unset STRAKE_TEST_FAULTS
done_testing
