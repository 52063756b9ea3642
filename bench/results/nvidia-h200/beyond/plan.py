"""MPDATA beyond a device's memory, alone, beside the processors and by auto, in turns.

usage: python3 plan.py OUTPUT_FOLDER N CAP_GIB STEPS ROUNDS steady|changing...   (from the repository root)
N rows and columns; CAP_GIB of device memory (0: all that there is); changing: winds of 6 levels in files, new in every step.
"""
import json, os, pathlib, subprocess, sys, time
import numpy as np

out, n, cap, steps, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
limit = time.monotonic() + float(os.environ.get("LIMIT", "inf"))
gpu = os.environ.get("GPU", "gpu:0")
out.mkdir(parents=True, exist_ok=True)
work = pathlib.Path(os.environ.get("WORK", "/tmp/beyond"))
work.mkdir(parents=True, exist_ok=True)
waves = "{deformation: {amplitude: 0.4, waves: [3, 4]}}"
rates = open(out / "rates.jsonl", "a")
table = open(out / "table.txt", "a")

def say(line):
    print(line, flush=True)
    print(line, file=table, flush=True)

def case(kind, steps):
    u1 = u2 = waves
    if kind == "changing":
        names = {}
        for name, axis in (("u1", 0), ("u2", 1)):
            path = work / f"{name}-{n}.npy"
            if not path.exists():
                levels = int(os.environ.get("LEVELS", "6"))
                shape = (levels, n + 1, n) if name == "u1" else (levels, n, n + 1)
                shape = (levels, n, n)
                field = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
                line = 0.2 * np.sin(np.arange(n) * (6 * np.pi / n))
                for k in range(levels):
                    field[k] = np.roll(line, k * 7)[None, :] if axis == 0 else np.roll(line, k * 7)[:, None]
            names[name] = path
        u1, u2 = ("{series: {file: %s, every: 0.1}}" % names[k] for k in ("u1", "u2"))
    return f"""problem: mpdata2d
grid: {{rows: {n}, cols: {n}}}
time: {{dt: 0.1, steps: {steps}}}
boundary: {{rows: periodic, cols: periodic}}
fields:
  psi: {{random: {{seed: 1, minimum: 0, maximum: 1}}}}
  u1: {u1}
  u2: {u2}
  h: {{random: {{seed: 2, minimum: 1, maximum: 1.5}}}}
output: {{fields: []}}
"""

for kind in sys.argv[6:]:
    count = min(steps, int(os.environ.get("LEVELS", "6")) - 1) if kind == "changing" else steps
    path = out / f"{kind}.yaml"
    path.write_text(case(kind, count))
    found = {}
    for turn in range(rounds):
        for on in os.environ.get("PLACES", f"{gpu};cpu,{gpu};auto;cpu").split(";"):
            if time.monotonic() > limit:
                continue
            if on == "cpu" and turn:
                continue
            report = out / "report.json"
            report.unlink(missing_ok=True)
            command = ["build/strake", "run", str(path), "--on", on, "--no-tune", "--quiet", "--report", str(report), "--output", str(work / "r")]
            if cap:
                command += ["--set", f"run.device_memory={int(cap * 2**30)}"]
            start = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode or not report.exists():
                say(f"{kind} {on} FAILED: {done.stderr[-300:]}")
                continue
            r = json.loads(report.read_text())
            print(json.dumps({"kind": kind, "on": on, "n": n, "report": r}), file=rates, flush=True)
            sums = [f["checksum"] for f in r["fields"].values()]
            found.setdefault(on, []).append(r["cells_per_second"] / 1e9)
            parts = [(d.get("device") or d.get("id"), d.get("rows")) for d in r.get("devices", r.get("parts", []))]
            say(f"{kind:9} {n}^2 {count} steps {on:12} {r['cells_per_second']/1e9:8.3f} Gcell/s, {r['seconds']:.3f} s, set-up {r.get('setup_seconds', 0):.1f} s, wall {time.monotonic() - start:.1f} s; per exchange {r.get('steps_per_exchange')}; {parts} {sums}")
    base = max(found.get(gpu, [0]))
    for on, values in found.items():
        say(f"  {kind} {on}: median {sorted(values)[len(values) // 2]:.3f}, of the device alone (best) {max(values) / base if base else 0:.3f}")
