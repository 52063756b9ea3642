#!/bin/sh
# Tunes one GPU and measures what it brings (from the repository root, after `make`).
# usage: bench/tune_h200.sh OUTPUT_FOLDER WHERE [PASS_SECONDS [LONG_SECONDS [OWN_SECONDS]]]
# 1. A full pass. 2. A longer search on its first grid, to compare with (0: none). 3. Grids that were
# never tuned, each with the defaults, with the settings of its nearest class and with a tuning of its
# own that begins with those, in turn.
set -eu
out=$1 on=$2 pass=${3:-290} long=${4:-0} own=${5:-60} strake=${STRAKE:-build/strake}
mkdir -p "$out"
cache=$out/cache
{
    date -u +%Y-%m-%d
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    "$strake" devices
} >"$out/machine.txt"

begin=$(date +%s)
"$strake" tune --on "$on" --budget "$pass" --cache "$cache" >"$out/tune.txt" 2>"$out/tune.log"
echo "budget $pass s, took $(($(date +%s) - begin)) s" | tee -a "$out/tune.txt"
cat "$out/tune.txt"

space() { # space ROWS COLS [SETTINGS]: the program's space for GPUs with one grid; try these settings early
    sed "s/^grids:.*/grids: [[$1, $2]]/; /^streams:/d" autotune/spaces/mpdata2d-gpu.yaml >"$out/space.yaml"
    [ -z "${3:-}" ] || echo "seeds: [{$(echo "$3" | sed 's/=/: /g; s/ /, /g')}]" >>"$out/space.yaml"
}
if [ "$long" -gt 0 ]; then
    space 2048 2048
    "$strake" tune --on "$on" --budget "$long" --cache "$out/long" --space "$out/space.yaml" \
        >"$out/long.txt" 2>"$out/long.log"
    cat "$out/long.txt"
fi

report() { # report ROWS COLS CACHE [options]: one run, its report in report.json
    rows=$1 cols=$2 use=$3
    shift 3
    cat >"$out/case.yaml" <<YAML
problem: mpdata2d
grid: {rows: $rows, cols: $cols}
time: {steps: $((4000000000 / (rows * cols) + 100))}
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.2, maximum: 0.2}}
  u2: {random: {seed: 3, minimum: -0.2, maximum: 0.2}}
output: {fields: []}
YAML
    "$strake" run "$out/case.yaml" --on "$on" --cache "$use" --no-tune --quiet --report "$out/report.json" "$@"
}
rate() { # rate ...: Mcell/s of report ...
    report "$@"
    sed -n 's/^ *"cells_per_second": \([0-9.e+]*\),$/\1/p' "$out/report.json" | awk '{ printf " %.0f", $1 / 1e6 }'
}
{
    echo '# rows cols, then Mcell/s of two runs each: defaults, nearest class, own tuning'
    for grid in '600 600' '777 1333' '1500 1500' '3000 3000' '1000 5000' '6001 4099'; do
        rows=${grid% *} cols=${grid#* }
        report "$rows" "$cols" "$cache"
        settings=$(sed -n 's/.*"settings": "\([^"]*\)".*/\1/p' "$out/report.json")
        space "$rows" "$cols" "$settings"
        "$strake" tune --on "$on" --budget "$own" --cache "$out/own-$rows-$cols" \
            --space "$out/space.yaml" >>"$out/own.txt" 2>>"$out/own.log"
        printf '%s %s' "$rows" "$cols"
        for _ in 1 2; do
            rate "$rows" "$cols" "$cache" --set run.tuned=false
            rate "$rows" "$cols" "$cache"
            rate "$rows" "$cols" "$out/own-$rows-$cols"
        done
        echo
    done
} | tee "$out/nearest.txt"
rm -f "$out/case.yaml" "$out/space.yaml" "$out/report.json"
