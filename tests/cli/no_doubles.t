#!/bin/bash
# A device without double precision (Mesa's llvmpipe, by rusticl): the bytes of the processor in single precision.
. "$(dirname "$0")/tap.bash"

names="problems on a device without doubles"
for icd in /etc/OpenCL/vendors/rusticl.icd /usr/share/OpenCL/vendors/rusticl.icd; do
    [ ! -e "$icd" ] || export OCL_ICD_VENDORS=$icd
done
export RUSTICL_ENABLE=llvmpipe
if [ -n "${STRAKE_TESTS_CPU_ONLY:-}" ] || [ -z "${OCL_ICD_VENDORS:-}" ] ||
    ! "$STRAKE" devices 2>/dev/null | sed -n '/^ocl:0: llvmpipe/,/^$/p' | grep -q "fp64 *no"; then
    skip "$names" "no llvmpipe without doubles (Mesa's rusticl, mesa-opencl-icd)"
    done_testing
fi

# same NAME OPTIONS...: a case by the processor, the device and both
same() {
    local name=$1 on
    shift
    for on in serial ocl:0 cpu,ocl:0; do
        try run "$name.yaml" --set precision=single --set output.formats=[npy] --on $on --output "$name-$on" --quiet "$@"
        exits 0 "$name runs on $on"
        ! grep -q "left out" .err || report 1 "nothing is left out"
    done
    for on in ocl:0 cpu,ocl:0; do
        check "$name has the bytes of the processor on $on" bash -c "
            ls $name-serial/*.npy >/dev/null && diff -rq -x run.json -x index.csv $name-serial $name-$on"
    done
}

for problem in mpdata2d cahn_hilliard2d lava; do
    "$STRAKE" new $problem >$problem.yaml
    same $problem --steps 8
done

cat >drop.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.04
  to: [0.8, 0.6]
  fluid: [{box: {from: [0, 0], to: [0.24, 0.24]}}]
  walls: [{sides: [bottom, left, right], kind: lennard_jones}]
time: {end: 0.05}
output: {every_seconds: 0.02}
diagnostics: {every: 10}
YAML
same drop
cat >paddle.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.04
  to: [1.2, 0.8]
  periodic: [x]
  fluid: [{box: {from: [0, 0], to: [1.2, 0.3]}}]
  walls: [{sides: [bottom]}]
  obstacles:
    - box: {from: [0.1, 0.1], to: [0.3, 0.3]}
      motion: [{along: [1, 0], sine: {amplitude: 0.2, period: 0.5}}, {about: [0.2, 0.2], rate: 90}]
scheme: {shepard: 20, diffusion: fourtakas}
time: {end: 0.05}
YAML
same paddle

try check drop.yaml --set precision=single --on ocl:0
exits 0 "check finds that particles can run there"
try check drop.yaml --set precision=double --on ocl:0
exits 2 "and early that they cannot in double precision"
check "with what to do" grep -q 'has no double precision; set `precision: single`' .err
try tune --problem sph2d --set precision=double --on ocl:0 --budget 300
exits 1 "so does tune"
check "which says why" grep -q "no double precision" .err
done_testing
