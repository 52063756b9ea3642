"""Spots that grow and divide: the equations of Gray and Scott, written here, computed by Strake on the whole processor
or a GPU.

Usage: python3 pattern.py [WHERE [STEPS]]; writes pattern.strake and pattern.png. Needs `pip install ./host/python`, a
C compiler, and for the picture the program `strake`, or Matplotlib."""

import subprocess
import sys

import numpy as np
import strake

gray_scott = strake.problem(
    "gray_scott", dims=2,
    fields={"u": "what is fed [-]", "v": "what feeds on it [-]"},
    parameters={"Du": ("[m2/s]", 0.16), "Dv": ("[m2/s]", 0.08), "F": ("[1/s]", 0.035), "k": ("[1/s]", 0.065)},
    rates={"u": "Du*lap(u) - u*v**2 + F*(1 - u)",
           "v": "Dv*lap(v) + u*v**2 - (F + k)*v"},
    dt_limit="spacing**2/(4*max(Du, Dv))")

n = 256
u, v = np.ones((n, n)), np.zeros((n, n))
for row, col in np.random.default_rng(1).integers(0, n - 8, (40, 2)):
    u[row:row + 8, col:col + 8], v[row:row + 8, col:col + 8] = 0.5, 0.25

steps = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
case = strake.Case(problem=gray_scott, grid={"rows": n, "cols": n}, time={"dt": 1, "steps": steps},
                   parameters={"F": 0.03, "k": 0.062}, fields={"u": u, "v": v})
with strake.Solver(case, on=sys.argv[1] if len(sys.argv) > 1 else "auto") as s:
    s.step(steps)
    print("step %d: mean v %.6f, %.0f million cells a second"
          % (s.step_count, s.measure()["mean_v"], s.report()["cells_per_second"] / 1e6))
    s.save("pattern.strake")
    try:
        from matplotlib import pyplot
        pyplot.imsave("pattern.png", s["v"], cmap="inferno")
    except ImportError:
        subprocess.run(["strake", "view", "pattern.strake", "--field", "v", "--map", "inferno", "--png", "pattern.png"],
                       check=True)
