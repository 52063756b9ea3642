#!/bin/bash
# Programs that use the library from threads with small stacks, and in children of fork().
build=$(realpath "${STRAKE_BUILD:-build}")
. "$(dirname "$0")/tap.bash"
caller=$build/tests/caller
has_device=$("$STRAKE" devices 2>/dev/null | grep -c '^ocl:')

call() { # call ARGUMENTS...: leaves $code, .out and .err; what waits for ever ends with 124
    code=0
    timeout --kill-after=5 600 "$caller" "$@" >.out 2>.err </dev/null || code=$?
}

cold() { # no kernel was compiled before
    rm -rf cold
    mkdir cold
    export POCL_CACHE_DIR=$scratch/cold/pocl STRAKE_CACHE_DIR=$scratch/cold/strake
}

lines() { # lines NAME PATTERN...: what was printed, line by line
    local name=$1 good=$code at=0 pattern
    shift
    [ "$(wc -l <.out)" -eq $# ] || good=1
    for pattern in "$@"; do
        at=$((at + 1))
        sed -n "${at}p" .out | grep -qE -- "$pattern" || good=1
    done
    report "$good" "$name"
}

needs_device() { # needs_device NAME: skips a test without an OpenCL device
    [ "$has_device" -gt 0 ] && return 0
    skip "$1" "no OpenCL device"
    return 1
}

call thread 8192 serial
sum=$(cat .out)
[[ $sum =~ ^[0-9a-f]{16}$ ]]
report $? 'a thread with a usual stack runs a case'

stacks() {
    local kib
    for kib in 16 32 48; do
        call thread $kib cpu
        lines "a stack of $kib KiB is refused with a message" '^this thread has [0-9]+ KiB of stack left, and opening'
    done
    for kib in 64 128; do
        call thread $kib cpu 4
        lines "a stack of $kib KiB is enough" "^$sum\$"
        [ "$(sed -n 's/ KiB touched//p' .err)" -le 48 ]
        report $? "a quarter of it stays untouched at $kib KiB"
    done
    if needs_device 'small stacks with OpenCL'; then
        call thread 80 ocl:0
        lines 'a stack of 80 KiB is refused for OpenCL' '^this thread has [0-9]+ KiB of stack left, and an OpenCL driver'
        cold
        OMP_STACKSIZE=64k call thread 128 cpu,ocl:0
        lines 'a stack of 128 KiB is enough to compile kernels of OpenCL' "^$sum\$"
    fi
    OMP_STACKSIZE=16k call thread 8192 cpu 3
    lines 'OpenMP threads with 16 KiB are refused with a message' '^threads: 3, with .* unset OMP_STACKSIZE, or set it to 64k'
    OMP_STACKSIZE=64k call thread 8192 cpu 3
    lines 'OpenMP threads with 64 KiB are enough' "^$sum\$"
    printf 'problem: cahn_hilliard3d\ngrid: {planes: 24, rows: 20, cols: 20}\ntime: {dt: 0.01, steps: 30}\n' >ch.yaml
    printf 'scheme: {time: midpoint}\nfields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}\n' >>ch.yaml
    CALLER_CASE=ch.yaml call thread 8192 serial
    cp .out expected
    CALLER_CASE=ch.yaml OMP_STACKSIZE=48k call thread 64 cpu 3
    cmp -s .out expected
    report $? 'so they are in three dimensions'
}
if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip 'small stacks' "a sanitizer's frames are larger"
else
    stacks
fi

call carry cpu
lines 'a child of fork() cannot use the solver of its parent, and closes it; the parent goes on' "^$sum\$" \
    'opened before fork\(\)' '^closed$' '^[0-9a-f]{16}$'
call child cpu cpu
lines 'a thread that ran a solver opens none in its child' "^$sum\$" '^this thread ran solvers in process [0-9]+ before fork'
call other cpu cpu
lines 'one that never ran any does' "^$sum\$" "^$sum\$"
if needs_device 'fork() after OpenCL'; then
    call carry cpu,ocl:0
    lines 'the same with a device' "^$sum\$" 'opened before fork\(\)' '^closed$' '^[0-9a-f]{16}$'
    call other ocl:0 ocl:0
    lines 'after OpenCL was used a child has no devices' "^$sum\$" 'OpenCL was used before fork\(\)'
    call other ocl:0 cpu
    lines 'but the processors' "^$sum\$" "^$sum\$"
fi
done_testing
