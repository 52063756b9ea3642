"""The C library: where it lies, its functions as strake.h declares them, its errors as exceptions."""

from __future__ import annotations

import ctypes
import os
from typing import Any, List, Tuple


class Error(Exception):
    """Strake says what is wrong, where, what it expected and what to do."""


class UsageError(Error, ValueError):
    """Bad usage, case or argument."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class OutOfMemoryError(Error, MemoryError):
    """Out of host memory."""


class DeviceError(Error):
    """An OpenCL device or its driver failed."""


class NumericError(Error, ArithmeticError):
    """NaN or Inf appeared; the message has step and cell."""


class StateError(Error):
    """A call that is not allowed in this state of the solver."""


class Stopped(Error):
    """Solver.stop() ended a step early; the states are those of Solver.step_count."""


class WentBack(Error):
    """A device was lost with states that were not read yet: they are those of Solver.step_count again, which is an
    earlier step. Solver.step() goes on from there, without the device, to the same results; then they can be read."""


# In the order of STRAKE_STATUS_LIST; 0 is "done", 7 belongs to MPI, which the package does not start.
_EXCEPTIONS = (None, UsageError, FileError, OutOfMemoryError, DeviceError, NumericError, StateError, Error, Stopped,
               WentBack)


class ErrorText(ctypes.Structure):
    """strake_error"""

    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1536)]

    def exception(self) -> Error:
        kind = _EXCEPTIONS[self.status] if 0 < self.status < len(_EXCEPTIONS) else None
        return (kind or Error)(self.text.decode("utf-8", "replace"))


NOTICE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class Options(ctypes.Structure):
    """strake_options"""

    _fields_ = [("where", ctypes.c_char_p), ("split", ctypes.c_char_p), ("threads", ctypes.c_int),
                ("cache", ctypes.c_char_p), ("notice", NOTICE), ("user", ctypes.c_void_p),
                ("compiling", ctypes.c_void_p), ("progress", ctypes.c_void_p)]


class Place(ctypes.Structure):
    """strake_place"""

    _fields_ = [("data", ctypes.c_void_p), ("dims", ctypes.c_int), ("shape", ctypes.c_int64 * 3),
                ("stride", ctypes.c_int64 * 3)]


def _find() -> str:
    """$STRAKE_LIBRARY; else what came with the package; else what `make` left, where this is the source tree;
    else what `make install` installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(here, "..", "..", "..", "build", "libstrake.so")
    places = [os.environ.get("STRAKE_LIBRARY"), os.path.join(here, "libstrake.so"), os.path.normpath(built)]
    for place in places:
        if place and (place == places[0] or os.path.exists(place)):
            return place
    return "libstrake.so.0"


def _load() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(place)  # lets go of the interpreter's lock in every call
    except OSError as reason:
        raise ImportError("cannot load Strake's library %s: %s; `pip install ./host/python` builds it, and "
                          "STRAKE_LIBRARY names one" % (place, reason)) from None


place = _find()
lib = _load()

_pointer = ctypes.c_void_p
_text = ctypes.c_char_p
_error = ctypes.POINTER(ErrorText)
_out = ctypes.POINTER(_pointer)
_real = ctypes.POINTER(ctypes.c_double)
_status = ctypes.c_int

# name: result, arguments; as in strake.h.
_FUNCTIONS = {
    "strake_version": (_text, []),
    "strake_case_open_partial": (_status, [_text, _pointer, _out, _error]),
    "strake_case_parse": (_status, [_text, _text, _pointer, ctypes.c_bool, _out, _error]),
    "strake_problem_build": (_status, [_text, NOTICE, _pointer, _error]),
    "strake_case_text": (_status, [_pointer, _out, _error]),
    "strake_case_close": (None, [_out]),
    "strake_text_close": (None, [_out]),
    "strake_open": (_status, [_pointer, ctypes.POINTER(Options), _out, _error]),
    "strake_close": (None, [_out]),
    "strake_set_field": (_status, [_pointer, _text, _pointer, _error]),
    "strake_lend_field": (_status, [_pointer, _text, ctypes.POINTER(Place), _error]),
    "strake_return_field": (_status, [_pointer, _text, _error]),
    "strake_get_field": (_status, [_pointer, _text, _pointer, _error]),
    "strake_field_count": (ctypes.c_int, [_pointer]),
    "strake_field_name": (_text, [_pointer, ctypes.c_int]),
    "strake_field_kind": (_status, [_pointer, _text, ctypes.POINTER(ctypes.c_int), _error]),
    "strake_field_shape": (_status, [_pointer, _text, ctypes.POINTER(ctypes.c_int),
                                     ctypes.POINTER(ctypes.c_int64), _error]),
    "strake_quantity_count": (ctypes.c_int, [_pointer]),
    "strake_quantity_name": (_text, [_pointer, ctypes.c_int]),
    "strake_get_quantities": (_status, [_pointer, _real, _error]),
    "strake_field_statistics": (_status, [_pointer, _text, _real, _real, _real, _error]),
    "strake_step": (_status, [_pointer, ctypes.c_int64, _error]),
    "strake_advance": (_status, [_pointer, ctypes.c_double, ctypes.c_int64, _error]),
    "strake_stop": (None, [_pointer, ctypes.c_bool]),
    "strake_step_count": (ctypes.c_int64, [_pointer]),
    "strake_time": (ctypes.c_double, [_pointer]),
    "strake_element_size": (ctypes.c_size_t, [_pointer]),
    "strake_checkpoint_save": (_status, [_pointer, _text, _error]),
    "strake_checkpoint_load": (_status, [_pointer, _text, _error]),
    "strake_report": (_status, [_pointer, _out, _error]),
    "strake_devices": (_status, [_text, _out, _error]),
}

for _name, (_result, _arguments) in _FUNCTIONS.items():
    try:
        _function = getattr(lib, _name)
    except AttributeError:
        raise ImportError("%s has no %s: it is the library of another version of Strake" % (place, _name)) from None
    _function.restype = _result
    _function.argtypes = _arguments


def version() -> str:
    """Version of the library that is loaded."""
    return str(lib.strake_version().decode())


def call(function: Any, *arguments: Any) -> None:
    """Calls a function with room for an error behind its arguments; raises what it says."""
    error = ErrorText()
    if function(*arguments, ctypes.byref(error)) != 0:
        raise error.exception()


def take_text(function: Any, *arguments: Any) -> str:
    """The text that a function makes, which is freed."""
    pointer = _pointer()
    call(function, *arguments, ctypes.byref(pointer))
    try:
        return ctypes.string_at(pointer.value or 0).decode("utf-8")
    finally:
        lib.strake_text_close(ctypes.byref(pointer))
