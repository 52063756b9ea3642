#!/bin/bash
# Usage: bash bench/plan_members.sh STRAKE OUT
# Many small runs on a GPU, on the processors and on both: 64 and 1,024 lava flows of three days on real terrain, with one rate
# each, and whether every place gave each run the same bytes; then small grids of MPDATA and Cahn-Hilliard beside one of as
# many cells. Run it twice: the first time the driver compiles.
set -u
strake=$(realpath "$1") out=$(mkdir -p "$2" && realpath "$2")
cd "$(dirname "$0")/../data/cases" || exit 1
tables=$(mktemp -d)
trap 'rm -rf "$tables"' EXIT
log() { tee -a "$out/members.txt"; }

# scan NAME ARGUMENT...: the wall time of a scan, which starts anew
scan() {
    local name=$1 begin end
    shift
    rm -f "$tables/$name.csv"
    begin=$(date +%s.%N)
    timeout 300 "$strake" scan "$@" --table "$tables/$name.csv" --quiet
    end=$(date +%s.%N)
    awk -v n="$name" -v b="$begin" -v e="$end" 'BEGIN { printf "%-24s %7.2f s\n", n, e - b }' | log
}
same() { # same A B: the tables agree but for where runs were and how long they took
    if cmp -s <(cut -d, -f1-3,5,9- "$tables/$1.csv") <(cut -d, -f1-3,5,9- "$tables/$2.csv"); then
        echo "$1 and $2: the same bytes"
    else
        echo "$1 and $2 DIFFER"
    fi | log
}

{ "$strake" --version; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null; nproc; } | log
for runs in 64 1024; do
    flows=(lava-jacksboro.yaml --set time.end=259200 --over "vents[0].rate=random:5:40:$runs:7")
    scan "flows-$runs-gpu" "${flows[@]}" --on gpu:0
    scan "flows-$runs-cpu" "${flows[@]}" --on cpu
    scan "flows-$runs-both" "${flows[@]}" --on cpu,gpu:0
    same "flows-$runs-gpu" "flows-$runs-cpu"
    same "flows-$runs-gpu" "flows-$runs-both"
done
"$strake" new mpdata2d >"$tables/mpdata.yaml"
"$strake" new cahn_hilliard2d >"$tables/quench.yaml"
scan mpdata-1024-of-64x64 "$tables/mpdata.yaml" --set time.steps=8000 --set diagnostics.every=0 \
    --over time.dt=0.0002:0.001:1024 --on gpu:0 --members 1024
scan quench-512-of-128x128 "$tables/quench.yaml" --set grid.rows=128 --set grid.cols=128 --set time.steps=20000 \
    --set diagnostics.every=0 --over parameters.K=random:0.5:1:512:1 --on gpu:0 --members 512
