#!/bin/sh
# Are the models right? Exchange times that `strake model` predicts beside those of real runs.
# usage: bench/plan_model.sh OUTPUT_FOLDER [STRAKE [DEVICES]]    (from the repository root, after `make`)
# Writes model.json, model.svg, model.txt, one report a line in exchange.jsonl, and
# exchange.txt: for DEVICES (default: all GPUs, else all devices) bytes each way, predicted and measured
# times, their ratio, and how many sizes are within 15 %. A run that LIMIT leaves no time for is left out
# and said so; every size has had its turn before one has its second.
# Variables: MODEL_ON (what to model, default DEVICES), BUDGET (seconds of the models), LIMIT (of everything,
# about), SIZES (columns), ROWS, STEPS, ROUNDS, SPLIT, THREADS (of the CPU stripe). The samples are those of
# all rounds; measured is the median of the rounds.
set -eu
out=$1
strake=${2:-build/strake}
began=$(date +%s)
listed=$("$strake" devices --json | sed -n 's/.*"id": "\(ocl:[0-9]*\)", "kind": "\([a-z]*\)".*/\2 \1/p')
gpus=$(echo "$listed" | sed -n '/^cpu /d; s/.* //p' | tr '\n' ' ')
devices=${3:-${gpus:-$(echo "$listed" | sed 's/.* //' | tr '\n' ' ')}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out/failures.txt"
export STRAKE_CACHE_DIR="$work/cache"
{
    date -u +%Y-%m-%d
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    nproc
} >"$out/machine.txt"
"$strake" model data/cases/rotating-cone.yaml --on "${MODEL_ON:-$(echo $devices | tr ' ' ',')}" \
    --budget "${BUDGET:-30}" --quiet --report "$out/model.json" --plot "$out/model.svg" >"$out/model.txt"
: >"$out/exchange.jsonl"

sed "s/ROWS/${ROWS:-256}/" >"$work/case.yaml" <<'YAML'
problem: mpdata2d
grid: {rows: ROWS, cols: 512}
time: {dt: 0.1, steps: 1000}
boundary: {rows: open, cols: open}
fields:
  psi: {random: {seed: 1, minimum: 0, maximum: 1}}
  u1: {constant: 0.2}
  u2: {constant: -0.1}
output: {fields: []}
YAML
# A CPU stripe beside a device's stripe, with one border in common; 16 sweeps go by
# before the first exchange is timed, then one of 64 is.
run() { # COLUMNS STEPS_PER_SWEEP ON SPLIT DEVICE
    if [ $(($(date +%s) - began)) -ge "${LIMIT:-130}" ]; then
        echo "$*: left out, ${LIMIT:-130} s have passed" >>"$out/failures.txt"
        return 0
    fi
    "$strake" run "$work/case.yaml" --on "$3" --split "$4" --threads "${THREADS:-1}" --no-tune --quiet \
        --steps "${STEPS:-300}" --set "grid.cols=$1" --set "run.steps_per_sweep=$2" \
        --report "$work/report.json" 2>"$work/err" || {
        echo "$*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"cols": %s, "on": "%s", "device": "%s", "report": %s}\n' "$1" "$3" "$5" \
        "$(tr -d '\n' <"$work/report.json")" >>"$out/exchange.jsonl"
    grep -o '"id": "ocl:[0-9]*".*' "$work/report.json" | sed -n "s/.*\"model\": {\\([^}]*\\)}.*/\\1/p" |
        while read -r line; do
            value() { echo "$line" | sed -n "s/.*\"$1\": \\([^,]*\\).*/\\1/p"; }
            echo "$5 $1 $2 $(value bytes_down) $(value messages_down) $(value samples)" \
                "$(value predicted_exchange_seconds) $(value measured_exchange_seconds)"
        done >>"$work/points"
}
: >"$work/points"
round=0
while [ "$round" -lt "${ROUNDS:-3}" ]; do
    for device in $devices; do
        for cols in ${SIZES:-256 512 1024 2048 4096 8192 16384}; do
            run "$cols" 1 "cpu,$device" "${SPLIT:-1,7}" "$device"
        done
    done
    round=$((round + 1))
done
sort -k1,1 -k2,2n -k8,8g "$work/points" | awk '
    function flush(    ratio) {
        if (n > 0) {
            m = n % 2 ? t[(n + 1) / 2] : (t[n / 2] + t[n / 2 + 1]) / 2
            ratio = p / m
            sizes++
            good += ratio >= 1 / 1.15 && ratio <= 1.15
            printf "%-7s %9d %9d %8d %13.2f %13.2f %19.3f\n", id, cols, bytes, samples, 1e6 * p, 1e6 * m, ratio
        }
        n = 0
        samples = 0
    }
    BEGIN { printf "%-7s %9s %9s %8s %13s %13s %19s\n", "device", "columns", "bytes", "samples", "predicted us", "measured us", "predicted/measured" }
    { if ($1 " " $2 != key) flush(); key = $1 " " $2; id = $1; cols = $2; bytes = $4; samples += $6; p = $7; t[++n] = $8 }
    END { flush(); printf "within 15 %%: %d of %d sizes\n", good, sizes }' | tee "$out/exchange.txt"
[ ! -s "$out/failures.txt" ] || sed 's/^/not measured: /' "$out/failures.txt"
