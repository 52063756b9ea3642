#!/bin/sh
# Medians of a plan that measures in rounds: bench/median.sh OUTPUT_FOLDER/rates.jsonl
# Runs of the same problem, grid, placement, options and number of steps are one measurement; its runs are
# counted. Failed ones, whose reports are empty, are left out.
set -eu
awk '
function text(name,    at) { # the value of a key before the report, without quotes
    at = index($0, "\"" name "\": ")
    if (at == 0 || at > index($0, "\"report\": ")) return ""
    rest = substr($0, at + length(name) + 4)
    if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); sub(/".*/, "", rest) }
    else sub(/[,}].*/, "", rest)
    return rest
}
/"cells_per_second": / && match($0, /"steps": [0-9]+/) {
    steps = substr($0, RSTART + 9, RLENGTH - 9)
    rate = $0
    sub(/.*"cells_per_second": /, "", rate)
    sub(/[^0-9.e+].*/, "", rate)
    grid = text("size") text("problem") " " text("grid")
    if (text("rows") != "") grid = text("rows") "x" text("cols")
    key = sprintf("%6s  %-10s %-38s %6s steps", grid, text("on"), text("options"), steps)
    if (!(key in count)) order[++keys] = key
    value[key, ++count[key]] = rate / 1e6
}
END {
    for (k = 1; k <= keys; k++) {
        key = order[k]
        n = count[key]
        for (i = 1; i <= n; i++)
            for (j = i + 1; j <= n; j++)
                if (value[key, j] + 0 < value[key, i] + 0) {
                    swap = value[key, i]; value[key, i] = value[key, j]; value[key, j] = swap
                }
        middle = n % 2 ? value[key, (n + 1) / 2] : (value[key, n / 2] + value[key, n / 2 + 1]) / 2
        printf "%s %10.1f Mcell/s  best %.1f of %d\n", key, middle, value[key, n], n
    }
}' "$1"
