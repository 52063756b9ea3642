#!/bin/bash
# Exchange between two GPUs: one device, two devices of one process, two ranks (memory in common, and
# messages), in turns, checksums compared; before that what pinned memory does between two contexts.
# usage, from the repository root: bash exchange_gpu.sh OUT [STRAKE]     LIMIT=175 seconds in all
# Needs two GPUs as ocl:0 and ocl:1, an MPI build, libOpenCL.so.1; exchange_pins.c beside this script and
# a C compiler for the first part (or the compiled program as $PINS), else that part is left out.
set -u
began=$SECONDS
limit=${LIMIT:-175}
here=$(dirname "$(realpath "$0")")
out=$1 strake=$(realpath "${2:-build/strake}")
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OCL_ICD_FILENAMES=${OCL_ICD_FILENAMES-libnvidia-opencl.so.1}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
: >"$out/rates.jsonl"; : >"$out/rates.txt"; : >"$out/sums.txt"; : >"$out/failures.txt"
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || echo 'commit unknown'
    uname -sr
    nproc
    mpirun --version | head -1
    cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null
} >"$out/machine.txt"
"$strake" devices >"$out/devices.txt" 2>&1
cat "$out/devices.txt"

pins=${PINS:-$work/pins}
[ -x "$pins" ] || cc -O2 -w "$here/exchange_pins.c" -o "$pins" -ldl -lpthread 2>/dev/null ||
    gcc -O2 -w "$here/exchange_pins.c" -o "$pins" -ldl -lpthread
[ -x "$pins" ] && timeout 30 "$pins" 2>&1 | tee "$out/pins.txt"

noise='time: {dt: 0.004, steps: 1}
scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}'
echo "problem: cahn_hilliard2d
grid: {rows: ${N2:-8192}, cols: ${N2:-8192}}
$noise" >"$work/ch2d.yaml"
for n in ${N3:-512 384}; do
    echo "problem: cahn_hilliard3d
grid: {planes: $n, rows: $n, cols: $n}
$noise" >"$work/ch3d$n.yaml"
done
echo "problem: mpdata2d
grid: {rows: ${N2:-8192}, cols: ${N2:-8192}}
time: {dt: 0.1, steps: 1}
boundary: {rows: periodic, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: 1, maximum: 2}}
  u1: {random: {seed: 2, minimum: -0.2, maximum: 0.2}}
  u2: {random: {seed: 3, minimum: -0.2, maximum: 0.2}}
  h: {random: {seed: 4, minimum: 1, maximum: 2}}
output: {fields: []}" >"$work/mpdata2d.yaml"

any() { # CASE STEPS KIND SET...
    local case=$1 steps=$2 kind=$3 set=() left=$((limit - (SECONDS - began))) start=$SECONDS
    shift 3
    [ $left -gt 8 ] || return 0
    for s in "$@"; do set+=(--set "$s"); done
    local common=(run "$work/$case.yaml" --steps "$steps" --quiet --report "$work/report.json" "${set[@]}")
    local command
    case $kind in
        one) command=("$strake" "${common[@]}" --on ocl:0) ;;
        two) command=("$strake" "${common[@]}" --on "${TWO:-ocl:0,ocl:1}") ;;
        ranks) command=(mpirun -np 2 "$strake" "${common[@]}" --on "${RANKS:-ocl:0/ocl:1}") ;;
    esac
    rm -f "$work/report.json"
    timeout -k 3 $((left < 60 ? left : 60)) "${command[@]}" >"$work/err" 2>&1 || {
        echo "$case $kind $*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"case": "%s", "kind": "%s", "set": "%s", "report": %s}\n' "$case" "$kind" "$*" \
        "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
    echo "$case $(grep -o '"checksum": "[0-9a-f]*"' "$work/report.json" | head -1)" >>"$out/sums.txt"
    printf '%-9s %-6s %-32s %9.1f Gcell/s  %2d s in all\n' "$case" "$kind" "$*" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 | awk '{print $2 / 1e9}')" \
        $((SECONDS - start)) | tee -a "$out/rates.txt"
}
steps=${STEPS:-400}
for round in 1 2 3; do
    for case in $(basename -s .yaml "$work"/ch3d*.yaml) ch2d mpdata2d; do
        any $case "$steps" one
        any $case "$steps" two run.balance=fixed
        any $case "$steps" ranks run.shares=1,1
        [ $round != 1 ] || [ "${case#ch}" = "$case" ] || {
            any $case "$steps" ranks run.shares=1,1 run.exchange=messages
            any $case "$steps" ranks run.shares=1,1 run.exchange=one_way
        }
    done
    if [ $round = 1 ]; then
        for case in $(basename -s .yaml "$work"/ch3d*.yaml) ch2d; do
            any $case "$steps" two run.balance=fixed run.steps_per_sweep=1
            any $case "$steps" two
        done
    fi
done
sort -u "$out/sums.txt" | awk '{ print $1 }' | uniq -c |
    awk '{ print $2 ": " ($1 == 1 ? "equal bits" : "DIFFERENT bits") }' | tee "$out/bits.txt"
cat "$out/failures.txt"
echo "$((SECONDS - began)) s"
