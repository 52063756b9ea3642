#!/bin/bash
# strake compare: equal, different, within a tolerance, unreadable.
. "$(dirname "$0")/tap.bash"

npy() { # npy FILE TYPE SHAPE BYTES(octal escapes): writes a small array
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header" >"$1"
    # shellcheck disable=SC2059
    printf "$4" >>"$1"
}
one='\000\000\000\000\000\000\360\077'   # 1
next='\001\000\000\000\000\000\360\077'  # 1 + 2^-52
two='\000\000\000\000\000\000\000\100'   # 2
zero='\000\000\000\000\000\000\000\000'
minus='\000\000\000\000\000\000\000\200' # -0
nan='\000\000\000\000\000\000\370\177'
other='\001\000\000\000\000\000\370\177' # another NaN
inf='\000\000\000\000\000\000\360\177'

npy a.npy '<f8' '2, 2' "$one$two$zero$nan"
npy same.npy '<f8' '2, 2' "$one$two$zero$nan"
npy ulp.npy '<f8' '2, 2' "$one$two$zero$nan"
npy b.npy '<f8' '2, 2' "$one$two$one$nan"
npy ulp.npy '<f8' '2, 2' "$next$two$zero$nan"
npy minus.npy '<f8' '2, 2' "$one$two$minus$nan"
npy other.npy '<f8' '2, 2' "$one$two$zero$other"
npy inf.npy '<f8' '2, 2' "$one$inf$zero$nan"
npy flat.npy '<f8' '4,' "$one$two$zero$nan"
npy single.npy '<f4' '2, 2' '\000\000\200\077\000\000\000\100\000\000\000\000\000\000\300\177'

try compare a.npy same.npy
exits 0 "equal files"
prints "say so" "are equal"
try compare a.npy b.npy
exits 1 "different files"
prints "differences are described" "1 of 4 values differ" "max absolute difference  1 at [1, 0]" \
    "max relative difference  1" "first at [1, 0]: 0 and 1"
try compare a.npy ulp.npy
exits 1 "one unit in the last place is a difference"
prints "of 1 ulp" "in ulp    1" "2.2204460492503131e-16"
try compare a.npy ulp.npy --tolerance 1e-15
exits 0 "unless a tolerance allows it"
try compare a.npy b.npy --tolerance 1
exits 0 "a tolerance is inclusive"
try compare a.npy b.npy --tolerance 0.999
exits 1 "a tolerance can be exceeded"
prints "which is said" "beyond the tolerance"
try compare a.npy minus.npy
exits 1 "signed zeros differ bitwise"
try compare a.npy minus.npy --tolerance 1e-300
exits 0 "signed zeros agree within a tolerance"
try compare a.npy other.npy
exits 1 "two kinds of NaN differ bitwise"
try compare a.npy other.npy --tolerance 1e-300
exits 0 "two NaN agree within a tolerance"
try compare a.npy inf.npy --tolerance 1e300
exits 1 "infinity is beyond every tolerance"
try compare a.npy flat.npy
exits 1 "another shape is a difference"
prints "which is named" "shapes differ" "[2, 2]" "[4]"
try compare a.npy single.npy
exits 1 "another type is a difference"
try compare a.npy single.npy --tolerance 1e-6
exits 0 "types may differ within a tolerance"

mkdir x y
cp a.npy b.npy x
cp a.npy b.npy y
try compare x y
exits 0 "equal folders"
prints "are counted" "2 of 2 files are equal"
cp ulp.npy y/b.npy
try compare x y
exits 1 "a different file in a folder"
prints "is named" "b.npy: 2 of 4 values differ" "1 of 2 files are equal"
rm y/b.npy
try compare x y
exits 1 "a missing file is a difference"
prints "and named" "b.npy: only in x"
try compare y x
prints "on either side" "b.npy: only in x"
# Of outputs without arrays bytes are compared, of tables with a tolerance numbers; pictures and what tells of files are not.
cp b.npy y/b.npy
printf 'step,time,wall\n0,0,1.5\n1,0.1,nan\n' | tee x/probes.csv >y/probes.csv
printf 'one' | tee x/particles_00000001.vtp >y/particles_00000001.vtp
echo one >x/index.csv && echo two >y/index.csv && cp x/index.csv x/psi.png && echo >y/psi.png
try compare x y
exits 0 "tables and files for VTK are compared, too"
prints "which is said" "4 of 4 files are equal; 2 of them are not arrays and were compared byte by byte"
printf 'step,time,wall\n0,0,1.5\n1,0.1000001,nan\n' >y/probes.csv
try compare x y
exits 1 "a table with another number is different"
prints "and where is said" "probes.csv: 33 and 39 bytes, compared byte by byte; they differ from byte 28 on" "3 of 4 files"
try compare x/probes.csv y/probes.csv --tolerance 1e-6
exits 0 "it may differ within a tolerance"
try compare x/probes.csv y/probes.csv --tolerance 1e-8
exits 1 "but not beyond"
prints "and the place is named" "line 3, column 2: 0.1 and 0.1000001"
printf 'two' >y/particles_00000001.vtp
try compare x y --tolerance 1e-6
exits 1 "no tolerance applies to bytes"
prints "which is said, too" "particles_00000001.vtp: differs from byte 0 on, compared byte by byte"
rm x/probes.csv
try compare x y
prints "one that is missing is a difference" "probes.csv: only in y"
mkdir empty
try compare x empty
fails 2 "a folder without arrays cannot be compared" "empty has no outputs"

try compare a.npy nowhere.npy
fails 2 "a missing file is unreadable" "nowhere.npy" "No such file"
try compare a.npy case.yaml
fails 2 "another kind of file is unreadable" "case.yaml" "neither"
try compare a.npy x
fails 2 "a file and a folder cannot be compared" "a.npy (an .npy file)" "x (a folder)"
head -c 140 a.npy >short.npy
try compare a.npy short.npy
fails 2 "a truncated file is unreadable" "short.npy"
head -c 20 a.npy >header.npy
try compare a.npy header.npy
fails 2 "a truncated header is unreadable" "header.npy"

for name in p q; do
    "$STRAKE" run case.yaml --on serial --quiet --output $name --set checkpoint.every=20
done
try compare p/checkpoint.strake q/checkpoint.strake
exits 0 "equal checkpoints"
"$STRAKE" run case.yaml --on serial --quiet --output r --set checkpoint.every=10 --steps 19
try compare p/checkpoint.strake r/checkpoint.strake
exits 1 "checkpoints of other steps differ"
prints "steps and fields are described" "steps differ: 20 and 10" "psi: "
head -c 3000 p/checkpoint.strake >cut
try compare p/checkpoint.strake cut
fails 2 "a truncated checkpoint is unreadable" "cut is truncated"
done_testing
