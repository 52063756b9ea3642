#!/bin/bash
# Pictures: those of a run (output.formats: [png]) and of strake view --png, read by a reader of the test's own; what
# is said where cairo is missing.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
build=$(dirname "$STRAKE")
outputs="$here/../support/outputs.py"

# 0 on the left, 4 on the right; twice as high as wide.
cat >steps.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 8, cols: 16, dx: 4, dy: 1}
time: {dt: 0.5, steps: 4}
boundary: {rows: periodic, cols: open}
fields:
  psi: {box: {from: [0, 8], to: [7, 15], height: 4, base: 0}}
  u1: {constant: 0}
  u2: {constant: 0}
output: {every: 2, initial: true, formats: [png]}
CASE
if [ ! -e "$build/libstrake-cairo.so" ]; then
    try run steps.yaml --on serial --quiet --output out
    fails 2 "without cairo its package is named" "output.formats: png" "libcairo2-dev"
    check "and nothing is begun" test ! -e out
    "$STRAKE" run case.yaml --on serial --quiet --output out
    try view out --png out.png
    fails 2 "also for strake view" "--png" "libcairo2-dev"
    skip "pictures" "built without cairo (libcairo2-dev)"
    done_testing
fi
check "the program starts without cairo" sh -c '! ldd "$1" | grep -q cairo' - "$STRAKE"
try help case
prints "help names every key of pictures" output.picture.field output.picture.map output.picture.range output.picture.log \
    output.picture.contours output.picture.slice output.picture.surface output.picture.reduce
try run steps.yaml --on serial --quiet --output out
exits 0 "a run writes pictures"
check "which the index lists" grep -q '^2,1,psi,psi_00000002.png,' out/index.csv
if ! command -v python3 >/dev/null; then
    skip "what is in pictures" "no python3"
    done_testing
fi
point() { # point FILE X Y [X Y ...]: red, green, blue
    python3 "$outputs" png "$@"
}
read -r width height < <(python3 "$outputs" png out/psi_00000004.png)
check "the field keeps the case's aspect, within 600 points" test "$width $height" = "512 714"
check "the least value is at one end of the colours" test "$(point out/psi_00000004.png 100 300)" = "68 1 84"
check "the largest at the other" test "$(point out/psi_00000004.png 370 300)" = "253 231 37"
check "the scale has a number at its upper end" test "$(point out/psi_00000004.png 424 57 424 58 | sort -n | head -1 | cut -d' ' -f1)" -lt 160
check "the time is with it" test "$(python3 "$outputs" png out/psi_00000004.png 'Strake time')" = 2
check "and the range" test "$(python3 "$outputs" png out/psi_00000004.png 'Strake range')" = "0 4"
check "and the title" test "$(python3 "$outputs" png out/psi_00000004.png Title)" = "psi: the advected field"
try run steps.yaml --on serial --quiet --output given --set 'output.picture={range: [-4, 4], map: gray}'
check "a range can be given, and a map" test "$(point given/psi_00000004.png 100 300)" = "128 128 128"
try run steps.yaml --on serial --quiet --output logs --set 'output.picture={log: true, range: [1, 16], map: gray}'
check "colours can follow the logarithm" test "$(point logs/psi_00000004.png 370 300)" = "128 128 128"
check "values that have none are white" test "$(point logs/psi_00000004.png 100 300)" = "255 255 255"
"$STRAKE" run steps.yaml --on serial --quiet --output near --set 'output.picture={log: true, range: [3, 4]}'
dark() { # FILE X: how many points of a line down have ink
    # shellcheck disable=SC2046
    point "$1" $(for y in $(seq 55 662); do echo "$2 $y"; done) | awk '$1 < 160' | wc -l
}
check "a scale of less than a power of ten has more numbers than one" test "$(dark near/psi_00000004.png 424)" -gt 3
try run steps.yaml --on serial --quiet --output lines --set 'output.picture={contours: [2], map: gray, range: [-4, 4]}'
# The line of 2 stands between the two halves.
across=$(for x in $(seq 225 245); do printf '%s 300 ' "$x"; done)
# shellcheck disable=SC2086
check "contours are drawn" test "$(point lines/psi_00000004.png $across | sort -n | head -1 | cut -d' ' -f1)" -lt 90
# shellcheck disable=SC2086
check "where they are asked for" test "$(point given/psi_00000004.png $across | sort -n | head -1 | cut -d' ' -f1)" -ge 128

# A mean hides one large cell among many, an extreme does not.
cat >dot.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 1200, cols: 1200}
time: {steps: 0}
fields: {psi: {cone: {center: [600, 600], radius: 1, height: 1, base: 0}}, u1: {constant: 0}, u2: {constant: 0}}
output: {formats: [png], picture: {range: [0, 1], map: gray}}
CASE
try run dot.yaml --on serial --quiet --output mean
try run dot.yaml --on serial --quiet --output extreme --set output.picture.reduce=extreme
brightest() { # FILE: the brightest point around the middle
    point "$1" 383 357 383 358 383 359 384 357 384 358 384 359 385 357 385 358 385 359 | sort -n | tail -1 | cut -d' ' -f1
}
[ "$(brightest mean/psi_00000000.png)" -lt 100 ] && [ "$(brightest extreme/psi_00000000.png)" -eq 255 ]
report $? "blocks of cells become their means or their extremes"

# The first picture's range stays, also where a run goes on.
cat >falling.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 20, cols: 20}
time: {dt: 1, steps: 20}
boundary: {rows: open, cols: open}
scheme: {iterations: 1}
fields: {psi: {cone: {center: [10, 10], radius: 5, height: 1, base: 0}}, u1: {constant: 0.2}, u2: {constant: 0}}
output: {every: 5, formats: [png], picture: {range: first}}
checkpoint: {every: 10}
CASE
try run falling.yaml --on serial --quiet --output first
range=$(python3 "$outputs" png first/psi_00000005.png 'Strake range')
check "range: first is that of the first picture" test "$(python3 "$outputs" png first/psi_00000020.png 'Strake range')" = "$range"
try run falling.yaml --on serial --quiet --output first --resume first/checkpoint.strake
check "also where the run goes on" test "$(python3 "$outputs" png first/psi_00000020.png 'Strake range')" = "$range"
try run falling.yaml --on serial --quiet --output auto --set output.picture.range=auto
check "range: auto is each picture's" test "$(python3 "$outputs" png auto/psi_00000020.png 'Strake range')" != "$range"

# Three dimensions: a slice, or the surface of a value.
cat >ball.yaml <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 32, rows: 32, cols: 32}
time: {dt: 0.0001, steps: 0}
fields: {u: {cone: {center: [16, 16, 24], radius: 12, height: 1, base: 0}}}
output: {formats: [png], picture: {map: gray, range: [0, 1]}}
CASE
try run ball.yaml --on serial --quiet --output slice
exits 0 "a slice is drawn"
check "planes are cut in the middle" bash -c '[ "$(python3 "$0" png slice/u_00000000.png 534 358 | cut -d" " -f1)" -gt 200 ] &&
    [ "$(python3 "$0" png slice/u_00000000.png 150 358)" = "0 0 0" ]' "$outputs"
try run ball.yaml --on serial --quiet --output cols --set 'output.picture.slice={cols: 2}'
check "or elsewhere, across another axis" test "$(point cols/u_00000000.png 384 358)" = "0 0 0"
try run ball.yaml --on serial --quiet --output surface --set output.picture.surface=0.5
exits 0 "a surface is drawn"
middle=$(python3 - "$outputs" <<'PY'
import sys
sys.argv[1:], path = ["png", "surface/u_00000000.png"], sys.argv[1]
source = open(path).read().replace("main(*sys.argv[1:])", "")
exec(source)
p = Png("surface/u_00000000.png")
# Between the edges of the box, which are thin: what is as dark to the left and to the right.
body = [x for y in range(80, 600, 4) for x in range(104, 636, 4)
        if all(p.point(x + d, y)[0] < 250 for d in (-4, 0, 4))]
print(len(body) > 300 and sum(body) / len(body) > 380)
PY
)
check "the body is where the values are, at the right" test "$middle" = True
try run ball.yaml --on serial --quiet --output nothing --set output.picture.surface=2 --set output.picture.range=auto
exits 0 "a surface that is not there leaves the box"

# strake view --png
"$STRAKE" run steps.yaml --on serial --quiet --output arrays --set 'output.formats=[npy]'
try view arrays --png view.png
exits 0 "an output folder is drawn by strake view"
check "as the run draws it, units and spacing included" test "$(python3 "$outputs" png view.png)" = "512 714"
check "in the same colours" test "$(point view.png 370 300)" = "253 231 37"
try view arrays/psi_00000004.npy --png view.png --range 0,8 --map gray
check "a file is, in other colours" test "$(python3 "$outputs" png view.png 'Strake range')" = "0 8"
try view ball.yaml --png view.png
fails 2 "what is none is told" "ball.yaml"
try view arrays --png view.png --html view.html
fails 2 "one file at a time" "--html" "--png"
try view arrays --surface 1 --png view.png
fails 2 "surfaces are for three dimensions" "2 dimensions"
try view arrays --contours 3
fails 2 "contours are for pictures" "--png"
try view arrays --png nowhere/view.png
fails 1 "a picture that cannot be written is told" "nowhere"
code=0
(
    ulimit -f 4
    exec "$STRAKE" run dot.yaml --on serial --quiet --output small >.out 2>.err </dev/null
) || code=$?
fails 1 "so is one for which there is no room" "psi_00000000.png"
check "and nothing of it stays" test "$(ls -A small)" = run.json
done_testing
