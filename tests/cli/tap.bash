# Sourced by the *.t scripts beside it: TAP functions, a scratch folder, a small case.
# The program is $STRAKE (default build/strake, seen from where the test is started).
set -u
export LC_ALL=C
STRAKE=$(realpath "${STRAKE:-build/strake}")
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
. "$(dirname "${BASH_SOURCE[0]}")/../processes.bash"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/strake-cli.XXXXXX")
# However the test ends, also by a signal, nothing that it started stays behind.
mark=t$$
export STRAKE_TESTS_MARK=${STRAKE_TESTS_MARK:-}/$mark
trap 'end_processes "$mark"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
tests=0
failures=0

report() { # report RESULT NAME: one TAP line; on failure shows what the last `try` printed
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $tests - $2"
    [ -f "$scratch/.out" ] && sed 's/^/# out: /' "$scratch/.out" | head -20
    [ -f "$scratch/.err" ] && sed 's/^/# err: /' "$scratch/.err" | head -20
}

skip() { # skip NAME REASON
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

try() { # try ARGUMENTS...: runs the program; leaves $code, .out and .err
    code=0
    "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || code=$?
}

# tune_quickly ARGUMENTS...: tries `tune`, whose processes that measure have a clock ten times as fast, so that samples
# are short and rates a tenth (support/own_clock.c); for a budget time goes by $pace times as fast, 1 by default. A
# sanitizer must be loaded first itself, and gets the real one.
tune_quickly() {
    local clock=$(dirname "$STRAKE")/tests/own_clock.so
    [ -e "$clock" ] && [ -z "${STRAKE_TESTS_SANITIZER:-}" ] || clock=
    LD_PRELOAD=$clock STRAKE_TEST_CLOCK=${pace:-1}:0:none try tune "$@"
}

# From here on programs take the machine and PoCL's devices for ones of 1 GiB of memory (support/few_pages.c): `bench` and
# `model` measure how fast memory is in large parts of it, for seconds each time. `make check-long` measures all of it. A
# sanitizer must be loaded first itself.
little_memory() {
    local pages
    pages=$(dirname "$STRAKE")/tests/few_pages.so
    [ -e "$pages" ] && [ -z "${STRAKE_TESTS_SANITIZER:-}${STRAKE_TESTS_LONG:-}" ] || return 0
    export LD_PRELOAD=$pages POCL_MEMORY_LIMIT=1
}

# interrupt_when_ready ARGUMENTS...: as try, with Ctrl-C half a second after the program has begun to listen for it
interrupt_when_ready() {
    local process caught
    code=0
    # A shell's background programs ignore the signal otherwise.
    env --default-signal=INT "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null &
    process=$!
    while caught=$(sed -n 's/^SigCgt:[ \t]*//p' "/proc/$process/status" 2>/dev/null) && [ -n "$caught" ]; do
        [ $((0x$caught >> 1 & 1)) -eq 0 ] || break
        sleep 0.1
    done
    sleep 0.5
    kill -INT "$process"
    wait "$process" || code=$?
}

# injected WORD COMMAND...: one of these, with the program that fails as $STRAKE_INJECT says (tests/support/inject.c)
injected() {
    local STRAKE=${STRAKE%/*}/tests/injected/strake
    STRAKE_INJECT=$1 "${@:2}"
}

check() { # check NAME COMMAND...: passes if the command succeeds
    local name=$1
    shift
    "$@" >/dev/null 2>&1
    report $? "$name"
}

exits() { # exits CODE NAME: the exit status of the last `try`
    [ "$code" -eq "$1" ]
    report $? "$2"
}

# fails CODE NAME TEXT...: the last `try` ended with CODE and printed one line on stderr, beginning
# with "strake: ", that contains every TEXT. Notes, warnings and the progress of long work do not count.
fails() {
    local want=$1 name=$2 good=0 text
    shift 2
    [ "$code" -eq "$want" ] || good=1
    [ "$(grep -vcE '^(strake: (note|warning): | *[0-9]+ % )' "$scratch/.err")" -eq 1 ] || good=1
    grep -q '^strake: ' "$scratch/.err" || good=1
    for text in "$@"; do
        grep -qF -- "$text" "$scratch/.err" || good=1
    done
    report $good "$name"
}

prints() { # prints NAME TEXT...: the last `try` printed every TEXT on stdout
    local name=$1 good=0 text
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$scratch/.out" || good=1
    done
    report $good "$name"
}

# checked_by PYTHON SCRIPT ARGUMENTS...: what a script of tests/support checks: it prints "ok NAME", "not ok NAME: WHY" and
# "skip NAME: WHY", one for each function behind @test
checked_by() {
    local line
    "$@" >checks 2>"$scratch/.err"
    grep -vE '^(ok|not ok|skip) ' checks >"$scratch/.out"
    while read -r line; do
        case $line in
            "ok "*) report 0 "${line#ok }" ;;
            "skip "*)
                line=${line#skip }
                skip "${line%%: *}" "${line#*: }"
                ;;
            *) report 1 "${line#not ok }" ;;
        esac
    done < <(grep -E '^(ok|not ok|skip) ' checks)
    [ "$(grep -cE '^(ok|skip) ' checks)" -eq "$(grep -c '^@test' "$2")" ]
    report $? "all of these ran"
}

# Where script(1) is missing, or can open no terminal, what needs one is skipped.
has_terminal() { command -v script >/dev/null && script -qec 'test -t 1' /dev/null >/dev/null 2>&1 </dev/null; }

# lacks NAME PATTERN FILE [CODE]: what ran last ended with CODE (0 by default), hence it did run, and FILE, which is
# there, has no line with the pattern.
lacks() {
    [ "$code" -eq "${4:-0}" ] && [ -f "$3" ] && ! grep -q -- "$2" "$3"
    report $? "$1"
}

done_testing() {
    echo "1..$tests"
    [ "$failures" -eq 0 ]
    exit
}

cat >case.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 61, cols: 97}
time: {dt: 0.1, steps: 20}
boundary: {rows: open, cols: periodic}
fields: {psi: {random: {seed: 1, minimum: 0, maximum: 1}}, u1: {constant: 0.2}, u2: {constant: -0.1}, h: {constant: 1}}
CASE
