#!/bin/sh
# Tunes one GPU and measures what it brings. usage: bench/tune_h200.sh OUTPUT_FOLDER WHERE [LONG_SECONDS]
# (from the repository root, after `make`). A full pass of at most 5 minutes; then, if LONG_SECONDS is
# given, a search of that length on the first grid, to compare with; then grids that were never tuned,
# each with the settings of its nearest class, with the defaults and with a tuning of its own.
set -eu
out=$1 on=$2 long=${3:-0} strake=${STRAKE:-build/strake}
mkdir -p "$out"
cache=$out/cache
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    "$strake" devices
} >"$out/machine.txt"

begin=$(date +%s)
"$strake" tune --on "$on" --budget 290 --cache "$cache" >"$out/tune.txt" 2>"$out/tune.log"
echo "full pass: $(($(date +%s) - begin)) s" | tee -a "$out/tune.txt"
cat "$out/tune.txt"

space() { # space ROWS COLS: the program's space for GPUs with one grid
    sed "s/^grids:.*/grids: [[$1, $2]]/" autotune/spaces/mpdata2d-gpu.yaml >"$out/space.yaml"
}
if [ "$long" -gt 0 ]; then
    space 2048 2048
    "$strake" tune --on "$on" --budget "$long" --cache "$out/long" --space "$out/space.yaml" \
        >"$out/long.txt" 2>"$out/long.log"
    cat "$out/long.txt"
fi

rate() { # rate ROWS COLS CACHE [options]: Mcell/s, the best of five runs
    rows=$1 cols=$2 use=$3
    shift 3
    cat >"$out/case.yaml" <<YAML
problem: mpdata2d
grid: {rows: $rows, cols: $cols}
time: {steps: $((400000000 / (rows * cols) + 100))}
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.2, maximum: 0.2}}
  u2: {random: {seed: 3, minimum: -0.2, maximum: 0.2}}
output: {fields: []}
YAML
    for _ in 1 2 3 4 5; do
        "$strake" run "$out/case.yaml" --on "$on" --cache "$use" --no-tune --quiet --report - "$@" |
            sed -n 's/^ *"cells_per_second": \([0-9.e+]*\),$/\1/p' | tail -n 1
    done | sort -g | tail -n 1 | awk '{ printf "%.1f", $1 / 1e6 }'
}
{
    echo 'rows cols default_Mcells nearest_class_Mcells own_tuning_Mcells'
    for grid in '600 600' '777 1333' '1500 1500' '3000 3000' '1000 5000' '6001 4099'; do
        rows=${grid% *} cols=${grid#* }
        space "$rows" "$cols"
        "$strake" tune --on "$on" --budget 60 --cache "$out/own-$rows-$cols" \
            --space "$out/space.yaml" >>"$out/own.txt" 2>>"$out/own.log"
        echo "$rows $cols $(rate "$rows" "$cols" "$cache" --set run.tuned=false)" \
            "$(rate "$rows" "$cols" "$cache") $(rate "$rows" "$cols" "$out/own-$rows-$cols")"
    done
} | tee "$out/nearest.txt"
rm -f "$out/case.yaml" "$out/space.yaml"
