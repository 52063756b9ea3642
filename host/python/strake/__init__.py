"""Strake: a hybrid OpenCL and OpenMP solver for grid problems, from Python.

    import strake

    case = strake.Case({"problem": "mpdata2d", "grid": {"rows": 64, "cols": 64}, "time": {"steps": 100}})
    with strake.Solver(case, on="auto") as s:
        s["psi"], s["u1"], s["u2"] = psi, u1, u2      # NumPy arrays
        s.step(10)
        psi = s["psi"]

Many runs of a case with other values are strake.scan(), whose results are arrays with a member for each run:

    result = strake.scan(case, {"scheme.iterations": [1, 2, 3]})
    psi, iterations = result["psi"], result.values["scheme.iterations"]      # shapes (3, 64, 64) and (3,)

Equations of one's own become such a problem by strake.problem(), C files by strake.build().
"""

from strake._library import (Error, DeviceError, FileError, NumericError, OutOfMemoryError, StateError, Stopped,
                             UsageError, WentBack, version)
from strake._problem import Problem, build, problem
from strake._scan import Scan, scan
from strake._solver import Case, Solver, Statistics, devices

__version__ = version()

__all__ = ["Case", "DeviceError", "Error", "FileError", "NumericError", "OutOfMemoryError", "Problem", "Scan",
           "Solver", "StateError", "Statistics", "Stopped", "UsageError", "WentBack", "build", "devices", "problem", "scan"]
