#!/bin/bash
# Folders that cannot be written, full disks, size limits: a clear message, nothing half-written.
. "$(dirname "$0")/tap.bash"

run="run case.yaml --on serial --quiet"
printf x >file
# shellcheck disable=SC2086
{
    try $run --output file
    fails 1 "the output folder is a file" "cannot write to folder file" "not a folder"
    try $run --output file/sub/folder
    fails 1 "the output folder lies below a file" "cannot write to folder file/sub/folder"
    try $run --output /proc/strake
    fails 1 "the output folder cannot be made" "/proc/strake"
    try $run --report missing/report.json
    fails 1 "the report's folder is missing" "missing/report.json"
    check "a run that cannot write its report does not begin" test ! -e out
    mkdir folder
    try $run --report folder
    fails 1 "the report is a folder" "folder"
    try $run --report file/report.json
    fails 1 "the report lies below a file" "file/report.json"
    try run missing.yaml --on serial
    check "a missing case is named" grep -q '^strake: missing.yaml' .err
    sed 's/{random: [^}]*}}/{file: missing.npy}/' case.yaml >other.yaml
    try run other.yaml --on serial --quiet
    check "a missing field file is named" grep -q 'missing.npy' .err
}
if [ -c /dev/full ]; then
    # shellcheck disable=SC2086
    try $run --report /dev/full
    fails 1 "a report that does not fit" "/dev/full" "no space left"
fi

leftovers() { find "$1" -name '*tmp*' | grep -q .; }

# A limit on file sizes: SIGXFSZ must not kill the program.
# ThreadSanitizer keeps its own memory in files, which such a limit takes away.
if [ "${STRAKE_TESTS_SANITIZER:-}" = thread ]; then
    skip "an output larger than the limit on file sizes" "not possible under ThreadSanitizer"
    skip "a checkpoint larger than the limit on file sizes" "not possible under ThreadSanitizer"
else
    mkdir limited
    code=0
    (
        ulimit -f 30
        # shellcheck disable=SC2086
        exec "$STRAKE" $run --output limited >.out 2>.err </dev/null
    ) || code=$?
    fails 1 "an output larger than the limit on file sizes" "psi_00000020.npy"
    check "leaves no half-written output" test "$(ls -A limited)" = run.json
    code=0
    (
        ulimit -f 30
        # shellcheck disable=SC2086
        exec "$STRAKE" $run --output limited --set checkpoint.every=5 >.out 2>.err </dev/null
    ) || code=$?
    fails 1 "a checkpoint larger than the limit on file sizes" "checkpoint.strake"
    check "leaves no half-written checkpoint" test "$(ls -A limited)" = run.json
fi

# Full and read-only disks need a file system of their own.
mkdir disk
if mount -t tmpfs -o size=120k none disk 2>/dev/null; then
    trap 'end_processes "$mark"; umount "$scratch/disk" 2>/dev/null; rm -rf "$scratch"' EXIT
    # shellcheck disable=SC2086
    try $run --output disk/out --set output.every=5
    fails 1 "a disk that becomes full" "disk/out"
    check "was announced" grep -q '^strake: warning: .*free' .err
    check "leaves no half-written output" bash -c '! find disk -name "*tmp*" | grep -q .'
    cp -r disk/out kept
    try run case.yaml --on serial --quiet --output whole --set output.every=5
    good=0
    for name in $(tail -n +2 kept/index.csv | cut -d, -f4); do
        cmp -s "kept/$name" "whole/$name" || good=1
    done
    report $good "every file in the index of the stopped run is complete"
    rm -rf disk/out
    # shellcheck disable=SC2086
    try $run --output disk/out --set checkpoint.every=3 --set 'output.fields=[psi]'
    exits 0 "one output and two checkpoints fit"
    # The old checkpoint survives a new one that does not fit.
    cp disk/out/checkpoint.strake before
    rm disk/out/psi_00000020.npy
    head -c 40000 /dev/zero >disk/filler
    # shellcheck disable=SC2086
    try $run --output disk/out --set checkpoint.every=3
    fails 1 "a checkpoint that does not fit" "checkpoint.strake" "no space left"
    check "leaves the one before it" cmp before disk/out/checkpoint.strake
    rm disk/filler
    if mount -o remount,ro disk 2>/dev/null; then
        # shellcheck disable=SC2086
        try $run --output disk/out
        fails 1 "a read-only disk" "disk/out" "ead-only"
    else
        skip "a read-only disk" "cannot remount"
    fi
    umount disk
else
    skip "a disk that becomes full" "cannot mount a tmpfs here"
    skip "a read-only disk" "cannot mount a tmpfs here"
fi
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    chmod 555 locked
    # shellcheck disable=SC2086
    try $run --output locked
    fails 1 "a folder without write permission" "locked" "Permission denied"
else
    skip "a folder without write permission" "root may write everywhere"
fi
done_testing
