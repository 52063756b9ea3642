#!/bin/bash
# Usage: bash tests/fuzz/seeds.sh PROGRAM FOLDER
# Makes what the targets of `make fuzz` begin with, from what the repository has and the program writes:
# FOLDER/case, npy, checkpoint, tuned, model, asc, stl, vtk, netcdf, geotiff (the last two with their modules only).
set -eu
program=$(realpath "$1")
mkdir -p "$2"/{case,npy,checkpoint,tuned,model,asc,stl,vtk,netcdf,geotiff}
out=$(realpath "$2")
cd "$(dirname "$0")/../.."
for file in data/cases/*.yaml tests/cases_bad/*.yaml; do
    # One that is too large to be read at all teaches nothing.
    [ "$(wc -c <"$file")" -gt 20000 ] || cp "$file" "$out/case/"
done
printf 'problem: mpdata2d\ngrid: {rows: 8, cols: 9}\ntime: {steps: 1}\nfields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n--set\ngrid.rows=9\nrun.shares=[1, 2]\noutput.fields=[psi]\n' \
    >"$out/case/sets.yaml"
cp tests/cases_bad/*.npy "$out/npy/"
cp tests/fuzz/tuned.yaml "$out/tuned/"
grid='ncols 3\nnrows 2\nxllcorner 500000.5\nyllcorner 4177000\ncellsize 10\nNODATA_value -9999\n1 2.5 -9999\n4e2 nan 6\n'
printf "f$grid" >"$out/asc/corner.asc"
printf "g$grid" | sed 's/corner/CENTER/; s/$/\r/; s/ /\t/g' >"$out/asc/center.asc"
printf 'hNROWS 1\nNCOLS 1\nxllcenter 0\nyllcenter 0\ncellsize .5\nnodata_value 0.0\n0' >"$out/asc/zero.asc"
printf '{"strake": "0.1.0", "format": 4,\n "paths": {}, "active": {}, "overlap": {}, "launch": {}}\n' >"$out/model/plain.yaml"
for precision in double single; do
    "$program" run "$out/case/sets.yaml" --on serial --quiet --output "$out/run" --set precision=$precision \
        --set checkpoint.every=1 2>/dev/null || sed '/^--set/,$d' "$out/case/sets.yaml" >"$out/plain.yaml"
    [ ! -f "$out/plain.yaml" ] || "$program" run "$out/plain.yaml" --on serial --quiet --output "$out/run" \
        --set precision=$precision --set checkpoint.every=1
    cp "$out/run/checkpoint.strake" "$out/checkpoint/$precision.strake"
    cp "$out"/run/psi_00000001.npy "$out/npy/$precision.npy"
done
# A model as the program stores it, where there is a device to measure.
if "$program" model --on ocl:0 --budget 2 --cache "$out/cache" --quiet >/dev/null 2>&1; then
    cp "$out"/cache/model-*.yaml "$out/model/"
fi

# A tetrahedron as text, as binary records (a normal, corners, two bytes more), and with numbers of other forms.
corners=('0 0 0' '0 .5 0' '.5 0 0' '0 0 0' '.5 0 0' '0 0 .5' '0 0 0' '0 0 .5' '0 .5 0' '.5 0 0' '0 .5 0' '0 0 .5')
{
    echo 'solid vertex of a name'
    for t in 0 3 6 9; do
        printf 'facet normal 0 0 0\n outer loop\n  vertex %s\n  vertex %s\n  vertex %s\n endloop\nendfacet\n' "${corners[@]:t:3}"
    done
    echo 'endsolid vertex of a name'
} >"$out/stl/text.stl"
sed 's/ \.5/ 5.0E-1/; s/$/\r/' "$out/stl/text.stl" >"$out/stl/numbers.stl"
{
    printf '%80s\004\0\0\0' binary
    for t in 0 3 6 9; do
        printf '\0\0\0\0\0\0\0\0\0\0\0\0'
        # shellcheck disable=SC2086 # words on purpose
        for x in ${corners[*]:t:3}; do
            if [ "$x" = 0 ]; then printf '\0\0\0\0'; else printf '\0\0\0\077'; fi
        done
        printf '\0\0'
    done
} >"$out/stl/binary.stl"

# Particles: legacy files, and the program's own.
legacy='# vtk DataFile Version 3.0\nparticles\n%s\nDATASET POLYDATA\nPOINTS 2 float\n'
{
    # shellcheck disable=SC2059 # a format
    printf "$legacy" ASCII
    printf '.25 0 .25\n.35 0 .25\nVERTICES 2 4\n1 0\n1 1\nPOINT_DATA 2\nVECTORS velocity float\n1 0 0\n0 0 1e-1\n'
    printf 'SCALARS density double\nLOOKUP_TABLE default\n1000\n1001\nFIELD more 1\nkind 1 2 int\n0 0\n'
} >"$out/vtk/text.vtk"
{
    # shellcheck disable=SC2059
    printf "$legacy" BINARY
    printf '\076\200\0\0\0\0\0\0\076\200\0\0\077\0\0\0\0\0\0\0\076\200\0\0\nPOINT_DATA 2\nVECTORS velocity float\n'
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\n'
} >"$out/vtk/binary.vtk"
# Values before there are points, which were read beyond their end.
{
    printf '# vtk DataFile Version 3.0\nparticles\nASCII\nDATASET POLYDATA\nSCALARS density double\nLOOKUP_TABLE default\n'
    printf 'POINTS 3 float\n.2 0 .2\n.4 0 .4\n.6 0 .6\n'
} >"$out/vtk/before.vtk"
printf 'problem: sph2d\nscene: {spacing: 0.1, to: [1, 1], fluid: [{box: {from: [0.2, 0.2], to: [0.5, 0.5]}}]}\ntime: {end: 0.001}\n' \
    >"$out/plain.yaml"
for precision in double single; do
    "$program" run "$out/plain.yaml" --on serial --quiet --output "$out/vtp" --set precision=$precision \
        --set 'output.formats=[vtp]'
    cp "$out"/vtp/particles_*.vtp "$out/vtk/$precision.vtp"
done

# Files that need a module.
tail -c +2 "$out/asc/corner.asc" | sed 's/nan/5/; s/2.5 -9999/2.5 7/' >"$out/map.asc"
printf 'problem: cahn_hilliard2d\ntime: {dt: 1e-6, steps: 2}\nfields: {u: {file: map.asc, utm: {zone: 10}}}\noutput: {every: 1}\n' \
    >"$out/plain.yaml"
for format in netcdf geotiff; do
    "$program" run "$out/plain.yaml" --on serial --quiet --output "$out/maps" --set "output.formats=[$format]"  || continue
    case $format in
        netcdf) cp "$out/maps/fields.nc" "$out/netcdf/" ;;
        geotiff) cp "$out"/maps/u_00000002.tif "$out/geotiff/" ;;
    esac
done
# A header that counts more records than there can be: reading them all took minutes.
if [ -f "$out/netcdf/fields.nc" ]; then
    { head -c 4 "$out/netcdf/fields.nc" && printf '\0\0\0\0\177\0\0\0' && tail -c +13 "$out/netcdf/fields.nc"; } >"$out/netcdf/records.nc"
fi
# One that counts more dimensions than there can be: libnetcdf read address 0 where it had no memory for them.
printf 'CDF\5\0\0\0\0\0\0\0\0\0\0\0\12\0\0\0\0\5\4\0\0\0\0\0\0\0\0\0\0' >"$out/netcdf/dimensions.nc"
rm -rf "$out/run" "$out/cache" "$out/plain.yaml" "$out/map.asc" "$out/vtp" "$out/maps"
