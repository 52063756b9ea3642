#!/bin/sh
# Eight runs of one case side by side, in one table; then the same command again, which finds it complete. Options go to
# `strake scan`.
set -eu
strake scan case.yaml --over scheme.iterations=1:4:4 --over scheme.nonoscillatory=true,false --keep runs "$@"
strake scan case.yaml --over scheme.iterations=1:4:4 --over scheme.nonoscillatory=true,false --keep runs "$@"

# Of the cone's height of 4 above 1, by columns of the table that has them by name.
awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) column[$k] = k; next }
    { printf "%s iterations, nonoscillatory %-5s: %.2f of 4 are left, least %.3f\n", $column["scheme.iterations"],
      $column["scheme.nonoscillatory"], $column["psi_max"] - 1, $column["psi_min"] }' scan.csv
strake view "$(sed -n 6p scan.csv | grep -o 'runs/[^,]*')" --png picture.png --range 1,5 || echo "the rest is complete"
