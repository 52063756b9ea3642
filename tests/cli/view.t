#!/bin/bash
# strake view: what the terminal shows of folders, files and checkpoints, and what a page contains.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
pty=$here/../support/terminal.py

"$STRAKE" run case.yaml --on serial --quiet --output out --set output.every=10 --set output.fields=[psi] \
    --set checkpoint.every=20

try view out
exits 0 "a folder is shown"
prints "the last output of a field, with its range" "psi, step 20, 2 s, 61 x 97: "
[ "$(wc -l <.out)" -le 24 ] && [ "$(sed 1d .out | sed '$d' | awk '{ print length($0) }' | sort -n | tail -1)" -le 80 ]
report $? "in the size of a terminal"
LC_ALL=C grep -q "$(printf '\033')" .out
[ $? -eq 1 ]
report $? "without colours where it is no terminal"
try view out --step 10
prints "a step can be chosen" "psi, step 10, 1 s"
try view out/psi_00000010.npy
prints "a file is shown" "psi_00000010.npy, 61 x 97: "
try view out/checkpoint.strake --field psi
prints "a checkpoint is shown" "psi, step 20, 2 s, 61 x 97: "

# Arrays whose pictures are known: 0 on the left, 1 on the right; and one cell that a mean hides.
float64() { # FILE ROWS COLS: a float64 array; the values follow
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': ($2, $3), }" >"$1"
}
zero='\000\000\000\000\000\000\000\000' one='\000\000\000\000\000\000\360\077' nan='\000\000\000\000\000\000\370\177'
float64 half.npy 2 4
float64 line.npy 1 4
# shellcheck disable=SC2059
printf "$zero$zero$one$one$zero$zero$one$one" >>half.npy
# shellcheck disable=SC2059
printf "$zero$zero$one$nan" >>line.npy
try view line.npy
prints "values become characters, cells that are not finite are counted" "0 to 1; 1 not finite" "  @?"
try view half.npy --range 0,2
prints "a range can be given" "  ++"
float64 wide.npy 1 400
# shellcheck disable=SC2059
for k in $(seq 400); do if [ "$k" -eq 200 ]; then printf "$one"; else printf "$zero"; fi; done >>wide.npy
try view wide.npy --reduce extreme
prints "an extreme shows what a mean would hide" "@"
sed -n 2p .out >extreme
try view wide.npy
sed -n 2p .out >mean
grep -q @ extreme && ! grep -q @ mean
report $? "which does"

# A terminal with colours: script makes one.
terminal() { # TERM COLORTERM ARGUMENTS...: the bytes that a terminal gets
    TERM=$1 COLORTERM=$2 script -qec "stty rows 30 cols 60; '$STRAKE' view $3" /dev/null </dev/null
}
if has_terminal; then
    terminal xterm-256color truecolor half.npy >colours
    grep -q '38;2;253;231;37m' colours && grep -q '48;2;68;1;84m' colours
    report $? "24-bit colours where the terminal has them"
    terminal xterm-256color '' half.npy >colours
    grep -q '38;5;[0-9]*m' colours && ! grep -q '38;2;' colours
    report $? "256 colours where it has these"
    NO_COLOR=1 terminal xterm-256color truecolor half.npy >colours
    ! grep -q '38;' colours && grep -q '@@' colours
    report $? "none where NO_COLOR asks for that"
else
    for name in "24-bit colours" "256 colours" "NO_COLOR"; do skip "$name" "no script (util-linux)"; done
fi

try view out --html page.html
exits 0 "a page is written"
prints "which is told" "page.html: 2 outputs"
[ "$(grep -c '"field": "psi"' page.html)" -eq 2 ] && grep -q '"step": 10, "time": 1,' page.html
report $? "with all outputs"
! grep -qE '(src|href)=|https?://|@import' page.html
report $? "it needs nothing else"
# Point [30, 48] of the last frame: its bytes in the page are those of the float32 of the output's value.
frame=$(grep '"step": 20' page.html | sed 's/.*"data": "\([^"]*\)".*/\1/')
[ "$(printf %s "$frame" | base64 -d | wc -c)" -eq $((61 * 97 * 4)) ]
report $? "every cell of a small grid is a point"
"$STRAKE" run case.yaml --on serial --quiet --output single --set precision=single --set output.fields=[psi]
try view single --html single.html
grep '"step": 20' single.html | sed 's/.*"data": "\([^"]*\)".*/\1/' | base64 -d >points
tail -c $((61 * 97 * 4)) single/psi_00000020.npy | cmp -s - points
report $? "float32 values are the output's own"
"$STRAKE" run case.yaml --on serial --quiet --output large --set grid.rows=700 --set grid.cols=1100 --steps 1 \
    --set output.fields=[psi]
try view large --html large.html
grep -q '"rows": 326, "cols": 512, "cells": \[700, 1100\]' large.html
report $? "larger ones are reduced to at most 512 points a side"

if [ -e "$(dirname "$STRAKE")/libstrake-netcdf.so" ]; then
    "$STRAKE" run case.yaml --on serial --quiet --output nc --set output.every=10 --set output.fields=[psi] \
        --set 'output.formats=[netcdf]'
    try view nc/fields.nc --step 10
    prints "a NetCDF file is shown" "psi, step 10, 1 s, 61 x 97: "
    sed 1d .out >from-nc
    try view out --step 10
    sed 1d .out | cmp -s - from-nc
    report $? "as the .npy file of the same run is"
    try view nc
    prints "so is a folder that has no other outputs" "psi, step 20, 2 s, 61 x 97: "
    try compare nc/fields.nc nc/fields.nc
    exits 0 "and compared"
    "$STRAKE" run case.yaml --on serial --quiet --output nc1 --set output.every=10 --set output.fields=[psi] \
        --set 'output.formats=[netcdf]' --set fields.u1.constant=0.21
    try compare nc/fields.nc nc1/fields.nc
    exits 1 "with what is different"
    prints "which is told" "psi: " "values differ"
else
    skip "NetCDF files" "built without NetCDF (libnetcdf-dev)"
fi
cat >cube.yaml <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 4, rows: 5, cols: 6}
time: {dt: 0.0001, steps: 0}
fields: {u: {cone: {center: [1, 2, 4], radius: 1.5, height: 1, base: 0}}}
CASE
"$STRAKE" run cube.yaml --on serial --quiet --output cube
try view cube --slice 1
prints "a plane can be chosen" "5 x 6 (plane 1 of 4): 0 to 1"
try view cube --slice rows=2
prints "a row" "4 x 6 (row 2 of 5): 0 to 1"
try view cube --slice cols=0
prints "or a column" "4 x 5 (column 0 of 6): 0 to 0"
try view cube --slice cols=6
fails 2 "that is there" "no column 6" "0 to 5"
try view cube --slice lines=1
fails 2 "and has a name" "--slice" "rows=K"

# A running case: run --view.
cat >live.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 300, cols: 300}
time: {dt: 0.1, steps: 1500}
boundary: {rows: open, cols: open}
fields:
  psi: {cone: {center: [150, 220], radius: 45, height: 4, base: 0}}
  u1: {rotation: {omega: 0.006, center: [150, 150]}}
  u2: {rotation: {omega: 0.006, center: [150, 150]}}
CASE
try run live.yaml --on cpu --threads 1 --steps 10 --output seen --view
exits 0 "a run whose terminal is none is not stopped by --view"
check "and says so" grep -q "note: --view: standard error is no terminal" .err
if command -v python3 >/dev/null; then
    "$STRAKE" run live.yaml --on cpu --threads 1 --quiet --output unseen
    code=0
    TERM=xterm-256color COLORTERM='' python3 "$pty" 30 100 "$STRAKE" run live.yaml --on cpu --threads 1 --view \
        --output seen >frames || code=$?
    exits 0 "a running case is drawn"
    grep -q 'psi  step [0-9]* of 1500  t = ' frames && grep -q '38;5;[0-9]*m' frames && grep -q '+ cpu 100 % [0-9.]* Mcell/s' frames
    report $? "with its step, its colours, its parts and their rates"
    [ "$(grep -c 'psi  step' frames)" -ge 2 ] && grep -q "$(printf '\033')\[29A" frames
    report $? "again and again, in the same place"
    cmp -s seen/psi_00001500.npy unseen/psi_00001500.npy
    report $? "which changes nothing"
    code=0
    TERM=xterm python3 "$pty" --resize 20 60 30 100 "$STRAKE" run live.yaml --on cpu --threads 1 --view --quiet \
        --output seen --steps 4000 >frames || code=$?
    sed "s/.*$(printf '\033')\[2J//" frames | tail -n 19 | tr -d '\r' | sed "s/$(printf '\033')\[[0-9;]*[A-Za-z]//g" |
        awk '{ if (length($0) > 60) bad = 1 } END { exit bad || NR < 15 }'
    [ $? -eq 0 ] && [ "$code" -eq 0 ] && grep -q "$(printf '\033')\[2J" frames
    report $? "the size of the window is followed"
    code=0
    TERM=xterm-256color COLORTERM=truecolor python3 "$pty" --deaf 50 200 "$STRAKE" run live.yaml --on cpu --threads 1 \
        --view --quiet --output seen --steps 600 || code=$?
    exits 0 "a terminal that takes nothing does not stop a run"
    if "$STRAKE" devices 2>/dev/null | grep -q 'ocl:0'; then
        TERM=xterm python3 "$pty" 30 100 "$STRAKE" run live.yaml --on cpu,ocl:0 --split 2,1 --threads 1 --view --quiet \
            --no-tune --output seen --steps 40 >frames
        grep -q -- '-...-...-' frames && grep -q '+ ocl:0 33 %' frames
        report $? "the border between two parts is drawn"
    else
        skip "the border between two parts" "no OpenCL device"
    fi
else
    skip "a running case is drawn" "no python3"
fi
try view nowhere
fails 1 "a missing path is told" "nowhere" "No such file"
try view case.yaml
fails 2 "so is another kind of file" "cannot view case.yaml"
mkdir empty
try view empty
fails 2 "and a folder without outputs" "empty/index.csv" "strake run"
try view out --field h
fails 2 "fields that are not there: what there is is told" "psi at steps 10 to 20"
try view out --map rainbow
fails 2 "unknown maps" "rainbow" "viridis"
try view out --range 4,0
fails 2 "ranges that are none" "--range" "LOW,HIGH"
try view out --slice 1
fails 2 "planes that are not there" "no plane 1"
try view out --html nowhere/page.html
fails 1 "pages that cannot be written" "nowhere"
mkfifo pipe
try view pipe
fails 1 "and pipes, without waiting for them" "pipe"
done_testing
