#!/bin/bash
# Usage: bash tests/run.sh BUILD PROGRAM[@SUBJECT]...
# Runs TAP programs (cmocka binaries and *.t shell scripts) side by side, two more at once than there are
# processors because some only wait, in the order given: the longest should be first. Prints a line for each when it ends,
# everything a failed one printed, and why tests were skipped. The last line is
# "N passed, N failed[, N skipped]" (also in BUILD/tests/summary); exit 0 only if tests ran, none
# failed, no program crashed, stopped short of its plan or left processes behind, and some test used an
# OpenCL device. Whatever ends it, no process of a test stays. With a SUBJECT a program runs its tests for that
# problem only (support/trial.h).
# Times are those on the wall and those of processors, which a busy machine changes less.
# Programs find the build in STRAKE_BUILD, the program in STRAKE, fieldstat in FIELDSTAT.
# Environment: STRAKE_TESTS_TIMEOUT   seconds for one program (1800)
#              STRAKE_TESTS_JOBS      how many programs at once (two more than processors)
#              STRAKE_TESTS_CPU_ONLY  1: hide OpenCL from the program and do not ask for such tests
set -u
export LC_ALL=C
. "$(dirname "$0")/processes.bash"

if [ $# -lt 1 ]; then
    echo "usage: bash tests/run.sh BUILD PROGRAM..." >&2
    exit 2
fi
build=$1
shift
limit=${STRAKE_TESTS_TIMEOUT:-1800}
jobs=${STRAKE_TESTS_JOBS:-$(($(nproc) + 2))}
cpu_only=${STRAKE_TESTS_CPU_ONLY:-0}

mkdir -p "$build/tests/log" "$build/tests/home" || exit 1
build=$(cd "$build" && pwd)
# Nothing of the user's own caches or settings may leak in, nor anything of the tests out.
export CMOCKA_MESSAGE_OUTPUT=TAP
export STRAKE_BUILD=$build
export STRAKE=$build/strake
export FIELDSTAT=$build/tests/fieldstat
export STRAKE_CACHE_DIR=$build/tests/home/strake
export POCL_CACHE_DIR=$build/tests/home/pocl
export XDG_CACHE_HOME=$build/tests/home/cache
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME"
mkdir -p -m 700 "$STRAKE_CACHE_DIR" "$STRAKE_CACHE_DIR.parity"
unset OMP_NUM_THREADS
# Most of the time goes into PoCL compiling kernels: once for groups of all sizes, without vectorising over the
# work-items, it takes a quarter less; no other implementation reads these. run() gives test_parity PoCL's defaults.
export POCL_WORK_GROUP_SPECIALIZATION=0
export POCL_WORK_GROUP_METHOD=loops
# Programs run side by side here, and beside devices that compute on the processors: threads that spin for
# the next loop take them from whoever works.
export OMP_WAIT_POLICY=passive
if [ "$cpu_only" = 1 ]; then
    export STRAKE_OPENCL_LIBRARY=/dev/null/hidden-from-tests
fi

summary=$build/tests/summary
rm -f "$summary"
passed=0
failed=0
skipped=0
opencl_ran=0     # tests that ran in a program about OpenCL, or that name it
opencl_skipped=0 # tests skipped for want of OpenCL
skips=

# Reads TAP on stdin; prints "passed failed skipped planned opencl_ran opencl_skipped", then one line
# "skip<TAB>name<TAB>reason" for each skip. planned is -1 without a plan. Subtests (indented) and
# diagnostics are not counted. OpenCL is recognised in the program's name, a test's name or the reason.
count() {
    awk -v program="$1" '
    function is_opencl(text) { return tolower(text) ~ /ocl|opencl|parity/ }
    BEGIN { planned = -1; about = is_opencl(program) }
    /^1\.\.[0-9]+/ {
        if (planned < 0) planned = 0
        split($1, bounds, /\.\./); planned += bounds[2]
        if (bounds[2] == 0 && tolower($0) ~ /# *skip/) {
            reason = $0; sub(/^[^#]*# *[Ss][Kk][Ii][Pp]:? */, "", reason)
            skipped++; planned++; list = list "skip\t(all)\t" reason "\n"
            if (is_opencl(reason)) opencl_skipped++
        }
        next
    }
    /^(not )?ok([ \t]|$)/ {
        ok = $1 == "ok"
        name = $0; sub(/^(not )?ok[ \t]*[0-9]*[ \t]*(- )?/, "", name)
        directive = ""
        if (match(name, /#[ \t]*([Ss][Kk][Ii][Pp]|[Tt][Oo][Dd][Oo])/)) {
            directive = substr(name, RSTART + 1); name = substr(name, 1, RSTART - 1)
            sub(/^[ \t]*/, "", directive); sub(/[ \t]+$/, "", name)
        }
        if (tolower(substr(directive, 1, 4)) == "skip") {
            reason = directive; sub(/^[Ss][Kk][Ii][Pp][A-Za-z]*:?[ \t]*/, "", reason)
            # cmocka prints "not ok 3 # SKIP test_name"; the test prints why as a diagnostic before it.
            if (name == "") { name = reason; reason = note }
            if (reason == "") reason = "no reason given"
            skipped++; list = list "skip\t" name "\t" reason "\n"
            if (is_opencl(reason)) opencl_skipped++
        } else if (ok) {
            passed++; if (about || is_opencl(name)) opencl_ran++
        } else {
            failed++
        }
        note = ""
        next
    }
    /^#/ { note = $0; sub(/^#[ \t]*/, "", note); sub(/^[Ss][Kk][Ii][Pp][A-Za-z]*:?[ \t]*/, "", note); next }
    /^Bail out!/ { failed++; next }
    /[^ \t]/ { note = $0 }
    END { printf "%d %d %d %d %d %d\n%s", passed, failed, skipped, planned, opencl_ran, opencl_skipped, list }
    ' "$2"
}

mark=r$$
marks=${STRAKE_TESTS_MARK:-}
trap 'end_processes "$mark"' EXIT
trap 'echo "stopped"; exit 130' HUP INT TERM

# Runs a program, the NUMBER-th; leaves what it printed, its status and its seconds beside each other, and what
# it has left behind.
run() { # run PROGRAM NUMBER
    local program=${1%@*} subject= own=p$$.$2 log=$build/tests/log/$(basename "$1").tap
    local command start status left tries spent TIMEFORMAT='%U %S'
    case $1 in *@*) subject=${1##*@} ;; esac
    case $program in
        *.t) command=(sh "$program") ;;
        */*) command=("$program") ;;
        *) command=("./$program") ;;
    esac
    case $(head -n 1 "$program" 2>/dev/null | tr -d '\0') in
        '#!'*bash*) command=(bash "$program") ;;
    esac
    # Parity is shown with what users run, where a compiler that vectorises could contract: PoCL's defaults, and no
    # binaries of others.
    case $program in */test_parity)
        unset POCL_WORK_GROUP_SPECIALIZATION POCL_WORK_GROUP_METHOD
        STRAKE_CACHE_DIR=$STRAKE_CACHE_DIR.parity
        ;;
    esac
    start=$(date +%s%N)
    # --kill-after: a program stuck in a driver ignores the first signal.
    { time STRAKE_TESTS_MARK=$marks/$mark/$own STRAKE_TESTS_SUBJECT=$subject timeout --kill-after=10 "$limit" \
        "${command[@]}" >"$log" 2>"$log.err" </dev/null; } 2>"$log.time"
    status=$?
    spent=$(tail -n 1 "$log.time")
    # Who has just been told to end gets a moment to do so.
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        left=$(for process in $(processes_of "$own"); do cat "/proc/$process/comm"; done 2>/dev/null)
        [ -n "$left" ] && [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || break
        sleep 0.3
    done
    [ -z "$left" ] || end_processes "$own"
    awk -v t="$(($(date +%s%N) - start))" -v status="$status" -v left="${left//$'\n'/ }" \
        '{ printf "%d %.1f %.1f %s\n", status, t / 1e9, $1 + $2, left }' <<<"$spent" >"$log.new"
    mv "$log.new" "$log.status"
}

# Prints the line of a program that ended and adds its tests to the sums.
tell() {
    local program=$1 name log status=1 seconds=0 spent=0 left counted p f s planned ran unran total trouble=
    name=$(basename "$program")
    log=$build/tests/log/$name.tap
    read -r status seconds spent left <"$log.status" 2>/dev/null
    # cmocka writes TAP to stderr when it prints failures, so both streams are read for results.
    counted=$(cat "$log" "$log.err" | tr -d '\0' >"$log.all"; count "$name" "$log.all")
    read -r p f s planned ran unran <<<"$(head -n 1 <<<"$counted")"
    total=$((p + f + s))
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        trouble="stopped after the limit of $limit s"
    elif [ "$status" -gt 128 ]; then
        trouble="crashed ($(kill -l $((status - 128)) 2>/dev/null || echo "status $status"))"
    elif [ "$planned" -lt 0 ]; then
        trouble="printed no plan (exit status $status)"
    elif [ "$planned" -ne "$total" ]; then
        trouble="planned $planned tests and ran $total (exit status $status)"
    elif [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
        trouble="exit status $status though no test failed"
    elif [ -n "$left" ]; then
        trouble="left processes behind: $left"
    fi
    [ -n "$trouble" ] && f=$((f + 1))
    passed=$((passed + p))
    failed=$((failed + f))
    skipped=$((skipped + s))
    opencl_ran=$((opencl_ran + ran))
    opencl_skipped=$((opencl_skipped + unran))

    printf '%-4s %-32s %4d passed %3d failed %3d skipped %7s s %7s s of processors%s\n' \
        "$([ "$f" -eq 0 ] && echo ok || echo FAIL)" "$name" "$p" "$f" "$s" "$seconds" "$spent" "${trouble:+  $trouble}"
    if [ "$f" -ne 0 ]; then
        sed 's/^/    | /' "$log.all"
    fi
    while IFS=$'\t' read -r kind test reason; do
        [ "$kind" = skip ] && skips+="  $name: $test: $reason"$'\n'
    done <<<"$counted"
}

for program in "$@"; do
    rm -f "$build/tests/log/$(basename "$program").tap"*
done
# Prints the lines of the programs that have ended since the last call.
running=()
tell_ended() {
    local program still=()
    for program in "${running[@]}"; do
        if [ -e "$build/tests/log/$(basename "$program").tap.status" ]; then
            tell "$program"
        else
            still+=("$program")
        fi
    done
    running=("${still[@]}")
}
number=0
for program in "$@"; do
    while [ ${#running[@]} -ge "$jobs" ]; do
        wait -n || break
        tell_ended
    done
    number=$((number + 1))
    run "$program" "$number" &
    running+=("$program")
done
while [ ${#running[@]} -gt 0 ] && wait -n; do
    tell_ended
done
for program in "${running[@]}"; do
    tell "$program" # nobody knows how it ended
done

if [ -n "$skips" ]; then
    printf 'skipped:\n%s' "$skips"
fi
if [ "$cpu_only" != 1 ] && [ "$opencl_skipped" -gt 0 ] && [ "$opencl_ran" -eq 0 ]; then
    echo "FAIL every OpenCL test was skipped; 'strake devices' says why there is no device"
    failed=$((failed + 1))
fi
if [ $((passed + failed)) -eq 0 ]; then
    echo "FAIL no test ran"
    failed=1
fi
line="$passed passed, $failed failed"
[ "$skipped" -gt 0 ] && line+=", $skipped skipped"
echo "$line" | tee "$summary"
[ "$failed" -eq 0 ]
