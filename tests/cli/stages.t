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
    rm -rf half
    try run paced.yaml --on cpu --quiet --output half --steps 9
    timeout -k 5 600 mpirun --oversubscribe -np 2 "$STRAKE" run paced.yaml --on cpu --threads 1 --quiet --output half \
        --resume half/checkpoint.strake >.out 2>.err
    check "and where ranks go on from a checkpoint" "$STRAKE" compare "paced/$(basename "$(ls paced/u_*.npy | tail -n 1)")" \
        "half/$(basename "$(ls half/u_*.npy | tail -n 1)")"
fi
try run paced.yaml --on cpu --output few --set scheme.time=midpoint
fails 2 "a tolerance is for rkc" "time.tolerance" "scheme.time: rkc"
try run paced.yaml --on cpu --output few --set scheme.stages=8
fails 2 "whose stages follow from it" "leave out scheme.stages"
try run paced.yaml --on cpu --output few --set fields.u="{random: {seed: 1, minimum: -2, maximum: 2}}"
fails 2 "values far beyond the wells are refused" "fields.u: from -" "further beyond the wells"
try run paced.yaml --on cpu --quiet --output few --set time.tolerance=1e-16
fails 1 "so is a tolerance below what rounding makes" "time.tolerance: 1e-16 is less than the error of a step" "double precision"
try run paced.yaml --on cpu --quiet --output few --set time.tolerance=1e-7 --set precision=single
fails 1 "which is more in single precision" "time.tolerance: 1e-07 is less" "single precision"
try run paced.yaml --on cpu --quiet --output few --set parameters.U=-1
fails 1 "and where states grow without bound" "time.tolerance: 0.003 is less" "grow without bound"
try run paced.yaml --on cpu --quiet --output few --set grid.dx=1e-100
fails 2 "cells for which no step is short enough are refused" "time.tolerance: " "look at the parameters"
rm -rf few
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
fails 2 "so is a time step for which there are none" "time.dt: 1000000" "even with 1000 stages" "smaller steps"
try run quench.yaml --on cpu --output few --set scheme.time=midpoint --set time.dt=0.01 --set scheme.stages=6
check "stages of another method have no effect, and a note says so" grep -q "note: .*scheme.stages.*scheme.time is not rkc" .err
try run quench.yaml --on cpu --quiet --output blown --set scheme.stages=3 --set scheme.unstable=allow
fails 1 "unstable steps end where they overflow" "NaN or Inf" "after step "

# A problem in a file of its own that says how stiff it is.
cat >stiff.c <<'C'
#include "strake_problem.h"

STRAKE_POINT_FUNCTION real stiff_rate(real c, real n, real s, real w, real e)
{
    return (n + s - (c + c)) + (w + e - (c + c));
}
STRAKE_POINT_FUNCTION real stiff_begun(real begins, real now, real then)
{
    return begins > REAL(0.0) ? now : then;
}
STRAKE_POINT_FUNCTION real stiff_stage(real a, real start, real mu, real last, real nu, real before, real mt, real rate,
                                       real g, real first)
{
    return ((a * start + mu * last) + nu * before) + (mt * rate + g * first);
}
STRAKE_POINT_FUNCTION real stiff_same(real x)
{
    return x;
}
#define STIFF_POINTS(X) X(stiff_rate, 5, 6, 0, 0, 0) X(stiff_begun, 3, 0, 0, 0, 2) X(stiff_stage, 10, 4, 5, 0, 0) X(stiff_same, 1, 0, 0, 0, 0)
STRAKE_POINTS(STIFF_POINTS)

#ifdef STRAKE_HOST
enum { T, START, RATE, BEFORE, FIELDS };
static const strake_field fields[] = {
    [T] = {"T", STRAKE_CELL, .is_state = true, .required = true, .unit = "[K]", .text = "temperature"},
    [START] = {"start", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[K]", .text = "Y_0"},
    [RATE] = {"rate", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[K/s]", .text = "F(Y_0)"},
    [BEFORE] = {"before", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[K]", .text = "Y_{j-2}"},
};
static strake_read at(int value, int row, int column)
{
    return (strake_read){value, {row, 0, column}};
}
static strake_status build(const strake_case *which, const bool *constant, const double *number, strake_graph *g,
                           strake_error *error)
{
    static const char *const names[STRAKE_RKC_TELLS] = {"begins", "a", "mu", "nu", "mt", "g", "change", "rates"};
    int in[FIELDS], told[STRAKE_RKC_TELLS];
    (void)constant;
    (void)number;
    strake_graph_begin(g, which->precision);
    for (int f = 0; f < FIELDS; f++) {
        in[f] = strake_graph_input(g, fields[f].name, false);
    }
    for (int k = 0; k < STRAKE_RKC_TELLS; k++) {
        told[k] = strake_graph_scalar(g, names[k]);
    }
    const int rate = STRAKE_STAGE(g, 1, "rate_now", stiff_rate, at(in[T], 0, 0), at(in[T], -1, 0), at(in[T], 1, 0),
                                  at(in[T], 0, -1), at(in[T], 0, 1));
    const int start = STRAKE_STAGE(g, 1, "start_next", stiff_begun, at(told[STRAKE_RKC_BEGINS], 0, 0), at(in[T], 0, 0),
                                   at(in[START], 0, 0));
    const int first = STRAKE_STAGE(g, 1, "rate_next", stiff_begun, at(told[STRAKE_RKC_BEGINS], 0, 0), at(rate, 0, 0),
                                   at(in[RATE], 0, 0));
    const int next = STRAKE_STAGE(g, 1, "T_next", stiff_stage, at(told[STRAKE_RKC_START], 0, 0), at(start, 0, 0),
                                  at(told[STRAKE_RKC_LAST], 0, 0), at(in[T], 0, 0), at(told[STRAKE_RKC_BEFORE], 0, 0),
                                  at(in[BEFORE], 0, 0), at(told[STRAKE_RKC_RATE], 0, 0), at(rate, 0, 0),
                                  at(told[STRAKE_RKC_FIRST], 0, 0), at(first, 0, 0));
    strake_graph_state(g, in[START], start);
    strake_graph_state(g, in[RATE], first);
    strake_graph_state(g, in[BEFORE], STRAKE_STAGE(g, 1, "before_next", stiff_same, at(in[T], 0, 0)));
    strake_graph_state(g, in[T], next);
    return strake_graph_finish(g, error);
}
static int stages(const strake_case *which, double dt, int *at_once)
{
    (void)which;
    *at_once = 1;
    return strake_rkc_stages(8.0 * dt);
}
STRAKE_PROBLEM(stiff2d) = {
    .name = "stiff2d", .text = "diffusion in a plane by steps of several stages", .dims = 2, .fields = FIELDS,
    .field = fields, .boundaries = 1U << STRAKE_PERIODIC, .dt_required = true, .build = build, .stages = stages,
    .example = "grid: {rows: 40, cols: 40}\ntime: {dt: 2, steps: 10}\n"
               "fields: {T: {sine: {amplitude: 1, waves: [2, 1]}}}\n",
};
#endif
C
export STRAKE_CACHE_DIR=$scratch/cache
try problem build stiff.c
if [ "$code" -eq 0 ]; then
    "$STRAKE" new stiff.c >stiff.yaml
    try run stiff.yaml --on serial --quiet --output stiff
    exits 0 "a problem in a file has stages, too"
    try run stiff.yaml --on cpu --quiet --output place
    check "with the same bytes on threads" "$STRAKE" compare stiff place
    try run stiff.yaml --on cpu --quiet --output short --set time.dt=0.125 --set time.steps=160
    sed 's/^time:.*/time: {tolerance: 0.01, end: 20}/' quench.yaml | grep -v '^[bsocd]' | sed 's/cahn_hilliard2d/stiff2d/; s/{u:/{T:/' >wrong.yaml
    try run wrong.yaml --on cpu --output wrong --set problem="{file: stiff.c}"
    fails 2 "one whose stages do not estimate their error has no tolerance" "minus the error of the last"
    mv short/T_00000160.npy short.npy
    sed -e 's|^#define STIFF_POINTS(X)|& X(stiff_error, 6, 4, 3, 0, 0)|' \
        -e 's|^    strake_graph_state(g, in.START., start);|&\
    strake_graph_reduce(g, STRAKE_STAGE(g, 1, "err", stiff_error, at(told[STRAKE_RKC_CHANGE], 0, 0), at(in[START], 0, 0),\
        at(in[T], 0, 0), at(told[STRAKE_RKC_RATES], 0, 0), at(in[RATE], 0, 0), at(rate, 0, 0)), STRAKE_MINIMUM);|' \
        -e 's|^#define STIFF_POINTS|STRAKE_POINT_FUNCTION real stiff_error(real c, real s, real t, real d, real f, real r)\
{\
    const real e = c * (s - t) + d * (f + r);\
    return e > REAL(0.0) ? -e : e;\
}\
&|' stiff.c >judged.c
    try problem build judged.c
    exits 0 "one that estimates its error is built"
    cat >judged.yaml <<'CASE'
problem: {file: judged.c}
grid: {rows: 40, cols: 40}
time: {tolerance: 1.0e-4, end: 20}
fields: {T: {sine: {amplitude: 1, waves: [2, 1]}}}
CASE
    try run judged.yaml --on serial --quiet --output judged
    exits 0 "and has steps of different lengths, with one stage at once"
    try run judged.yaml --on cpu --quiet --output place
    check "which have the same bytes on threads" "$STRAKE" compare "judged/$(basename "$(ls judged/T_*.npy | tail -n 1)")" \
        "place/$(basename "$(ls judged/T_*.npy | tail -n 1)")"
    check "and follow short steps, too" "$STRAKE" compare "judged/$(basename "$(ls judged/T_*.npy | tail -n 1)")" short.npy \
        --tolerance 2e-3
    check "and follows short steps" "$STRAKE" compare stiff/T_00000010.npy short.npy --tolerance 2e-3
else
    report 1 "a problem in a file with stages is built"
fi
printf 'problem: cahn_hilliard2d\ngrid: {rows: 8, cols: 8}\ntime: {dt: 0.001, steps: 1}\nscheme: {time: rkc, stages: 1}\nfields: {u: {constant: 0.1}}\n' >one.yaml
try run one.yaml --quiet
fails 2 "a step of one stage is refused" "one.yaml: scheme.stages: found 1, expected at least 2"
done_testing
