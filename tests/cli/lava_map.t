#!/bin/bash
# Fissures and barriers from files of lines and polygons, and barriers that stand for a time: where they are, and the same
# bytes wherever a case runs and from wherever it goes on.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
last() { ls "$1"/"$2"_*.npy | tail -n 1; } # DIR FIELD: its last output
same_end() { cmp "$(last "$1" thickness)" "$(last "$2" thickness)" && cmp "$(last "$1" solid)" "$(last "$2" solid)"; }
below() { tail -n +7 "$1" | awk -v row="$2" 'NR > row { for (j = 1; j <= NF; j++) n += $j > 0 } END { print n + 0 }'; } # FILE ROW: cells with lava from there on

{
    printf 'ncols 24\nnrows 20\nxllcorner 500000\nyllcorner 4177000\ncellsize 10\nNODATA_value -9999\n'
    awk 'BEGIN { for (i = 0; i < 20; i++) { for (j = 0; j < 24; j++) printf "%s%g", j ? " " : "", 30 - i - j / 10; print "" } }'
} >slope.asc
cat >flow.yaml <<'YAML'
problem: lava
time: {end: 900}
fields: {terrain: {file: slope.asc, utm: {zone: 33}}}
vents: [{file: fissure.geojson, rate: [[0, 4], [500, 0]]}]
barriers: [{file: dam.geojson, height: 6, width: 12, from: 200, until: 700}]
output: {fields: [thickness, solid], formats: [npy, asc], every_seconds: 100}
YAML
echo '{"type": "LineString", "coordinates": [[500075, 4177175], [500105, 4177165], [500105, 4177175]]}' >fissure.geojson
echo '{"type": "LineString", "coordinates": [[500035, 4177105], [500090, 4177120], [500165, 4177105]]}' >dam.geojson
"$STRAKE" run flow.yaml --on serial --quiet --output one
for on in cpu ocl:0 cpu,ocl:0; do
    if [ $on != cpu ] && ! "$STRAKE" devices 2>/dev/null | grep -q 'ocl:0'; then
        skip "a barrier that comes and goes on $on" "no OpenCL device"
        continue
    fi
    rm -rf other
    "$STRAKE" run flow.yaml --on $on --quiet --output other
    try compare one other
    prints "a barrier that comes and goes on $on" " files are equal"
done
check "steps end when it comes and goes" test "$(cut -d, -f2 one/index.csv | grep -cxE '200|700')" -eq 8
at() { awk -F, -v time="$1" '$3 == "thickness" && $4 ~ /asc$/ && $2 + 0 >= time { print $4; exit }' one/index.csv; } # TIME
check "it holds lava as long as it stands, and no longer" test "$(below "one/$(at 690)" 11)" -eq 0 -a "$(below "one/$(at 900)" 11)" -gt 5
"$STRAKE" run flow.yaml --on cpu --quiet --output none --set 'barriers=[]' --steps 15 --set checkpoint.every=15
time=$(tail -n 1 none/index.csv | cut -d, -f2)
check "a case without any" awk -v time="$time" 'BEGIN { exit !(time > 50 && time < 200) }'
try run flow.yaml --on cpu --quiet --output later --resume none/checkpoint.strake
exits 0 "goes on with one that comes later"
check "to the same bytes" same_end one later
"$STRAKE" run flow.yaml --on cpu --quiet --output half --steps 50 --set checkpoint.every=50
try run flow.yaml --on serial --quiet --output none --resume half/checkpoint.strake --set barriers[0].height=7
fails 2 "a run does not go on with another barrier" "belongs to another case: barriers before that time differ" "the checkpoint is at "
sed '/^barriers:/d' flow.yaml >bare.yaml
"$STRAKE" run bare.yaml --on cpu --quiet --output bare --steps 15 --set checkpoint.every=15
try run flow.yaml --on serial --quiet --output none --resume bare/checkpoint.strake
fails 2 "nor with a first one where there was no list" "only the checkpoint of a case with barriers, [] if there are none yet"
rm -rf other
try run flow.yaml --on serial --quiet --output other --resume half/checkpoint.strake
check "but under the one it had" same_end one other
try scan flow.yaml --over 'barriers[0].height=2,6' --table scan.csv --keep kept --quiet
check "a scan varies it" same_end one kept/0002-*
differ() { ! cmp -s "$(last "$1" thickness)" "$(last "$2" thickness)"; }
check "and the flow with it" differ kept/0001-* kept/0002-*

# All that can be written, with rain and edges that are sinks: more states than devices had room for.
all=(run flow.yaml --set boundary.edge=sink --set parameters.rain=1e-6 --set time.end=60 --set output.formats=[npy] --set
    'output.fields=[thickness, solid, temperature, heat, radiated, convected, conducted, rained, drained, arrival, maximum, speed, lost]')
"$STRAKE" "${all[@]}" --on serial --quiet --output every
if "$STRAKE" devices 2>/dev/null | grep -q 'ocl:0'; then
    rm -rf other
    try "${all[@]}" --on ocl:0 --quiet --output other
    exits 0 "a device has room for all fields of a case"
    try compare every other
    exits 0 "with the same bytes"
else
    skip "a device has room for all fields of a case" "no OpenCL device"
fi

# Where things are.
static=(run flow.yaml --on cpu --quiet)
line='[{x: 500075, y: 4177175, to: {x: 500105, y: 4177165}, rate: 4}]'
echo '{"type": "LineString", "coordinates": [[500075, 4177175], [500105, 4177165]]}' >short.geojson
"$STRAKE" "${static[@]}" --output spelt --set "vents=$line" --set 'barriers=[]'
"$STRAKE" "${static[@]}" --output file --set 'vents=[{file: short.geojson, rate: 4}]' --set 'barriers=[]'
check "a fissure of a file is that between its ends" same_end spelt file
sed 's/"coordinates.*/"coordinates": [[500075, 4177175], [500105, 4177165], [500075, 4177175]]}/' short.geojson >twice.geojson
"$STRAKE" "${static[@]}" --output twice --set 'vents=[{file: twice.geojson, rate: 4}]' --set 'barriers=[]'
check "whose cells share its rate, each once" same_end spelt twice
echo '{"type": "LineString", "coordinates": [[15.0008512648888, 37.7418646814672], [15.0011917693992, 37.7417745455522]]}' >degrees.geojson
"$STRAKE" "${static[@]}" --output degrees --set 'vents=[{file: degrees.geojson, rate: 4}]' --set 'barriers=[]'
check "in longitude and latitude, too" same_end spelt degrees
# A dam from corner to corner: each cell touches the next one along a side.
corner='[{row: 19, col: 0, to: {row: 0, col: 19}, height: 90}]'
"$STRAKE" "${static[@]}" --output corner --set 'vents=[{row: 4, col: 4, rate: 40}]' --set "barriers=$corner" --set output.every_seconds=900
check "nothing leaks through a line" test "$(tail -n +7 corner/thickness_*.asc | awk '{ for (j = 1; j <= NF; j++) { n += NR + j > 21 && $j > 0; m += $j > 0 } } END { print n, (m > 20) }')" = "0 1"
# Two polygons, one with a hole: cells of rows 12 and 13, and one of row 15, as a field of heights has them.
echo '{"type": "MultiPolygon", "coordinates": [[[[500040, 4177060], [500160, 4177060], [500160, 4177080], [500040, 4177080], [500040, 4177060]],
    [[500071, 4177061], [500079, 4177061], [500079, 4177069], [500071, 4177069], [500071, 4177061]]],
    [[[500004, 4177044], [500006, 4177044], [500006, 4177046], [500004, 4177046], [500004, 4177044]]]]}' >polygons.geojson
{ head -6 slope.asc; awk 'BEGIN { for (i = 0; i < 20; i++) { for (j = 0; j < 24; j++)
    printf "%s%d", j ? " " : "", ((i == 12 || i == 13) && j >= 4 && j < 16 && !(i == 13 && j == 7)) || (i == 15 && j == 0) ? 3 : 0; print "" } }'; } >heights.asc
"$STRAKE" "${static[@]}" --output polygons --set "vents=$line" --set 'barriers=[{file: polygons.geojson, height: 3}]'
sed '/^barriers/d' flow.yaml >field.yaml
"$STRAKE" run field.yaml --on cpu --quiet --output field --set "vents=$line" --set 'fields.barrier={file: heights.asc, utm: {zone: 33}}'
check "polygons stand on the cells whose middles are in them" same_end polygons field
check "and change the flow" differ polygons spelt

wrong() { # NAME TEXT BARRIERS
    try check flow.yaml --set "barriers=$3"
    fails 2 "$1" "$2"
}
wrong "a barrier has a height" "height is missing" '[{row: 3, col: 3}]'
wrong "above 0" "barriers[0].height: found '-1', expected a number > 0 and <= 10000 [m]" '[{row: 3, col: 3, height: -1}]'
wrong "it comes before it goes" "barriers[0].until: expected a time after" '[{row: 3, col: 3, height: 1, from: 5, until: 5}]'
wrong "and has one place" "barriers[0].row: \`file\` says where it is" '[{row: 3, file: dam.geojson, height: 1}]'
wrong "in the grid" "barriers[0].to.row" '[{row: 3, col: 3, to: {row: 20, col: 3}, height: 1}]'
wrong "a file is there" "no.geojson" '[{file: no.geojson, height: 1}]'
wrong "barriers are a list" "a list of barriers" '{file: dam.geojson, height: 1}'
wrong "their keys are known" "hight" '[{file: dam.geojson, hight: 1}]'
sed 's/500165/500365/' dam.geojson >far.geojson
wrong "a line lies in the grid" "barriers[0].file: far.geojson: one of its places is outside of the grid" '[{file: far.geojson, height: 1}]'
echo '{"type": "Point", "coordinates": [500075, 4177175]}' >point.geojson
: >void.geojson
wrong "an empty file says so" "void.geojson: is empty; expected GeoJSON" '[{file: void.geojson, height: 1}]'
wrong "a point is no barrier" "point.geojson:1:10: type: found the text \"Point\", expected lines or polygons" '[{file: point.geojson, height: 1}]'
try check flow.yaml --set fields.barrier=1
fails 2 "barriers are a list or a field" "fields.barrier: there are \`barriers\`, too"
try check flow.yaml --set 'vents=[{file: polygons.geojson, rate: 1}]'
fails 2 "a polygon is no fissure" "expected points or lines"
done_testing
