"""Which pattern the equations of Gray and Scott make: 36 runs with other feeds and decays, side by side on the cores and
devices of the machine, into one array.

Usage: python3 patterns.py [WHERE [STEPS]]; writes patterns.npy and patterns.png. Needs `pip install ./host/python` and a C
compiler."""

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

n = 64
u, v = np.ones((n, n)), np.zeros((n, n))
for row, col in np.random.default_rng(1).integers(0, n - 8, (6, 2)):
    u[row:row + 8, col:col + 8], v[row:row + 8, col:col + 8] = 0.5, 0.25

case = strake.Case(problem=gray_scott, grid={"rows": n, "cols": n}, time={"dt": 1, "steps": 6000}, fields={"u": u, "v": v})
feeds, decays = np.linspace(0.01, 0.06, 6).round(3), np.linspace(0.05, 0.065, 6).round(3)
result = strake.scan(case, {"parameters.F": feeds, "parameters.k": decays}, fields=["v"],
                     on=sys.argv[1] if len(sys.argv) > 1 else "auto", steps=int(sys.argv[2]) if len(sys.argv) > 2 else None)

print(result)
print("mean v, feeds from row to row, decays from column to column:")
print(result.table["mean_v"].reshape(6, 6).round(3))

picture = result["v"].reshape(6, 6, n, n).transpose(0, 2, 1, 3).reshape(6 * n, 6 * n)
np.save("patterns.npy", picture)
subprocess.run(["strake", "view", "patterns.npy", "--map", "inferno", "--png", "patterns.png"], check=True)
