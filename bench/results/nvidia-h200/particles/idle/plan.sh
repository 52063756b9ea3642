#!/bin/sh
# Particles on ONE GPU, at most LIMIT (108) s: the GPU alone, GPU and processors both named (which get nothing) by the old build
# (build/strake-old, 9d72784) and the new one, in turns, of bore-wall (three rounds) and bore-corridor (two); two parts on one GPU
# with boxes of forces not pinned (old) and pinned (new); auto once each. Usage: sh beside2.sh OUT.
# GPU=ocl:0 SCALE=8 STEPS=40 LIMIT=100 rehearses it anywhere (spacings times SCALE).
set -u
out=${1:?folder}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r build data "$work" && cd "$work" || exit 1
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${LD_LIBRARY_PATH:+:}$PWD/build/lib STRAKE_CACHE_DIR=$work/cache
export LD_LIBRARY_PATH STRAKE_CACHE_DIR
cat >"$work/plan.py" <<'PY'
import json, os, statistics, subprocess, sys, time
START = time.monotonic()
OUT, WORK = sys.argv[1], sys.argv[2]
GPU = os.environ.get("GPU", "gpu:0")
SCALE = float(os.environ.get("SCALE", "1"))
LIMIT = float(os.environ.get("LIMIT", "108"))
STEPS = int(os.environ.get("STEPS", "500"))
table, rates = open(OUT + "/table.txt", "w"), open(OUT + "/rates.jsonl", "w")


def say(text):
    print(text, flush=True)
    print(text, file=table, flush=True)


def left():
    return LIMIT - (time.monotonic() - START)


def run(label, build, kind, on, options=(), steps=STEPS, scale=1.0):
    """A run without files. Returns its report, or None."""
    if left() < 4:
        return None
    report = WORK + "/r.json"
    if os.path.exists(report):
        os.remove(report)
    command = [f"build/{build}", "run", f"data/cases/bore-{kind}.yaml", "--on", on, "--no-tune", "--quiet", "--report", report, "--set",
               f"scene.spacing={0.00645 * SCALE * scale}", "--set", "precision=single", "--set", "output.fields=[]", "--set",
               "output.every_seconds=10", "--output", WORK + "/o", "--steps", str(steps), *options]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=left())
    except subprocess.TimeoutExpired:
        say(f"{label}: took too long")
        return None
    if done.returncode != 0:
        say(f"{label}: FAILED: {done.stderr[-400:]}")
        return None
    r = json.load(open(report))
    r["wall"] = time.monotonic() - begin
    compute = max(d["seconds"]["compute"] for d in r["devices"])
    say(f"  {label:30} {r['mips']:9.2f} mips {r['seconds']:8.4f} s ({compute:.4f} in steps, {len(r['balance']['decisions'])} looks) set-up "
        f"{r['setup_seconds']:6.2f} wall {r['wall']:5.1f}  {' '.join(str(d['id']) + str(d.get('rows')) for d in r['devices'])}  {sums(r)[0][:6]}")
    keep = {k: r.get(k) for k in ("mips", "seconds", "setup_seconds", "io_seconds", "domain", "devices", "choice", "balance", "fields")}
    print(json.dumps({"label": label, "build": build, "kind": kind, "on": on, "options": options, "report": keep}), file=rates, flush=True)
    return r


def sums(r):
    return [f["checksum"] for _, f in sorted(r["fields"].items())]


first = {}


def same(kind, r):
    if r is not None and sums(r) != first.setdefault(kind, sums(r)):
        say("    DIFFERENT BYTES")


def rounds(kind, count):
    places = [("GPU", "strake", GPU), ("both, old", "strake-old", f"{GPU},cpu"), ("both, new", "strake", f"{GPU},cpu")]
    got = {label: [] for label, _, _ in places}
    for k in range(count):
        for label, build, on in places if k % 2 == 0 else places[::-1]:
            r = run(f"{kind} {label} {k + 1}", build, kind, on)
            same(kind, r)
            got[label] += [r["mips"]] if r else []
    base = statistics.median(got["GPU"]) if got["GPU"] else float("nan")
    for label, values in got.items():
        if values:
            say(f"{kind:9} {label:10} {statistics.median(values):8.2f} mips, {statistics.median(values) / base:.4f} of the GPU alone ({len(values)} runs)")
    return base


def exchange(label, r):
    for d in r["devices"] if r else []:
        x = d.get("exchange")
        if x:
            p = x["predicted_seconds_per_step"]
            say(f"    {label} {d['id']}: {x['bytes_sent_per_step']:.0f} B out, {x['bytes_received_per_step']:.0f} in, "
                f"{x.get('bytes_not_pinned_per_step', float('nan')):.0f} not pinned: {1e6 * (x['measured_seconds_per_step'] or 0):.1f} us measured, "
                f"{1e6 * p if p else float('nan'):.1f} predicted")


def main():
    run("warm", "strake", "wall", f"{GPU},cpu", (), 5, 4)
    base = {"wall": rounds("wall", 3), "corridor": rounds("corridor", 2)}
    say(f"== {time.monotonic() - START:.0f} s: pinned boxes")
    subprocess.run(["build/strake", "model", "--on", GPU, "--budget", os.environ.get("MODEL", "5"), "--quiet"], capture_output=True)
    fixed = ("--split", "1,1", "--set", "run.balance=fixed")
    for k in range(2):
        for label, build in (("old", "strake-old"), ("new", "strake"))[:: 1 - 2 * k]:
            r = run(f"two on one GPU, {label} {k + 1}", build, "corridor", f"{GPU},{GPU}", fixed, STEPS // 2)
            exchange(label, r)
            same("two", r)
    say(f"== {time.monotonic() - START:.0f} s: auto")
    for kind in ("wall", "corridor"):
        r = run(f"{kind} auto", "strake", kind, "auto")
        same(kind, r)
        if r:
            say(f"{kind:9} auto {r['mips'] / base[kind]:.4f} of the GPU alone")
    say(f"== {time.monotonic() - START:.0f} s: done; compared {', '.join(first)}: {'EQUAL unless said above'}")


main()
PY
python3 "$work/plan.py" "$out" "$work"
