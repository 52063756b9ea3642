#!/bin/sh
# Cahn-Hilliard in 2D against HiPerC's spinodal program (OpenMP) on this machine, in turns; four minutes on 2 cores.
# usage: bench/hiperc.sh HIPERC_FOLDER OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# HIPERC_FOLDER is a clone of github.com/usnistgov/hiperc, built here in a copy and with its own Makefile (needs
# libpng). ROUNDS (5) rounds of grids of 200, 1024 and 2048 cells squared, with one thread and with all: HiPerC,
# then Strake with Euler and midpoint (two evaluations a step), each with HiPerC's polynomial of fourth degree
# and its start, and with the double well and a random start: a turn. SIZES and THREADS choose fewer; with
# rounds from FIRST (1) on, more rounds are added to what OUTPUT_FOLDER has.
# A turn begins when other programs leave the machine alone, or after WAIT seconds (60); those in which they
# took more than a tenth of a processor all the same are stored and counted, and left out of the first table of
# medians; the second one has all turns.
# HiPerC's seconds are conv_time + step_time of its log, from a third of the steps on: without files, the filling
# of ghost cells and the pages' first touch. Strake's are its whole time loop.
# What both programs did is checked: steps, cells and, at 200 cells squared, that they solve the same problem.
# Writes machine.txt, same.txt, rates.jsonl (a line per run), medians.txt.
set -eu
[ $# -ge 2 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
hiperc=$(realpath "$1")
out=$2
strake=$(realpath "${3:-build/strake}")
rounds=${ROUNDS:-5} first=${FIRST:-1}
[ -f "$hiperc/cpu-openmp-spinodal/openmp_main.c" ] || {
    echo "$0: $1 has no cpu-openmp-spinodal/openmp_main.c: give a clone of github.com/usnistgov/hiperc" >&2
    exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$out"
out=$(realpath "$out")
fail() {
    echo "$0: $*" >&2
    exit 1
}
mkdir "$work/hiperc"
for part in cpu-openmp-spinodal common-spinodal common-diffusion; do
    cp -r "$hiperc/$part" "$work/hiperc/"
done
make -C "$work/hiperc/cpu-openmp-spinodal" -s cleanobjects spinodal >"$work/make" 2>&1 || {
    cat "$work/make" >&2
    fail "HiPerC does not build"
}
[ "$first" -gt 1 ] || {
    date -u +%Y-%m-%d
    echo "strake $(git rev-parse --verify -q HEAD || echo 'commit unknown')"
    echo "hiperc $(git -C "$hiperc" rev-parse --verify -q HEAD 2>/dev/null || echo 'commit unknown')," \
        "cksum of its sources $(cd "$work/hiperc" && cat cpu-openmp-spinodal/*.c common-spinodal/*.[ch] | cksum)"
    sed -n 's/^\(CFLAGS.*\)/hiperc \1/p' "$hiperc/cpu-openmp-spinodal/Makefile"
    uname -sr
    sed -n 's/^model name.*: //p' /proc/cpuinfo | uniq
    nproc
    gcc --version | head -1
} >"$out/machine.txt"
[ "$first" -gt 1 ] || : >"$out/rates.jsonl"
uptime >>"$out/machine.txt"

run_hiperc() { # CELLS THREADS STEPS: leaves its log, and the sum, least and largest of its last state
    printf 'nx %d\nny %d\nbx 7\nby 7\nns %d\nnc %d\nmc 5.0\nkp 2.0\nco 0.24\nsc 3 53\n' \
        $(($1 + 2)) $(($1 + 2)) "$3" $(($3 / 3)) >"$work/params"
    rm -rf "$work/spinodal"
    mkdir "$work/spinodal"
    (cd "$work/spinodal" && OMP_NUM_THREADS=$2 ../hiperc/cpu-openmp-spinodal/spinodal ../params >/dev/null) ||
        fail "HiPerC failed"
    lines=$(cat "$work"/spinodal/spinodal.*.csv | wc -l) # a heading and the cells
    [ "$lines" -eq $(($1 * $1 + 1)) ] || fail "HiPerC wrote $lines lines instead of $(($1 * $1 + 1))"
    awk -F, -v steps="$3" -v cells="$1" '
        NR == 3 { first = $1; before = $4 + $5; other = $7 - $6 }
        END {
            if (NR != 5 || $1 != steps || first * 3 != steps || ($2 - steps * 0.001) ^ 2 > 1e-11) exit 1
            seconds = $4 + $5 - before
            printf "{\"steps\": %d, \"timed_steps\": %d, \"seconds\": %.6f, \"seconds_with_energy\": %.6f, ",
                steps, steps - first, seconds, $7 - $6 - other
            printf "\"cells_per_second\": %.6e}", cells * cells * (steps - first) / seconds
        }' "$work/spinodal/runlog.csv" >"$work/report" || fail "HiPerC's log is not that of $3 steps"
}
# HiPerC's start as a sum of products of waves: 0.5 + 0.01 (cos 0.105x cos 0.11y + (cos 0.13x cos 0.087y)^2
# + cos(0.025x - 0.15y) cos(0.07x - 0.02y)).
start() { # CELLS
    awk -v n="$1" 'BEGIN {
        pi = atan2(0, -1)
        printf "{sum: [0.5025"
        product(1, 0.105, 0.11, 1)
        product(0.25, 0.26, 0, 1); product(0.25, 0, 0.174, 1); product(0.25, 0.26, 0.174, 1)
        product(0.5, 0.095, 0.17, 1); product(0.5, 0.095, 0.17, 0)
        product(0.5, 0.045, 0.13, 1); product(-0.5, 0.045, 0.13, 0)
        print "]}"
    }
    function product(amplitude, x, y, cosine) {
        printf ", {sine: {waves: [%.17g, %.17g], amplitude: %.17g, phase: %.17g}}",
            y * n / (2 * pi), x * n / (2 * pi), amplitude / 100, cosine ? pi / 2 : 0
    }'
}
run_strake() { # CELLS THREADS STEPS TIME POTENTIAL
    energy='' field='{random: {seed: 1, minimum: -0.1, maximum: 0.1}}'
    [ "$5" = well ] || {
        energy=', free_energy: {polynomial: [0.2205, -2.1, 7.1, -10, 5]}' # 5 (c - 0.3)^2 (0.7 - c)^2
        field=$(start "$1")
    }
    cat >"$work/case.yaml" <<YAML
problem: cahn_hilliard2d
grid: {rows: $1, cols: $1}
time: {dt: 0.001, steps: $3}
boundary: {rows: no_flux, cols: no_flux}
parameters: {M: 5, K: 2}
scheme: {time: $4$energy}
fields: {u: $field}
output: {fields: []}
run: {tuned: false}
YAML
    "$strake" run "$work/case.yaml" --on cpu --threads "$2" --quiet --report "$work/report.json"
    tr -d '\n' <"$work/report.json" | sed "s#$work/##g" >"$work/report"
    awk -v cells="$1" -v steps="$3" -v threads="$2" '
        { seconds = rate = $0
          sub(/.*"bit_exact": [a-z]*, *"seconds": /, "", seconds)
          sub(/.*"cells_per_second": /, "", rate) # the last one: of all devices
          ratio = rate * seconds / cells / cells / steps
          exit !(index($0, "\"shape\": [" cells ", " cells "], \"steps\": " steps ",") &&
                 index($0, "\"precision\": \"double\",") && index($0, "\"threads\": " threads ",") &&
                 ratio > 0.999 && ratio < 1.001) }' "$work/report" ||
        fail "Strake's report is not that of $3 steps of $1 x $1 cells on $2 threads: $(cat "$work/report")"
}
note() { # CELLS PROGRAM: a line of the turn
    printf '"round": %d, "size": %d, "on": "cpu", "options": "%s", "report": %s}\n' "$round" "$1" "$2" \
        "$(cat "$work/report")" >>"$work/turn"
}
# In hundredths of a second: processors' busy time, of these the ones of this script's programs, now.
clock() { # FILE
    times >"$work/times" # not in a subshell, which has no times of programs before it
    {
        tr 'ms\n' '   ' <"$work/times"
        sed -n 's/^cpu  *//p' /proc/stat
        cat /proc/uptime
    } | tr '\n' ' ' | awk '{ own = ($1 + $3 + $5 + $7) * 60 + $2 + $4 + $6 + $8
        printf "%d %d %d\n", $9 + $10 + $11 + $14 + $15 + $16, own * 100, $19 * 100 }' >"$1"
}
others() { # how many processors other programs took since clock "$work/since"
    clock "$work/now"
    cat "$work/since" "$work/now" | tr '\n' ' ' | awk '{
        used = ($4 - $1 - $5 + $2) / ($6 - $3 + 1e-9); printf "%.2f\n", (used > 0 ? used : 0) }' >"$work/others"
}
wait_for_quiet() {
    left=${WAIT:-60}
    while [ "$left" -gt 0 ]; do
        clock "$work/since"
        sleep 1
        others
        [ "$(tr -d . <"$work/others")" -gt 10 ] || return 0
        left=$((left - 1))
    done
}

# The same problem: state after 3000 steps; HiPerC writes six decimals.
same() {
    run_hiperc 200 1 3000
    awk -F, '$1 ~ /^[0-9]/ && NF == 3 {
                 s += $3; least = !n || $3 < least ? $3 : least; most = !n++ || $3 > most ? $3 : most }
             END { printf "%.6f %.6f %.9f\n", least, most, s / n }' "$work"/spinodal/spinodal*.csv >"$work/theirs"
    run_strake 200 1 3000 euler polynomial
    sed 's/.*"u": {"min": \([^,]*\), "max": \([^,]*\), "sum": \([^,]*\),.*/\1 \2 \3/' "$work/report" |
        awk '{ printf "%.6f %.6f %.9f\n", $1, $2, $3 / 40000 }' >"$work/ours"
    {
        echo "least, largest and mean concentration of 200 x 200 cells after 3000 steps of 0.001"
        echo "HiPerC $(cat "$work/theirs")"
        echo "Strake $(cat "$work/ours")"
    } >"$out/same.txt"
    paste -d ' ' "$work/theirs" "$work/ours" | awk '
        { for (i = 1; i < 4; i++) if (($i - $(i + 3)) ^ 2 > 2.5e-12) exit 1 }' ||
        { cat "$out/same.txt" >&2; fail "HiPerC and Strake do not solve the same problem"; }
}
[ "$first" -gt 1 ] || same
all=$(nproc)
[ "$all" -eq 1 ] && all=
for round in $(seq "$first" $((first + rounds - 1))); do
    for size in ${SIZES:-200 1024 2048}; do
        third=$((42000000 / size / size)) # HiPerC times two thirds: 84 million cell steps
        for threads in ${THREADS:-1 $all}; do
            : >"$work/turn"
            wait_for_quiet
            clock "$work/since"
            run_hiperc "$size" "$threads" $((third * 3))
            note "$size" "hiperc euler polynomial --threads $threads"
            for scheme in euler midpoint; do
                for potential in polynomial well; do
                    run_strake "$size" "$threads" $((third * threads * 8)) $scheme $potential
                    note "$size" "strake $scheme $potential --threads $threads"
                done
            done
            others
            sed "s/^/{\"others\": $(cat "$work/others"), /" "$work/turn" >>"$out/rates.jsonl"
        done
    done
done

# Rates and their quotients by the HiPerC run of the same turn.
medians() { # LIMIT: of turns in which other programs took at most so many processors
    sed 's/^{"others": \([^,]*\), "round": \([^,]*\), "size": \([^,]*\), [^,]*, "options": "\([^"]*\)"/\1 \2 \3 \4 /
        s/,.*"cells_per_second": \([0-9.e+]*\)[,}].*/ \1/' "$out/rates.jsonl" | awk -v limit="$1" '
        { key = sprintf("%4d^2  %d thread%s  %-6s  %-8s  %-10s", $3, $8, $8 > 1 ? "s" : " ", $4, $5, $6)
          if (!(key in count)) { order[++keys] = key; count[key] = 0 }
          if ($1 > limit) next
          i = ++count[key]
          rate[key, i] = $9 / 1e6
          if ($4 == "hiperc") theirs = $9
          else quotient[key, i] = $9 / theirs }
        function sorted(values, key,    i, j, swap) {
            for (i = 1; i <= count[key]; i++)
                for (j = i + 1; j <= count[key]; j++)
                    if (values[key, j] < values[key, i]) {
                        swap = values[key, i]; values[key, i] = values[key, j]; values[key, j] = swap
                    }
        }
        function median(values, key,    n) {
            n = count[key]
            return n % 2 ? values[key, (n + 1) / 2] : (values[key, n / 2] + values[key, n / 2 + 1]) / 2
        }
        END {
            for (k = 1; k <= keys; k++) {
                key = order[k]
                printf "%s  %2d", key, count[key]
                if (count[key]) {
                    sorted(rate, key)
                    printf "  %7.1f (%.1f to %.1f)", median(rate, key), rate[key, 1], rate[key, count[key]]
                }
                if (count[key] && key !~ /hiperc/) {
                    sorted(quotient, key)
                    printf "  %5.2f (%.2f to %.2f)", median(quotient, key), quotient[key, 1],
                        quotient[key, count[key]]
                }
                print ""
            }
        }' | sort -k 1,1n -k 2,2n -s
}
{
    echo "turns, Mcell/s: median (least to largest), multiples of HiPerC in the same turn: median (least to largest)"
    echo "undisturbed turns: other programs took at most a tenth of a processor"
    medians 0.1
    echo "all turns"
    medians 1000
} | tee "$out/medians.txt"
uptime >>"$out/machine.txt"
