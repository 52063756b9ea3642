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
OMP_NUM_THREADS=abc try run case.yaml --on cpu --quiet --report environment.json
exits 0 "OMP_NUM_THREADS that is no number is no error"
check "but a note says so" grep -q '^strake: note: OMP_NUM_THREADS' .err

if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "threads beyond a limit are an error of Strake's" "a sanitizer needs address space itself"
else
    (ulimit -v 3000000 && exec "$STRAKE" run case.yaml --on cpu --threads 2000 --output limited) \
        >.out 2>.err </dev/null
    code=$?
    fails 1 "threads beyond a limit are an error of Strake's" "threads: 2000" "--threads" "ulimit"
    check "which leaves no output behind" test ! -e limited
fi
done_testing
