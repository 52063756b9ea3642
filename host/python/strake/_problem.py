"""Problems of one's own: C files that are built, and equations that become such files."""

from __future__ import annotations

import ast
import ctypes
import difflib
import hashlib
import json
import logging
import math
import os
import re
import tempfile
import textwrap
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from strake._library import NOTICE, UsageError, Error, call, lib

_log = logging.getLogger("strake")

_MOST_OPERANDS = 20  # of a point function: STRAKE_MAX_READS
_MOST_NAME = 24  # of a field: with what is put behind it, it is a value's name of the stage graph
_MOST_POWER = 64
_MOST_SHIFT = 8
_MOST_DEPTH = 120  # of an expression: operations within others, terms of a sum among them
_MOST_NODES = 5000  # of a power that is written out
_MOST_SHOWN = 120  # characters of an expression in a message

# Axes of the library's arrays that a problem has, slowest first, by dimensions; and which of them x, y and z are:
# x runs along columns, y along rows, z along planes.
_AXES = {1: (2,), 2: (0, 2), 3: (0, 1, 2)}
_DIRECTIONS = {1: {"x": 2}, 2: {"x": 2, "y": 0}, 3: {"x": 2, "y": 1, "z": 0}}
_LENGTHS = {1: ("cols",), 2: ("rows", "cols"), 3: ("planes", "rows", "cols")}
_EXTENT = {1: 256, 2: 64, 3: 24}  # of the example
_BEFORE = {1: {2: "w"}, 2: {0: "n", 2: "w"}, 3: {0: "below", 1: "n", 2: "w"}}
_AFTER = {1: {2: "e"}, 2: {0: "s", 2: "e"}, 3: {0: "above", 1: "s", 2: "e"}}
_BOUNDARIES = {"periodic": "STRAKE_PERIODIC", "no_flux": "STRAKE_NO_FLUX", "open": "STRAKE_OPEN"}

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_ELEMENTARY = {"exp": "STRAKE_EXP", "log": "STRAKE_LOG", "sin": "STRAKE_SIN", "cos": "STRAKE_COS"}
_FUNCTIONS = ("min", "max", "abs", "sqrt", "pow") + tuple(_ELEMENTARY)
_SPACE = ("lap", "dx", "dy", "dz", "at")

# Additions, multiplications, divisions and selections of what is more than one operation (cl/elementary.h). The
# division within a logarithm is no other than a multiplication here: it takes part in no refinement.
_COST = {"+": (1, 0, 0, 0), "-": (1, 0, 0, 0), "*": (0, 1, 0, 0), "/": (0, 0, 1, 0), "neg": (0, 0, 0, 0),
         "min": (0, 0, 0, 1), "max": (0, 0, 0, 1), "abs": (0, 0, 0, 0), "sqrt": (0, 0, 1, 0),
         "exp": (22, 24, 0, 5), "log": (18, 18, 0, 4), "sin": (22, 24, 0, 2), "cos": (22, 24, 0, 2)}


def _tell_compiler(_user: object, line: bytes) -> None:
    _log.warning("%s", line.decode("utf-8", "replace"))


def build(path: Union[str, "os.PathLike[str]"]) -> str:
    """Builds a problem in a C file, so that cases can name it: `strake.Case(problem=path, ...)`. It takes a C compiler
    (CC, or cc, gcc, clang) and a second or two, and has to be done again after each change of the file; what is built
    lies in the user's cache ($STRAKE_CACHE_DIR, or ~/.cache/strake).

    path: of a C file, as `strake problem new` prints one; or what problem() returned.

    The compiler's lines go to logging.getLogger("strake") as warnings, which Python prints to stderr where nothing else
    is arranged. Returns the path as a text. Raises UsageError where the file is wrong, with the compiler's first error,
    or where there is no compiler; FileError where it cannot be read."""
    path = os.fspath(path)
    notice = NOTICE(_tell_compiler)
    call(lib.strake_problem_build, os.fsencode(path), notice, None)
    return os.fsdecode(path)


def advised(reason: UsageError) -> UsageError:
    """A refusal of the library's, with what to call here where it names a command."""
    found = re.search(r"run `strake problem build (.*)`$", str(reason))
    return UsageError("%s, or strake.build(%r)" % (reason, found.group(1))) if found else reason


def as_case_says(value: object) -> object:
    """What a case says of the problem that is the value of `problem`: {"file": ...} of a C file, else the value."""
    if isinstance(value, Problem):
        value.check()
        value = value.path
    if isinstance(value, (str, bytes, os.PathLike)):
        text = os.fsdecode(value)
        return {"file": text} if text.endswith(".c") else text
    return value


class Problem:
    """A problem that problem() made. It can be given wherever a problem's name can: strake.Case(problem=..., ...).

    name: as messages and outputs call it.
    dims: dimensions, 1 to 3.
    path: of the C file, which `strake new`, `strake problem check` and cases in files take, too.
    source: the text of that file.
    fields, inputs, parameters: names, as a case has them under fields and parameters."""

    def __init__(self, name: str, dims: int, path: str, source: str, fields: Tuple[str, ...], inputs: Tuple[str, ...],
                 parameters: Tuple[str, ...]) -> None:
        self.name = name
        self.dims = dims
        self.path = path
        self.source = source
        self.fields = fields
        self.inputs = inputs
        self.parameters = parameters

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return "<strake.Problem %s, %dD, %s: %s>" % (self.name, self.dims, ", ".join(self.fields), self.path)

    def check(self) -> None:
        """Raises UsageError where the file no longer says what this problem is."""
        try:
            with open(self.path, encoding="utf-8") as file:
                if file.read() == self.source:
                    return
        except OSError:
            pass
        raise UsageError("problem %s: its file %s has changed or is gone: call strake.problem() again, or give the "
                         "file's path instead of the problem" % (self.name, self.path))


# Expressions become trees of tuples, equal ones equal:
#   ("num", 0.5) ("par", "F") ("val", "u", (0, 0, -1)) ("lap", "u") ("d", axis, "u") ("+", a, b) ("neg", a) ("exp", a) ...
# and where functions are written ("host", tree of parameters) ("dt",) ("base", "u").
_LEAVES = ("num", "par", "val", "host", "dt", "base")
_HERE = (0, 0, 0)


def _is_leaf(node):
    return node[0] in _LEAVES


def _parts(node):
    return () if _is_leaf(node) or node[0] in ("lap", "d") else node[1:]


def _fold(op, *parts):
    """A tree, or its number where all parts are numbers. ZeroDivisionError, OverflowError and ValueError are the
    caller's."""
    if op not in _ELEMENTARY and all(part[0] == "num" for part in parts):
        return ("num", _NUMERIC[op](*(part[1] for part in parts)))
    return (op,) + parts


_NUMERIC = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
            "neg": lambda a: -a, "min": lambda a, b: a if a < b else b, "max": lambda a, b: a if a > b else b,
            "abs": abs, "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos}


class _Reader:
    """Reads expressions with Python's parser; nothing of them is evaluated."""

    def __init__(self, problem, dims, arrays, parameters):
        self.problem = problem
        self.dims = dims
        self.arrays = arrays  # names of what has a value in every cell
        self.parameters = parameters
        self.where = ""
        self.text = ""

    def fail(self, node, reason):
        self.fail_at(None if node is None else node.col_offset, reason)

    def fail_at(self, at, reason):
        """The offset in the text that Python reads, which begins with a parenthesis, is the number of a character."""
        at = None if at is None else min(max(at, 1), max(len(self.text), 1))
        text = self.text
        if len(text) > _MOST_SHOWN:
            begin = max(0, min((at or 1) - _MOST_SHOWN // 2, len(text) - _MOST_SHOWN))
            text = "%s%s%s" % ("..." if begin else "", text[begin:begin + _MOST_SHOWN],
                               "..." if begin + _MOST_SHOWN < len(text) else "")
        raise UsageError("problem %s: %s%s of `%s`: %s" % (
            self.problem, self.where, "" if at is None else ", at character %d" % at, text, reason)) from None

    def read(self, where, text):
        self.where = where
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            text = repr(text)
        if not isinstance(text, str):
            raise UsageError("problem %s: %s: expected an expression as a text, found %r" % (self.problem, where, text))
        self.text = " ".join(text.split())
        if not self.text:
            self.fail(None, "it is empty; 0 keeps a field as it is")
        try:
            tree = ast.parse("(" + self.text + ")", mode="eval").body
        except SyntaxError as reason:
            self.fail_at(reason.offset and reason.offset - 1,
                         "it is no expression: %s; one is Du*lap(u) - u*v**2" % reason.msg)
        except (RecursionError, MemoryError, ValueError):
            self.fail(None, "it cannot be read; make it shorter, with stages")
        self.depth = 0
        return self.tree(tree)

    def known(self):
        words = []
        for title, names in (("fields, inputs and stages", self.arrays), ("parameters", self.parameters)):
            if names:
                words.append("%s: %s" % (title, ", ".join(names)))
        return "; ".join(words)

    def unknown(self, node, name):
        near = difflib.get_close_matches(name, list(self.arrays) + list(self.parameters), 1)
        self.fail(node, "there is no %s%s (%s)" % (name, ", did you mean %s?" % near[0] if near else "", self.known()))

    def make(self, node, op, *parts):
        try:
            made = _fold(op, *parts)
        except (ZeroDivisionError, OverflowError, ValueError):
            made = ("num", math.nan)
        if made[0] == "num" and not math.isfinite(made[1]):
            self.fail(node, "it has no finite value")
        return made

    def tree(self, node):
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            self.fail(None, "it is too long or nested too deeply; make it shorter, with stages")
        made = self.tree_of(node)
        self.depth -= 1
        return made

    def tree_of(self, node):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
                self.fail(node, "expected a number, found %r" % (node.value,))
            try:
                value = float(node.value)
            except OverflowError:
                value = math.inf
            if not math.isfinite(value):
                self.fail(node, "the number is too large")
            return ("num", value)
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            part = self.tree(node.operand)
            return part if isinstance(node.op, ast.UAdd) else self.make(node, "neg", part)
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Subscript):
            index = node.slice
            if type(index).__name__ == "Index":  # of Python 3.8
                index = index.value
            return self.shifted(node, node.value, index.elts if isinstance(index, ast.Tuple) else [index])
        what = {ast.Compare: "a comparison", ast.IfExp: "a choice (min and max choose)", ast.BoolOp: "and, or",
                ast.Attribute: "a dot", ast.Lambda: "lambda", ast.Tuple: "a comma", ast.List: "a list",
                ast.UnaryOp: "an operator"}.get(type(node), "this")
        return self.fail(node, "%s cannot stand in it; it has names, numbers, + - * / **, parentheses, %s, %s and shifts "
                         "such as f[%s]" % (what, ", ".join(_FUNCTIONS), ", ".join(_SPACE),
                                            ", ".join(["0"] * (self.dims - 1) + ["1"])))

    def name(self, node):
        if node.id in self.arrays:
            return ("val", node.id, _HERE)
        if node.id in self.parameters:
            return ("par", node.id)
        if node.id in _FUNCTIONS or node.id in _SPACE:
            self.fail(node, "%s is a function: %s(...)" % (node.id, node.id))
        return self.unknown(node, node.id)

    def binary(self, node):
        op = _OPERATORS.get(type(node.op))
        if op is None:
            advice = "; powers are written x**2" if isinstance(node.op, ast.BitXor) else ""
            self.fail(node, "expected one of the operators + - * / **, found %s%s" % (_sign(node.op), advice))
        if op == "**":
            return self.power(node, node.left, node.right)
        return self.make(node, op, self.tree(node.left), self.tree(node.right))

    def power(self, node, base, exponent):
        base = self.tree(base)
        n = self.tree(exponent)
        if n[0] != "num" or n[1] != int(n[1]) or abs(n[1]) > _MOST_POWER:
            advice = "; sqrt(x) is a root" if n == ("num", 0.5) else "; exp(a*log(x)) is a power with another exponent"
            self.fail(exponent, "expected a whole exponent from -%d to %d%s" % (_MOST_POWER, _MOST_POWER, advice))
        n = int(n[1])
        if sum(1 for _ in _walk(base)) * abs(n) > _MOST_NODES:
            self.fail(node, "it becomes too long a product; make it shorter, with stages")
        made = None
        square = base
        left = abs(n)
        while left:
            if left & 1:
                made = square if made is None else self.make(node, "*", made, square)
            left >>= 1
            if left:
                square = self.make(node, "*", square, square)
        if made is None:
            return ("num", 1.0)
        return made if n > 0 else self.make(node, "/", ("num", 1.0), made)

    def call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name not in _FUNCTIONS and name not in _SPACE:
            near = difflib.get_close_matches(name or "", _FUNCTIONS + _SPACE, 1)
            self.fail(node, "there is no function %s%s (functions: %s)"
                      % (name or "of this kind", ", did you mean %s?" % near[0] if near else "",
                         ", ".join(_FUNCTIONS + _SPACE)))
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.fail(node, "%s takes values in their order" % name)
        count = len(node.args)
        if name == "at":
            if count == 0:
                self.fail(node, "at takes a field's name and an offset for each axis")
            return self.shifted(node, node.args[0], node.args[1:])
        if name in ("min", "max"):
            if count < 2:
                self.fail(node, "%s takes two values or more" % name)
            made = self.tree(node.args[0])
            for other in node.args[1:]:
                made = self.make(node, name, made, self.tree(other))
            return made
        if count != (2 if name == "pow" else 1):
            self.fail(node, "%s takes %s" % (name, "a value and an exponent" if name == "pow" else "one value"))
        if name == "pow":
            return self.power(node, *node.args)
        if name in _SPACE:
            of = self.array(node.args[0], name)
            if name == "lap":
                return ("lap", of)
            if name[1] not in _DIRECTIONS[self.dims]:
                self.fail(node, "a problem with dims=%d has no %s" % (self.dims, name))
            return ("d", _DIRECTIONS[self.dims][name[1]], of)
        return self.make(node, name, self.tree(node.args[0]))

    def array(self, node, what):
        """The name of something with a value in every cell, which a space operator or shift is of."""
        if not isinstance(node, ast.Name):
            self.fail(node, "%s is of a field's name: give the expression a name in stages, such as "
                      "stages={\"mu\": ...}, and take %s" % (what, "mu[...]" if what == "a shift" else what + "(mu)"))
        if node.id in self.parameters:
            self.fail(node, "%s is a parameter, the same number in every cell: %s needs a field" % (node.id, what))
        if node.id not in self.arrays:
            self.unknown(node, node.id)
        return node.id

    def shifted(self, node, of, offsets):
        name = self.array(of, "a shift")
        form = "[" + ", ".join("d" + axis.rstrip("s") for axis in _LENGTHS[self.dims]) + "]"
        if len(offsets) != self.dims:
            self.fail(node, "expected %d offset%s: %s%s" % (self.dims, "s" * (self.dims > 1), name, form))
        place = [0, 0, 0]
        for axis, offset in zip(_AXES[self.dims], offsets):
            sign = 1
            if isinstance(offset, ast.UnaryOp) and isinstance(offset.op, (ast.USub, ast.UAdd)):
                sign = -1 if isinstance(offset.op, ast.USub) else 1
                offset = offset.operand
            value = offset.value if isinstance(offset, ast.Constant) else None
            if not isinstance(value, int) or isinstance(value, bool) or value > _MOST_SHIFT:
                self.fail(offset if hasattr(offset, "col_offset") else node,
                          "an offset is a whole number from -%d to %d: %s%s" % (_MOST_SHIFT, _MOST_SHIFT, name, form))
            place[axis] = sign * value
        return ("val", name, tuple(place))


def _sign(op):
    return {"BitXor": "^", "Mod": "%", "FloorDiv": "//", "MatMult": "@", "BitAnd": "&", "BitOr": "|", "LShift": "<<",
            "RShift": ">>"}.get(type(op).__name__, type(op).__name__)


def _number(value):
    text = repr(value)
    return text if "." in text or "e" in text else text + ".0"


def _real(value):
    return "REAL(%s)" % _number(value) if value >= 0.0 and math.copysign(1.0, value) > 0 else "-REAL(%s)" % _number(-value)


def _hosted(node):
    """The tree with its largest parts of parameters alone, which the host computes once, as ("host", part). Exponentials
    and the like are left to the points: those of C libraries differ."""
    def only_parameters(part):
        return part[0] in ("num", "par") or (part[0] in _NUMERIC and part[0] not in _ELEMENTARY and
                                             all(only_parameters(p) for p in part[1:]))
    if _is_leaf(node) or node[0] in ("lap", "d"):
        return node
    if only_parameters(node):
        return ("host", node)
    return (node[0],) + tuple(_hosted(part) for part in node[1:])


def _host_text(node):
    """C of a tree of parameters and numbers, for the host: in double precision."""
    op = node[0]
    if op == "num":
        return "(%s)" % _number(node[1]) if node[1] < 0 else _number(node[1])
    if op == "par":
        return "value_" + node[1]
    parts = [_host_text(part) for part in node[1:]]
    if op == "neg":
        return "(-%s)" % parts[0]
    if op in ("+", "-", "*", "/"):
        return "(%s %s %s)" % (parts[0], op, parts[1])
    return "%s(%s)" % ({"min": "fmin", "max": "fmax", "abs": "fabs"}.get(op, op), ", ".join(parts))


def _bare(text):
    """Without the outermost parentheses, if they are a pair."""
    if not text.startswith("("):
        return text
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1]


def _walk(node):
    yield node
    for part in _parts(node):
        yield from _walk(part)


def _used_parameters(node):
    if node[0] == "par":
        return {node[1]}
    below = node[1:] if node[0] == "host" else _parts(node)
    return set().union(*(_used_parameters(part) for part in below)) if below else set()


class _Writer:
    """Makes the C file."""

    def __init__(self, name, dims):
        self.name = name
        self.dims = dims
        self.functions = []  # text
        self.rows = []  # of their list
        self.has_lap = False
        self.is_doubted = False
        self.hosts = {}  # tree: name of the constant
        self.coefficients = set()  # of axes: ("coef", axis), ("half", axis)

    def operands(self, node, found=None):
        """What a point function of a tree reads, in the order in which it comes."""
        found = {} if found is None else found
        op = node[0]
        if op == "lap":
            for offset in [_HERE] + [self.beside(axis, way) for axis in _AXES[self.dims] for way in (-1, 1)]:
                found[("val", node[1], offset)] = True
            for axis in _AXES[self.dims]:
                found[("coef", axis)] = True
        elif op == "d":
            for way in (-1, 1):
                found[("val", node[2], self.beside(node[1], way))] = True
            found[("half", node[1])] = True
        elif op != "num" and _is_leaf(node):
            found[node] = True
        for part in _parts(node):
            self.operands(part, found)
        return found

    @staticmethod
    def beside(axis, way):
        return tuple(way if k == axis else 0 for k in range(3))

    def split(self, node, extra):
        """A tree of at most 20 operands that has the value of this one: others are made stages, ("val", name, here), and
        go to @p extra: tree -> name."""
        while len(self.operands(node)) > _MOST_OPERANDS:
            now = len(self.operands(node))
            best = None
            for part in dict.fromkeys(_walk(node)):
                if _is_leaf(part) or part == node or any(p[0] in ("dt", "base") for p in _walk(part)):
                    continue
                if len(self.operands(part)) <= _MOST_OPERANDS:
                    saved = now - len(self.operands(_replaced(node, part, ("val", "?", _HERE))))
                    if saved > 0 and (best is None or saved > best[0]):
                        best = (saved, part)
            if best is None:
                parts = [p for p in _parts(node) if not _is_leaf(p)]
                part = max(parts, key=lambda p: len(self.operands(p)))
                smaller = self.split(part, extra)
                if smaller != part or any(p[0] in ("dt", "base") for p in _walk(part)):
                    node = _replaced(node, part, smaller)
                    if len(self.operands(node)) <= _MOST_OPERANDS:
                        break
                    part = smaller
                best = (0, part)
            made = extra.setdefault(best[1], "part%d" % (len(extra) + 1))
            node = _replaced(node, best[1], ("val", made, _HERE))
        return node

    def operand_name(self, operand):
        op = operand[0]
        if op == "par":
            return "p_" + operand[1]
        if op == "host":
            return self.hosts.setdefault(operand[1], "k_%d" % (len(self.hosts) + 1))
        if op in ("coef", "half"):
            self.coefficients.add(operand)
            return "%s_%s" % ("over_square" if op == "coef" else "over_two", self.axis_name(operand[1]))
        if op == "dt":
            return "dt"
        if op == "base":
            return "from_" + operand[1]
        offset = operand[2]
        words = []
        for axis in _AXES[self.dims]:
            if offset[axis]:
                word = (_BEFORE if offset[axis] < 0 else _AFTER)[self.dims][axis]
                words.append(word + (str(abs(offset[axis])) if abs(offset[axis]) > 1 else ""))
        return "%s_at_%s" % (operand[1], "_".join(words) if words else "c")

    def axis_name(self, axis):
        return _LENGTHS[self.dims][_AXES[self.dims].index(axis)]

    def function(self, label, comment, node):
        """Writes the point function of a tree. @return its name and operands

        The name ends with a hash of what the function computes: the library finds compiled loops by names of functions,
        and one process may have several problems, or versions of one, that differ in nothing else."""
        reads = list(self.operands(node))
        uses = {}

        def count(part):
            uses[part] = uses.get(part, 0) + 1
            if uses[part] == 1:
                for p in _parts(part):
                    count(p)
        count(node)
        for part in uses:  # what min and max compare is written twice
            if part[0] in ("min", "max"):
                for p in part[1:]:
                    uses[p] += 1
        cost = [0, 0, 0, 0]
        for part in uses:
            if part[0] == "lap":
                each = (3 * self.dims, self.dims, 0, 0)
            elif part[0] == "d":
                each = (1, 1, 0, 0)
            else:
                each = _COST.get(part[0], (0, 0, 0, 0))
            cost = [a + b for a, b in zip(cost, each)]
        lines = []
        texts = {}

        def text(part):
            if part in texts:
                return texts[part]
            made = self.text(part, text)
            if uses[part] > 1 and not _is_leaf(part):
                short = "q%d" % (len(lines) + 1)
                lines.append("    const real %s = %s;" % (short, _bare(made)))
                made = short
            texts[part] = made
            return made
        result = _bare(text(node))
        doubt = "STRAKE_DOUBT " if cost[2] else ""
        self.is_doubted = self.is_doubted or cost[2] > 0
        operands = ", ".join("real " + self.operand_name(r) for r in reads)
        content = "\n".join(["%d" % self.dims, operands] + lines + [result])
        name = "%s_%s_%s" % (self.name, label, hashlib.sha256(content.encode()).hexdigest()[:8])
        self.functions.append("%s%s{\n%s%s}\n" % (
            _lines("/* %s */" % _comment(comment), " * "),
            _lines("STRAKE_POINT_FUNCTION real %s(%s%s)" % (name, doubt, operands), " " * 8),
            "".join(_lines(line, " " * 8) for line in lines), _lines("    return %s;" % result, " " * 8)))
        self.rows.append("X(%s, %d, %d, %d, %d, %d)" % ((name, len(reads)) + tuple(cost)))
        return name, reads

    def text(self, node, text):
        """C of one operation, given that of its parts."""
        op = node[0]
        if op == "num":
            return "(%s)" % _real(node[1]) if math.copysign(1.0, node[1]) < 0 else _real(node[1])
        if op == "lap":
            self.has_lap = True
            around = [_HERE] + [self.beside(axis, way) for axis in _AXES[self.dims] for way in (-1, 1)]
            words = [self.operand_name(("val", node[1], offset)) for offset in around]
            words += [self.operand_name(("coef", axis)) for axis in _AXES[self.dims]]
            return "%s_lap(%s)" % (self.name, ", ".join(words))
        if op == "d":
            before, after = (self.operand_name(("val", node[2], self.beside(node[1], way))) for way in (-1, 1))
            return "(%s * (%s - %s))" % (self.operand_name(("half", node[1])), after, before)
        if _is_leaf(node):
            return self.operand_name(node)
        parts = [text(part) for part in node[1:]]
        if op == "neg":
            return "(-%s)" % parts[0]
        if op in ("+", "-", "*"):
            return "(%s %s %s)" % (parts[0], op, parts[1])
        if op == "/":
            return "STRAKE_DIVIDE(%s, %s)" % (_bare(parts[0]), _bare(parts[1]))
        call_of = {"min": "STRAKE_MIN", "max": "STRAKE_MAX", "abs": "STRAKE_ABS", "sqrt": "STRAKE_ROOT"}
        return "%s(%s)" % (call_of.get(op) or _ELEMENTARY[op], ", ".join(_bare(part) for part in parts))

    def lap_function(self):
        """Second differences along every axis: centre, the one before and the one after along each, factors."""
        axes = [self.axis_name(axis) for axis in _AXES[self.dims]]
        words = ["real c"] + ["real %s_%s" % (way, axis) for axis in axes for way in ("before", "after")]
        words += ["real over_square_" + axis for axis in axes]
        terms = ["over_square_%s * ((before_%s + after_%s) - twice)" % (axis, axis, axis) for axis in axes]
        made = terms[0]
        for term in terms[1:]:
            made = "(%s) + %s" % (made, term) if "+ over" in made else "%s + %s" % (made, term)
        return "".join((
            "/* The Laplacian: second differences along %s, over the squares of the spacings. */\n" % " and ".join(axes),
            _lines("STRAKE_POINT_FUNCTION real %s_lap(%s)" % (self.name, ", ".join(words)), " " * 8),
            "{\n    const real twice = c + c;\n", _lines("    return %s;" % made, " " * 8), "}\n"))


def _replaced(node, part, by):
    if node == part:
        return by
    if not _parts(node):
        return node
    return (node[0],) + tuple(_replaced(p, part, by) for p in node[1:])


def _lines(text, indent):
    """Lines of C of at most 100 characters, where words allow it."""
    lines = textwrap.wrap(text.replace("real ", "real\0"), 100, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ") + "\n"


def _comment(text):
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")


def _quoted(text):
    text = " ".join(str(text).split())
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")


class _Described:
    """What is said of a field, an input or a parameter: "text [unit]", a number, or both: (text, number)."""

    def __init__(self, problem, where, name, given):
        items = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        texts = [item for item in items if isinstance(item, str)]
        numbers = [item for item in items if _is_number(item)]
        if not items or len(texts) > 1 or len(numbers) > 1 or len(texts) + len(numbers) < len(items):
            raise UsageError("problem %s: %s[%r]: expected \"text [unit]\", a finite number, or both: "
                             "(\"text [unit]\", number); found %r" % (problem, where, name, given))
        text = texts[0] if texts else ""
        self.default = float(numbers[0]) if numbers else None
        found = re.match(r"(.*?)\s*(\[[^\[\]]*\])\s*$", " ".join(text.split()))
        self.text, self.unit = (found.group(1), found.group(2)) if found else (" ".join(text.split()), "[-]")
        self.text = self.text or name


def _is_number(value):
    try:
        return not isinstance(value, (bool, str)) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _names(problem, where, given, taken, most=_MOST_NAME):
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UsageError("problem %s: %s: expected a mapping with names, found %r" % (problem, where, given))
    for name in given:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or len(name) > most:
            raise UsageError("problem %s: %s: expected a name of letters, digits and _ that begins with a letter, at most "
                             "%d characters; found %r" % (problem, where, most, name))
        if name in _FUNCTIONS or name in _SPACE or name == "dt":
            raise UsageError("problem %s: %s: %s is %s; give it another name"
                             % (problem, where, name, "the time step" if name == "dt" else "a function of expressions"))
        if re.fullmatch(r"part[0-9]+", name):
            raise UsageError("problem %s: %s: names such as %s are those of parts of long expressions; give it another "
                             "name" % (problem, where, name))
        if name in taken:
            raise UsageError("problem %s: %s: there are two things called %s; give one another name"
                             % (problem, where, name))
        taken.add(name)
    return given


def _evaluate(node, values):
    if node[0] == "num":
        return node[1]
    if node[0] == "par":
        return values[node[1]]
    return _NUMERIC[node[0]](*(_evaluate(part, values) for part in node[1:]))


def problem(name: str, dims: int, fields: Mapping[str, Any], rates: Mapping[str, str], *,
            inputs: Optional[Mapping[str, Any]] = None, parameters: Optional[Mapping[str, Any]] = None,
            stages: Optional[Mapping[str, str]] = None, boundaries: Union[str, Sequence[str]] = ("periodic", "no_flux"),
            scheme: str = "euler", dt_limit: Optional[str] = None, text: Optional[str] = None,
            folder: Union[str, "os.PathLike[str]", None] = None) -> Problem:
    """Makes a problem of its equations and builds it: what the rates of change of its fields are. For example:

        heat = strake.problem("heat_py", dims=2, fields={"T": "temperature [K]"}, parameters={"a": ("[m2/s]", 1.0)},
                              rates={"T": "a*lap(T)"}, dt_limit="spacing**2/(4*a)")
        case = strake.Case(problem=heat, grid={"rows": 64, "cols": 64}, time={"dt": 0.2, "steps": 100},
                           parameters={"a": 0.5}, fields={"T": T0})

    name: a word that no problem of Strake's own has.
    dims: 1 (shape [cols]), 2 ([rows, cols]) or 3 ([planes, rows, cols]).
    fields: what changes with time, by name: "text [unit]", or ("text [unit]", value if a case gives none).
    rates: of every field an expression for its derivative by time, in units of the field per second.
    inputs: what is given once and stays, in every cell: a value if a case gives none, or ("text [unit]", value).
    parameters: numbers, which a case may change under parameters: a value, or ("text [unit]", value).
    stages: expressions with a name, of which others may take differences: stages={"mu": "c**3 - c - lap(c)"} and
        rates={"c": "lap(mu)"}. A stage may use those before it.
    boundaries: those that a case may have, of "periodic", "no_flux" and "open".
    scheme: how time steps are made: "euler" (u + dt*rate), or "midpoint", of second order (rates at half the step).
    dt_limit: the longest stable time step [s], an expression of parameters and `spacing`, the least distance between
        neighbouring cells [m]; longer ones are refused. None: all are taken.
    text: one line about the problem.
    folder: where NAME.c is written; None: in the user's cache, under a name of its own for each text.

    Expressions have names, numbers, + - * /, parentheses, ** or pow with whole exponents, min, max, abs, sqrt, exp, log,
    sin and cos; and of a field, input or stage f
        lap(f)                   second differences along every axis, over the squares of the spacings [1/m2],
        dx(f), dy(f), dz(f)      central differences [1/m]: x along columns, y along rows and z along planes; over the
                                 case's spacings, of which grid.dy is between columns, grid.dx between rows,
        f[drow, dcol], at(f, drow, dcol)     its value in another cell; f[dcol] in 1D, f[dplane, drow, dcol] in 3D.

    Results have the same bits on all processors and devices. Means of the fields are measured: mean_NAME.

    A case gives the time step, time.dt [s].

    Returns a Problem. Raises UsageError for what is wrong, with the expression and the place in it, and where there is
    no C compiler; OSError where the file cannot be written. The same equations are built once."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or len(name) > 31:
        raise UsageError("problem: expected a name of letters, digits and _ that begins with a letter, at most 31 "
                         "characters; found %r" % (name,))
    if isinstance(dims, bool) or dims not in _AXES:
        raise UsageError("problem %s: dims: expected 1, 2 or 3, found %r" % (name, dims))
    if scheme not in ("euler", "midpoint"):
        raise UsageError("problem %s: scheme: expected \"euler\" or \"midpoint\", found %r" % (name, scheme))
    boundaries = (boundaries,) if isinstance(boundaries, str) else tuple(boundaries)
    for kind in boundaries or (None,):
        if kind not in _BOUNDARIES:
            raise UsageError("problem %s: boundaries: expected some of %s, found %r"
                             % (name, ", ".join(_BOUNDARIES), kind))
    taken = set()
    states = {n: _Described(name, "fields", n, g) for n, g in _names(name, "fields", fields, taken).items()}
    statics = {n: _Described(name, "inputs", n, g) for n, g in _names(name, "inputs", inputs, taken).items()}
    numbers = {n: _Described(name, "parameters", n, g) for n, g in _names(name, "parameters", parameters, taken).items()}
    stages = _names(name, "stages", stages, taken)
    rates = _names(name, "rates", rates, set())
    if not states:
        raise UsageError("problem %s: fields: expected a field that changes with time" % name)
    for n in numbers:
        if numbers[n].default is None:
            raise UsageError("problem %s: parameters[%r]: expected a number, or (\"text [unit]\", number)" % (name, n))
    if set(rates) != set(states):
        odd = sorted(set(rates) ^ set(states))[0]
        raise UsageError("problem %s: rates: expected an expression for every field: %s %s" % (
            name, odd, "has none; 0 keeps it as it is" if odd in states else "is no field"))

    arrays = list(states) + list(statics)
    reader = _Reader(name, dims, arrays, numbers)
    trees = {}  # of stages, in their order
    for n, expression in stages.items():
        trees[n] = _hosted(reader.read("stages[%r]" % n, expression))
        if not any(part[0] in ("val", "lap", "d") for part in _walk(trees[n])):
            reader.fail(None, "it is the same number in every cell; write it where it is used, or make it a parameter")
        arrays.append(n)
    rate_trees = {n: _hosted(reader.read("rates[%r]" % n, rates[n])) for n in states}
    limit = None
    if dt_limit is not None:
        if "spacing" in numbers:
            raise UsageError("problem %s: parameters: in dt_limit, spacing is the least distance between cells; give the "
                             "parameter another name" % name)
        limit = _Reader(name, dims, [], dict(numbers, spacing=None)).read("dt_limit", dt_limit)

    source = _source(name, dims, states, statics, numbers, trees, rate_trees,
                     {"stages": stages, "rates": rates}, boundaries, scheme, limit, text)
    path = _put(name, source, folder)
    made = Problem(name, dims, path, source, tuple(states), tuple(statics), tuple(numbers))
    if not _is_built(path, dims):
        build(path)
    return made


def _source(name, dims, states, statics, numbers, trees, rates, given, boundaries, scheme, limit, text):
    writer = _Writer(name, dims)
    is_midpoint = scheme == "midpoint"
    extra = {}  # parts of long expressions that are stages: tree -> name
    order = []  # of all stages: (kind, name, function, reads), of the kinds stage, part and step

    def add(kind, label, comment, tree):
        before = len(extra)
        tree = writer.split(tree, extra)
        for part, part_name in list(extra.items())[before:]:
            order.append(("part", part_name) + writer.function(part_name, "A part of what follows.", part))
        order.append((kind, label) + writer.function("%s_%s" % (kind, label), comment, tree))

    for n, tree in trees.items():
        add("stage", n, "Stage %s: %s" % (n, given["stages"][n]), tree)
    for n, tree in rates.items():
        base = ("base", n) if is_midpoint else ("val", n, _HERE)
        add("step", n, "%s one time step later, at the rate %s" % (n, given["rates"][n]),
            ("+", base, ("*", ("dt",), tree)))

    variables = {n: "v_" + n for n in list(states) + list(statics)}
    build_lines = []
    numbers_of = {n: 0 for n in variables.values()}  # stage numbers of C variables

    def emit(stage, variable, function, reads, sources, dt):
        words = []
        number = 1
        for operand in reads:
            if operand[0] == "val":
                value, offset = sources[operand[1]], operand[2]
                number = max(number, numbers_of[value] + 1)
            elif operand[0] == "base":
                value, offset = variables[operand[1]], _HERE
            else:
                value, offset = dt if operand[0] == "dt" else writer.operand_name(operand), _HERE
            words.append("at(%s, %d, %d, %d)" % ((value,) + offset))
        numbers_of[variable] = number
        build_lines.append("    const int %s =\n        STRAKE_STAGE(g, %d, \"%s\", %s,\n%s" % (
            variable, number, stage, function, _lines(" " * 21 + ", ".join(words) + ");", " " * 21)))

    def depends(names):
        """Whether any of these names follows from a field that changes."""
        known = {label: reads for kind, label, _, reads in order if kind != "step"}
        return any(n in states or (n in known and depends([r[1] for r in known[n] if r[0] == "val"])) for n in names)

    passes = (("middle", "half_dt"), ("next", "dt")) if is_midpoint else (("next", "dt"),)
    sources = dict(variables)
    for step, dt in passes:
        after = {}
        for kind, label, function, reads in order:
            if kind == "step":
                after[label] = "%s_%s" % (step, label)
                emit("%s_%s" % (label, step), after[label], function, reads, sources, dt)
            elif step == "middle" or not is_midpoint or depends([label]):
                variable = "s_%s%s" % (label, "_again" if is_midpoint and step == "next" else "")
                emit(label, variable, function, reads, sources, dt)
                sources[label] = variable
        if step == "middle":
            sources.update(after)
    for n in states:
        build_lines.append("    strake_graph_state(g, v_%s, next_%s);\n" % (n, n))

    used = {operand[1] for _, _, _, reads in order for operand in reads if operand[0] == "par"}
    hosted = {p for tree in writer.hosts for p in _used_parameters(tree)}
    pointwise = "".join(writer.functions)
    parts = []
    parts.append("/*\n * %s%s\n *\n * This file was %s of a few lines of Python: change those.\n */\n"
                 "#include \"strake_problem.h\"\n\n" % (name, _comment(": " + text if text else ""), _MARK))
    if writer.has_lap:
        parts.append(writer.lap_function() + "\n")
    parts.append(pointwise.replace("}\n/*", "}\n\n/*") + "\n")
    listed = name.upper() + "_POINTS"
    parts.append("#define %s(X) \\\n    %s\n\n%s(%s)\n\n#ifdef STRAKE_HOST\n\n"
                 % (listed, " \\\n    ".join(writer.rows),
                    "STRAKE_POINTS_WITH_DOUBT" if writer.is_doubted else "STRAKE_POINTS", listed))
    both = list(states) + list(statics)
    parts.append("enum { %s, FIELDS, STATES = %d };\n\n" % (", ".join("FIELD_" + n for n in both), len(states)))
    if numbers:
        parts.append("static const strake_key keys[] = {\n%s};\n\n" % "".join(
            "    {\"parameters.%s\", STRAKE_KEY_REAL, NULL, %s, -INFINITY, INFINITY, false, %s, %s},\n"
            % (n, _number(d.default), _quoted(d.unit), _quoted(d.text)) for n, d in numbers.items()))
    rows = []
    for n in both:
        d = states.get(n) or statics[n]
        rows.append("    [FIELD_%s] = {\"%s\", STRAKE_CELL,%s%s .unit = %s, .text = %s},\n"
                    % (n, n, " .is_state = true," if n in states else "",
                       " .required = true," if d.default is None else " .fallback = %s," % _number(d.default),
                       _quoted(d.unit), _quoted(d.text)))
    parts.append("static const strake_field fields[] = {\n%s};\n\n" % "".join(rows))

    parts.append("static strake_read at(int value, int i, int m, int j)\n{\n"
                 "    return (strake_read){value, {i, m, j}};\n}\n\n")
    parts.append("static strake_status build(const strake_case *which, const bool *constant, const double *number,\n"
                 "                           strake_graph *g, strake_error *error)\n{\n"
                 "    (void)constant;\n    (void)number;\n")
    for n in numbers:
        if n in used | hosted:
            parts.append("    const double value_%s = strake_case_value(which, \"parameters.%s\");\n" % (n, n))
    parts.append("    strake_graph_begin(g, which->precision);\n")
    for n in both:
        if n in states:
            parts.append("    const int v_%s = strake_graph_input(g, \"%s\", false);\n" % (n, n))
        else:
            parts.append("    const int v_%s = constant[FIELD_%s] ? strake_graph_constant(g, \"%s\", number[FIELD_%s])\n"
                         "        : strake_graph_input(g, \"%s\", true);\n" % (n, n, n, n, n))
    parts.append("    const int dt = strake_graph_constant(g, \"dt\", which->dt);\n")
    if is_midpoint:
        parts.append("    const int half_dt = strake_graph_constant(g, \"half_dt\", 0.5 * which->dt);\n")
    for n in numbers:
        if n in used:
            parts.append("    const int p_%s = strake_graph_constant(g, \"p_%s\", value_%s);\n" % (n, n, n))
    read = {operand[1] for _, _, _, reads in order for operand in reads if operand[0] == "val"}
    for n in statics:
        if n not in read:
            parts.append("    (void)v_%s; /* no expression has it */\n" % n)
    for tree, short in writer.hosts.items():
        parts.append("    const int %s = strake_graph_constant(g, \"%s\", %s);\n"
                     % (short, short, _bare(_host_text(tree))))
    for operand in sorted(writer.coefficients):
        short = writer.operand_name(operand)
        d = "which->spacing[%d]" % operand[1]
        parts.append("    const int %s = strake_graph_constant(g, \"%s\", %s);\n"
                     % (short, short, "1.0 / (%s * %s)" % (d, d) if operand[0] == "coef" else "0.5 / " + d))
    parts.extend(build_lines)
    parts.append("    return strake_graph_finish(g, error);\n}\n\n")

    if limit is not None:
        axes = _AXES[dims]
        least = "which->spacing[%d]" % axes[0]
        for axis in axes[1:]:
            least = "fmin(%s, which->spacing[%d])" % (least, axis)
        lines = "".join("    const double value_%s = strake_case_value(which, \"parameters.%s\");\n" % (n, n)
                        for n in numbers if n in _used_parameters(limit))
        parts.append(
            "/* The bound follows from the case alone: nothing of its fields is looked at. */\n"
            "static void survey(const strake_case *which, const strake_layout *l, strake_range slabs,\n"
            "                   void *const *array,"
            " const double *number, strake_extreme *extreme)\n{\n"
            "    (void)which;\n    (void)l;\n    (void)slabs;\n    (void)array;\n    (void)number;\n    (void)extreme;\n"
            "}\n\n"
            "static strake_status judge(const strake_case *which, const strake_extreme *extreme,\n"
            "                           strake_error *error)\n{\n"
            "    const double value_spacing = %s;\n%s    const double most = %s;\n"
            "    (void)value_spacing;\n    (void)extreme;\n"
            "    return which->dt <= most * (1.0 + 1e-9)\n               ? STRAKE_OK\n"
            "               : strake_fail(error, STRAKE_ERR_USAGE,\n"
            "                             \"%%s: time.dt: %%.9g is unstable; at most %%.9g s is stable\", which->file,\n"
            "                             which->dt, most);\n}\n\n" % (least, lines, _bare(_host_text(limit))))

    parts.append("static const strake_quantity quantities[] = {\n%s};\n\n" % "".join(
        "    {\"mean_%s\", %s, %s},\n" % (n, _quoted(d.unit), _quoted("mean: " + d.text)) for n, d in states.items()))
    parts.append(
        "static strake_status evaluate(const strake_snapshot *s, double *out, strake_error *error)\n{\n"
        "    const strake_layout *const l = s->layout;\n    strake_piece room;\n    (void)error;\n"
        "    for (int f = 0; f < STATES; f++) {\n        strake_sum sum = {0};\n"
        "        for (int64_t i = 0; i < l->n[0]; i++) {\n            for (int64_t m = 0; m < l->n[1]; m++) {\n"
        "                for (int64_t j = 0; j < l->n[2]; j += STRAKE_PIECE) {\n"
        "                    const int64_t count = l->n[2] - j < STRAKE_PIECE ? l->n[2] - j : STRAKE_PIECE;\n"
        "                    const double *const x =\n"
        "                        strake_piece_of(l, s->array[f], s->number[f], i, m, j, count, room);\n"
        "                    for (int64_t k = 0; k < count; k++) {\n"
        "                        strake_sum_add(&sum, x[k]);\n                    }\n"
        "                }\n            }\n        }\n"
        "        out[f] = strake_sum_total(&sum) / ((double)l->n[0] * (double)l->n[1] * (double)l->n[2]);\n"
        "    }\n    return STRAKE_OK;\n}\n\n")

    dt = 0.01
    if limit is not None:
        try:
            found = 0.5 * _evaluate(limit, dict({n: d.default for n, d in numbers.items()}, spacing=1.0))
            dt = float("%.2g" % found) if 0 < found < math.inf else dt
        except (ArithmeticError, ValueError):
            pass
    example = ["grid: {%s}" % ", ".join("%s: %d" % (axis, _EXTENT[dims]) for axis in _LENGTHS[dims]),
               "time: {dt: %r, steps: 100}" % dt, "fields:"]
    if boundaries[0] != "periodic":
        example.insert(2, "boundary: {%s}" % ", ".join("%s: %s" % (axis, boundaries[0]) for axis in _LENGTHS[dims]))
    example += ["  %s: {random: {seed: %d, minimum: 0, maximum: 1}}" % (n, k + 1) for k, n in enumerate(states)]
    parts.append("STRAKE_PROBLEM(%s) = {\n    .name = \"%s\",\n    .text = %s,\n    .dims = %d,\n"
                 % (name, name, _quoted(text or "; ".join("d%s/dt = %s" % (n, given["rates"][n]) for n in states)), dims))
    if numbers:
        parts.append("    .keys = sizeof keys / sizeof keys[0],\n    .key = keys,\n")
    parts.append("    .fields = FIELDS,\n    .field = fields,\n    .boundaries = %s,\n    .dt_required = true,\n"
                 "    .cl_source = __FILE__,\n    .example = %s,\n    .build = build,\n%s"
                 "    .quantities = STATES,\n    .quantity = quantities,\n    .evaluate = evaluate,\n};\n#endif\n"
                 % (" | ".join("1U << " + _BOUNDARIES[kind] for kind in dict.fromkeys(boundaries)),
                    "\n               ".join('"%s\\n"' % line for line in example),
                    "    .survey = survey,\n    .judge = judge,\n" if limit is not None else ""))
    return "".join(parts)


def _cache():
    """The user's cache, where the library puts what it builds."""
    own = os.environ.get("STRAKE_CACHE_DIR")
    if own:
        return own
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return os.path.join(base, "strake")
    home = os.environ.get("HOME", "")
    return os.path.join(home, ".cache", "strake") if home.startswith("/") else None


_MARK = "made by strake.problem()"


def _put(name, source, folder):
    """Writes the file, unless it is there. In the cache each text has a file of its own, so that cells of a notebook that
    still have the problem as it was keep it."""
    if folder is None:
        cache = _cache()
        if cache is None:
            raise UsageError("problem %s: its file goes into the user's cache, and there is none: set STRAKE_CACHE_DIR or "
                             "HOME, or give folder" % name)
        folder = os.path.join(cache, "python")
        file_name = "%s-%s.c" % (name, hashlib.sha256(source.encode()).hexdigest()[:16])
        os.makedirs(cache, 0o700, exist_ok=True)
    else:
        folder = os.fsdecode(folder)
        file_name = name + ".c"
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.abspath(os.path.join(folder, file_name))
    try:
        with open(path, encoding="utf-8") as file:
            old = file.read()
    except FileNotFoundError:
        old = None
    if old == source:
        return path
    if old is not None and _MARK not in old:
        raise UsageError("problem %s: %s is there already, and strake.problem() did not make it; give another name or "
                         "folder" % (name, path))
    handle, other = tempfile.mkstemp(dir=folder, suffix=".part")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(source)
    os.replace(other, path)
    return path


def _is_built(path, dims):
    """Whether the library has this file built, as it is: it reads a case of it."""
    case = {"problem": {"file": path}, "grid": {axis: 16 for axis in _LENGTHS[dims]}, "time": {"dt": 1, "steps": 0}}
    pointer = ctypes.c_void_p()
    try:
        call(lib.strake_case_parse, b"case", json.dumps(case, ensure_ascii=False).encode(),
             (ctypes.c_char_p * 1)(None), True, ctypes.byref(pointer))
    except Error:
        return False
    lib.strake_case_close(ctypes.byref(pointer))
    return True
