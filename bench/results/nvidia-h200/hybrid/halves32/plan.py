"""PoCL on 8 processors beside OpenMP on 8 others, in turns; see README.md.

usage: halves.py STRAKE OUTPUT_FOLDER POCL_DEVICE SECONDS [PREFIX...]     PREFIX: taskset -c LIST
"""
import json, os, subprocess, sys, tempfile, time
strake, out, pocl, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
prefix = sys.argv[5:]
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
raw = open(os.path.join(out, "rates.jsonl"), "a")
txt = open(os.path.join(out, "rates.txt"), "a")
both = f"cpu,{pocl}"
even = ["--split", "1,1", "--set", "run.balance=model"]
todo = []
for n, s in ((2048, 400), (4096, 120)):
    todo += [(n, s // 2, "cpu", ["--threads", "7"]), (n, s // 2, "cpu", ["--threads", "8"]),
             (n, s // 2, "cpu", ["--threads", "16"]), (n, s // 5, pocl, []), (n, s, both, []), (n, s, both, even)]
env = dict(os.environ, POCL_MAX_PTHREAD_COUNT="8")
begin = time.time()
while time.time() - begin < seconds:
    for n, steps, on, more in todo:
        if time.time() - begin > seconds * 1.15: break
        threads = [] if "--threads" in more else ["--threads", "8"]
        p = subprocess.run([*prefix, strake, "run", case(n), "--on", on, *threads, *more, "--no-tune", "--quiet",
                            "--steps", str(steps), "--report", report], env=env, capture_output=True, text=True)
        name = "%5d %5d %-10s %-50s" % (n, steps, on, " ".join(more))
        if p.returncode != 0:
            print(name, "failed", p.stderr[:300], flush=True); continue
        r = json.load(open(report))
        raw.write(json.dumps({"n": n, "name": name, "prefix": prefix, "report": r}) + "\n"); raw.flush()
        moved = [d["step"] for d in r["balance"]["decisions"] if d["moves"]]
        text = "%s %7.1f %s moved at %s %s" % (name, r["cells_per_second"] / 1e6,
            [d["rows"][1] - d["rows"][0] for d in r["devices"]], moved, r["fields"]["psi"]["checksum"])
        print(text, flush=True); txt.write(text + "\n"); txt.flush()
