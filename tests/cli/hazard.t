#!/bin/bash
# strake scan --maps and --footprint: maps of all runs of a scan against the runs' own outputs, whoever made the runs, and
# after kills, damaged files and failures.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
column() { # column TABLE NAME: the values of a column; no cell before it has commas
    awk -F, -v name="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k; next } { print $at }' "$1"
}
same_maps() { # same_maps DIR DIR: the same bytes
    local map
    for map in probability mean maximum arrival; do cmp "$1/$map.npy" "$2/$map.npy" || return 1; done
}

cat >flow.yaml <<'YAML'
problem: lava
grid: {rows: 20, cols: 24, dx: 10, dy: 10}
time: {end: 900}
fields: {terrain: {cone: {center: [10, 12], radius: 20, height: 30}}}
vents: [{row: 8, col: 8, rate: 1}]
output: {fields: [thickness, solid, maximum, arrival], formats: [npy, asc]}
YAML
over=(--over 'vents[0].col=6,14' --over 'vents[0].rate=1,3,5' --over parameters.emissivity=0.5,0.9)
weights=(--weights 'vents[0].rate=3,2,1' --weights 'vents[0].col=1,0.5')
scan=(scan flow.yaml "${over[@]}" --quiet)
try "${scan[@]}" "${weights[@]}" --maps maps --keep kept --table maps.csv --on cpu
exits 0 "a scan makes maps of its runs"
check "says nothing with --quiet" sh -c '! [ -s .out ] && ! [ -s .err ]'
check "of all of them" test "$(ls maps/runs/*.trace | wc -l)" -eq 12
check "in the formats of the case, with an index" test "$(cut -d, -f3,4 maps/index.csv | grep -c '^\(probability\|mean\|maximum\|arrival\),[a-z]*\.\(npy\|asc\)$')" -eq 8
column maps.csv folder | while read -r folder; do
    tail -n +7 "$(ls "$folder"/thickness_*.asc)" >thickness
    tail -n +7 "$(ls "$folder"/solid_*.asc)" >solid
    tail -n +7 "$(ls "$folder"/maximum_*.asc)" >maximum
    tail -n +7 "$(ls "$folder"/arrival_*.asc)" >arrival
    paste -d ' ' thickness solid maximum arrival
done >runs.txt
for map in probability mean maximum arrival; do tail -n +7 maps/$map.asc >$map.txt; done
paste -d ' ' probability.txt mean.txt maximum.txt arrival.txt >maps.txt
expected='
function close_to(a, b) { return a - b < 1e-12 * (1 + b) && b - a < 1e-12 * (1 + b) }
FNR == NR {
    i = (FNR - 1) % 20; run = int((FNR - 1) / 20)
    w = (3 - int(run / 2) % 3) * (run < 6 ? 1 : 0.5); if (i == 0) W += w
    for (j = 1; j <= 24; j++) {
        m = $j + $(j + 24); m = $(j + 48) > m ? $(j + 48) : m; mean[i, j] += w * m
        most[i, j] = m > most[i, j] ? m : most[i, j]
        if (m > 0.1) { p[i, j] += w; if (!((i, j) in first) || $(j + 72) < first[i, j]) first[i, j] = $(j + 72) }
    }
    next
}
{
    i = FNR - 1
    for (j = 1; j <= 24; j++) {
        good = close_to($j, p[i, j] / W) && close_to($(j + 24), mean[i, j] / W) && close_to($(j + 48), most[i, j]) &&
            (((i, j) in first) ? close_to($(j + 72), first[i, j]) : $(j + 72) == -9999)
        if (!good) { print "cell", i, j - 1, $j, p[i, j] / W, $(j + 24), mean[i, j] / W, $(j + 48), most[i, j], $(j + 72), first[i, j]; bad = 1 }
        full += $j > 0.3 && $j < 1; none += $j == 0
    }
}
END { exit bad || full < 5 || none < 50 }'
check "they are what the outputs of the runs say, by their weights" awk "$expected" runs.txt maps.txt
check "a map says what it is" grep -q '"probability": "of a flow thicker than 0.1 m, of 12 runs"' maps/run.json
try view maps --field arrival
prints "maps are viewed" "arrival, 900 s, 20 x 24: 60 to"
if [ -e "$(dirname "$STRAKE")/libstrake-cairo.so" ]; then
    check "with a picture" test -s maps/probability.png
    try view maps --field probability --png ground.png
    check "they are drawn on the ground of the case" test ! -s .err -a -s ground.png
    try view maps --field probability --png flat.png --flat
    check "which can be left out" sh -c '! cmp -s ground.png flat.png'
    try "${scan[@]}" "${weights[@]}" --maps bare --table bare.csv --on cpu --set output.picture.relief=false
    check "as is the picture that the scan leaves, where the case has it so" sh -c '! cmp -s maps/probability.png bare/probability.png && same() { cmp "maps/$1.npy" "bare/$1.npy"; } && same probability && same mean'
else
    skip "with a picture, and those of strake view" "built without cairo (libcairo2-dev)"
fi

# Every format has the same maps.
formats=npy,vtk,geojson,asc
[ ! -e "$(dirname "$STRAKE")/libstrake-netcdf.so" ] || formats=$formats,netcdf
try "${scan[@]}" "${weights[@]}" --maps maps --table maps.csv --on cpu --set "output.formats=[$formats]"
fails 2 "another case is another scan" "maps.csv is the table of another scan"
try "${scan[@]}" "${weights[@]}" --maps formats --table formats.csv --on cpu --set "output.formats=[$formats]"
exits 0 "maps are written in other formats"
check "with the same bytes" same_maps maps formats
outputs=$here/../support/outputs.py
if command -v python3 >/dev/null; then
    good=0
    for map in probability mean maximum arrival; do
        python3 "$outputs" vti formats/fields.vti $map | cmp -s - <(tail -c 3840 formats/$map.npy) || good=1
        case $formats in *netcdf*) python3 "$outputs" nc formats/fields.nc $map | cmp -s - <(tail -c 3840 formats/$map.npy) || good=1 ;; esac
    done
    report $good "also in those of VTK and NetCDF"
else
    skip "also in those of VTK and NetCDF" "no python3"
fi
check "the footprint is where some flow comes" grep -q "\"cells\": $(awk '{ for (j = 1; j <= 24; j++) n += $j > 0 } END { print n }' probability.txt)," formats/footprint.geojson

# Whoever makes the runs, in whatever order they end.
for words in "--jobs 1 --on serial" "--on cpu --jobs 2 --threads 2" "--jobs 1 --on cpu --split 1"; do
    # shellcheck disable=SC2086
    "$STRAKE" "${scan[@]}" "${weights[@]}" --maps other --table other.csv $words
    check "the same bytes with $words" same_maps maps other
    rm -rf other other.csv
done
if "$STRAKE" devices 2>/dev/null | grep -q 'ocl:0'; then
    "$STRAKE" "${scan[@]}" "${weights[@]}" --maps other --table other.csv --on cpu,ocl:0
    check "and on the processors and a device" same_maps maps other
    rm -rf other other.csv
else
    skip "and on the processors and a device" "no OpenCL device"
fi

# An end in the middle: again where the scan was at its end before the signal came.
for _ in $(seq 50); do
    rm -rf other other.csv
    "$STRAKE" "${scan[@]}" "${weights[@]}" --maps other --table other.csv --on cpu --jobs 1 --set run.patience=17 >/dev/null 2>&1 &
    victim=$!
    for k in $(seq 3000); do
        [ "$(find other/runs -name '*.trace' 2>/dev/null | wc -l)" -lt 3 ] || break
        sleep 0.01
    done
    kill -KILL "$victim" 2>/dev/null
    wait "$victim" 2>/dev/null
    [ -e other/probability.npy ] || break
done
check "a scan that was killed has no maps" test ! -e other/probability.npy
try scan flow.yaml "${over[@]}" "${weights[@]}" --maps other --table other.csv --on cpu --set run.patience=17
exits 0 "it goes on"
check "to the same bytes" same_maps maps other
before=$(ls -l --time-style=full-iso other/runs)
try scan flow.yaml "${over[@]}" --maps other --table other.csv --on cpu --set run.patience=17 --threshold 0.5
prints "other weights and another threshold cost no run" "complete already: 12 runs" "arrival of 12 runs"
check "and leave what runs left as it is" test "$before" = "$(ls -l --time-style=full-iso other/runs)"
check "but make other maps" sh -c '! cmp -s maps/probability.npy other/probability.npy && grep -q "thicker than 0.5 m" other/run.json'

# What runs left is damaged.
victim=$(ls other/runs | sed -n 3p)
truncate -s -1 "other/runs/$victim"
second=$(ls other/runs | sed -n 5p)
size=$(stat -c %s "other/runs/$second")
printf 'x' | dd of="other/runs/$second" bs=1 seek=$((size - 3)) conv=notrunc 2>/dev/null
rm "other/runs/$(ls other/runs | sed -n 7p)"
try scan flow.yaml "${over[@]}" "${weights[@]}" --maps other --table other.csv --on cpu --set run.patience=17
prints "what is cut, changed or missing is made again" "12 runs, 0 failed" "9 were there already"
check "to the same bytes" same_maps maps other

# A run that fails has no part in maps.
folder=other/runs/$victim
rm "$folder" && mkdir -p "$folder/in"
try scan flow.yaml "${over[@]}" "${weights[@]}" --maps other --table other.csv --on cpu --set run.patience=17
fails 1 "a run that cannot leave its numbers fails" "$victim" "is a folder" "the maps lack 1 run"
check "the others make maps" grep -q 'of 11 runs' other/run.json
rm -r other other.csv
try scan flow.yaml --over parameters.emissivity=0.5,7 --maps other --table other.csv --on cpu
fails 1 "so with a case that is none" "parameters.emissivity" "the maps lack 1 run"
if [ -e "$faulty" ] && [ -z "${STRAKE_TESTS_SANITIZER:-}" ] && "$STRAKE" devices 2>/dev/null | grep -q 'ocl:0'; then
    # The processors take its run from the device after three times as long as one takes them: much longer than it
    # takes to begin.
    long=(scan flow.yaml --over 'vents[0].col=6,10,14' --quiet --set time.end=64000)
    "$STRAKE" "${long[@]}" --maps whole --table whole.csv --on cpu
    STRAKE_OPENCL_LIBRARY=$faulty STRAKE_TEST_FAULTS=alloc:refused STRAKE_TEST_MAX_ALLOC=100 STRAKE_CACHE_DIR=$scratch/cache \
        "$STRAKE" "${long[@]}" --maps lost --table lost.csv --on cpu,ocl:0 >.out 2>.err
    check "a device fails" grep -q 'ocl:0 gets no more runs' .err
    check "what it fails to do others do, to the same bytes" same_maps whole lost
else
    skip "what a device fails to do others do, to the same bytes" "no OpenCL device, or no library with faults here"
fi

# How well runs cover a mapped flow.
first=$(column maps.csv folder | sed -n 4p)
try scan flow.yaml "${over[@]}" --quiet --footprint "$first" --table e1.csv --on cpu
exits 0 "a scan compares its runs with a mapped flow"
good=0
k=0
while read -r folder; do
    k=$((k + 1))
    "$STRAKE" compare "$folder" "$first" --footprint | grep -q "^e1 = $(column e1.csv e1 | sed -n ${k}p | awk '{ printf "%.6f", $1 }') " || good=1
done < <(column maps.csv folder)
report $good "e1 is what strake compare --footprint says"
check "a run covers itself" test "$(column e1.csv e1 | sed -n 4p)" = 1
check "others do not" awk '$1 < 0.9 { n++ } END { exit n < 3 }' <(column e1.csv e1)
try scan flow.yaml "${over[@]}" --quiet --footprint "$first" --threshold 0.5 --table e1.csv --on cpu
fails 2 "with another threshold it is another scan" "e1.csv is the table of another scan"

# Wrong words.
wrong() { # wrong NAME TEXT... -- OPTION...: usage errors
    local name=$1 text=()
    shift
    while [ "$1" != -- ]; do text+=("$1") && shift; done
    shift
    try scan "$@" --table wrong.csv
    fails 2 "$name" "${text[@]}"
}
wrong "weights are for maps" "--weights" "--maps DIR" -- flow.yaml "${over[@]}" --weights 'vents[0].rate=1,1,1'
wrong "a threshold is, too" "--threshold: goes with --maps" -- flow.yaml "${over[@]}" --threshold 1
wrong "weights are of a key that varies" "no --over varies time.end" -- flow.yaml "${over[@]}" --maps w --weights time.end=1
for bad in 1,2 1,2,3,4 1,-1,1 0,0,0 1,x,1 ,,; do
    wrong "weights that are none: $bad" "--weights: vents[0].rate=$bad: expected 3 numbers >= 0" -- flow.yaml "${over[@]}" --maps w --weights "vents[0].rate=$bad"
done
wrong "they are given once" "given twice" -- flow.yaml "${over[@]}" --maps w --weights 'vents[0].rate=1,1,1' --weights 'vents[0].rate=1,1,1'
wrong "maps need a problem with a footprint" "--maps: problem mpdata2d has no footprint" -- case.yaml --over time.steps=1,2 --maps w
wrong "and one grid" "20 x 24 and 30 x 24 cells" -- flow.yaml --over grid.rows=20,30 --maps w
printf 'ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\n0 1\n1 1\n' >small.asc
wrong "a mapped flow lies on the grid" "flow.yaml has 20 x 24 cells, small.asc 2 x 2, and not both say where" -- flow.yaml "${over[@]}" --footprint small.asc
echo '{"type": "Polygon", "coordinates": [[[1000,2000],[1300,2000],[1300,2150],[1000,2000]]]}' >outline.geojson
wrong "an outline needs a place of the grid" "outline.geojson: has places on a map, but that of the grid is not known" -- flow.yaml "${over[@]}" --footprint outline.geojson
try scan flow.yaml "${over[@]}" --footprint nowhere.asc --table wrong.csv
fails 1 "and is there" "nowhere.asc"
check "nothing of these is left" test ! -e w -a ! -e wrong.csv
# Places of vents from a file: the maps of all of them, weighted, and of some that are drawn.
{
    printf 'ncols 24\nnrows 20\nxllcorner 1000\nyllcorner 2000\ncellsize 10\nNODATA_value -9999\n'
    awk 'BEGIN { for (i = 0; i < 20; i++) { for (j = 0; j < 24; j++) printf "%s%g", j ? " " : "", 30 - i - j / 10; print "" } }'
} >slope.asc
sed 's/{cone.*/{file: slope.asc}}/; s/{row: 8, col: 8, rate: 1}/{x: 1085, y: 2115, rate: 1}/' flow.yaml >placed.yaml
printf '# vents\nweight; x; y\n2;1065;2115\n0;1075;2115\n1;1145;2115\n' >vents.csv
try scan placed.yaml --vents vents.csv --over 'vents[0].rate=1,3' --maps placed --table placed.csv --on cpu
exits 0 "vents come from a file"
check "those with a weight" test "$(column placed.csv 'vents[0].x' | tr '\n' ' ')" = "1065 1065 1145 1145 "
"$STRAKE" scan placed.yaml --over 'vents[0].x=1065,1145' --over 'vents[0].y=2115' --over 'vents[0].rate=1,3' --weights 'vents[0].x=2,1' --maps spelt \
    --table spelt.csv --on cpu --quiet
check "and make the maps that keys and weights make" same_maps placed spelt
awk 'NR <= 6 { print; next } { for (j = 1; j <= 24; j++) printf "%s%d", (j > 1 ? " " : ""), (NR == 15 ? (j == 7) * 2 + (j == 15) : 0); print "" }' slope.asc >weights.asc
"$STRAKE" scan placed.yaml --vents weights.asc --over 'vents[0].rate=1,3' --maps raster --table raster.csv --on cpu --quiet
check "a grid of weights makes the same" same_maps placed raster
try scan placed.yaml --vents vents.csv --draws 60 --over 'vents[0].rate=uniform:1:3' --maps drawn --table drawn.csv --on cpu
prints "of vents that are drawn it is told how far the maps have come" "the last tenth of the runs changed the probability of a cell by at most"
check "they are drawn by their weights" test "$(column drawn.csv 'vents[0].x' | grep -c 1065)" -gt 30
check "and each of them" test "$(column drawn.csv 'vents[0].x' | sort -u | tr '\n' ' ')" = "1065 1145 "
try scan placed.yaml --vents vents.csv --footprint outline.geojson --keep covers --table covers.csv --on cpu --quiet
for n in 1 2; do "$STRAKE" compare covers/000$n* outline.geojson --footprint | sed 's/e1 = \([0-9.]*\).*/\1/'; done >covers.txt
check "runs are compared with polygons, as strake compare does" diff covers.txt <(column covers.csv e1 | awk '{ printf "%.6f\n", $1 }')
check "of which they cover some" awk '$1 > 0.01 { n++ } END { exit n < 1 }' covers.txt
point() { printf '{"type": "Feature", "properties": {"weight": %s}, "geometry": {"type": "%s", "coordinates": %s}}' "$@"; } # WEIGHT TYPE COORDINATES
collection() { # FEATURE...: GeoJSON
    local IFS=,
    echo "{\"type\": \"FeatureCollection\", \"features\": [$*]}"
}
collection "$(point 2 Point '[1065, 2115, 7]')" "$(point 0 Point '[1075, 2115]')" "$(point null MultiPoint '[[1145, 2115]]')" >vents.geojson
"$STRAKE" scan placed.yaml --vents vents.geojson --over 'vents[0].rate=1,3' --maps points --table points.csv --on cpu --quiet
check "points of GeoJSON make the same" same_maps placed points
sed 's/xllcorner 1000/xllcorner 500000/; s/yllcorner 2000/yllcorner 4177000/' slope.asc >etna.asc
sed 's/file: slope.asc/file: etna.asc, utm: {zone: 33}/; s/1085/500085/; s/2115/4177115/' placed.yaml >etna.yaml
degrees='[[15.0007377575362, 37.7413238844272], [15.0016457668113, 37.7413238752468]]' # gdaltransform of 500065 4177115 and 500145 4177115
vents_of() { # FILE: x and y of its vents, as the table has them
    rm -f places.csv
    "$STRAKE" scan etna.yaml --vents "$1" --table places.csv --on cpu --quiet --steps 1
    awk -F, 'NR > 1 { printf "%.4f %.4f ", $2, $3 }' places.csv
}
collection "$(point 1 MultiPoint "$degrees")" >degrees.geojson
there="500065.0000 4177115.0000 500145.0000 4177115.0000 "
check "longitudes and latitudes are converted where the map has a zone" test "$(vents_of degrees.geojson)" = "$there"
try scan placed.yaml --vents degrees.geojson --table none.csv
fails 2 "where it has none, they are outside" "degrees.geojson: each of its places is outside of the grid: they have x from 15.0007" "the grid x from 1000 to 1240" "utm: {zone: 33}"
if [ -e "$(dirname "$STRAKE")/libstrake-gdal.so" ]; then
    sed 's/^{/{"crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}},/' \
        <<<"$(collection "$(point 1 MultiPoint '[[1028937.64412157, 4194104.43947659], [1029017.75447401, 4194109.59345652]]')")" >other.geojson
    check "those of another system through GDAL" test "$(vents_of other.geojson)" = "$there"
    printf '<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><Point><coordinates>%s</coordinates></Point></Placemark></kml>' 15.0007377575362,37.7413238844272 >point.kml
    check "so are points of KML" test "$(vents_of point.kml)" = "${there:0:25}"
else
    skip "other systems and formats" "no module for GDAL here"
fi
for wrong in 'Point [15]' 'Point ["a",2]' 'LineString [[1065,2115],[1075,2115]]' 'Blob [1,2]' 'Point [1000,9000]'; do
    collection "$(point 1 $wrong)" >wrong.geojson
    try scan placed.yaml --vents wrong.geojson --table none.csv
    fails 2 "what is no point in the grid is refused: $wrong" "wrong.geojson"
done
collection "$(point -1 Point '[1065, 2115]')" >wrong.geojson
try scan placed.yaml --vents wrong.geojson --table none.csv
fails 2 "so is a weight below 0" "wrong.geojson:1:" "weight: found '-1', expected a number >= 0"

try scan placed.yaml --vents vents.csv --set 'vents=[{row: 3, col: 3, rate: 1}]' --table none.csv
fails 2 "places of vents go with x and y of the case" "either row and col" "x and y on the map; it has keys of both"
printf '1065,2115,1e308\n1145,2115,1e308\n' >huge.csv
try scan placed.yaml --vents huge.csv --draws 4 --table none.csv
fails 2 "weights have a finite sum" "--vents: the weights have no finite sum"
printf '1065,2115,1e200\n1145,2115,1e200\n' >huge.csv
printf 'class,volume,duration,curve,probability\na,1000,500,constant,1e200\n' >huge-c.csv
try scan placed.yaml --vents huge.csv --classes huge-c.csv --maps huge --table none.csv
fails 2 "and so have products of them" "the weights of the runs" "expected at most 1e+300"
printf 'class,volume,duration,curve,probability\na,1000,500,constant,1e308\nb,1000,500,falling,1e308\n' >huge-c.csv
try scan placed.yaml --classes huge-c.csv --draws 4 --table none.csv
fails 2 "probabilities of classes, too" "huge-c.csv: the probabilities have no finite sum"

# Classes of eruptions.
printf 'class, volume, duration, curve, probability\nsmall, 1000, 500, constant, 3\nlarge, 4000, 800, triangle, 1\n' >classes.csv
classes=(scan placed.yaml --vents vents.csv --classes classes.csv --on cpu)
try "${classes[@]}" --maps classes --table classes-t.csv --eruptions 25
prints "classes of eruptions make maps of their own" "of 4 runs, absolute probability, probability of each class"
check "each class from each vent" test "$(column classes-t.csv class | tr '\n' ' ')" = "small large small large "
check "each with its volume" test "$(column classes-t.csv erupted_volume | awk '{ printf "%.9g ", $1 }')" = "1000 4000 1000 4000 "
large='{series: [[0, 0], [200, 10], [800, 0]], interpolate: linear}'
"$STRAKE" scan placed.yaml --vents vents.csv --over "vents[0].rate={series: [[0, 2], [500, 0]]},$large" --weights 'vents[0].rate=3,1' --maps rates --table rates.csv --on cpu --quiet
check "and make the maps of their rates with these weights" same_maps classes rates
"$STRAKE" scan placed.yaml --vents vents.csv --set "vents[0].rate=$large" --maps large --table large.csv --on cpu --quiet
check "the map of a class is that of its runs alone" cmp classes/probability-large.npy large/probability.npy
paste -d ' ' <(tail -n +7 classes/probability.asc | tr ' ' '\n') <(tail -n +7 classes/absolute.asc | tr ' ' '\n') >absolute.txt
check "the absolute probability is that of a Poisson process" awk '{ d = $2 - (1 - exp(-25 * $1)); n += $1 > 0 && $1 < 1; if (d > 1e-12 || d < -1e-12) exit 1 } END { exit n < 20 }' absolute.txt
printf '0 1\n3 2\n4 0\n' >curve.txt
printf 'class,curve,volume,duration,end,probability\na,falling,600,300,400,0\nb,curve.txt,600,300,350,1\n' >ends.csv
"$STRAKE" scan placed.yaml --classes ends.csv --table ends-t.csv --on cpu --quiet --keep ends
check "curves fall, or are those of a file; runs of classes end at times of their own" test "$(tail -qn1 ends/*/index.csv | cut -d, -f2 | tr '\n' ' ')$(column ends-t.csv erupted_volume | awk '{ printf "%.9g ", $1 }')" = "400 350 600 600 "
check "a file's rates are those until the next time" grep -qF 'series: [[0, 1.6000000000000001], [225, 3.2000000000000002], [300, 0]]}' ends/0002*/run.json
try scan placed.yaml --vents vents.csv --classes classes.csv --draws 60 --table few.csv --on cpu --quiet --steps 9
n=$(column few.csv class | grep -c small)
check "classes are drawn by their probabilities" test "$n" -gt 36 -a "$n" -lt 54
try scan placed.yaml --classes classes.csv --table cut.csv --on cpu --set time.end=600
check "a run that ends before its eruption is told" grep -q "runs of class large end at 600 s, before their eruption does at 800 s" .err
head='class,volume,duration,curve,probability'
for wrong in 'class,volume,duration,curve\na,1,2,constant' "$head" "$head\na,0,2,constant,1" "$head\na/b,1,2,constant,1" "$head\na,1,2,constant,-1" "$head\na,1,2,constant,0" \
    "$head\na,1,2,triangle:1,1" "$head\na,1,2,triangle:,1" "$head\na,1e308,1e-9,constant,1" "$head\na,1,2,steep,1" "$head\na,1,2,constant,1\na,1,2,constant,1" "$head\na,1,2,vents.csv,1"; do
    printf "$wrong\n" >wrong.csv
    try scan placed.yaml --classes wrong.csv --table none.csv
    fails 2 "what is no class is refused: $wrong" ".csv"
done
wrong "classes say the rate" "vents[0].rate: --classes says it" -- placed.yaml --classes classes.csv --over 'vents[0].rate=1,2'
wrong "--eruptions is for maps" "--eruptions: is for maps" -- placed.yaml --classes classes.csv --eruptions 1
for wrong in 'x,y\n1,a' '1,2,-1' '# nothing' '5'; do
    printf "$wrong\n" >wrong.csv
    try scan placed.yaml --vents wrong.csv --table none.csv
    fails 2 "what is no vent is refused: $wrong" "wrong.csv"
done
done_testing
