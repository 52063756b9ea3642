#!/bin/sh
# Are the figures of messages between ranks right, and do runs choose well by them? Two and four ranks of one thread, on
# one machine (none) and over a link between network namespaces (bench/link.sh): Ethernet of 1 Gbit/s and 50 us each
# way (link), or, with LINKS="none link slow", one of a tenth of the rate and ten times the delay too.
# Needs root, iproute2, /dev/net/tun and Open MPI; takes LIMIT seconds on two quiet processors. Ranks are bound to a
# processor each, as mpirun does by itself, where there are enough; an end of a link has one. Four ranks on two
# processors wait for each other's turns: their lines tell of that, too. Over a link the two ranks of one end exchange by
# TCP as well.
# usage: bench/plan_ranks.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# For each link and number of ranks `strake model` measures first. exchange.txt: predicted beside measured exchanges for
# borders of two decades of sizes, of grids of a million cells, whose pages are large as those of larger ones. choice.txt:
# what runs chose by themselves beside each way and number of steps that they could have chosen, round by round in turn,
# all in the first one and then what is near the fastest; medians, how far these may be off, and whether that tells the
# choice from the fastest. Every case has as much of the time that is left as the others. runs.jsonl: one report a line,
# models.jsonl likewise.
# Variables: LINKS, RANKS, COLUMNS, CASES, STEPS_AT_ONCE, BUDGET (of each model; 20), LIMIT [s].
set -eu
out=$1
strake=$(realpath "${2:-build/strake}")
. bench/link.sh
began=$(date +%s)
limit=${LIMIT:-460}
mkdir -p "$out"
rm -f "$out/failures.txt"
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || echo 'commit unknown'
    uname -sr
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1
    echo "$(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
    mpirun --version | head -1
    echo "sh bench/plan_ranks.sh $*"
} >"$out/machine.txt"
: >"$out/runs.jsonl"
: >"$out/models.jsonl"
links_wanted=${LINKS:-none link}
for link in $links_wanted; do
    case $link in
        link) join link 1000 50 ;;
        slow) join slow 100 500 ;;
    esac
done
over() { # over LINK RANKS COMMAND...
    if [ "$1" = none ]; then
        ranks=$2 bind=none
        [ "$ranks" -gt "$(nproc)" ] || bind=core
        shift 2
        timeout -k 5 120 mpirun -np "$ranks" --oversubscribe --bind-to "$bind" "$@"
    else
        across "$@"
    fi
}
write() { # NAME PROBLEM GRID REST
    cat >"$work/$1.yaml" <<YAML
problem: $2
grid: {$3}
$4
run: {on: cpu, threads: 1, shares: [1$(printf ', 1%.0s' $(seq 2 "$n"))]}
output: {fields: []}
YAML
}
left() { # seconds
    echo $((limit - $(date +%s) + began))
}
run() { # WHAT LINK RANKS CASE OPTIONS...: one line of runs.jsonl
    if [ "$(left)" -le 0 ]; then
        echo "$*: left out, $limit s have passed" >>"$out/failures.txt"
        return 0
    fi
    what=$1 where=$2 many=$3 case=$4
    shift 4
    over "$where" "$many" "$strake" run "$work/$case.yaml" --quiet --report "$work/report.json" "$@" >"$work/err" 2>&1 || {
        echo "$what $where $many $case $*: $(head -c 400 "$work/err" | tr '\n' ' ')" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"what": "%s", "link": "%s", "ranks": %s, "case": "%s", "options": "%s", "report": %s}\n' "$what" "$where" \
        "$many" "$case" "$*" "$(tr -d '\n' <"$work/report.json")" >>"$out/runs.jsonl"
}
noise='fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}'
for n in ${RANKS:-2 4}; do
    for link in $links_wanted; do
        export STRAKE_CACHE_DIR="$work/cache-$link-$n"
        over "$link" "$n" "$strake" model --on cpu --budget "${BUDGET:-20}" --quiet --report "$work/model.json" \
            >"$work/err" 2>&1 || { cat "$work/err"; exit 1; }
        printf '{"link": "%s", "ranks": %s, "model": %s}\n' "$link" "$n" "$(tr -d '\n' <"$work/model.json")" >>"$out/models.jsonl"
        for columns in ${COLUMNS:-64 256 1024 4096 16384}; do
            rows=$((1048576 / columns > 24 * n ? 1048576 / columns : 24 * n))
            write border cahn_hilliard2d "rows: $rows, cols: $columns" "time: {dt: 0.004, steps: 2}
boundary: {rows: periodic}
$noise"
            write line cahn_hilliard2d "rows: $rows, cols: $columns" "time: {dt: 0.004, steps: 2}
boundary: {rows: no_flux}
$noise"
            run exchange "$link" "$n" border --set run.exchange=messages --set run.steps_per_sweep=1
            run exchange "$link" "$n" border --set run.exchange=one_way --set run.steps_per_sweep=1
            run exchange "$link" "$n" line --set run.exchange=messages --set run.steps_per_sweep=1
        done
    done
done
cases=${CASES:-narrow wide}
# shellcheck disable=SC2086
waiting=$(($(set -- ${RANKS:-2 4}; echo $#) * $(set -- $links_wanted; echo $#) * $(set -- $cases; echo $#)))
for n in ${RANKS:-2 4}; do
    write wide mpdata2d "rows: $((256 * n)), cols: 2048" 'time: {dt: 0.1, steps: 160}
fields: {psi: {random: {seed: 1, minimum: 1, maximum: 2}}, u1: {constant: 0.3}, u2: {constant: -0.2}}'
    write narrow cahn_hilliard2d "rows: $((128 * n)), cols: 256" "time: {dt: 0.004, steps: 5000}
$noise"
    for link in $links_wanted; do
        export STRAKE_CACHE_DIR="$work/cache-$link-$n"
        for case in $cases; do
            for steps in ${STEPS_AT_ONCE:-1 2 4 8}; do
                printf '%s\n' "both $steps" "one_way $steps"
            done >"$work/near"
            until=$(($(left) - $(left) / waiting)) # no round begins once so few seconds are left
            while [ "$(left)" -gt "$until" ]; do
                run choice "$link" "$n" "$case"
                while read -r exchange steps <&3; do
                    run choice "$link" "$n" "$case" --set "run.exchange=$exchange" --set "run.steps_per_sweep=$steps"
                done 3<"$work/near"
                python3 bench/ranks.py "$out" "$link" "$n" "$case" >"$work/near"
            done
            waiting=$((waiting - 1))
        done
    done
done
python3 bench/ranks.py "$out"
