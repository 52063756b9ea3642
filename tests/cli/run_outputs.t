#!/bin/bash
# Output files, index, report: names, steps, times, content.
. "$(dirname "$0")/tap.bash"

lines() { # lines FILE LINE...: the file has exactly these lines
    local file=$1
    shift
    [ "$(cat "$file")" = "$(printf '%s\n' "$@")" ]
}

try run case.yaml --on serial --quiet
exits 0 "a run succeeds"
check "the last step is written" test -s out/psi_00000020.npy
check "only the last step is written" test "$(ls out | tr '\n' ' ')" = "index.csv psi_00000020.npy "
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
done_testing
