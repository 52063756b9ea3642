#!/bin/bash
# Time steps that the state decides, on several ranks: the same bytes, steps and times as one process on any
# places, shares and exchange; restarts on other numbers of ranks; a rank that fails ends all.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
. "$here/ranks.bash"

# A vent whose rate changes, a barrier that comes and goes, and a line of diagnostics after every step: step, time and sums.
cat >flow.yaml <<'EOF2'
problem: lava
grid: {rows: 43, cols: 30, dx: 10, dy: 10}
time: {end: 70, dt_max: 2}
parameters: {solidus_temperature: 1320}
vents: [{row: 21, col: 12, rate: {series: [[0, 30], [17, 60], [40, 5]]}}, {row: 30, col: 20, rate: 9}]
fields:
  terrain: {plane: {slope: [0.2, -0.1]}}
  thickness: {cone: {center: [11, 20], radius: 6, height: 3}}
barriers: [{row: 24, col: 2, to: {row: 28, col: 26}, height: 2, width: 30, from: 22, until: 55}]
run: {on: cpu}
output: {every_seconds: 25, fields: [thickness, temperature, solid, maximum, arrival]}
diagnostics: {every: 1}
checkpoint: {every_seconds: 30}
EOF2
has_device=$("$STRAKE" devices | grep '^ocl:0')
"$STRAKE" run flow.yaml --on serial --quiet --output one --report one.json || exit 1
check "there are events and many steps" test "$(grep -cE '^[0-9]+,(17|22|40|55|70),' one/diagnostics.csv)" -eq 5 -a "$(wc -l <one/diagnostics.csv)" -gt 60
on_ranks 2 run flow.yaml --quiet --output ranks --report two.json
check "statistics on 2 ranks are those of one process" cmp <(grep checksum one.json) <(grep checksum two.json)
same "2 ranks make the files of one process"
check "they tell where the work of their rows lies" awk '/"rank_balance": .*"model"/ { on = 1 } on && /work_places/ { n++ } END { exit n < 1 }' two.json
on_ranks 3 run flow.yaml --quiet --output ranks --set run.shares=1,3,2 --set run.exchange=messages --threads 2 --report three.json
same "uneven ranks of two threads, exchanging messages"
# 2 rows of 3 of the 12 states, 40 numbers each with what lies beside them; the rank in the middle has two borders.
sent=$(grep -o '"rank_bytes_per_sweep": [0-9]*, "rank_messages_per_sweep": [0-9]*' three.json | grep -o '[0-9]*' | tr '\n' ' ')
check "two tendencies and the crust of two rows travel, in one message for a border ($sent)" test "$sent" = "1920 1 3840 2 1920 1 "
# From equal shares: who was measured to be slow would begin with no more rows than a rank must have.
on_ranks 3 run flow.yaml --quiet --output ranks --set run.shares=1,1,1 --set run.balance=bisection --report three.json
same "rows that move between ranks"
check "they do" grep -qE '"rank_balance": .*"moves": [1-9]' three.json
if [ -n "$has_device" ]; then
    on_ranks 2 run flow.yaml --quiet --output ranks --on ocl:0/cpu,ocl:0 --split 1/1,1 \
        --set run.exchange=messages --set run.overlap=on
    same "OpenCL devices that exchange messages"
    on_ranks 2 run flow.yaml --quiet --output ranks --on cpu,ocl:0/ocl:0 --split 1,1/1 \
        --set run.shares=1,1 --set run.balance=bisection
    same "OpenCL devices whose rows move"
else
    skip "ranks with OpenCL devices" "no OpenCL device"
fi
# Beyond the end of the domain a device with the last row has a ghost that mirrors the processors' one, and that nothing computes.
if [ -n "$has_device" ]; then
    cat >everywhere.yaml <<'EOF2'
problem: lava
grid: {rows: 21, cols: 17, dx: 10, dy: 10}
time: {end: 1e9, dt_max: 60}
fields: {terrain: {random: {seed: 1, minimum: 0, maximum: 1}}, thickness: {random: {seed: 2, minimum: 2, maximum: 4}}}
EOF2
    mv one flows
    "$STRAKE" run everywhere.yaml --on serial --quiet --output one --steps 9 || exit 1
    on_ranks 2 run everywhere.yaml --quiet --output ranks --on cpu,ocl:0 --split 10,1/9,1 --set run.shares=11,10 --steps 9
    same "devices with the last row of a rank alone"
    rm -rf one && mv flows one
fi

on_ranks 2 run flow.yaml --output two --steps 40 --set checkpoint.every=40
check "one summary" test "$(grep -c 'steps 0 to 40 done' .out)" = 1
on_ranks 3 run flow.yaml --quiet --output two --resume two/checkpoint.strake
last=$(ls one | sed -n 's/^solid_\(.*\)\.npy$/\1/p' | tail -n 1)
for field in thickness temperature solid; do
    check "3 ranks continue what 2 have written: $field" cmp one/${field}_"$last".npy two/${field}_"$last".npy
done
check "with every step at its time" cmp one/diagnostics.csv two/diagnostics.csv

on_ranks 3 run flow.yaml --quiet --output bad --set fields.effusion=0 --set parameters.thermal=false \
    --set 'vents=[{row: 2, col: 3, rate: 1e308}]' --set run.shares=1,1,1
says 1 "NaN on one rank stops all" "NaN or Inf"
if [ -n "$has_device" ]; then
    injected fail:1:ocl:0@20 on_ranks 3 run flow.yaml --quiet --output bad --on cpu/ocl:0/cpu --set run.shares=1,1,1
    says 1 "so does a device that fails" "rank 1:" "CL_OUT_OF_RESOURCES"
else
    skip "a device that fails" "no OpenCL device"
fi
done_testing
