#!/usr/bin/env python3
"""Particles on one thread of the CPU beside PoCL on the other of two processors: each alone and both, in turns.

usage: plan.py STRAKE ROUNDS STEPS    (from the repository root)
One line a run: what, mips, processors that other programs kept busy meanwhile (of two), slices, moves; then medians.
"""
import json, os, statistics, subprocess, sys, tempfile, time

strake, rounds, steps = sys.argv[1], int(sys.argv[2]), sys.argv[3]
report = os.path.join(tempfile.mkdtemp(), "report.json")
found = {}


def busy():
    f = [int(x) for x in open("/proc/stat").readline().split()[1:]]
    return (sum(f[:3]) + sum(f[5:8])) / os.sysconf("SC_CLK_TCK")


for n in range(rounds):
    for name, where in (("cpu", "cpu"), ("ocl", "ocl:0"), ("both", "cpu,ocl:0")):
        start, before = time.time(), busy()
        p = subprocess.Popen([strake, "run", "data/cases/bore-corridor.yaml", "--on", where, "--threads", "1", "--no-tune", "--quiet", "--steps", steps,
                              "--set", "scene.spacing=0.015", "--set", "precision=single", "--set", "output.fields=[]", "--set", "output.every_seconds=10",
                              "--output", os.path.dirname(report), "--report", report], env=dict(os.environ, POCL_MAX_PTHREAD_COUNT="1"))
        _, status, used = os.wait4(p.pid, 0)
        others = (busy() - before - used.ru_utime - used.ru_stime) / (time.time() - start)
        if status != 0:
            sys.exit(f"{name} failed")
        r = json.load(open(report))
        found.setdefault(name, []).append(r["mips"])
        print("%-6s %7.3f bg %.2f" % (name, r["mips"], others), [d["rows"][1] - d["rows"][0] for d in r["devices"]], "moves", r["balance"]["moves"],
              [f["checksum"] for f in r["fields"].values()][:1], flush=True)
m = {k: statistics.median(v) for k, v in found.items()}
print("medians:", m, "both of the sum: %.3f" % (m["both"] / (m["cpu"] + m["ocl"])))
