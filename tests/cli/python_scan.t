#!/bin/bash
# Scans from Python: their runs beside lone ones, values, failures, folders, mistakes, ends (tests/support/python_scan.py); and
# the example.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$(command -v "$candidate")
done
if [ -z "$python" ] || [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "scans from Python" "no Python 3 with NumPy (python3-numpy), or a sanitizer"
    done_testing
fi
export STRAKE_LIBRARY=$(dirname "$STRAKE")/libstrake.so PYTHONPATH=$top/host/python PYTHONDONTWRITEBYTECODE=1
mkdir made
checked_by "$python" "$top/tests/support/python_scan.py" "$scratch/made" "$STRAKE"

if "${CC:-cc}" --version >/dev/null 2>&1; then
    cp -r "$top/data/examples/python-problem" .
    mkdir bin && ln -s "$STRAKE" bin/strake
    code=0
    (cd python-problem && STRAKE_CACHE_DIR=$scratch/cache PATH=$scratch/bin:$PATH "$python" patterns.py cpu 200) >.out 2>.err || code=$?
    [ ! -e "$(dirname "$STRAKE")/libstrake-cairo.so" ] || exits 0 "the example runs"
    prints "with an array of its runs" "<strake.Scan of 36 runs, 0 failed: v 36 x 64 x 64>"
    check "of which it makes one" test -s python-problem/patterns.npy
else
    skip "the example runs" "no C compiler"
fi
done_testing
