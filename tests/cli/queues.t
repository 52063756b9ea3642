#!/bin/bash
# Commands of a device's queues in any order that events allow, as GPUs have them (tests/support/queues_opencl.c): the same bytes.
support=$(realpath "$(dirname "$0")/../support")
cases=$(realpath "$(dirname "$0")/../../data/cases")
. "$(dirname "$0")/tap.bash"

if ! "$STRAKE" devices | grep -q '^ocl:0'; then
    skip "commands of opencl queues in any order" "no OpenCL device"
    done_testing
fi
if ! "${CC:-cc}" -shared -fPIC -D_GNU_SOURCE -o queues.so -Wl,--no-as-needed "$support/queues_opencl.c" \
    -l:libOpenCL.so.1 -ldl -lpthread 2>cc.err; then
    skip "commands of opencl queues in any order" "no library to link with: $(head -1 cc.err)"
    done_testing
fi
# How fast kernels are does not matter, and compiling them would take most of the time.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable STRAKE_CACHE_DIR=$scratch/programs
cat >quench.yaml <<'YAML'
problem: cahn_hilliard3d
grid: {planes: 24, rows: 20, cols: 33}
time: {dt: 0.004, steps: 12}
scheme: {time: euler}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
run: {overlap: on}
YAML
cat >flow.yaml <<'YAML'
problem: mpdata3d
grid: {planes: 26, rows: 19, cols: 22}
time: {dt: 0.1, steps: 12}
fields: {psi: {random: {seed: 1, minimum: 0.5, maximum: 1}}, u1: {constant: 0.2}, u2: {constant: -0.1}, u3: {constant: 0.3}}
run: {overlap: on}
YAML
cat >spill.yaml <<'YAML'
problem: lava
grid: {rows: 90, cols: 70, dx: 10, dy: 10}
time: {end: 1e9, dt_max: 60}
fields: {terrain: {random: {seed: 1, minimum: 0, maximum: 1}}, thickness: {random: {seed: 2, minimum: 2, maximum: 4}}}
run: {overlap: on}
YAML
sums() { # sums FILE: bits of the fields
    grep -o '"checksum": "[0-9a-f]*"' "$1"
}
in_any_order() { # in_any_order NAME PLACES OPTIONS...: every place in several orders beside the processors
    name=$1 places=$2
    shift 2
    try run "$@" --on cpu --no-tune --quiet --output out --report reference.json
    exits 0 "$name: the processors alone"
    for on in $places; do
        for order in ${STRAKE_TESTS_LONG:+$(seq 3 29)} 0 1 2; do
            rm -rf out.json
            STRAKE_OPENCL_LIBRARY=$PWD/queues.so STRAKE_TEST_ORDER=$order try run "$@" --on "$on" --no-tune --quiet --output out --report out.json
            check "$name: the same bits from $on in order $order" cmp <(sums reference.json) <(sums out.json)
        done
    done
}
shared=(--set 'output.fields=[]' --set output.every=0)
in_any_order "Cahn-Hilliard 3D" ocl:0,ocl:0 quench.yaml "${shared[@]}"
in_any_order "MPDATA 3D" ocl:0,cpu,ocl:0 flow.yaml "${shared[@]}"
in_any_order "lava" ocl:0,ocl:0 spill.yaml "${shared[@]}" --steps 12
particles=("$cases/dambreak2d.yaml" --set scene.spacing=0.02 --steps 32 --set 'output.fields=[]' --set output.every_seconds=100
    --set scheme.shepard=15)
in_any_order "particles" "ocl:0,ocl:0 cpu,ocl:0" "${particles[@]}" --set precision=single
in_any_order "particles in double precision" ocl:0,ocl:0 "${particles[@]}" --set precision=double
done_testing
