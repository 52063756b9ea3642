#!/bin/bash
# Usage: bash tests/layers.sh
# Checks that dependencies point one way: cl <- src <- host <- autotune <- host/main <- {bench, tests}.
# Within host: part <- team <- pace <- grid <- group <- solver.
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

rank() {
    case $1 in
        cl/*) echo 0 ;;
        src/*) echo 1 ;;
        host/main/*) echo 4 ;; # the program stands on the library and the tuner
        host/*) echo 2 ;;
        autotune/*) echo 3 ;;
        *) echo 5 ;;
    esac
}

# The middle of host, each folder on those before it. What is in a domain is known from grid on: a second kind
# of domain goes under the same teams.
middle() {
    case $1 in
        host/part/*) echo 1 ;;
        host/team/*) echo 2 ;;
        host/pace/*) echo 3 ;;
        host/grid/*) echo 4 ;;
        host/group/*) echo 5 ;;
        host/solver/*) echo 6 ;;
        *) echo 0 ;;
    esac
}

# bench and tests may not see each other.
top() { echo "${1%%/*}"; }

check_quoted() { # FILE LINE NAME
    local folder candidate mine theirs
    folder=$(dirname "$1")
    for candidate in "$folder/$3" "src/$3" "host/$3" "$3" "tests/$3" "tests/support/$3"; do
        [ -f "$candidate" ] && break
        candidate=
    done
    if [ -z "$candidate" ]; then
        complain "$1" "$2" "\"$3\" is in no folder of this tree; use <...> for system headers"
        return
    fi
    candidate=$(realpath --relative-to=. "$candidate")
    mine=$(rank "$1")
    theirs=$(rank "$candidate")
    if [ "$theirs" -gt "$mine" ]; then
        complain "$1" "$2" "$(top "$1") must not include $candidate: dependencies point to $(top "$1") from there"
    elif [ "$mine" -eq 2 ] && [ "$theirs" -eq 2 ] && [ "$(middle "$1")" -gt 0 ] &&
        [ "$(middle "$candidate")" -gt "$(middle "$1")" ]; then
        complain "$1" "$2" "$1 must not include $candidate: part <- team <- pace <- grid <- group <- solver"
    elif [ "$mine" -eq 5 ] && [ "$theirs" -eq 5 ] && [ "$(top "$1")" != "$(top "$candidate")" ]; then
        complain "$1" "$2" "$(top "$1") and $(top "$candidate") must not know each other ($candidate)"
    fi
}

check_system() { # FILE LINE NAME
    case $(top "$1"):$3 in
        cl:*) complain "$1" "$2" "files of cl/ are also OpenCL C and include no system header (<$3>)" ;;
        src:CL/* | src:omp.h | src:mpi.h | src:pthread.h | src:threads.h | src:dlfcn.h | src:sched.h | src:signal.h)
            complain "$1" "$2" "<$3> touches the machine; that belongs in host/" ;;
        *:mpi.h)
            case $1 in
                host/mpi/mpi_*) ;;
                *) complain "$1" "$2" "only host/mpi/mpi_* knows MPI; use mpi/ranks.h" ;;
            esac ;;
    esac
}

while IFS= read -r file; do
    files=$((files + 1))
    while IFS=: read -r line text; do
        name=$(printf '%s\n' "$text" | sed -n 's/^[ \t]*#[ \t]*include[ \t]*["<]\([^">]*\)[">].*/\1/p')
        case $text in
            *include*\"*) check_quoted "$file" "$line" "$name" ;;
            *include*\<*) check_system "$file" "$line" "$name" ;;
        esac
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file")
    if [ "$(top "$file")" = src ]; then
        while IFS=: read -r line text; do
            complain "$file" "$line" "OpenMP other than 'omp simd' belongs in host/"
        done < <(grep -nE '^[[:space:]]*#[[:space:]]*pragma[[:space:]]+omp|\bomp_[a-z_]+ *\(' "$file" |
            grep -vE 'pragma[[:space:]]+omp[[:space:]]+simd')
    fi
done < <(find cl src host autotune bench tests -name '*.[ch]' -o -name '*.cl' -o -name '*.inc' 2>/dev/null | sort)

# Drivers' own fills count patterns in 32 bits: cl_fill.h.
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
            !(FILENAME ~ /^host\/main\// && words ~ /vfprintf/))
            say("numbers are read and written through base/number.h (" substr(words, RSTART + 1, RLENGTH - 2) ")")
        gsub(/%%/, "", statement)
        gsub(/PRI[a-zA-Z0-9]*/, "", statement)
        real = statement ~ /%[-+ #0-9.*]*l?[gGeEfFaA]/
        if (real && words ~ /[^a-z_]s?f?scanf *\(/) say("scanf() of a real number follows the locale; base/number.h")
        if (real && FILENAME !~ /^host\/main\// && words ~ /[^a-z_](sn|s|f)?printf *\(/)
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
