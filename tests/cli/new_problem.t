#!/bin/bash
# src/problem/README.md, word for word: its files in a copy of the tree make a program with two problems more, which
# give the same bits everywhere and the right ones. Objects that need not change come from this build.
top=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/tap.bash"
page=$top/src/problem/README.md
problem=ginzburg_landau2d
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

# Blocks of code go into the files named above them, the indented lines X(...) into the list of problems.
awk '/^`[^` ]+`:$/ { name = substr($0, 2, length($0) - 3) }
    /^```$/ { inside = 0; name = ""; next }
    /^```/ { inside = name != ""; if (inside) print name >"'"$scratch"'/files"; next }
    inside { print >name }' "$page"
line=$(sed -n '/^    X([a-z0-9_]*) /p' "$page")
line=$line awk '{ print } /^#define STRAKE_PROBLEMS\(X\)/ { print ENVIRON["line"] }' \
    "$top/src/problem/problem_list.h" >src/problem/problem_list.h
for folder in src host cl autotune data; do
    diff -rq "$top/$folder" $folder
done | sed -n 's/^Only in \(.*\): /\1\//p; s/^Files .* and \(.*\) differ$/\1/p' | sort >../changed
{ cat ../files && echo src/problem/problem_list.h; } | sort >../expected
check "only the files of the page are new or changed" cmp ../changed ../expected
check "none of them is of the engine or the host" sh -c 'test -s ../changed && ! grep -E "^(src/engine|host)/" ../changed'

# What was said to the make that runs this (a compiler, a sanitizer) holds here too, but not its jobs.
case ${MAKEFLAGS:-} in *'-- '*) said="-- ${MAKEFLAGS#*-- }" ;; *) said= ;; esac
code=0
env -u MFLAGS MAKEFLAGS="$said" make -j2 BUILD="$build" "$build/strake" >"$scratch/.out" \
    2>"$scratch/.err" || code=$?
[ "$code" -eq 0 ] && ! grep -q 'warning:' "$scratch/.err"
report $? "the program is built, without a warning"
check "objects of engine and host were reused" sh -c '! grep -E " CC +(src/engine|host)/" "$1"' - "$scratch/.out"
# There are loops for two precisions where processors have this instruction set, and none of other problems.
check "of all fused loops only the new problems' were compiled" awk -v isa="$(uname -m)" -v one=$problem -v two=shallow_water2d '
    /strake_loops_.*_rows\.c / { if (index($0, one) == 0 && index($0, two) == 0) others++ }
    / avx2 / && index($0, "strake_loops_" one "_rows.c") > 0 { first++ }
    / avx2 / && index($0, "strake_loops_" two "_rows.c") > 0 { second++ }
    END { exit others > 0 || (isa == "x86_64" && (first != 2 || second != 2)) }' "$scratch/.out"
STRAKE=$PWD/$build/strake
if [ ! -x "$STRAKE" ]; then
    done_testing
fi
cd "$scratch" || exit 1
"$program" devices >/dev/null 2>&1
devices=$("$program" devices 2>/dev/null | grep -c '^ocl:[0-9]*: ')

try help case
prints "its keys are documented" $problem parameters.K "imaginary part, 0 if not given"
vortices=tree/data/cases/vortices.yaml
try run $vortices --on serial --quiet --output serial
exits 0 "the page's case runs"
places="cpu/1 cpu/2"
if [ "$devices" -gt 0 ]; then
    places="$places ocl:0/1 cpu,ocl:0/1"
else
    skip "the same bits from OpenCL" "no OpenCL device"
fi
for precision in double single; do
    try run $vortices --on serial --quiet --set precision=$precision --output serial-$precision
    for place in $places; do
        folder=${place%/*}-${place#*/}-$precision
        try run $vortices --on "${place%/*}" --set run.threads="${place#*/}" --set precision=$precision --quiet \
            --output "$folder"
        check "the same bits from ${place%/*}, threads ${place#*/}, $precision" sh -c '
            [ "$(ls "$1" | grep -c "npy$")" -eq 2 ] && "$0" compare "$1" "$2" && cmp "$1/diagnostics.csv" "$2/diagnostics.csv"
            ' "$STRAKE" serial-$precision "$folder"
    done
done
check "the energy falls" awk -F, 'NR == 1 { if ($4 != "free_energy") exit 1; next }
    NR > 2 && $4 >= last { exit 1 } { last = $4 } END { exit NR != 12 }' serial/diagnostics.csv

# Without differences in space each part follows a -> a + dt (1 - |psi|^2) a, bit by bit, to |psi| = 1.
sed 's/re: {.*/re: {constant: 0.003}/; s/im: {.*/im: {constant: 0.004}/' $vortices >uniform.yaml
awk 'BEGIN { a = 0.003; b = 0.004
    for (n = 0; n < 200; n++) { g = 1 - (a * a + b * b); a += 0.05 * (g * a); b += 0.05 * (g * b) }
    printf "%.17g %.17g\n", a, b }' >recurrence
read -r re im <recurrence
try run uniform.yaml --on cpu --quiet --output uniform
fieldstat=${FIELDSTAT:-$(dirname "$program")/tests/fieldstat}
for what in min max; do
    check "a uniform psi is the recurrence's ($what of re)" "$fieldstat" uniform/re_00000200.npy $what near "$re" 0
    check "a uniform psi is the recurrence's ($what of im)" "$fieldstat" uniform/im_00000200.npy $what near "$im" 0
done
check "its modulus has come to 1" awk -v a="$re" -v b="$im" 'BEGIN { exit !(a * a + b * b > 0.9999 && a * a + b * b < 1) }'

# A small wave grows by what second differences with two spacings make of it.
sed 's/re: {.*/re: {sine: {waves: [12, 32], amplitude: 1e-8}}/; s/im: {.*/im: {constant: 0}/' $vortices >wave.yaml
grown=$(awk 'BEGIN { pi = atan2(0, -1); k = (2 - 2 * cos(2 * pi / 8)) / 4 + 2 - 2 * cos(2 * pi / 4)
    printf "%.17g\n", 1e-8 * (1 + 0.05 * (1 - 0.5 * k)) ^ 200 }')
try run wave.yaml --set grid.dx=2 --set boundary.rows=periodic --set parameters.K=0.5 --on cpu --quiet --output wave
check "a wave grows as its equation says" "$fieldstat" wave/re_00000200.npy max near "$grown" 1e-9r

try run $vortices --set time.dt=0.2 --set time.steps=1 --on serial --quiet --output limit
exits 0 "the largest stable time step is taken"
try run $vortices --set time.dt=0.2001 --on serial --quiet --output beyond
fails 2 "a larger one is refused" "time.dt: 0.2001 is unstable" "at most 0.2 s"
try run $vortices --set boundary.rows=open --on serial --quiet
fails 2 "open walls are refused" "boundary.rows" "no_flux"
# The second example: what walls do to water is what its mirror image does.
if ! /usr/bin/env python3 -c 'import numpy' 2>/dev/null; then PATH=/usr/bin:$PATH; fi
if python3 -c 'import numpy' 2>/dev/null; then
    python3 - <<'EOF'
import numpy as np
draw = np.random.default_rng(1)
shape = 24, 31
for name, rows, cols in ("depth", 1, 1), ("m1", -1, 1), ("m2", 1, -1):
    x = 1 + 0.2 * draw.random(shape) if name == "depth" else 0.2 * (draw.random(shape) - 0.5)
    np.save(name, x)
    np.save(name + "_both", np.block([[x, cols * x[:, ::-1]], [rows * x[::-1], rows * cols * x[::-1, ::-1]]]))
EOF
    cat >walls.yaml <<'EOF'
problem: shallow_water2d
grid: {rows: 24, cols: 31}
time: {end: 6, safety: 0.5}
boundary: {rows: no_flux, cols: no_flux}
fields: {depth: {file: depth.npy}, m1: {file: m1.npy}, m2: {file: m2.npy}}
diagnostics: {every_seconds: 1}
EOF
    sed 's/rows: 24, cols: 31/rows: 48, cols: 62/; s/no_flux/periodic/g; s/[.]npy/_both.npy/g' walls.yaml >mirrors.yaml
    for precision in double single; do
        try run walls.yaml --on serial --set precision=$precision --output walls-$precision --quiet
        exits 0 "water runs into walls ($precision)"
        try run mirrors.yaml --on serial --set precision=$precision --output mirrors --quiet
        check "and does what it does in a mirrored basin without walls, bit by bit ($precision)" python3 -c "
import glob, numpy as np
for name in 'depth', 'm1', 'm2':
    a, = glob.glob('walls-$precision/' + name + '_*.npy')
    b, = glob.glob('mirrors/' + name + '_*.npy')
    a, b = np.load(a), np.load(b)
    assert a.tobytes() == b[:24, :31].tobytes() and np.ptp(a) > 0, name"
        for place in $places; do
            try run walls.yaml --on "${place%/*}" --set run.threads="${place#*/}" --set precision=$precision --quiet \
                --output walls
            check "walls: the same bits from ${place%/*}, threads ${place#*/}, $precision" "$STRAKE" compare \
                walls-$precision walls
        done
    done
    check "the volume stays" awk -F, 'NR == 1 { if ($3 != "volume") exit 1 } NR == 2 { first = $3 }
        NR > 2 && ($3 / first - 1) ^ 2 > 1e-28 { exit 1 } END { exit NR != 8 }' walls-double/diagnostics.csv
else
    skip "shallow water between walls" "Python has no NumPy"
fi
try run tree/data/cases/basin.yaml --on cpu --quiet --output basin
exits 0 "the page's basin runs"

try tune --problem $problem --on cpu --budget 5 --quiet --cache tuned
check "the page's space is searched, as far as the time goes" sh -c '[ "$1" -eq 0 ] || grep -q ": the budget (.* ended" .err' - "$code"

done_testing
