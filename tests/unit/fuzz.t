#!/bin/bash
# What is read from files stands anything: the corpora of `make fuzz`, and copies of them with bytes changed or cut off.
build=${STRAKE_BUILD:-$(realpath build)}
seeds=$(mktemp -d "${TMPDIR:-/tmp}/strake-seeds.XXXXXX")
trap 'rm -rf "$seeds"' EXIT
echo 1..10
number=0
failed=0
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # modules
bash "$(dirname "$0")/../fuzz/seeds.sh" "${STRAKE:-$build/strake}" "$seeds" >/dev/null 2>&1
for target in case npy checkpoint tuned model asc stl vtk netcdf geotiff; do
    number=$((number + 1))
    copies=60
    module=libstrake-$(echo "$target" | sed 's/geotiff/gdal/').so
    case $target in
        netcdf | geotiff)
            if [ ! -e "$build/$module" ]; then
                echo "ok $number - fuzz_$target # SKIP built without $module"
                continue
            fi
            ;;
    esac
    said=$(timeout 600 "$build/tests/fuzz_$target" $copies "$seeds/$target"/* 2>&1)
    code=$?
    if [ $code -eq 0 ] && [ "$(find "$seeds/$target" -type f | wc -l)" -gt 0 ]; then
        echo "ok $number - fuzz_$target: ${said##*$'\n'}"
    else
        echo "# ${said:0:2000}" | tr '\n' ' '
        echo
        echo "not ok $number - fuzz_$target (exit status $code)"
        failed=1
    fi
done
exit $failed
