"""Checks of the Python package: prints TAP-like lines "ok NAME", "not ok NAME: WHY" and "skip NAME: WHY".

Usage: python3 python_package.py FOLDER, where the program left
    case.yaml, psi.npy, winds.npy   a case and its last psi; the Courant numbers u1 of another run, shape [rows, cols]
    checkpoint.strake               of the case's step 10
    devices.json                    of `strake devices --json`
"""

import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np

import strake
from python_checks import failures, raises, test

folder = sys.argv[1]


def here(name):
    return os.path.join(folder, name)


def small(steps=100, n=64, **more):
    return strake.Case(dict({"problem": "mpdata2d", "grid": {"rows": n, "cols": n},
                             "time": {"dt": 1, "steps": steps}}, **more))


def filled(**more):
    s = strake.Solver(small(**more), on="cpu")
    s["psi"] = np.random.default_rng(1).random(s.shape("psi"))
    s["u1"], s["u2"] = 0.2, -0.1
    return s


@test
def a_file_gives_the_bits_of_the_program():
    with strake.Solver(here("case.yaml"), on="cpu") as s:
        s.step(20)
        assert s["psi"].tobytes() == np.load(here("psi.npy")).tobytes()
        assert s.step_count == 20 and s.time == 20 * s.case.dt


@test
def a_mapping_with_arrays_does_too():
    first = strake.Solver(here("case.yaml"), on="serial")
    case = {"problem": "mpdata2d", "grid": {"rows": np.int64(61), "cols": 97}, "time": {"dt": 0.1, "steps": 20},
            "boundary": {"rows": "open", "cols": "periodic"},
            "fields": {"psi": first["psi"], "u1": {"constant": 0.2}, "u2": first["u2"], "h": {"constant": 1}}}
    with strake.Solver(strake.Case(case), on="serial") as s:
        s.step(20)
        assert s["psi"].tobytes() == np.load(here("psi.npy")).tobytes()


@test
def time_steps_of_a_flow_follow_from_its_state():
    case = {"problem": "lava", "grid": {"rows": 9, "cols": 12, "dx": 10, "dy": 10}, "time": {"end": 30, "dt_max": 2},
            "fields": {"terrain": {"constant": 0}, "thickness": {"random": {"seed": 1, "minimum": 2, "maximum": 4}}}}
    with strake.Solver(strake.Case(case), on="serial") as once, strake.Solver(case, on="cpu") as often:
        once.advance(30)
        for until in (5, 5, 11.5, 99):
            often.advance(until)
            assert often.time >= min(until, 30)
        assert once.time == often.time == 30 and once.step_count == often.step_count > 15
        assert once["thickness"].tobytes() == often["thickness"].tobytes()


@test
def velocities_set_the_time_step():
    with strake.Solver(small(grid={"rows": 64, "cols": 64, "dx": 2, "dy": 2}, time={"courant": 0.5, "steps": 99}),
                       on="cpu") as s:
        s["psi"], s["u1"], s["u2"] = 1, 4.0, 0
        s.step(2)
        assert s.time == 0.5 and (s["u1"] == 4).all(), s.time
        s.lend("u2")[...] = -12
        s.give_back("u2")
        s.step(4)
        assert s.time == 0.5 + 4 * 0.0625, s.time


@test
def winds_that_change_give_the_same_bits_everywhere():
    results = []
    for on in ("serial", "cpu"):
        with strake.Solver(small(), on=on) as s:
            s["psi"] = np.random.default_rng(1).random((64, 64))
            for k in range(5):
                s["u1"] = np.random.default_rng(2 + k).random((64, 64)) * 0.2
                s["u2"] = 0.1
                s.step(k)
            results.append(s["psi"].tobytes())
    assert results[0] == results[1]


@test
def probes_are_measured():
    case = {"problem": "sph2d", "time": {"end": 1}, "scene": {
        "spacing": 0.02, "to": [0.8, 0.4], "fluid": [{"box": {"from": [0, 0], "to": [0.24, 0.24]}}],
        "walls": [{"sides": ["bottom", "left", "right"]}],
        "probes": [{"name": "wall", "pressure": [0.12, 0]}, {"name": "jet", "velocity": [0.2, 0.1]}, {"height": [0]}]}}
    with strake.Solver(strake.Case(case), on="serial") as s:
        found = s.measure()
        assert list(found) == ["kinetic", "potential", "fluid", "wall", "jet_x", "jet_z", "height3"], list(found)
        assert abs(found["wall"] - 2354.4) < 1 and found["jet_x"] == 0 and abs(found["height3"] - 0.24) < 1e-3
        s.step(20)
        assert s.measure()["jet_x"] > 0


@test
def a_checkpoint_of_the_program_continues():
    with strake.Solver(here("case.yaml"), on="cpu") as s:
        s.load(here("checkpoint.strake"))
        assert s.step_count == 10
        assert s.measure()["linf_psi"] > 0  # it is no initial field
        s.save(here("again.strake"))
        with open(here("again.strake"), "rb") as ours, open(here("checkpoint.strake"), "rb") as its:
            assert ours.read() == its.read()
        s.step(10)
        assert s["psi"].tobytes() == np.load(here("psi.npy")).tobytes()


@test
def fields_have_names_shapes_and_kinds():
    with strake.Solver(here("case.yaml"), on="cpu") as s:
        assert tuple(s) == s.fields == ("psi", "u1", "u2", "h", "h_next", "source_psi", "inflow_psi",
                                              "reference_psi", "inside", "narrowing") and "u1" in s and "phi" not in s
        assert s.shape("u1") == (62, 97) and s.shape("psi") == (61, 97)
        assert [s.kind(name) for name in s] == ["state"] + 9 * ["constant"]
        psi = s["psi"]
        assert s.statistics("psi") == (psi.min(), psi.max(), s.report()["fields"]["psi"]["sum"])
        measured = s.measure()
        assert (measured["min_psi"], measured["max_psi"]) == (psi.min(), psi.max())
        assert abs(s.statistics("psi").sum - psi.sum()) < 1e-9 * psi.sum()


@test
def norms_are_against_what_was_set():
    start = np.random.default_rng(3).random((64, 64))
    flow = {"u1": 0.2, "u2": -0.1}
    with strake.Solver(small(fields=dict(flow, psi=start)), on="cpu") as given, \
            strake.Solver(small(fields=flow), on="cpu") as s:
        s["psi"] = start
        assert s.measure()["linf_psi"] == 0.0
        for solver in (given, s):
            solver.step(3)
            assert np.isclose(solver.measure()["l1_psi"], np.abs(solver["psi"] - start).mean(), rtol=1e-12)
            assert solver.measure()["linf_psi"] == np.abs(solver["psi"] - start).max()
        s["reference_psi"] = 0.5
        assert s.measure()["linf_psi"] == np.abs(s["psi"] - 0.5).max()
        assert (s["reference_psi"] == 0.5).all()


@test
def out_takes_a_field_without_a_copy():
    n = 2000
    with filled(n=n) as s:
        out = np.zeros((n, n))
        s.step(1)
        s.get("psi", out=out)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        s.step(1)
        assert s.get("psi", out=out) is out
        s.set("psi", out)
        s.step(1)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        assert grown < out.nbytes / 4, grown
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        both = [s["psi"], s["psi"]]
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        assert grown > out.nbytes, grown  # so a copy would have been seen
        assert both[0].tobytes() == both[1].tobytes()
        raises(ValueError, ["(2000, 2000)"], lambda: s.get("psi", out=np.zeros((n, 1))))
        raises(ValueError, ["float64"], lambda: s.get("psi", out=np.zeros((n, n), np.float32)))
        raises(ValueError, ["C order"], lambda: s.get("psi", out=np.zeros((n, n), order="F")))


@test
def lent_fields_are_written_in_place():
    with filled() as s, filled() as other:
        u1 = 0.2 * np.sin(np.arange(64.0))[:, None] * np.ones(s.shape("u1"))[:64, :64]
        place = s.lend("u1")
        assert place.shape == s.shape("u1") and place.dtype == s.dtype
        place[...] = np.resize(u1, place.shape)
        s.give_back("u1")
        other["u1"] = np.resize(u1, place.shape)
        s.step(2)
        other.step(2)
        assert s["psi"].tobytes() == other["psi"].tobytes() and (s["u1"] == place).all()
        raises(strake.StateError, ["psi", "strake_set_field()"], lambda: s.lend("psi"))
        raises(strake.StateError, ["u2", "strake_lend_field()"], lambda: s.give_back("u2"))


@test
def lent_fields_outlive_their_solver():
    # In an interpreter of its own: memory that is gone would end it.
    script = """if True:
        import atexit, gc, resource, numpy as np, strake
        small = {"problem": "mpdata2d", "grid": {"rows": 200, "cols": 300}, "time": {"dt": 1, "steps": 9}}
        def lend(end):
            s = strake.Solver(small, on="cpu")
            s["psi"], s["u1"], s["u2"] = 1, 0.25, 0.5
            place = s.lend("u1")[1:]
            if end == "close":
                s.close()
                s.close()
            elif end == "exception":
                try:
                    with s:
                        raise KeyError
                except KeyError:
                    pass
            elif end == "exit":
                np.kept = s
            return place
        atexit.register(lambda: print(places[-1].sum() == 3 * 199 * 300))  # runs after what weakref does at the end
        ends = "close", "exception", "gone", "exit"
        places = [lend(end) for end in ends]
        gc.collect()
        for end, place in zip(ends, places):
            assert place.shape == (199, 300) and (place == 0.25).all(), end
            place[...] = 3
            assert place.sum() == 3 * 199 * 300, end
        del places[0]
        gc.collect()
        # A solver's memory, some megabytes, goes with the last array.
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(100):
            lend("close").sum()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60000)
        """
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, (child.returncode, child.stderr)
    assert child.stdout.split() == ["True", "True"], child.stdout


@test
def arrays_of_other_types_and_orders_are_taken():
    with filled() as s:
        values = np.arange(64 * 64).reshape(64, 64) % 100
        s["psi"] = np.asfortranarray(values.astype(np.float32))
        assert (s["psi"] == values).all()
        s["psi"] = values.tolist()
        assert (s["psi"] == values).all()
        raises(ValueError, ["psi", "(64, 64)", "(64, 63)"], lambda: s.set("psi", values[:, :63]))
    with strake.Solver(small(boundary={"rows": "open"}), on="cpu") as s:
        raises(ValueError, ["u1", "(65, 64)", "one value for each cell", "means of the two cells"],
               lambda: s.set("u1", values))
    with strake.Solver(small(precision="single"), on="cpu") as s:
        assert s.dtype == np.float32
        s["psi"] = 1.5
        assert s["psi"].dtype == np.float32 and (s["psi"] == 1.5).all()


@test
def mistakes_raise_the_messages_of_strake():
    raises(strake.UsageError, ["grid.rows", "expected"], strake.Case, {"problem": "mpdata2d", "grid": {"rows": -1}})
    raises(ValueError, ["mpdata3"], strake.Case, {"problem": "mpdata3"})
    raises(strake.Error, ["nonexistent.yaml"], strake.Case, here("nonexistent.yaml"))
    raises(strake.FileError, [here("none/x")], filled().save, here("none/x"))
    raises(OSError, [here("none/x")], filled().load, here("none/x"))
    raises(strake.UsageError, ["nowhere"], strake.Solver, small(), "nowhere")
    raises(TypeError, ["set"], strake.Case, {"problem": {1}})
    with strake.Solver(small(), on="cpu") as s:
        raises(strake.StateError, ["psi"], s.step)
        raises(strake.UsageError, ["phi"], lambda: s["phi"])
        s["psi"], s["u1"], s["u2"] = 1.0, 3.0, 0.0
        raises(strake.UsageError, ["unstable", "[0, 0]"], s.step)  # beyond the stability bound
        raises(strake.UsageError, ["-1"], s.step, -1)
        raises(TypeError, [], s.step, 1.5)
    raises(strake.StateError, ["closed"], s.step)
    raises(strake.StateError, ["closed"], s.get, "psi")
    s.close()
    assert "closed" in repr(s)
    with strake.Solver(here("case.yaml"), on="cpu") as s:
        raises(strake.StateError, ["h", "constant"], s.set, "h", 2.0)


@test
def keys_can_be_changed_as_with_set():
    case = strake.Case(here("case.yaml"), set=["time.steps=7", "precision=single"])
    assert case.steps == 7 and case.dtype == np.float32 and case.shape == (61, 97)


@test
def reports_and_devices_are_mappings():
    with open(here("devices.json")) as file:
        expected = json.load(file)
    found = strake.devices()
    assert [d["id"] for d in found["devices"]] == [d["id"] for d in expected["devices"]]
    assert found["devices"][0]["name"] == expected["devices"][0]["name"]
    with filled() as s:
        s.step(30)
        report = s.report()
        assert report["case"]["steps"] == 30 and report["devices"][0]["id"] == "cpu"
        assert report["strake"] == strake.__version__ and report["cells_per_second"] > 0


@test
def progress_is_called_and_may_end_a_step():
    calls = []

    def note(step, end):
        calls.append((step, end))
        if len(calls) == 3:
            raise RuntimeError("enough")

    s = filled()
    s.progress = note
    raises(RuntimeError, ["enough"], s.step, 10 ** 12)
    assert calls[-1] == (s.step_count, 10 ** 12) and calls[0][0] > 0
    calls.clear()
    s.step(3)
    assert calls[-1] == (s.step_count, s.step_count)
    s.close()


@test
def ctrl_c_ends_a_step_and_the_solver_goes_on():
    s = filled()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    raises(KeyboardInterrupt, [], s.step, 10 ** 12)
    done = s.step_count
    s.step(2)
    assert s.step_count == done + 2
    with filled() as other:
        other.step(done + 2)
        assert other["psi"].tobytes() == s["psi"].tobytes()
    s.close()


@test
def another_thread_runs_meanwhile_and_stops_a_step():
    s = filled()
    counted = [0]
    over = threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            if counted[0] == 2000:
                s.stop()
            time.sleep(0)

    other = threading.Thread(target=count)
    other.start()
    try:
        raises(strake.Stopped, ["stopped after step"], s.step, 10 ** 12)
    finally:
        over.set()
        other.join()
    assert counted[0] >= 2000
    s.step(1)
    s.close()


@test
def warnings_go_to_the_log():
    import logging
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append((record.levelname, record.getMessage()))

    keep = Keep()
    log = logging.getLogger("strake")
    log.addHandler(keep)
    log.setLevel(logging.INFO)
    with strake.Solver(small(run={"group_width": 32}), on="cpu") as s:
        s["psi"], s["u1"], s["u2"] = 1.0, 0.1, 0.1
        s.step(1)
    log.removeHandler(keep)
    assert any("run.group_width" in line and level in ("INFO", "WARNING") for level, line in lines), lines


@test
def xarray_has_coordinates_and_units():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import xarray  # noqa: F401
    except ImportError:
        with filled() as s:
            raises(ImportError, ["pip install xarray"], s.to_xarray)
        return "no xarray; that its absence is told was checked"
    with strake.Solver(here("case.yaml"), on="cpu", threads=1) as s:
        s.step(4)
        data = s.to_xarray("psi", "u1")
        assert data.psi.dims == ("x", "y") and data.u1.dims == ("x_face", "y")
        assert (data.psi.values == s["psi"]).all()
        assert float(data.x[3]) == 3.0 and float(data.x_face[0]) == -0.5 and float(data.time) == s.time
        assert data.x.attrs["units"] == "m" and data.attrs["step"] == 4 and data.psi.attrs["long_name"]


@test
def all_that_is_public_has_type_hints():
    checked = 0
    for name in strake.__all__:
        thing = getattr(strake, name)
        members = [thing] if inspect.isfunction(thing) else []
        if inspect.isclass(thing):
            members = [getattr(member, "fget", None) or member for key, member in vars(thing).items()
                       if key[0] != "_" or key in ("__init__", "__getitem__", "__setitem__", "__enter__", "__len__")]
        for function in filter(inspect.isfunction, members):
            signature = inspect.signature(function)
            assert signature.return_annotation is not signature.empty, (name, function)
            for parameter in list(signature.parameters.values())[0 if function is thing else 1:]:
                assert parameter.annotation is not parameter.empty, (name, function, parameter)
            checked += 1
    assert checked > 30, checked


sys.exit(1 if failures else 0)
