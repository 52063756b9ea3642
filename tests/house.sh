#!/bin/bash
# Usage: [CLEAN=1] bash tests/house.sh BUILD
# Prints how large the product is, each figure beside the limit that it shall keep: lines, exported functions, function
# pointers in tables, folders, files, the installed library, and processor seconds of a clean build. These are those of
# the last clean build that was measured (BUILD/house-seconds); CLEAN=1 does one now, in BUILD/house, without ccache.
# A figure that is over its limit is marked; exit 0 all the same, 1 where a figure cannot be had.
set -eu
cd "$(dirname "$0")/.."
build=$1
status=0

# figure WHAT VALUE LIMIT [UNIT]
figure() {
    local mark=
    if [ -z "$2" ] || [ "$2" = 0 ]; then
        mark='  NOT FOUND' status=1
    elif [ "$2" -gt "$3" ]; then
        mark="  over by $(($2 - $3))"
    fi
    printf 'house: %-52s %9s of at most %9d%s%s\n' "$1" "${2:-?}" "$3" "${4:+ $4}" "$mark"
}

figure 'lines of the product' "$(find src host autotune cl Makefile -type f \( -name '*.[ch]' -o -name '*.cl' -o -name '*.inc' \
    -o -name '*.py' -o -name '*.sh' -o -name Makefile \) -exec cat {} + | wc -l)" 100000

# Row loops, expanded for each precision and instruction set, are one thing however many there are.
figure 'exported functions' "$(nm --defined-only --extern-only "$build/libstrake.a" "$build/obj/tuner.a" 2>/dev/null |
    awk '$2 == "T" && $3 !~ /_f(32|64)_(scalar|base|avx2|avx512)$/ { print $3 }' | sort -u | wc -l)" 1200

# pointers STRUCT: pointers to functions among the members of a struct, wherever it is declared.
pointers() {
    find src host -name '*.h' -exec awk -v name="$1" '
        FNR == 1 { inside = 0 }
        $0 ~ "^(typedef )?struct " name " \\{" { inside = 1 }
        inside { gsub(/\/\*.*\*\//, ""); count += gsub(/\(\*/, "") }
        inside && /^\}/ { inside = 0 }
        END { print count + 0 }' {} + | awk '{ sum += $1 } END { print sum + 0 }'
}
sum=0
each=
for table in strake_part_ops strake_domain_ops strake_domain_kind strake_problem strake_sph_ops; do
    count=$(pointers $table)
    sum=$((sum + count))
    each+="${each:+, }$count in ${table#strake_}"
done
figure 'function pointers in tables' "$sum" 85
echo "house:   of them $each"

figure 'folders in host, without python and fortran' "$(find host -mindepth 1 -maxdepth 1 -type d \
    ! -name python ! -name fortran ! -name __pycache__ | wc -l)" 12
figure 'files in host' "$(find host -type f ! -path '*/__pycache__/*' | wc -l)" 320

library=$(find "$build" -maxdepth 1 -type f -name 'libstrake.so.*' | head -n 1)
bytes=
if [ -n "$library" ]; then
    stripped=$(mktemp)
    trap 'rm -f "$stripped"' EXIT
    strip --strip-unneeded -o "$stripped" "$library"
    bytes=$(wc -c <"$stripped")
fi
figure 'shared library as installed' "$bytes" 9000000 bytes

if [ -n "${CLEAN:-}" ]; then
    rm -rf "$build/house"
    TIMEFORMAT='%U %S'
    { time CCACHE_DISABLE=1 make --no-print-directory -j"$(nproc)" BUILD="$build/house" all >"$build/house.log" 2>&1; } \
        2>"$build/house-seconds.new" || { tail -n 5 "$build/house.log" >&2 && exit 1; }
    awk '{ printf "%.0f\n", $1 + $2 }' "$build/house-seconds.new" >"$build/house-seconds"
    rm -rf "$build/house" "$build/house-seconds.new"
fi
if [ -s "$build/house-seconds" ]; then
    figure 'clean build, seconds of processor time' "$(cat "$build/house-seconds")" 200
else
    echo 'house: clean build: not measured here (CLEAN=1 measures one)'
fi
exit $status
