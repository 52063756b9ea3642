#!/bin/bash
# Lava from the command line: time instead of steps, outputs by time, checkpoints from which a run goes on.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
# Where there is no device the processor stands in for what other checks need of it.
device=serial mixed=cpu
if "$STRAKE" devices 2>/dev/null | grep -q '^ocl:0'; then
    device=ocl:0 mixed=cpu,ocl:0
fi
cat >flow.yaml <<'EOF'
problem: lava
grid: {rows: 40, cols: 50, dx: 10, dy: 10}
time: {end: 90, dt_max: 3}
parameters: {solidus_temperature: 1320}
scheme: {crust: none}
fields:
  terrain: {plane: {slope: [2, -1]}}
  effusion: {cone: {center: [8, 30], radius: 2, height: 0.05}}
output: {every_seconds: 30, directory: all}
diagnostics: {every_seconds: 20}
checkpoint: {every_seconds: 40}
EOF
try run flow.yaml --on serial --report serial.json --quiet
exits 0 "a flow runs to its end"
check "which is the time of the last output" grep -qE '^[0-9]+,90,thickness,' all/index.csv
check "outputs by time: three of four fields" test "$(grep -c npy all/index.csv)" -eq 12
check "each at the first step at or after its time" awk -F, 'NR > 1 && $3 == "solid" { n++; if ($2 < 30 * n || $2 >= 30 * n + 3) bad = 1 } END { exit bad }' all/index.csv
check "a line of diagnostics at the beginning and by time" test "$(wc -l <all/diagnostics.csv)" -eq 6
check "volume is kept: what is fluid and solid has erupted" awk -F, 'NR > 2 { v[NR] = ($3 + $4) / $2; if (NR > 3 && (v[NR] / v[NR-1] - 1) ^ 2 > 1e-24) bad = 1 } END { exit bad || $4 <= 0 }' all/diagnostics.csv
try run flow.yaml --on $mixed --output mixed --quiet
exits 0 "so it does on the processor and a device"
try compare all mixed
exits 0 "with the same bytes"
if [ $device = ocl:0 ]; then
    try run flow.yaml --on ocl:0 --set run.device_memory=300000 --set run.streams=2 --output blocks --quiet --report blocks.json
    exits 0 "so it does through a device that has too little memory"
    check "in blocks, one step a visit" grep -qE '"streaming": \{"blocks": ([2-9]|[1-9][0-9]), .*"steps_per_sweep": 1,' blocks.json
    try compare all blocks
    exits 0 "with the same bytes and times"
    check "of every output" cmp <(cut -d, -f1-4 all/index.csv) <(cut -d, -f1-4 blocks/index.csv)
else
    skip "a device that has too little memory" "no OpenCL device"
fi
cp flow.yaml part.yaml
try run flow.yaml --on cpu --set time.steps=30 --set checkpoint.every=30 --output part --quiet
exits 0 "a run stops after some steps"
try run flow.yaml --on $device --resume part/checkpoint.strake --output part --quiet
exits 0 "another device goes on from its checkpoint"
rm -f part/*_00000030.npy
sed -i '/_00000030/d' part/index.csv
try compare all part
exits 0 "to the same bytes"
check "and diagnostics" cmp all/diagnostics.csv part/diagnostics.csv
try run flow.yaml --on cpu --set time.end=120 --resume all/checkpoint.strake --output later
exits 0 "a later end is one to go on to"
check "and is reached" grep -qE '^[0-9]+,120,thickness,' later/index.csv
lacks "a checkpoint before that end has no step that was cut short" 'cut.short' .err
try run flow.yaml --on cpu --set time.end=80 --output short --quiet
try run flow.yaml --on cpu --resume short/checkpoint.strake --output later
exits 0 "so is one after the end that a checkpoint is at"
check "of which it says that its last step was cut short" grep -q "at 80 s, the time.end of its run: its last step was cut short" .err
try run flow.yaml --on cpu --resume short/checkpoint.strake --output other --quiet --set parameters.water_content=0.2
fails 2 "other lava is another case" "belongs to another case" "parameters.water_content is 0.06325 there and 0.2 in flow.yaml"
try run flow.yaml --on cpu --resume short/checkpoint.strake --output other --quiet --set time.safety=0.1
fails 2 "so is another safety of time steps" "time.safety is 0.2 there and 0.1 in flow.yaml"
try run flow.yaml --on cpu --resume short/checkpoint.strake --output other --quiet --set output.fields='[thickness, arrival]'
fails 2 "so is one that has what the checkpoint has not" "output.fields of its run had no arrival, those of flow.yaml have"
cat >course.yaml <<'EOF'
problem: lava
grid: {rows: 16, cols: 16, dx: 10, dy: 10}
time: {end: 1000000}
vents: [{row: 2, col: 8, rate: [[0, 30], [60, 0]]}]
scheme: {crust: none}
parameters: {solidus_temperature: 1330}
fields: {terrain: {plane: {slope: [1, 0]}}}
checkpoint: {every: 400}
EOF
try run course.yaml --on serial --report course.json --output course
exits 0 "a flow of which nothing is fluid has ended"
prints "and says so" "after step 1000: the last effusion is over and no lava is fluid" "erupted_volume                1800 m3"
check "at whatever time that is" grep -qE '^1000,4[0-9.]+,solid' course/index.csv
check "the report has it, too" grep -q '"ended": "the last effusion is over and no lava is fluid".*"erupted_volume": 1800' course.json
try run course.yaml --on cpu --set grid.rows=501 --set grid.cols=500 --set checkpoint.every=0 --set output.fields='[]' --output wide
prints "of many cells that is seen after as many more steps" "after step 2000: the last effusion is over"
try run course.yaml --on $mixed --resume course/checkpoint.strake --output again
exits 0 "a continued one ends there, too"
try compare course again
exits 0 "with the same bytes"
try run course.yaml --on cpu --set time.stop_at_edge=true --set vents[0].row=15 --set vents[0].rate=30 --set fields.terrain=0 --output edge
exits 0 "a flow may end at the edge of the terrain"
prints "and says so" "after step 1000: lava has reached the edge of the terrain (time.stop_at_edge)"
try run course.yaml --on cpu --set vents[0].row=15 --set vents[0].rate=30 --set fields.terrain=0 --set time.steps=2000 --output edge
exits 0 "or it has a wall there"
prints "with a reason of its own" "after step 2000: time.steps are done"
check "and one warning" test "$(grep -c "warning: course.yaml: at .* which is a wall to it" .err)" -eq 1
cat >npy.py <<'EOF'
import struct, sys
head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (16, 16), }"
head += b' ' * (117 - len(head)) + b'\n'
data = [0.0] * 256
data[100] = float(sys.argv[2])
open(sys.argv[1], 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + head + struct.pack('<256d', *data))
EOF
python3 npy.py start.npy 1
try run course.yaml --on cpu --set fields.thickness.file=start.npy --set time.steps=400 --output begun --quiet
exits 0 "a run keeps its volume"
python3 npy.py start.npy 2
try run course.yaml --on cpu --set fields.thickness.file=start.npy --resume begun/checkpoint.strake --output begun --quiet
fails 1 "one continued with other initial fields does not" "after step 1000 there is 0.05 less" "roundings explain"
try run flow.yaml --on cpu --set time.end=20 --resume all/checkpoint.strake --output no --quiet
fails 2 "an earlier one is not" "beyond time.end 20 s"
if "$STRAKE" run flow.yaml --on serial --set time.end=1 --set output.formats='[png]' --output look --quiet 2>/dev/null; then
    drawn() { # drawn FOLDER WHERE SETTING...: the picture of a short run
        "$STRAKE" run flow.yaml --on "$2" --set time.end=30 --set output.formats='[png]' --output "$1" --quiet "${@:3}"
    }
    check "pictures of lava are drawn" drawn onground serial
    check "on other processors as well" drawn mixedground $mixed
    last=$(basename "$(ls onground/deposit_*.png | tail -1)")
    check "the same picture" cmp "onground/$last" "mixedground/$last"
    check "without the ground" drawn plain serial --set output.picture.relief=false
    range() { tr '\0' ' ' <"$1/$last" | grep -a -o 'Strake range [-0-9.e+]*' | awk '{ print $3 }'; }
    check "which has its colours begin at the dry cells" test "$(range plain)" = 0
    check "where on the ground only lava has colours" awk -v low="$(range onground)" 'BEGIN { exit !(low > 0) }'
    if [ $device = ocl:0 ]; then
        check "with lines between parts" drawn parted cpu,ocl:0 --set output.picture.parts=true --split 1,1
        check "which are seen" bash -c "! cmp -s onground/$last parted/$last"
    else
        skip "lines between parts" "no OpenCL device"
    fi
    check "with lines around active patches" drawn patched cpu --set output.picture.patches=8
    check "which are seen" bash -c "! cmp -s onground/$last patched/$last"
    check "the same where all cells are computed" drawn patches serial --set output.picture.patches=8
    check "which changes no point" cmp "patched/$last" "patches/$last"
    # Places beside the lava and within it; the squares of a folder's index are those of a run's pictures.
    points() { python3 "$here/../support/outputs.py" png "$1" 150 150 320 320 350 340 400 400 300 360; }
    "$STRAKE" run flow.yaml --on cpu --set time.end=30 --output left --quiet
    "$STRAKE" view left --png seen.png >seen.txt 2>&1
    check "points of pictures are read" test -n "$(points "onground/$last")"
    check "view draws what a run draws, on the ground that its case describes" test "$(points seen.png)" = "$(points "onground/$last")"
    "$STRAKE" view left --png squares.png --patches 8 >squares.txt 2>&1
    check "with active patches as well" test "$(points squares.png)" = "$(points "patched/$last")"
    check "which are seen" bash -c "! cmp -s seen.png squares.png"
    "$STRAKE" view left --png flat.png --flat >flat.txt 2>&1
    check "or without the ground" bash -c '! cmp -s seen.png flat.png && ! grep . flat.txt | grep -q note'
    try view "left/${last%.png}.npy" --png no.png --patches 8
    fails 2 "an array alone does not say what is active" "--patches" "output folder"
    sed -i 's/problem: lava/problem: lave/' left/run.json
    "$STRAKE" view left --png unknown.png >unknown.txt 2>&1
    check "where the case cannot be read again a note says why" grep -q "note: the ground is not drawn: .*lave" unknown.txt
    try run flow.yaml --on serial --set time.end=30 --set output.formats='[png]' --set output.picture.field=temperature --output warm --quiet
    exits 0 "temperatures are drawn"
    last=${last/deposit/temperature}
    check "of lava alone" awk -v low="$(range warm)" 'BEGIN { exit !(low > 1300 && low < 1360) }'
else
    skip "pictures of lava" "no cairo"
fi
# Pages show the same ground, stored once.
"$STRAKE" run flow.yaml --on cpu --set time.end=30 --set output.initial=true --output ground --quiet
try view ground --html ground.html
exits 0 "a page of lava is written"
check "with its ground, once" test "$(grep -c '"behind": "' ground.html)" -eq 1
check "in every frame" test "$(grep -c '"backdrop": 0' ground.html)" -eq "$(grep -c '"field": "' ground.html)"
check "and without what is dry" grep -q '"field": "thickness".*"there": "' ground.html
try view ground --html ground.html --flat
check "or without the ground" bash -c '! grep -q "\"behind\"" ground.html && grep -q "\"field\": \"thickness\"" ground.html'
# A vent spread over a width: the same volume, from the cells nearer than half of it, less from those farther away.
cat >wide.yaml <<'EOF2'
problem: lava
grid: {rows: 17, cols: 21, dx: 10, dy: 10}
time: {end: 1, dt_max: 1, steps: 1}
fields: {terrain: {constant: 0}}
vents: [{row: 8, col: 10, rate: 40, width: 30}]
output: {fields: [thickness], formats: [asc]}
EOF2
"$STRAKE" run wide.yaml --on serial --output wide --report wide.json --quiet
check "a vent with a width gives what one without gives" grep -q '"erupted_volume": 40[,.]' wide.json
check "from the cells nearer than half of it, most of it in the middle" test "$(awk 'NR > 6 { for (k = 1; k <= NF; k++)
    if ($k > 0) { cells++; sum += $k; most = $k > most ? $k : most } } END { printf "%d %.4f %.3f", cells, 100 * sum, 100 * most }' wide/thickness_*.asc)" = "9 40.0000 $(awk 'BEGIN {
    printf "%.3f", 40 / (1 + 4 * (1 - 4 / 9) + 4 * (1 - 8 / 9)) }')"
"$STRAKE" run wide.yaml --on serial --set 'vents=[{row: 8, col: 10, rate: 40, width: 5}]' --output narrow --quiet
"$STRAKE" run wide.yaml --on serial --set 'vents=[{row: 8, col: 10, rate: 40}]' --output point --quiet
check "a width of less than a cell is a vent of one cell" cmp narrow/thickness_*.asc point/thickness_*.asc
"$STRAKE" run wide.yaml --on serial --set 'vents=[{row: 8, col: 4, to: {row: 8, col: 16}, rate: 40, width: 30}]' --output band --quiet
check "a fissure has a width, too" test "$(awk 'NR > 6 { for (k = 1; k <= NF; k++) if ($k > 0) cells++ } END { print cells }' band/thickness_*.asc)" = 45
try run wide.yaml --set 'vents=[{row: 8, col: 10, rate: 40, width: -1}]' --output negative
fails 2 "a width below 0 is refused" "vents[0].width" "-1"

# As many cells of fissures as of lava: not each with each.
{
    echo "problem: lava"
    echo "grid: {rows: 400, cols: 400, dx: 10, dy: 10}"
    echo "time: {end: 0.5, dt_max: 0.5}"
    echo "fields: {terrain: 0, thickness: 1}"
    echo "vents:"
    for ((k = 0; k < 400; k++)); do echo "  - {row: $k, col: 0, to: {row: $k, col: 390}, rate: 1}"; done
} >fissures.yaml
(ulimit -t 5 && "$STRAKE" run fissures.yaml --on serial --quiet --set output.fields='[]' --report fissures.json)
check "how far lava is from fissures is found in seconds" grep -q '"length": 90,' fissures.json
printf 'ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value -9\n1 1 1\n1 1 1\n1 1 -9\n' >hole.asc
for column in 1 2; do
    printf 'problem: lava\ntime: {end: 9}\nfields: {terrain: {file: hole.asc}}\nvents: [{row: 2, col: 0, to: {row: 2, col: %d}, rate: 1}]\n' $column >hole$column.yaml
done
try run hole1.yaml --on serial --quiet
exits 0 "a fissure ends beside a cell without ground"
try run hole2.yaml --on cpu --quiet
fails 2 "one that reaches into it is refused: no lava would leave there" "hole2.yaml" "vents" "row 2, column 2" "NODATA"
# Cells without a value of which the header says nothing, or says it in other digits of single precision.
holes() { # holes NODATA CELL
    printf 'ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value %s\n1 1 1\n1 1 1\n1 1 %s\n' "$1" "$2"
}
printf 'problem: lava\ntime: {end: 9}\nfields: {terrain: {file: digits.asc}}\nvents: [{row: 2, col: 0, rate: 1}]\noutput: {fields: [thickness]}\n' >digits.yaml
holes -9 -9 >digits.asc
try run digits.yaml --on serial --quiet --output same
holes -3.40282346639e+38 -3.4028235e+38 >digits.asc
try run digits.yaml --on serial --quiet --output digits
exits 0 "a header with other digits of the same number in single precision"
check "means the same cells" "$STRAKE" compare same digits
for value in -32768 -9999; do
    holes -9 $value >digits.asc
    try run digits.yaml --on cpu --quiet --output pit
    fails 2 "ground at $value m on a map is refused" "digits.yaml: fields.terrain: is $value m at row 2, column 2" "nodata: $value"
    try run digits.yaml --on cpu --quiet --output pit --set fields.terrain.nodata=$value
    check "and none, where the case says so" "$STRAKE" compare same pit
done
# What ends texts on old systems, cells as GDAL says them, texts in UTF-16.
holes -9 -9 | sed 's/^cellsize.*/DX 10\nDY 10.000001/' >digits.asc
printf '\032' >>digits.asc
try run digits.yaml --on serial --quiet --output gdal
check "dx and dy are a cellsize" "$STRAKE" compare same gdal
holes -9 -9 | sed 's/^cellsize.*/dx 10\ndy 11/' >digits.asc
try run digits.yaml --on serial --quiet
fails 2 "but not where cells are no squares" "dx is 10 and dy 11, expected square cells"
{ printf '\377\376'; holes -9 -9 | sed 's/./&\x00/g'; } >digits.asc
try run digits.yaml --on serial --quiet
fails 2 "a terrain in UTF-16" "digits.asc: is a text in UTF-16; save it in UTF-8 or ASCII"
: >digits.asc
try run digits.yaml --on serial --quiet
fails 2 "an empty terrain" "digits.asc: line 1: the numbers begin, but the header has no ncols"
# Keys of a law that another one, or a constant, stands in for.
holes -9 -9 >digits.asc
idle() { # idle KEY WHY OPTIONS...
    local key=$1 why=$2
    shift 2
    try run digits.yaml --on serial --output idle "$@"
    check "$key is told to have no effect: $why" grep -q "^strake: note: $key has no effect: .*$why" .err
}
idle parameters.vft_a "scheme.viscosity: vft" --set parameters.vft_a=3
idle parameters.water_content "scheme.viscosity: giordano" --set parameters.water_content=0.1 --set scheme.viscosity=dragoni
idle scheme.viscosity "parameters.viscosity is a constant" --set scheme.viscosity=vft --set parameters.viscosity=100
idle parameters.liquidus_temperature "scheme.yield_strength: dragoni" --set parameters.liquidus_temperature=1400
idle parameters.air_temperature "parameters.convection is 0" --set parameters.air_temperature=280 --set scheme.crust=none
idle parameters.wind_speed "there is no crust" --set parameters.wind_speed=9 --set scheme.crust=none
idle parameters.crust_cover "parameters.thermal is false" --set parameters.crust_cover=0.5 --set parameters.thermal=false
idle scheme.cooling "all losses are advanced together" --set scheme.cooling=euler --set scheme.crust=fraction
idle parameters.emissivity "parameters.thermal is false" --set parameters.emissivity=0.5 --set parameters.thermal=false
try run digits.yaml --on serial --output idle --set scheme.viscosity=vft --set parameters.vft_a=-4 --set parameters.convection=5 --set parameters.air_temperature=280
exits 0 "keys that have an effect"
lacks "are told nothing of" 'no effect' .err
# A flow of nothing, and one that reaches the edge just before the end, which is looked at there.
for vents in '[{row: 2, col: 0, rate: 0}]' '[{row: 2, col: 0, rate: {series: [[9, 5]]}}]'; do
    try run digits.yaml --on serial --quiet --output idle --set "vents=$vents"
    check "that nothing erupts is told" grep -q "^strake: warning: digits.yaml: at 9 s no vent has erupted, nor will one until time.end" .err
done
try run digits.yaml --on serial --quiet --output idle --set 'vents=[]'
check "that there is no lava, too" grep -q "^strake: warning: digits.yaml: at 9 s there is no lava: the case has no vents" .err
try run digits.yaml --on serial --quiet --output idle --set 'vents=[{row: 1, col: 0, rate: 1}]' --set time.end=2
check "a short run tells of the edge, once" test "$(grep -c 'warning: .*lava has reached the edge' .err)" -eq 1
try run digits.yaml --on serial --quiet --output idle --set 'vents=[]' --set fields.solid=1
exits 0 "solid lava alone"
lacks "is some" 'warning' .err
# What vents are going to do may be said anew: a forecast goes on with later reports.
cat >late.yaml <<'EOF'
problem: lava
grid: {rows: 16, cols: 16, dx: 10, dy: 10}
time: {end: 400}
fields: {terrain: {plane: {slope: [-0.2, 0.1]}}}
vents: [{row: 4, col: 8, rate: {series: [[0, 8], [150, 4], [300, 2]]}}]
output: {fields: [thickness, temperature]}
checkpoint: {every_seconds: 250}
EOF
try run late.yaml --on cpu --quiet --output late
exits 0 "a flow that is forecast"
later='vents=[{row: 4, col: 8, rate: {series: [[0, 8], [150, 4], [300, 10], [350, 0]]}}]'
try run late.yaml --on cpu --quiet --output anew --set "$later"
try run late.yaml --on $mixed --quiet --output goes-on --set "$later" --resume late/checkpoint.strake
exits 0 "a checkpoint goes on with other rates from then on"
check "to the bytes of a run that had them from the beginning" "$STRAKE" compare anew goes-on
try compare late goes-on
check "which are others" grep -q '^0 of 4 files are equal' .out
try run late.yaml --on cpu --quiet --output at --set checkpoint.every_seconds=300
try run late.yaml --on cpu --quiet --output goes-on --set "$later" --resume at/checkpoint.strake
exits 0 "a checkpoint at the very time of a change"
check "gives these bytes, too" "$STRAKE" compare anew goes-on
try run late.yaml --on cpu --quiet --output goes-on --set 'vents=[{row: 4, col: 8, rate: {series: [[0, 8], [150, 4], [350, 2]]}}]' --resume at/checkpoint.strake
fails 2 "but is none of a case without it: it has shortened a step" "belongs to another case"
try run late.yaml --on cpu --quiet --set 'vents=[{row: 4, col: 8, rate: {series: [[0, 8], [150, 5], [300, 2]]}}]' --resume late/checkpoint.strake
fails 2 "but not where they were others before" "belongs to another case" "rates of vents before that time differ"
# A crisis: a run of half a day to now, then reports of another rate, of a fissure that opened, of one that will, and a dam.
cat >crisis.yaml <<'EOF'
problem: lava
grid: {rows: 24, cols: 26, dx: 20, dy: 20}
time: {end: 86400}
fields: {terrain: {plane: {slope: [-0.2, 0.1]}}}
vents: [{row: 8, col: 12, rate: {series: [[0, 0.05], [20000, 0.1]]}}]
barriers: []
output: {fields: [thickness, temperature]}
checkpoint: {every_seconds: 43200}
EOF
first='row: 8, col: 12, rate: {series: [[0, 0.05], [20000, 0.1]'
fissure='{row: 14, col: 6, to: {row: 16, col: 14}, rate: {series: [[60000, 0.2], [70000, 0]]}}'
known="vents=[{row: 4, col: 5, rate: {series: [[0, 0], [43200, 0.1]]}}, {$first, [43200, 0.02]]}}, $fissure]"
dam='barriers=[{row: 9, col: 6, to: {row: 9, col: 20}, height: 2, from: 43200}]'
try run crisis.yaml --on cpu --quiet --set time.end=43200 --output now
try run crisis.yaml --on cpu --quiet --set "$known" --set "$dam" --output known
exits 0 "a day of a crisis that is known from the beginning"
try run crisis.yaml --on cpu --quiet --set "$known" --output undammed
check "which its dam changes" bash -c "! '$STRAKE' compare known undammed >compared"
try run crisis.yaml --on $mixed --set "$known" --set "$dam" --resume now/checkpoint.strake --output news
exits 0 "half of it goes on with a rate, a vent, a fissure and a dam that are new from now on"
check "to the same bytes" "$STRAKE" compare known news
check "and says what it takes as new, without a step that was cut short" grep -qF \
    'at 43200 s; new from then on: vents[0], vents[1] (not there before), vents[2] (not there before), barriers[0] (not there before)' .err
lacks "which a change at that time has cut short, too" 'cut short' .err
try run crisis.yaml --on cpu --resume now/checkpoint.strake --output as-before
lacks "nothing is said to be new where nothing is" 'new from then on' .err
try run crisis.yaml --on cpu --quiet --set 'vents=[]' --set time.end=43200 --output quiet-before
try run crisis.yaml --on cpu --set "vents=[$fissure]" --resume quiet-before/checkpoint.strake --output quiet-then --quiet
exits 0 "a fissure opens where there was no vent"
crisis_refuses() { # crisis_refuses VENTS NAME TEXT
    try run crisis.yaml --on cpu --quiet --set "vents=[$1]" --resume now/checkpoint.strake --output no
    fails 2 "$2" "belongs to another case" "$3"
}
crisis_refuses '{row: 8, col: 12, rate: {series: [[0, 0.05], [20000, 0.2]]}}' "but not with other rates before" \
    "rates of vents before that time differ"
crisis_refuses '{row: 8, col: 12, rate: {series: [[0, 0.05], [21000, 0.1]]}}' "nor with changes at other times before" \
    "rates of vents before that time differ"
crisis_refuses "{row: 8, col: 13, rate: {series: [[0, 0.05], [20000, 0.1]]}}" "nor with the vent in another cell" \
    "the cells of vents differ"
crisis_refuses "{$first]}}, {row: 2, col: 2, rate: {series: [[0, 0], [43000, 0.1]]}}" "nor with one that opened before" \
    "the cells of vents differ"
wide() { echo "vents=[{row: 8, col: 12, width: $1, rate: 0.1}]"; } # 70 and 75 m are the same cells
try run crisis.yaml --on cpu --quiet --set time.end=100 --set "$(wide 70)" --set checkpoint.every_seconds=100 --output wide70
try run crisis.yaml --on cpu --quiet --set "$(wide 75)" --resume wide70/checkpoint.strake --output no
fails 2 "nor with other shares of a vent's cells" "belongs to another case" "the cells of vents differ"
# An earlier flow, and a dam beside it, as changes of the terrain.
printf 'ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\n0 2 0\n0 0 0\n0 0 0\n' >earlier.asc
cat >dam.yaml <<'EOF'
problem: lava
time: {end: 300, dt_max: 2}
parameters: {yield_strength: 0, viscosity: 100}
fields: {terrain: {sum: [{file: hole.asc}, {file: earlier.asc}, {box: {from: [0, 1], to: [2, 1], height: 0}}]}}
vents: [{row: 1, col: 0, rate: 1}]
output: {fields: [thickness], formats: [asc]}
EOF
try run dam.yaml --on cpu --quiet --output open
exits 0 "terrain is a sum"
check "lava flows round what flowed before, and not where there is no ground" awk 'NR == 7 { dry = $2 == 0 && $3 > 0 } NR == 8 { wet = $2 > 0 } NR == 9 { hole = $2 > 0 && $3 == 0 } END { exit !(dry && wet && hole) }' open/thickness_*.asc
try run dam.yaml --on cpu --quiet --output shut --set 'fields.terrain.sum[2].box.height=50'
check "and not over a dam" awk 'NR > 6 { if ($1 == 0 || $2 + $3 != 0) bad = 1 } END { exit bad }' shut/thickness_*.asc
printf 'problem: lava\ntime: {end: 9}\nfields: {terrain: {file: hole.asc}, FIELD: {file: first.asc}}\n' >first.yaml
for field in thickness effusion; do
    sed "s/FIELD/$field/" first.yaml >$field.yaml
    printf 'ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\n0 1 0\n0 0 0\n0 0 0\n' >first.asc
    try run $field.yaml --on cpu --quiet
    exits 0 "$field beside a cell without ground"
    sed -i '$ s/0$/2/' first.asc
    try run $field.yaml --on $mixed --quiet
    fails 2 "$field in it is refused" "$field.yaml: fields.$field: row 2, column 2" "NODATA" "let it be 0 there"
done
# Numbers that no lava has: differences of two surveys have some, and other units. Cells without lava may have any temperature.
printf 'ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\n0 1 0\n0 0 -0.5\n0 0 0\n' >first.asc
for field in thickness solid effusion; do
    sed "s/FIELD/$field/" first.yaml >$field.yaml
    try run $field.yaml --on cpu --quiet --output less
    fails 2 "less $field than nothing is refused" "$field.yaml: fields.$field: is -0.5 m" "at row 1, column 2; expected at least 0"
done
sed -i 's/-0.5/0/' first.asc
printf 'ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\n0 KELVIN 0\n0 0 0\n0 0 0\n' >kelvin.asc
sed 's/FIELD: {file: first.asc}/thickness: {file: first.asc}, temperature: {file: heat.asc}/' first.yaml >heat.yaml
for kelvin in 0 -5 20000; do
    sed "s/KELVIN/$kelvin/" kelvin.asc >heat.asc
    try run heat.yaml --on cpu --quiet --output less
    fails 2 "lava of $kelvin K is refused" "heat.yaml: fields.temperature: is $kelvin K at row 0, column 1; expected 1 to 10000"
done
check "and nothing is left of these" test ! -e less
sed 's/KELVIN/1300/' kelvin.asc >heat.asc
try run heat.yaml --on cpu --quiet --output less
exits 0 "cells without lava need no temperature"
sed '/^grid:/d' flow.yaml >mapless.yaml
try check mapless.yaml --on serial --set fields.terrain='{file: nowhere.asc}'
fails 2 "a terrain that is not there is named, not the grid that it would have" "fields.terrain.file" "nowhere.asc"
try run mapless.yaml --on serial --steps 0 --set output.fields='[thickness]' --set fields.terrain="{file: $(ls short/thickness_*.npy | tail -n 1)}" --output grounds --quiet
exits 0 "the grid may be that of terrain without a place on a map"
try run flow.yaml --set time.dt=1
fails 2 "its time step is not given" "unknown key" "time.dt"
try run flow.yaml --set time.safety=1.5
fails 2 "safety is a part" "time.safety" "1.5"
# Heat that leaves through a crust is counted by kind: with what is there it is what has erupted, and not more than roundings
# are missing.
crust=(--set scheme.crust=fraction --set parameters.rain=1e-6)
try run flow.yaml --on serial "${crust[@]}" --output crust --set 'output.fields=[thickness, crust, radiated]'
exits 0 "a flow under a crust"
prints "whose summary counts heat by kind" "erupted_heat " "radiated_heat " "convected_heat " "conducted_heat " "rained_heat "
lacks "but not what no edge takes" drained_heat .out
check "as diagnostics do: nothing is missing" awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k }
    NR > 2 { all = $c["heat"] + $c["radiated_heat"] + $c["convected_heat"] + $c["conducted_heat"] + $c["rained_heat"]
             n++; if ((all / $c["erupted_heat"] - 1) ^ 2 > 1e-24 || $c["rained_heat"] <= 0) bad = 1 } END { exit bad || n < 4 }' crust/diagnostics.csv
lacks "without a crust heat that leaves is not counted" radiated_heat all/diagnostics.csv
try run flow.yaml --on cpu "${crust[@]}" --set 'output.fields=[thickness, crust, radiated]' --set time.steps=30 --set checkpoint.every=30 --output crusted --quiet
try run flow.yaml --on $mixed "${crust[@]}" --set 'output.fields=[thickness, crust, radiated]' --resume crusted/checkpoint.strake --output crusted --quiet
exits 0 "a flow under a crust goes on from a checkpoint"
rm -f crusted/*_00000030.npy
sed -i '/_00000030/d' crusted/index.csv
try compare crust crusted
exits 0 "to the same bytes"
check "and heat" cmp crust/diagnostics.csv crusted/diagnostics.csv
try run flow.yaml --set scheme.crust=none --set 'output.fields=[radiated]'
fails 2 "without a crust there is no field of heat that was radiated" "output.fields: radiated is only there with scheme.crust: fraction"
try run flow.yaml --set scheme.crust=fraction --set 'output.fields=[rained]'
fails 2 "nor what rain took without rain" "rained is only there with scheme.crust: fraction and parameters.rain above 0"
try run flow.yaml --set scheme.crust=fraction --set parameters.crust_temperature=1400
fails 2 "a crust is no hotter than the solidus" "parameters.crust_temperature: 1400 K is above parameters.solidus_temperature, 1320 K"
try run flow.yaml --set scheme.crust=thickness
fails 2 "words of the crust are none and fraction" "none" "fraction"
try run flow.yaml --set grid.dy=20
fails 2 "cells are square" "square cells"
try run flow.yaml --set fields.net=1
fails 2 "what follows from other fields is not given" "net"
try check flow.yaml --on serial
exits 0 "check accepts it"
prints "and says how long it goes" "90 s in steps of at most 3 s"
# Divisions and roots that kernels do without branches: operands too small, too large or 0 are left to the device's own.
cat >hard.py <<'PY'
import random, struct
random.seed(7)
def put(name, number):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (24, 24), }"
    head += b' ' * (117 - len(head)) + b'\n'
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + head + struct.pack('<576d', *map(number, range(576))))
h = [random.choice([0, 0, 1e-310, 3e-160, 5e-324, 1.5, 1.5, random.uniform(0, 3)]) for k in range(576)]
put('h.npy', lambda k: h[k])
put('z.npy', lambda k: random.choice([0, 0, 1e-300, 1e-160, 1, 3e8]))
put('t.npy', lambda k: random.choice([1360, 1143]) if h[k] > 0 else random.choice([1360, 300, 1e-300, 1e200]))
put('t-crust.npy', lambda k: random.choice([1360, 1143]) if h[k] > 0 else random.choice([1360, 300, 1e-300, 9999]))
PY
python3 hard.py
cat >hard.yaml <<'EOF'
problem: lava
grid: {rows: 24, cols: 24, dx: 10, dy: 10}
time: {end: 1000, dt_max: 2, steps: 20}
fields: {terrain: {file: z.npy}, thickness: {file: h.npy}, temperature: {file: t.npy}}
output: {fields: [thickness, solid, temperature, net, mix]}
scheme: {crust: none}
EOF
sed 's/mix]/mix, crust, radiated, convected, conducted]/; s/none/fraction/; s/t.npy/t-crust.npy/' hard.yaml >hard-crust.yaml
"$STRAKE" run hard.yaml --on serial --output hard --quiet
"$STRAKE" run hard-crust.yaml --on serial --output hard-crust --quiet
if [ $device = ocl:0 ]; then
    for hard in hard hard-crust; do
        for fusion in plain ${STRAKE_TESTS_LONG:+stream}; do # marching kernels take a compiler for processors half a minute
            try run $hard.yaml --on ocl:0 --no-tune --set run.fusion=$fusion --set run.division=refined --output "$hard-$fusion" --quiet
            exits 0 "a device divides the hard operands of $hard ($fusion)"
            try compare $hard "$hard-$fusion"
            exits 0 "to the same bytes"
        done
    done
else
    skip "a device divides hard operands" "no OpenCL device"
fi
done_testing
