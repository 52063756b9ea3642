#!/bin/bash
# The first case of one's own in README.md, as it stands there: its lines are run one by one by a shell.
readme=$(realpath "$(dirname "$0")/../../README.md")
. "$(dirname "$0")/tap.bash"
mkdir bin && ln -s "$STRAKE" bin/strake
for python in python3 /usr/bin/python3; do
    ! "$python" -c 'import numpy' 2>/dev/null || ln -sf "$(command -v "$python")" bin/python3
done
if [ ! -e bin/python3 ]; then
    skip "the first case of README.md" "no NumPy"
    done_testing
fi
sed -n '/^## Your first own case/,/^## /p' "$readme" | sed -n 's/^    //p' >first.sh
[ "$(wc -l <first.sh)" -gt 15 ]
report $? "README.md has a first case"
PATH=$scratch/bin:$PATH bash -eu first.sh >"$scratch/.out" 2>"$scratch/.err"
report $? "it runs from its first line to its last"
prints "shows a picture" "psi, step 600, 600 s, 256 x 384:"
[ -s out.html ] && [ "$(ls out/*.npy | wc -l)" -eq 6 ]
report $? "and leaves outputs and a page"
largest=$(tail -n 1 "$scratch/.out")
awk -v x="$largest" 'BEGIN { exit !(x > 0.5 && x <= 1) }'
report $? "in which the blob is still there"

# Equations of one's own.
mkdir build && ln -s "$STRAKE" build/strake
sed -n '/^## Your own equations/,/^## /p' "$readme" | sed -n 's/^    //p' >own.sh
if ! command -v cc >/dev/null && ! command -v gcc >/dev/null && ! command -v clang >/dev/null; then
    skip "equations of one's own" "no C compiler"
else
    STRAKE_CACHE_DIR=$scratch/cache bash -eu own.sh >"$scratch/.out" 2>"$scratch/.err" && [ "$(wc -l <own.sh)" -eq 4 ]
    report $? "equations of one's own are built and run"
fi
done_testing
