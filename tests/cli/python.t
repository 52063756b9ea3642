#!/bin/bash
# The Python package: its wheel, the bits of the program, exceptions, signals, threads (tests/support/python_package.py).
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${STRAKE_BUILD:-build}")
. "$top/tests/cli/tap.bash"
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$(command -v "$candidate")
done
if [ -z "$python" ] || [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "the Python package" "no Python 3 with NumPy (python3-numpy), or a sanitizer"
    done_testing
fi

# Every function of the header that takes a solver or a case is declared with as many arguments.
cat >declared.py <<'PY'
import re
import sys

header, library, fortran = (open(path).read() for path in sys.argv[1:])
header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
header = re.sub(r"\(\*(\w+)\)\([^()]*\)", r"\1", header)  # a function that is called back is one argument
prototypes = {name: arguments.count(",") + (arguments.strip() != "void")
              for name, arguments in re.findall(r"^\S[^#\n;{}]*?\b(strake_\w+)\(([^;{}]*)\);", header, flags=re.M)}
declared = {name: 0 if not arguments.strip() else arguments.count(",") + 1
            for name, arguments in re.findall(r'"(strake_\w+)": \([^,\[]*, \[(.*?)\]\)', library, flags=re.S)}
unknown = {"strake_status_text", "strake_case_open", "strake_set_slabs", "strake_get_slabs"}  # which it does without
assert len(declared) > 15, declared
wrong = [n for n in sorted(prototypes) if n not in unknown and
         declared.get(n) != prototypes[n] - ("POINTER(Options)" in n)]
statuses = re.findall(r"^\s+X\((\w+),", header, flags=re.M)
exceptions = re.search(r"_EXCEPTIONS = \((.*?)\)", library, flags=re.S).group(1).split(",")
codes = re.findall(r"STRAKE_(\w+) = (\d+)", re.search(r"codes of strake_status\.(.*?)!>", fortran, flags=re.S).group(1))
assert len(statuses) > 8 and len(exceptions) == len(statuses), (statuses, exceptions)
assert codes == [(name, str(k)) for k, name in enumerate(statuses)], codes
sys.exit("strake.h and _library.py differ in " + ", ".join(wrong) if wrong or set(declared) - set(prototypes) else 0)
PY
"$python" declared.py "$top/src/strake.h" "$top/host/python/strake/_library.py" "$top/host/fortran/strake.f90" >.out 2>.err
report $? "the package declares the functions of strake.h, and it and the Fortran module all codes"
sed 's/^int64_t strake_step_count(/int64_t strake_step_count(int more, /' "$top/src/strake.h" >more.h
"$python" declared.py more.h "$top/host/python/strake/_library.py" "$top/host/fortran/strake.f90" >.out 2>.err
[ $? -ne 0 ] && grep -q 'differ in strake_step_count$' .err
report $? "and would be found out if it did not"

# What pip does to make a wheel, with the library that is tested and what lies beside it.
mkdir made
cp -L "$build/libstrake.so" "$build/strake" "$build/strake-driver" made
cp "$build/strake-driver" made/libstrake-other.so
export STRAKE_LIBRARY=$scratch/made/libstrake.so
"$python" "$top/host/python/backend/strake_wheel.py" . >.out 2>.err
report $? "a wheel is made without any other package"
wheel=$(tail -n 1 .out)
code=0
"$python" -m zipfile -l "$wheel" >.out 2>.err || code=$?
prints "with the library, its modules, the program and the licence" strake/libstrake.so strake/libstrake-other.so \
    strake/strake strake/_solver.py data/scripts/strake dist-info/LICENSE dist-info/RECORD
check "without what only debuggers read" test "$(wc -c <"$wheel")" -lt $(($(cat made/libstrake.so made/strake | wc -c) / 3))
"$python" - "$wheel" >.out 2>.err <<'PY'
import base64, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
lines = wheel.read([n for n in wheel.namelist() if n.endswith("RECORD")][0]).decode().split()
for name, digest, size in (line.split(",") for line in lines):
    data = wheel.read(name)
    known = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert name.endswith("RECORD") or (digest, int(size)) == (known, len(data)), name
assert len(lines) == len(wheel.namelist())
PY
report $? "whose record is right"
# NumPy comes from the Python that the environment was made with.
if "$python" -m pip --version >/dev/null 2>&1 && "$python" -m venv --without-pip --system-site-packages venv 2>/dev/null &&
    venv/bin/python -c 'import numpy, pip' 2>/dev/null; then
    python=$scratch/venv/bin/python
    "$python" -m pip install --no-index --no-deps --no-cache-dir "$top/host/python" >.out 2>.err
    report $? "pip installs the package from its folder"
    unset STRAKE_LIBRARY
    code=0
    (cd / && PATH=/bin "$scratch/venv/bin/strake" run "$scratch/case.yaml" --on cpu --output "$scratch/command" --quiet) >.out 2>.err || code=$?
    exits 0 "with the command, which runs a case with what the package has"
    "$STRAKE" run case.yaml --on cpu --quiet --output own
    check "to the program's results" "$STRAKE" compare command own
else
    skip "pip installs the package from its folder" "no pip or venv here"
    "$python" -m zipfile -e "$wheel" installed
    chmod +x installed/strake/strake installed/strake/strake-driver
    export PYTHONPATH=$scratch/installed
    unset STRAKE_LIBRARY
fi
version=$("$STRAKE" --version | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
if "$python" -m mypy --version >/dev/null 2>&1; then
    code=0
    (cd "$scratch" && "$python" -m mypy --strict "$top/data/examples/python-problem/patterns.py") >.out 2>.err || code=$?
    exits 0 "mypy --strict knows the types of what a script calls"
else
    skip "mypy --strict knows the types of what a script calls" "no mypy here (PyPI)"
fi
[ "$("$python" -c 'import strake; print(strake.__version__)' 2>&1)" = "$version" ]
report $? "it has the program's version ($version)"
(cd / && "$python" -c "
import strake
result = strake.scan('$scratch/case.yaml', {'scheme.iterations': [1, 2]})
print(strake._scan.program(), result['psi'].shape)") >.out 2>.err
prints "and makes the runs of a scan with the program that it has" /strake/strake "(2, 61, 97)"

try run case.yaml --on cpu --quiet
cp out/psi_*20.npy psi.npy
try run case.yaml --on cpu --quiet --steps 10 --set checkpoint.every=10
cp out/checkpoint.strake .
"$STRAKE" devices --json >devices.json 2>/dev/null
checked_by "$python" "$top/tests/support/python_package.py" "$scratch"

STRAKE_LIBRARY=$scratch/none/libstrake.so "$python" -c 'import strake' >.out 2>.err
code=$?
grep -qF 'cannot load Strake' .err && grep -qF "$scratch/none/libstrake.so" .err && [ $code -ne 0 ]
report $? "a library that is not there is named"
done_testing
