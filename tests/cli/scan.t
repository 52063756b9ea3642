#!/bin/bash
# strake scan: values, table, equality with single runs, devices and crashes, interruption and going on.
. "$(dirname "$0")/tap.bash"
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
column() { # column TABLE NAME: the values of a column without quoted cells before it
    awk -F, -v name="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k; next } { print $at }' "$1"
}
devices=$("$STRAKE" devices | grep -c '^ocl:[0-9]*: ')
rows() { echo $(($(wc -l <"$1") - 1)); }
lines() { tr '\n' ' ' | sed 's/ $//'; }

# Values.
try scan case.yaml --over time.steps=1,2,5 --over scheme.iterations=1:2:2 --quiet
exits 0 "a scan over two keys"
check "says nothing with --quiet" sh -c '! [ -s .out ] && ! [ -s .err ]'
check "has every value with every other" test "$(rows scan.csv)" -eq 6
check "the last key changes from run to run" test "$(column scan.csv time.steps | lines),$(column scan.csv scheme.iterations | lines)" = "1 1 2 2 5 5,1 2 1 2 1 2"
check "steps are those of each run" test "$(column scan.csv steps | lines)" = "1 1 2 2 5 5"
check "nothing else was written" test "$(ls | lines)" = "case.yaml scan.csv"
try scan case.yaml --over fields.u1.constant=0.1:0.2:5 --table range.csv
prints "the summary names table, runs and failures" "range.csv: 5 runs, 0 failed"
check "a range has both ends and even steps" test "$(column range.csv fields.u1.constant | lines)" = "0.1 0.125 0.15 0.175 0.2"
try scan case.yaml --over fields.u1.constant=random:-0.1:0.1:4:7 --table random.csv --quiet
check "random values lie between their bounds" test "$(column random.csv fields.u1.constant | awk '$1 >= -0.1 && $1 <= 0.1 && !seen[$1]++' | wc -l)" -eq 4
"$STRAKE" scan case.yaml --over fields.u1.constant=random:-0.1:0.1:4:7 --table again.csv --quiet
check "and are the same for the same seed" test "$(column random.csv psi_checksum | lines)" = "$(column again.csv psi_checksum | lines)"
"$STRAKE" scan case.yaml --over fields.u1.constant=random:-0.1:0.1:4:8 --table again.csv --quiet 2>/dev/null
check "but not with another table" test "$(column random.csv psi_checksum | lines)" = "$(column again.csv psi_checksum | lines)"
try scan case.yaml --over 'fields.psi={constant: 1},{gaussian: {center: [30, 40], sigma: 5}}' --table lists.csv --quiet
check "commas in brackets belong to the value" test "$(rows lists.csv)" -eq 2
try scan case.yaml --over scheme.iterations=1,2 --set 'tracers=[psi]' --table tracers.csv --quiet
exits 0 "a case with a list of tracers"
check "has the results of one without" test "$(column tracers.csv psi_checksum | lines)" = "$(for k in 1 2; do
    "$STRAKE" run case.yaml --set scheme.iterations=$k --on serial --quiet --output tracer --report tracer.json
    sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' tracer.json
done | lines)"
# What is drawn together.
cat >quench.yaml <<'END'
problem: cahn_hilliard2d
grid: {rows: 12, cols: 12}
time: {dt: 0.01, steps: 1}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
END
try scan quench.yaml --draws 200 --seed 7 --sampling lhs --over parameters.M=uniform:0.5:1 --over parameters.K=normal:1:0.02 \
    --over time.dt=lognormal:0.005:1.2 --over time.steps=uniform:1:3 --table drawn.csv --quiet
exits 0 "keys that are drawn together"
check "make as many runs as draws" test "$(rows drawn.csv)" -eq 200
check "of a Latin hypercube one lies in each part" test "$(column drawn.csv parameters.M | sort -g | awk '{ if (int(($1 - 0.5) / 0.5 * 200) != NR - 1) bad++ } END { print bad + 0 }')" -eq 0
# Mean and standard deviation of 200 stratified draws lie within a hundredth of a standard deviation.
check "normal ones have mean and deviation" test "$(column drawn.csv parameters.K | awk '{ s += $1; q += ($1 - 1) ^ 2 } END {
    d = sqrt(q / NR); print (s / NR > 0.9998 && s / NR < 1.0002 && d > 0.0197 && d < 0.0203) }')" -eq 1
check "lognormal ones median and factor" test "$(column drawn.csv time.dt | awk '{ x = log($1 / 0.005) / log(1.2); s += x; q += x * x } END {
    d = sqrt(q / NR); print (s / NR > -0.01 && s / NR < 0.01 && d > 0.985 && d < 1.015) }')" -eq 1
check "each integer is as probable where a key takes integers" test "$(column drawn.csv time.steps | sort | uniq -c | awk '{ if ($1 < 66 || $1 > 67) bad = 1; print $2 } END { print bad + 0 }' | lines)" = "1 2 3 0"
for draws in 5 9; do
    try scan quench.yaml --draws $draws --over parameters.M=uniform:0.5:1 --over parameters.K=0.9,1 --table drawn$draws.csv --quiet
done
check "other keys have every value with every draw" test "$(rows drawn5.csv),$(column drawn5.csv parameters.M | sort -u | wc -l)" = "10,5"
check "more draws begin with the same ones" test "$(head -11 drawn9.csv | cut -d, -f1-5 | lines)" = "$(cut -d, -f1-5 drawn5.csv | lines)"
try scan quench.yaml --draws 5 --seed 2 --over parameters.M=uniform:0.5:1 --table other.csv --quiet
check "another seed has others" test "$(column other.csv parameters.M | head -1)" != "$(column drawn5.csv parameters.M | head -1)"
printf '# a posterior\nM, K\n0.5,0.9\n0.6 ,0.8\n' >posterior.csv
try scan quench.yaml --draws 3 --over parameters.M=of:posterior.csv:M --over parameters.K=of:posterior.csv:2 --table columns.csv --quiet
check "lines of a text stay together" test "$(cut -d, -f2-3 columns.csv | lines)" = "parameters.M,parameters.K 0.5,0.9 0.6,0.8 0.5,0.9"
printf '"K", "fields.u"\n0.9,"{constant: 0.1}"\n0.8, "{random: {seed: 2, minimum: 0, maximum: 0.1}}"\n' >lines.csv
try scan quench.yaml --draws 2 --over fields.u=of:lines.csv:fields.u --over parameters.K=of:lines.csv:K --table own.csv --quiet
exits 0 "texts of a text in columns stand in double quotes"
check "and are values like others" test "$(column own.csv u_max | head -1)" = 0.10000000000000001
check "each with the number of its line" test "$(cut -d, -f2-9 own.csv | grep -o '0\.[89],done' | lines)" = "0.9,done 0.8,done"
printf 'steps\n2.6\n"many"\n' >words.csv
try scan quench.yaml --draws 2 --over time.steps=of:words.csv --table wordy.csv --quiet
fails 1 "a word is no integer" "time.steps=many" "expected an integer"
check "but a number becomes one" grep -q '^1,3,done' wordy.csv
for wrong in parameters.M=uniform:1:0 parameters.M=uniform:1 parameters.M=normal:1:-1 parameters.M=lognormal:0:2 parameters.M=lognormal:1:0.5 parameters.M=of: \
    parameters.M=of:none.csv parameters.M=of:posterior.csv:Q parameters.M=of:case.yaml; do
    try scan quench.yaml --draws 3 --over "$wrong" --table wrong.csv
    check "wrong laws are refused: $wrong" test "$code" -ne 0 -a ! -e wrong.csv
done
try scan quench.yaml --over parameters.M=uniform:0:1 --table wrong.csv
fails 2 "how often something is drawn must be said" "--draws"
try scan quench.yaml --over parameters.M=1 --seed 3 --table wrong.csv
fails 2 "a seed is of draws" "--draws"
try scan quench.yaml --draws 3 --sampling sobol --over parameters.M=uniform:0:1 --table wrong.csv
fails 2 "ways to draw are named" "random or lhs"
for wrong in time.steps=1,,2 time.steps=1:2:0 time.steps=random:1:2 time.steps=random:2:1:3:4 time.steps=; do
    try scan case.yaml --over "$wrong" --table wrong.csv
    fails 2 "wrong values are refused: $wrong" "--over"
done
try scan case.yaml
fails 2 "without --over there is nothing to scan" "--over PATH=VALUES"
try scan case.yaml --over time.steps=1 --over time.steps=2
fails 2 "a key is varied once" "time.steps is given twice"
try scan case.yaml --over time.step=1,2 --table wrong.csv
fails 2 "a misspelt key is one error, not one for each run" "time.step" "did you mean 'steps'"
try scan case.yaml --over problem=mpdata2d,cahn_hilliard2d --over time.dt=0.001 --over 'fields={psi: 0, u1: 0, u2: 0},{u: 0}' --set boundary.rows=periodic --table wrong.csv
fails 2 "a scan is of one problem" "runs of one problem"
try scan case.yaml --over 'tracers=[psi],[a,b]' --over 'fields={psi: 0, u1: 0, u2: 0},{a: 0, b: 0, u1: 0, u2: 0}' --table wrong.csv
fails 2 "and of one list of tracers" "one list of fields"
check "failed commands leave no table" test ! -e wrong.csv
try scan case.yaml --over time.steps=1,2 --table nowhere/scan.csv
fails 1 "a table that cannot be written is known before the runs" "nowhere"

# Each run is the run that `strake run` makes, side by side or not, on whatever.
same=0
for k in 1 2 3; do
    "$STRAKE" run case.yaml --set time.steps=7 --set scheme.iterations=$k --on serial --quiet --output one$k --report one.json
    sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' one.json
done >checksums
for words in "--on cpu" "--on serial" "--jobs 1" "--jobs 1 --on cpu --split 1" "--on cpu --threads 3 --jobs 2"; do
    # shellcheck disable=SC2086
    "$STRAKE" scan case.yaml --over scheme.iterations=1,2,3 --set time.steps=7 $words --table same.csv --quiet --keep kept 2>.err
    column same.csv psi_checksum | cmp -s - checksums || same=1
    for k in 1 2 3; do
        "$STRAKE" compare "$(column same.csv folder | sed -n ${k}p)" one$k >/dev/null || same=1
    done
    rm -rf same.csv kept
done
report $same "the same bits and outputs as single runs, however they are made"
"$STRAKE" scan case.yaml --over scheme.iterations=1,2 --steps 3 --keep kept --table kept.csv --quiet
check "--keep keeps outputs with what they are" sh -c 'ls kept/*/psi_00000003.npy kept/*/run.json && [ "$(ls kept/*/psi_00000003.npy | wc -l)" -eq 2 ]'
check "and the table names the folders" test -e "$(column kept.csv folder | head -n 1)/index.csv"
try scan case.yaml --over run.on=cpu,serial --steps 5 --table places.csv
prints "where run.* keys are varied runs come one after the other" "1 at a time"
prints "and how many runs a second each place made" "cpu " "serial " "/s"
check "each where it says" test "$(column places.csv where | lines)" = "cpu serial"
check "with the same results" test "$(column places.csv psi_checksum | sort -u | wc -l)" -eq 1
cat >quench.yaml <<'YAML'
problem: cahn_hilliard2d
grid: {rows: 24, cols: 32}
time: {dt: 0.01, steps: 50}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
diagnostics: {every: 50}
YAML
try scan quench.yaml --over parameters.K=0.5,1 --table quench.csv --keep quenches --quiet
check "what a problem measures is in the table" test "$(column quench.csv free_energy | head -n 1)" = "$(awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "free_energy") at = k } END { print $at }' "$(column quench.csv folder | head -n 1)"/diagnostics.csv)"

cat >flow.yaml <<'YAML'
problem: lava
grid: {rows: 16, cols: 20, dx: 10, dy: 10}
time: {end: 600}
fields: {terrain: {constant: 0}}
vents: [{row: 8, col: 5, rate: 4}, {row: 8, col: 12, rate: 2}]
YAML
try scan flow.yaml --over 'vents[1].rate=2,3' --over parameters.emissivity=0.5,0.9 --table flow.csv --quiet
exits 0 "a scan over an item of a list"
check "every line has the columns of the first" awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' flow.csv
check "each number below its name: as much lava as the vents gave" test "$(paste -d ' ' <(column flow.csv fluid_volume) \
    <(column flow.csv solid_volume) | awk '{ printf "%.6f ", $1 + $2 }')" = "3600.000000 3600.000000 4200.000000 4200.000000 "
try scan flow.yaml --over 'vents[1].rate=2,3' --over parameters.emissivity=0.5,0.9 --table flow.csv
prints "and is found complete" "complete already: 4 runs, 0 failed"

# What a scan will take.
try check case.yaml --over fields.u1.constant=0.1:0.2:5 --over time.steps=4,6 --on cpu --table none.csv --keep planned --report plan.json
exits 0 "a scan is checked"
prints "runs, cells, steps, memory and files are told" "case.yaml is valid in all 10 runs" "runs       10" "cells      5917 in each" \
    "steps      4 to 6 in each" "work       2.958e+05 cells times steps in all" "memory     about " "none.csv" "folders in planned"
check "as are the place, its runs at a time, and a time" bash -c 'grep -qE "^cpu .* 2 +1  - .*cell/s$" .out && grep -qE "^prediction about [0-9.]+ s" .out'
check "nothing is written but the report" test ! -e none.csv -a ! -e planned -a -s plan.json
missing=
for key in case problem runs runs_there cells steps work one_by_one memory table_bytes maps_bytes traces_bytes outputs_bytes places \
    where runs_at_a_time threads items_per_second setup_seconds seconds; do
    grep -qF "\"$key\": " plan.json || missing="$missing $key"
done
check "the report has every key$missing" test -z "$missing"
check "work is that of all runs, and so are outputs" bash -c 'grep -q "\"work\": 295850,$" plan.json && grep -q "\"outputs_bytes\": 473360,$" plan.json'
"$STRAKE" scan case.yaml --over fields.u1.constant=0.1:0.2:3 --on cpu --table some.csv --keep planned --quiet
check "outputs take the room that was told" test "$(cat planned/*/psi_*.npy | wc -c)" -eq $((3 * (5917 * 8 + 128)))
try check case.yaml --over fields.u1.constant=0.1:0.2:5 --on cpu --table some.csv --keep planned
prints "runs that the table has are not made again" "runs       5, of which some.csv has 3" "work       2.367e+05 cells"
try check case.yaml --over fields.u1.constant=0.1:0.2:3 --on cpu --table some.csv
prints "a scan that is complete takes nothing" "nothing is left to be run"
try check case.yaml --table none.csv --over fields.u1.constant=0.1,0.2,0.3,5,7
fails 2 "a run that cannot be made is found without any" "run 4 of 5 (fields.u1.constant=5): " "unstable" "others are wrong, too"
try check case.yaml --table none.csv --over time.steps=3,x
fails 2 "so is a value that is none" "run 2 of 2 (time.steps=x): " "expected an integer"
try check case.yaml --table none.csv --over grid.rws=3,4
fails 2 "and an unknown key" "grid.rws" "rows"
try check case.yaml --table none.csv --over run.on=cpu,serial
prints "where places are compared no time is known" "one after the other" "prediction unknown: runs come one after the other"
try check flow.yaml --table none.csv --over 'vents[0].rate=2,3' --on cpu --maps maps
prints "nor where the states decide on steps" "steps      as the states will have them" "prediction unknown" \
    "maps       10.0 KiB, and what runs leave for them at most 10.0 KiB: maps"
check "and no folder is made" test ! -e maps
"$STRAKE" new sph2d >water.yaml
try check water.yaml --table none.csv --over scheme.alpha=0.1,0.2 --on cpu
prints "of particles steps and memory follow from their neighbours" "valid in all 2 runs" "prediction unknown"
lacks "of which nobody makes up a number" '^memory' .out
for option in "--draws 3" "--seed 1" "--sampling lhs" "--table t.csv" "--keep k" "--maps m" "--weights time.dt=1" "--footprint f" \
    "--threshold 1" "--jobs 2" "--members 2"; do
    # shellcheck disable=SC2086
    try check case.yaml $option
    fails 2 "check $option without a scan is refused" "needs --over PATH=VALUES"
done
if [ "$devices" -gt 0 ]; then
    try check case.yaml --over fields.u1.constant=0.1:0.2:5 --on cpu,ocl:0 --steps 8 --table none.csv
    prints "a device is told with its memory and runs" "cpu " "ocl:0 " " of " "cell/s"
else
    skip "a device is told with its memory and runs" "no OpenCL device"
fi
try check case.yaml --table none.csv --over fields.u1.constant=0.1,0.2 --on nowhere
fails 2 "a place that is none is refused" "nowhere"

# Failures.
try scan case.yaml --over fields.u1.constant=0.1,5,0.2 --table failing.csv
fails 1 "one run that fails is told, and the exit status" "run 2 failed (fields.u1.constant=5)" "unstable"
check "the others are made" test "$(column failing.csv state | lines)" = "done failed done"
check "and its line has the message" grep -q '^2,5,failed,.*unstable' failing.csv
try scan case.yaml --over fields.u1.constant=0.1,5,0.2 --table failing.csv
exits 1 "the table is then complete, with a failure"
prints "which is said" "complete already: 3 runs, 1 failed"
sed -i '/failed/d' failing.csv
try scan case.yaml --over fields.u1.constant=0.1,5,0.2 --table failing.csv
prints "a run whose line is removed is made again" "3 runs, 1 failed" "2 were there already"
try scan case.yaml --over fields.u1.constant=0.1,0.2,0.3 --table failing.csv
fails 2 "the table of another scan is left alone" "failing.csv is the table of another scan"
sed 's/steps: 20/steps: 21/' case.yaml >changed.yaml
try scan changed.yaml --over time.steps=1,2,5 --over scheme.iterations=1:2:2
fails 2 "and so is one of a case that has changed since" "scan.csv is the table of another scan"
try scan case.yaml --over time.steps=1,2,5,6 --over scheme.iterations=1:2:2
prints "with more values what is new is made" "8 runs, 0 failed" "6 were there already"
check "and has its place" test "$(column scan.csv run | lines)" = "1 2 3 4 5 6 7 8"

# Ended before its time: one long scan, of runs that take some tenths of a second.
long=(scan case.yaml --over time.steps=60001:60012:12 --set grid.rows=8 --set grid.cols=8 --on cpu --set fields.psi.random.seed=3)
"$STRAKE" "${long[@]}" --table whole.csv --quiet
check "a long scan" test "$(rows whole.csv)" -eq 12
interrupt_when_ready "${long[@]}" --table part.csv
if [ "$code" -eq 130 ]; then
    check "Ctrl-C ends it with a table" test "$(rows part.csv)" -lt 12
    check "and says how to go on" grep -q 'interrupted after [0-9]* of 12 runs.*the same command goes on' .err
else
    skip "Ctrl-C ends it with a table" "it was complete within half a second"
    skip "and says how to go on" "it was complete within half a second"
fi
wait_for_rows() { # wait_for_rows TABLE N: until it has so many
    local k
    for k in $(seq 600); do
        [ ! -e "$1" ] || [ "$(rows "$1")" -lt "$2" ] || return 0
        sleep 0.05
    done
}
"$STRAKE" "${long[@]}" --table killed.csv --set run.patience=17 >.out 2>.err &
victim=$!
wait_for_rows killed.csv 1
kill -KILL $victim
{ wait $victim; } 2>/dev/null
# Of runs that would not end by themselves.
"$STRAKE" scan case.yaml --over time.dt=0.1,0.05 --set time.steps=1000000000 --on cpu --table endless.csv >.out 2>.err &
victim=$!
for k in $(seq 6000); do
    children=$(children_of $victim | lines)
    [ -z "$children" ] || break
    sleep 0.02
done
{ kill -KILL $victim && wait $victim; } 2>/dev/null
for k in $(seq 600); do
    left=
    for child in $children; do
        [ ! -e "/proc/$child" ] || grep -q '^State:.Z' "/proc/$child/status" || left="$left $child"
    done
    [ -n "$left" ] || break
    sleep 0.1
done
check "a killed scan leaves no process behind ($children)" test -n "$children" -a -z "$left"
had=$(rows killed.csv)
for table in part killed; do
    words=()
    [ $table = part ] || words=(--set run.patience=17)
    try "${long[@]}" --table $table.csv "${words[@]}"
    exits 0 "the $table scan goes on"
    check "to the same results" test "$(column $table.csv psi_checksum | lines)" = "$(column whole.csv psi_checksum | lines)"
done
[ "$had" -eq 12 ] || prints "with what it had" "$had were there already"
# The first run is long enough to be caught at it.
"$STRAKE" scan case.yaml --over time.steps=3000001,7,8 --set grid.rows=8 --set grid.cols=8 --on cpu --table crash.csv --quiet 2>.err &
victim=$!
for k in $(seq 6000); do
    child=$(children_of $victim | head -n 1)
    [ -z "$child" ] || break
    sleep 0.02
done
kill -ABRT "$child" # a sanitizer would answer for SEGV itself
code=0
wait $victim || code=$?
check "a process that dies is one failed run" test "$code,$(column crash.csv state | grep -c failed),$(rows crash.csv)" = 1,1,3
check "with the reason" grep -q 'ended by signal 6' crash.csv

# Devices: each gets runs of its own.
if "$STRAKE" devices --json 2>/dev/null | grep -q '"id": "ocl:0"' && [ -z "${STRAKE_TESTS_CPU_ONLY:-}" ]; then
    "$STRAKE" scan case.yaml --over fields.u1.constant=0.01:0.2:12 --on serial --table serial.csv --quiet
    try scan case.yaml --over fields.u1.constant=0.01:0.2:12 --on ocl:0,ocl:0 --members 1 --table devices.csv
    prints "a run on each device at a time" "12 runs, 0 failed" "2 at a time"
    check "and nowhere else" test "$(column devices.csv where | sort -u | lines)" = "ocl:0"
    check "with the same results" test "$(column devices.csv psi_checksum | lines)" = "$(column serial.csv psi_checksum | lines)"
    try scan case.yaml --over fields.u1.constant=0.01:0.2:12 --on cpu,ocl:0 --table mixed.csv --quiet
    exits 0 "cores and devices side by side"
    check "with the same results, too" test "$(column mixed.csv psi_checksum | lines)" = "$(column serial.csv psi_checksum | lines)"
    # Members of a batch: few places, so that some runs wait until others have ended.
    facts() { # facts TABLE AXES: all but where a run was and how long it took
        cut -d, -f1-$(($2 + 2)),$(($2 + 4)),$(($2 + 8))- "$1"
    }
    mkdir -p dump
    STRAKE_DUMP_KERNELS=dump try scan case.yaml --over fields.u1.constant=0.01:0.2:6 --over time.steps=3,70 --set scheme.iterations=2 \
        --on ocl:0 --members 5 --table members.csv
    prints "many runs on a device at a time" "12 runs, 0 failed" "5 at a time"
    check "step in common launches" grep -q 'first_member' dump/*.cl
    "$STRAKE" scan case.yaml --over fields.u1.constant=0.01:0.2:6 --over time.steps=3,70 --set scheme.iterations=2 --on serial --table alone.csv --quiet
    check "and have the bytes that each has alone" test "$(facts members.csv 2)" = "$(facts alone.csv 2)"
    cat >flows.yaml <<'END'
problem: lava
grid: {rows: 40, cols: 44, dx: 10, dy: 10}
time: {end: 900}
fields: {terrain: {plane: {base: 100, slope: [-0.1, 0.02]}}}
vents:
  - {row: 15, col: 20, rate: 5}
END
    try scan flows.yaml --over 'vents[0].rate=random:1:20:7:3' --over time.end=300,900 --on ocl:0 --members 4 --table flows.csv --quiet
    exits 0 "members whose time steps follow from their states"
    "$STRAKE" scan flows.yaml --over 'vents[0].rate=random:1:20:7:3' --over time.end=300,900 --on serial --table flows-alone.csv --quiet
    check "have the bytes that each has alone, too" test "$(facts flows.csv 2)" = "$(facts flows-alone.csv 2)"
    cat >kinds.yaml <<'END'
problem: mpdata2d
grid: {rows: 20, cols: 24}
time: {dt: 0.1, steps: 40}
fields: {psi: {random: {seed: 1, minimum: 1, maximum: 2}}, u1: 0.2, u2: -0.1}
END
    for where in ocl:0 serial; do
        try scan kinds.yaml --over grid.rows=20,21 --over precision=single,double --over time.steps=20,40 --on $where --table kinds-${where%:*}.csv --quiet
        exits 0 "runs of other shapes and precisions on $where"
    done
    check "step with those of their kind, to the same bytes" test "$(facts kinds-ocl.csv 3)" = "$(facts kinds-serial.csv 3)"
    sed 's/mpdata2d/mpdata3d/; s/rows: 20/planes: 6, rows: 5/; s/cols: 24/cols: 7/; s/u1: 0.2/u1: 0.2, u3: 0.1/' kinds.yaml >deep.yaml
    for where in ocl:0 serial; do
        try scan deep.yaml --over time.steps=1,2,3 --on $where --table deep-${where%:*}.csv --quiet
        exits 0 "runs in three dimensions on $where"
    done
    check "are alone, to the same bytes" test "$(facts deep-ocl.csv 1)" = "$(facts deep-serial.csv 1)"
    cat >timed.yaml <<'END'
problem: mpdata2d
grid: {rows: 21, cols: 26}
time: {end: 5, dt: 1, courant: 0.5}
boundary: {rows: no_flux}
fields:
  psi: {cone: {center: [10, 14], radius: 5, height: 4, base: 0}}
  u1: {rotation: {omega: 0.1, center: [12, 12]}}
  u2: {rotation: {omega: 0.1, center: [12, 12]}}
END
    for where in ocl:0 serial; do # their last step is shorter: flows and constants change while others step
        try scan timed.yaml --over time.courant=0.3,0.7 --over time.end=0.5,3,5 --on $where --table timed-${where%:*}.csv --quiet
    done
    exits 0 "runs whose time step a Courant number gives"
    check "change it in the middle, to the same bytes" test "$(facts timed-ocl.csv 2)" = "$(facts timed-serial.csv 2)"
    cat >spoilt.yaml <<'END'
problem: cahn_hilliard2d
grid: {rows: 24, cols: 20}
time: {dt: 0.01, steps: 300}
scheme: {unstable: allow}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
END
    for where in ocl:0 serial; do
        try scan spoilt.yaml --over time.dt=0.005,0.01,0.015,5,0.02 --on $where --table spoilt-${where%:*}.csv --quiet
        exits 1 "a run of $where that overflows has failed"
    done
    check "and leaves the others of its batch alone" test "$(facts spoilt-ocl.csv 1 | grep -v ^4,)" = "$(facts spoilt-serial.csv 1 | grep -v ^4,)"
    sed 's/cahn_hilliard2d/mpdata2d/; s/unstable: allow/unstable: allow, nonoscillatory: false/; s/{u:.*/{psi: {random: {seed: 1, minimum: 1, maximum: 2}}, u1: 0.1, u2: 0.2}/' spoilt.yaml >flows.yaml
    spoilt=$(seq -s, 0.101 0.001 0.120)
    for try in 1 2 3; do # places of runs that overflow are taken while others step
        "$STRAKE" scan flows.yaml --over fields.u1=20,$spoilt,21,0.13,22,0.14 --on ocl:0 --members 3 --table handed$try.csv --quiet 2>/dev/null
    done
    check "a place that it leaves is free of it" test "$(column handed1.csv state | sort | uniq -c | lines | tr -s ' '),$(facts handed2.csv 1 | grep -v failed),$(facts handed3.csv 1 | grep -v failed)" = \
        " 22 done 3 failed,$(facts handed1.csv 1 | grep -v failed),$(facts handed1.csv 1 | grep -v failed)"
    timeout 100 "$STRAKE" scan flows.yaml --set time.steps=30000 --over fields.u1=0.101,0.102,0.103 --on ocl:0 --table ended.csv --quiet &
    outer=$! device=
    for turn in $(seq 100); do
        victim=$(children_of $outer | head -n 1)
        [ -z "$victim" ] || device=$(children_of $victim | head -n 1)
        [ -z "$device" ] || break
        sleep 0.05
    done
    sleep 0.5
    kill -TERM "$device" 2>/dev/null
    wait $outer
    check "of a process that is told to end all runs are made anew" test $? -eq 0 -a "$(column ended.csv state | lines)" = "done done done"
    check "of which there are four" test "$(column spoilt-ocl.csv state | lines)" = "done done done failed done"
    try scan case.yaml --over fields.u1.constant=0.01:0.2:6 --on ocl:0 --members 3 --keep kept-members --table kept-members.csv --quiet
    exits 0 "members with outputs"
    check "write what each writes alone" sh -c '"$0" run case.yaml --set fields.u1.constant=0.01 --on serial --quiet --output alone-1 &&
        cmp alone-1/psi_*.npy kept-members/0001-*/psi_*.npy' "$STRAKE"
    try scan case.yaml --over time.steps=1,2 --on cpu,ocl:99 --table none.csv
    fails 2 "a device that is not there is an error at once" "ocl:99"
    check "without a run" test "$(rows none.csv)" -eq 0
    if [ -e "$faulty" ] && [ -z "${STRAKE_TESTS_SANITIZER:-}" ]; then
        for fault in crash hang; do
            STRAKE_OPENCL_LIBRARY=$faulty STRAKE_TEST_FAULTS=$fault:16x1 STRAKE_CACHE_DIR=$scratch/cache \
                try scan case.yaml --over fields.u1.constant=0.01:0.2:8 --on cpu,ocl:0 --set run.fusion=none \
                --set run.group_width=16 --set run.group_height=1 --set run.threads=2 --table device-$fault.csv
            exits 0 "a device in which runs $fault does not end the scan"
            check "the cores make them all" test "$(column device-$fault.csv where | sort | uniq -c | lines | tr -s ' ')" = " 8 cpu"
        done
        prints "the results are complete" "8 runs, 0 failed"
    else
        skip "a device that fails does not end the scan" "no library with faults here"
    fi
else
    skip "cores and devices side by side" "no OpenCL device"
fi
done_testing
