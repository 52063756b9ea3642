#!/usr/bin/env python3
"""One thread of the CPU beside PoCL on the other of two processors; the CPU stripe becomes three times as slow.

usage: plan.py CASE STRAKE RUNS
Every look at the balance from step 80 on: rows of both, the step's time by the slower of the two, and what it
would be with even shares by these very times.
"""
import json, os, subprocess, sys, tempfile

case, strake, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
report = os.path.join(tempfile.mkdtemp(), "report.json")
for _ in range(runs):
    subprocess.run([strake, "run", case, "--on", "cpu,ocl:0", "--threads", "1", "--no-tune", "--quiet", "--steps", "300",
                    "--set", "output.fields=[]", "--report", report], check=True,
                   env=dict(os.environ, POCL_MAX_PTHREAD_COUNT="1", STRAKE_INJECT="slow:cpu@100*3"))
    looks = json.load(open(report))["balance"]["decisions"]
    print("run: %d moves after step 100" % sum(d["moves"] and d["step"] >= 100 for d in looks))
    for d in looks:
        rows, seconds = d["rows"], d["seconds"]
        if d["step"] >= 80:
            even = sum(rows) / sum(n / s for n, s in zip(rows, seconds))
            print("  step %3d rows %4d %4d  %5.1f ms a step, even %5.1f: %4.1f %% over%s%s" % (
                d["step"], *rows, 1e3 * max(seconds), 1e3 * even, 100 * (max(seconds) / even - 1),
                "  warned" if d["warned"] else "", "  moves" if d["moves"] else ""))
