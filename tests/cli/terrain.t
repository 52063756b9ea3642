#!/bin/bash
# Terrain of lava from files as people have them, and what lava leaves on it.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"

# A valley of 12 x 16 cells that falls to the east; heights are multiples of 0.5.
{
    printf 'ncols 16\nnrows 12\nxllcorner 500000\nyllcorner 4170000\ncellsize 10\nNODATA_value -9999\n'
    awk 'BEGIN { for (i = 0; i < 12; i++) for (j = 0; j < 16; j++)
        printf "%g%s", 100 - 1.5 * j + 0.5 * (i > 5 ? i - 5 : 5 - i), j < 15 ? " " : "\n" }'
} >valley.asc
cat >flow.yaml <<'CASE'
problem: lava
time: {end: 60}
fields: {terrain: {file: valley.asc}}
vents: [{row: 5, col: 3, rate: 5}]
parameters: {solidus_temperature: 1359.5}
CASE
try run flow.yaml --on serial --quiet --output out
exits 0 "lava flows"
last=$(basename out/thickness_*.npy)
# as_there FILE NAME: terrain from the file gives the same flow
as_there() {
    try run flow.yaml --on serial --quiet --output other --set "fields.terrain={file: $1}"
    check "$2" cmp "out/$last" "other/$last"
    rm -rf other
}

{ echo "# made by hand"; head -3 valley.asc; echo "  # 10 m"; tail -n +4 valley.asc; echo "# the end"; } >comments.asc
as_there comments.asc "lines that begin with # are comments"
{ for ((k = 0; k < 300; k++)); do echo "# line $k"; done; cat valley.asc; } >comments.txt
as_there comments.txt "also many before the header"
sed '8s/ / # /' valley.asc >inside.asc
try run flow.yaml --on serial --quiet --output none --set 'fields.terrain={file: inside.asc}'
fails 2 "a # within a line is none" "inside.asc: line 8: cell [1, 1] is '#', expected a number"
tail -n +7 valley.asc >headless.txt
try run flow.yaml --on serial --quiet --output none --set 'fields.terrain={file: headless.txt}'
fails 2 "a grid that has lost its header is called that" "headless.txt: line 1: '102.5': is a text without the header of a grid" "ncols, nrows"

# Rasters, through GDAL.
if [ -e "$(dirname "$STRAKE")/libstrake-gdal.so" ] && command -v gdal_translate >/dev/null; then
    for kind in VRT:vrt HFA:img ENVI:envi EHdr:bil; do
        gdal_translate -q -of "${kind%:*}" -ot Float32 valley.asc "valley.${kind#*:}"
        as_there "valley.${kind#*:}" "a raster of GDAL's ${kind%:*} is terrain"
    done
    gzip -k valley.asc
    as_there valley.asc.gz "so is one that is packed"
    sed '7,$s/\(\.[0-9]*\)/\10625003/g' valley.asc >fine.asc
    gzip -k fine.asc
    for name in fine.asc fine.asc.gz; do
        try run flow.yaml --on serial --quiet --output "of_$name" --set "fields.terrain={file: $name}" --set output.fields='[terrain]'
    done
    check "of which no digit is lost" cmp "of_fine.asc/${last/thickness/terrain}" "of_fine.asc.gz/${last/thickness/terrain}"
    try run flow.yaml --on serial --quiet --output none --set 'fields.terrain={file: nowhere.tif}'
    fails 2 "a raster that is missing is called missing" "nowhere.tif: cannot be opened: No such file"
    # Stored as integers: value = 50 + 0.5 times these.
    gdal_translate -q -ot Int16 -scale 50 150 0 200 -a_scale 0.5 -a_offset 50 valley.asc scaled.tif
    as_there scaled.tif "scale and offset of a band are applied"
    gdal_translate -q -ot Int16 -scale 50 150 0 200 -a_scale 0.5 -a_offset 50 -a_nodata 105 valley.asc holes.tif
    try run flow.yaml --on serial --quiet --output holes --set 'fields.terrain={file: holes.tif}' --set output.fields='[terrain]'
    check "a number for no value is one as it is stored" python3 -c "
import struct, sys
data = open('holes/' + '$last'.replace('thickness', 'terrain'), 'rb').read()
value = struct.unpack('<192d', data[-192 * 8:])
sys.exit(not ('102.5' in open('valley.asc').read().split() and max(value) >= 5e8 and 102.5 not in value))"
    echo '<VRTDataset rasterXSize="16" rasterYSize="12"></VRT' >broken.vrt
    try run flow.yaml --on serial --quiet --output none --set 'fields.terrain={file: broken.vrt}'
    fails 2 "a broken raster is called one" "broken.vrt: is no raster that GDAL reads"
else
    skip "rasters as terrain" "no module for GDAL or no gdal_translate (Debian: gdal-bin)"
fi

# What is left.
check "what is written has fluid and solid lava together" python3 -c "
import struct, sys
step = '$last'[len('thickness'):]
def read(name): return struct.unpack('<192d', open('out/' + name + step, 'rb').read()[-192 * 8:])
h, s, d = read('thickness'), read('solid'), read('deposit')
sys.exit(not (max(s) > 0 and max(h) > 0 and all(a + b == c for a, b, c in zip(h, s, d))))"
try view out
check "which is the first field that is looked at" sh -c 'head -1 .out | grep -q ^deposit'
places=cpu
if "$STRAKE" devices 2>/dev/null | grep -q '^ocl:0'; then
    places='cpu ocl:0 cpu,ocl:0'
    for on in cpu cpu,ocl:0; do
        try run flow.yaml --on "$on" --quiet --output "fast$on" --no-tune --set output.fields='[speed]'
    done
    check "speeds are the same on a device" cmp "fastcpu/${last/thickness/speed}" "fastcpu,ocl:0/${last/thickness/speed}"
else
    skip "speeds are the same on a device" "no OpenCL device"
fi
# A sheet 1 m thick on a slope of 1 in 10: rho g sin h^2/(3 eta) = 0.846 m/s, along an axis or between two.
for way in 'j' '(i + j) / sqrt(2)'; do
    awk 'BEGIN { print "ncols 9\nnrows 9\nxllcorner 0\nyllcorner 0\ncellsize 10"
        for (i = 0; i < 9; i++) for (j = 0; j < 9; j++) printf "%.17g%s", 50 - '"$way"', j < 8 ? " " : "\n" }' >sheet.asc
    try run flow.yaml --on serial --quiet --output sheet --set fields='{terrain: {file: sheet.asc}, thickness: 1}' \
        --set vents='[]' --set parameters='{thermal: false, viscosity: 1000, yield_strength: 0}' \
        --set time='{end: 0.01}' --set output='{fields: [speed], formats: [asc]}'
    check "a sheet on a slope has the speed of theory ($way)" awk 'NR == 11 { ok = ($5 / 0.846 - 1) ^ 2 < 1e-4 } END { exit !ok }' sheet/speed_*.asc
done

# From another folder.
mkdir -p far/away
if try run flow.yaml --on serial --quiet --output far/away/out && try view far/away/out --png here.png && [ $code -eq 0 ]; then
    (cd far/away && "$STRAKE" view out --png there.png >said.txt 2>&1)
    check "a picture made from another folder has its ground" cmp here.png far/away/there.png
    check "without a note that it has not" bash -c '! grep -q note far/away/said.txt'
    mkdir moved && cp -r far valley.asc moved
    (cd / && "$STRAKE" view "$scratch/moved/far/away/out" --png "$scratch/moved.png" >"$scratch/said.txt" 2>&1)
    check "also after the case and its outputs have moved" cmp here.png moved.png
else
    skip "pictures from another folder" "no cairo"
fi

# Cells without a value: holes, and what lies beyond an edge.
sed -E '13,15s/^(([^ ]+ ){8})[^ ]+ [^ ]+ [^ ]+/\1-9999 -9999 -9999/' valley.asc >holes.asc
terrain() { # terrain FOLDER: the numbers of its ground, one a line
    python3 -c "
import glob, struct
data = open(glob.glob('$1/terrain_*.npy')[0], 'rb').read()
print('\n'.join('%.17g' % v for v in struct.unpack('<192d', data[-192 * 8:])))"
}
for fill in "" ", fill: holes"; do
    try run flow.yaml --on serial --quiet --output "ground$fill" --set output.fields='[terrain]' \
        --set "fields.terrain={file: holes.asc$fill}" --set time='{end: 300, stop_at_edge: true}' \
        --set diagnostics.every_seconds=100 --set vents='[{row: 7, col: 6, rate: 5}]' --report ground.json
    exits 0 "lava flows beside a hole${fill:+ that is filled}"
    check "which is no edge" awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "edge") c = k }
        NR == 2 || NR == 3 { bad += $c != 0 } END { exit bad || NR < 3 }' "ground$fill/diagnostics.csv"
done
tail -n +7 valley.asc | tr ' ' '\n' >heights.txt
check "a hole is a wall" test "$(terrain ground | grep -c 700000000)" -eq 9
check "a hole that is filled is as the plane around it" bash -c "paste heights.txt <($(declare -f terrain); terrain 'ground, fill: holes') |
    awk '{ d = \$1 - \$2; bad += d * d > 1e-20 } END { exit NR != 192 || bad }'"
try check flow.yaml --set fields.thickness='{file: valley.asc, fill: holes}'
fails 2 "only terrain has holes" "fields.thickness.fill" "is for terrain"

# Sinks.
sed -E '7,$s/[^ ]+ [^ ]+ [^ ]+$/-9999 -9999 -9999/' valley.asc >coast.asc
balance() { # balance FOLDER: erupted lava is there or lost to the sink, of which there is some
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k } NR > 1 { there = $c["fluid_volume"] + $c["solid_volume"] + $c["lost_volume"]
        if ($c["erupted_volume"] > 0 && (there / $c["erupted_volume"] - 1) ^ 2 > 1e-24) bad = 1; lost = $c["lost_volume"] }
        END { exit bad || lost < 100 }' "$1/diagnostics.csv"
}
for ground in valley coast; do
    set -- --quiet --no-tune --set "fields.terrain={file: $ground.asc}" --set boundary.edge=sink --set output.fields='[thickness, solid, lost, arrival, maximum, speed]' \
        --set diagnostics.every_seconds=100 --set checkpoint.every_seconds=200
    try run flow.yaml --on serial --output $ground --set time.end=600 "$@"
    exits 0 "lava flows out of $ground"
    check "without a warning" sh -c '! grep . .err'
    check "to 1e-12 what erupts is there or lost" balance $ground
    for on in $places; do
        try run flow.yaml --on $on --output $ground-$on --set time.end=600 "$@"
        try compare $ground $ground-$on
        exits 0 "the same on $on"
        check "and as much is lost" cmp $ground/diagnostics.csv $ground-$on/diagnostics.csv
    done
    try run flow.yaml --on cpu --output $ground-again --set time.end=300 "$@"
    try run flow.yaml --on serial --resume $ground-again/checkpoint.strake --output $ground-again --set time.end=600 "$@"
    last=$(basename $ground/lost_*.npy)
    check "the same after a restart" cmp $ground/$last $ground-again/$last
done
try run flow.yaml --on serial --quiet --output wall --set time.end=600 --set diagnostics.every_seconds=300 --set 'fields.terrain={file: coast.asc}'
check "a wall is told of, and what to do" grep -q "warning: .*boundary.edge: sink" .err
check "behind which nothing is lost" awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "lost_volume") c = k } END { exit c == 0 || $c != 0 }' wall/diagnostics.csv
try check flow.yaml --set 'fields.terrain={file: coast.asc}' --set boundary.edge=sink --set 'vents=[{row: 3, col: 14, rate: 1}]'
fails 2 "no vent lies in a sink" "row 3, column 14" "no value" "a sink"

# Coordinate systems other than longitude and latitude or zones of UTM on WGS 84.
if [ -e "$(dirname "$STRAKE")/libstrake-gdal.so" ] && command -v gdal_translate gdalsrsinfo gdaltransform >/dev/null; then
    # Degrees that gdalwarp took for metres, since nothing told it of the system they are in.
    sed 's/500000/15/; s/4170000/-37/; s/ 10$/ 0.0001/' valley.asc >unnamed.asc
    gdal_translate -q -a_srs EPSG:32733 unnamed.asc labelled.tif
    try check flow.yaml --set 'fields.terrain={file: labelled.tif}'
    fails 2 "degrees that are labelled as metres are refused" "labelled.tif" "look like degrees" "-s_srs EPSG:4326"
    system() { gdalsrsinfo --single-line -o wkt2_2019 "$1" | grep -v '^$'; }
    # Corners of New Zealand's system, and of zones of UTM whose datums are others.
    for map in 2193:1600000:5400000 25833:500000:4170120 26717:500000:4170120; do
        IFS=: read -r code_of x y <<<"$map"
        gdal_translate -q -a_srs EPSG:$code_of -a_ullr $x $y $((x + 160)) $((y - 120)) valley.asc map$code_of.tif
        try run flow.yaml --on serial --quiet --output crs$code_of --set "fields.terrain={file: map$code_of.tif}" \
            --set output.formats='[npy, geotiff, geojson, kml]' --set checkpoint.every_seconds=30
        exits 0 "lava flows on a map of EPSG:$code_of"
        step=$(basename crs$code_of/footprint_*.kml .kml)
        step=${step#footprint_}
        check "GeoTIFF has just its system" test "$(system map$code_of.tif)" = "$(system crs$code_of/solid_$step.tif)"
        check "footprints lie at its longitudes and latitudes" python3 -c "
import json, re, subprocess, sys
rings = [r for p in json.load(open('crs$code_of/footprint_$step.geojson'))['features'][0]['geometry']['coordinates'] for r in p]
there = [c for r in rings for c in r]
kml = [tuple(map(float, l.split(','))) for l in open('crs$code_of/footprint_$step.kml') if re.match(r'^[-0-9.]+,[-0-9.]+$', l)]
text = '\n'.join('%.15g %.15g' % tuple(c) for c in there)
back = subprocess.run(['gdaltransform', '-s_srs', 'EPSG:4326', '-t_srs', 'EPSG:$code_of'], input=text, capture_output=True, text=True).stdout
back = [list(map(float, l.split()))[:2] for l in back.splitlines()]
near = all(abs((x - $x) / 10 - round((x - $x) / 10)) < 1e-3 and abs((y - $y) / 10 - round((y - $y) / 10)) < 1e-3 and
           0 <= x - $x + .1 and x - $x < 160.1 and -120.1 < y - $y < .1 for x, y in back)
same = len(kml) == len(there) and all(abs(a - b) < 1e-8 for k, t in zip(kml, there) for a, b in zip(k, t))
sys.exit(not (len(there) > 4 and len(back) == len(there) and near and same))"
        check "which GeoJSON needs no name for" bash -c "! grep -q '\"crs\"' crs$code_of/footprint_$step.geojson"
        try check flow.yaml --set "fields.terrain={file: map$code_of.tif, utm: {zone: 33}}"
        fails 2 "the case does not name another one" "map$code_of.tif: says itself which system" "leave out \`utm\`"
    done
    cp -r crs2193 crs-again
    try run flow.yaml --on serial --quiet --resume crs-again/checkpoint.strake --output crs-again --set 'fields.terrain={file: map2193.tif}' \
        --set output.formats='[npy, geotiff, geojson, kml]' --set checkpoint.every_seconds=30 --set time.end=90
    exits 0 "a run on such a map is resumed"
    check "and its maps keep their system" test "$(system map2193.tif)" = "$(system "$(ls crs-again/solid_*.tif | tail -1)")"
    try compare --footprint crs2193 crs2193
    exits 0 "its footprint is compared"
    try view crs2193
    exits 0 "and looked at"
    if [ -e "$(dirname "$STRAKE")/libstrake-netcdf.so" ] && gdalinfo --formats | grep -q netCDF; then
        try run flow.yaml --on serial --quiet --output crsnc --set 'fields.terrain={file: map2193.tif}' \
            --set output='{fields: [thickness, solid], formats: [netcdf], netcdf: {format: netcdf4}}'
        check "so do files of NetCDF" test "$(system map2193.tif)" = "$(system NETCDF:crsnc/fields.nc:solid)"
        check "at their place" bash -c 'gdalinfo NETCDF:crsnc/fields.nc:solid | grep -q "^Upper Left *( *1600000.000, *5400000.000)"'
    else
        skip "systems in NetCDF" "no module for NetCDF, or a GDAL without it"
    fi
    gdal_translate -q -a_srs EPSG:2225 valley.asc feet.tif
    try check flow.yaml --set 'fields.terrain={file: feet.tif}'
    fails 2 "feet are not taken for metres" "feet.tif are in units of 0.3048006096 m" "gdalwarp -t_srs"
else
    skip "other coordinate systems" "no module for GDAL or no gdal_translate, gdalsrsinfo and gdaltransform (Debian: gdal-bin)"
fi

# Degrees.
sed 's/500000/15/; s/4170000/-37/; s/ 10$/ 0.0001/' valley.asc >degrees.asc
for more in "" ", geographic: true"; do
    try check flow.yaml --set "fields.terrain={file: degrees.asc$more}"
    fails 2 "degrees are told how to become metres${more:+, said to be degrees}" "gdalwarp -t_srs EPSG:32733"
done
try check flow.yaml --set "fields.terrain={file: degrees.asc, geographic: true}" --set grid.dx=11 --set grid.dy=9
fails 2 "also where the case says their sides" "needs square cells: gdalwarp -t_srs EPSG:32733"

try scan flow.yaml --over vents[0].row=random:2:9:12:1 --over vents[0].rate=random:1:2:2:1 --steps 2 --quiet
exits 0 "random values of a key that takes integers are integers"
check "from LOW to HIGH, others are not" awk -F, 'NR > 1 { n++; bad += $2 != int($2) || $2 < 2 || $2 > 9 || $3 == int($3); seen[$2] = 1 }
    END { exit n != 24 || bad || length(seen) < 4 }' scan.csv
done_testing
