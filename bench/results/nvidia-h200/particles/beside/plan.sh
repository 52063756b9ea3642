#!/bin/sh
# Particles on ONE GPU beside its processors, at most LIMIT (235) s, most wanted first: BoreInABox wall and corridor of 1.6
# million on GPU, GPU and processors, and auto; the processors alone; GPU,GPU with what it exchanges beside `strake model`;
# filters of densities; 16 million of a column that has been released.
# Usage: sh particles.sh OUT [ROUNDS]. GPU=ocl:0 SCALE=8 LIMIT=100 rehearses it anywhere (spacings times SCALE).
set -u
out=${1:?folder}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for tgz in "$here/particles.tgz" particles.tgz gpu/particles.tgz; do
    if [ -e "$tgz" ]; then tar xzf "$tgz" -C "$work" && cd "$work" || exit 1; break; fi
done
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${LD_LIBRARY_PATH:+:}$PWD/build/lib STRAKE_CACHE_DIR=$work/cache
export LD_LIBRARY_PATH STRAKE_CACHE_DIR
build/strake devices | tee "$out/devices.txt" || exit 1
cat >"$work/plan.py" <<'PY'
import json, os, statistics, subprocess, sys, time
START = time.monotonic()
OUT, WORK = sys.argv[1], sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
GPU = os.environ.get("GPU", "gpu:0")
SCALE = float(os.environ.get("SCALE", "1"))
LIMIT = float(os.environ.get("LIMIT", "235"))
STEPS = int(os.environ.get("STEPS", "500"))
table = open(OUT + "/table.txt", "w")
rates = open(OUT + "/rates.jsonl", "w")


def say(text):
    print(text, flush=True)
    print(text, file=table, flush=True)


def since(text):
    say(f"== {time.monotonic() - START:.0f} s: {text}")


def left(seconds):
    return time.monotonic() - START + seconds < LIMIT


def run(label, kind, spacing, on, options=(), steps=None, limit=60):
    """A run without files. Returns its report, or None."""
    if not left(3):
        return None
    report = WORK + "/r.json"
    if os.path.exists(report):
        os.remove(report)
    command = ["build/strake", "run", f"data/cases/bore-{kind}.yaml", "--on", on, "--no-tune", "--report", report, "--set",
               f"scene.spacing={spacing * SCALE}", "--set", "precision=single", "--set", "output.fields=[]", "--set",
               "output.every_seconds=10", "--output", WORK + "/o", *options]
    if steps:
        command += ["--steps", str(steps)]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=min(limit, LIMIT - (begin - START)))
    except subprocess.TimeoutExpired:
        say(f"{label}: took too long")
        return None
    if done.returncode != 0:
        say(f"{label}: FAILED: {done.stderr[-400:]}")
        return None
    r = json.load(open(report))
    r["wall"] = time.monotonic() - begin
    parts = " ".join(f"{d['id']}{d.get('rows')}" for d in r["devices"])
    say(f"  {label:30} {r['mips']:9.2f} mips {r['seconds']:8.3f} s set-up {r['setup_seconds']:6.2f} files {r['io_seconds']:5.2f} wall {r['wall']:5.1f}  {parts}")
    keep = {k: r.get(k) for k in ("mips", "seconds", "setup_seconds", "io_seconds", "domain", "devices", "choice", "balance", "fields")}
    print(json.dumps({"label": label, "kind": kind, "on": on, "options": options, "report": keep}), file=rates, flush=True)
    return r


def sums(r):
    return [f["checksum"] for _, f in sorted(r["fields"].items())]


def compare(name, kind, spacing, places, options, steps, rounds):
    """In turns. places: label, where, more options. Tells medians as parts of the first one's."""
    found, bits = {}, {}
    for n in range(rounds):
        for label, on, more in places if n % 2 == 0 else places[::-1]:
            r = run(f"{name} {label} {n + 1}", kind, spacing, on, (*options, *more), steps)
            if r:
                found.setdefault(label, []).append(r["mips"])
                bits[label] = sums(r)
    base = None
    for label, *_ in places:
        if label in found:
            mine = statistics.median(found[label])
            base = base or mine
            say(f"{name:20} {label:14} {mine:9.2f} mips, {mine / base:.4f} of the first ({len(found[label])} runs, {min(found[label]):.1f} to {max(found[label]):.1f})")
    if len(bits) > 1:
        say(f"{'EQUAL' if len({str(b) for b in bits.values()}) == 1 else 'DIFFERENT'} {name}: {', '.join(bits)}")


def exchange(label, r):
    for d in r["devices"] if r else []:
        x, w = d.get("exchange"), d.get("waiting")
        if x and w:
            p = x["predicted_seconds_per_step"]
            say(f"  {label} {d['id']}: {x['bytes_sent_per_step']:.0f} B out, {x['bytes_received_per_step']:.0f} in, "
                f"{x['transfers_sent_per_step'] + x['transfers_received_per_step']:.2f} transfers a step: "
                f"{1e6 * x['measured_seconds_per_step']:.1f} us measured, {1e6 * p if p else float('nan'):.1f} predicted; waits "
                f"{1e6 * w['forces_seconds_per_step']:.0f} forces, {1e6 * w['time_step_seconds_per_step']:.0f} dt, "
                f"{1e6 * w['order_seconds_per_step']:.0f} orders, {1e6 * (w['predicted_seconds_per_step'] or 0):.0f} by work")


def main():
    dp = 0.00645
    beside = [("GPU", GPU, ()), ("GPU, cpu", f"{GPU},cpu", ()), ("auto", "auto", ())]
    since("warm")
    run("warm", "wall", 4 * dp, f"{GPU},cpu", (), 5)
    since("from rest: never slower than the GPU alone by more than 2 %?")
    compare("wall, 0 s", "wall", dp, beside, (), STEPS, ROUNDS)
    compare("corridor, 0 s", "corridor", dp, beside, (), STEPS, ROUNDS)
    since("the processors alone")
    run("corridor cpu", "corridor", dp, "cpu", (), max(STEPS // 12, 10))
    since("two parts on one GPU, and what they exchange")
    model = subprocess.run(["build/strake", "model", "--on", GPU, "--budget", os.environ.get("MODEL", "15"), "--quiet"],
                           capture_output=True, text=True)
    say("\n".join((model.stdout + model.stderr).splitlines()[:4]))
    one = run("corridor one", "corridor", dp, GPU, (), STEPS // 2)
    two = run("corridor two", "corridor", dp, f"{GPU},{GPU}", ("--split", "1,1", "--set", "run.balance=fixed"), STEPS // 2)
    mixed = run("corridor 1:30", "corridor", dp, f"cpu,{GPU}", ("--split", "1,30", "--set", "run.balance=fixed"), STEPS // 2)
    runs = [r for r in (one, two, mixed) if r]
    say(f"{'EQUAL' if len({str(sums(r)) for r in runs}) == 1 else 'DIFFERENT'} parts: {len(runs)} runs")
    exchange("two", two)
    exchange("cpu and GPU", mixed)
    since("filters of densities every 30 steps, at 1.6 million")
    filtered = ("--set", "scheme.shepard=30")
    lone = run("shepard one", "corridor", dp, GPU, filtered, STEPS // 2)
    both = run("shepard two", "corridor", dp, f"{GPU},{GPU}", (*filtered, "--split", "1,1", "--set", "run.balance=fixed"), STEPS // 2)
    if lone and both and one and two:
        say(f"filters: {lone['mips'] / one['mips']:.4f} of the rate without on one, {both['mips'] / two['mips']:.4f} on two; "
            f"{'EQUAL' if sums(lone) == sums(both) else 'DIFFERENT'}, {'without effect!' if sums(lone) == sums(one) else 'they change the flow'}")
        exchange("filtered", both)
    if left(30):
        since("16 million, the column has been falling for 100 steps")
        first = run("16M to step 100", "wall", 0.465 * dp, GPU, (), STEPS // 5, 80)
        more = run("16M to step 220", "wall", 0.465 * dp, GPU, (), STEPS // 5 * 11 // 5, 80) if first and left(first["wall"] + 4) else None
        if more:
            n = more["domain"]["particles"]
            say(f"16M: {n} particles, {n * (STEPS // 5 * 11 // 5 - STEPS // 5) / (more['seconds'] - first['seconds']) / 1e6:.1f} mips over the steps between")
    if left(45):
        since("the corridor from 0.5 s on")
        go = ("--set", "time.end=0.5", "--set", "checkpoint.every_seconds=0.5")
        if run("corridor to 0.5 s", "corridor", dp, GPU, go, None, 60):
            os.rename(WORK + "/o/checkpoint.strake", WORK + "/half.strake")
            compare("corridor, 0.5 s", "corridor", dp, beside, ("--resume", WORK + "/half.strake", "--set", "time.end=0.52"), None, 2)
    since("done")


main()
PY
python3 "$work/plan.py" "$out" "$work" ${2:-}
