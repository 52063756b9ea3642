#!/usr/bin/env python3
"""One thread of the CPU beside PoCL on the other of two processors: each alone and both, in turns for 55 s.

usage: plan.py CASE STRAKE STRAKE_BEFORE CPU_STEPS OCL_STEPS STEPS
One line a run: what, Mcell/s, processors that other programs kept busy meanwhile (of two), rows, moves, and
of the time of the steps what each part computed, exchanged and idled.
"""
import json, os, subprocess, sys, tempfile, time

case, strake, before, *steps = sys.argv[1:]
runs = {"cpu": (strake, "cpu", steps[0]), "ocl": (strake, "ocl:0", steps[1]),
        "before": (before, "cpu,ocl:0", steps[2]), "both": (strake, "cpu,ocl:0", steps[2])}
report = os.path.join(tempfile.mkdtemp(), "report.json")


def busy():
    f = [int(x) for x in open("/proc/stat").readline().split()[1:]]
    return (sum(f[:3]) + sum(f[5:8])) / os.sysconf("SC_CLK_TCK")


end = time.time() + 55
while time.time() < end:
    for name, (program, where, count) in runs.items():
        start, busy_before = time.time(), busy()
        p = subprocess.Popen([program, "run", case, "--on", where, "--threads", "1", "--no-tune", "--quiet",
                              "--steps", count, "--set", "output.fields=[]", "--report", report],
                             env=dict(os.environ, POCL_MAX_PTHREAD_COUNT="1"))
        _, status, used = os.wait4(p.pid, 0)
        others = (busy() - busy_before - used.ru_utime - used.ru_stime) / (time.time() - start)
        if status != 0:
            sys.exit(f"{name} failed")
        r = json.load(open(report))
        print("%-6s %6.1f bg %.2f" % (name, r["cells_per_second"] / 1e6, others),
              [d["rows"][1] - d["rows"][0] for d in r["devices"]], "moves", r["balance"]["moves"],
              [[round(x / r["seconds"], 3) for x in d["seconds"].values()] for d in r["devices"]], flush=True)
