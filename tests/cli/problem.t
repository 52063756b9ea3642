#!/bin/bash
# Problems in C files of their own, as src/problem/README.md says: from a new file to a picture without the source tree,
# what is trusted, what is refused, and the same bytes everywhere.
top=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/tap.bash"
export STRAKE_CACHE_DIR=$scratch/cache
unset CC
"$STRAKE" problem new one >one.c
if ! "$STRAKE" problem build one.c >.out 2>.err && grep -q "takes a C compiler" .err; then
    skip "problems in files" "no C compiler"
    done_testing
fi

# The page's first commands, by a program that stands alone, in an environment with nothing.
mkdir alone
cp "$STRAKE" alone/strake
bare() { env -i PATH=/usr/bin:/bin HOME="$scratch/alone" OMP_NUM_THREADS=2 "$@" </dev/null; }
commands=$(sed -n 's/^    \(strake .*\)/\1/p' "$top/src/problem/README.md" | sed 's/   .*//')
check "the page begins with commands" test "$(wc -l <<<"$commands")" -eq 5
cat >page.sh <<'EOT'
set -e
strake() { "$OLDPWD/alone/strake" "$@"; }
EOT
echo "$commands" >>page.sh
mkdir page
(cd page && bare OLDPWD="$scratch" PATH=/usr/bin:/bin bash -e ../page.sh) >.out 2>.err
report $? "they run as they stand, without the source tree"
prints "and end with a picture" "T, step 500, 100 s" "..:::"
check "check told stages, halos, operations and the longest time step" \
    sh -c 'grep -q "flux_rows  *heat_flux .*0..1" .out && grep -q "10 additions, 7 multiplications" .out && grep -q "at most 0.25 s is stable" .out'

# What is trusted.
cat >plate.yaml <<'EOT'
problem: {file: sub/plate.c}
grid: {rows: 51, cols: 67}
time: {dt: 0.2, steps: 60}
boundary: {rows: no_flux, cols: periodic}
parameters: {loss: 0.01, outside: 3}
fields: {T: {random: {seed: 3, minimum: 0, maximum: 1}}, a: {random: {seed: 4, minimum: 0.3, maximum: 1}}}
diagnostics: {every: 20}
EOT
mkdir sub
"$STRAKE" problem new plate >sub/plate.c
for command in run check model bench scan view; do
    case $command in
        view) continue ;;
        scan) try scan plate.yaml --over parameters.loss=0,1 ;;
        *) try $command plate.yaml ;;
    esac
    fails 2 "$command: a file that was not built does not run" "plate.yaml:1:17: problem.file" "sub/plate.c" "strake problem build sub/plate.c"
done
try new sub/plate.c
fails 2 "nor does new load it" "strake problem build sub/plate.c"
try problem build sub/plate.c
exits 0 "it is built"
prints "and says what comes next" "plate is built" "strake new sub/plate.c"
try run plate.yaml --on serial --output serial --quiet
exits 0 "then it runs"
(cd sub && "$STRAKE" run ../plate.yaml --on cpu --output ../elsewhere --quiet)
check "its path is relative to the case" "$STRAKE" compare serial elsewhere
sed -i 's/REAL(0.5) \* (a + b)/REAL(0.5)  * (a + b)/' sub/plate.c
try run plate.yaml --quiet
fails 2 "one blank more, and it has not been built" "as it is now"
"$STRAKE" problem build sub/plate.c --quiet
object=$(ls -t cache/problem-*.so | head -1)
check "objects are the user's alone" sh -c 'test "$(stat -c %a "$1")" = 600' - "$object"
chmod g+w "$object"
try run plate.yaml --quiet
fails 2 "an object that others may write is not loaded" "others than its owner may write to it"
chmod g-w "$object"
mv "$object" other.so && ln -s "$PWD/other.so" "$object"
try run plate.yaml --quiet
fails 2 "nor a symbolic link" "symbolic link"
other=$(ls cache/problem-*.so | grep -v "$object" | head -1)
rm "$object" && cp "$other" "$object"
try run plate.yaml --quiet
fails 2 "nor the object of another file" "it is of another file"
mv other.so "$object"
chmod a+w cache
try run plate.yaml --quiet
fails 2 "nor one from a folder that others may write" "others than its owner may write to it"
chmod go-w cache
cp "$object" made.so
for file in made.so sub/made sub; do
    sed "s|sub/plate.c|$file|" plate.yaml >compiled.yaml
    try run compiled.yaml --quiet
    fails 2 "$file: what is compiled is never loaded from a path in a case" "a C file, NAME.c" "never loaded"
done
for problem in '{fil: x.c}' '{}' '{file: [x.c]}' '{file: nothing.c}' '[plate]'; do
    sed "s|{file.*}|$problem|" plate.yaml >wrong.yaml
    try run wrong.yaml --quiet
    fails 2 "problem: $problem is refused" "wrong.yaml:1"
done
try run serial/run.json --quiet
"$STRAKE" view serial >.out 2>.err
report $? "outputs are drawn"
rm -f "$object"
"$STRAKE" view serial >.out 2>.err
report $? "also where the file is not built any more"

# What is wrong in a file is said with its name and line, and nothing is left behind.
refused() { # refused NAME SED TEXT...: a file changed so is not built
    local name=$1
    sed "$2" sub/plate.c >bad.c
    shift 2
    try problem build bad.c
    local good=0 text
    [ "$code" -eq 2 ] || good=1
    for text in "$@"; do grep -qF -- "$text" .err || good=1; done
    report $good "$name"
}
refused "an unknown name: the compiler's line" 's/(a + b)/(aa + b)/' "bad.c:22:" "does not compile it" "aa"
refused "a formula with too few operands" 's/X(heat_step, 9/X(heat_step, 8/' "bad.c:" "does not compile it"
refused "a name of Strake's own" 's/\.name = "plate"/.name = "lava"/' "give it another"
refused "a field without a name" 's/{"T", STRAKE_CELL/{"", STRAKE_CELL/' "a field's name"
refused "two fields of one name" 's/{"a", STRAKE_CELL/{"T", STRAKE_CELL/' "two fields have the same name"
refused "no build()" '/\.build = build,/d' "build"
refused "a division that is not declared" 's/X(heat_flux, 4, 2, 2, 0, 0)/X(heat_flux, 4, 2, 2, 1, 0)/' "no STRAKE_RATIO_FUNCTION"
refused "a stage whose name is no word" 's/"flux_rows"/"flux\/rows"/' "letters, digits and _"
refused "a function that files cannot call" 's/(void)which;/(void)strake_version();/' "strake_version"
refused "a function of the C library in a formula" 's/return REAL(0.5)/return pow(a, 2.0) * REAL(0.5)/' "bad.c:22:" "STRAKE_SQRT, STRAKE_EXP"
refused "a name of OpenCL's in a formula" 's/real before, real after)/real half, real after)/; s/(before - after)/(half - after)/' "bad.c:" "poisoned"
refused "a number without REAL()" 's/return REAL(0.5)/return 0.5/' "bad.c:" "are written REAL(0.5)"
refused "a key that no table has" 's/"parameters.loss"));/"parameters.los"));/' "bad.c: it asks for the key parameters.los"
refused "a negative number of keys" 's/\.keys = [^,]*,/.keys = -1,/' "negative"
refused "a table that is not there" 's/\.field = fields,//' "a table is missing"
refused "no strake_graph_finish()" 's/return strake_graph_finish(g, error);/return STRAKE_OK;/' "strake_graph_finish"
refused "an input that no field has" 's/strake_graph_input(g, "T", false)/strake_graph_input(g, "t", false)/' "this state has no next one"
refused "a state that is said not to change" 's/strake_graph_input(g, "T", false)/strake_graph_input(g, "T", true)/' "false for states"
refused "an offset along an axis that is not there" 's/{row, 0, column}/{row, column, 0}/' "an axis that the problem does not have"
refused "an offset beyond all halos" 's/at(t, -1, 0)/at(t, -200000000, 0)/' "more than 32 cells away"
refused "a field that nobody reads" 's/enum { T, A, FIELDS };/enum { T, A, B, FIELDS };/; s/    \[A\] = /    [B] = {"b", STRAKE_CELL, .unit = "", .text = ""}, [A] = /' "no stage table has this field"
for line in '# include "x.h"' '#/**/include "x.h"' '%:include "x.h"' '#include "x.h"' '#include </etc/passwd>' '#include <a/../x.h>' '#include MACRO' '#include_next <math.h>'; do
    refused "$line" "s|^#include .strake_problem.h.|&\n$line|" "a problem is one file"
done
refused "an include behind a comment whose end stands in two lines" 's|^#include .strake_problem.h.|&\n/* *\\\n/\n# include "x.h"\n/* */|' "a problem is one file"
printf '#inc\\\nlude "x.h"\n' | cat sub/plate.c - >bad.c
try problem build bad.c
fails 2 "an include in two lines" "a problem is one file"
sed 's|^#ifdef STRAKE_HOST|&\n#include <stdlib.h>|; s|/\* The tables below|/* #include "x.h" is a comment */ &|' sub/plate.c >good.c
try problem build good.c --quiet
exits 0 "headers of the system are included by the host's part"
CC="cc -ffast-math -DSTRAKE_REAL_SINGLE" try problem build sub/plate.c --quiet
try run plate.yaml --on cpu --quiet --output fast
check "flags of CC change no bits" "$STRAKE" compare serial fast
object=$(ls -t cache/problem-*.so | head -1)
cp "$object" whole.so && head -c 3000 whole.so >"$object"
try run plate.yaml --quiet
fails 2 "an object that is cut off is not loaded" "is not whole" "strake problem build"
refused "an example that is no case" 's/grid: {rows: 64/grid: {rwos: 64/' "rwos"
mkdir cache/building-old && touch -d '1 hour ago' cache/building-old
"$STRAKE" problem build sub/plate.c --quiet
check "no folder is left behind" sh -c '! ls -d cache/building-* 2>/dev/null'
CC=no-such-cc try problem build sub/plate.c
fails 2 "a compiler that is not there" "there is no compiler no-such-cc"
mkdir empty
PATH=$PWD/empty try problem build sub/plate.c
fails 2 "no compiler at all" "takes a C compiler" "apt install gcc"
head -c 100 /dev/zero >zero.c
try problem build zero.c
fails 2 "no text" "it is no text"
try problem build missing.c
fails 1 "no file" "missing.c"
for words in "" "buidl x.c" "build" "new 1x" "new lava" "new a-b" "build a.c b.c"; do
    try problem $words
    fails 2 "problem $words is refused"
done
CC="cc -O1" try problem build sub/plate.c --quiet
exits 0 "CC may have options"
if command -v clang >/dev/null; then
    CC=clang try problem build sub/plate.c --quiet
    exits 0 "clang builds it"
    try run plate.yaml --on cpu --quiet --output clang
    check "to the same bytes" "$STRAKE" compare serial clang
fi

# Names of files and folders that mean something elsewhere.
mkdir "a b'c"
cp sub/plate.c "a b'c/my plate's %s.c"
export STRAKE_CACHE_DIR="$scratch/a b'c/cache"
(cd "a b'c" && "$STRAKE" problem build "my plate's %s.c" --quiet && "$STRAKE" problem check "my plate's %s.c" --on cpu &&
    "$STRAKE" new "my plate's %s.c" >odd.yaml && "$STRAKE" run odd.yaml --quiet --steps 2) >.out 2>.err
report $? "blanks, quotes and signs in names of files and of the cache"
export STRAKE_CACHE_DIR=$scratch/cache

# The same bytes everywhere, and everything else that problems can do.
"$STRAKE" problem build sub/plate.c --quiet
places="cpu/1 cpu/2"
has_device=$("$STRAKE" devices 2>/dev/null | grep -c '^ocl:0: ')
[ "$has_device" -eq 0 ] && skip "problems on OpenCL devices" "no OpenCL device" || places="$places ocl:0/1 cpu,ocl:0/1"
for precision in double single; do
    try run plate.yaml --on serial --set precision=$precision --quiet --output "s-$precision"
    for place in $places; do
        try run plate.yaml --on "${place%/*}" --set run.threads="${place#*/}" --set precision=$precision --set run.steps_per_sweep=3 \
            --quiet --output p
        check "${place%/*}, threads ${place#*/}, $precision: the same bytes" sh -c 'test ! -s .err && "$0" compare "$1" p' "$STRAKE" "s-$precision"
    done
done
if [ "$has_device" -gt 0 ]; then
    try run plate.yaml --on ocl:0 --set run.device_memory=40000 --quiet --output streamed --report streamed.json
    check "streaming: the same bytes" sh -c '"$0" compare s-double streamed && grep -q "\"streaming\"" streamed.json' "$STRAKE"
fi
try run plate.yaml --on cpu --steps 40 --set checkpoint.every=20 --set output.every=20 --quiet --output half
try run plate.yaml --on serial --resume half/checkpoint.strake --quiet --output half
exits 0 "a checkpoint is resumed"
check "to the same bytes" cmp half/T_00000060.npy s-double/T_00000060.npy
sed -i 's/rate of losses/rate of all losses/' sub/plate.c
"$STRAKE" problem build sub/plate.c --quiet
try run plate.yaml --on serial --resume half/checkpoint.strake --quiet --output half
fails 2 "but not by a file that has changed" "problem"
little_memory
try bench plate.yaml --on serial --on cpu --steps 4
exits 0 "bench measures it"
check "with the same bits" sh -c '[ "$(grep -c "same$" .out)" -eq 2 ]'
try model plate.yaml --on cpu
exits 0 "model predicts it"
try check plate.yaml --on cpu
prints "check says what a run does" "plate, double precision" "17 operations"
try scan plate.yaml --over parameters.loss=0,0.1 --on cpu --quiet
check "scan runs it" sh -c '[ "$(grep -c , scan.csv)" -eq 3 ]'
pace=10 tune_quickly --problem sub/plate.c --on cpu --budget 5 --quiet --cache tuned
check "tune searches" sh -c '[ "$1" -eq 0 ] || grep -q "the budget" .err' - "$code"
try help sub/plate.c
prints "help explains its keys" "parameters.loss" "rate of all losses"
try run plate.yaml --on cpu --quiet --output all --set output.formats=[npy,vtk]
check "other formats have it" test -s all/fields_00000060.vti

# ranks.bash ends the test where there is no MPI.
. "$top/tests/cli/ranks.bash"
"$STRAKE" run plate.yaml --on serial --quiet --output reference
for ranks in 2 3; do
    on_ranks $ranks run plate.yaml --on cpu --quiet --output ranks
    check "$ranks ranks: the same bytes" "$STRAKE" compare reference ranks
done
done_testing
