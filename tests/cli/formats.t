#!/bin/bash
# Formats of outputs: the same values in all of them, read by a reader of the test's own (support/outputs.py); what is
# left when a run is killed, resumed or has no room; fields from NetCDF files; what is said where a library is missing.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
build=$(dirname "$STRAKE")
outputs="$here/../support/outputs.py"
run="run case.yaml --on serial --quiet"
formats='output.formats=[npy, netcdf, vtk]'
[ -e "$build/libstrake-netcdf.so" ] || formats='output.formats=[npy, vtk]'
values() { # values FILE.npy: what is in it, behind its header of 128 bytes
    tail -c +129 "$1"
}
name=psi

# shellcheck disable=SC2086
try $run --output all --set "$formats" --set output.every=8 --set output.initial=true --set 'output.fields=[psi, u1, h]'
exits 0 "a run writes several formats"
check "the index lists every file of every field" bash -c \
    '[ "$(grep -c "^8,.*,psi,fields_00000008.vti,[^,]*$" all/index.csv)" -eq 1 ] &&
     [ "$(grep -c "^8,.*,h,fields_00000008.vti,[^,]*$" all/index.csv)" -eq 1 ] &&
     [ "$(grep -c "^8,.*,u1,u1_00000008.vti,[^,]*$" all/index.csv)" -eq 1 ]'
# shellcheck disable=SC2086
try $run --output plain --set output.every=8 --set output.initial=true --set 'output.fields=[psi, u1, h]'
check "the .npy files are those of a run that writes nothing else" bash -c \
    'for f in plain/*.npy; do cmp "$f" "all/${f#*/}" || exit; done; [ "$(ls all/*.npy | wc -l)" -eq 12 ]'

if command -v python3 >/dev/null; then
    good=0
    for name in psi h; do
        for step in 00000000 00000016 00000020; do
            python3 "$outputs" vti all/fields_$step.vti $name | cmp -s - <(values all/${name}_$step.npy) || good=1
        done
    done
    python3 "$outputs" vti all/u1_00000008.vti u1 | cmp -s - <(values all/u1_00000008.npy) || good=1
    report $good "the values of .vti files are those of the .npy files"
else
    skip "the values of .vti files" "no python3"
fi
check "columns are VTK's first axis, rows its second" grep -aq \
    'ImageData WholeExtent="0 96 0 60 0 0" Origin="0 0 0" Spacing="1 1 1"' all/fields_00000008.vti
check "faces lie half a spacing before cells" grep -aq \
    'WholeExtent="0 96 0 61 0 0" Origin="0 -0.5 0"' all/u1_00000008.vti
check "a series has the times of its files" bash -c '[ "$(grep -c "<DataSet" all/fields.pvd)" -eq 4 ] &&
    grep -q "timestep=\"1.6000000000000001\" part=\"0\" file=\"fields_00000016.vti\"" all/fields.pvd'
# shellcheck disable=SC2086
try $run --output single --set output.formats=[vtk] --set precision=single
check "single precision stays single" grep -aq 'type="Float32" Name="psi"' single/fields_00000020.vti
check "without npy there are no .npy files" bash -c '! ls single/*.npy'
cat >cube.yaml <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 5, rows: 6, cols: 7, dz: 3, dx: 2, dy: 0.5}
time: {dt: 0.0001, steps: 2}
fields: {u: {random: {seed: 1, minimum: -1, maximum: 1}}}
CASE
try run cube.yaml --on serial --quiet --output cube --set "$formats"
check "planes are VTK's third axis" grep -aq \
    'WholeExtent="0 6 0 5 0 4" Origin="0 0 0" Spacing="0.5 2 3"' cube/fields_00000002.vti

# A run that goes on.
cp -r all resumed
rm resumed/*
# shellcheck disable=SC2086
try $run --output resumed --set "$formats" --set output.every=2 --set checkpoint.every=10 --steps 16
# shellcheck disable=SC2086
try $run --output resumed --set "$formats" --set output.every=2 --resume resumed/checkpoint.strake
exits 0 "a run goes on with its outputs"
# shellcheck disable=SC2086
try $run --output whole --set "$formats" --set output.every=2
check "the index and the series are those of a run that was not interrupted" bash -c \
    'cmp <(cut -d, -f1-4 whole/index.csv) <(cut -d, -f1-4 resumed/index.csv) && cmp whole/fields.pvd resumed/fields.pvd &&
     for f in whole/*.vti; do cmp "$f" "resumed/${f#*/}" || exit; done'
# shellcheck disable=SC2086
try $run --output all
check "the next run removes the outputs and series of an earlier one, whatever their format" \
    test "$(ls all | tr '\n' ' ')" = "index.csv psi_00000020.npy run.json "

if [ ! -e "$build/libstrake-netcdf.so" ]; then
    try run case.yaml --on serial --quiet --output none --set 'output.formats=[netcdf]'
    fails 2 "without NetCDF its package is named" "output.formats: netcdf" "libnetcdf-dev"
    check "and nothing is begun" test ! -e none
    try check case.yaml --on serial --set 'output.formats=[netcdf]'
    fails 2 "strake check tells it, too" "libnetcdf-dev"
    printf 'CDF\005' >winds.nc
    try run case.yaml --on serial --quiet --set 'fields.psi={file: winds.nc}'
    fails 2 "also where a field is in such a file" "winds.nc" "libnetcdf-dev"
    skip "NetCDF files" "built without NetCDF (libnetcdf-dev)"
    done_testing
fi

# --- NetCDF ------------------------------------------------------------------------------------------------------
check "the program starts without libnetcdf" sh -c '! ldd "$1" | grep -q netcdf' - "$STRAKE"
mkdir lone
cp "$STRAKE" lone/strake
code=0
lone/strake run case.yaml --on serial --quiet --output none --set 'output.formats=[netcdf]' >.out 2>.err || code=$?
fails 2 "a program without its module says where it looked" "NetCDF" "$PWD/lone" "LD_LIBRARY_PATH"
check "and begins nothing" test ! -e none
code=0
lone/strake check case.yaml --on serial --set 'output.formats=[netcdf]' >.out 2>.err || code=$?
fails 2 "strake check says so, too" "output.formats: netcdf"
for name in x y_face time step dx; do
    tracer=(--set "tracers=[q, $name]" --set "fields={q: 1, $name: 1, u1: 0.1, u2: 0.1}" --on serial)
    try run case.yaml --quiet --output taken --set 'output.formats=[npy, netcdf]' "${tracer[@]}"
    fails 2 "a field that is called as what NetCDF has beside the fields is told: $name" "netcdf" "field $name "
    try check case.yaml --set 'output.formats=[netcdf]' "${tracer[@]}"
    fails 2 "strake check tells it, too" "netcdf" "field $name "
    check "and nothing is begun" test ! -e taken
    try run case.yaml --quiet --output "npy-$name" "${tracer[@]}"
    exits 0 "other formats have such fields"
done
try run case.yaml --quiet --on serial --output z --set 'output.formats=[netcdf]' --set 'tracers=[z]' --set 'fields={z: 1, u1: 0.1, u2: 0.1}'
exits 0 "so have files without planes a field z"
name=psi

if command -v python3 >/dev/null; then
    good=0
    for k in $(seq 0 9); do
        step=$(printf %08d $((2 * k + 2)))
        python3 "$outputs" nc whole/fields.nc psi "$k" | cmp -s - <(values whole/psi_$step.npy) || good=1
    done
    [ "$(python3 "$outputs" nc whole/fields.nc)" = "10 0" ] || good=1
    report $good "the records have the values of the .npy files"
    good=0
    for name in time step x y dx psi; do
        records="0 7 9"
        [[ $name = [xyd]* ]] && records=0 # the same for all
        for k in $records; do
            cmp -s <(python3 "$outputs" nc whole/fields.nc $name $k) <(python3 "$outputs" nc resumed/fields.nc $name $k) || good=1
        done
    done
    report $good "a resumed run's file has the records of one that was not interrupted"
    check "the file has its case" cmp <(python3 "$outputs" nc whole/fields.nc :case) case.yaml
    check "and how it was made" bash -c 'python3 "$0" nc whole/fields.nc :history | grep -q "strake run case.yaml --on serial"' "$outputs"
    check "times are CF's" test "$(python3 "$outputs" nc whole/fields.nc time:units)" = "seconds since 2000-01-01 00:00:00"
    python3 "$outputs" nc cube/fields.nc u 0 | cmp -s - <(values cube/u_00000002.npy)
    report $? "in three dimensions, too"

    # Records later than the checkpoint go, also where the next outputs come at other steps.
    # shellcheck disable=SC2086
    try $run --output cut --set "$formats" --set output.every=2 --set checkpoint.every=10 --steps 19
    # shellcheck disable=SC2086
    try $run --output cut --set "$formats" --set output.every=5 --resume cut/checkpoint.strake
    python3 "$outputs" nc cut/fields.nc >.out
    prints "records later than the checkpoint are cut off" "7 0"
    python3 "$outputs" nc cut/fields.nc step 5 >a.step
    printf '\000\000\000\000\000\000\056\100' | cmp -s - a.step # 15
    report $? "and others follow"

    # Killed at any instant: whole records only, every complete output, and the run goes on from there.
    sed 's/rows: 61, cols: 97/rows: 150, cols: 200/' case.yaml >large.yaml
    large="run large.yaml --on serial --quiet --set output.every=1 --set output.formats=[netcdf] --set checkpoint.every=40"
    # shellcheck disable=SC2086
    "$STRAKE" $large --output reference --steps 160
    kills=$([ -n "${STRAKE_TESTS_LONG:-}" ] && echo 100 || echo 5)
    broken=0 none=0
    for k in $(seq "$kills"); do
        rm -rf killed
        # shellcheck disable=SC2086
        "$STRAKE" $large --output killed --steps 160 2>/dev/null &
        process=$!
        # Mostly among the outputs, now and then before the first one.
        while [ $((k % 10)) -ne 0 ] && [ ! -e killed/fields.nc ] && kill -0 $process 2>/dev/null; do sleep 0.01; done
        sleep "$(awk -v seed="$k$$" 'BEGIN { srand(seed); print 0.001 + 0.25 * rand() }')"
        kill -KILL $process 2>/dev/null
        wait $process 2>/dev/null
        listed=$([ ! -e killed/index.csv ] || tail -n 1 killed/index.csv | cut -d, -f1 | grep '^[0-9]')
        if [ ! -e killed/fields.nc ]; then
            none=$((none + 1))
            [ -z "$listed" ] || broken=$((broken + 1))
            continue
        fi
        read -r records lacks < <(python3 "$outputs" nc killed/fields.nc)
        same=0
        for r in 0 $((records / 2)) $((records - 1)); do
            [ "$records" -gt 0 ] || continue
            cmp -s <(python3 "$outputs" nc killed/fields.nc psi "$r") <(python3 "$outputs" nc reference/fields.nc psi "$r") || same=1
        done
        [ "$lacks" -eq 0 ] && [ "$same" -eq 0 ] && [ "$records" -ge "${listed:-0}" ] || broken=$((broken + 1))
        if [ -e killed/checkpoint.strake ]; then
            # shellcheck disable=SC2086
            "$STRAKE" $large --output killed --steps 160 --resume killed/checkpoint.strake 2>.err || broken=$((broken + 1))
            cmp -s <(python3 "$outputs" nc killed/fields.nc psi 159) <(python3 "$outputs" nc reference/fields.nc psi 159) ||
                broken=$((broken + 1))
            [ "$(python3 "$outputs" nc killed/fields.nc)" = "160 0" ] || broken=$((broken + 1))
        fi
    done
    echo "# $kills kills, $none of them before the file was there"
    [ "$broken" -eq 0 ] && [ "$none" -lt "$kills" ]
    report $? "after a kill there are whole records, all that the index lists, and the run goes on ($kills times)"
else
    skip "NetCDF files" "no python3"
fi

# The number of records follows the values to the disk.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    strace -f -e trace=pwrite64,write,fdatasync,openat -o trace "$STRAKE" run large.yaml --on serial --quiet \
        --output traced --set output.every=1 --set 'output.formats=[netcdf]' --steps 3 2>/dev/null
    # The first block of the file has the number; the one before it must be a flush.
    awk '/ write\([0-9]+, "CDF\\5/ || / pwrite64\([0-9]+, "CDF\\5/ {
            if (++counts > 2 && last != "flush") bad = 1
            match($0, /\([0-9]+,/); file = substr($0, RSTART, RLENGTH); last = "count"; next
        }
        / fdatasync\(/ { last = "flush" }
        / p?write(64)?\(/ && file != "" && index($0, file) { last = "values" }
        END { exit bad || counts < 5 }' trace
    report $? "values are flushed before the number of records is written"
else
    skip "values are flushed before the number of records is written" "no strace"
fi

try run case.yaml --on serial --quiet --output four --set "$formats" --set output.netcdf.format=netcdf4 --set output.every=10
exits 0 "netcdf4 can be asked for"
mkdir four-levels && cp four/fields.nc four-levels
try run case.yaml --on cpu --quiet --output read --steps 15 \
    --set 'fields.source_psi={series: {file: four-levels/fields.nc, variable: psi}}'
[ "$code" -eq 0 ] && [ ! -s "$scratch/.err" ]
report $? "its levels are read beside the steps, and HDF5 tells nobody what it looked for in vain"
check "it is HDF5" grep -aq "HDF" <(head -c 8 four/fields.nc)
try run case.yaml --on serial --quiet --output from --steps 0 --set 'fields.psi={file: four/fields.nc, index: 1}'
exits 0 "fields are read from it"
cmp -s from/psi_00000000.npy four/psi_00000020.npy
report $? "bit by bit"
try run case.yaml --on serial --quiet --output four --set "$formats" --set output.netcdf.format=netcdf4 --set output.every=2 \
    --set checkpoint.every=10 --steps 15
try run case.yaml --on serial --quiet --output four --set "$formats" --set output.netcdf.format=netcdf4 --set output.every=5 \
    --resume four/checkpoint.strake
exits 0 "a run goes on with it"
try run case.yaml --on serial --quiet --output from --steps 0 --set 'fields.psi={file: four/fields.nc, index: 6}'
cmp -s from/psi_00000000.npy whole/psi_00000020.npy
report $? "and cuts off what is later than its checkpoint"
try run case.yaml --on serial --quiet --output four --set "$formats" --resume four/checkpoint.strake
fails 2 "a file of the other format is not gone on with" "four/fields.nc" "output.netcdf.format"

levels=0
# --- fields from files ------------------------------------------------------------------------------------------
try run case.yaml --on serial --quiet --output from --steps 0 --set 'fields.psi={file: whole/fields.nc, variable: psi, index: 4}'
cmp -s from/psi_00000000.npy whole/psi_00000010.npy
report $? "a field is read from a record"
try check case.yaml --on serial --set 'fields.psi={file: whole/fields.nc}'
fails 2 "which record must be said" "fields.psi" "10 arrays along time" "\`index\`, 0 to 9"
try check case.yaml --on serial --set 'fields.psi={file: whole/fields.nc, index: 10}'
fails 2 "and be there" "no array 10 along time" "0 to 9"
try check case.yaml --on serial --set 'fields.psi={file: whole/fields.nc, variable: chi, index: 0}'
fails 2 "so must the variable" "no variable 'chi'" "time, step, x, dx, y, dy, psi"
# The times of its records, every 0.2 s, are no times of levels for a reader that does not know their unit.
mkdir timeless && sed 's/seconds since/somehow after/' whole/fields.nc >timeless/fields.nc
for source in '{file: whole/fields.nc, variable: psi, index: 1}' \
    '{series: {file: timeless/fields.nc, variable: psi, every: 1000}}' \
    '{series: {file: timeless/fields.nc, variable: psi, every: 0.1}}'; do
    try run case.yaml --on serial --quiet --output "levels$((++levels))" --steps 2 --set "fields.source_psi=$source"
done
series() { # series A B: the sources of two steps: record 1 twice, 0 twice, 0 and 1
    cmp -s "levels$1/psi_00000002.npy" "levels$2/psi_00000002.npy"
}
check "records are levels of a series" bash -c "$(declare -f series); ! series 1 2 && ! series 2 3 && ! series 1 3"
try run case.yaml --on serial --quiet --output levels4 --steps 2 \
    --set 'fields.source_psi={file: whole/fields.nc, variable: psi, index: 0}'
check "the first one from the beginning on" series 2 4
try check case.yaml --on serial --set 'fields.source_psi={series: {file: timeless/fields.nc, variable: psi, every: 0.1}}'
fails 2 "of which there are enough" "no array 19 along time" "level 19 of a series, which is that of 1.9 s"
try check case.yaml --on serial --set grid.rows=60 --set 'fields.psi={file: whole/fields.nc, index: 0}'
fails 2 "and its shape" "has shape [61, 97], expected [60, 97]"
try check case.yaml --on serial --set 'fields.psi={file: whole/psi_00000002.npy, index: 0}'
fails 2 "a .npy file has one array" "leave out"
printf '\211HDFnothing' >bad.nc
try check case.yaml --on serial --set 'fields.psi={file: bad.nc}'
fails 2 "a file that is none is told" "bad.nc" "NetCDF"
# Headers of the classic formats that libnetcdf does not survive: more than the file holds, and more than there is room for.
printf 'CDF\5\0\0\0\0\0\0\0\0\0\0\0\12\0\0\0\0\5\4\0\0\0\0\0\0\0\0\0\0' >bad.nc
try check case.yaml --on serial --set 'fields.psi={file: bad.nc}'
fails 2 "a header that counts more dimensions than there can be" "bad.nc: its header counts 84148224 dimensions" "32 bytes"
{ printf 'CDF\1\0\0\0\0\0\0\0\12\0\0\0\1\0\0\23\210' && head -c 5000 /dev/zero | tr '\0' a && printf '\0\0\0\3%016d' 0 | tr 0 '\0'; } >bad.nc
try check case.yaml --on serial --set 'fields.psi={file: bad.nc}'
fails 2 "a name that is too long" "counts 5000 characters of a name" "no more than 256"
{
    printf 'CDF\1\0\0\0\0\0\0\0\12\0\0\0\1\0\0\0\1x\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\13\0\0\0\1\0\0\0\1v\0\0\0\0\0\47\20'
    head -c 40000 /dev/zero && printf '\0\0\0\0\0\0\0\0\0\0\0\6\0\0\0\10\0\0\234\260\0\0\0\0\0\0\0\0'
} >bad.nc
try check case.yaml --on serial --set 'fields.psi={file: bad.nc}'
fails 2 "more dimensions than a variable has" "counts 10000 dimensions of a variable" "no more than 1024"
head -c 200 whole/fields.nc >bad.nc
try check case.yaml --on serial --set 'fields.psi={file: bad.nc}'
fails 2 "a header that is cut off" "bad.nc: its header" "200"
if command -v ncgen >/dev/null; then
    cat >winds.cdl <<'CDL'
netcdf winds {
dimensions: t = 2 ; i = 2 ; j = 3 ;
variables: short u(t, i, j) ; u:scale_factor = 0.5 ; u:add_offset = 1. ; u:_FillValue = -9s ;
data: u = 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, -9, 5 ;
}
CDL
    ncgen -o winds.nc winds.cdl
    small='--set grid.rows=2 --set grid.cols=3'
    # shellcheck disable=SC2086
    try run case.yaml --on serial --quiet --output packed --steps 0 $small --set 'fields.psi={file: winds.nc, variable: u, index: 0}'
    tail -c 48 packed/psi_00000000.npy | od -An -tf8 | tr -s ' \n' ' ' >.out
    prints "packed numbers are unpacked" " 1 1.5 2 2.5 3 3.5 "
    # shellcheck disable=SC2086
    try run case.yaml --on serial --quiet --steps 0 $small --set 'fields.psi={file: winds.nc, variable: u, index: 1}'
    fails 2 "missing values are refused, with their place" "winds.nc" "no value at [1, 1]"
    # What xarray writes by default: NaN is the fill value of every variable of floats.
    cat >nan.cdl <<'CDL'
netcdf nan {
dimensions: i = 2 ; j = 3 ;
variables: float f(i, j) ; f:_FillValue = NaNf ; double d(i, j) ; d:missing_value = NaN ;
  float hole(i, j) ; hole:_FillValue = NaNf ; float both(i, j) ; both:_FillValue = NaNf ; both:missing_value = -9.f ;
data: f = 1, 2, 3, 4, 5, 6 ; d = 1, 2, 3, 4, 5, 6 ; hole = 1, 2, 3, 4, NaN, 6 ; both = 1, 2, 3, 4, 5, -9 ;
}
CDL
    ncgen -o nan.nc nan.cdl
    for variable in f d; do
        # shellcheck disable=SC2086
        try run case.yaml --on serial --quiet --output "nan-$variable" --steps 0 $small --set "fields.psi={file: nan.nc, variable: $variable}"
        tail -c 48 "nan-$variable/psi_00000000.npy" | od -An -tf8 | tr -s ' \n' ' ' >.out
        prints "a fill value of NaN marks NaNs alone ($variable)" " 1 2 3 4 5 6 "
    done
    # shellcheck disable=SC2086
    try run case.yaml --on serial --quiet --steps 0 $small --set 'fields.psi={file: nan.nc, variable: hole}'
    fails 2 "which are refused, with their place" "nan.nc" "no value at [1, 1]"
    # shellcheck disable=SC2086
    try run case.yaml --on serial --quiet --steps 0 $small --set 'fields.psi={file: nan.nc, variable: both}'
    fails 2 "and so is a second number for missing values" "nan.nc" "no value at [1, 2]"
else
    skip "packed and missing values" "no ncgen (netcdf-bin)"
fi

# --- no room --------------------------------------------------------------------------------------------------------
for kind in cdf5 netcdf4; do
    code=0
    (
        ulimit -f 300
        exec "$STRAKE" run case.yaml --on serial --quiet --output "small-$kind" --set 'output.formats=[netcdf]' \
            --set output.netcdf.format=$kind --set output.every=1 >.out 2>.err </dev/null
    ) || code=$?
    fails 1 "a $kind file that becomes too large ends the run with one message" "small-$kind/fields.nc" "largest size"
done
if command -v python3 >/dev/null; then
    read -r records lacks < <(python3 "$outputs" nc small-cdf5/fields.nc)
    [ "$records" -ge 3 ] && [ "$lacks" -eq 0 ] && [ "$(stat -c %s small-cdf5/fields.nc)" -le $((300 * 1024)) ] &&
        cmp -s <(python3 "$outputs" nc small-cdf5/fields.nc psi 1) <(values whole/psi_00000002.npy)
    report $? "and keeps the complete records"
fi
done_testing
