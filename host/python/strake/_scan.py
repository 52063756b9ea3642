"""Many runs of a case: the program's `strake scan`, whose runs become arrays."""

from __future__ import annotations

import contextlib
import csv
import ctypes
import functools
import hashlib
import io
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from strake._library import Error, FileError, Stopped, UsageError, place, version
from strake._problem import advised
from strake._solver import Case, Given, as_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from strake._solver import Path

    Progress = Union[bool, Callable[[int, int, int], object]]

_log = logging.getLogger("strake")

# What `strake scan` writes to stderr: "50 % 4 of 8 runs, 0 failed, 2 at a time, 3 s left", and sentences.
_PROGRESS = re.compile(r"\s*\d+ % .*?(\d+) of (\d+) runs, (\d+) failed")
_SENTENCE = "strake: "
_END_OF_LINE = "\033[K"
_WIDTH = 79  # of a line that is drawn again and again: notebooks know no end of a line
_FAILED_RUN = re.compile(r"run \d+ failed \(")
_USAGE, _INTERRUPTED = 2, (130, 143)  # exit statuses

_PATIENCE = 10  # for the processes of a scan that is ended [s]
_LONGEST_WORD = 131071  # bytes of a command's word that Linux takes
_PR_SET_PDEATHSIG = 1  # sys/prctl.h

# Columns of the table that are texts, and that are whole numbers.
_TEXTS = ("class", "state", "where", "folder", "message", "id")
_COUNTS = ("run", "steps")


@functools.lru_cache(maxsize=None)
def program() -> str:
    """Path of the program `strake`, which makes the runs of a scan: in the package, beside the library, or on PATH.

    Raises FileError where there is none, and Error where it has not the library's version."""
    folders = [os.path.dirname(os.path.abspath(__file__))]
    if os.path.dirname(place):
        folders.append(os.path.dirname(os.path.abspath(place)))
    there = [path for path in (os.path.join(folder, "strake") for folder in folders)
             if os.path.isfile(path) and os.access(path, os.X_OK)]
    path = there[0] if there else shutil.which("strake")
    if path is None:
        raise FileError("cannot find the program strake, which makes the runs of a scan, in %s or on PATH; `pip install "
                        "./host/python` installs it, and `make` builds it beside the library" % ", ".join(folders))
    try:
        said = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout.decode("utf-8", "replace").strip()
    except OSError as reason:
        raise FileError("cannot run the program %s: %s" % (path, reason.strerror)) from None
    if said != "strake " + version():
        raise Error("the program %s says '%.80s', the library %s has the version %s; install both from one source"
                    % (path, said, place, version()))
    return path


class Scan:
    """What the runs of a scan came to. Its arrays have a member for each run along their first axis.

    result["psi"]: a field after the last step of each run, of shape (members,) and the field's; NaN in runs that failed.
        Where shapes differ from run to run it has the shape (members,) and its items are arrays, or None.
    fields: the names of these.
    values: by the path of a key its value in each run, of shape (members,); of fields that were given as arrays which of
        the values it was, from 0 on.
    table: by the name of a column of the program's table (`strake scan --help`) an array of shape (members,), such as
        table["psi_max"], table["seconds"], or table["where"]; numbers are NaN in runs that failed.
    time: simulated time of the fields [s], of shape (members,); NaN where a run has none.
    failed: of shape (members,), which runs failed.
    errors: by the number of a run that failed, from 0 on, what Strake says of it.
    maps: with maps=True the maps of all runs: "probability" of a flow [-], "mean" and "maximum" of its thickness [m], and
        its "arrival" [s], each of shape (rows, cols); with classes "probability-CLASS" of each, with eruptions "absolute",
        the probability of one or more flows.
    folder: what the caller named; None where all files are gone."""

    def __init__(self, table: Dict[str, npt.NDArray[Any]], keys: Sequence[str], arrays: Dict[str, npt.NDArray[Any]],
                 time: npt.NDArray[np.float64], maps: Dict[str, npt.NDArray[Any]], folder: Optional[str]) -> None:
        self.table = table
        self.values = {key: table[key] for key in keys}
        self.failed: npt.NDArray[np.bool_] = table["state"] == "failed"
        self.errors: Dict[int, str] = {int(k): str(table["message"][k]) for k in np.flatnonzero(self.failed)}
        self.fields = tuple(arrays)
        self.time = time
        self.maps = maps
        self.folder = folder
        self._arrays = arrays

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._arrays:
            raise KeyError("%s: the fields of this scan are %s" % (name, ", ".join(self.fields) or "none"))
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __len__(self) -> int:
        return len(self.failed)

    def __repr__(self) -> str:
        shapes = ", ".join("%s %s" % (name, " x ".join(map(str, array.shape))) for name, array in self._arrays.items())
        return "<strake.Scan of %d runs, %d failed: %s>" % (len(self), len(self.errors), shapes or "no fields")


def scan(case: Union[Case, Path, Mapping[str, Any]], over: Optional[Mapping[str, Any]] = None, *,
         draws: Optional[Mapping[str, Any]] = None, count: Optional[int] = None, seed: Optional[int] = None,
         sampling: Optional[str] = None, vents: Union[Path, npt.ArrayLike, None] = None,
         classes: Optional[Path] = None, set: Sequence[str] = (),
         steps: Optional[int] = None, fields: Optional[Sequence[str]] = None, on: Optional[str] = None,
         split: Union[str, Sequence[float], None] = None, threads: Optional[int] = None, jobs: Optional[int] = None,
         members: Optional[int] = None, cache: Optional[Path] = None, maps: bool = False,
         weights: Optional[Mapping[str, Sequence[float]]] = None, footprint: Optional[Path] = None,
         threshold: Optional[float] = None, eruptions: Optional[float] = None, folder: Optional[Path] = None,
         progress: Progress = True) -> Scan:
    """Runs a case many times with other values, side by side on cores and devices, as `strake scan` does.

    case: a Case, or what Case() takes: a mapping, of which fields may be arrays, or the path of a case file. All its input
        fields must be there.
    over: by paths of keys, such as "parameters.K" or "vents[0].rate", the values that they take, every value with every
        other: a sequence, or a text as --over takes it ("0.5:2:4"). Values of "fields.NAME" may be arrays.
    draws: by paths of keys what is drawn, for all of them together: "uniform:LOW:HIGH", "normal:MEAN:SD" or
        "lognormal:MEDIAN:FACTOR", or a sequence of which each run takes the next item, such as a column of a posterior;
        of "fields.NAME" an array of shape (runs,) and the field's.
    count: how many are drawn; as many as such a sequence has if that is not said.
    seed, sampling: of the draws (default: 1); "random" or "lhs", a Latin hypercube (default: "random").
    vents: places of vents[0]: an array of shape (vents, 2) of x and y [m], or (vents, 3) with weights, or the path of a
        file as --vents takes it; each of them, or as many as `count` says, drawn by their weights.
    classes: the path of a file of classes of eruptions, as --classes takes it: each of them, or as many as `count` says,
        drawn by their probabilities. Scan.values["class"] are their names.
    set: texts "PATH=VALUE" that change keys in every run.
    steps: the last step, instead of the case's.
    fields: names of the fields that the result has (default: as the case says, else its states); () for none.
    on, split, threads, cache: where to run, as of Solver.
    jobs, members: runs at a time on the cores, and on each device.
    maps, weights, footprint, threshold, eruptions: maps of all runs, the weights of values in them, a mapped flow that each
        run is compared with (column "e1" of the table), the thickness above which there is a flow [m], and how many
        eruptions are expected in the years of the map "absolute".
    folder: keeps the table (scan.csv), outputs (runs/), maps (maps/) and what was given as arrays (given/) there, so that the
        same call goes on where it was ended, and makes what is new where there are more values; None: a folder that is
        removed at the end.
    progress: True shows it on stderr, while the scan goes on, as `strake scan` does; or it is called with the numbers of
        runs that have ended, of all, and of those that failed, about five times a second and at the end. An exception in
        it ends the scan.

    Each run gives the bits of Solver. A run that fails is in Scan.failed and is logged as a warning; the others go on.
    Ctrl-C ends all processes of the scan. Raises UsageError, FileError and Error with Strake's messages."""
    for name, keys in (("over", over), ("draws", draws), ("weights", weights)):
        if not isinstance(keys, (Mapping, type(None))):
            raise UsageError("scan: %s: expected a mapping of paths of keys, such as {'vents[0].rate': ...}, not %r"
                             % (name, keys))
    given = case._given if isinstance(case, Case) else Given(case, ())
    with contextlib.ExitStack() as stack:
        if folder is None:
            kept = stack.enter_context(tempfile.TemporaryDirectory(prefix="strake-scan-"))
        else:
            kept = os.path.abspath(os.fspath(folder))
            os.makedirs(kept, exist_ok=True)
        words = _Words(kept)
        words.case(given, set, fields)
        words.varied(over or {}, weights or {})
        words.drawn(draws or {}, count)
        if vents is not None:
            words.vents(vents)
        if classes is not None:
            words.keys.insert(0, "class")
            words.add("--classes", os.fspath(classes))
        if split is not None and not isinstance(split, str):
            split = ",".join(repr(float(weight)) for weight in split)
        for name, value in (("seed", seed), ("sampling", sampling), ("steps", steps), ("on", on), ("split", split),
                            ("threads", threads), ("jobs", jobs), ("members", members), ("cache", cache),
                            ("footprint", footprint), ("threshold", threshold), ("eruptions", eruptions)):
            if value is not None:
                words.add("--" + name, str(os.fspath(value) if isinstance(value, os.PathLike) else value))
        if maps:
            words.add("--maps", os.path.join(kept, "maps"))
        _finish(*_run(words, progress))
        result = _read(words, maps, None if folder is None else kept)
    if callable(progress):
        progress(len(result), len(result), len(result.errors))
    return result


class _Words(List[str]):
    """The words of the command, and the files in a folder that they name.

    keys: paths of keys that have other values in each run.
    which: by such a path, where fields were given as arrays, by the text of a value its number.
    input: path of what the program gets on standard input, or None.
    keeps: whether fields of the runs are asked for."""

    def __init__(self, folder: str) -> None:
        super().__init__([program(), "scan"])
        self.folder = folder
        self.keys: List[str] = []
        self.which: Dict[str, Dict[str, int]] = {}
        self.input: Optional[str] = None
        self.keeps = True

    def add(self, option: str, value: str) -> None:
        size = len(os.fsencode(value))
        if size > _LONGEST_WORD:
            raise UsageError("scan: the values of %s are %d bytes of text, of which the program takes at most %d; give fewer "
                             "values, a text FROM:TO:COUNT, or a sequence in draws"
                             % (value.partition("=")[0], size, _LONGEST_WORD))
        self.extend((option, value))

    def file(self, name: str, data: bytes) -> str:
        """Writes a file, whose name says its content, too: other data never take the place of what runs were made of."""
        folder = os.path.join(self.folder, "given")
        os.makedirs(folder, exist_ok=True)
        base, dot, kind = name.rpartition(".")
        path = os.path.join(folder, base + "-" + hashlib.sha256(data).hexdigest()[:16] + dot + kind)
        if not os.path.exists(path):
            handle, other = tempfile.mkstemp(dir=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(other, path)
        return path

    def field(self, name: str, values: npt.NDArray[Any]) -> str:
        """What a case says of a field that is an array, without double quotes: they are those of a text of columns."""
        if values.ndim == 0:
            return "{constant: %r}" % float(values)
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64))
        path = self.file(re.sub(r"\W", "_", name) + ".npy", buffer.getvalue())
        return "{file: '%s'}" % path.replace("'", "''")

    def case(self, given: Given, sets: Iterable[str], fields: Optional[Sequence[str]]) -> None:
        """The case, and what of each run is kept: one output, of the last step, as NumPy reads it."""
        if given.path is not None:
            self.append(os.path.abspath(given.path))
        else:
            self.input = self.file("case.yaml", as_text(given.keys).encode())
            self.append("-")
        ours = ["output.formats=[npy]", "output.every=0", "output.initial=false"]
        if fields is not None:
            self.keeps = len(fields) > 0
            ours += ["output.fields=[%s]" % ",".join(fields)] if self.keeps else []
        arrays = ["fields.%s=%s" % (name, self.field(name, values)) for name, values in given.arrays.items()]
        for text in arrays + list(given.sets) + list(sets) + ours:
            self.add("--set", os.fsdecode(text))
        self.add("--table", os.path.join(self.folder, "scan.csv"))
        if self.keeps:
            self.add("--keep", os.path.join(self.folder, "runs"))

    def varied(self, over: Mapping[str, Any], weights: Mapping[str, Sequence[float]]) -> None:
        for path, values in over.items():
            text = values if isinstance(values, str) else ",".join(self.values("over", path, values))
            self.keys.append(path)
            self.add("--over", "%s=%s" % (path, text))
        for path, numbers in weights.items():
            self.add("--weights", "%s=%s" % (path, ",".join(repr(float(number)) for number in numbers)))

    def values(self, argument: str, path: str, values: Any) -> List[str]:
        """Each of several values as --over takes it: a text as it is, all else as YAML."""
        try:
            several = [] if isinstance(values, (str, Mapping)) else list(values)
        except TypeError:
            several = []
        if not several:
            raise UsageError("scan: %s: %s: expected a text, such as '%s', or a sequence of values, such as [1, 2, 3], not %r"
                             % (argument, path, "1:3:3" if argument == "over" else "uniform:1:3", values))
        arrays = [path.startswith("fields.") and isinstance(value, np.ndarray) and value.ndim > 0 for value in several]
        texts = [self.field(path[len("fields."):], value) if is_array else value if isinstance(value, str) else _yaml(value)
                 for value, is_array in zip(several, arrays)]
        if any(arrays):
            self.which[path] = {text: k for k, text in reversed(list(enumerate(texts)))}
        return texts

    def drawn(self, draws: Mapping[str, Any], count: Optional[int]) -> None:
        """Sequences become columns of one text."""
        columns = {path: self.values("draws", path, values) for path, values in draws.items() if not isinstance(values, str)}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1 or (count is not None and lengths and count > min(lengths)):
            raise UsageError("scan: draws: the sequences have %s items, count is %s: each run takes an item of every one"
                             % (" and ".join(map(str, sorted(lengths))), count))
        if count is None and lengths:
            count = lengths.pop()
        if draws and count is None:
            raise UsageError("scan: draws: say how many runs are drawn, for example count=100")
        if count is not None:
            self.add("--draws", str(count))
        names = ["c%d" % k for k in range(len(columns))]
        path = ""
        if columns:
            lines = [names] + [[_quoted(text) for text in line] for line in zip(*columns.values())]
            path = self.file("draws.csv", "\n".join(map(",".join, lines)).encode())
        laws = dict(draws, **{key: "of:%s:%s" % (path, name) for key, name in zip(columns, names)})
        for key, law in laws.items():
            self.keys.append(key)
            self.add("--over", "%s=%s" % (key, law))

    def vents(self, vents: Any) -> None:
        self.keys[:0] = ["vents[0].x", "vents[0].y"]
        if not isinstance(vents, (str, os.PathLike)):
            array = np.asarray(vents, dtype=np.float64)
            if array.ndim != 2 or array.shape[1] not in (2, 3):
                raise UsageError("scan: vents: expected the path of a file, or an array of shape (vents, 2) of x and y [m] or "
                                 "(vents, 3) with weights, not of shape %s" % (array.shape,))
            lines = ["x,y,weight"[:3 if array.shape[1] == 2 else None]]
            lines += [",".join(map(repr, line)) for line in array.tolist()]
            vents = self.file("vents.csv", "\n".join(lines).encode())
        self.add("--vents", os.fspath(vents))


def _yaml(value: object) -> str:
    """A value with single quotes, where it has no escapes."""
    try:
        text = as_text(value)
    except ValueError:
        raise UsageError("scan: %r is no value of a key, which takes finite numbers; leave its run out" % (value,)) from None
    return text if re.search(r"['\\]", text) else text.replace('"', "'")


def _quoted(text: str) -> str:
    """A word of a text in columns, which can have no double quotes."""
    if re.search(r'["\r\n]', text):
        raise UsageError("scan: draws: a text in one line without double quotes is expected, not %s" % text)
    return '"%s"' % text


_libc = ctypes.CDLL(None)


def _end_with_python() -> None:
    """In the new process: the kernel ends it where Python is killed, and with it its runs."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class _Listener:
    """Reads what the program writes to stderr: progress, which is shown or handed on, and sentences, which are kept.

    is_terminal: whether a line can be drawn again and again where progress is shown: a terminal or a notebook."""

    def __init__(self, progress: Progress) -> None:
        self.call = progress if callable(progress) else None
        self.shows = progress is True and sys.stderr is not None
        self.is_terminal = self.shows and (sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel"))
        self.is_drawn = False
        self.rest = ""
        self.sentences: List[str] = []

    def open(self) -> Tuple[int, int]:
        """Ends to read and to write: of a terminal, on which the program tells its progress five times a second, or a
        pipe, on which it does so every ten seconds."""
        return os.openpty() if self.call is not None or self.is_terminal else os.pipe()

    def hear(self, data: bytes) -> None:
        lines = re.split(r"[\r\n]+", self.rest + data.decode("utf-8", "replace"))
        self.rest = lines.pop()
        if self.rest.endswith(_END_OF_LINE):  # of what is drawn again and again
            lines.append(self.rest)
            self.rest = ""
        for line in lines:
            found = _PROGRESS.match(line)
            if found is not None:
                self.tell(line, found)
            elif line.startswith(_SENTENCE):
                self.sentences.append(line[len(_SENTENCE):])
            elif self.sentences and line.strip(_END_OF_LINE):
                self.sentences[-1] += "\n" + line

    def tell(self, line: str, found: "re.Match[str]") -> None:
        if self.call is not None:
            self.call(*map(int, found.groups()))
        elif self.shows:
            line = line.replace(_END_OF_LINE, "")
            sys.stderr.write("\r" + line.ljust(_WIDTH) if self.is_terminal else line + "\n")
            sys.stderr.flush()
            self.is_drawn = self.is_terminal

    def end(self) -> None:
        if self.is_drawn:
            sys.stderr.write("\r" + " " * _WIDTH + "\r")
            sys.stderr.flush()


def _run(words: _Words, progress: Progress) -> Tuple[int, List[str]]:
    """Runs the command to its end. Returns its exit status and the sentences that it wrote."""
    listener = _Listener(progress)
    with open(words.input or os.devnull, "rb") as given:
        read, write = listener.open()
        try:
            process = subprocess.Popen(words, stdin=given, stdout=subprocess.DEVNULL, stderr=write,
                                       preexec_fn=_end_with_python)
        except OSError as reason:
            os.close(read)
            raise FileError("cannot run the program %s: %s" % (words[0], reason.strerror)) from None
        finally:
            os.close(write)
    try:
        while True:
            try:
                data = os.read(read, 65536)
            except OSError:  # EIO: nobody has the terminal's other end any more
                data = b""
            if not data:
                break
            listener.hear(data)
        listener.hear(b"\n")
        return process.wait(), listener.sentences
    finally:  # after Ctrl-C, and an exception of the caller's, too
        os.close(read)
        listener.end()
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Has a process end, after its runs' present steps if these end soon. It has none itself that outlives it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        finally:
            process.kill()
            process.wait()


def _finish(code: int, sentences: List[str]) -> None:
    """Logs notes and warnings; raises what ended the scan."""
    wrong = []
    for text in sentences:
        kind, colon, rest = text.partition(": ")
        if colon and kind in ("warning", "note"):
            _log.log(logging.WARNING if kind == "warning" else logging.INFO, "%s", rest)
        elif _FAILED_RUN.match(text):
            _log.warning("%s", text)
        else:
            wrong.append(text)
    if code in (0, 1) and not wrong:
        return
    text = "\n".join(wrong) or "the process of the scan ended with exit status %d" % code
    if code == _USAGE:
        raise advised(UsageError(text))
    raise (Stopped if code in _INTERRUPTED else Error)(text)


def _column(name: str, cells: List[str], is_key: bool) -> npt.NDArray[Any]:
    """A column of the table: numbers where all cells are some, or empty; truth values of keys; else texts."""
    if name in _TEXTS or name.endswith("_checksum"):
        return np.array(cells, dtype=str)
    if is_key and all(cell in ("true", "false") for cell in cells):
        return np.array([cell == "true" for cell in cells])
    try:
        if is_key or name in _COUNTS:
            return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells, dtype=str)


def _stack(paths: Sequence[Optional[str]]) -> npt.NDArray[Any]:
    """The arrays of files, member first; NaN for a member that has none."""
    stack: Optional[npt.NDArray[Any]] = None
    for k, path in enumerate(paths):
        if path is None:
            continue
        values = np.load(path, allow_pickle=False)
        if stack is None:
            stack = np.full((len(paths),) + values.shape, np.nan, values.dtype)
        elif stack.ndim == values.ndim + 1 and (stack.shape[1:], stack.dtype) != (values.shape, values.dtype):
            uneven = np.empty(len(paths), dtype=object)
            for before in range(k):
                uneven[before] = None if paths[before] is None else stack[before]
            stack = uneven
        stack[k] = values
    assert stack is not None
    return stack


def _outputs(folder: str) -> Dict[str, Tuple[str, float]]:
    """By the name of a field its last output in a folder: path and time [s]."""
    with open(os.path.join(folder, "index.csv"), newline="", encoding="utf-8") as file:
        return {row["field"]: (os.path.join(folder, row["file"]), float(row["time"])) for row in csv.DictReader(file)
                if row["file"].endswith(".npy")}  # maps have a picture, too


def _read(words: _Words, has_maps: bool, folder: Optional[str]) -> Scan:
    with open(os.path.join(words.folder, "scan.csv"), newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    cells = {name: [row[k] for row in rows] for k, name in enumerate(head)}
    table = {name: _column(name, column, name in words.keys) for name, column in cells.items()}
    for key, which in words.which.items():
        table[key] = np.array([which[text] for text in cells[key]])
    if folder is None:
        del table["folder"]
    time = np.full(len(rows), np.nan)
    paths: Dict[str, List[Optional[str]]] = {}
    for k, kept in enumerate(cells["folder"]):
        if kept:
            for name, (path, at) in _outputs(os.path.join(words.folder, "runs", os.path.basename(kept))).items():
                paths.setdefault(name, [None] * len(rows))[k] = path
                time[k] = at
    arrays = {name: _stack(files) for name, files in paths.items()}
    maps = {}
    if has_maps:
        maps = {name: np.load(path, allow_pickle=False)
                for name, (path, _) in _outputs(os.path.join(words.folder, "maps")).items()}
    return Scan(table, words.keys, arrays, time, maps, folder)
