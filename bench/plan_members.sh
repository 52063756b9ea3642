#!/bin/bash
# Usage: bash bench/plan_members.sh STRAKE OUT
# Many small runs on a GPU, on the processors and on both: 64 and 1,024 lava flows of three days on real terrain, with one
# rate each, and whether every place gave each run the same bytes; then rates of small grids of MPDATA and Cahn-Hilliard by their
# number and size (`strake bench --members`). Run it twice: the first time the driver compiles.
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
# bench PROBLEM ARGUMENT...: rates by the number of runs and the size of their grid
bench() {
    "$strake" new "$1" >"$tables/$1.yaml"
    timeout 600 "$strake" bench "$tables/$1.yaml" --set diagnostics.every=0 --repeats 3 "${@:2}" \
        --on cpu --on gpu:0 --on cpu,gpu:0 --report "$out/$1.jsonl" --plot "$out/$1.svg" --quiet | log
}
bench mpdata2d --members 16,256,1024 --sizes 64,128 --steps 8000
bench cahn_hilliard2d --members 16,128,512 --sizes 64,128 --steps 10000
