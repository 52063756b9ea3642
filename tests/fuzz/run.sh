#!/bin/bash
# Usage: bash tests/fuzz/run.sh PROGRAM BUILD SECONDS TARGET...
# Runs libFuzzer on every target for that long, from seeds made anew and from what earlier runs kept in
# BUILD/corpus/TARGET. Inputs that break something are kept in BUILD/found; exit status 1 if there is one.
set -u
program=$1 build=$2 seconds=$3
shift 3
seeds=$build/seeds
rm -rf "$seeds"
mkdir -p "$build/found"
bash "$(dirname "$0")/seeds.sh" "$program" "$seeds" || exit 1
failed=0
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # modules
for target in "$@"; do
    module=$build/libstrake-$(echo "$target" | sed 's/geotiff/gdal/').so
    options=()
    case $target in
        # Libraries ask for as much memory as a header says, and live without it where there is none.
        netcdf | geotiff)
            export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024
            options=(-malloc_limit_mb=100000000)
            [ -e "$module" ] || { echo "fuzz_$target: left out, because there is no $module"; continue; }
            ;;
        *) unset ASAN_OPTIONS ;;
    esac
    mkdir -p "$build/corpus/$target"
    log=$build/found/$target.log
    # Leaks are told at the end of a process; reading stops at 1 MiB, so inputs are small.
    if "$build/tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=131072 "${options[@]}" \
        -print_final_stats=1 -artifact_prefix="$build/found/$target-" "$build/corpus/$target" "$seeds/$target" >"$log" 2>&1; then
        echo "fuzz_$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, nothing found"
    else
        echo "fuzz_$target: found something: $(ls "$build/found/$target-"* 2>/dev/null | tail -1); see $log"
        tail -n 30 "$log"
        failed=1
    fi
done
exit $failed
