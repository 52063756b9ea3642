#!/usr/bin/env python3
"""One thread of the CPU beside PoCL on the other of two processors: each alone and both, in turns.

usage: plan.py CASE STRAKE ROUNDS CPU_STEPS OCL_STEPS STEPS
One line a run: what, Mcell/s, processors that other programs kept busy meanwhile (of two), rows, moves, and
of the time of the steps what each part computed, exchanged and idled; then medians.
"""
import json, os, statistics, subprocess, sys, tempfile, time

case, strake, rounds, *steps = sys.argv[1:]
runs = {"cpu": ("cpu", steps[0]), "ocl": ("ocl:0", steps[1]), "both": ("cpu,ocl:0", steps[2])}
report = os.path.join(tempfile.mkdtemp(), "report.json")
rates = {name: [] for name in runs}


def busy():
    f = [int(x) for x in open("/proc/stat").readline().split()[1:]]
    return (sum(f[:3]) + sum(f[5:8])) / os.sysconf("SC_CLK_TCK")


for _ in range(int(rounds)):
    for name, (where, count) in runs.items():
        start, busy_before = time.time(), busy()
        p = subprocess.Popen([strake, "run", case, "--on", where, "--threads", "1", "--no-tune", "--quiet",
                              "--steps", count, "--set", "output.fields=[]", "--report", report],
                             env=dict(os.environ, POCL_MAX_PTHREAD_COUNT="1"))
        _, status, used = os.wait4(p.pid, 0)
        others = (busy() - busy_before - used.ru_utime - used.ru_stime) / (time.time() - start)
        if status != 0:
            sys.exit(f"{name} failed")
        r = json.load(open(report))
        rates[name].append(r["cells_per_second"] / 1e6)
        print("%-6s %6.1f bg %.2f" % (name, rates[name][-1], others),
              [d["rows"][1] - d["rows"][0] for d in r["devices"]], "moves", r["balance"]["moves"],
              [[round(x / r["seconds"], 3) for x in d["seconds"].values()] for d in r["devices"]], flush=True)
m = {name: statistics.median(v) for name, v in rates.items()}
print("medians", {k: round(v, 1) for k, v in m.items()}, "of the sum %.3f" % (m["both"] / (m["cpu"] + m["ocl"])))
shares = sorted(b / (c + o) for c, o, b in zip(rates["cpu"], rates["ocl"], rates["both"]))
print("of the sum, round by round", [round(s, 3) for s in shares])
