#!/usr/bin/env python3
"""Problems in one C file beside the same schemes in NumPy, Numba and JAX, in double precision.

usage: PYTHONPATH=host/python python3 bench/problems.py [--on WHERE] [--sizes N,N...] [--steps N] [--rounds N]
    [--threads N] [--run KEY=VALUE]... [PROBLEM...]
(after `make`; needs NumPy; `pip install numba jax` for the others, which the table names where they are absent)
PROBLEM: gray_scott (data/examples/problems/gray_scott.c), shallow_water (bench/flat_water.c, with a time step that
follows from the state); both where none is named. --threads 2: of Strake on processors and of Numba;
JAX takes what it finds. --run steps_per_sweep=8: of `strake help case` the key run.steps_per_sweep. STRAKE=build/strake builds
the problem.

Grids are N x N and periodic, and begin with the same noise. Programs take turns in one process; each computes all steps of a
turn in one call, into which the others copy the arrays. The table has seconds of a step of the fastest turn, how many times
Strake's that is, and the largest difference from Strake's result after the first turn; one of NumPy beyond 1e-12 is an
error. NumPy's Gray-Scott is written for speed: neighbours are slices of arrays with a border, and results go into arrays
that stay; its shallow water is written to be read. Two minutes on two cores.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--on", default="cpu", help="where Strake runs, as in `strake run --on`")
parser.add_argument("--sizes", default="256,1024", help="cells along an edge")
parser.add_argument("--steps", type=int, default=50, help="steps of a turn")
parser.add_argument("--rounds", type=int, default=3, help="turns of each program that count, after one that compiles")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--run", action="append", default=[], metavar="KEY=VALUE", help="a key run.KEY of Strake's case")
parser.add_argument("problems", nargs="*", metavar="PROBLEM")
args = parser.parse_args()
os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)

import numpy as np  # noqa: E402: after the threads are set
import strake  # noqa: E402

try:
    import numba
except ImportError:
    numba = None
try:
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None


def parallel(function):
    return numba.njit(parallel=True)(function) if numba else function


span = numba.prange if numba else range


class Bordered:
    """An array with one cell more on each side, and views of it: the cells and their neighbours."""

    def __init__(self, cells):
        self.all = np.empty(tuple(n + 2 for n in cells.shape))
        self.here = self.all[1:-1, 1:-1]
        self.north, self.south = self.all[:-2, 1:-1], self.all[2:, 1:-1]
        self.west, self.east = self.all[1:-1, :-2], self.all[1:-1, 2:]
        self.here[...] = cells

    def wrap(self):
        """Beyond an edge lies the other one."""
        a = self.all
        a[0, :], a[-1, :] = a[-2, :], a[1, :]
        a[:, 0], a[:, -1] = a[:, -2], a[:, 1]


# Gray-Scott: D dt/dx^2 are DU and DV, dt is 1.
DU, DV, FEED, LOSS, SPACING = 0.2, 0.1, 0.05, 0.11, 0.01


class GrayScott:
    name, states = "Gray-Scott", ("u", "v")

    def start(self, n):
        draw = np.random.default_rng(1)
        return [0.4 + 0.2 * draw.random((n, n)), 0.2 + 0.1 * draw.random((n, n))]

    def file(self, folder):
        return TOP / "data/examples/problems/gray_scott.c"

    def case(self, n, steps):
        return {"grid": {"rows": n, "cols": n, "dx": SPACING, "dy": SPACING}, "time": {"dt": 1, "steps": steps},
                "parameters": {"Du": DU * SPACING ** 2, "Dv": DV * SPACING ** 2, "F": FEED, "k": LOSS - FEED}}

    def numpy(self, fields, steps):
        u, v = (Bordered(x) for x in fields)
        reaction, change, twice = (np.empty(u.here.shape) for _ in range(3))

        def spread(c, weight):
            np.add(c.north, c.south, out=change)
            np.add(change, c.west, out=change)
            np.add(change, c.east, out=change)
            np.multiply(c.here, 4.0, out=twice)
            np.subtract(change, twice, out=change)
            np.multiply(change, weight, out=change)

        for _ in range(steps):
            u.wrap()
            v.wrap()
            np.multiply(v.here, v.here, out=reaction)
            np.multiply(reaction, u.here, out=reaction)
            spread(u, DU)
            np.subtract(change, reaction, out=change)
            np.subtract(1.0, u.here, out=twice)
            np.multiply(twice, FEED, out=twice)
            np.add(change, twice, out=change)
            np.add(u.here, change, out=u.here)
            spread(v, DV)
            np.add(change, reaction, out=change)
            np.multiply(v.here, LOSS, out=twice)
            np.subtract(change, twice, out=change)
            np.add(v.here, change, out=v.here)
        return [u.here, v.here]

    def numba(self, fields, steps):
        return gray_scott_numba(fields[0], fields[1], steps)

    def jax(self, fields, steps):
        return gray_scott_jax(*fields, steps)


@parallel
def gray_scott_numba(u, v, steps):
    n, m = u.shape
    u, v = u.copy(), v.copy()
    p, q = np.empty_like(u), np.empty_like(v)
    for _ in range(steps):
        for i in span(n):
            north, south = (i - 1) % n, (i + 1) % n
            for j in range(m):
                west, east = j - 1 if j > 0 else m - 1, j + 1 if j + 1 < m else 0
                a, b = u[i, j], v[i, j]
                r = a * (b * b)
                p[i, j] = a + (DU * (((u[north, j] + u[south, j]) + (u[i, west] + u[i, east])) - 4.0 * a)
                               + (FEED * (1.0 - a) - r))
                q[i, j] = b + (DV * (((v[north, j] + v[south, j]) + (v[i, west] + v[i, east])) - 4.0 * b)
                               + (r - LOSS * b))
        u, p = p, u
        v, q = q, v
    return u, v


def gray_scott_jax(u, v, steps):
    return compiled("gray_scott", gray_scott_steps)(jnp.asarray(u), jnp.asarray(v), steps)


def gray_scott_steps(u, v, steps):
    def lap(c):
        return jnp.roll(c, 1, 0) + jnp.roll(c, -1, 0) + jnp.roll(c, 1, 1) + jnp.roll(c, -1, 1) - 4.0 * c

    def step(_, state):
        u, v = state
        r = u * (v * v)
        return u + (DU * lap(u) + (FEED * (1.0 - u) - r)), v + (DV * lap(v) + (r - LOSS * v))
    return jax.lax.fori_loop(0, steps, step, (u, v))


# Shallow water: explicit Euler, Rusanov's flux; a step is as long as the state after the one before allows.
GRAVITY, SAFETY = 9.81, 0.5


class ShallowWater:
    name, states = "shallow water", ("depth", "m1", "m2")

    def start(self, n):
        draw = np.random.default_rng(2)
        return [1.0 + 0.2 * draw.random((n, n))] + [0.2 * (draw.random((n, n)) - 0.5) for _ in range(2)]

    def file(self, folder):
        return TOP / "bench/flat_water.c"

    def case(self, n, steps):
        return {"grid": {"rows": n, "cols": n}, "time": {"end": 1e9, "safety": SAFETY}}

    def numpy(self, fields, steps):
        h, m, n = (x.copy() for x in fields)
        rates, dt = self.rates(np, h, m, n)
        for _ in range(steps):
            h, m, n = (x + dt * rate for x, rate in zip((h, m, n), rates))
            rates, dt = self.rates(np, h, m, n)
        return [h, m, n]

    @staticmethod
    def rates(np, h, m, n):
        """Tendencies and the next time step, in NumPy or JAX."""
        u, v, c = m / h, n / h, np.sqrt(GRAVITY * h)
        total = [0.0, 0.0, 0.0]
        for axis, speed in enumerate((u, v)):
            def before(x, axis=axis):
                return np.roll(x, 1, axis)
            fastest = np.maximum(abs(before(speed)) + before(c), abs(speed) + c)
            pressure = 0.5 * GRAVITY * (h * h)
            flux = []
            for k, x in enumerate((h, m, n)):
                carried = x * speed if k else (m, n)[axis]
                carried = carried + pressure if k == axis + 1 else carried
                flux.append(0.5 * ((before(carried) + carried) - fastest * (x - before(x))))
            total = [t - (np.roll(f, -1, axis) - f) for t, f in zip(total, flux)]
        return total, np.min(SAFETY / ((abs(u) + c) + (abs(v) + c)))

    def numba(self, fields, steps):
        return shallow_numba(*fields, steps)

    def jax(self, fields, steps):
        return compiled("shallow_water", shallow_steps)(*map(jnp.asarray, fields), steps)


@parallel
def shallow_numba(h, m, n, steps):
    rows, cols = h.shape
    h, m, n = h.copy(), m.copy(), n.copy()
    u, v, c = np.empty_like(h), np.empty_like(h), np.empty_like(h)
    south, east = np.empty((3, rows, cols)), np.empty((3, rows, cols))
    least = np.empty(rows)
    dt = 0.0
    half = 0.5 * GRAVITY
    for step in range(steps + 1):
        for i in span(rows):
            up = (i + 1) % rows
            most = np.inf
            for j in range(cols):
                if step > 0:
                    right = j + 1 if j + 1 < cols else 0
                    h[i, j] += dt * -((south[0, up, j] - south[0, i, j]) + (east[0, i, right] - east[0, i, j]))
                    m[i, j] += dt * -((south[1, up, j] - south[1, i, j]) + (east[1, i, right] - east[1, i, j]))
                    n[i, j] += dt * -((south[2, up, j] - south[2, i, j]) + (east[2, i, right] - east[2, i, j]))
                u[i, j], v[i, j], c[i, j] = m[i, j] / h[i, j], n[i, j] / h[i, j], np.sqrt(GRAVITY * h[i, j])
                most = min(most, SAFETY / ((abs(u[i, j]) + c[i, j]) + (abs(v[i, j]) + c[i, j])))
            least[i] = most
        dt = least.min()
        if step == steps:
            break
        for i in span(rows):
            p = (i - 1) % rows
            for j in range(cols):
                q = j - 1 if j > 0 else cols - 1
                f = max(abs(u[p, j]) + c[p, j], abs(u[i, j]) + c[i, j])
                south[0, i, j] = 0.5 * ((m[p, j] + m[i, j]) - f * (h[i, j] - h[p, j]))
                south[1, i, j] = 0.5 * (((m[p, j] * u[p, j] + half * (h[p, j] * h[p, j]))
                                         + (m[i, j] * u[i, j] + half * (h[i, j] * h[i, j]))) - f * (m[i, j] - m[p, j]))
                south[2, i, j] = 0.5 * ((n[p, j] * u[p, j] + n[i, j] * u[i, j]) - f * (n[i, j] - n[p, j]))
                f = max(abs(v[i, q]) + c[i, q], abs(v[i, j]) + c[i, j])
                east[0, i, j] = 0.5 * ((n[i, q] + n[i, j]) - f * (h[i, j] - h[i, q]))
                east[1, i, j] = 0.5 * ((m[i, q] * v[i, q] + m[i, j] * v[i, j]) - f * (m[i, j] - m[i, q]))
                east[2, i, j] = 0.5 * (((n[i, q] * v[i, q] + half * (h[i, q] * h[i, q]))
                                        + (n[i, j] * v[i, j] + half * (h[i, j] * h[i, j]))) - f * (n[i, j] - n[i, q]))
    return h, m, n


def shallow_steps(h, m, n, steps):
    def step(_, state):
        fields, rates, dt = state
        fields = [x + dt * rate for x, rate in zip(fields, rates)]
        return (fields, *ShallowWater.rates(jnp, *fields))
    return jax.lax.fori_loop(0, steps, step, ([h, m, n], *ShallowWater.rates(jnp, h, m, n)))[0]


def compiled(name, function, kept={}):
    if name not in kept:
        kept[name] = jax.jit(function)
    return kept[name]


def built(problem, folder):
    path = problem.file(folder)
    program = os.environ.get("STRAKE", str(TOP / "build/strake"))
    subprocess.run([program, "problem", "build", str(path)], check=True)
    return {"file": str(path)}


def settings():
    """Keys under run: as --run gives them; what is no number, list or truth value is text."""
    run = {}
    for setting in args.run:
        key, _, value = setting.partition("=")
        try:
            run[key] = json.loads(value)
        except ValueError:
            run[key] = value
    return run


def compare(problem, n, name):
    """@return the largest difference of NumPy's result"""
    fields = problem.start(n)
    case = dict(problem.case(n, args.steps), problem=name, run=settings())
    solver = strake.Solver(strake.Case(case), on=args.on, threads=args.threads)

    def ours():
        solver.step(args.steps)

    programs = {"Strake": ours, "NumPy": lambda: problem.numpy(fields, args.steps)}
    absent = []
    if numba:
        programs["Numba"] = lambda: problem.numba(fields, args.steps)
    else:
        absent.append("Numba")
    if jax:
        programs["JAX " + jax.default_backend()] = lambda: [np.asarray(x) for x in problem.jax(fields, args.steps)]
    else:
        absent.append("JAX")
    for state, x in zip(problem.states, fields):
        solver[state] = x
    best, off = {}, {}
    for turn in range(args.rounds + 1):
        for program, make in programs.items():
            begun = time.perf_counter()
            result = make()
            seconds = (time.perf_counter() - begun) / args.steps
            if turn > 0:
                best[program] = min(seconds, best.get(program, seconds))
            elif program == "Strake":
                reference = [solver[state] for state in problem.states]
            else:
                off[program] = max(np.abs(np.asarray(x) - y).max() for x, y in zip(result, reference))
    solver.close()
    for program, seconds in best.items():
        print("%-14s %6d %-8s %14.3e %10.2f %12s" % (problem.name, n, program, seconds, seconds / best["Strake"],
                                                   "%.1e" % off[program] if program in off else ""), flush=True)
    for program in absent:
        print("%-14s %6d %-8s not installed" % (problem.name, n, program), flush=True)
    return off["NumPy"]


PROBLEMS = {"gray_scott": GrayScott, "shallow_water": ShallowWater}


def main():
    if any(name not in PROBLEMS for name in args.problems):
        parser.error("problems are: " + ", ".join(PROBLEMS))
    sizes = [int(n) for n in args.sizes.split(",")]
    print("Strake on %s; %d threads; %d steps a turn, %d turns; double precision" % (args.on, args.threads, args.steps,
                                                                                      args.rounds))
    print("%-14s %6s %-8s %14s %10s %12s" % ("problem", "N", "program", "seconds/step", "x Strake", "difference"))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.problems or PROBLEMS:
            problem = PROBLEMS[name]()
            source = built(problem, folder)
            worst = max([worst] + [compare(problem, n, source) for n in sizes])
    if not worst <= 1e-12:
        sys.exit("NumPy's result differs by %.1e, more than 1e-12" % worst)


if __name__ == "__main__":
    main()
