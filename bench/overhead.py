"""What a step costs from Python beside what it costs from C, in one process, in turns.

Usage: python3 overhead.py [WHERE [ROUNDS]]; needs a C compiler ($CC, cc)."""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import strake
from strake._library import lib

STEPS = 50  # of one turn: short, so that both of a pair meet the same disturbances

SOURCE = """
#include <stdint.h>
int many_steps(int (*step)(void *, int64_t, void *), void *solver, void *error, int count)
{
    int status = 0;
    for (int k = 0; k < count && status == 0; k++) {
        status = step(solver, 1, error);
    }
    return status;
}
"""


def build(folder):
    """A loop in C around strake_step()."""
    path = os.path.join(folder, "loop.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", path],
                   input=SOURCE.encode(), check=True)
    loop = ctypes.CDLL(path).many_steps
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
    return loop


def main():
    where = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    case = strake.Case({"problem": "mpdata2d", "grid": {"rows": 64, "cols": 64}, "time": {"dt": 1, "steps": 100}})
    with tempfile.TemporaryDirectory() as folder, strake.Solver(case, on=where) as s:
        loop = build(folder)
        s["psi"] = np.random.default_rng(1).random((64, 64))
        s["u1"] = s["u2"] = 0.2
        s.step(STEPS)
        step = ctypes.cast(lib.strake_step, ctypes.c_void_p)
        took = {"C": [], "Python": []}
        for _ in range(rounds):
            begin = time.perf_counter()
            assert loop(step, s._solver, s._error_at, STEPS) == 0
            took["C"].append((time.perf_counter() - begin) / STEPS * 1e6)
            begin = time.perf_counter()
            for _ in range(STEPS):
                s.step(1)
            took["Python"].append((time.perf_counter() - begin) / STEPS * 1e6)
        middle = {name: statistics.median(values) for name, values in took.items()}
        more = statistics.quantiles((python - c for c, python in zip(took["C"], took["Python"])), n=4)
        print("step(1), 64 x 64, %s: %.2f us from C, %.2f us from Python; %.2f us more (median of %d pairs; quartiles "
              "%.2f and %.2f)" % (where, middle["C"], middle["Python"], more[1], rounds, more[0], more[2]))


main()
