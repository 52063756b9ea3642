"""MPDATA on the processors: beside PyMPDATA, several tracers beside one, winds that change beside steady ones.

usage: PYTHONPATH=host/python python3 bench/plan_mpdata.py OUTPUT_FOLDER [SUBJECT...]     (after `make lib`)
SUBJECT: pympdata (`pip install PyMPDATA`), tracers, winds; all of them where none is named. Needs NumPy.
THREADS=2  of each program; ROUNDS=5  turns of each, after one that compiles and is not counted; LIMIT=SECONDS  after which
no round is started; SCALE=4  rehearses with a quarter of the cells along every axis.

Whatever is compared takes turns in one process, with the same arrays: nonoscillatory, two iterations, double precision,
periodic, winds in arrays. turns.jsonl has a line for each turn, table.txt the rate of the fastest one, in million cells
a second (of tracers together: of each cell and tracer), by the clock and by the processors' time, and the ratios; results
of both programs are compared as well. In three dimensions PyMPDATA 1.7.3 has one of the two cross terms of a face only: it
computes less, and its results are others (by 3e-4 after 8 steps at 128^3). Three minutes on two quiet cores, half of
which PyMPDATA compiles.
"""

import json
import os
import pathlib
import sys
import time

THREADS = int(os.environ.get("THREADS", "2"))
os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402: after the threads are set
import strake  # noqa: E402

SCALE = int(os.environ.get("SCALE", "1"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
END = time.monotonic() + float(os.environ.get("LIMIT", "inf"))
COURANT = (0.2, -0.15, 0.1)
AXES = ("planes", "rows", "cols")


class Plan:
    """Turns of named contestants, and a table of their fastest ones."""

    def __init__(self, out):
        self.out = pathlib.Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.turns = (self.out / "turns.jsonl").open("w")
        self.table = (self.out / "table.txt").open("w")

    def say(self, line):
        print(line, flush=True)
        print(line, file=self.table, flush=True)

    def compare(self, title, cells, contestants, first):
        """contestants: name -> function that makes a turn and returns its steps (of each cell); ratios are to `first`."""
        best = {name: [0.0, 0.0] for name in contestants}
        for turn in range(ROUNDS + 1):
            if turn > 1 and time.monotonic() > END:
                break
            for name, make in contestants.items():
                wall, processors = time.perf_counter(), time.process_time()
                steps = make()
                rates = [cells * steps / (time.perf_counter() - wall) / 1e6,
                         cells * steps * THREADS / max(time.process_time() - processors, 1e-9) / 1e6]
                if turn > 0:
                    best[name] = [max(pair) for pair in zip(best[name], rates)]
                    print(json.dumps({"subject": title, "name": name, "turn": turn, "Mcell/s": rates}),
                          file=self.turns, flush=True)
        for name, rates in best.items():
            self.say("%-34s %-22s %8.1f Mcell/s, %8.1f by processors' time; ratio %.3f, %.3f"
                     % ((title, name) + tuple(rates) + tuple(r / s for r, s in zip(rates, best[first]))))


def shape_of(dims, n):
    return (max(n // SCALE, 16),) * dims


def start(shape):
    at = np.indices(shape, dtype=float)
    return 1.0 + np.exp(-sum((x - n / 2) ** 2 for x, n in zip(at, shape)) / (min(shape) / 6) ** 2)


def solver_of(shape, run=None, tracers=(), h=None):
    case = {"problem": "mpdata%dd" % len(shape), "grid": dict(zip(AXES[3 - len(shape):], shape)),
            "time": {"dt": 1, "steps": 1}, "scheme": {"iterations": 2, "nonoscillatory": True}, "run": run or {}}
    if h is None:
        case["fields"] = {"h": {"constant": 1}}
    if tracers:
        case["tracers"] = list(tracers)
    solver = strake.Solver(strake.Case(case), on="cpu", threads=THREADS)
    for name in tracers or ("psi",):
        solver[name] = start(shape)
    for d in range(len(shape)):
        solver["u%d" % (d + 1)] = np.full(solver.shape("u%d" % (d + 1)), COURANT[d])
    if h is not None:
        solver["h"] = h
    return solver


def peer_of(shape, stepper={}):
    """A solver of PyMPDATA; what it compiled for a number of dimensions serves all shapes."""
    import PyMPDATA
    from PyMPDATA import boundary_conditions

    options = PyMPDATA.Options(n_iters=2, nonoscillatory=True)
    if len(shape) not in stepper:
        stepper[len(shape)] = PyMPDATA.Stepper(options=options, n_dims=len(shape), n_threads=THREADS)
    periodic = tuple(boundary_conditions.Periodic() for _ in shape)
    faces = tuple(np.full(tuple(n + (a == d) for a, n in enumerate(shape)), COURANT[d]) for d in range(len(shape)))
    return PyMPDATA.Solver(
        stepper=stepper[len(shape)],
        advectee=PyMPDATA.ScalarField(start(shape), halo=options.n_halo, boundary_conditions=periodic),
        advector=PyMPDATA.VectorField(faces, halo=options.n_halo, boundary_conditions=periodic))


def stepping(step, steps):
    def turn():
        step(steps)
        return steps
    return turn


def beside_pympdata(plan):
    for dims, n, steps in ((2, 512, 100), (2, 2048, 8), (3, 128, 12), (3, 256, 2)):
        shape = shape_of(dims, n)
        title = "beside PyMPDATA, " + " x ".join(map(str, shape))
        ours, theirs = solver_of(shape), peer_of(shape)
        plan.compare(title, np.prod(shape, dtype=float), {
            "PyMPDATA": stepping(theirs.advance, steps), "Strake": stepping(ours.step, steps)}, "PyMPDATA")
        plan.say("%-34s largest difference %.1e" % (title, np.abs(theirs.advectee.get() - ours["psi"]).max()))
        ours.close()


def several_tracers(plan):
    names = ("a", "b", "c", "d")
    for dims, n, steps in ((2, 2048, 8), (3, 128, 8)):
        shape = shape_of(dims, n)
        h = 1.0 + 0.5 * np.random.default_rng(1).random(shape)
        one, four = solver_of(shape, tracers=names[:1], h=h), solver_of(shape, tracers=names, h=h)
        step = stepping(four.step, steps)
        plan.compare("tracers, h a field, " + " x ".join(map(str, shape)), np.prod(shape, dtype=float),
                     {"one": stepping(one.step, steps), "four": lambda step=step: len(names) * step()}, "one")
        same = all(np.array_equal(one["a"], four[name]) for name in names)
        plan.say("%-34s together %s alone" % ("", "as" if same else "DIFFERENT from"))
        one.close()
        four.close()


def changing_winds(plan):
    for dims, n, steps in ((2, 2048, 8), (3, 128, 8)):
        shape = shape_of(dims, n)
        winds = ["u%d" % (d + 1) for d in range(dims)]
        steady, lent, copied = (solver_of(shape, run={"steps_per_sweep": 1}) for _ in range(3))
        new = {name: copied[name] for name in winds}
        room = {name: new[name].copy() for name in winds}
        array = {name: lent.lend(name) for name in winds}

        def by_lending():
            for _ in range(steps):
                for name in winds:
                    array[name].flat[0] = new[name].flat[0]
                    lent.give_back(name)
                lent.step(1)
            return steps

        def by_copying():
            for _ in range(steps):
                for name in winds:
                    copied[name] = new[name]
                copied.step(1)
            return steps

        def steady_and_memcpy():
            for _ in range(steps):
                for name in winds:
                    room[name][...] = new[name]
                steady.step(1)
            return steps

        def one_by_one():
            for _ in range(steps):
                steady.step(1)
            return steps

        plan.compare("winds, " + " x ".join(map(str, shape)), np.prod(shape, dtype=float), {
            "steady": one_by_one, "steady, and a memcpy": steady_and_memcpy,
            "new every step, lent": by_lending, "new every step, copied": by_copying}, "steady")
        plan.say("%-34s lent and copied %s" % ("", "agree" if np.array_equal(lent["psi"], copied["psi"]) else "DIFFER"))
        for solver in (steady, lent, copied):
            solver.close()


SUBJECTS = {"pympdata": beside_pympdata, "tracers": several_tracers, "winds": changing_winds}


def main():
    if len(sys.argv) < 2 or any(name not in SUBJECTS for name in sys.argv[2:]):
        sys.exit(__doc__)
    plan = Plan(sys.argv[1])
    for name in sys.argv[2:] or SUBJECTS:
        try:
            SUBJECTS[name](plan)
        except ImportError as reason:
            plan.say("%s: not measured: %s; `pip install PyMPDATA`" % (name, reason))


if __name__ == "__main__":
    main()
