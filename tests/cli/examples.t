#!/bin/bash
# The examples of data/examples that are cases with scripts run as their pages say; the models are in models.t.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"
mkdir bin && ln -s "$STRAKE" bin/strake
# Not a link: a Python of a virtual environment would not know its packages.
for python in /usr/bin/python3 "$(command -v python3)"; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        printf '#!/bin/sh\nexec %s "$@"\n' "$python" >bin/python3 && chmod +x bin/python3
    fi
done
export PATH=$scratch/bin:$PATH
cp -r "$top/data/examples" .
run_example() { # run_example FOLDER OPTION...: its script
    local folder=$1
    shift
    code=0
    (cd "examples/$folder" && sh run.sh "$@") >.out 2>.err </dev/null || code=$?
    exits 0 "$folder runs"
    if [ -e "$(dirname "$STRAKE")/libstrake-cairo.so" ]; then
        check "and makes its picture" test "examples/$folder/case.yaml" -ot "$(ls -t examples/"$folder"/*.png | head -n 1)"
    else
        check "and says what its picture needs" grep -q libcairo .err
    fi
}
folders=$(cd examples && printf '%s\n' */ | tr -d /)
formats=()
[ ! -e "$(dirname "$STRAKE")/libstrake-netcdf.so" ] || formats=(--set 'output.formats=[npy, netcdf, vtk]')
missing=
for folder in $folders; do
    grep -qF "($folder/" examples/README.md || grep -qF "\`$folder\`" examples/README.md || missing="$missing $folder"
    case $folder in pictures | problems | python-problem) continue ;; esac # problems: python_problem.t
    [ -e "examples/$folder/run.sh" ] || [ -e "examples/$folder/model.py" ] || missing="$missing $folder/run.sh"
    "$STRAKE" check "examples/$folder/case.yaml" --on serial >/dev/null 2>.err || grep -qE 'fields\.|file' .err || missing="$missing $folder/case.yaml"
done
check "the tutorial names every example, which has a case and a script$missing" test -z "$missing"

if [ -e bin/python3 ]; then
    run_example deformation --on cpu "${formats[@]}"
    prints "nothing of the tracer is lost, and no new extremes appear" "mass: 1.000000000000 of what it was" \
        "psi from 0.000000 to 0.9"
    check "it leaves seven outputs and a page" sh -c '[ "$(ls "$0"/out/psi_*.npy | wc -l)" -eq 7 ] && [ -s "$0/page.html" ]' examples/deformation
else
    skip "deformation runs" "no NumPy"
fi
run_example restart "${formats[@]}"
prints "the rest of a run from its checkpoint has the bytes of the whole" "$([ ${#formats[@]} -eq 0 ] && echo 5 of 5 || echo 11 of 11) files are equal"
run_example scan "${formats[@]}"
prints "the table is complete at once, and found so" "scan.csv: 8 runs, 0 failed" "scan.csv is complete already"
prints "a better scheme leaves more" "1 iterations, nonoscillatory true : 0.95 of 4 are left" "3 iterations, nonoscillatory true : 3.32 of 4"
check "with outputs of every run" test "$(ls -d examples/scan/runs/* | wc -l)" -eq 8
run_example lava --on cpu "${formats[@]}"
prints "no lava is lost, and what its case says is drawn" "imbalance" "picture.png: thickness: of the fluid lava"
lacks "whose ground is read from the case's grid" 'note:' .err
check "the place of its outputs is that of the terrain" test -e examples/lava/out/thickness_00001450.npy
run_example hazard "${formats[@]}"
prints "the flow that was mapped fits best" "36 runs, 0 failed" "e1 = 1.00: vent in row 33, 10 m3/s, 0.1  % of water"
check "maps of all runs are left" test -s examples/hazard/maps/arrival.npy
run_example quench-3d --steps 400 --set output.every=200 --set diagnostics.every=200 --on cpu "${formats[@]}"
check "the quench leaves a series for ParaView" grep -q 'timestep="4" part="0" file="fields_00000400.vti"' examples/quench-3d/out/fields.pvd
check "whose energy falls" awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "free_energy") at = k; next }
    NR > 2 && $at >= last { exit 1 } { last = $at } END { exit NR != 4 }' examples/quench-3d/out/diagnostics.csv
if [ ${#formats[@]} -gt 0 ]; then
    check "all leave NetCDF files where they are asked to" test "$(find examples -name '*.nc' | wc -l)" -eq 14
    if python3 -c 'import xarray, netCDF4' 2>/dev/null; then
        check "xarray opens them, with coordinates and times" python3 - $(find examples -name '*.nc') <<'PY'
import sys, xarray
for name in sys.argv[1:]:
    with xarray.open_dataset(name) as data:
        assert {"time", "x", "y"} <= set(data.coords) and str(data.time.dtype).startswith(("datetime64", "timedelta64", "float")), name
PY
    else
        skip "xarray opens them, with coordinates and times" "no xarray with netCDF4 here"
    fi
    name="they keep the CF conventions 1.8"
    if command -v compliance-checker >/dev/null; then
        find examples -name '*.nc' -exec compliance-checker --test=cf:1.8 {} + >.out 2>.err
        check "$name" test "$(grep -c 'All tests passed' .out)" -eq 14
    else
        skip "$name" "no compliance-checker here (PyPI)"
    fi
else
    skip "all leave NetCDF files where they are asked to" "built without libnetcdf"
fi
name="ParaView reads its state and makes a picture"
display=
[ -n "${DISPLAY:-}" ] || display="xvfb-run -a -w 30"
if command -v pvbatch >/dev/null && { [ -z "$display" ] || command -v xvfb-run >/dev/null; }; then
    (cd examples/quench-3d && timeout 120 $display pvbatch state.py state.png) >.out 2>.err
    if grep -q 'bad X server connection' .err; then
        skip "$name" "no screen to draw on"
    else
        check "$name" test -s examples/quench-3d/state.png
    fi
else
    skip "$name" "no ParaView here (python3-paraview), or no screen (xvfb)"
fi
done_testing
