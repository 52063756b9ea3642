#!/bin/bash
# Limits of memory: those of a control group, where going beyond them ends a process without a word, and
# of address space. One message instead, or less memory taken.
build=$(realpath "${STRAKE_BUILD:-build}")
. "$(dirname "$0")/tap.bash"

if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    echo "1..0 # SKIP memory is not the program's own under a sanitizer"
    exit 0
fi
has_device=$("$STRAKE" devices 2>/dev/null | grep -c '^ocl:')

# 32 MiB each: psi twice, u1 and u2.
cat >flow.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 2048, cols: 2048}
time: {dt: 0.01, steps: 2}
fields:
  psi: {random: {seed: 1, minimum: 0, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.1, maximum: 0.1}}
  u2: {random: {seed: 3, minimum: -0.1, maximum: 0.1}}
CASE

short() { # short KIB ARGUMENTS...: a run with so many KiB of addresses
    local kib=$1
    shift
    code=0
    (ulimit -v "$kib" && exec "$STRAKE" "$@") >.out 2>.err </dev/null || code=$?
}
short 100000 run flow.yaml --on cpu --quiet
fails 1 'too few addresses are out of memory' 'out of memory' 'smaller grid'
if [ "$has_device" -gt 0 ]; then
    short 100000 run flow.yaml --on ocl:0 --quiet
    [ "$code" -eq 2 ] && grep -q 'ulimit -v 100000' .err && ! grep -qE 'install|clinfo' .err
    report $? 'where a driver finds no addresses, none is advised'
    # Between these limits drivers are loaded, and end the process when their compilers find no addresses.
    for kib in 250000 350000 450000 600000 800000; do
        STRAKE_CACHE_DIR=$scratch/cold POCL_CACHE_DIR=$scratch/cold short $kib devices
        [ "$code" -eq 0 ] && grep -q "ulimit -v $kib" .out
        report $? "nor is one asked that would end the program ($kib KiB)"
        STRAKE_CACHE_DIR=$scratch/cold POCL_CACHE_DIR=$scratch/cold short $kib run flow.yaml --on ocl:0 --quiet
        fails 2 "a run says so" "ulimit -v $kib"
    done
    short 600000 run flow.yaml --quiet --set grid.rows=100 --set grid.cols=100
    exits 0 'and goes on where it need not have one'
else
    skip 'where a driver finds no addresses, none is advised' 'no OpenCL device'
fi

# The stack of the program itself.
small() { # small KIB ARGUMENTS...: a run with so many KiB of stack
    local kib=$1
    shift
    code=0
    (ulimit -s "$kib" && exec "$STRAKE" "$@") >.out 2>.err </dev/null || code=$?
}
for command in "run case.yaml --on cpu --output stack" "run case.yaml --output stack" "check case.yaml" \
    "bench case.yaml --on cpu --steps 2 --repeats 1" "view stack" "compare stack stack" devices; do
    # shellcheck disable=SC2086
    small 128 $command
    exits 0 "${command%% --*} works with a stack of 128 KiB"
done
small 48 run case.yaml --on cpu --output stack
fails 1 'less is told, and what to do' 'KiB of stack left' 'ulimit -s'

# A group below this script's own, with a limit of its own. Version 1 only: a group of version 2 that has
# processes, as this script's, can have none below it with a limit.
own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
at=$(awk '$0 ~ / - cgroup / && $NF ~ /(^|,)memory(,|$)/ { print $5; exit }' /proc/self/mountinfo)
group=$at${own%/}/strake-test-$$
if [ -z "$at" ] || ! mkdir "$group" 2>/dev/null; then
    skip 'a real control group' 'this user can make none of version 1 here'
    done_testing
fi
trap 'rmdir "$group"; rm -rf "$scratch"' EXIT

within() { # within MIB ARGUMENTS...: a run in a group with a limit of so many MiB
    echo "$1M" >"$group/memory.limit_in_bytes"
    shift
    code=0
    (echo $BASHPID >"$group/cgroup.procs" && exec timeout 600 "$STRAKE" "$@") >.out 2>.err </dev/null || code=$?
}

try run flow.yaml --on cpu --quiet --output free
exits 0 'a run without limits'
within 100 run flow.yaml --on cpu --quiet
fails 1 'fields beyond the limit of a group are refused' 'control group' 'raise its limit'
# Their 128 MiB, the program, and the pages of the file that is written.
within 220 run flow.yaml --on cpu --quiet --output cpu
exits 0 'a limit that they need is enough'
check 'and the bytes are the same' cmp free/psi_00000002.npy cpu/psi_00000002.npy
within 300 run flow.yaml --on serial --quiet
fails 1 'what the reference needs is refused too' 'serial reference' 'control group'
if [ "$has_device" -gt 0 ]; then
    within 150 run flow.yaml --on ocl:0 --quiet --no-tune
    fails 1 'a driver needs more' 'control group'
    # The cache of compiled kernels may be cold: PoCL compiles in the process.
    within 450 run flow.yaml --on ocl:0 --quiet --no-tune --output device --report device.json
    exits 0 'a device on the processors takes what is left'
    check 'it streams instead of being killed' grep -q '"streams": [1-9]' device.json
    check 'with the same bytes' cmp free/psi_00000002.npy device/psi_00000002.npy
else
    skip 'a device in the group' 'no OpenCL device'
fi
done_testing
