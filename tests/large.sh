#!/bin/bash
# Usage: bash tests/large.sh PROGRAM FOLDER
# Fields of more than 4 GiB in one file: written as .npy, NetCDF and VTK, whose last values must be the same, and read
# again from .npy and NetCDF. Needs 16 GiB of memory and 20 GiB in FOLDER, and python3.
set -eu
program=$(realpath "$1")
outputs=$(realpath "$(dirname "$0")/support/outputs.py")
work=$(mktemp -d "$2/strake-large.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
side=24000 # squared times 8 bytes: 4.3 GiB
tail=4096  # values that are compared
formats=[npy,vtk]
[ ! -e "$(dirname "$program")/libstrake-netcdf.so" ] || formats=[npy,netcdf,vtk]
cat >case.yaml <<CASE
problem: mpdata2d
grid: {rows: $side, cols: $side}
time: {steps: 0}
fields: {psi: {random: {seed: 1, minimum: 0, maximum: 1}}, u1: {constant: 0.2}, u2: {constant: 0.1}, h: {constant: 1}}
CASE
"$program" run case.yaml --on cpu --quiet --output out --set "output.formats=$formats"
ls -l out
npy=out/psi_00000000.npy
[ "$(stat -c %s $npy)" -eq $((128 + 8 * side * side)) ]
echo 'large: the .npy file has all its values'
tail -c $((8 * tail)) $npy >last
end=$(printf '\n  </AppendedData>\n</VTKFile>\n' | wc -c)
tail -c $((8 * tail + end)) out/fields_00000000.vti | head -c $((8 * tail)) | cmp - last
python3 - out/fields_00000000.vti $((8 * side * side)) <<'PY'
import re, struct, sys
file = open(sys.argv[1], "rb")
head = file.read(4096)
start = head.index(b"_", head.index(b"<AppendedData")) + 1
assert struct.unpack_from("<Q", head, start)[0] == int(sys.argv[2])
PY
echo 'large: the .vti file has the same last values, and their length in 64 bits'
"$program" run case.yaml --on cpu --quiet --output again --set "fields.psi={file: $npy}"
cmp again/psi_00000000.npy $npy
rm -r again out/fields_00000000.vti
echo 'large: read again from .npy they are the same'
[ -e out/fields.nc ] || exit 0
python3 "$outputs" nc out/fields.nc psi 0 $((side * side - tail)) $tail | cmp - last
[ "$(python3 "$outputs" nc out/fields.nc)" = "1 0" ]
echo 'large: the NetCDF file has the same last values'
"$program" run case.yaml --on cpu --quiet --output again --set 'fields.psi={file: out/fields.nc}'
cmp again/psi_00000000.npy $npy
echo 'large: read again from NetCDF they are the same'
