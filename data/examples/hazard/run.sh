#!/bin/sh
# Thirty-six flows: vents along a fissure, as probable as each other, rates, of which large ones are less so, and the water
# in the lava. Maps of all, and how well each covers a flow that was mapped (here one of them). Options go to `strake scan`.
set -eu
strake run case.yaml --set 'vents[0].row=33' --output mapped --quiet
strake scan case.yaml --over 'vents[0].row=30:39:4' --over 'vents[0].rate=5,10,20' --over parameters.water_content=0.05,0.1,0.2 \
    --maps maps --weights 'vents[0].rate=4,2,1' --footprint mapped "$@"
strake view maps --field probability

# The four that fit best, by columns of the table that has them by name.
awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) column[$k] = k; next }
    { printf "e1 = %.2f: vent in row %s, %2s m3/s, %-4s %% of water\n", $column["e1"], $column["vents[0].row"],
      $column["vents[0].rate"], $column["parameters.water_content"] }' scan.csv | sort -r | head -n 4
cp maps/probability.png picture.png || echo "the rest is complete"
