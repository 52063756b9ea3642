#!/bin/bash
# The shared library exports what its header declares; one function more or less is found out.
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${STRAKE_BUILD:-build}")
. "$top/tests/cli/tap.bash"
if ! command -v nm >/dev/null || ! "${CC:-cc}" --version >/dev/null 2>&1; then
    echo "1..0 # SKIP no nm or no compiler here"
    exit 0
fi
code=0
bash "$top/tests/symbols.sh" "$build" >.out 2>&1 || code=$?
exits 0 "the functions of strake.h and nothing else are exported"
function=strake_step_count
grep -v "$function" "$top/src/strake.h" >less.h
code=0
bash "$top/tests/symbols.sh" "$build" "$scratch/less.h" >.out 2>&1 || code=$?
exits 1 "a function that the header does not declare is found"
prints "and named" "exports $function, which"
sed 's/^int64_t strake_step_count/int strake_more(void);\n&/' "$top/src/strake.h" >more.h
code=0
bash "$top/tests/symbols.sh" "$build" "$scratch/more.h" >.out 2>&1 || code=$?
exits 1 "one that is not exported is found"
prints "and named, too" "declares strake_more, which"
# What is loaded sees no more than that.
check "inner functions cannot be reached" test -z "$(nm -D --defined-only "$build/libstrake.so" | grep strake_solver_)"
done_testing
