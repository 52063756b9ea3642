#!/bin/bash
# A program that uses the library may have called setlocale(): with a decimal comma everything is read and
# written as without it. Whole test programs run again in such a locale; their own texts have no reals
# that printf() wrote.
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${STRAKE_BUILD:-build}")
. "$top/tests/cli/tap.bash"

# A name of its own: the C library loads what LOCPATH has, and nothing else.
if ! command -v localedef >/dev/null; then
    echo "1..0 # SKIP no localedef here, which makes the locale (libc-bin)"
    exit 0
fi
if ! localedef --no-archive -i de_DE -f UTF-8 "$scratch/comma.UTF-8" >.out 2>.err &&
    [ ! -f "$scratch/comma.UTF-8/LC_NUMERIC" ]; then
    echo "1..0 # SKIP localedef makes no locale: $(head -n 1 .err | tr '#' ' ') (Debian: locales)"
    exit 0
fi
export LOCPATH=$scratch
export STRAKE_TESTS="$top/tests"

[ "$(LC_ALL=comma.UTF-8 bash -c 'printf %.1f 1,5')" = 1,5 ]
report $? 'the locale has a decimal comma'

for name in test_case test_library test_model_use test_tuned test_tune_space test_tune_options test_number \
    test_groups test_bench; do
    (cd "$top" && STRAKE_TESTS_LOCALE=comma.UTF-8 CMOCKA_MESSAGE_OUTPUT=STDOUT \
        "$build/tests/$name" >"$scratch/.out" 2>"$scratch/.err")
    report $? "$name passes with a decimal comma"
done
done_testing
