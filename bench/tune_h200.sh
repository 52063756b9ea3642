#!/bin/sh
# What tuning brings on one device, and how far it is from the best (from the repository root, after `make`).
# usage: bench/tune_h200.sh OUTPUT_FOLDER [WHERE]
# 1. A full pass. 2. On two of its grids a search with more than 5 times the configurations, and both results
# in turn. 3. Grids that were never tuned: the settings of the nearest class and those of a tuning of their
# own, in turn. 4. The defaults and the tuned settings against one kernel per stage in groups of 16 x 16,
# without vectors, on one stream. What a part found is in OUTPUT_FOLDER/summary.txt as soon as it is known.
# SECONDS_ALL is kept: what there is no time for is left out and said so. For a trial on a slow device:
#   PASS=30 SECONDS_ALL=300 SPACE=FILE LONG='128x128 64x64' FRESH='100x77 90x90' sh bench/tune_h200.sh ...
# with a search space of small grids (SPACE); the grids of LONG must be among them.
set -eu
: "${1:?usage: bench/tune_h200.sh OUTPUT_FOLDER [WHERE]}"
out=$1 on=${2:-ocl:0} strake=${STRAKE:-build/strake}
all=${SECONDS_ALL:-570} pass=${PASS:-130} space=${SPACE:-}
long=${LONG:-2048x2048 512x512} 
fresh=${FRESH:-1500x1500 6000x6000 777x1333 3001x3001 100x5000 5000x300}
fresh_need=${FRESH_SECONDS:-150} # kept for parts 3 and 4
own=${OWN:-9}                    # for the own tuning of a grid of 2 million cells; larger ones get more
run_time=${RUN_SECONDS:-0.4}     # of the stepping of one run
begin=$(date +%s)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
summary=$out/summary.txt log=$out/log.txt
: >"$summary"
: >"$log"
: >"$out/own.txt"

say() { echo "$*" | tee -a "$summary"; }
elapsed() { echo $(($(date +%s) - begin)); }
left() { echo $((all - $(elapsed))); }
part() { # part NUMBER TEXT
    started=$(elapsed)
    say ""
    say "== $1. $2 (after $started s)"
}
part_ends() { say "this part took $(($(elapsed) - started)) s"; }
record() { ls "$1"/tuned-*.yaml 2>/dev/null | head -n 1; } # the results in a cache
value() { # value CACHE GRID KEY: of the class of a grid, "2048x512"
    awk -v grid="${2%x*}, 1, ${2#*x}]" -v key="$3: " '
        /- grid: / { here = index($0, "[" grid) > 0 }
        here && (at = index($0, key)) && substr($0, at - 1, 1) == " " { print substr($0, at + length(key)); exit }
    ' "$(record "$1")"
}
number() { awk "BEGIN { printf(\"%.3g\", $1) }"; } # number EXPRESSION
is() { awk "BEGIN { exit !($1) }"; }              # is CONDITION
percent() { awk -v a="$1" -v b="$2" 'BEGIN { printf("%.1f", b > 0 ? 100 * (a / b - 1) : 1e9) }'; }
median() { # median NUMBERS...
    printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 }
        END { printf("%.6g", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'
}

# The search space with one grid, so many tries (0: any number) and these settings tried early, to FILE.
one_grid() { # one_grid FILE GRID TRIES SETTINGS
    if [ -n "$space" ]; then
        sed -e "s/^grids:.*/grids: [[${2%x*}, ${2#*x}]]/" -e '/^streams:/d' -e '/^tries:/d' "$space" >"$1"
        [ -z "$4" ] || sed -i "s/^seeds:.*/&\n  - $4/" "$1"
    else
        # What changes of the program's own, on every kind of device.
        changes="grids: [[${2%x*}, ${2#*x}]], streams: ${4:+, seeds: [$4]}"
        printf 'problem: mpdata2d\ngpu: {%s}\nopencl-cpu: {%s}\n' "$changes" "$changes" >"$1"
    fi
    [ "$3" -eq 0 ] || echo "tries: $3" >>"$1"
}
tune() { # tune CACHE BUDGET [OPTIONS]: the table to standard output
    tune_cache=$1 tune_budget=$2
    shift 2
    "$strake" tune --on "$on" --budget "$tune_budget" --cache "$tune_cache" "$@" 2>>"$log" ||
        say "FAILED: strake tune --budget $tune_budget $*: $(tail -n 1 "$log")"
}
case_of() { # case_of GRID SECONDS_PER_STEP: work/case.yaml, of about RUN_SECONDS
    cat >"$work/case.yaml" <<YAML
problem: mpdata2d
grid: {rows: ${1%x*}, cols: ${1#*x}}
time: {steps: $(awk -v t="$run_time" -v s="$2" 'BEGIN { printf("%d", t / s + 10) }')}
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.2, maximum: 0.2}}
  u2: {random: {seed: 3, minimum: -0.2, maximum: 0.2}}
output: {fields: []}
YAML
}
gcells() { # gcells CACHE [OPTIONS]: Gcell/s of one run of work/case.yaml
    use=$1
    shift
    rm -f "$work/report.json"
    "$strake" run "$work/case.yaml" --on "$on" --cache "$use" --no-tune --quiet \
        --report "$work/report.json" "$@" 2>>"$log" || true
    sed -n 's/^ *"cells_per_second": \([0-9.e+]*\),*$/\1/p' "$work/report.json" 2>/dev/null | tail -n 1 |
        awk '{ rate = $1 / 1e9 } END { printf(" %.5g", rate) }' # 0: the run failed, see log.txt
}
in_turn() { # in_turn ROUNDS GRID SECONDS_PER_STEP CACHE1 CACHE2: first, second: the rates; middle1, middle2
    first='' second=''
    case_of "$2" "$3"
    for _ in $(seq "$1"); do
        first="$first$(gcells "$4")"
        second="$second$(gcells "$5")"
    done
    # shellcheck disable=SC2086
    middle1=$(median $first) middle2=$(median $second)
}
used() { sed -n 's/.*"settings": "\([^"]*\)".*/\1/p' "$work/report.json" | head -n 1; } # by the last run

{
    date -u '+%Y-%m-%d'
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    echo "$(nproc) processors"
    "$strake" devices
} >>"$summary"

part 1 "full pass, budget $pass s"
if [ -n "${SPACE:-}" ]; then
    tune "$work/pass" "$pass" --space "$space" >"$work/table"
else
    tune "$work/pass" "$pass" >"$work/table"
fi
tee -a "$summary" <"$work/table"
part_ends
if [ -z "$(record "$work/pass")" ]; then
    tail -n 5 "$log"
    say "no result: nothing to compare with"
    exit 1
fi
cp "$(record "$work/pass")" "$out/pass.yaml"
cp "$work"/pass/tuned-*.t4.json "$out/pass.t4.json" 2>/dev/null || true

part 2 "longer searches"
sum=0
for grid in $long; do
    few=$(value "$work/pass" "$grid" evaluated)
    sum=$((sum + ${few:-0}))
done
for grid in $long; do
    few=$(value "$work/pass" "$grid" evaluated)
    if [ -z "$few" ]; then
        say "$grid: not in the pass, nothing to compare with"
        continue
    fi
    # The last one may take all that is left; others what their configurations need, larger grids more.
    room=$(($(left) - fresh_need - 15))
    [ "$few" -ge "$sum" ] || room=$(awk "BEGIN { s = 1.2 * $few / $sum; print(int($room * (s < 0.8 ? s : 0.8))) }")
    sum=$((sum - few))
    if [ "$room" -lt 10 ]; then
        say "$grid: left out, no time"
        continue
    fi
    chosen=$(value "$work/pass" "$grid" settings)
    one_grid "$work/space.yaml" "$grid" $((5 * few)) "$(echo "$chosen" | sed 's/^{}$//')"
    at=$(elapsed)
    tune "$work/long-$grid" "$room" --space "$work/space.yaml" >"$work/table"
    tee -a "$summary" <"$work/table"
    cp "$work/long-$grid"/tuned-*.t4.json "$out/long-$grid.t4.json" 2>/dev/null || true
    if [ -z "$(record "$work/long-$grid")" ]; then
        say "$grid: the longer search has no result"
        continue
    fi
    many=$(value "$work/long-$grid" "$grid" evaluated)
    a=$(value "$work/pass" "$grid" seconds_per_step) b=$(value "$work/long-$grid" "$grid" seconds_per_step)
    in_turn 5 "$grid" "$b" "$work/pass" "$work/long-$grid"
    say "$grid: configurations: pass $few, longer search $many," \
        "ratio $(number "$many / $few") ($(is "$many >= 5 * $few" && echo 'goal: at least 5' ||
            echo 'MISSED: below 5')); took $(($(elapsed) - at)) s"
    say "  when tuned: pass $a s a step, longer search $b: $(percent "$a" "$b") % behind"
    say "  in turn, Gcell/s: pass$first; longer search$second"
    if [ "$chosen" = "$(value "$work/long-$grid" "$grid" settings)" ]; then
        verdict='both chose the same settings'
    elif is "$middle1 > 0 && $middle2 > 0 && $middle2 <= 1.03 * $middle1"; then
        verdict='goal: at most 3 %'
    else
        verdict='MISSED: more than 3 %'
    fi
    say "  medians $middle1 and $middle2: the pass is $(percent "$middle2" "$middle1") % behind ($verdict)"
done
part_ends

part 3 "grids that were never tuned"
for grid in $fresh; do
    at=$(elapsed)
    cells=$((${grid%x*} * ${grid#*x}))
    budget=$((own + (cells > 2000000 ? (cells - 2000000) / 3000000 : 0)))
    if [ "$(left)" -lt $((budget + 8 + cells / 2000000)) ]; then
        say "$grid: left out, no time"
        continue
    fi
    case_of "$grid" 1
    gcells "$work/pass" >/dev/null
    nearest=$(used | sed 's/=/: /g; s/ run/, run/g; s/..*/{&}/')
    one_grid "$work/space.yaml" "$grid" 0 "$nearest"
    sed -i '/^baseline:/d' "$work/space.yaml"
    tune "$work/own-$grid" "$budget" --space "$work/space.yaml" >"$work/table"
    cat "$work/table" "$work/own-$grid"/tuned-*.t4.json >>"$out/own.txt" 2>>"$log" || true
    if [ -z "$(record "$work/own-$grid")" ]; then
        say "$grid: its own tuning has no result"
        continue
    fi
    in_turn 3 "$grid" "$(value "$work/own-$grid" "$grid" seconds_per_step)" "$work/pass" "$work/own-$grid"
    say "$grid: in turn, Gcell/s: nearest class$first; own tuning$second"
    if [ "${nearest:-{\}}" = "$(value "$work/own-$grid" "$grid" settings)" ]; then
        verdict='both chose the same settings'
    elif is "$middle1 > 0 && $middle1 >= 0.95 * $middle2"; then
        verdict='goal: at least 0.95'
    else
        verdict='MISSED: below 0.95'
    fi
    say "  medians $middle1 and $middle2: nearest / own $(number "$middle1 / ($middle2 + 1e-99)") ($verdict);" \
        "$(value "$work/own-$grid" "$grid" evaluated) configurations tried; took $(($(elapsed) - at)) s"
    say "  nearest class: ${nearest:-{\}}"
    say "  own tuning: $(value "$work/own-$grid" "$grid" settings)"
done
part_ends

part 4 "gain over one kernel per stage, 16 x 16, no vectors, one stream"
naive="--set run.tuned=false --set run.fusion=none --set run.group_width=16 --set run.group_height=16"
naive="$naive --set run.vector=1 --set run.streams=1"
for grid in $(sed -n 's/.*- grid: \[\([0-9]*\), 1, \([0-9]*\)\].*/\1x\2/p' "$out/pass.yaml"); do
    cells=$((${grid%x*} * ${grid#*x}))
    a=$(value "$work/pass" "$grid" seconds_per_step) b=$(value "$work/pass" "$grid" baseline_seconds_per_step)
    d=$(value "$work/pass" "$grid" default_seconds_per_step)
    say "$grid: in the pass: gain over it $(number "${b:-0} / $a"), over the defaults $(number "$d / $a")"
    if [ "$(left)" -lt $((6 + cells / 5000000)) ]; then
        say "  in turn: left out, no time"
        continue
    fi
    case_of "$grid" "${b:-$d}"
    naive_rates='' tuned_rates=''
    for _ in 1 2; do
        # shellcheck disable=SC2086
        naive_rates="$naive_rates$(gcells "$work/pass" $naive)"
        tuned_rates="$tuned_rates$(gcells "$work/pass")"
    done
    # shellcheck disable=SC2086
    n=$(median $naive_rates) t=$(median $tuned_rates)
    say "  in turn, Gcell/s: naive$naive_rates; tuned$tuned_rates: gain $(number "$t / ($n + 1e-99)")"
done
part_ends
say ""
say "all of it took $(elapsed) s"
