#!/bin/sh
# The GPUs of one machine as devices of one process and as ranks of mpirun, one device each: 1, 2, 4 and
# so on up to all of them. Ranks exchange rows in memory that they have in common (ranks), in messages, and
# (Cahn-Hilliard) one way. About seven minutes on four H200s.
# usage: bench/plan_mpi_h200.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# Every line of OUTPUT_FOLDER/rates.jsonl is one report; bits.txt says whether all agree in bits.
set -eu
out=$1
strake=${2:-build/strake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || echo 'commit unknown'
    uname -sr
    nproc
    mpirun --version | head -1
} >"$out/machine.txt"
"$strake" devices >"$out/devices.txt"
: >"$out/rates.jsonl"
: >"$out/rates.txt"
: >"$out/sums.txt"
gpus=${GPUS:-$(grep -c '^ocl:[0-9]' "$out/devices.txt")}

write() { # NAME PROBLEM GRID REST
    cat >"$work/$1.yaml" <<YAML
problem: $2
grid: {$3}
$4
output: {fields: []}
YAML
}
flow='time: {dt: 0.1, steps: 1}
boundary: {rows: open, cols: open}
fields:
  psi: {gaussian: {center: [3000, 5000], sigma: 700, height: 1, base: 0.5}}
  u1: {constant: 0.3}
  u2: {constant: -0.2}'
noise='scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}'
write flow8192 mpdata2d 'rows: 8192, cols: 8192' "$flow"
write flow16384 mpdata2d 'rows: 16384, cols: 16384' "$flow"
write spinodal8192 cahn_hilliard2d 'rows: 8192, cols: 8192' "time: {dt: 0.004, steps: 1}
$noise"
write spinodal512 cahn_hilliard3d 'planes: 512, rows: 512, cols: 512' "time: {dt: 0.004, steps: 1}
$noise"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
any() { # CASE STEPS KIND COUNT
    list=ocl:0 ranks=ocl:0 k=1
    while [ $k -lt "$4" ]; do
        list=$list,ocl:$k ranks=$ranks/ocl:$k
        k=$((k + 1))
    done
    exchange=$3
    [ "$3" != ranks ] || exchange=both
    if [ "$3" != devices ]; then
        set -- "$1" "$2" "$3" "$4" mpirun -np "$4" "$strake" run "$work/$1.yaml" --on "$ranks" \
            --set run.exchange="$exchange"
    else
        set -- "$1" "$2" "$3" "$4" "$strake" run "$work/$1.yaml" --on "$list"
    fi
    case=$1 steps=$2 kind=$3 count=$4
    shift 4
    timeout -k 5 90 "$@" --steps "$steps" --quiet --report "$work/report.json" >"$work/err" 2>&1 || {
        echo "$case $kind $count: $(head -c 400 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"case": "%s", "kind": "%s", "gpus": %s, "report": %s}\n' "$case" "$kind" "$count" \
        "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
    echo "$case $(grep -o '"checksum": "[0-9a-f]*"' "$work/report.json" | head -1)" >>"$out/sums.txt"
    printf '%-12s %-8s %2d %12.1f Mcell/s\n' "$case" "$kind" "$count" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 |
            awk '{print $2 / 1e6}')" | tee -a "$out/rates.txt"
}
for case in spinodal8192 spinodal512; do
    steps=${STEPS:-300}
    [ $case = flow16384 ] && steps=${STEPS:-100}
    count=1
    while [ $count -le "$gpus" ]; do
        for round in ${ROUNDS2:-1 2}; do
            any $case "$steps" devices $count
            [ $count -gt 1 ] || continue
            any $case "$steps" ranks $count
            any $case "$steps" messages $count
            case $case in
                spinodal*) any $case "$steps" one_way $count ;;
            esac
        done
        count=$((count * 2))
    done
done
sort -u "$out/sums.txt" | awk '{ print $1 }' | uniq -c |
    awk '{ print $2 ": " ($1 == 1 ? "equal bits" : "DIFFERENT bits") }' | tee "$out/bits.txt"
