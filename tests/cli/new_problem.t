#!/bin/bash
# A problem becomes one of the program's as src/problem/README.md says: a file of the examples and one line, in a copy of
# the tree. Objects that need not change come from this build. It has the bytes of the same file that is loaded.
top=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/tap.bash"
page=$top/src/problem/README.md
program=$STRAKE
build=$(realpath --relative-to="$top" "$(dirname "$STRAKE")")

# The copy, and in it the build, at the same place of the tree since rules of dependencies name it.
mkdir tree
(cd "$top" && cp -a --parents Makefile src host cl autotune data tests "$scratch/tree" &&
    if [ -e config.mk ]; then cp -a config.mk "$scratch/tree"; fi)
case $build in
    ..*) build=build ;;
    *) (cd "$top" && cp -a --parents "$build/obj" "$build/gen" "$scratch/tree") ;;
esac
cd tree || exit 1
line=$(sed -n '/^    X([a-z0-9_]*) /p' "$page")
problem=heat2d
check "the page has the line of the list" grep -q "X($problem)" <<<"$line"
cp data/examples/problems/heat.c src/problem/
line=$line awk '{ print } /^#define STRAKE_PROBLEMS\(X\)/ { print ENVIRON["line"] }' \
    "$top/src/problem/problem_list.h" >src/problem/problem_list.h

# What was said to the make that runs this (a compiler, a sanitizer) holds here too, but not its jobs.
case ${MAKEFLAGS:-} in *'-- '*) said="-- ${MAKEFLAGS#*-- }" ;; *) said= ;; esac
code=0
env -u MFLAGS MAKEFLAGS="$said" make -j2 BUILD="$build" "$build/strake" >"$scratch/.out" \
    2>"$scratch/.err" || code=$?
[ "$code" -eq 0 ] && ! grep -q 'warning:' "$scratch/.err"
report $? "the program is built, without a warning"
check "objects of engine and host were reused" sh -c '! grep -E " CC +(src/engine|host)/" "$1"' - "$scratch/.out"
# There are loops for two precisions where processors have this instruction set, and none of other problems.
check "of all fused loops only the new problem's were compiled" awk -v isa="$(uname -m)" -v one=$problem '
    /strake_loops_.*_rows\.c / && index($0, one) == 0 { others++ }
    / avx2 / && index($0, "strake_loops_" one "_rows.c") > 0 { own++ }
    END { exit others > 0 || (isa == "x86_64" && own != 2) }' "$scratch/.out"
STRAKE=$PWD/$build/strake
if [ ! -x "$STRAKE" ]; then
    done_testing
fi
cd "$scratch" || exit 1

try help case
prints "its keys are documented" $problem parameters.loss "thermal diffusivity"
cat >plate.yaml <<'CASE'
problem: heat2d
grid: {rows: 45, cols: 70}
time: {dt: 0.2, steps: 40}
boundary: {rows: periodic, cols: no_flux}
parameters: {loss: 0.02}
fields: {T: {random: {seed: 1, minimum: 0, maximum: 1}}, a: {random: {seed: 2, minimum: 0.2, maximum: 1}}}
diagnostics: {every: 10}
CASE
places="cpu/1 cpu/2"
"$program" devices >/dev/null 2>&1
if [ "$("$program" devices 2>/dev/null | grep -c '^ocl:[0-9]*: ')" -gt 0 ]; then
    places="$places ocl:0/1 cpu,ocl:0/1"
else
    skip "the same bits from OpenCL" "no OpenCL device"
fi
for precision in double single; do
    try run plate.yaml --on serial --quiet --set precision=$precision --output serial-$precision
    exits 0 "it runs in $precision precision"
    for place in $places; do
        try run plate.yaml --on "${place%/*}" --set run.threads="${place#*/}" --set precision=$precision --quiet \
            --output place
        check "the same bits from ${place%/*}, threads ${place#*/}, $precision" sh -c '
            test ! -s .err && "$0" compare "$1" place' "$STRAKE" serial-$precision
    done
done
try run plate.yaml --set time.dt=0.2501 --on serial --quiet --output beyond
fails 2 "a time step that is too long is refused" "time.dt: 0.2501 is unstable"

# The same file, loaded by the program that was there before.
export STRAKE_CACHE_DIR=$scratch/cache
if "$program" problem build "$top/data/examples/problems/heat.c" --quiet 2>.err; then
    sed "s:problem\: heat2d:problem\: {file\: '$top/data/examples/problems/heat.c'}:" plate.yaml >loaded.yaml
    "$program" run loaded.yaml --on cpu --quiet --output loaded
    check "and the same bytes as the file that is loaded" "$program" compare serial-double loaded
else
    skip "the same file, loaded" "no C compiler"
fi
done_testing
