#!/bin/sh
# Lava as Rustico et al. (2011) measured it on several GPUs: their Table 1 and Figures 4 to 6.
# Usage: sh bench/plan_lava.sh table|figures OUTPUT_FOLDER WHERE...
# WHERE is as for `strake run --on`, with @N for N threads, the one that others are compared with first:
#   sh bench/plan_lava.sh table out ocl:0 ocl:0,ocl:1
#   sh bench/plan_lava.sh figures out cpu@1 cpu@2 ocl:0 ocl:0,ocl:1
# table: data/cases/lava-2m.yaml (CASE) to a fifth of END (64800 s) on the first WHERE, whose checkpoint all continue to
# END, each with a checkpoint every END/20: time, ideal, cost, speed-up, Karp-Flatt fraction, and whether the bytes are
# the same. A list of N entries, or N threads, is N processors. BEGUN: a checkpoint to continue, where there is one; DUMP:
# seconds between checkpoints instead of END/20. SETS: further options of every run.
# figures: a step in microseconds by active cells (CELLS, 100 to 10^8, all cells of a square are active) in turns, ROUNDS
# (5) of them, shares fixed, devices first, line by line as it is measured; a step of median length apart, of the part that
# computes longest: kernels, reduction (of the bound on the time step, and the clock), transfer beside no kernel, waiting;
# from which count on each WHERE beats the first.
set -u
what=${1:-} out=${2:-}
case $what:$# in
    table:[012] | figures:[012] | :*) what= ;;
    table:* | figures:*) ;;
    *) what= ;;
esac
[ -n "$what" ] || { sed -n '3,6p' "$0" >&2; exit 2; }
shift 2
strake=${STRAKE:-build/strake}
mkdir -p "$out" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$strake" devices >"$out/devices.txt"

run() { # NAME WHERE OPTION...: a run of the case, its report in $out
    name=$1 on=$2
    shift 2
    threads=
    case $on in *@*) threads="--threads ${on#*@}" ;; esac
    # shellcheck disable=SC2086
    "$strake" run "${CASE:-data/cases/lava-2m.yaml}" --on "${on%@*}" $threads --no-tune --quiet ${SETS:-} "$@" \
        --set checkpoint.every_seconds="$dump" --report "$out/$name.json" || { echo "$on failed" | tee -a "$out/failed.txt"; exit 1; }
}

if [ "$what" = table ]; then
    end=${END:-64800}
    dump=${DUMP:-$(awk "BEGIN { print $end / 20 }")}
    [ -n "${BEGUN:-}" ] || run begun "$1" --set time.end="$(awk "BEGIN { print $end / 5 }")" --output "$work/begun"
    n=0
    : >"$work/rows"
    for on in "$@"; do
        n=$((n + 1))
        run "rest-$n" "$on" --set time.end="$end" --resume "${BEGUN:-$work/begun/checkpoint.strake}" --output "$work/rest-$n"
        same=-
        [ $n -eq 1 ] || { "$strake" compare "$work/rest-1" "$work/rest-$n" >"$work/compared" 2>&1 && same=equal || same=DIFFERENT; }
        echo "$n $on $same" >>"$work/rows"
    done
    python3 - "$out" "$work/rows" <<'PY' | tee "$out/table.txt"
import json, sys
rows = [line.split() for line in open(sys.argv[2])]
print(f"{'where':24} {'steps':>8} {'time':>9} {'ideal':>9} {'cost':>9} {'speed-up':>9} {'Karp-Flatt':>10}  bytes")
base = None
for number, on, same in rows:
    report = json.load(open(f"{sys.argv[1]}/rest-{number}.json"))
    time = report["seconds"]
    steps = report["case"]["steps"] - report["case"]["first_step"]
    n = int(on.split("@")[1]) if "@" in on else len(on.split(","))
    base = base or (time, n)
    more = n / base[1]
    ideal = base[0] / more
    speed = base[0] / time
    serial = f"{(1 / speed - 1 / more) / (1 - 1 / more):10.4f}" if more > 1 else f"{'-':>10}"
    print(f"{on:24} {steps:8} {time:9.3f} {ideal:9.3f} {time - ideal:9.3f} {speed:9.2f} {serial}  {same}")
PY
    ! grep -q DIFFERENT "$out/table.txt"
    exit
fi

cat >"$work/all.yaml" <<'YAML'
problem: lava
grid: {rows: 64, cols: 64, dx: 10, dy: 10}
time: {end: 1e9}
fields:
  terrain: {sum: [{plane: {slope: [1, 0.5]}}, {random: {seed: 2, minimum: -1, maximum: 1}}]}
  thickness: {random: {seed: 1, minimum: 1, maximum: 2}}
scheme: {crust: none}
output: {fields: []}
YAML
cat >"$work/figures.py" <<'PY'
import json, statistics, sys
first, pays, bits = {}, {}, {}
print(f"{'where':24} {'cells':>10} {'step':>10} {'kernels':>10} {'reduction':>10} {'transfer':>10} {'waiting':>10}  [us]", flush=True)
for line in sys.stdin:
    row = json.loads(line)
    cells = row["shape"][0] * row["shape"][1]
    step = 1e6 * statistics.median(row["seconds"]) / row["steps"]
    split = f"{'-':>10} " * 4
    timeline = row.get("timeline")
    if timeline and timeline["lanes"]:
        sums = [{key: value or 0 for key, value in part.items()} for part in timeline["sums"]]
        longest = max(sums, key=lambda part: part["compute"])
        # Spans of its lanes: workers of the processor side by side, a device's kernels one after the other.
        lanes = [lane for lane in timeline["lanes"] if lane["id"] == longest["id"]]
        spans = [span for lane in lanes for span in lane["spans"] if span["kind"] == "compute"]
        workers = max(1, sum(1 for lane in lanes if any(span["kind"] == "compute" for span in lane["spans"])))
        reduction = sum(span["end"] - span["begin"] for span in spans
                        if span["what"].startswith(("reduce", "advance_clock"))) / workers
        parts = (longest["compute"] - reduction, reduction, longest["transfer"] - longest["both"],
                 timeline["seconds"] - longest["compute"] - longest["transfer"] + longest["both"])
        split = "".join(f"{1e6 * part:10.2f} " for part in parts)
    same = row["same_bits"] and bits.setdefault(cells, row["checksums"][0]) == row["checksums"][0]
    print(f"{row['where']:24} {cells:10} {step:10.2f} {split} {'' if same else 'BITS DIFFER'}", flush=True)
    if cells not in first:
        first[cells] = step
    else:
        pays.setdefault(row["where"], []).append((cells, step < first[cells]))
for where, found in pays.items():
    lost = [cells for cells, wins in found if not wins]
    won = [cells for cells, wins in found if wins and cells > max(lost, default=0)]
    print(f"{where}: faster than the first from {min(won)} active cells on" if won else f"{where}: never faster than the first")
PY
: >"$out/rates.jsonl"
devices= processors=
for on in "$@"; do
    case ${on%@*} in cpu | serial) processors="$processors --on $on" ;; *) devices="$devices --on $on" ;; esac
done

measure() { # CELLS MOST LEAST PLACES...: these side by side, so many steps in all of so many cells, but some at least
    side=$(awk "BEGIN { printf \"%d\", sqrt($1) + 0.5 }")
    steps=$(awk "BEGIN { n = $2 / $1; if (n > 4000) n = 4000; if (n < $3) n = $3; printf \"%d\", n }")
    cells=$1
    shift 3
    [ $# -gt 0 ] || return 0
    "$strake" bench "$work/all.yaml" "$@" --sizes "$side" --steps "${STEPS:-$steps}" --repeats "${ROUNDS:-5}" \
        --quiet --report "$work/report.jsonl" >"$work/table.txt" 2>&1 || { cat "$work/table.txt"; echo "$cells cells failed"; } >>"$out/failed.txt"
    cat "$work/report.jsonl" && rm "$work/report.jsonl"
}

# Processors and devices by themselves, each by steps that it can do. Devices keep the shares that are measured first: a
# second one is not switched off where it does not pay.
for count in ${CELLS:-100 1000 10000 100000 1000000 10000000 100000000}; do
    # shellcheck disable=SC2086
    [ -z "$devices" ] || measure "$count" 1e9 20 $devices --set run.balance=fixed
    # shellcheck disable=SC2086
    measure "$count" 5e7 2 $processors
done | tee "$out/rates.jsonl" | python3 "$work/figures.py" | tee "$out/figures.txt"
cat "$out/failed.txt" 2>/dev/null
! grep -q 'BITS DIFFER' "$out/figures.txt" && [ ! -e "$out/failed.txt" ]
