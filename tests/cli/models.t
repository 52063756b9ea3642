#!/bin/bash
# The example models in C, Fortran and Python, built with what is installed, give the same bytes.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"
built=$(dirname "$STRAKE")
if ! "${CC:-cc}" --version >/dev/null 2>&1 || ! command -v pkg-config >/dev/null || [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "the example models" "no compiler or no pkg-config, or a sanitizer"
    done_testing
fi
# The build that is tested is installed, not built again.
TUNE=no make -C "$top" --no-print-directory -o all install BUILD="$built" LDCONFIG=true DESTDIR= PREFIX="$scratch/prefix" \
    >.out 2>.err
report $? "Strake is installed"
sed "s,^prefix=.*,prefix=$scratch/prefix,; s,^libdir=.*,libdir=$scratch/prefix/lib," "$built/strake.pc" \
    >prefix/lib/pkgconfig/strake.pc
export PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig LD_LIBRARY_PATH=$scratch/prefix/lib
cp -r "$top"/data/examples/*-model .

said() { # said NAME: what a model prints
    grep -qE '^step +0: psi from 0\.000 to 1\.000, sum 235\.' .out && grep -qE '^step 800: psi from 0\.000 to 0\.[5-9]' .out &&
        [ "$(wc -l <.out)" -eq 3 ] && [ "$(sed 's/.*sum //' .out | cut -c 1-12 | sort -u | wc -l)" -eq 1 ]
    report $? "$1"
}

run_model() { # run_model FOLDER COMMAND...
    local folder=$1
    shift
    code=0
    (cd "$folder" && "$@") >.out 2>.err || code=$?
}

run_model c-model sh run.sh serial
exits 0 "the C model is built and runs"
said "its tracer comes back, and none is lost"
run_model c-model sh run.sh cpu
cp c-model/checkpoint.strake expected
run_model c-model sh run.sh nowhere
[ $code -ne 0 ] && grep -q '^model: .*nowhere' .err
report $? "and says what is wrong"

if command -v "${FC:-gfortran}" >/dev/null; then
    run_model fortran-model sh run.sh
    exits 0 "the Fortran model is built and runs"
    said "its tracer comes back, too"
    cmp fortran-model/checkpoint.strake expected >.out 2>.err
    report $? "to the same bytes"
    run_model fortran-model sh run.sh nowhere
    [ $code -ne 0 ] && grep -q '^strake: .*nowhere' .err
    report $? "it says what is wrong"
    cp "$top/tests/support/fortran_module.f90" .
    "${FC:-gfortran}" -std=f2018 -Wall -Wextra -Werror -Wno-compare-reals -fcheck=all -o checks prefix/include/strake.f90 \
        fortran_module.f90 -L"$scratch/prefix/lib" -lstrake >.out 2>.err
    report $? "the module is Fortran 2018, and checks of it are built"
    ./checks >lines 2>.err
    report $? "and run"
    while read -r line; do
        [ "${line%% - *}" = ok ]
        report $? "${line#* - }"
    done <lines
    [ "$(wc -l <lines)" -ge 8 ]
    report $? "all of them"
else
    skip "the Fortran model" "no gfortran"
fi

python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$(command -v "$candidate")
done
if [ -n "$python" ]; then
    export STRAKE_LIBRARY=$scratch/prefix/lib/libstrake.so PYTHONPATH=$top/host/python PYTHONDONTWRITEBYTECODE=1
    run_model python-model "$python" model.py
    exits 0 "the Python model runs"
    said "its tracer comes back"
    cmp python-model/checkpoint.strake expected >.out 2>.err
    report $? "to the same bytes as in C"
    mkdir -p absent/PyMPDATA
    echo 'raise ImportError("not here")' >absent/PyMPDATA/__init__.py
    code=0
    PYTHONPATH=$scratch/absent:$PYTHONPATH "$python" "$top/host/python/pympdata.py" >.out 2>.err || code=$?
    exits 0 "the example of PyMPDATA runs without PyMPDATA"
    prints "says so, and its times" "pip install PyMPDATA" "psi from 0.000006 to 0.643711, sum 36.19111285607" "512 x  512, Strake on"
    if "$python" -c 'import PyMPDATA' 2>/dev/null; then
        "$python" "$top/host/python/pympdata.py" >.out 2>.err
        report $? "and with it"
        awk '/largest difference/ { found = $NF < 1e-14 } END { exit !found }' .out
        report $? "which has the same result but for rounding"
    else
        skip "and with it" "no PyMPDATA (pip install PyMPDATA)"
    fi
else
    skip "the Python model" "no Python 3 with NumPy"
fi
try run c-model/case.yaml --set 'fields.u1={constant: 0.1}' --set 'fields.u2={constant: 0.1}' --steps 3 --quiet
exits 0 "the case runs with winds of its own, too"
done_testing
