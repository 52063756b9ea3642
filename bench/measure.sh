#!/bin/sh
# Measures one machine: devices, parity of every device and mixture, rates by size and placement.
# usage: bench/measure.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# Every line of OUTPUT_FOLDER/rates.jsonl is one `strake run --report` with the command that made it.
set -eu
out=$1
strake=${2:-build/strake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
{
    date -u +%Y-%m-%d
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    nproc
} >"$out/machine.txt"
"$strake" devices --json >"$out/devices.json"
"$strake" devices >"$out/devices.txt"
devices=$(grep -o 'ocl:[0-9]*' "$out/devices.txt" | sort -u)
all=cpu$(printf '%s\n' "$devices" | sed 's/^/,/' | tr -d '\n')

# Parity: random fields, variable h, odd sizes, every device and all together.
cat >"$work/parity.yaml" <<'YAML'
problem: mpdata2d
grid: {rows: 733, cols: 1021}
time: {dt: 0.1, steps: 50}
boundary: {rows: open, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {deformation: {amplitude: 0.4, waves: [3, 4]}}
  u2: {deformation: {amplitude: 0.4, waves: [3, 4]}}
  h: {random: {seed: 2, minimum: 1, maximum: 2}}
YAML
: >"$out/parity.txt"
for precision in double single; do
    "$strake" run "$work/parity.yaml" --on serial --quiet --set precision=$precision \
        --output "$work/serial"
    for on in cpu $devices "$all"; do
        echo "\$ strake run parity.yaml --on $on --set precision=$precision" >>"$out/parity.txt"
        "$strake" run "$work/parity.yaml" --on "$on" --set precision=$precision \
            --output "$work/other" >>"$out/parity.txt" 2>&1
        "$strake" compare "$work/serial" "$work/other" >>"$out/parity.txt" 2>&1 ||
            echo "DIFFERENT: $on $precision" | tee -a "$out/parity.txt"
    done
done
cp "$work/parity.yaml" "$out/parity.yaml"

# Rates: the rotating cone with an h field, by size and placement.
: >"$out/rates.jsonl"
measure() { # SIZE STEPS ON [--set ...]
    size=$1 steps=$2 on=$3
    shift 3
    cat >"$work/cone.yaml" <<YAML
problem: mpdata2d
grid: {rows: $size, cols: $size}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: open}
fields:
  psi: {cone: {center: [$((size / 2)), $((size * 3 / 4))], radius: $((size / 7)), height: 4, base: 0}}
  u1: {rotation: {omega: $(awk "BEGIN {print 4.0 / $size}"), center: [$((size / 2)), $((size / 2))]}}
  u2: {rotation: {omega: $(awk "BEGIN {print 4.0 / $size}"), center: [$((size / 2)), $((size / 2))]}}
  h: {random: {seed: 2, minimum: 1, maximum: 1.5}}
output: {fields: []}
YAML
    "$strake" run "$work/cone.yaml" --on "$on" "$@" --quiet --report "$work/report.json" 2>"$work/err" || {
        echo "$size $on $*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"size": %s, "on": "%s", "options": "%s", "report": %s}\n' "$size" "$on" "$*" \
        "$(tr -d '\n' <"$work/report.json" | sed "s#$work/##")" >>"$out/rates.jsonl"
    printf '%6s  %-16s %-34s %10.1f Mcell/s\n' "$size" "$on" "$*" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 |
            awk '{print $2 / 1e6}')" | tee -a "$out/rates.txt"
}
cp "${3:-bench/plan.sh}" "$out/plan.sh"
. "$out/plan.sh"
