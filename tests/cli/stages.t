#!/bin/bash
# Steps of several stages (scheme.time: rkc): the same bytes everywhere, from a checkpoint and on ranks; too few are refused.
. "$(dirname "$0")/tap.bash"
cat >quench.yaml <<'CASE'
problem: cahn_hilliard2d
grid: {rows: 97, cols: 67}
time: {dt: 0.3, steps: 20}
boundary: {rows: no_flux, cols: periodic}
scheme: {time: rkc}
fields: {u: {random: {seed: 1, minimum: -0.4, maximum: 0.4}}}
output: {every: 10}
diagnostics: {every: 5}
checkpoint: {every: 7}
CASE
sed 's/2d/3d/; s/rows: 97, cols: 67/planes: 30, rows: 21, cols: 24/; s/{rows: no_flux/{planes: no_flux/' quench.yaml >quench3d.yaml
places="cpu/1 cpu/2"
[ "$("$STRAKE" devices 2>/dev/null | grep -c '^ocl:0: ')" -gt 0 ] && places="$places ocl:0/1 cpu,ocl:0/1 ocl:0,ocl:0/1" ||
    skip "stages on OpenCL devices" "no OpenCL device"

for case in quench quench3d; do
    try run $case.yaml --on serial --quiet --output $case
    exits 0 "$case runs"
    for place in $places; do
        for steps in 1 3; do
            try run $case.yaml --on "${place%/*}" --set run.threads="${place#*/}" --quiet --output place \
                --set run.steps_per_sweep=$steps
            check "$case: the same bytes from ${place%/*}, ${place#*/} threads, $steps at once" sh -c \
                'test ! -s .err && "$0" compare '"$case"' place' "$STRAKE"
        done
        rm -rf half
        try run $case.yaml --on "${place%/*}" --quiet --output half --steps 9
        try run $case.yaml --on cpu --quiet --output half --resume half/checkpoint.strake
        check "$case: and where a run of ${place%/*} is resumed" "$STRAKE" compare $case/u_00000020.npy half/u_00000020.npy
    done
done
check "the free energy falls" awk -F, 'NR > 2 { if (!($4 < last)) exit 1 } { last = $4 }' quench/diagnostics.csv
if command -v mpirun >/dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    for ranks in 2 3; do
        timeout -k 5 600 mpirun --oversubscribe -np $ranks "$STRAKE" run quench.yaml --on cpu --threads 1 --quiet --output ranks \
            >.out 2>.err
        check "the same bytes on $ranks ranks" "$STRAKE" compare quench ranks
    done
else
    skip "stages on ranks" "there is no mpirun"
fi

# What streams through a device.
if [[ $places == *ocl* ]]; then
    try run quench.yaml --on ocl:0 --set run.device_memory=300KB --output place
    check "a stripe may stream" grep -q "so it streams through it" .err
    check "with the same bytes" "$STRAKE" compare quench place
fi

# Steps whose lengths follow from their errors: noise that is smoothed at once, then steps that grow.
for case in quench quench3d; do
    sed 's/^time: .*/time: {tolerance: 3.0e-3, end: 40}/; s/^output: .*/output: {every_seconds: 15}/' $case.yaml >paced.yaml
    try run paced.yaml --on serial --quiet --output paced
    exits 0 "$case runs with a tolerance"
    check "outputs are at the first step at or after each multiple, and the run ends where it should" \
        awk -F, 'NR > 1 { t[NR - 1] = $2 } END { exit !(NR == 4 && t[1] >= 15 && t[1] < 20 && t[2] >= 30 && t[2] < 36 && t[3] == 40) }' \
        paced/index.csv
    last=$(basename "$(ls paced/u_*.npy | tail -n 1)")
    for place in $places; do
        try run paced.yaml --on "${place%/*}" --set run.threads="${place#*/}" --quiet --output place
        check "$case: the same bytes from ${place%/*}, ${place#*/} threads" sh -c \
            'test ! -s .err && "$0" compare paced place' "$STRAKE"
        rm -rf half
        try run paced.yaml --on "${place%/*}" --quiet --output half --steps 9
        try run paced.yaml --on cpu --quiet --output half --resume half/checkpoint.strake
        check "$case: and where a run of ${place%/*} is resumed" "$STRAKE" compare paced/$last half/$last
    done
    try run paced.yaml --on cpu --quiet --output place --set output.every_seconds=0 --set output.every=1 --set diagnostics.every=1
    check "$case: and whatever is written on the way" "$STRAKE" compare paced/$last place/$last
    check "the free energy falls in every step" awk -F, 'NR > 2 { if (!($4 < last)) exit 1 } { last = $4 }' place/diagnostics.csv
    steps() { awk -F, 'END { print $1 + 0 }' $1/index.csv; }
    try run paced.yaml --on cpu --quiet --output close --set time.tolerance=1e-4
    check "$case: a lower tolerance takes more steps" test "$(steps close)" -gt "$(steps paced)"
done
if command -v mpirun >/dev/null 2>&1; then
    sed 's/^time: .*/time: {tolerance: 3.0e-3, end: 40}/; s/^output: .*/output: {every_seconds: 15}/' quench.yaml >paced.yaml
    try run paced.yaml --on serial --quiet --output paced
    timeout -k 5 600 mpirun --oversubscribe -np 3 "$STRAKE" run paced.yaml --on cpu --threads 1 --quiet --output ranks >.out 2>.err
    check "the same bytes with a tolerance on 3 ranks" "$STRAKE" compare paced ranks
fi
try run paced.yaml --on cpu --output few --set scheme.time=midpoint
fails 2 "a tolerance is for rkc" "time.tolerance" "scheme.time: rkc"
try run paced.yaml --on cpu --output few --set scheme.stages=8
fails 2 "whose stages follow from it" "leave out scheme.stages"
try run paced.yaml --on cpu --output few --set fields.u="{random: {seed: 1, minimum: -2, maximum: 2}}"
fails 2 "values far beyond the wells are refused" "fields.u: from -" "further beyond the wells"
try run quench.yaml --on cpu --output few --set output.every_seconds=1
fails 2 "outputs at times are for steps of different lengths" "every_seconds" "use every"
try run quench.yaml --on cpu --quiet --output half --steps 7
try run paced.yaml --on cpu --output half --resume half/checkpoint.strake
fails 2 "a run with a tolerance does not go on from one without" "belongs to another case" "time.tolerance"

# What `strake new` begins with.
for problem in cahn_hilliard2d cahn_hilliard3d; do
    "$STRAKE" new $problem >new.yaml
    check "a new case of $problem begins with such steps" grep -qE "^  (time: rkc|tolerance: )" new.yaml
    try run new.yaml --on cpu --quiet --output new
    exits 0 "and runs"
done

# Stages that follow from the time step, and those that are given.
for dt in 0.3 30; do
    try run quench.yaml --on cpu --quiet --output long --set time.dt=$dt
    exits 0 "steps of $dt s are stable"
done
try run quench.yaml --on cpu --output few --set scheme.stages=4
fails 2 "too few stages are refused" "time.dt: 0.3 is unstable with 4 stages" "scheme.stages: "
check "before there is any output" test ! -e few
enough=$(sed -n 's/.*scheme.stages: \([0-9]*\).*/\1/p' .err)
try run quench.yaml --on cpu --quiet --output few --set scheme.stages="$enough"
exits 0 "what the message says is enough"
try run quench.yaml --on cpu --output few --set time.dt=1e6
fails 2 "so is a time step for which there are none" "time.dt: 1000000" "smaller steps"
try run quench.yaml --on cpu --output few --set scheme.time=midpoint --set time.dt=0.01 --set scheme.stages=6
check "stages of another method have no effect, and a note says so" grep -q "note: .*scheme.stages.*scheme.time is not rkc" .err
try run quench.yaml --on cpu --quiet --output blown --set scheme.stages=3 --set scheme.unstable=allow
fails 1 "unstable steps end where they overflow" "NaN or Inf" "after step "
done_testing
