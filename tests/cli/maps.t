#!/bin/bash
# Maps: fields from ESRI ASCII grids, outputs as such grids and as footprints, with the place of the grid on the map.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"

cat >map.asc <<'GRID'
NCOLS	5
NROWS	4
XLLCENTER	500005
YLLCENTER	4177005
CELLSIZE	10
NODATA_value	-9999
0.1 0.2 0.3 0.4 0.5
0.6 0.7 0.8 0.9 0.11
0.12 0.13 0.14 0.15 0.16
0.17 0.18 0.19 0.21 0.22
GRID
sed 's/500005/14.505/; s/4177005/37.505/; s/\t10/\t0.01/' map.asc >degrees.asc
cat >map.yaml <<'CASE'
problem: cahn_hilliard2d
time: {steps: 3, dt: 0.001}
fields: {u: {file: map.asc}}
output: {formats: [asc, npy], initial: true}
CASE
try run map.yaml --on serial --quiet --output out
exits 0 "a case takes its grid from a map"
check "the index lists the grids" grep -q '^3,.*,u,u_00000003.asc,' out/index.csv
check "a grid is written where the map lies" test "$(head -6 out/u_00000000.asc | tr '\n' ' ')" = \
    "ncols 5 nrows 4 xllcorner 500000 yllcorner 4177000 cellsize 10 NODATA_value -9999 "
check "numbers are written as somebody would" cmp <(tail -4 out/u_00000000.asc) <(tail -4 map.asc)
try run map.yaml --on serial --quiet --output again --steps 0 --set 'fields={u: {file: out/u_00000003.asc}}'
check "what is written reads back as the same bits" cmp out/u_00000003.npy again/u_00000000.npy
try run map.yaml --on serial --quiet --output single --set precision=single
try run map.yaml --on serial --quiet --output back --steps 0 --set precision=single \
    --set 'fields={u: {file: single/u_00000003.asc}}'
check "also in single precision" cmp single/u_00000003.npy back/u_00000000.npy
try run map.yaml --on serial --quiet --output threads --set 'fields={u: {file: out/u_00000000.npy}}' --set 'grid={dx: 10, dy: 10}'
check "a field from a map is that of the same numbers" cmp out/u_00000003.npy threads/u_00000003.npy
check "without a map the south-west corner is at 0, 0" grep -q '^xllcorner 0$' threads/u_00000003.asc

try check map.yaml --set 'fields={u: {file: out/u_00000000.npy}}' --set 'grid={dx: 10, dy: 5}'
fails 2 "cells that are not square are refused" "output.formats: asc: needs square cells"
try check map.yaml --set 'output.formats=[kml]'
fails 2 "a problem without a footprint has none" "output.formats: kml" "no footprint"
try check map.yaml --set 'fields={u: {file: degrees.asc}}'
fails 2 "cells in degrees are not taken for metres" "degrees.asc" "0.01 wide" "look like degrees" "geographic: true"
try check map.yaml --set 'fields={u: {file: degrees.asc}}' --set grid.dx=0.01 --set time.dt=1e-10
exits 0 "unless the case says so"
sed 's/0.9/nine/' map.asc >broken.asc
try run map.yaml --on serial --quiet --output none --set 'fields={u: {file: broken.asc}}'
fails 2 "a broken grid is told with its line" "broken.asc: line 8: cell [1, 3] is 'nine', expected a number"

# GeoTIFF, through GDAL.
if [ -e "$(dirname "$STRAKE")/libstrake-gdal.so" ]; then
    try run map.yaml --on serial --quiet --output tif --set 'output.formats=[geotiff, npy, asc]' \
        --set 'fields={u: {file: map.asc, utm: {zone: 33, south: true}}}'
    exits 0 "a run writes GeoTIFF"
    check "the index lists it" grep -q '^3,.*,u,u_00000003.tif,' tif/index.csv
    try run map.yaml --on serial --quiet --output tifback --steps 0 --set 'fields={u: {file: tif/u_00000003.tif}}'
    check "what is written reads back as the same bits" cmp tif/u_00000003.npy tifback/u_00000000.npy
    check "at the same place" cmp tif/u_00000003.asc tifback/u_00000000.asc
    try run map.yaml --on serial --quiet --output single --set precision=single --set 'output.formats=[geotiff, npy]'
    try run map.yaml --on serial --quiet --output tifsingle --steps 0 --set precision=single \
        --set 'fields={u: {file: single/u_00000003.tif}}'
    check "also in single precision" cmp single/u_00000003.npy tifsingle/u_00000000.npy
    if command -v gdalinfo gdal_translate >/dev/null; then
        check "GDAL finds the zone of UTM" bash -c 'gdalinfo tif/u_00000003.tif | grep -q "UTM zone 33S"'
        check "GDAL finds the corner" bash -c \
            'gdalinfo tif/u_00000003.tif | grep -q "^Upper Left *( *500000.000, *4177040.000)"'
        try check map.yaml --set 'fields={u: {file: tif/u_00000003.tif, utm: {zone: 33}}}'
        fails 2 "another zone than the file's is told" "zone 33 south of UTM, not of 33 north"
        gdal_translate -q -a_nodata 0.9 tif/u_00000000.tif hole.tif
        try run map.yaml --on serial --quiet --output none --set 'fields={u: {file: hole.tif}}'
        fails 2 "a cell without a value is told" "hole.tif: cell [1, 3] has no value (NODATA)"
        gdal_translate -q -b 1 -b 1 tif/u_00000000.tif bands.tif
        try check map.yaml --set 'fields={u: {file: bands.tif}}'
        fails 2 "one band is expected" "bands.tif: has 2 bands, expected 1"
    else
        skip "what GDAL finds in a GeoTIFF" "no gdalinfo (Debian: gdal-bin)"
    fi
    head -c 200 tif/u_00000003.tif >cut.tif
    try check map.yaml --set 'fields={u: {file: cut.tif}}'
    fails 2 "a broken GeoTIFF is told" "cut.tif"
else
    try run map.yaml --on serial --quiet --output none --set 'output.formats=[geotiff]'
    fails 2 "without GDAL its package is named" "output.formats: geotiff" "libgdal-dev"
    printf 'II*\0junk' >cut.tif
    try check map.yaml --set 'fields={u: {file: cut.tif}}'
    fails 2 "also for a file that needs it" "cut.tif needs GDAL" "libgdal-dev"
fi

# NetCDF has coordinates of the map, east and north.
if [ -e "$(dirname "$STRAKE")/libstrake-netcdf.so" ] && command -v ncdump ncgen >/dev/null; then
    try run map.yaml --on serial --quiet --output nc --set 'output.formats=[netcdf, npy]'
    ncdump -p 9,17 nc/fields.nc >nc.txt
    check "x goes east along columns" grep -q ' x = 500005, 500015, 500025, 500035, 500045 ;' nc.txt
    check "y goes north along rows" grep -q ' y = 4177035, 4177025, 4177015, 4177005 ;' nc.txt
    check "fields have rows of y and columns of x" grep -q 'double u(time, y, x)' nc.txt
    check "readers are told" grep -q 'x:standard_name = "projection_x_coordinate"' nc.txt
    lacks "of a map that is not known no more is said" 'crs\|grid_mapping' nc.txt
    try run map.yaml --on serial --quiet --output ncback --steps 0 --set 'fields={u: {file: nc/fields.nc, index: 1}}' \
        --set output.formats=[npy]
    check "the field is read back" cmp nc/u_00000003.npy ncback/u_00000000.npy

    # Many programs write rows from south to north, and nothing but their coordinates tells.
    printf 'problem: lava\ngrid: {dx: 10, dy: 10}\ntime: {end: 1}\nvents: [{row: 0, col: 0, rate: 1}]\n' >rows.yaml
    for order in '0, 10' '10, 0'; do
        printf 'netcdf n { dimensions: y = 2; x = 3; variables: double y(y); y:units = "m"; float z(y, x); data: y = %s; z = 1, 2, 3, 4, 5, 6; }' \
            "$order" | ncgen -o "rows${order%%,*}.nc"
    done
    try check rows.yaml --set 'fields={terrain: {file: rows0.nc, variable: z}}'
    fails 2 "terrain that is upside down is refused" "rows of z go north (y is 0, 10, ...)" "gdal_translate"
    try check rows.yaml --set 'fields={terrain: {file: rows10.nc, variable: z}}'
    exits 0 "and is not the other way round"

    # Which map it is, after the CF conventions 1.8, 5.6 and appendix F: all numbers that define it.
    "$STRAKE" run map.yaml --on serial --quiet --output utm --set 'output={formats: [netcdf], netcdf: {format: netcdf4}}' \
        --set 'fields={u: {file: map.asc, utm: {zone: 33, south: true}}}'
    "$STRAKE" run map.yaml --on serial --quiet --output degrees --set 'output={formats: [netcdf], netcdf: {format: netcdf4}}' \
        --set 'fields={u: {file: degrees.asc, geographic: true}}' --set 'grid={dx: 900, dy: 900}'
    ncdump -h utm/fields.nc | tr -d '\t' >utm.txt
    ncdump -h degrees/fields.nc | tr -d '\t' >degrees.txt
    lacking=
    for line in 'u:grid_mapping = "crs"' 'crs:grid_mapping_name = "transverse_mercator"' 'crs:semi_major_axis = 6378137.' \
        'crs:inverse_flattening = 298.257223563' 'crs:longitude_of_central_meridian = 15.' 'crs:false_easting = 500000.' \
        'crs:latitude_of_projection_origin = 0.' 'crs:scale_factor_at_central_meridian = 0.9996' \
        'crs:false_northing = 10000000.' 'y:standard_name = "projection_y_coordinate"' 'y:units = "m"'; do
        grep -qxF "$line ;" utm.txt || lacking="$lacking $line"
    done
    for line in 'u:grid_mapping = "crs"' 'crs:grid_mapping_name = "latitude_longitude"' 'crs:semi_major_axis = 6378137.' \
        'crs:inverse_flattening = 298.257223563' 'crs:longitude_of_prime_meridian = 0.' 'x:standard_name = "longitude"' \
        'x:units = "degrees_east"' 'y:standard_name = "latitude"' 'y:units = "degrees_north"'; do
        grep -qxF "$line ;" degrees.txt || lacking="$lacking $line"
    done
    check "NetCDF says which map it is${lacking:+ (lacks$lacking)}" test -z "$lacking"
    if gdalinfo --formats 2>/dev/null | grep -q netCDF; then
        gdalinfo NETCDF:utm/fields.nc:u >utm.txt
        gdalinfo NETCDF:degrees/fields.nc:u >degrees.txt
        check "GDAL finds zone and corner" test "$(grep -c '^PROJCRS\["WGS 84 / UTM zone 33S"\|^Upper Left *( *500000.000, *4177040.000)' utm.txt)" -eq 2
        check "and degrees" test "$(grep -c '^GEOGCRS\["WGS 84"\|^Upper Left *( *14.5000000, *37.5400000)' degrees.txt)" -eq 2
    else
        skip "what GDAL finds in NetCDF" "no gdalinfo with NetCDF (Debian: gdal-bin)"
    fi
else
    skip "coordinates of NetCDF" "no module of NetCDF, or no ncdump (Debian: netcdf-bin)"
fi

# Who looks at them sees where they lie: east to the right, north up.
"$STRAKE" run map.yaml --on serial --quiet --output seen --set 'output.formats=[npy, vtk]'
check "run.json says where the grid lies" grep -q '"map": {"x": 500000, "y": 4177040, "cell": 10, "geographic": false}' seen/run.json
check "VTK has the coordinates of the map, rows from north to south" grep -q \
    'Origin="500005 4177035 0" Spacing="10 10 1" Direction="1 0 0 0 -1 0 0 0 1"' seen/fields_00000003.vti
axes='"axes": [{"name": "y (north) [m]", "first": 4177035, "spacing": -10}, {"name": "x (east) [m]", "first": 500005, "spacing": 10}]'
try view seen --html seen.html
check "a page has the coordinates of the map" grep -qF "$axes" seen.html
"$STRAKE" run map.yaml --on serial --quiet --output grids --set 'output.formats=[asc]'
try view grids --html grids.html
exits 0 "outputs that are grids of maps alone are viewed"
check "with the same coordinates" grep -qF "$axes" grids.html
try view map.asc
prints "so is any grid" "map.asc, 4 x 5: 0.1 to 0.9"
try compare map.asc map.asc
prints "and compared" "map.asc and map.asc are equal"
sed 's/0.9/0.8/' map.asc >other.asc
try compare map.asc other.asc
exits 1 "with another one, too"
prints "cell by cell" "first at [1, 3]: 0.90000000000000002 and 0.80000000000000004"
if [ -e "$(dirname "$STRAKE")/libstrake-cairo.so" ] && command -v python3 >/dev/null; then
    "$STRAKE" run map.yaml --on serial --quiet --output png --set 'output.formats=[npy, png]'
    "$STRAKE" view png --png view.png >/dev/null
    points() { python3 "$here/../support/outputs.py" png "$1" :points; }
    check "a run draws what strake view draws of its folder" test "$(points png/u_00000003.png)" = "$(points view.png)"
else
    skip "a run draws what strake view draws of its folder" "no cairo or no python3"
fi

# How well two flows cover the same cells.
head='ncols 4\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value -9999\n'
printf "${head}0 1 2 -9999\n0 0.1 0.11 3\n" >one.asc
printf "${head}-9999 1 0 -9999\n1 1 1 0.05\n" >two.asc
try compare one.asc two.asc --footprint
exits 0 "footprints are compared"
prints "e1 counts cells above the threshold" "e1 = 0.333333 of cells thicker than 0.1 m: 2 in both, 2 only in one.asc, 2 only in two.asc"
try compare one.asc two.asc --footprint --threshold 0.01
prints "the threshold is an option" "e1 = 0.666667" "4 in both, 1 only in one.asc, 1 only in two.asc"
try compare one.asc one.asc --footprint --threshold 5
fails 2 "nothing to compare is told" "neither one.asc nor one.asc has a cell thicker than 5 m"
sed 's/xllcorner 0/xllcorner 50/' two.asc >elsewhere.asc
try compare one.asc elsewhere.asc --footprint
fails 2 "another place is told" "one.asc and elsewhere.asc lie at different places" "x from 50 to 90" "the other x from 0 to 40"
"$STRAKE" run map.yaml --on serial --quiet --output plain --steps 0 --set 'fields={u: 0}' --set 'grid={rows: 3, cols: 3}'
try compare one.asc plain/u_00000000.npy --footprint
fails 2 "another shape is told, where there is no place" "one.asc has 2 x 4 cells, plain/u_00000000.npy 3 x 3"
printf 'ncols 8\nnrows 6\nxllcorner 0\nyllcorner -10\ncellsize 5\nNODATA_value -9999\n' >fine.asc
printf '%s\n' '0 0 1 1 1 1 0 0' '0 0 1 1 1 1 0 0' '0 0 0 0 1 1 1 1' '0 0 0 0 1 1 1 1' '1 1 0 0 0 0 0 0' '1 1 0 0 0 0 0 0' >>fine.asc
try compare one.asc fine.asc --footprint
prints "another extent and spacing are those of the first grid, and of its cells beyond it" "e1 = 0.800000" "4 in both, 0 only in one.asc, 1 only in fine.asc"
try compare fine.asc one.asc --footprint
prints "or those of the other one" "e1 = 0.800000" "16 in both, 4 only in fine.asc, 0 only in one.asc"
# In the polygon, whose hole has the middles of two cells, are 5 + 1 cells of the grid and 4 beyond it, less these 2.
echo '{"type": "Polygon", "coordinates": [[[10,0],[60,0],[60,20],[10,20],[10,0]], [[21,1],[39,1],[39,9],[21,9],[21,1]]]}' >polygon.json
try compare one.asc polygon.json --footprint
prints "polygons are the cells whose middles are in them" "e1 = 0.200000" "2 in both, 2 only in one.asc, 6 only in polygon.json"
try compare polygon.json one.asc --footprint
prints "whichever of the two they are" "e1 = 0.200000" "2 in both, 6 only in polygon.json, 2 only in one.asc"
echo '{"type": "Feature", "properties": {"lava \u00e9 \ud83c\udf0b \\ud8": "a\/b", "n": null}, "geometry": ' >text.json
{ cat polygon.json && echo '}'; } >>text.json
try compare one.asc text.json --footprint
prints "texts of JSON have escapes that YAML lacks" "e1 = 0.200000"
# Overlapping features are in once; a slope meets middles of cells on its right but not on its left.
echo '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [[[0,0],[20,0],[0,20],[0,0]]]}},
    {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [[[0,0],[10,0],[10,10],[0,10],[0,0]]]}}]}' >slope.json
try compare two.asc slope.json --footprint
prints "features that overlap are in once" "e1 = 0.250000" "1 in both, 3 only in two.asc, 0 only in slope.json"
try compare polygon.json polygon.json --footprint
fails 2 "two polygons have no cells" "both are polygons; expected the cells of a grid"
sed 's/60/1e300/' polygon.json >far.json
try compare one.asc far.json --footprint
fails 2 "a polygon without end is told" "far.json goes far beyond the grid of one.asc"
try compare out out --footprint
fails 2 "a folder without a flow is told" "out: its outputs have no field that makes a footprint"
try compare one.asc two.asc --threshold 1
fails 2 "a threshold is for footprints" "--threshold: goes with --footprint"

# Lava on a map: a set of SCIARA's files, whose headers say that 0 stands for no value.
head='ncols 24\r\nnrows 20\r\nxllcorner 500000\r\nyllcorner 4177000\r\ncellsize 10\r\nNODATA_value 0.0\r\n'
{ printf "$head"; awk 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 24; j++)
    printf "%s%s", i == 19 ? 0 : 190 - 10 * i, j == 23 ? "\r\n" : "\t" }'; } >sciara.stt
{ printf "$head"; awk 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 24; j++)
    printf "%s%s", i == 3 && (j == 5 || j == 17) ? (j == 5 ? 1 : 2) : "0.0", j == 23 ? "\r\n" : "\t" }'; } >vents.stt
printf '[TIME]\r\n300\r\n[VENT_ID]\r\n1\r\n[EMISSION_RATE]\r\n6\r\n2\r\n[VENT_ID] 2 [EMISSION_RATE] 4 [END]\r\n' >rates.txt
cat >lava.yaml <<'CASE'
problem: lava
time: {end: 900}
fields: {terrain: {file: sciara.stt, nodata: none, utm: {zone: 33}}}
vents: {grid: vents.stt, emission: rates.txt}
scheme: {crust: none}
output: {formats: [npy, asc, geojson, kml], fields: [thickness, solid]}
CASE
lava="run lava.yaml --on serial --quiet"
# shellcheck disable=SC2086
try $lava --output lava
exits 0 "lava runs from SCIARA's files"
volume=$(awk 'FNR > 6 { for (j = 1; j <= NF; j++) v += 100 * $j } END { printf "%.9f", v }' lava/thickness_*.asc lava/solid_*.asc)
check "as much lava lies there as the file of rates says" test "$volume" = 3600.000000000
cells=$(paste -d ' ' <(tail -n +7 lava/thickness_*.asc) <(tail -n +7 lava/solid_*.asc) |
    awk '{ for (j = 1; j <= 24; j++) n += $j + $(j + 24) > 0 } END { print n }')
check "the footprint has the cells with lava" grep -q "\"cells\": $cells, \"area_m2\": ${cells}00}" lava/footprint_*.geojson
check "in longitude and latitude, as RFC 7946 has them" grep -qE '\[15\.00[0-9]*, 37\.7[34][0-9]*\]' lava/footprint_*.geojson
lacks "and in no other system" '"crs"' lava/footprint_*.geojson
check "as KML it lies on Sicily" grep -qE '^15\.00[0-9]+,37\.7[34][0-9]+$' lava/footprint_*.kml
try compare lava lava --footprint
prints "a flow covers itself" "e1 = 1.000000"
{ printf "$head"; tail -n +7 lava/thickness_*.asc; } >flown.asc
try compare flown.asc flown.asc --footprint
prints "of a mapped flow a header that says 0 is none is no riddle" "e1 = 1.000000"
try view flown.asc --png flown.png
exits 0 "and it can be looked at"
for flow in geotiff:gdal netcdf:netcdf netcdf/fields.nc:netcdf; do
    module=libstrake-${flow#*:}.so flow=${flow%:*}
    if [ -e "$(dirname "$STRAKE")/$module" ]; then
        # shellcheck disable=SC2086
        "$STRAKE" $lava --output "${flow%/*}" --set "output={formats: [${flow%/*}], fields: [thickness, solid], every_seconds: 300}"
        try compare "$flow" lava --footprint --threshold 0
        prints "so do the last ones of $flow" "e1 = 1.000000" " $cells in both"
    else
        skip "so do the last ones of $flow" "no $module"
    fi
done
try compare lava lava/footprint_*.geojson --footprint --threshold 0
prints "so does its outline in longitude and latitude" "e1 = 1.000000" " $cells in both"
if [ -e "$(dirname "$STRAKE")/libstrake-gdal.so" ]; then
    try compare lava lava/footprint_*.kml --footprint --threshold 0
    prints "and that in KML" "e1 = 1.000000" " $cells in both"
else
    skip "and that in KML" "no module for GDAL here"
fi
sed 's/xllcorner 500000/xllcorner 500400/' "$(ls lava/thickness_*.asc)" >elsewhere.asc
try compare lava elsewhere.asc --footprint
fails 2 "the run says where its outputs lie" "lava and elsewhere.asc lie at different places"
try compare lava "$(ls lava/thickness_*.asc)" --footprint --threshold 0
check "fluid and solid make the footprint" test \
    "$(sed -E 's/.*m: ([0-9]+) in both, ([0-9]+) only in lava, 0 only.*/\1 \2/' .out | awk '$2 > 0 { print $1 + $2 }')" = "$cells"
# shellcheck disable=SC2086
try $lava --output none --set 'fields={terrain: {file: sciara.stt, utm: {zone: 33}}}'
fails 2 "0 in the terrain is a height or none" "cell [19, 0] holds 0" "nodata: none"
# shellcheck disable=SC2086
try $lava --output walls --set 'fields={terrain: {file: sciara.stt, nodata: 0}}' --set 'output={formats: [npy]}'
exits 0 "cells without a height are walls"
# shellcheck disable=SC2086
try $lava --output points --set 'vents=[{x: 500055, y: 4177165, rate: [[0, 6], [300, 2], [600, 0]]},
    {row: 3, col: 17, rate: [[0, 4], [300, 0]]}]'
check "the same vents on the map, and in the case, have the same bytes" bash -c \
    'cmp "$(ls lava/thickness_*.npy)" "$(ls points/thickness_*.npy)"'
try check lava.yaml --set 'vents=[{x: 500245, y: 4177165, rate: 6}]'
fails 2 "a vent outside of the map is told" "vents[0].x: 500245 is outside of the grid, which is from 500000 to 500240"
try check lava.yaml --set 'fields={terrain: {file: sciara.stt, nodata: none}}'
fails 2 "without a zone there is no KML" "output.formats: kml: needs longitudes and latitudes"
try check lava.yaml --set 'output={formats: [geojson], fields: [thickness]}'
fails 2 "a footprint is of fluid and solid" "add it to output.fields"
"$STRAKE" run lava.yaml --on serial --quiet --output shaped --set 'grid={rows: 20, cols: 24, dx: 10, dy: 10}' \
    --set 'fields={terrain: {constant: 5}}' --set 'vents=[{row: 3, col: 5, rate: 1}]' --set 'vents[0].rate=2' --set 'output.formats=[npy, asc]'
check "without a map lava lies on one whose south-west corner is 0, 0" grep -q '"map": {"x": 0, "y": 200, "cell": 10' shaped/run.json
check "an item of a list can be set" test "$(awk 'FNR > 6 { for (j = 1; j <= NF; j++) v += 100 * $j } END { printf "%.6f", v }' \
    shaped/thickness_*.asc shaped/solid_*.asc)" = 1800.000000
for case in event 2m jacksboro; do
    try check "$here/../../data/cases/lava-$case.yaml" --on serial
    exits 0 "lava-$case.yaml is valid"
done
done_testing
