#!/bin/sh
# Medians of a plan's rates: bench/median.sh OUTPUT_FOLDER/rates.txt
# Lines of the same grid, placement and options are one measurement; its times are counted.
set -eu
awk '{
    rate = $(NF - 1)
    key = $0
    sub(/ +[0-9.]+ Mcell\/s$/, "", key)
    if (!(key in count)) order[++keys] = key
    value[key, ++count[key]] = rate
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
