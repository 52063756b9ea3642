"""Cases and solvers."""

from __future__ import annotations

import ctypes
import json
import logging
import operator
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from strake._library import NOTICE, ErrorText, Options, Place, StateError, UsageError, call, lib, take_text
from strake._problem import Problem, advised, as_case_says

if TYPE_CHECKING:
    import numpy.typing as npt

    Path = Union[str, "os.PathLike[str]"]
    Array = npt.NDArray[Any]

_log = logging.getLogger("strake")
_WARNING = "warning: "
_KINDS = ("state", "input", "constant")

# Steps that are taken at once: signals such as Ctrl-C are looked at between them [s].
_BATCH_SECONDS = 0.2
_GROWTH = 4
_FIRST_BATCH = 2  # of the steps that a sweep takes by default


class Statistics(NamedTuple):
    """Of a field."""

    minimum: float
    maximum: float
    sum: float


def devices(cache: Optional[Path] = None) -> Dict[str, Any]:
    """The processor and every OpenCL device with limits and bit-exactness: `strake devices --json` as a dict.

    cache: folder of tuned settings; None: the user's."""
    found: Dict[str, Any] = json.loads(take_text(lib.strake_devices, None if cache is None else os.fsencode(cache)))
    return found


def _plain(value: object) -> object:
    """What json does not know: NumPy's numbers, arrays and paths."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError("a case has numbers, texts, lists, mappings and arrays, not %s" % type(value).__name__)


def as_text(keys: object) -> str:
    """A case's text, which is JSON and hence YAML."""
    return json.dumps(keys, default=_plain, ensure_ascii=False, allow_nan=False)


class Given:
    """What a case is made of: a file or a mapping, and changes of its keys.

    path: of the file; None where there is a mapping.
    keys: the mapping, without fields that are arrays; empty where there is a file.
    arrays: these fields, by their names.
    sets: texts "PATH=VALUE"."""

    def __init__(self, source: Union[Path, Mapping[str, Any]], sets: Iterable[str]) -> None:
        self.path: Optional[str] = None
        self.keys: Dict[str, Any] = {}
        self.arrays: Dict[str, Array] = {}
        self.sets = [os.fsdecode(text) for text in sets]
        if isinstance(source, Problem):
            raise TypeError("a case takes a problem by its key: strake.Case(problem=..., grid=..., ...)")
        if isinstance(source, (str, bytes, os.PathLike)):
            self.path = os.fsdecode(source)
            return
        self.keys = dict(source)
        if "problem" in self.keys:
            self.keys["problem"] = as_case_says(self.keys["problem"])
        fields = self.keys.get("fields")
        if isinstance(fields, dict):
            self.arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
            self.keys["fields"] = {name: value for name, value in fields.items() if name not in self.arrays}
            if not self.keys["fields"]:
                del self.keys["fields"]


def _close_case(address: Optional[int]) -> None:
    lib.strake_case_close(ctypes.byref(ctypes.c_void_p(address)))


def _close_solver(address: Optional[int], case: Case, notice: object) -> None:
    # The case, and what the library calls, are kept by being arguments here.
    lib.strake_close(ctypes.byref(ctypes.c_void_p(address)))


class _Holder:
    """Keeps the library's solver open: its memory is freed when the Solver is closed or gone, and every array that
    lend() gave is gone, too."""

    def __init__(self, address: Optional[int], case: Case, notice: object) -> None:
        self.address = address
        self.finalizer = weakref.finalize(self, _close_solver, address, case, notice)


class _Lent:
    """Memory of a solver, as NumPy takes it. NumPy keeps this as the base of the array and of all its views."""

    def __init__(self, holder: _Holder, place: Place, dtype: np.dtype[Any]) -> None:
        self.holder = holder
        holder.finalizer.atexit = False  # what runs when the interpreter ends may use it, too
        shape = tuple(place.shape[:place.dims])
        strides = tuple(dtype.itemsize * place.stride[d] for d in range(place.dims))
        self.__array_interface__ = {"version": 3, "data": (place.data, False), "shape": shape, "strides": strides,
                                    "typestr": dtype.str}


class Case:
    """A validated case.

    source: a mapping with the keys of a case file (`strake help case`), of which fields may be NumPy arrays, or the
        path of a case file. Input fields may be missing: they are set in the solver before its first step.
    set: texts "PATH=VALUE" that change keys, as --set does.
    keys: instead of a mapping, its keys: strake.Case(problem="mpdata2d", grid={"rows": 64, "cols": 64}, ...); beside
        one they replace those of the same name.

    The problem is a name, what strake.problem() made, or the path of a C file (NAME.c, from the current folder), which
    strake.build() must have built as it is now.

    Raises UsageError, with file, line and column for anything wrong in a file, and FileError."""

    def __init__(self, source: Union[Path, Mapping[str, Any], None] = None, set: Iterable[str] = (), **keys: Any) -> None:
        if keys or source is None:
            if isinstance(source, (str, bytes, os.PathLike)):
                raise TypeError("Case() takes the path of a case file, or keys, not both; set changes keys of a file")
            source = dict(source or {}, **keys)
        self._given = given = Given(source, set)
        self.arrays = given.arrays
        words = (ctypes.c_char_p * (len(given.sets) + 1))(*map(os.fsencode, given.sets), None)
        pointer = ctypes.c_void_p()
        try:
            if given.path is not None:
                call(lib.strake_case_open_partial, os.fsencode(given.path), words, ctypes.byref(pointer))
            else:
                call(lib.strake_case_parse, b"case", as_text(given.keys).encode(), words, True, ctypes.byref(pointer))
        except UsageError as reason:
            raise advised(reason) from None
        self._address = pointer.value
        self._finalizer = weakref.finalize(self, _close_case, pointer.value)
        self.about: Dict[str, Any] = json.loads(take_text(lib.strake_case_text, self._address))
        self.problem: str = self.about["problem"]
        self.shape: Tuple[int, ...] = tuple(self.about["shape"])
        self.dt: Optional[float] = self.about.get("dt")  # None: it follows from the state
        self.steps: Optional[int] = self.about.get("steps")
        self.dtype: np.dtype[Any] = np.dtype({"double": np.float64, "single": np.float32}[self.about["precision"]])

    def __repr__(self) -> str:
        return "<strake.Case %s, %s>" % (self.problem, " x ".join(map(str, self.shape)))


class Solver:
    """A case placed on processors, with its fields.

    case: a Case, or what Case() takes.
    on: where to run, as --on: "auto", "cpu", "ocl:0", "cpu,gpu:0", ...
    threads: of the CPU stripe; 0: OMP_NUM_THREADS, then the usable cores.
    split: weights, one per entry of `on`; None: measured.
    cache: folder of tuned settings; None: the user's.
    progress: called in step() with the steps done and those to be reached, about five times a second and at the end.
        An exception in it ends the step.

    Notices and warnings of the library go to logging.getLogger("strake"). Calls let go of the interpreter's lock; one
    solver does one thing at a time, whatever thread asks for it. Ctrl-C is seen within about 0.2 s, or a step if that
    takes longer: the states are then those of step_count."""

    def __init__(self, case: Union[Case, Path, Mapping[str, Any]], on: Optional[str] = "auto", *, threads: int = 0,
                 split: Union[str, Sequence[float], None] = None, cache: Optional[Path] = None,
                 progress: Optional[Callable[[int, int], object]] = None) -> None:
        self.case = case if isinstance(case, Case) else Case(case)
        self.progress = progress
        self.dtype = self.case.dtype
        self._lock = threading.RLock()
        self._error = ErrorText()
        self._error_at = ctypes.byref(self._error)
        self._batch = _FIRST_BATCH
        notice = NOTICE(_tell)
        if split is not None and not isinstance(split, str):
            split = ",".join(repr(float(weight)) for weight in split)
        options = Options(where=None if on is None else os.fsencode(on), threads=threads, notice=notice,
                          split=None if split is None else split.encode(),
                          cache=None if cache is None else os.fsencode(cache))
        pointer = ctypes.c_void_p()
        call(lib.strake_open, self.case._address, ctypes.byref(options), ctypes.byref(pointer))
        self._holder: Optional[_Holder] = _Holder(pointer.value, self.case, notice)
        self.fields: Tuple[str, ...] = tuple(lib.strake_field_name(self._solver, k).decode()
                            for k in range(lib.strake_field_count(self._solver)))
        self._shape = {name: self._ask_shape(name) for name in self.fields}
        for name, values in self.case.arrays.items():
            self.set(name, values)

    @property
    def _solver(self) -> Optional[int]:
        if self._holder is None:
            raise StateError("this solver was closed; open another one")
        return self._holder.address

    def _check(self, status: int) -> None:
        if status != 0:
            raise self._error.exception()

    def _ask_shape(self, name: str) -> Tuple[int, ...]:
        dims = ctypes.c_int()
        shape = (ctypes.c_int64 * 3)()
        self._check(lib.strake_field_shape(self._solver, name.encode(), ctypes.byref(dims), shape, self._error_at))
        return tuple(shape[:dims.value])

    def close(self) -> None:
        """Frees arrays and devices, or, where arrays that lend() gave are still in use, leaves that to the end of the last
        of these. Closing twice does nothing."""
        with self._lock:
            self._holder = None

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._holder is None else "after step %d" % self.step_count
        return "<strake.Solver %s, %s, %s>" % (self.case.problem, " x ".join(map(str, self.case.shape)), state)

    def shape(self, name: str) -> Tuple[int, ...]:
        """Shape of a field, slowest dimension first."""
        self.kind(name)
        return self._shape[name]

    def kind(self, name: str) -> str:
        """"state" (steps advance it), "input" (steps read it) or "constant" (of the case: it cannot be set)."""
        kind = ctypes.c_int()
        with self._lock:
            self._check(lib.strake_field_kind(self._solver, name.encode(), ctypes.byref(kind), self._error_at))
        return _KINDS[kind.value]

    def set(self, name: str, values: npt.ArrayLike) -> None:
        """Sets a field: an array of its shape, or one number for all of it. Nothing is copied on the way if the
        array has the solver's dtype in C order. With time.courant flows are velocities [m/s], also in lend() and, once
        set, in get(); without it h-weighted Courant numbers."""
        shape = self.shape(name)
        array = np.ascontiguousarray(values, dtype=self.dtype)
        if np.ndim(values) == 0:
            array = np.full(shape, values, dtype=self.dtype)
        elif array.shape != shape:
            advice = ""
            if array.shape == tuple(self.case.shape):
                advice = ("; the array has one value for each cell, the field one for each face: give the values of "
                          "faces, for example means of the two cells beside them, with a value for the edges")
            raise ValueError("field %s has the shape %s, the array %s%s" % (name, shape, array.shape, advice))
        with self._lock:
            self._check(lib.strake_set_field(self._solver, name.encode(), array.ctypes.data, self._error_at))

    def lend(self, name: str) -> Array:
        """The solver's own array of an input, to be written in place instead of being copied with set(): the same one
        until the solver is closed. Once written, give_back() comes before the next step: without that a step has some of
        the new values and some of the old ones. The array, and views of it, may be used after close(), too: they keep the
        solver's memory, and its devices, until they are gone."""
        place = Place()
        with self._lock:
            self._check(lib.strake_lend_field(self._solver, name.encode(), ctypes.byref(place), self._error_at))
            holder = self._holder
            assert holder is not None  # or it could not have been lent
            return np.asarray(_Lent(holder, place, self.dtype))

    def give_back(self, name: str) -> None:
        """Says that a field that lend() gave has been written."""
        with self._lock:
            self._check(lib.strake_return_field(self._solver, name.encode(), self._error_at))

    def get(self, name: str, out: Optional[Array] = None) -> Array:
        """A copy of a field; in `out`, which is returned, if that is given: of the field's shape and the solver's
        dtype, writeable, in C order. Raises WentBack where the states to be read were lost with a device; step again,
        up to where the solver was, then read."""
        shape = self.shape(name)
        if out is None:
            out = np.empty(shape, dtype=self.dtype)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != self.dtype:
            raise ValueError("out: expected an array of shape %s and %s" % (shape, self.dtype))
        elif not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out: expected a writeable array in C order")
        with self._lock:
            self._check(lib.strake_get_field(self._solver, name.encode(), out.ctypes.data, self._error_at))
        return out

    __getitem__ = get
    __setitem__ = set

    def __contains__(self, name: object) -> bool:
        return name in self.fields

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def step(self, steps: int = 1) -> None:
        """Advances so many time steps. Raises UsageError if the flow is not stable, NumericError with step and cell
        if NaN or Inf appears, Stopped after stop()."""
        steps = operator.index(steps)
        if steps <= self._batch and self.progress is None:
            with self._lock:
                if lib.strake_step(self._solver, steps, self._error_at) != 0:
                    raise self._error.exception()
            return
        self._step_in_batches(steps)

    def _step_in_batches(self, steps: int) -> None:
        """Python looks at signals between calls only, so no call takes long."""
        end = self.step_count + steps
        left = steps
        while left != 0:
            now = min(left, self._batch)
            begin = time.perf_counter()
            with self._lock:
                self._check(lib.strake_step(self._solver, now, self._error_at))
            seconds = max(time.perf_counter() - begin, 1e-9)
            fit = min(now * _BATCH_SECONDS / seconds, self._batch * _GROWTH)
            self._batch = max(int(fit) // _FIRST_BATCH, 1) * _FIRST_BATCH
            left -= now
            if self.progress is not None:
                self.progress(end - left, end)

    def advance(self, until: float) -> None:
        """For a problem whose time steps follow from its state: up to the first step that ends at or after `until` [s]
        of simulated time, or the case's end. Neither that nor the sequence of calls changes a step."""
        before = -1
        while self.time < until and self.step_count != before:
            before = self.step_count
            with self._lock:
                self._check(lib.strake_advance(self._solver, until, self._batch, self._error_at))

    def stop(self, stop: bool = True) -> None:
        """From another thread, or in a signal's handler: the step that runs, or the next one, ends after the sweeps that
        have begun and raises Stopped. stop(False) withdraws that."""
        lib.strake_stop(self._solver, stop)

    @property
    def step_count(self) -> int:
        """Steps done since the initial fields."""
        return int(lib.strake_step_count(self._solver))

    @property
    def time(self) -> float:
        """Simulated time of the states [s]."""
        return float(lib.strake_time(self._solver))

    def statistics(self, name: str) -> Statistics:
        """Minimum, maximum and sum of a field: the same bits whatever computed it."""
        value = [ctypes.c_double() for _ in range(3)]
        with self._lock:
            self._check(lib.strake_field_statistics(self._solver, name.encode(), *map(ctypes.byref, value),
                                                    self._error_at))
        return Statistics(*(v.value for v in value))

    def measure(self) -> Dict[str, float]:
        """What the problem measures of its states, as the columns of diagnostics.csv, and what probes of a scene find, as
        those of probes.csv: a dict of numbers, such as "mass_psi". Norms such as "l2_psi" are those of the difference from `reference_psi`, which can be set at any time,
        else from what `psi` was set to before the first step, else from what the case gives."""
        count = lib.strake_quantity_count(self._solver)
        value = (ctypes.c_double * count)()
        with self._lock:
            self._check(lib.strake_get_quantities(self._solver, value, self._error_at))
        return {lib.strake_quantity_name(self._solver, k).decode(): value[k] for k in range(count)}

    def save(self, path: Path) -> None:
        """Writes a checkpoint for load(); `strake run --resume` takes it, too, where the case has its fields in its file."""
        with self._lock:
            self._check(lib.strake_checkpoint_save(self._solver, os.fsencode(path), self._error_at))

    def load(self, path: Path) -> None:
        """Takes states and step from a checkpoint, of the program, too. The inputs must be those with which it was
        saved."""
        with self._lock:
            self._check(lib.strake_checkpoint_load(self._solver, os.fsencode(path), self._error_at))

    def report(self) -> Dict[str, Any]:
        """What was done since the solver was opened, where and how fast: `strake run --report` as a dict."""
        with self._lock:
            found: Dict[str, Any] = json.loads(take_text(lib.strake_report, self._solver))
            return found

    def _places(self, axis: str, k: int, at: Array) -> Tuple[Array, Dict[str, str]]:
        """Coordinates of points along an axis, and their attributes: of the map, where the grid lies on one."""
        about = self.case.about
        if "map" not in about:
            return at * about["spacing"][k], {"units": "m", "long_name": "distance along " + axis}
        place = about["map"]
        sign = 1.0 if axis == "x" else -1.0
        units = {"x": ("longitude", "degrees_east"), "y": ("latitude", "degrees_north")}
        name, unit = units[axis] if place["geographic"] else ("projection_%s_coordinate" % axis, "m")
        return place[axis] + sign * (at + 0.5) * place["cell"], {"units": unit, "standard_name": name}

    def to_xarray(self, *names: str) -> Any:
        """Fields (the states, unless others are named) as an xarray.Dataset with coordinates and units. Needs xarray."""
        try:
            import xarray
        except ImportError:
            raise ImportError("to_xarray() needs xarray: pip install xarray") from None
        about = self.case.about
        data = {}
        coordinates: Dict[str, Any] = {"time": ((), self.time, {"units": "s", "long_name": "simulated time"})}
        for name in names or [n for n in self.fields if about["fields"][n]["state"]]:
            dims = []
            values = self.get(name)
            field = about["fields"][name]
            for k, axis in enumerate(about["axes"]):
                offset = field["offset"][k]
                dim = axis if offset == 0 else axis + "_face"
                dims.append(dim)
                coordinates[dim] = (dim, *self._places(axis, k, np.arange(values.shape[k]) + offset))
            unit = about["units"][name].strip("[]")
            data[name] = (dims, values, {"units": "1" if unit in ("-", "any") else unit, "long_name": field["text"]})
        attributes = {"source": "Strake", "problem": self.case.problem, "step": self.step_count}
        return xarray.Dataset(data, coordinates, attributes)


def _tell(_user: object, text: bytes) -> None:
    line = text.decode("utf-8", "replace")
    if line.startswith(_WARNING):
        _log.warning("%s", line[len(_WARNING):])
    else:
        _log.info("%s", line)
