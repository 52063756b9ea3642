"""Checks of problems that are made from Python: prints "ok NAME" and "not ok NAME: WHY", as python_package.py does.

Usage: python3 python_problem.py FOLDER HEAT, where HEAT is a problem in a C file that is not built yet; with
$STRAKE_CACHE_DIR an empty folder.
"""

import os
import shutil
import sys

import numpy as np

import strake
from python_checks import Heard, failures, raises, test

folder, heat = sys.argv[1:]
DEVICES = ["serial", "cpu"] + ["ocl:0"] * any(d["id"] == "ocl:0" and d.get("fp64", True)
                                              for d in strake.devices()["devices"])


def objects():
    """What is built."""
    return sorted(name for name in os.listdir(os.environ["STRAKE_CACHE_DIR"]) if name.endswith(".so"))


def same_everywhere(case, steps, expected, most=1e-13, devices=DEVICES):
    """States after so many steps are as expected, with the same bytes on every device."""
    found = []
    for on in devices:
        with strake.Solver(case, on=on) as s:
            s.step(steps)
            for name, values in expected.items():
                assert abs(s[name] - values).max() <= most, (on, name, abs(s[name] - values).max())
                assert abs(s.measure()["mean_" + name] - values.mean()) <= most, (on, name)
            found.append([s[name].tobytes() for name in expected])
    assert all(one == found[0] for one in found)


def around(values, *offset):
    """Values of periodic neighbours: f[offset]."""
    return np.roll(values, [-o for o in offset], tuple(range(len(offset))))


def laplacian(values, spacing):
    total = 0
    for axis in range(values.ndim):
        step = np.eye(values.ndim, dtype=int)[axis]
        total = total + (around(values, *step) + around(values, *-step) - 2 * values) / spacing[axis] ** 2
    return total


def gray_scott(**more):
    return strake.problem(
        "gray_scott_py", dims=2,
        fields={"u": "concentration of the first substance [mol/m3]", "v": "and of the second [mol/m3]"},
        inputs={"feed_map": ("a factor of the feed [-]", 1)},
        parameters={"Du": 0.16, "Dv": 0.08, "F": ("feed [1/s]", 0.035), "k": 0.065},
        rates={"u": "Du*lap(u) - u*v*v + feed_map*F*(1-u)", "v": "Dv*lap(v) + u*v*v - (F+k)*v"},
        dt_limit="spacing**2/(4*max(Du, Dv))", **more)


SHAPE = (33, 47)
GRID = {"rows": 33, "cols": 47, "dx": 0.8, "dy": 1.25}  # dx is between rows, dy between columns
SPACING = (0.8, 1.25)
rng = np.random.default_rng(1)
U, V, A = rng.random(SHAPE), rng.random(SHAPE), rng.random(SHAPE)


@test
def two_dimensions_are_as_numpy_says_and_a_parameter_can_be_changed():
    made = gray_scott()
    assert (made.name, made.dims, made.fields, made.inputs) == ("gray_scott_py", 2, ("u", "v"), ("feed_map",))
    with open(made.path) as file:
        assert file.read() == made.source and "gray_scott_py_step_u_" in made.source
    for more in ({}, {"parameters": {"F": 0.05, "Dv": 0.1}}):
        case = strake.Case(problem=made, grid=GRID, time={"dt": 0.5, "steps": 90},
                           fields={"u": U, "v": V, "feed_map": A}, **more)
        assert case.problem == "gray_scott_py" and case.shape == SHAPE
        feed, dv = (0.05, 0.1) if more else (0.035, 0.08)
        u, v = U, V
        for _ in range(40):
            r = 0.16 * laplacian(u, SPACING) - u * v * v + A * feed * (1 - u)
            u, v = u + 0.5 * r, v + 0.5 * (dv * laplacian(v, SPACING) + u * v * v - (feed + 0.065) * v)
        same_everywhere(case, 40, {"u": u, "v": v}, devices=DEVICES[:2] if more else DEVICES)


@test
def three_dimensions_with_walls_are_too():
    made = strake.problem(
        "drift_py", 3, {"c": "something carried [kg/m3]"}, inputs={"a": ("[m2/s]", 0.1)}, parameters={"w": ("[m/s]", 0.3)},
        rates={"c": "a*lap(c) - w*dz(c) + w*dx(c)*dy(c) + 0.1*c[1, -1, 2] - 0.1*at(c, 0, 0, -1)"}, boundaries="no_flux")
    c = start = rng.random((9, 10, 11))
    a = rng.random(c.shape) * 0.1
    spacing = (0.5, 0.7, 1.1)
    case = strake.Case(problem=made, grid={"planes": 9, "rows": 10, "cols": 11, "dz": 0.5, "dx": 0.7, "dy": 1.1},
                       time={"dt": 0.1, "steps": 20}, fields={"c": start, "a": a},
                       boundary={axis: "no_flux" for axis in ("planes", "rows", "cols")})
    for _ in range(10):
        wide = np.pad(c, 2, mode="symmetric")

        def at(*offset):
            return wide[tuple(slice(2 + o, 2 + o + n) for o, n in zip(offset, c.shape))]
        ways = [((1, 0, 0), (-1, 0, 0)), ((0, 1, 0), (0, -1, 0)), ((0, 0, 1), (0, 0, -1))]
        lap = sum((at(*p) + at(*m) - 2 * c) / d ** 2 for (p, m), d in zip(ways, spacing))
        dz, dy, dx = ((at(*p) - at(*m)) / (2 * d) for (p, m), d in zip(ways, spacing))
        c = c + 0.1 * (a * lap - 0.3 * dz + 0.3 * dx * dy + 0.1 * at(1, -1, 2) - 0.1 * at(0, 0, -1))
    same_everywhere(case, 10, {"c": c})


@test
def stages_functions_and_the_midpoint_are():
    made = strake.problem(
        "all_py", 2, {"u": "one", "v": ("another [m]", 0.5)}, inputs={"a": 0.3}, parameters={"K": 0.1, "L": ("[1/s]", 2)},
        stages={"mu": "u**3 - u - K*lap(u)"},
        rates={"u": "0.01*lap(mu) + dx(v)/10 - dy(a)*.2 + sqrt(abs(u) + L)/(1 + v*v) + max(u, v) - min(u, v, K*L)",
               "v": "exp(-v**2) - log(2 + u*u)/3 + sin(v)*cos(u) + v[1, -2]*0.1 + pow(2 + v*v, -2) - +u"},
        scheme="midpoint")

    def rates(u, v):
        mu = u ** 3 - u - 0.2 * laplacian(u, SPACING)
        dx = (around(v, 0, 1) - around(v, 0, -1)) / (2 * SPACING[1])
        dy = (around(A, 1, 0) - around(A, -1, 0)) / (2 * SPACING[0])
        return (0.01 * laplacian(mu, SPACING) + dx / 10 - dy * 0.2 + np.sqrt(abs(u) + 2) / (1 + v * v) + np.maximum(u, v) -
                np.minimum(np.minimum(u, v), 0.4),
                np.exp(-v ** 2) - np.log(2 + u * u) / 3 + np.sin(v) * np.cos(u) + around(v, 1, -2) * 0.1 +
                (2 + v * v) ** -2.0 - u)
    u, v = U, V
    for _ in range(20):
        du, dv = rates(u, v)
        du, dv = rates(u + 0.005 * du, v + 0.005 * dv)
        u, v = u + 0.01 * du, v + 0.01 * dv
    case = {"problem": made, "grid": GRID, "time": {"dt": 0.01, "steps": 20}, "parameters": {"K": 0.2},
            "fields": {"u": U, "v": V, "a": A}}
    same_everywhere(strake.Case(case), 20, {"u": u, "v": v})
    same_everywhere(strake.Case(dict(case, precision="single")), 20, {"u": u, "v": v}, 1e-5, DEVICES[:2])


@test
def long_expressions_become_several_stages():
    # 21 operands, each in both factors; and terms of more operands than a point function takes.
    names = ["x%d" % k for k in range(21)]
    dense = "(%s)*(%s)" % (" + ".join(names), " + ".join("%s*%s" % pair for pair in zip(names, names[::-1])))
    wide = " + ".join("%s[%d]*%s" % (name, 1 - 2 * (k % 2), name) for k, name in enumerate(names[:11]))
    made = strake.problem("long_py", 1, {n: n for n in names[:2]}, inputs={n: 0 for n in names[2:]},
                          rates={"x0": dense, "x1": wide})
    values = {n: rng.random(50) for n in names}
    now = dict(values)
    for _ in range(3):
        x0 = sum(now.values()) * sum(now[a] * now[b] for a, b in zip(names, names[::-1]))
        x1 = sum(around(now[n], 1 - 2 * (k % 2)) * now[n] for k, n in enumerate(names[:11]))
        now.update(x0=now["x0"] + 1e-3 * x0, x1=now["x1"] + 1e-3 * x1)
    case = strake.Case(problem=made, grid={"cols": 50}, time={"dt": 1e-3, "steps": 3}, fields=values)
    same_everywhere(case, 3, {"x0": now["x0"], "x1": now["x1"]}, devices=DEVICES[:2])


@test
def the_same_definition_is_built_once():
    before = objects()
    first, second = gray_scott(), gray_scott(folder=folder)
    assert objects() == before  # the same text, wherever it is
    assert first.source == second.source and second.path == os.path.join(folder, "gray_scott_py.c")
    times = [os.stat(os.path.join(os.environ["STRAKE_CACHE_DIR"], name)).st_mtime_ns for name in before]
    os.environ["CC"] = "no-compiler"  # none is asked for
    try:
        gray_scott()
        raises(strake.UsageError, ["no compiler no-compiler", "CC"], strake.problem, "new_py", 1, {"u": ""}, {"u": "u"})
    finally:
        del os.environ["CC"]
    assert times == [os.stat(os.path.join(os.environ["STRAKE_CACHE_DIR"], name)).st_mtime_ns for name in before]


@test
def problems_of_one_name_stay_what_they_were():
    made = [strake.problem("twice_py", 1, {"u": "u"}, {"u": k}) for k in (1, 2)]
    for on in DEVICES:
        solvers = [strake.Solver({"problem": p, "grid": {"cols": 8}, "time": {"dt": 1, "steps": 5},
                                  "fields": {"u": {"constant": 0}}}, on=on) for p in made]
        for k, s in enumerate(solvers):
            s.step(2)
            assert (s["u"] == 2 * (k + 1)).all()
            s.close()
    here = strake.problem("twice_py", 1, {"u": "u"}, {"u": 1}, folder=folder)
    with open(here.path, "a") as file:
        file.write("\n")
    raises(strake.UsageError, ["twice_py", "has changed"], strake.Case, problem=here, grid={"cols": 8}, time={"steps": 1})


@test
def a_path_is_built_when_it_is_asked_for():
    case = {"grid": {"rows": 16, "cols": 16}, "time": {"dt": 0.2, "steps": 3}, "fields": {"T": {"constant": 2}}}
    raises(strake.UsageError, [heat, "strake problem build", "strake.build("], strake.Case, case, problem=heat)
    assert strake.build(heat) == heat
    with strake.Solver(strake.Case(case, problem=heat), on="cpu") as s:
        s.step(3)
        assert (s["T"] == 2).all() and s.case.problem == "heat2d"
    wrong = os.path.join(folder, "wrong.c")
    with open(heat) as file, open(wrong, "w") as out:
        out.write(file.read().replace("(before - after)", "(before - aftr)"))
    with Heard() as heard:
        raises(strake.UsageError, ["wrong.c", "aftr"], strake.build, wrong)
    assert any("aftr" in line for _, line in heard.lines) and len(heard.lines) > 1, heard.lines
    raises(strake.FileError, ["none.c"], strake.build, os.path.join(folder, "none.c"))
    raises(strake.UsageError, ["a C file"], strake.build, os.path.join(folder, "some.so"))
    raises(TypeError, ["not both"], strake.Case, "case.yaml", grid={"rows": 16})
    raises(TypeError, ["problem="], strake.Case, gray_scott())


def solve(case, on):
    with strake.Solver(case, on=on) as s:
        s.step(20)
        return s["T"]


@test
def two_versions_of_a_file_in_one_process_each_have_their_own_loops():
    other = os.path.join(folder, "heat_half.c")
    with open(heat) as file, open(other, "w") as out:
        out.write(file.read().replace("REAL(0.5) * (a + b)", "REAL(0.25) * (a + b)"))
    strake.build(heat)
    strake.build(other)
    case = dict(grid=GRID, time={"dt": 0.1, "steps": 20}, fields={"T": U})
    results = [[solve(strake.Case(problem=file, **case), on) for file in (heat, other, heat)] for on in ("serial", "cpu")]
    for on in range(2):
        assert results[on][0].tobytes() == results[on][2].tobytes() != results[on][1].tobytes()
    assert results[0][0].tobytes() == results[1][0].tobytes() and results[0][1].tobytes() == results[1][1].tobytes()


@test
def nothing_is_warned_of():
    with Heard() as heard:
        strake.problem("kernel_py", 2, {"double": 'quoted "*/" \\ [%]', "kernel": ""}, inputs={"half": 1, "unused": 2},
                       parameters={"linux": 1, "idle": 3}, rates={"double": "lap(kernel)*half", "kernel": "-double*linux"})
    assert not heard.lines, heard.lines


@test
def mistakes_name_the_expression_and_the_place():
    def rate(text, **more):
        strake.problem(**dict(dict(name="bad_py", dims=2, fields={"u": "", "v": ""}, inputs={"a": 1}, parameters={"D": 1},
                                   rates={"u": text, "v": "0"}), **more))
    before = objects()
    for text, *words in (
            ("D*lap(w)", "bad_py", "rates['u']", "character 7", "`D*lap(w)`", "no w", "u, v, a"),
            ("D*lapp(u)", "character 3", "lapp", "did you mean lap?"), ("u^2", "found ^", "x**2"),
            ("u // 2", "found //"), ("u % 2", "found %"), ("u**0.5", "character 4", "whole exponent", "sqrt"),
            ("u**D", "whole exponent"), ("u**65", "whole exponent"), ("((u**64)**64)**64", "too long"),
            ("lap(u*v)", "stages"), ("lap(D)", "D is a parameter"), ("dz(u)", "dims=2", "dz"), ("u[1]", "2 offsets", "drow"),
            ("u[1, 99]", "character 6", "-8 to 8"), ("u[D, 1]", "whole number"), ("u[:, 1]", "whole number"),
            ("1/0", "no finite value"), ("1e400", "too large"), ("(u", "character 1", "no expression"), ("", "empty"),
            ("u > v", "comparison"), ("u if v else 0", "choice"), ("u.real", "dot"), ("'u'", "number"),
            ("__import__('os').remove('x')", "character 1"), ("abs(u, v)", "one value"), ("min(u)", "two values"),
            ("exp(x=u)", "in their order"), ("lap", "a function"), ("+".join(["u"] * 3000), "make it shorter"),
            ("(" * 150 + "u" + ")" * 150 + "*w", "character 303", "no w"), (None, "found None")):
        raises(strake.UsageError, words, rate, text)
    for more, *words in (
            ({"dims": 4}, "dims"), ({"name": "a b"}, "'a b'"), ({"fields": {"u": ""}}, "rates", "v is no field"),
            ({"fields": {"u": "", "v": "", "w": ""}}, "w has none"), ({"inputs": {"u": 1}}, "two things called u"),
            ({"inputs": {"u u": 1}}, "'u u'"), ({"parameters": {"dx": 1}}, "dx is a function"),
            ({"parameters": {"D": "[m]"}}, "parameters['D']", "a number"), ({"inputs": {"a": (1, 2)}}, "inputs['a']"),
            ({"scheme": "rk4"}, "midpoint", "'rk4'"), ({"boundaries": "wall"}, "no_flux", "'wall'"),
            ({"stages": {"m": "3*D"}}, "stages['m']", "parameter"), ({"stages": {"m": "lap(n)"}}, "no n"),
            ({"dt_limit": "dx**2"}, "dt_limit"), ({"dt_limit": "1/u"}, "no u"), ({"parameters": {"D": np.nan}}, "finite")):
        raises(strake.UsageError, words, rate, "0", **more)
    raises(strake.UsageError, ["mpdata2d", "Strake's own"], rate, "0", name="mpdata2d")
    shutil.copy(heat, os.path.join(folder, "bad_py.c"))
    raises(strake.UsageError, ["bad_py.c is there already"], rate, "0", folder=folder)
    assert objects() == before


@test
def too_long_a_time_step_is_refused():
    case = strake.Case(problem=gray_scott(), grid=GRID, time={"dt": 1.1, "steps": 1}, fields={"u": U, "v": V})
    with strake.Solver(case, on="cpu") as s:
        raises(strake.UsageError, ["1.1 is unstable", "at most 1 s"], s.step)


sys.exit(1 if failures else 0)
