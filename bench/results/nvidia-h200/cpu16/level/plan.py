"""Threads of the CPU stripe with even and with levelled shares, in turns; halves of a machine; see README.md.

usage: plan.py STRAKE OUTPUT_FOLDER POCL_DEVICE SECONDS cpu|halves
"""
import json, os, subprocess, sys, tempfile, time
strake, out, pocl, seconds, which = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5]
os.makedirs(out, exist_ok=True)
work = tempfile.mkdtemp()
report = os.path.join(work, "report.json")
def case(n):
    p = os.path.join(work, f"{n}.yaml")
    open(p, "w").write(f"""problem: mpdata2d
grid: {{rows: {n}, cols: {n}}}
time: {{dt: 0.1, steps: 100}}
boundary: {{rows: open, cols: open}}
fields:
  psi: {{cone: {{center: [{n/2}, {n*3/4}], radius: {n//7}, height: 4, base: 0}}}}
  u1: {{rotation: {{omega: {4.0/n}, center: [{n/2}, {n/2}]}}}}
  u2: {{rotation: {{omega: {4.0/n}, center: [{n/2}, {n/2}]}}}}
output: {{fields: []}}
""")
    return p
begin = time.time()
raw = open(os.path.join(out, "rates.jsonl"), "a")
txt = open(os.path.join(out, "rates.txt"), "a")
P8 = {"POCL_MAX_PTHREAD_COUNT": "8"}
F = ["--set", "run.balance=fixed"]
K1 = ["--set", "run.steps_per_sweep=1"]
todo = []
if which == "cpu":
    todo += [(2048, 4, "serial", [], {}), (2048, 25, "cpu", ["--threads", "1"] + K1, {})]
    for n, s in ((1024, 1600), (2048, 400), (4096, 100), (8192, 24)):
        for t in ("16", "8"):
            if t == "8" and n != 2048: continue
            for k in ([], K1):
                if k and n == 8192: continue
                todo += [(n, s * int(t) // 16, "cpu", ["--threads", t] + k + F, {}), (n, s * int(t) // 16, "cpu", ["--threads", t] + k, {})]
else:
    for n, s in ((2048, 400), (4096, 120)):
        todo += [(n, s//2, "cpu", ["--threads", "7"], P8), (n, s//2, "cpu", ["--threads", "8"], P8), (n, s//5, pocl, [], P8), (n, s, f"cpu,{pocl}", [], P8)]
    todo += [(2048, 200, f"cpu,{pocl}", ["--split", "1,1", "--set", "run.balance=model"], P8)]
while time.time() - begin < seconds:
    for n, steps, on, more, env in todo:
        if time.time() - begin > seconds * 1.15: break
        p = subprocess.run([strake, "run", case(n), "--on", on, *more, "--no-tune", "--quiet", "--steps", str(steps),
                            "--report", report], env=dict(os.environ, **env), capture_output=True, text=True)
        name = "%5d %5d %-10s %-60s" % (n, steps, on, " ".join(more) + " " + " ".join(env.values()))
        if p.returncode != 0:
            print(name, "failed", p.stderr[:300], flush=True); continue
        r = json.load(open(report))
        raw.write(json.dumps({"n": n, "name": name, "report": r}) + "\n"); raw.flush()
        text = "%s %7.1f %s moves %s %s %s" % (name, r["cells_per_second"] / 1e6,
            [d["rows"][1] - d["rows"][0] for d in r["devices"]], r["balance"]["moves"],
            [[round(x / r["seconds"], 3) for x in d["seconds"].values()] for d in r["devices"]], r["fields"]["psi"]["checksum"])
        print(text, flush=True); txt.write(text + "\n"); txt.flush()
