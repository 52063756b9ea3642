#!/bin/bash
# The runner of the tests: tells of each program when it ends, and leaves no process behind, whatever happens to
# a test or to itself.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"

export STRAKE

program() { # program NAME: a test script from stdin
    { echo '#!/bin/bash'; cat; } >"$1.t"
}
runner() { # runner NAME...: runs these programs as `make check` does; leaves $code and .out
    code=0
    STRAKE_TESTS_CPU_ONLY=1 bash "$top/tests/run.sh" built "${@/%/.t}" >.out 2>.err || code=$?
}
nobody_is_left() { # nobody_is_left NAME: and says who is, otherwise
    local process
    for process in $(processes_of "$mark"); do
        echo "# left: $(tr '\0' ' ' <"/proc/$process/cmdline")"
    done
    check "$1" test -z "$(processes_of "$mark")"
}
appears() { # appears FILE: waits for it
    local tries=0
    while [ ! -e "$1" ] && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    test -e "$1"
}

program waits <<'END_OF_TEST'
for tries in $(seq 600); do
    grep -q '^ok   quick.t .*1 passed' .out && echo "ok 1 - the line of the other is there" && break
    sleep 0.1
done
echo 1..1
END_OF_TEST
program quick <<'END_OF_TEST'
echo "ok 1 - at once"
echo 1..1
END_OF_TEST
STRAKE_TESTS_JOBS=2 runner waits quick
exits 0 "two programs run side by side"
prints "each line is printed when its program ends" "2 passed, 0 failed"
STRAKE_TESTS_JOBS=1 runner quick quick
check "or one after the other" grep -q '^2 passed, 0 failed' .out

program leaves <<'END_OF_TEST'
setsid sleep 1000 &
while grep -qv sleep "/proc/$!/comm"; do sleep 0.1; done # it is a shell first
echo "ok 1 - with somebody in the background"
echo 1..1
END_OF_TEST
runner leaves
exits 1 "a test that leaves a process behind fails"
prints "it is named" "left processes behind: sleep"
nobody_is_left "and ended"

program hangs <<'END_OF_TEST'
setsid sleep 1000 &
sleep 1000
END_OF_TEST
STRAKE_TESTS_TIMEOUT=1 runner hangs
exits 1 "a test that does not end fails"
prints "with the limit" "stopped after the limit of 1 s"
nobody_is_left "and all its processes are ended"

program fails <<END_OF_TEST
. "$top/tests/cli/tap.bash"
setsid sleep 1000 &
(sleep 1000; true) &
mkfifo "\$scratch/pipe"
(read -r <"\$scratch/pipe") & # a fork that never begins a program
check "something that is not so" false
case \${1:-} in
    ends) done_testing ;;
    aborts) exit 3 ;;
esac
touch "$scratch/started"
sleep 1000
END_OF_TEST
bash fails.t ends >.out 2>.err
nobody_is_left "a script that fails ends what it has started"
bash fails.t aborts >.out 2>.err
nobody_is_left "also where it gives up"
for signal in TERM HUP; do
    rm -f started
    env --default-signal bash fails.t waits >.out 2>.err &
    appears started
    kill -$signal $!
    wait $! 2>/dev/null
    nobody_is_left "and where it is stopped by $signal"
done

rm -f started
STRAKE_TESTS_JOBS=2 STRAKE_TESTS_CPU_ONLY=1 bash "$top/tests/run.sh" built hangs.t fails.t >.out &
check "a runner has begun" appears started
kill $!
code=0
wait $! || code=$?
exits 130 "a runner that is stopped ends"
# Its helpers notice.
for tries in $(seq 600); do
    [ -n "$(processes_of "$mark")" ] || break
    sleep 0.1
done
nobody_is_left "with all that it has started"

# Packages that a minimal system has not, and tests do not install.
check "no test looks for processes but in /proc" \
    bash -c '! grep -rnwE "p(grep|kill|idof|s -[a-z]+)|kill""all" "$0/tests" --include=*.t --include=*.sh --include=*.bash' "$top"
done_testing
