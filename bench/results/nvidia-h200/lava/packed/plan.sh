#!/bin/sh
# Lava on ONE GPU, at most some 190 s: what packed borders gain over unpacked ones by size, the meeting beside what the
# model of transfers says, and lava-2m.yaml for LIMIT (95) seconds, whose checkpoint comes back (lava-2m.ck.*, parts of
# one xz or gzip file). A second run goes on where such parts lie in the current folder, beside this script or in BEGUN.
# Usage: sh lava.sh OUT. GPU=ocl:0 ROUNDS=1 STEPS=50 LIMIT=10 MODEL=5 rehearse it anywhere; SKIP=packed leaves the first out.
set -u
out=${1:?folder}
gpu=${GPU:-gpu:0} limit=${LIMIT:-95}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
began=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for tgz in "$here/lava.tgz" lava.tgz gpu/lava.tgz; do
    if [ -e "$tgz" ]; then tar xzf "$tgz" -C "$work" && cd "$work" || exit 1; break; fi
done
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${LD_LIBRARY_PATH:+:}$PWD/build/lib STRAKE_CACHE_DIR=$work/cache
export LD_LIBRARY_PATH STRAKE_CACHE_DIR
strake=$PWD/build/strake
"$strake" devices || exit 1
since() { echo "== $(($(date +%s) - start)) s: $*"; }
start=$(date +%s)

if [ "${SKIP:-}" != packed ]; then
    since model of transfers
    timeout 60 "$strake" model --on "$gpu,$gpu" --budget "${MODEL:-20}" --quiet >"$work/model.txt" 2>&1 || tail -5 "$work/model.txt"
    sed -n 1,6p "$work/model.txt"
    cat >"$work/all.yaml" <<'YAML'
problem: lava
grid: {rows: 64, cols: 64, dx: 10, dy: 10}
time: {end: 1e9}
fields:
  terrain: {sum: [{plane: {slope: [1, 0.5]}}, {random: {seed: 2, minimum: -1, maximum: 1}}]}
  thickness: {random: {seed: 1, minimum: 1, maximum: 2}}
output: {fields: []}
YAML
    since packed borders against unpacked, in turns
    for round in $(seq 1 "${ROUNDS:-4}"); do
        for cols in 512 1024 2048 4096 8192; do
            for on in "$gpu,$gpu 1,1" "$gpu,cpu 7,1"; do
                for packed in 0 1e9; do
                    [ $(($(date +%s) - start)) -lt "${PACKING:-85}" ] || break 4
                    echo "$round $cols ${on% *} $packed" >"$work/tag"
                    STRAKE_MOST_PACKED=$packed timeout 30 "$strake" run "$work/all.yaml" --on "${on% *}" --split "${on#* }" \
                        --set grid.cols="$cols" --set run.balance=fixed --no-tune --quiet --steps "${STEPS:-2000}" \
                        --output "$work/o" --report "$work/r.json" 2>>"$work/errors.txt" || { echo "failed: $(cat "$work/tag")"; continue; }
                    { cat "$work/tag"; cat "$work/r.json"; } >"$work/one"
                    python3 - "$work/one" <<'PY' >>"$out/packed.jsonl"
import json, sys
tag, report = open(sys.argv[1]).read().split("\n", 1)
r = json.loads(report)
round_, cols, on, packed = tag.split()
n = r["case"]["steps"]
print(json.dumps({"round": int(round_), "cols": int(cols), "on": on, "packed": packed != "0", "us": 1e6 * r["seconds"] / n,
                  "meeting": r.get("meeting"), "sum": [f["checksum"] for f in r["fields"].values()]}))
PY
                done
            done
        done
    done
    python3 - "$out/packed.jsonl" <<'PY' 
import collections, json, statistics, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
kinds = collections.defaultdict(lambda: {False: [], True: []})
for row in rows:
    kinds[row["on"], row["cols"]][row["packed"]].append(row)
def med(found, pick):
    values = [pick(row) for row in found]
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else float("nan")
def meeting(key):
    return lambda row: 1e6 * row["meeting"][key] if row["meeting"] and row["meeting"][key] is not None else None
print("medians, us a step; 64 rows; a packed border of the two tendencies and two rows has 32 * cols bytes")
print(f"{'where':16} {'cols':>6} {'bytes':>7} {'':8} {'runs':>4} {'step':>8} {'least':>8} {'borders':>8} {'model':>8} {'woken':>8} {'waiting':>8} {'kernels':>8}  ratio")
for (on, cols), found in sorted(kinds.items()):
    for packed in (False, True):
        if not found[packed]:
            continue
        us = [row["us"] for row in found[packed]]
        ratio = statistics.median(us) / statistics.median([row["us"] for row in found[False]]) if packed and found[False] else float("nan")
        m = [med(found[packed], meeting(k)) for k in ("measured_seconds", "predicted_seconds", "wake_seconds", "waiting_seconds", "kernel_seconds")]
        print(f"{on:16} {cols:6} {32 * cols:7} {'packed' if packed else 'unpacked':8} {len(us):4} {statistics.median(us):8.1f} {min(us):8.1f} "
              + " ".join(f"{v:8.1f}" for v in m) + (f"  {ratio:.3f}" if packed else ""))
    if len({tuple(row["sum"]) for p in found.values() for row in p}) > 1:
        print("BITS DIFFER", on, cols)
PY
fi

[ ! -s "$work/errors.txt" ] || { sort "$work/errors.txt" | uniq -c | head -5; }
since "lava-2m.yaml for $limit s"
for begun in ${BEGUN:+"$BEGUN"} "$began" "$here" "$here/lava"; do
    if ls "$begun"/lava-2m.ck.* >/dev/null 2>&1; then
        case $(ls "$begun"/lava-2m.ck.* | head -1) in *.ck.xz.*) unpack='xz -dc' ;; *) unpack='gzip -dc' ;; esac
        cat "$begun"/lava-2m.ck.* | $unpack >"$work/begun.strake" && break
    fi
done
resume=
[ ! -s "$work/begun.strake" ] || { resume="--resume $work/begun.strake"; echo "going on from $begun"; }
began_run=$(date +%s)
# shellcheck disable=SC2086
timeout -s INT "$limit" "$strake" run data/cases/lava-2m.yaml --on "$gpu" --no-tune $resume --set checkpoint.every_minutes=60 \
    --set diagnostics.every_seconds=3240 --set output.fields='[thickness]' --output "$work/2m" --report "$out/lava-2m.json" >"$out/lava-2m.txt" 2>"$work/log"
echo "exit $? after $(($(date +%s) - began_run)) s" >>"$out/lava-2m.txt"
tr '\r' '\n' <"$work/log" | grep -v '^ *$' | tail -8 >>"$out/lava-2m.txt"
cp "$work/2m/diagnostics.csv" "$out/diagnostics.csv" && tail -3 "$out/diagnostics.csv"
tail -25 "$out/lava-2m.txt"
ls -la "$work/2m"
if [ -e "$work/2m/checkpoint.strake" ]; then
    if command -v xz >/dev/null; then
        xz -T0 -1 -c "$work/2m/checkpoint.strake" | split -b 15m - "$out/lava-2m.ck.xz."
    else
        gzip -1 -c "$work/2m/checkpoint.strake" | split -b 15m - "$out/lava-2m.ck.gz."
    fi
fi
ls -la "$out"
since done
