#!/bin/bash
# Usage: bash tests/main_job.sh BUILD
# `make run`: the main job where it is fastest, then again forced onto the CPU and an OpenCL device
# together, and the two outputs compared bit by bit.
set -u

build=$1
strake=$build/strake
case_file=data/cases/rotating-cone.yaml
out=$build/run
rm -rf "$out"
mkdir -p "$out"

job() { # NAME WHERE
    echo
    echo "== $case_file, --on $2"
    "$strake" run "$case_file" --on "$2" --output "$out/$1" --report "$out/$1.json"
}

# The number after "KEY": at the top level of a report (two spaces of indent).
top_level() { # FILE KEY
    sed -n "s/^  \"$2\": *\([-+.0-9eE]*\).*/\1/p" "$1" | head -n 1
}

report() { # NAME TEXT
    awk -v text="$2" -v seconds="$(top_level "$out/$1.json" seconds)" \
        -v rate="$(top_level "$out/$1.json" cells_per_second)" \
        'BEGIN { printf "%-22s %8.2f s  %9.1f Mcell/s\n", text, seconds, rate / 1e6 }'
}

job auto auto || exit 1

# What is wrong with a driver the run has said, and below `devices` says it.
if ! "$strake" devices --json 2>/dev/null | grep -q '"ocl:0"'; then
    echo
    echo "This machine has no OpenCL device, so the second run and the comparison were left out:"
    "$strake" devices
    echo
    report auto 'auto'
    exit 0
fi
job mixed cpu,ocl:0 || exit 1

echo
echo "== strake compare: the same bits?"
"$strake" compare "$out/auto" "$out/mixed"
same=$?

echo
echo "== summary"
report auto 'auto'
report mixed 'cpu,ocl:0 (forced)'
if [ "$same" -eq 0 ]; then
    echo "both outputs are the same, bit by bit"
else
    echo "the outputs DIFFER (or could not be compared): see above" >&2
fi
echo "outputs and reports: $out/"
exit "$same"
