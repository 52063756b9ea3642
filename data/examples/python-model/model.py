"""A model with its own time loop that changes the winds before every step and has Strake advect a tracer: a flow that
deforms the tracer for half of the time and then turns round, so that it comes back to where it was.

Usage: python3 model.py [WHERE]; reads case.yaml, writes checkpoint.strake. Needs `pip install ./host/python`."""

import sys

import numpy as np
import strake

N, STEPS = 128, 800

# Stream function at the corners of cells: no wind through the edges. Its differences along the faces are Courant
# numbers, and as much flows into every cell as out of it.
x = np.arange(N + 1) / N
a = x * (1.0 - x)
stream = 4096.0 * np.multiply.outer(a * a, a * a)
base1 = stream[:, :-1] - stream[:, 1:]
base2 = stream[1:, :] - stream[:-1, :]


def tell(s):
    psi = s.statistics("psi")
    print("step %3d: psi from %.3f to %.3f, sum %.9f" % (s.step_count, psi.minimum, psi.maximum, psi.sum))


with strake.Solver("case.yaml", on=sys.argv[1] if len(sys.argv) > 1 else "cpu") as s:
    tell(s)
    for step in range(STEPS):
        strength = 1.0 - (2.0 * step + 1.0) / STEPS
        s["u1"] = strength * base1
        s["u2"] = strength * base2
        s.step(1)
        if (step + 1) % (STEPS // 2) == 0:
            tell(s)
    s.save("checkpoint.strake")
