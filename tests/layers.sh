#!/bin/bash
# Usage: bash tests/layers.sh
# Checks that dependencies point one way: cl <- src <- host <- autotune <- host/main <- {bench, tests}, and within
# host from each folder to those that stand before it in $order.
# Every #include "..." is looked up as the compiler would (own folder, src, host, top) and must land
# in the same folder or in one further left; headers that touch a machine stay in host and beyond.
set -u
cd "$(dirname "$0")/.." || exit 1

problems=0
files=0
complain() { # FILE LINE MESSAGE
    echo "$1:$2: $3"
    problems=$((problems + 1))
}

# The folders of host, each on those before it. Machines come first, then whoever computes slabs, when and on which
# rank; what is in a domain is known from grid on, so that a second kind of domain goes under the same teams.
order="files mpi cpu opencl cost run grid particles solver output view"

mapfile -t sources < <(find cl src host autotune bench tests data/tuned -name '*.[ch]' -o -name '*.cl' -o -name '*.inc' 2>/dev/null | sort)
files=${#sources[@]}
[ "$files" -eq 0 ] || while IFS=: read -r file line text; do
    complain "$file" "$line" "$text"
done < <(awk -v order="files mpi cpu opencl cost run grid particles solver output view" '
    function say(what) { print FILENAME ":" FNR ":" what }
    function top(file) { return substr(file, 1, index(file, "/") - 1) }
    function folder(file) { return file ~ /^host\// ? "host/" part(file, 2) : top(file) }
    function part(file, k, list) { split(file, list, "/"); return list[k] }
    # The program stands on the library and the tuner; -1: a folder of host that nobody has given a place.
    function rank(file) {
        if (file ~ /^(cl|data)\//) return 0
        if (file ~ /^src\//) return 1
        if (file ~ /^host\/program\//) return 201
        if (file ~ /^host\//) return part(file, 2) in place ? 100 + place[part(file, 2)] : -1
        return file ~ /^autotune\// ? 200 : 300
    }
    function quoted(name, list, k, found, own) {
        own = FILENAME
        sub(/[^\/]*$/, "", own)
        split(own " src/ host/ . tests/ tests/support/", list, " ")
        for (k = 1; k <= 6 && found == ""; k++) {
            sub(/^\.$/, "", list[k])
            if ((list[k] name) in known) found = list[k] name
        }
        if (found == "") {
            say("\"" name "\" is in no folder of this tree; use <...> for system headers")
        } else if (rank(FILENAME) < 0) {
            say(folder(FILENAME) " has no place among the folders of host: give it one in tests/layers.sh")
        } else if (rank(found) > rank(FILENAME)) {
            say(folder(FILENAME) " must not include " found ": it stands before " folder(found))
        } else if (rank(found) == 300 && top(found) != top(FILENAME)) {
            # bench and tests may not see each other.
            say(top(FILENAME) " and " top(found) " must not know each other (" found ")")
        }
    }
    function from_system(name) {
        if (FILENAME ~ /^cl\//) {
            say("files of cl/ are also OpenCL C and include no system header (<" name ">)")
        } else if (FILENAME ~ /^src\// && name ~ /^(CL\/.*|(omp|mpi|pthread|threads|dlfcn|sched|signal)\.h)$/) {
            say("<" name "> touches the machine; that belongs in host/")
        } else if (name == "mpi.h" && FILENAME !~ /^(host\/mpi\/mpi_|tests\/support\/.*_mpi\.c$)/) {
            say("only host/mpi/mpi_* knows MPI; use mpi/ranks.h")
        } else if (name == "netcdf.h" && FILENAME !~ /^host\/files\/netcdf_/) {
            say("only host/files/netcdf_* knows libnetcdf; use files/netcdf.h")
        } else if (name ~ /^cairo.*\.h$/ && FILENAME !~ /^host\/view\/cairo_/) {
            say("only host/view/cairo_* knows cairo; use view/plot.h")
        } else if (name ~ /^(gdal|cpl_.*|ogr_.*)\.h$/ && FILENAME !~ /^host\/files\/gdal_/) {
            say("only host/files/gdal_* knows GDAL; use files/gdal.h")
        }
    }
    BEGIN {
        for (k = split(order, list, " "); k > 0; k--) place[list[k]] = k
        for (k = 1; k < ARGC; k++) known[ARGV[k]] = 1
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ { split($0, cut, "\""); quoted(cut[2]) }
    /^[ \t]*#[ \t]*include[ \t]*</ { split($0, cut, /[<>]/); from_system(cut[2]) }
    FILENAME ~ /^src\// && (/^[ \t]*#[ \t]*pragma[ \t]+omp/ || /(^|[^A-Za-z0-9_])omp_[a-z_]+ *\(/) &&
        !/pragma[ \t]+omp[ \t]+simd/ { say("OpenMP other than omp simd belongs in host/") }
    # One home for time. Tests, stored results and a relay are programs of their own.
    FILENAME !~ /^(src\/base\/clock\.c$|tests\/|bench\/relay\.c$|bench\/results\/)/ &&
        /(^|[^A-Za-z0-9_])((clock_gettime|gettimeofday|clock_nanosleep|nanosleep|usleep|omp_get_wtime|strftime|(gm|local)time(_r)?) *\(|time *\((NULL|0)\))/ {
        say("clocks, sleep and dates are asked of base/clock.h")
    }
    # One home for files that a user can name: nothing else may wait for a pipe, or write half of something.
    FILENAME !~ /^(src\/base\/(file|sweep)\.c$|host\/files\/cache\.c$|tests\/|bench\/)/ &&
        FILENAME !~ /^host\/cpu\/tool\// && /(^|[^A-Za-z0-9_])(fopen|freopen|creat|openat|mkstemp|mkostemp|tmpfile|rename|renameat) *\(/ {
        say("files are read and written by base/file.h and files/cache.h")
    }
    # Locks and logs that are appended to, and folders.
    FILENAME !~ /^(src\/base\/(file|sweep)\.c$|host\/files\/cache\.c$|tests\/|bench\/)/ &&
        /(^|[^A-Za-z0-9_>.])open\(/ && !/O_DIRECTORY|open\(path, O_RDWR \| O_CLOEXEC\)/ {
        if (FILENAME !~ /^(autotune\/(journal|measure)|host\/files\/lock)\.c$/) say("files are opened by base/file.h")
    }
    ' "${sources[@]}")

# What kind a part is, its table knows (host/run/part.h).
while IFS=: read -r file line text; do
    complain "$file" "$line" "a question about the kind of a part; ask its table (strake_part_ops)"
done < <(grep -nE '(->|\.)device *[!=]= *NULL|ops *[!=]= *&strake_part_' host/{run,grid,solver}/*.[ch] |
    grep -v '^host/grid/part_\|^host/run/part[.]c')

# What fits in the head: files and functions that end within some screens.
while IFS=: read -r file line text; do
    complain "$file" "$line" "$text"
done < <(find src host autotune cl -name '*.[ch]' -o -name '*.cl' -o -name '*.inc' | sort | xargs awk '
    FNR == 1001 { print FILENAME ":1001:a file has 1000 lines at most; split it" }
    FNR == 1 { first = 0 }
    /^{$/ { first = FNR }
    /^}$/ && first > 0 && FNR - first >= 80 { print FILENAME ":" first ":a function has 80 lines at most; split it" }')

# Drivers' own fills count patterns in 32 bits: cl_queue.h.
while IFS=: read -r file line text; do
    complain "$file" "$line" "clEnqueueFillBuffer is wrong in large buffers; use strake_cl_fill()"
done < <(grep -rnE 'clEnqueueFillBuffer *\(|\(clEnqueueFillBuffer\)|"clEnqueueFillBuffer"' src host autotune bench \
    --include='*.[ch]')

# Numbers are read and written in src/base/number.c alone: strtod() and printf() follow setlocale(), which a
# program that uses the library may have called. The program itself never does, so it prints as it likes.
while IFS=: read -r file line text; do
    complain "$file" "$line" "$text"
done < <(find src host autotune -name '*.[ch]' ! -path src/base/number.c -print0 | sort -z | xargs -0 awk '
    function say(what) { print FILENAME ":" first ":" what }
    FNR == 1 { statement = "" }
    /^[ \t]*(\*|\/\*|\/\/)/ { next }
    {
        if (statement == "") first = FNR
        statement = statement " " $0
        if ($0 !~ /[;{}]$/) next
        words = statement
        gsub(/"([^"\\]|\\.)*"/, "", words)
        if (match(words, /(^|[^a-z_])(strto(d|f|ld)|atof|localeconv|setlocale|newlocale|uselocale|v(sn|f)?printf) *\(/) &&
            !(FILENAME ~ /^host\/program\// && words ~ /vfprintf/))
            say("numbers are read and written through base/number.h (" substr(words, RSTART + 1, RLENGTH - 2) ")")
        gsub(/%%/, "", statement)
        gsub(/PRI[a-zA-Z0-9]*/, "", statement)
        real = statement ~ /%[-+ #0-9.*]*l?[gGeEfFaA]/
        if (real && words ~ /[^a-z_]s?f?scanf *\(/) say("scanf() of a real number follows the locale; base/number.h")
        if (real && FILENAME !~ /^host\/program\// && words ~ /[^a-z_](sn|s|f)?printf *\(/)
            say("printf() of a real number follows the locale; base/number.h")
        statement = ""
    }')

# The public header is installed alone.
while IFS=: read -r line text; do
    complain src/strake.h "$line" "the public header includes only standard headers"
done < <(grep -nE '#[[:space:]]*include[[:space:]]*("|<(CL|omp|mpi))' src/strake.h)

if [ "$files" -eq 0 ]; then
    echo 'check-layers: no source files found'
    exit 1
fi
if [ "$problems" -ne 0 ]; then
    echo "check-layers: $problems wrong dependencies"
    exit 1
fi
echo "check-layers: $files files, every dependency points one way"
