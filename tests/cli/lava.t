#!/bin/bash
# Lava from the command line: time instead of steps, outputs by time, checkpoints from which a run goes on.
. "$(dirname "$0")/tap.bash"
cat >flow.yaml <<'EOF'
problem: lava
grid: {rows: 40, cols: 50, dx: 10, dy: 10}
time: {end: 90, dt_max: 3}
parameters: {solidus_temperature: 1320}
fields:
  terrain: {plane: {slope: [2, -1]}}
  effusion: {cone: {center: [8, 30], radius: 2, height: 0.05}}
output: {every_seconds: 30, directory: all}
diagnostics: {every_seconds: 20}
checkpoint: {every_seconds: 40}
EOF
try run flow.yaml --on serial --report serial.json --quiet
exits 0 "a flow runs to its end"
check "which is the time of the last output" grep -qE '^[0-9]+,90,thickness,' all/index.csv
check "outputs by time: three of three fields" test "$(grep -c npy all/index.csv)" -eq 9
check "each at the first step at or after its time" awk -F, 'NR > 1 && $3 == "solid" { n++; if ($2 < 30 * n || $2 >= 30 * n + 3) bad = 1 } END { exit bad }' all/index.csv
check "a line of diagnostics at the beginning and by time" test "$(wc -l <all/diagnostics.csv)" -eq 6
check "volume is kept: what is fluid and solid has erupted" awk -F, 'NR > 2 { v[NR] = ($3 + $4) / $2; if (NR > 3 && (v[NR] / v[NR-1] - 1) ^ 2 > 1e-24) bad = 1 } END { exit bad || $4 <= 0 }' all/diagnostics.csv
try run flow.yaml --on cpu,ocl:0 --output mixed --quiet
exits 0 "so it does on the processor and a device"
try compare all mixed
exits 0 "with the same bytes"
try run flow.yaml --on ocl:0 --set run.device_memory=300000 --set run.streams=2 --output blocks --quiet --report blocks.json
exits 0 "so it does through a device that has too little memory"
check "in blocks, one step a visit" grep -qE '"streaming": \{"blocks": ([2-9]|[1-9][0-9]), .*"steps_per_sweep": 1,' blocks.json
try compare all blocks
exits 0 "with the same bytes and times"
check "of every output" cmp all/index.csv blocks/index.csv
cp flow.yaml part.yaml
try run flow.yaml --on cpu --set time.steps=30 --set checkpoint.every=30 --output part --quiet
exits 0 "a run stops after some steps"
try run flow.yaml --on ocl:0 --resume part/checkpoint.strake --output part --quiet
exits 0 "another device goes on from its checkpoint"
rm -f part/*_00000030.npy
sed -i '/_00000030/d' part/index.csv
try compare all part
exits 0 "to the same bytes"
check "and diagnostics" cmp all/diagnostics.csv part/diagnostics.csv
try run flow.yaml --on cpu --set time.end=120 --resume all/checkpoint.strake --output later --quiet
exits 0 "a later end is one to go on to"
check "and is reached" grep -qE '^[0-9]+,120,thickness,' later/index.csv
try run flow.yaml --on cpu --set time.end=20 --resume all/checkpoint.strake --output no --quiet
fails 2 "an earlier one is not" "beyond time.end 20 s"
try run flow.yaml --set time.dt=1
fails 2 "its time step is not given" "unknown key" "time.dt"
try run flow.yaml --set time.safety=1.5
fails 2 "safety is a part" "time.safety" "1.5"
try run flow.yaml --set grid.dy=20
fails 2 "cells are square" "square cells"
try run flow.yaml --set fields.net=1
fails 2 "what follows from other fields is not given" "net"
try check flow.yaml --on serial
exits 0 "check accepts it"
prints "and says how long it goes" "90 s in steps of at most 3 s"
done_testing
