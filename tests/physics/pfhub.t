#!/bin/bash
# data/cases/pfhub-1a.yaml reaches the energies that stand in it; the quenches are cases that run.
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
. tests/cli/tap.bash

try run "$top/data/cases/pfhub-1a.yaml" --on cpu --quiet --output pfhub
exits 0 "the benchmark runs"
while read -r step energy; do
    awk -F, -v step="$step" -v energy="$energy" '
        $1 == step { found = 1; off = ($4 - energy) / energy }
        END { exit !(found && off < 1e-7 && off > -1e-7) }' pfhub/diagnostics.csv
    report $? "free energy $energy after $step steps"
done <<'ENERGIES'
1000 318.85534
5000 316.40158
20000 212.45977
ENERGIES

for case in quench-2d quench-3d; do
    try run "$top/data/cases/$case.yaml" --on cpu --quiet --steps 500 --output "$case"
    exits 0 "$case runs"
    check "and leaves its diagnostics" test -s "$case/diagnostics.csv"
done
done_testing
