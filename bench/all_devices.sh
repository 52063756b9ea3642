#!/bin/sh
# All devices at once on a machine with a GPU and PoCL: parity and failures of mixtures, PoCL with half of
# the processors beside OpenMP with the other half, `auto` against the GPU alone, forced mixtures.
# usage: bench/all_devices.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# Lines of bench.jsonl are what `strake bench --report` writes; every command is in commands.txt.
set -u
out=$1
strake=${2:-build/strake}
half=$(($(nproc) / 2))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
{
    date -u +%Y-%m-%d
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    nproc
} >"$out/machine.txt"
"$strake" devices >"$out/devices.txt" 2>&1
: >"$out/bench.jsonl"
: >"$out/commands.txt"
# Drivers are listed in any order.
kind() { awk -v kind=", $1\$" '/^ocl:/ {id = $1} /^  vendor/ && $0 ~ kind {sub(":$", "", id); print id; exit}' "$out/devices.txt"; }
gpu=$(kind gpu)
pocl=$(kind cpu)

bench() { # SECONDS ENVIRONMENT ARGUMENTS...
    limit=$1 set=$2
    shift 2
    echo "$set strake bench $*" | tee -a "$out/commands.txt" >>"$out/bench.txt"
    # shellcheck disable=SC2086
    env $set timeout "$limit" "$strake" bench "$@" --quiet --report "$work/bench.jsonl" \
        >>"$out/bench.txt" 2>&1 && cat "$work/bench.jsonl" >>"$out/bench.jsonl"
    rm -f "$work/bench.jsonl"
}

cat >"$work/case.yaml" <<'YAML'
problem: mpdata2d
grid: {rows: 733, cols: 1021}
time: {dt: 0.1, steps: 400}
boundary: {rows: open, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {deformation: {amplitude: 0.4, waves: [3, 4]}}
  u2: {deformation: {amplitude: 0.4, waves: [3, 4]}}
  h: {random: {seed: 2, minimum: 1, maximum: 2}}
YAML
fails() { # WORD WHERE SPLIT
    echo "\$ STRAKE_INJECT=$1 strake run case.yaml --on $2 --split $3" >>"$out/failures.txt"
    STRAKE_INJECT=$1 timeout 30 "$strake" run "$work/case.yaml" --on "$2" --split "$3" --quiet \
        --set run.balance=model --set run.hang_seconds=0.5 --output "$work/other" \
        --report "$out/report.$(echo "$1" | tr -c 'a-z0-9\n' '_').json" >>"$out/failures.txt" 2>&1
    echo "status $?" >>"$out/failures.txt"
    "$strake" compare "$work/whole" "$work/other" >>"$out/failures.txt" 2>&1 || echo DIFFERENT >>"$out/failures.txt"
}
"$strake" run "$work/case.yaml" --on cpu --quiet --output "$work/whole"
fails "lost:$gpu@200" "cpu,$gpu" 1,4
fails "hang:$gpu@200" "cpu,$gpu,$gpu" 1,4,4
fails "hang:$gpu@400/output" "cpu,$gpu" 1,4
fails "slow:$gpu@200*3" "$gpu,$gpu" 1,1

bench 40 "POCL_MAX_PTHREAD_COUNT=$half OMP_NUM_THREADS=$half" --sizes 2048 --steps 100 --repeats 3 \
    --on cpu --on "$pocl" --on "cpu,$pocl"
bench 50 "POCL_MAX_PTHREAD_COUNT=$half OMP_NUM_THREADS=$half" --sizes 4096 --steps 40 --repeats 3 \
    --on cpu --on "$pocl" --on "cpu,$pocl"
for size in ${SIZES:-256 512 1024 2048 4096 8192}; do
    steps=$((8000000 / size / size * 100))
    [ "$steps" -gt 4000 ] && steps=4000
    [ "$steps" -lt 100 ] && steps=100
    bench 45 OCL_ICD_FILENAMES=libnvidia-opencl.so.1 --sizes "$size" --steps "$steps" --repeats 3 \
        --on cpu@15 --on ocl:0 --on auto --on cpu,ocl:0
done
OCL_ICD_FILENAMES=libnvidia-opencl.so.1 timeout 60 "$strake" check "$work/case.yaml" --on auto \
    --set grid.rows=8192 --set grid.cols=8192 >"$out/check.txt" 2>&1
bench 90 OCL_ICD_FILENAMES=libnvidia-opencl.so.1 --sizes 16384 --steps 60 --repeats 3 --on ocl:0 --on auto
