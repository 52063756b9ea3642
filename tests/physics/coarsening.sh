#!/bin/bash
# Usage: bash tests/physics/coarsening.sh STRAKE [CELLS [SEED ...]]
# The growth of phases after a quench, on CELLS x CELLS cells (512) to t = 4000, from one random start per
# SEED (1 2 3): the excess of the free energy over that of the separated phases falls as t^-n, the length of
# the structure factor grows as t^n; n = 1/3 in theory. Prints both exponents of every start, by least
# squares over t = 100 to 4000 in equal steps of log t, and fails where one of them is outside 0.30 to
# 0.36. WHERE and THREADS choose where.
set -eu
strake=$1
cells=${2:-512}
seeds=${*:3}
work=$(mktemp -d "${TMPDIR:-/tmp}/strake-coarsening.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
for seed in ${seeds:-1 2 3}; do
    cat >"$work/case.yaml" <<CASE
problem: cahn_hilliard2d
grid: {rows: $cells, cols: $cells}
time: {dt: 0.02, steps: 200000}
scheme: {time: euler}
fields: {u: {random: {seed: $seed, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}
diagnostics: {every: 1000}
CASE
    "$strake" run "$work/case.yaml" --on "${WHERE:-cpu}" ${THREADS:+--threads "$THREADS"} --quiet \
        --output "$work/$seed"
    awk -F, -v cells="$cells" -v seed="$seed" '
        NR > 1 && $2 >= 100 && $2 >= next_time {
            next_time = $2 * 1.2
            x = log($2); e = log($4 + cells * cells / 4); l = log($5)
            n++; sx += x; sxx += x * x; se += e; sxe += x * e; sl += l; sxl += x * l
        }
        function outside(exponent) { return !(exponent >= 0.30 && exponent <= 0.36) }
        END {
            energy = -(n * sxe - sx * se) / (n * sxx - sx * sx)
            size = (n * sxl - sx * sl) / (n * sxx - sx * sx)
            printf "%d x %d, seed %d: exponent of the excess energy %.3f, of the length %.3f (%d points)%s\n",
                cells, cells, seed, energy, size, n,
                outside(energy) || outside(size) ? ": not within 0.30 to 0.36" : ""
            exit outside(energy) || outside(size)
        }' "$work/$seed/diagnostics.csv" || failed=1
done
exit $failed
