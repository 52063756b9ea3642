#!/bin/bash
# Ranks on several machines, which tests/support/machines_mpi.c makes of one: what travels between them in pieces has the same bytes,
# and `strake model` measures whether it should.
here=$(realpath "$(dirname "$0")")
support=$here/../support
. "$here/tap.bash"
. "$here/ranks.bash"
little_memory
if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "ranks on several machines" "a sanitizer must be loaded first"
    done_testing
fi
if ! mpicc -shared -fPIC -o machines.so "$support/machines_mpi.c" 2>cc.err; then
    skip "ranks on several machines" "no mpicc: $(head -1 cc.err)"
    done_testing
fi
# Kernels of seven problems, compiled by several ranks at once; their speed does not matter here.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable STRAKE_CACHE_DIR=$scratch/kept
spinodal 2 'rows: 48, cols: 2500' 'rows: periodic' >wide.yaml # borders of 40 KB for each step at once
"$STRAKE" run wide.yaml --on cpu --quiet --output one || exit 1
"$STRAKE" run walls.yaml --on cpu --quiet --output narrow || exit 1
whole=$STRAKE
# What STRAKE is from here on: ranks that share a machine with as few others as $STRAKE_TEST_MACHINE says.
printf '#!/bin/sh\nLD_PRELOAD=%s:$LD_PRELOAD exec %s "$@"\n' "$scratch/machines.so" "$STRAKE" >apart
chmod +x apart
export STRAKE=$scratch/apart STRAKE_TEST_MACHINE=1

on_ranks 2 model --on cpu --budget 1 --report model.json
check "messages between machines are measured" test "$code" = 0
prints "whole and in pieces" "2 ranks on 2 machines" "256 KiB both ways between machines, a processor each: whole" "in pieces of 32 KiB"
check "which the report has" grep -qE '"pieces": \{"bytes": (0|32768), "awake": \[[0-9.e-]+, [0-9.e-]+\], "crowded": \[[0-9.e-]+, [0-9.e-]+\]\}' model.json
file=$(ls kept/ranks-*.yaml)
check "and the file that is kept" grep -q '"pieces":' "$file"
cp "$file" measured
# cut BYTES: as if that had been measured; messages: that rank 0 sends in an exchange
cut() { sed -E "s/(\"pieces\": \{\"bytes\": )[0-9]*/\1$1/" measured >"$file"; }
messages() { sed -n 's/.*"rank_messages_per_sweep": \([0-9]*\).*/\1/p' report.json | head -1; }
run() { # run RANKS CASE ARGUMENTS...
    on_ranks "$1" run "$2.yaml" --quiet --output ranks --report report.json "${@:3}"
}
for steps in 1 3; do
    for way in messages one_way; do
        cut 0
        run 2 wide --set run.exchange=$way --set run.steps_per_sweep=$steps
        few=$(messages)
        same "whole messages, $way, $steps at once: the same bytes"
        cut 32768
        run 2 wide --set run.exchange=$way --set run.steps_per_sweep=$steps
        pieces=$(messages)
        same "pieces of them, $way, $steps at once: the same bytes"
        check "which are more ($few, then $pieces)" test "$pieces" -ge $((2 * few))
    done
done
cut 1000
run 2 wide
same "a size that is none is refused, and does no harm"
check "which is told" grep -qF '"figures": null' report.json
rm -rf one && mv narrow one
cut 32768
run 2 walls --set run.exchange=messages --set run.steps_per_sweep=1
same "messages that are no larger than a piece"
check "stay whole" test "$(messages)" = 1
rm -rf one ranks
on_ranks 2 run wide.yaml --quiet --output bad --set scheme.unstable=allow --set time.dt=1
says 1 "a rank that stops is found, whose messages come in pieces" "NaN or Inf"

# Particles whose forces come in pieces, too, hear of a rank that fails.
injected=$(dirname "$whole")/tests/injected/strake
if [ -x "$injected" ] && "$STRAKE" devices | grep -q '^ocl:0'; then
    cat >bore.yaml <<'YAML'
problem: sph3d
precision: single
scene:
  spacing: 0.025
  to: [1.2, 1, 1]
  fluid: [{box: {from: [0.1, 0.1, 0.1], to: [0.8, 0.95, 0.95]}}]
  walls: [{sides: [left, right, bottom, front, back]}]
scheme: {slices: x}
time: {steps: 60, end: 1}
output: {fields: []}
YAML
    printf '#!/bin/sh\nLD_PRELOAD=%s:$LD_PRELOAD exec %s "$@"\n' "$scratch/machines.so" "$injected" >failing
    chmod +x failing
    cut 32768
    STRAKE=$scratch/failing STRAKE_INJECT=fail:1:ocl:0@20 on_ranks 2 run bore.yaml --quiet --on cpu/ocl:0
    check "a rank of particles that fails is named by itself" grep -q 'failed with CL_' .err
fi

# Ghosts beside lines do not travel with pieces, and are made where these come: of every boundary, of several states, in
# three dimensions, beside a pole, of a flow whose tendencies stay at home.
cat >tracers.yaml <<'YAML'
problem: mpdata2d
grid: {rows: 41, cols: 45}
time: {dt: 0.1, steps: 15}
boundary: {rows: periodic, cols: no_flux}
tracers: [a, b]
fields:
  a: {random: {seed: 1, minimum: 0.5, maximum: 1}}
  b: {random: {seed: 2, minimum: 0.5, maximum: 1}}
  u1: {constant: 0.3}
  u2: {deformation: {amplitude: 0.3, waves: [1, 2]}}
YAML
cat >spill.yaml <<'YAML'
problem: lava
grid: {rows: 45, cols: 37, dx: 10, dy: 10}
time: {end: 400, dt_max: 60}
fields: {terrain: {random: {seed: 1, minimum: 0, maximum: 1}}, thickness: {random: {seed: 2, minimum: 2, maximum: 4}}}
YAML
where=cpu
"$STRAKE" devices | grep -q '^ocl:0' && where=cpu,ocl:0
on_ranks 3 model --on cpu --budget 1 --quiet
check "and of three ranks" test "$code" = 0
for file in kept/ranks-*.yaml; do
    sed -i -E 's/("pieces": \{"bytes": )[0-9]*/\132768/' "$file"
done
for case in ring walls cube flow poles tracers spill; do
    rm -rf one
    "$STRAKE" run $case.yaml --on cpu --quiet --output one || exit 1
    run 3 $case --on cpu --set run.exchange=messages
    same "lines of $case without their ghosts: the same bytes"
    run 2 $case --on "$where" --set run.exchange=messages --set run.overlap=on
    same "and beside a device"
done
rm -rf one
"$STRAKE" run cube.yaml --on cpu --quiet --output one --set precision=single --set run.exchange=messages 2>/dev/null || exit 1
run 3 cube --set precision=single --set run.exchange=messages --set run.steps_per_sweep=2
same "in single precision: the same bytes"
sent() { sed -n 's/.*"rank_bytes_per_sweep": \([0-9]*\).*/\1/p' report.json | head -1; }
narrow=$(sent)
for file in kept/ranks-*.yaml; do
    sed -i -E 's/("pieces": \{"bytes": )[0-9]*/\10/' "$file"
done
run 3 cube --set precision=single --set run.exchange=messages --set run.steps_per_sweep=2
same "which whole slabs bring, too"
check "that are more ($(sent) bytes, not the $narrow of some lines)" test "$narrow" -lt "$(sent)" -a $((narrow % (9 * 20 * 4))) = 0

# Two on each machine: those have their borders in common, or send whole messages.
export STRAKE_TEST_MACHINE=2
"$STRAKE" run wide.yaml --on cpu --quiet --output one || exit 1
on_ranks 4 model --on cpu --budget 1 --quiet
check "four ranks of two machines are measured" test "$code" = 0
for file in kept/ranks-*.yaml; do
    sed -i -E 's/("pieces": \{"bytes": )[0-9]*/\132768/' "$file"
done
for way in both messages one_way; do
    run 4 wide --set run.exchange=$way --set run.steps_per_sweep=2
    same "two machines of two ranks, $way: the same bytes"
    check "by figures that cut what goes to the other one" grep -qF '"figures": "20' report.json
done
done_testing
