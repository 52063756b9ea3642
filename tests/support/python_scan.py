"""Checks of strake.scan(): prints "ok NAME" and "not ok NAME: WHY", as python_package.py does.

Usage: python3 python_scan.py FOLDER PROGRAM, where FOLDER is an empty one and PROGRAM the program that is tested.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import strake
from python_checks import Heard, failures, raises, test

folder, program = sys.argv[1:]
PLACES = ["cpu"] + ["cpu,ocl:0"] * any(d["id"] == "ocl:0" and d.get("fp64", True) for d in strake.devices()["devices"])
NOISE = np.random.default_rng(1).random((20, 24)) - 0.5
ENDLESS = {"problem": "mpdata2d", "grid": {"rows": 8, "cols": 8}, "time": {"dt": 0.1, "steps": 10 ** 9},
           "fields": {"psi": {"constant": 1}, "u1": 0.2, "u2": 0.1}}


def here(name):
    return os.path.join(folder, name)


def quench(**more):
    return strake.Case(dict({"problem": "cahn_hilliard2d", "grid": {"rows": 20, "cols": 24},
                             "time": {"dt": 0.01, "steps": 12}, "fields": {"u": NOISE}}, **more))


def alone(case, name, on="serial"):
    with strake.Solver(case, on=on) as s:
        s.step(case.steps)
        return s[name]


def are_gone(processes):
    """Those of a program that had to be killed take a moment."""
    for _ in range(600):
        if all(map(is_gone, processes)):
            return True
        time.sleep(0.1)
    return False


def is_gone(process):
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def descendants(process):
    found = []
    for task in os.listdir("/proc/%d/task" % process):
        with open("/proc/%d/task/%s/children" % (process, task)) as file:
            for child in map(int, file.read().split()):
                found += [child] + descendants(child)
    return found


@test
def each_run_has_the_bytes_that_it_has_alone():
    for on in PLACES:
        result = strake.scan(quench(), draws={"parameters.K": "uniform:0.5:1"}, count=9, seed=7, on=on)
        assert result["u"].shape == (9, 20, 24) and result.values["parameters.K"].shape == (9,), result
        assert len(result) == 9 and result.fields == ("u",) and "u" in result and not result.failed.any()
        assert (result.time == 0.12).all() and result.folder is None and "folder" not in result.table
        for k, value in enumerate(result.values["parameters.K"]):
            assert result["u"][k].tobytes() == alone(quench(parameters={"K": value}), "u").tobytes(), (on, k)
        assert (result.table["u_max"] == result["u"].max(axis=(1, 2))).all()
        assert result.table["steps"].dtype == np.int64 and result.table["mass"].dtype == np.float64


@test
def the_same_seed_draws_the_same_values():
    def drawn(seed):
        law = {"parameters.K": "normal:1:0.1", "time.steps": "uniform:1:6"}
        return strake.scan(quench(), draws=law, count=5, seed=seed, sampling="lhs", fields=())
    one, again, other = drawn(1), drawn(1), drawn(2)
    assert (one.values["parameters.K"] == again.values["parameters.K"]).all()
    assert (one.table["u_checksum"] == again.table["u_checksum"]).all() and one.fields == ()
    assert (one.values["parameters.K"] != other.values["parameters.K"]).any()
    assert one.values["time.steps"].dtype == np.int64 and (one.values["time.steps"] == one.table["steps"]).all()


@test
def values_are_sequences_texts_and_arrays():
    case = dict(ENDLESS, time={"dt": 0.1, "steps": 7}, fields={"psi": {"random": {"seed": 1}}, "u1": 0.2, "u2": 0.1})
    result = strake.scan(case, {"scheme.iterations": [1, np.int64(2)], "scheme.nonoscillatory": [True, False],
                                "time.dt": "0.1:0.2:3", "precision": ["double"]}, steps=3)
    assert len(result) == 12 and (result.table["steps"] == 3).all()
    assert result.values["scheme.iterations"].tolist() == [1] * 6 + [2] * 6
    assert result.values["scheme.nonoscillatory"].tolist() == ([True] * 3 + [False] * 3) * 2
    assert result.values["time.dt"].tolist() == [0.1, 0.15, 0.2] * 4
    assert result.values["precision"].tolist() == ["double"] * 12
    first = [NOISE, NOISE[::-1], NOISE]
    result = strake.scan(quench(precision="single"), {"fields.u": first, "parameters.K": np.array([0.5, 1])})
    assert result["u"].dtype == np.float32 and result.values["fields.u"].tolist() == [0, 0, 1, 1, 0, 0]
    for k in range(6):
        own = quench(precision="single", fields={"u": first[k // 2]}, parameters={"K": [0.5, 1][k % 2]})
        assert result["u"][k].tobytes() == alone(own, "u").tobytes(), k


@test
def sequences_are_drawn_item_after_item():
    K, M = np.array([0.5, 1 / 3, 0.7]), np.array([1, 0.9, 0.1 + 0.2])
    result = strake.scan(quench(), {"time.steps": [2, 3]}, draws={"parameters.K": K, "parameters.M": M.tolist()})
    assert len(result) == 6
    pairs = {(k, m) for k, m in zip(result.values["parameters.K"], result.values["parameters.M"])}
    assert pairs == set(zip(K, M)), pairs
    assert len(strake.scan(quench(), draws={"parameters.K": K}, count=2)) == 2


@test
def fields_and_words_are_drawn_with_numbers():
    stack = np.random.default_rng(2).random((4, 20, 24)) - 0.5
    K, where = [0.5, 0.6, 0.7, 0.8], ["single", "double", "double", "double"]
    os.mkdir(here("it's, here"))
    result = strake.scan(quench(), draws={"fields.u": stack, "parameters.K": K, "precision": where}, folder=here("it's, here"))
    assert result.values["fields.u"].tolist() == [0, 1, 2, 3] and result.values["precision"].tolist() == where
    for k in range(4):
        own = quench(fields={"u": stack[k]}, parameters={"K": K[k]}, precision=where[k])
        assert result["u"][k].tobytes() == alone(own, "u").tobytes(), k
    result = strake.scan(quench(), draws={"fields.u": [stack[0], {"constant": 0.25}, "{constant: 0.5}"]})
    assert result.values["fields.u"].tolist() == [0, 1, 2] and result["u"][:, 0, 0].tolist()[1:] == [0.25, 0.5]


@test
def a_run_that_fails_is_told_and_the_others_are_there():
    with Heard() as heard:
        result = strake.scan(quench(), {"time.dt": [0.01, 1000, 0.005]})
    assert result.failed.tolist() == [False, True, False] and list(result.errors) == [1]
    assert "unstable" in result.errors[1] and np.isnan(result.time[1]) and np.isnan(result.table["u_max"][1])
    assert np.isnan(result["u"][1]).all() and result["u"][2].tobytes() == alone(quench(time={"dt": 0.005, "steps": 12}), "u").tobytes()
    assert [level for level, _ in heard.lines] == ["WARNING"] and "run 2 failed" in heard.lines[0][1], heard.lines


@test
def runs_on_other_grids_have_arrays_of_their_own():
    case = quench(fields={"u": {"random": {"seed": 1, "minimum": -0.1, "maximum": 0.1}}})
    result = strake.scan(case, {"grid.rows": [20, 21], "time.dt": [0.01, 1000]})
    assert [None if u is None else u.shape for u in result["u"]] == [(20, 24), None, (21, 24), None]


@test
def a_folder_keeps_what_was_made():
    where = here("kept")
    first = strake.scan(quench(), {"parameters.K": [0.5, 1]}, folder=where)
    begun = os.stat(os.path.join(where, "scan.csv")).st_mtime_ns
    again = strake.scan(quench(), {"parameters.K": [0.5, 1]}, folder=where)
    assert os.stat(os.path.join(where, "scan.csv")).st_mtime_ns == begun and first.folder == where
    assert again["u"].tobytes() == first["u"].tobytes() and (again.table["seconds"] == first.table["seconds"]).all()
    more = strake.scan(quench(), {"parameters.K": [0.5, 1, 0.7]}, folder=where)
    assert more["u"][:2].tobytes() == first["u"].tobytes() and len(more) == 3
    os.rename(where, where + "-moved")
    raises(strake.Error, ["scan.csv", "another scan"], strake.scan, quench(fields={"u": NOISE + 1}),
           {"parameters.K": [0.5, 1]}, folder=where + "-moved")


@test
def maps_are_those_of_the_program():
    with open(here("terrain.asc"), "w") as file:
        file.write("ncols 20\nnrows 16\nxllcorner 500\nyllcorner 900\ncellsize 10\n")
        np.savetxt(file, 100 - np.add.outer(np.arange(16), 0.2 * np.arange(20)))
    flow = {"problem": "lava", "time": {"end": 300}, "fields": {"terrain": {"file": here("terrain.asc")}},
            "vents": [{"x": 595, "y": 1005, "rate": 5}]}
    vents = np.array([[595, 1005, 1], [625.5, 985, 3]])
    result = strake.scan(flow, {"vents[0].rate": [5, 9]}, vents=vents, maps=True, weights={"vents[0].rate": [2, 1]},
                         threshold=0.2, fields=["thickness"])
    assert result.values["vents[0].x"].tolist() == [595, 595, 625.5, 625.5] and result["thickness"].shape == (4, 16, 20)
    with open(here("flow.yaml"), "w") as file:
        json.dump(flow, file)
    with open(here("vents.csv"), "w") as file:
        file.write("595,1005,1\n625.5,985,3\n")
    subprocess.run([program, "scan", here("flow.yaml"), "--vents", here("vents.csv"), "--over", "vents[0].rate=5,9",
                    "--weights", "vents[0].rate=2,1", "--threshold", "0.2", "--maps", here("maps"), "--quiet",
                    "--table", here("flow.csv")], check=True)
    assert sorted(result.maps) == ["arrival", "maximum", "mean", "probability"]
    for name, values in result.maps.items():
        expected = [np.load(here("maps/" + file)) for file in os.listdir(here("maps"))
                    if file.startswith(name) and file.endswith(".npy")]
        assert len(expected) == 1 and values.tobytes() == expected[0].tobytes(), name


@test
def classes_are_those_of_the_program():
    with open(here("classes.csv"), "w") as file:
        file.write("class,volume,duration,curve,probability\n1,1000,200,constant,3\n2,2000,300,falling,1\n")
    result = strake.scan(here("flow.yaml"), vents=here("vents.csv"), classes=here("classes.csv"), count=6, maps=True,
                         eruptions=25, fields=())
    subprocess.run([program, "scan", here("flow.yaml"), "--vents", here("vents.csv"), "--classes", here("classes.csv"),
                    "--draws", "6", "--eruptions", "25", "--maps", here("class-maps"), "--quiet",
                    "--table", here("classes-t.csv")], check=True)
    assert sorted(result.maps) == ["absolute", "arrival", "maximum", "mean", "probability", "probability-1", "probability-2"]
    assert result.values["class"].shape == (6,) and set(result.values["class"]) == {"1", "2"}
    for name, values in result.maps.items():
        assert values.tobytes() == np.load(here("class-maps/%s.npy" % name)).tobytes(), name


@test
def mistakes_raise_what_strake_says():
    raises(strake.UsageError, ["parameters.Q", "unknown key"], strake.scan, quench(), {"parameters.Q": [1]})
    raises(strake.UsageError, ["phi"], strake.scan, quench(), {"parameters.K": [1]}, fields=["phi"])
    raises(strake.UsageError, ["sampling", "lhs"], strake.scan, quench(), draws={"parameters.K": "uniform:0:1"}, count=2,
           sampling="sobol")
    raises(strake.UsageError, ["nowhere"], strake.scan, quench(), {"parameters.K": [1]}, on="nowhere")
    raises(strake.UsageError, ["fields.u"], strake.scan, dict(problem="cahn_hilliard2d", grid=dict(rows=8, cols=8),
                                                             time=dict(dt=0.01, steps=1)), {"parameters.K": [1]})
    raises(strake.UsageError, ["parameters.K", "sequence"], strake.scan, quench(), {"parameters.K": 1.5})
    raises(strake.UsageError, ["parameters.K", "sequence"], strake.scan, quench(), {"parameters.K": []})
    raises(strake.UsageError, ["count=100"], strake.scan, quench(), draws={"parameters.K": "uniform:0:1"})
    raises(strake.UsageError, ["2 and 3 items"], strake.scan, quench(),
           draws={"parameters.K": [1, 2], "parameters.M": [1, 2, 3]})
    raises(strake.UsageError, ["2 items, count is 3"], strake.scan, quench(), draws={"parameters.K": [1, 2]}, count=3)
    raises(strake.UsageError, ["double quotes", "it's"], strake.scan, quench(), draws={"fields.u": ["it's \"so\""]})
    raises(strake.UsageError, ["parameters.K", "uniform"], strake.scan, quench(), draws={"parameters.K": 3})
    raises(strake.UsageError, ["parameters.K", "[1, 2]"], strake.scan, quench(), draws={"parameters.K": [[1, 2]]})
    raises(strake.UsageError, ["parameters.K", "at most 131071"], strake.scan, quench(),
           {"parameters.K": np.random.default_rng(1).random(9000)})
    raises(strake.UsageError, ["nan", "finite"], strake.scan, quench(), draws={"parameters.K": np.array([1, np.nan])})
    raises(strake.UsageError, ["vents", "(2,)"], strake.scan, quench(), vents=[1, 2])
    raises(strake.UsageError, ["draws", "mapping", "10"], strake.scan, quench(), draws=10)
    raises(strake.Error, ["none.yaml"], strake.scan, here("none.yaml"), {"parameters.K": [1]})
    raises(strake.UsageError, ["--over"], strake.scan, quench())
    raises(KeyError, ["phi", "are u"], lambda: strake.scan(quench(), {"parameters.K": [1]})["phi"])


@test
def progress_is_shown_or_called():
    calls = []
    strake.scan(quench(), {"time.dt": [0.01, 1000]}, progress=lambda *numbers: calls.append(numbers))
    assert calls[-1] == (2, 2, 1), calls

    def enough(*numbers):
        calls.append(numbers)
        processes.extend(descendants(os.getpid()))
        raise RuntimeError("enough")

    processes = []
    raises(RuntimeError, ["enough"], strake.scan, ENDLESS, {"time.dt": [0.1, 0.2]}, on="cpu", progress=enough)
    assert calls[-1] == (0, 2, 0) and len(processes) >= 2 and are_gone(processes), (calls, processes)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def write(self, text):
            super().write(text)
            if " of 2 runs" in text:
                raise RuntimeError("seen")

    before, sys.stderr = sys.stderr, Terminal()
    try:
        raises(RuntimeError, ["seen"], strake.scan, ENDLESS, {"time.dt": [0.1, 0.2]}, on="cpu")
        assert "\r  0 % [" in sys.stderr.getvalue(), sys.stderr.getvalue()
    finally:
        sys.stderr = before


@test
def nothing_is_left_after_ctrl_c():
    processes = []

    def interrupt(*_):
        processes.extend(descendants(os.getpid()))
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    own = here("temporary")
    os.mkdir(own)
    before, tempfile.tempdir = tempfile.tempdir, own
    raises(KeyboardInterrupt, [], strake.scan, ENDLESS, {"time.dt": [0.1, 0.2]}, on="cpu", progress=interrupt)
    tempfile.tempdir = before
    assert len(processes) >= 2 and are_gone(processes), processes
    assert os.listdir(own) == []


@test
def nothing_goes_on_where_python_is_killed():
    script = ("import sys, strake\n"
              "strake.scan(%r, {'time.dt': [0.1, 0.2]}, on='cpu', progress=lambda *_: print('begun', flush=True))" % ENDLESS)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"begun\n"
    processes = descendants(child.pid)
    child.kill()
    child.wait()
    assert len(processes) >= 2 and are_gone(processes), processes


@test
def the_program_is_found_and_has_the_library_s_version():
    package = os.path.dirname(strake.__file__)
    own = here("own/strake")
    os.makedirs(own)
    for name in os.listdir(package):
        if name.endswith(".py"):
            shutil.copy(os.path.join(package, name), own)
    library = os.environ.get("STRAKE_LIBRARY") or os.path.join(package, "libstrake.so")
    shutil.copy(library, os.path.join(own, "libstrake.so"))

    def found(path):
        environment = dict(os.environ, PATH=path, PYTHONPATH=here("own"), STRAKE_LIBRARY=os.path.join(own, "libstrake.so"))
        code = "import strake._scan as s\ntry: print(s.program())\nexcept s.Error as r: print(type(r).__name__, r)"
        return subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True,
                              universal_newlines=True).stdout.strip()

    said = found("")
    assert said.startswith("FileError cannot find the program strake") and "pip install" in said, said
    os.mkdir(here("bin"))
    os.symlink(program, here("bin/strake"))
    assert found(here("bin")) == here("bin/strake")
    with open(os.path.join(own, "strake"), "w") as file:
        file.write("#!/bin/sh\necho strake 99.0\n")
    os.chmod(file.name, 0o755)
    said = found(here("bin"))
    assert said.startswith("Error the program %s/strake says 'strake 99.0'" % own) and strake.__version__ in said, said


sys.exit(1 if failures else 0)
