# %% [markdown]
# # The first example of PyMPDATA with Strake
# A Gaussian is carried across a periodic grid of 24 x 24 cells, as in the README of PyMPDATA
# (https://github.com/open-atmos/PyMPDATA), then across a larger grid to compare times. Cells of this script (`# %%`) run one by
# one in Jupyter, VS Code or Spyder, or all with `python3 pympdata.py`. Where PyMPDATA is not installed
# (`pip install PyMPDATA`) Strake is timed alone.

# %%
import time

import numpy as np
import strake

try:
    import PyMPDATA
    from PyMPDATA import boundary_conditions
except ImportError as reason:
    PyMPDATA = None
    print("PyMPDATA cannot be imported (%s): Strake runs alone; `pip install PyMPDATA` for both" % reason)

# %% [markdown]
# ## The same fields for both
# Courant numbers are constant, so fields of faces have one value; Strake's periodic fields have no second outer face.

# %%
COURANT = (-0.5, -0.25)


def gaussian(n):
    x, y = np.indices((n, n), dtype=float)
    return np.exp(-((x + 0.5 - n / 2) ** 2 + (y + 0.5 - n / 2) ** 2) / (2 * (n / 10) ** 2))


def with_strake(n, on="auto"):
    case = strake.Case({
        "problem": "mpdata2d",
        "grid": {"rows": n, "cols": n},
        "time": {"dt": 1, "steps": 75},
        "scheme": {"iterations": 2, "nonoscillatory": False},
        "fields": {"h": {"constant": 1}},
    })
    solver = strake.Solver(case, on=on)
    solver["psi"] = gaussian(n)
    solver["u1"], solver["u2"] = COURANT
    return solver


def with_pympdata(n):
    options = PyMPDATA.Options(n_iters=2)
    periodic = (boundary_conditions.Periodic(), boundary_conditions.Periodic())
    flow = (np.full((n + 1, n), COURANT[0]), np.full((n, n + 1), COURANT[1]))
    return PyMPDATA.Solver(
        stepper=PyMPDATA.Stepper(options=options, n_dims=2),
        advectee=PyMPDATA.ScalarField(gaussian(n), halo=options.n_halo, boundary_conditions=periodic),
        advector=PyMPDATA.VectorField(flow, halo=options.n_halo, boundary_conditions=periodic),
    )


# %% [markdown]
# ## 75 steps on 24 x 24 cells

# %%
with with_strake(24) as ours:
    ours.step(75)
    psi = ours["psi"]
print("24 x 24 after 75 steps: psi from %.6f to %.6f, sum %.12f" % (psi.min(), psi.max(), psi.sum()))
if PyMPDATA is not None:
    theirs = with_pympdata(24)
    theirs.advance(75)
    print("largest difference to PyMPDATA: %.1e" % np.abs(theirs.advectee.get() - psi).max())

# %% [markdown]
# ## Times
# After a first call, in which PyMPDATA compiles and Strake chooses where to run. In turns, since other programs run, too; the
# fastest turn of each counts.


# %%
def fastest(n, steps, turns=5):
    ours = with_strake(n)
    theirs = with_pympdata(n) if PyMPDATA is not None else None
    advance = {"Strake": ours.step}
    if theirs is not None:
        advance["PyMPDATA"] = theirs.advance
    least = {name: float("inf") for name in advance}
    for turn in range(turns + 1):
        for name, step in advance.items():
            begin = time.perf_counter()
            step(steps)
            if turn > 0:
                least[name] = min(least[name], time.perf_counter() - begin)
    where = ", ".join(d["id"] for d in ours.report()["devices"])
    ours.close()
    return least, where


for n, steps in ((24, 750), (512, 50)):
    least, where = fastest(n, steps)
    for name, seconds in least.items():
        print("%4d x %4d, %s: %.2f us a step, %.0f million cells a second"
              % (n, n, name if name != "Strake" else "Strake on " + where, seconds / steps * 1e6,
                 n * n * steps / seconds / 1e6))
