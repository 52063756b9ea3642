#!/bin/bash
# How many threads a CPU stripe has: by default, as asked, and where the system has not so many.
. "$(dirname "$0")/tap.bash"
unset OMP_NUM_THREADS # of tap.bash

threads() { grep -o '"threads": [0-9]*' "$1" | head -n 1 | grep -o '[0-9]*$'; }
default=$("$STRAKE" devices --json | grep -o '"default_threads": [0-9]*' | grep -o '[0-9]*$')

try run case.yaml --on cpu --quiet --report small.json --set grid.rows=64 --set grid.cols=64
exits 0 "a small grid runs"
check "by default it has one thread: more would wait for each other" test "$(threads small.json)" -eq 1
try run case.yaml --on cpu --quiet --report large.json --set grid.rows=1024 --set grid.cols=1024
exits 0 "a large grid runs"
check "by default it has the threads that strake devices says" test "$(threads large.json)" -eq "$default"
try run case.yaml --on cpu --quiet --report asked.json --set grid.rows=64 --set grid.cols=64 --threads 40
exits 0 "more threads than processors run"
check "as many as were asked for" test "$(threads asked.json)" -eq 40
OMP_NUM_THREADS=3,2 try run case.yaml --on cpu --quiet --report environment.json
check "OMP_NUM_THREADS asks for threads too" test "$(threads environment.json)" -eq 3
OMP_NUM_THREADS=abc try run case.yaml --on cpu --report environment.json
exits 0 "OMP_NUM_THREADS that is no number is no error"
check "but a note says so" grep -q '^strake: note: OMP_NUM_THREADS' .err

try check case.yaml --on cpu --threads 600 --set grid.rows=300 --set grid.cols=70
exits 0 "more threads than rows are no error"
check "but a note says how many there are" grep -q '^strake: note: threads: 600, but the 300 rows .* work for 300' .err
OMP_THREAD_LIMIT=2 try run case.yaml --on cpu --threads 3 --report limit.json
exits 0 "nor are more than OMP_THREAD_LIMIT"
check "the report has those there are" test "$(threads limit.json)" -eq 2
check "and a note says why" grep -q '^strake: note: threads: 3, but OMP_THREAD_LIMIT allows 2' .err

# Teams as asked for: workers move the memory of their rows, wherever the stripe lies.
processors=$("$STRAKE" devices --json | grep -o '"cores": [0-9]*' | head -n 1 | grep -o '[0-9]*$')
large=(run case.yaml --quiet --steps 3 --set grid.rows=1600 --set grid.cols=800)
if [ "$default" -lt 2 ] || [ "$default" -lt "$processors" ]; then
    skip "teams" "one processor, or a quota: nothing is bound"
else
    try "${large[@]}" --on serial --output serial
    teams=(--threads "$processors" --set run.teams=2 --report teams.json --output teams)
    try "${large[@]}" --on cpu "${teams[@]}"
    exits 0 "two teams run"
    check "the report says so" grep -q '"teams": 2' teams.json
    check "with the bytes of serial" cmp serial/psi_00000003.npy teams/psi_00000003.npy
    if "$STRAKE" devices | grep -q '^ocl:0'; then
        try "${large[@]}" --on ocl:0,cpu --split 1,3 "${teams[@]}"
        exits 0 "two teams run beside a device"
        check "as bound as alone" grep -q '"teams": 2' teams.json
        check "with the same bytes" cmp serial/psi_00000003.npy teams/psi_00000003.npy
    else
        skip "two teams beside a device" "no OpenCL device"
    fi
fi
try run case.yaml --on cpu --set run.teams=1024 --output many
exits 0 "more teams than processors are no error"
check "but a note says how many there are" \
    grep -q "^strake: note: run.teams: 1024, but this process may use $processors processors\?: so many" .err
try run case.yaml --on serial --set run.teams=1024 --output none
check "and none where no stripe has any" bash -c '! grep -q "so many" .err && grep -q "run.teams has no effect" .err'
try run case.yaml --on serial --set run.patience=5 --set run.unroll=4 --set run.wait=spin --set run.group_rows=3 --output none
check "keys of nobody who takes part are told by what they apply to" bash -c '
    grep -q "^strake: note: run.patience has no effect: no other rank takes part$" .err &&
    grep -q "^strake: note: run.wait, run.group_rows, run.unroll have no effect: no OpenCL device takes part$" .err'

if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "threads beyond a limit are an error of Strake's" "a sanitizer needs address space itself"
else
    (ulimit -v 3000000 && exec "$STRAKE" run case.yaml --on cpu --threads 2000 --output limited) \
        >.out 2>.err </dev/null
    code=$?
    fails 1 "threads beyond a limit are an error of Strake's" "threads: 2000" "--threads" "ulimit"
    check "which leaves no output behind" test ! -e limited
fi
# Sets of stages of two tracers are computed together, those of others one after the other: blocks are as wide as those of two.
columns() { # columns TRACERS: of a block, as a check says
    {
        printf 'problem: mpdata2d\ngrid: {rows: 16, cols: 8192}\ntime: {steps: 1}\ntracers: [%s]\n' "$1"
        printf 'run: {on: cpu, threads: 1, steps_per_sweep: 1}\nfields:\n  u1: {constant: 0.1}\n'
        printf '  u2: {constant: 0.1}\n  h: {random: {seed: 1, minimum: 1, maximum: 2}}\n'
        for name in ${1//,/}; do
            printf '  %s: {constant: 1}\n' "$name"
        done
    } >tracers.yaml
    "$STRAKE" check tracers.yaml | sed -n 's/.* \([0-9]*\) columns at once.*/\1/p'
}
two=$(columns 'a, b')
check "blocks of four tracers are as wide as those of two" test "$(columns 'a, b, c, d')" = "${two:?}"
done_testing
