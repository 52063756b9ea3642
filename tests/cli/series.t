#!/bin/bash
# Fields and winds from files as atmospheric centres write them: time and level before the grid, latitudes that descend,
# winds at the centres of cells; what outputs tell of their axes. The files are made by ncgen.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
build=$(dirname "$STRAKE")
if [ ! -e "$build/libstrake-netcdf.so" ] || ! command -v ncgen >/dev/null || ! command -v ncdump >/dev/null; then
    skip "winds from files" "no NetCDF module or no ncgen and ncdump (netcdf-bin)"
    done_testing
    exit
fi

cells() { # cells SALT COUNT: numbers, no two rows alike, of 4 rows that go south
    awk -v salt="$1" -v count="$2" 'BEGIN { for (k = 0; k < count; k++)
        printf "%s%.3f", (k ? ", " : ""), ((k * 37 + salt * 11) % 89) / 1000 + 0.1 * int(k / 6) % 4 }'
}
make_file() { # make_file NAME TIMES: 3 times, 2 levels, 4 latitudes, 6 longitudes
    cat >file.cdl <<CDL
netcdf file {
dimensions: time = UNLIMITED; level = 2; latitude = 4; longitude = 6;
variables:
  int time(time); time:units = "hours since 1900-01-01 00:00:00.0"; time:calendar = "gregorian";
  int level(level); level:units = "hPa";
  float latitude(latitude); latitude:units = "degrees_north";
  float longitude(longitude); longitude:units = "degrees_east";
  double q(time, level, latitude, longitude);
  double u(time, level, latitude, longitude);
  double v(time, level, latitude, longitude);
data:
  time = $2;
  level = 500, 850;
  latitude = 45, 15, -15, -45;
  longitude = 0, 60, 120, 180, 240, 300;
  q = $(cells 1 144);
  u = $(cells 2 144);
  v = $(cells 3 144);
}
CDL
    ncgen -o "$1" file.cdl
}
make_file winds.nc "1104504, 1104510, 1104516"
make_file uneven.nc "1104504, 1104510, 1104522"
# The same, cut and turned by hand: one level, rows that go north, no coordinates.
sed -e 's/level = 2; //; s/level, //; /int level/d; /^  level = /d; /float l/d; /^  latitude = /d; /^  longitude = /d' \
    -e '/int time/d; /^  time = /d' file.cdl >plain.head
for name in q u v; do
    ncdump -v $name -p 9,17 winds.nc | sed -n "/^ $name =/,\$p" | tail -n +2 | tr -d ' \n};' | tr , '\n' |
        awk -v name=$name '{ x[NR - 1] = $1 } END { printf "  %s = ", name
            for (t = 0; t < 3; t++) for (i = 3; i >= 0; i--) for (j = 0; j < 6; j++)
                printf "%s%s", (t + (3 - i) + j ? ", " : ""), x[t * 48 + 24 + i * 6 + j]
            print ";" }' >"plain.$name"
done
sed -i '/^  [quv] = /d; /^}/d' plain.head
cat plain.head plain.q plain.u plain.v >plain.cdl && echo "}" >>plain.cdl
ncgen -o plain.nc plain.cdl

cat >case.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 4, cols: 6, dx: 40000, dy: 40000}
time: {dt: 3600, steps: 11}
boundary: {rows: open, cols: periodic}
fields:
  psi: {file: winds.nc, variable: q, index: 0, level: 850}
  u1: {series: {file: winds.nc, variable: v, level: 850, interpolate: linear, as: velocity, at: cells}}
  u2: {series: {file: winds.nc, variable: u, level: 850, interpolate: linear, as: velocity, at: cells}}
CASE
cat >plain.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 4, cols: 6, dx: 40000, dy: 40000}
time: {dt: 3600, steps: 11}
boundary: {rows: open, cols: periodic}
fields:
  psi: {file: plain.nc, variable: q, index: 0}
  u1: {series: {file: plain.nc, variable: v, every: 21600, interpolate: linear, as: velocity, at: cells}}
  u2: {series: {file: plain.nc, variable: u, every: 21600, interpolate: linear, as: velocity, at: cells}}
CASE
try run case.yaml --on serial --output file
exits 0 "winds of one level of a file run"
check "it is said once that rows are turned" [ "$(grep -c 'note: latitudes of winds.nc go south' .err)" -eq 1 ]
try run case.yaml --on serial --quiet --output start --steps 0
try run plain.yaml --on serial --quiet --output plain
exits 0 "and those of a file that was cut and turned before"
check "bit by bit the same" cmp file/psi_00000011.npy plain/psi_00000011.npy
check "which is not what it began with" sh -c '! cmp -s file/psi_00000011.npy start/psi_00000000.npy'
for where in cpu ocl:0 cpu,ocl:0; do
    "$STRAKE" devices 2>/dev/null | grep -q 'ocl:0' || [ $where = cpu ] || continue
    try run case.yaml --on $where --quiet --output "on"
    check "on $where, too" cmp on/psi_00000011.npy plain/psi_00000011.npy
done
try run case.yaml --on cpu --quiet --output again --steps 5 --set checkpoint.every=5
try run case.yaml --on cpu --quiet --output again --resume again/checkpoint.strake
check "and after a restart" cmp again/psi_00000011.npy plain/psi_00000011.npy
try run case.yaml --on serial --quiet --output other --set 'fields.psi.index=[0, 1]' --set fields.psi.level=850
fails 2 "what chooses twice is refused" "fields.psi" "2 dimensions before the grid's"
try run case.yaml --on serial --quiet --output other --set 'fields.psi={file: winds.nc, variable: q, index: [0, 1]}'
check "numbers choose, too" cmp other/psi_00000011.npy plain/psi_00000011.npy
try run case.yaml --on serial --quiet --output other --set 'fields.u1.series.index=1'
fails 2 "one of two" "fields.u1" "beside \`level\`"

# --- what does not fit ------------------------------------------------------------------------------------------------
try check case.yaml --on serial --set fields.u1.series.every=3600
fails 2 "another interval than that of the file" "every is 3600 s" "are 21600 s apart" "hours since 1900"
try check case.yaml --on serial --set fields.u1.series.every=21600
exits 0 "the same is none"
try check case.yaml --on serial --set fields.u1.series.file=uneven.nc
fails 2 "levels that are not evenly apart" "uneven.nc are not" "1104522"
try check plain.yaml --on serial --set 'fields.u1={series: {file: plain.nc, variable: v}}'
fails 2 "no interval, and no times" "'every' is missing" "plain.nc"
try check case.yaml --on serial --set fields.psi.level=700
fails 2 "a level that is not there" "level 700" "expected one of 500, 850 hPa"
try check case.yaml --on serial --set 'fields.psi={file: winds.nc, variable: q, index: 0}'
fails 2 "no level" "2 arrays along level" "\`index\`, 0 to 1"
try check case.yaml --on serial --set fields.u1.series.at=faces
fails 2 "winds of cells at an open edge" "\`at: cells\`"
try check case.yaml --on serial --set fields.psi.at=cells
fails 2 "at: cells of what lies on cells" "fields.psi.at" "fields on faces"
# Around the earth both places have the same shape: the coordinate tells them apart.
told="is read as winds on the faces of cells, but its file gives them the coordinate longitude"
try check case.yaml --on serial
check "winds at cells that are said to be so are not doubted" sh -c '[ -s .out ] && ! grep -q "read as winds on the faces" .err'
sed '/  u2:/s/, at: cells//' case.yaml >doubtful.yaml
try check doubtful.yaml --on serial
exits 0 "winds with the coordinate of cells that are taken as those of faces are allowed"
check "and doubted once" test "$(grep -c "fields.u2 $told.*at: cells" .err)" -eq 1
try run case.yaml --on serial --output late --set fields.psi.index=1
check "fields of another time than the winds are said" grep -q "begins at 2026-01-01 06:00:00, and other files at 2026-01-01 00:00:00" .err

sed 's/latitude = 45, 15/latitude = _, 15/; s/^netcdf file/netcdf holes/' file.cdl >holes.cdl && ncgen -o holes.nc holes.cdl
try check case.yaml --on serial --set fields.u1.series.file=holes.nc
fails 2 "latitudes without values" "latitude has no values" "which way the rows of v go"

# --- outputs --------------------------------------------------------------------------------------------------------
try run case.yaml --on serial --quiet --output nc --set 'output={formats: [netcdf], fields: [psi, u1], initial: true, every: 11}'
ncdump nc/fields.nc >nc.cdl
check "outputs have the date of the first level" grep -q 'time:units = "seconds since 2026-01-01 00:00:00"' nc.cdl
check "and its calendar" grep -q 'time:calendar = "gregorian"' nc.cdl
check "latitudes ascend, as rows do" grep -q '^ latitude = -45, -15, 15, 45 ;' nc.cdl
check "faces lie between them" grep -q '^ latitude_face = -60, -30, 0, 30, 60 ;' nc.cdl
check "longitudes stay" grep -q '^ longitude = 0, 60, 120, 180, 240, 300 ;' nc.cdl
check "fields lie on them" grep -q 'double psi(time, latitude, longitude) ;' nc.cdl
try run case.yaml --on serial --quiet --output onward --steps 0 --set 'fields.psi={file: nc/fields.nc, index: 1}'
check "they are read as they were written" cmp onward/psi_00000000.npy plain/psi_00000011.npy
# What a sphere cannot have: columns that go west, rows at the poles themselves.
sed 's/^  longitude = .*/  longitude = 300, 240, 180, 120, 60, 0;/' file.cdl >west.cdl
ncgen -o west.nc west.cdl
sed 's/^  latitude = .*/  latitude = 90, 30, -30, -90;/' file.cdl >poles.cdl
ncgen -o poles.nc poles.cdl
try check case.yaml --on serial --set 'fields.psi={file: west.nc, variable: q, level: 850, index: 0}'
fails 2 "longitudes that go west are refused" "west.nc go west, from 300 to 240" "sortby('longitude')"
poles=(--set 'fields={psi: {file: poles.nc, variable: q, level: 850, index: 0}, u1: 0, u2: 0}')
try check case.yaml --on serial "${poles[@]}" --set boundary.rows=polar
fails 2 "so are rows at the poles of a polar grid" "poles.nc reach from -90 to 90" "boundary.rows: polar"
try check case.yaml --on serial "${poles[@]}"
exits 0 "which another boundary may have"

done_testing
