#!/bin/bash
# Output files, index, report: names, steps, times, content.
. "$(dirname "$0")/tap.bash"

lines() { # lines INDEX LINE...: the index has exactly these lines, but for the run that each names
    local file=$1
    shift
    [ "$(cut -d, -f1-4 "$file")" = "$(printf '%s\n' "$@")" ]
}

try run case.yaml --on serial --quiet
exits 0 "a run succeeds"
check "the last step is written" test -s out/psi_00000020.npy
check "only the last step is written" test "$(ls out | tr '\n' ' ')" = "index.csv psi_00000020.npy run.json "
check "the index lists it" lines out/index.csv step,time,field,file 20,2,psi,psi_00000020.npy
check "the file has the dtype and shape of the field" \
    grep -aq "'descr': '<f8', 'fortran_order': False, 'shape': (61, 97)" out/psi_00000020.npy
check "the file has header and data, no more" test "$(stat -c %s out/psi_00000020.npy)" -eq $((128 + 8 * 61 * 97))

try run case.yaml --on serial --quiet --output deep/er/dir --set output.every=8 --set output.initial=true
exits 0 "folders are made with their parents"
check "initial, every and last step" lines deep/er/dir/index.csv step,time,field,file \
    0,0,psi,psi_00000000.npy 8,0.80000000000000004,psi,psi_00000008.npy \
    16,1.6000000000000001,psi,psi_00000016.npy 20,2,psi,psi_00000020.npy
check "all files of the index exist" bash -c \
    'cd deep/er/dir && tail -n +2 index.csv | cut -d, -f4 | xargs ls'
check "no temporary file is left" test -z "$(find . -name '*.tmp*')"
check "the last step does not depend on outputs between" \
    "$STRAKE" compare out/psi_00000020.npy deep/er/dir/psi_00000020.npy
check "step 0 is the initial field" bash -c \
    "'$STRAKE' run case.yaml --on serial --quiet --steps 0 --output zero &&
     '$STRAKE' compare zero/psi_00000000.npy deep/er/dir/psi_00000000.npy"

try run case.yaml --on serial --quiet --output deep/er/dir
check "a fresh run begins a new index" lines deep/er/dir/index.csv step,time,field,file \
    20,2,psi,psi_00000020.npy
# Into a folder with another run's outputs.
run="run case.yaml --on serial --output again"
# shellcheck disable=SC2086
{
    try $run --set output.every=5 --set checkpoint.every=20
    lacks "an empty folder has nothing to remove" 'removed' .err
    mkdir again/psi_00000009.npy
    printf mine >again/psi_00000003.npy
    printf mine >again/notes.txt
    printf mine >victim
    ln -s ../victim again/psi_00000004.npy
    cat >>again/index.csv <<'CSV'
4,0.4,psi,psi_00000004.npy
5,0.5,psi,../victim
6,0.6,psi,/etc/hostname
7,0.7,psi,notes.txt
8,0.8,psi,checkpoint.strake
9,0.9,psi,psi_00000009.npy
9,0.9,psi,
20,2,checkpoint,checkpoint.strake
10,1,.,.
CSV
    cp -r again kept
    try $run --set grid.rows=0
    check "a run that cannot begin removes nothing" diff -r again kept
    try $run --resume again/checkpoint.strake --steps 22
    check "a run that resumes removes nothing" test -e again/psi_00000005.npy
    cp kept/index.csv again
    "$STRAKE" $run --quiet --steps 100000000 2>/dev/null &
    pid=$!
    sleep 1
    kill -KILL $pid
    wait $pid 2>/dev/null
    check "nor one that has written nothing yet" test -e again/psi_00000005.npy
    printf 'step,time,mass\n' >again/diagnostics.csv
    try $run --set output.every=8
}
check "the outputs that the folder's index lists are removed" bash -c \
    '! ls again | grep -qE "psi_000000(04|05|10|15).npy$"'
check "which one line tells" test "$(grep -c 'removed 5 output files of an earlier run' .err)" -eq 1
check "diagnostics go, too" test ! -e again/diagnostics.csv
check "nothing else does" bash -c '[ -e again/checkpoint.strake ] && [ -d again/psi_00000009.npy ] &&
    [ "$(cat again/psi_00000003.npy again/notes.txt victim)" = mineminemine ] && [ -e /etc/hostname ]'
check "what is there is what the index lists" lines again/index.csv step,time,field,file \
    8,0.80000000000000004,psi,psi_00000008.npy 16,1.6000000000000001,psi,psi_00000016.npy 20,2,psi,psi_00000020.npy
mkdir foreign
printf 'name,size\n1,1,psi,psi_00000001.npy\n' >foreign/index.csv
printf mine >foreign/psi_00000001.npy
try run case.yaml --on serial --quiet --output foreign
check "an index that is none of ours is no reason to remove" test "$(cat foreign/psi_00000001.npy)" = mine

# What the run was, for whoever finds the files.
for text in '"strake": "' '"commit": ' '"started": "20' '"file": "case.yaml", "folder": "..", "set": ["output.every=8"]' \
    '"text": "problem: mpdata2d\u000agrid: {rows: 61, cols: 97}\u000a' '"shape": [61, 97]' '"spacing": [1, 1]' '"dt": 0.1' \
    '"first_step": 0' '"steps": 20' '"units": {"spacing": "[m]", "dt": "[s]"' '"u1": "[-]"' '"id": "serial", "name": "'; do
    check "run.json says $text" grep -qF -- "$text" again/run.json
done
check "the case can be had back from it" bash -c '! command -v python3 >/dev/null || python3 -c "
import json
assert json.load(open(\"again/run.json\"))[\"case\"][\"text\"] == open(\"case.yaml\").read()"'
rm -r again/psi_00000003.npy again/psi_00000009.npy again/psi_00000022.npy
try run case.yaml --on serial --quiet --output other --set output.every=8 --set time.dt=0.1
check "compare takes no notice of it" bash -c '! cmp -s again/run.json other/run.json && "$0" compare again other' "$STRAKE"

inode=$(stat -c %i out/psi_00000020.npy)
exec 3<out/psi_00000020.npy
try run case.yaml --on serial --quiet
check "files of the same name are replaced, not overwritten" test "$inode" -ne "$(stat -c %i out/psi_00000020.npy)"
exec 3<&-

try run case.yaml --on serial --quiet --output two --set 'output.fields=[psi, h]' --set output.every=10
check "several fields" lines two/index.csv step,time,field,file 10,1,psi,psi_00000010.npy \
    10,1,h,h_00000010.npy 20,2,psi,psi_00000020.npy 20,2,h,h_00000020.npy

try run case.yaml --on serial --quiet --output single --set precision=single
check "single precision writes float32" grep -aq "'descr': '<f4'" single/psi_00000020.npy

try run case.yaml --on cpu --threads 2 --quiet --output cpu
check "cpu gives the bytes of serial" cmp out/psi_00000020.npy cpu/psi_00000020.npy

try run case.yaml --on serial --report report.json --quiet
exits 0 "a report can be written"
keys='"strake" "host" "cpu" "cores" "os" "compiler" "case" "file" "problem" "shape" "steps" "devices" "id"
 "name" "vendor" "driver" "role" "rows" "seconds" "compute" "exchange" "idle" "cells_per_second"
 "bytes_per_cell" "flops_per_cell" "fields" "min" "max" "sum" "norm" "checksum" "setup_seconds"
 "io_seconds" "bit_exact" "precision" "threads" "arrays" "divisions_per_cell"'
missing=
for key in $keys; do
    grep -qF "$key:" report.json || missing="$missing $key"
done
check "the report has every key of the contract$missing" test -z "$missing"
check "the report has shape, steps and rows" bash -c \
    'grep -qF "\"shape\": [61, 97], \"steps\": 20" report.json && grep -qF "\"rows\": [0, 61]" report.json'
check "the checksum has 16 hexadecimal digits" grep -qE '"checksum": "[0-9a-f]{16}"' report.json
try run case.yaml --on cpu --report cpu.json --quiet
model=$(sed -n 's/.*"host": {"cpu": \("[^"]*"\).*/\1/p' cpu.json)
check "the cpu entry is named after the processor" grep -qF "{\"id\": \"cpu\", \"name\": $model," cpu.json
check "and says with what instructions and in what blocks it works" \
    grep -qE '"instruction_set": "(base|avx2|avx512)", "block_columns": [1-9][0-9]*, "block_lines": 1, "rank": 0, "steps_per_sweep": [1-9],' cpu.json
check "and what its loops do for a cell: 4 divisions, 1/h being folded" \
    grep -qE '"loops": \{"flops_per_cell": 85, "divisions_per_cell": 4, .*"loads_per_cell": [1-9]' cpu.json
check "h is folded: psi twice, u1 and u2 as numbers" grep -qE '"arrays": [1-4],' cpu.json
try run case.yaml --on serial --report - --quiet
check "--report - is JSON on stdout and nothing else" bash -c \
    '[ "$(head -c 1 .out)" = "{" ] && [ "$(tail -n 1 .out)" = "}" ]'
strip() { grep -o '"psi": {.*}' "$1"; }
check "both reports have the same field statistics" test "$(strip report.json)" = "$(strip .out)"
if command -v python3 >/dev/null && python3 -c 'import json, struct' 2>/dev/null; then
    cat >verify.py <<'PY'
import json, math, struct
report = json.load(open("report.json"))
data = open("out/psi_00000020.npy", "rb").read()[128:]
values = struct.unpack("<%dd" % (len(data) // 8), data)
psi = report["fields"]["psi"]
checksum = 0xcbf29ce484222325
for byte in data:
    checksum = (checksum ^ byte) * 0x100000001b3 % 2**64
assert psi["checksum"] == "%016x" % checksum
assert psi["min"] == min(values) and psi["max"] == max(values)
assert abs(psi["sum"] - math.fsum(values)) <= 1e-15 * abs(psi["sum"])
norm = math.sqrt(math.fsum(x * x for x in values))
assert abs(psi["norm"] - norm) <= 1e-15 * norm
device = report["devices"][0]
assert device["id"] == "serial" and device["rows"] == [0, 61]
cells = report["case"]["shape"][0] * report["case"]["shape"][1]
rate = cells * report["case"]["steps"] / report["seconds"]
assert math.isclose(report["cells_per_second"], rate)
assert report["bit_exact"] is True
PY
    check "minimum, maximum, sum, norm, checksum and rate are those of the output" python3 verify.py
else
    skip "minimum, maximum, sum, norm, checksum and rate are those of the output" "no python3 here"
fi
try run case.yaml --on serial --quiet --report /dev/null
check "a device as report is written, not replaced" test -c /dev/null
printf old >real.json
ln -s real.json link.json
try run case.yaml --on serial --quiet --report link.json
check "a symbolic link as report stays one" bash -c '[ -L link.json ] && grep -q strake real.json'
# A source whose levels are outputs of a run, one of which is cut off.
try run case.yaml --on serial --quiet --set output.every=1 --steps 9 --output levels
source='fields.source_psi={series: {file: levels/psi_0000000%d.npy, every: 0.1}}'
cp levels/psi_0000000{1,0}.npy
head -c 4000 levels/psi_00000003.npy >cut && mv cut levels/psi_00000003.npy
try run case.yaml --on cpu --quiet --steps 9 --set "$source" --set output.every=1 --output later
fails 1 "a level that is found to be cut off fails the run that has begun" "levels/psi_00000003.npy: truncated" "level 3 of a series"
check "which has written what it had until then" test -e later/psi_00000002.npy -a ! -e later/psi_00000004.npy
try run case.yaml --on cpu --quiet --steps 4 --set "$source" --output sooner
fails 2 "the last level is looked at before the first step" "levels/psi_00000003.npy: truncated"
done_testing
