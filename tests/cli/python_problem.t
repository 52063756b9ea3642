#!/bin/bash
# Problems that are made from Python: their equations against NumPy, their bytes on every device, mistakes; and the example.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$(command -v "$candidate")
done
if [ -z "$python" ] || ! "${CC:-cc}" --version >/dev/null 2>&1 || [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "problems from Python" "no Python 3 with NumPy (python3-numpy), no C compiler, or a sanitizer"
    done_testing
fi
export STRAKE_LIBRARY=$(dirname "$STRAKE")/libstrake.so PYTHONPATH=$top/host/python PYTHONDONTWRITEBYTECODE=1
export STRAKE_CACHE_DIR=$scratch/cache
mkdir made
cp "$top/data/examples/problems/heat.c" .
checked_by "$python" "$top/tests/support/python_problem.py" "$scratch/made" "$scratch/heat.c"

# What Python made is a problem in a file like any other.
try problem check made/gray_scott_py.c --on cpu
exits 0 "the program explains a file that Python made"
prints "its operations are counted" "gray_scott_py_step_u_" "parameters.F [1/s]: feed" "at most"
"$STRAKE" new made/gray_scott_py.c >made.yaml 2>.err
try run made.yaml --on cpu --quiet
exits 0 "and runs its example"

cp -r "$top/data/examples/python-problem" .
mkdir bin && ln -s "$STRAKE" bin/strake
code=0
(cd python-problem && rm -f picture.png && PATH=$scratch/bin:$PATH "$python" pattern.py cpu 500) >.out 2>.err || code=$?
if [ -e "$(dirname "$STRAKE")/libstrake-cairo.so" ] || "$python" -c 'import matplotlib' 2>/dev/null; then
    exits 0 "the example runs"
    check "and makes its picture" test -s python-problem/pattern.png
fi
prints "whose spots grow" "step 500: mean v 0.0"
done_testing
