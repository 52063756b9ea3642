#!/bin/sh
# Two builds of the program in turns, on one machine: is the newer one as fast, and are the bits the same?
# Usage: sh bench/plan_turns.sh OUTPUT_FOLDER BEFORE AFTER [cpu|cubes|gpu|gpus]...
# BEFORE and AFTER are two programs (build/strake of two checkouts), each with a cache of its own. ROUNDS
# (5) times every grid runs with one and the other, the order turned from round to round; turns.txt has
# the median rate of both, the ratio of medians, and the least and largest ratio of a round. Lines
# DIFFERENT in turns.txt name grids whose checksums are not the same. One to two minutes per GPU plan.
# cubes: three dimensions on one and two threads of the processor, and Cahn-Hilliard in two beside it (a minute and a
# half); gpu: the first GPU alone; gpus: the first two together (without GPUs the first OpenCL devices).
set -u
out=$1 before=$2 after=$3
shift 3
mkdir -p "$out" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: >"$out/rates.txt"

gpus() { # PROGRAM COUNT: as that program calls them
    "$1" devices --json | sed -n 's/.*"id": "\([a-z]*:[0-9]*\)", "kind": "\([a-z]*\)".*/\2 \1/p' |
        awk -v n="$2" '$1 == "gpu" { list = list (m++ ? "," : "") $2; if (m == n) exit }
            END { print list != "" ? list : n == 1 ? "ocl:0" : "ocl:0,ocl:0" }'
}
one() { # NAME PROGRAM CASE-KEY ON [options]: prints "rate checksum"
    name=$1 program=$2 key=$3 on=$4
    shift 4
    case $on in
        gpus) on=$(gpus "$program" 2) ;;
        gpu) on=$(gpus "$program" 1) ;;
    esac
    STRAKE_CACHE_DIR=$work/$name "$program" run "$work/$key.yaml" --on "$on" --no-tune --quiet "$@" \
        --report "$work/report.json" 2>"$work/err" || {
        echo "FAILED $name $key $on $*: $(head -c 300 "$work/err")" | tee -a "$out/failed.txt" >&2
        echo '0 none'
        return
    }
    tr -d '\n' <"$work/report.json" | sed 's/.*"cells_per_second": \([0-9.e+]*\).*"checksum": "\([0-9a-f]*\)".*/\1 \2/'
}
turns() { # KEY ON [options]
    grid=$1 where=$2
    shift 2
    for round in $(seq "${ROUNDS:-5}"); do
        if [ $((round % 2)) -eq 1 ]; then order='before after'; else order='after before'; fi
        for name in $order; do
            if [ "$name" = before ]; then program=$before; else program=$after; fi
            echo "$name $grid $where$(echo " $*" | tr -d ' ') $round $(one "$name" "$program" "$grid" "$where" "$@")" >>"$out/rates.txt"
        done
    done
}
mpdata() { # KEY ROWS COLS STEPS
    cat >"$work/$1.yaml" <<YAML
problem: mpdata2d
grid: {rows: $2, cols: $3}
time: {dt: 0.1, steps: $4}
boundary: {rows: open, cols: open}
fields:
  psi: {random: {seed: 7, minimum: 0, maximum: 1}}
  u1: {random: {seed: 5, minimum: 0.2, maximum: 0.2001}}
  u2: {random: {seed: 6, minimum: 0.2, maximum: 0.2001}}
  h: {random: {seed: 2, minimum: 1, maximum: 2}}
output: {fields: []}
YAML
}
advected() { # KEY SIDE STEPS
    cat >"$work/$1.yaml" <<YAML
problem: mpdata3d
grid: {planes: $2, rows: $2, cols: $2}
time: {dt: 0.1, steps: $3}
fields:
  psi: {random: {seed: 7, minimum: 0, maximum: 1}}
  u1: {random: {seed: 5, minimum: 0.1, maximum: 0.1001}}
  u2: {random: {seed: 6, minimum: 0.1, maximum: 0.1001}}
  u3: {random: {seed: 4, minimum: 0.1, maximum: 0.1001}}
output: {fields: []}
YAML
}
phases() { # KEY GRID STEPS
    cat >"$work/$1.yaml" <<YAML
problem: cahn_hilliard$2
grid: $3
time: {dt: 0.01, steps: $4}
fields: {u: {random: {seed: 3, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}
YAML
}
for plan in "$@"; do
    case $plan in
        cpu)
            mpdata 512 512 512 400
            mpdata 2048 2048 2048 40
            mpdata 1000x3000 1000 3000 60
            phases cube128 3d '{planes: 128, rows: 128, cols: 128}' 40
            for threads in 1 2; do
                for key in 512 2048 1000x3000 cube128; do turns $key cpu --threads $threads; done
            done
            ;;
        cubes)
            phases cube256 3d '{planes: 256, rows: 256, cols: 256}' 12
            phases flat 2d '{rows: 1024, cols: 2048}' 100
            advected advected192 192 8
            for threads in 1 2; do
                for key in cube256 flat advected192; do turns $key cpu --threads $threads; done
            done
            ;;
        gpu | gpus)
            mpdata 512 512 512 4000
            mpdata 2048 2048 2048 3000
            mpdata 8192 8192 8192 300
            phases cube512 3d '{planes: 512, rows: 512, cols: 512}' 200
            if [ "$plan" = gpu ]; then
                for key in 512 2048 8192 cube512; do turns $key gpu; done
            else
                turns 8192 gpus
            fi
            ;;
        *)
            echo "no plan '$plan': expected cpu, cubes, gpu or gpus" >&2
            exit 2
            ;;
    esac
done
awk '
function median(list, n,    i, j, t) {
    for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
{ key = $2 " " $3; if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
  rate[$1, key, $4] = $5 / 1e6; if ($4 > rounds) rounds = $4
  if ($6 == "none" || (key in sum && sum[key] != $6)) bad[key] = 1; sum[key] = $6 }
END {
    for (k = 1; k <= keys; k++) {
        key = order[k]; low = 1e9; high = 0
        for (r = 1; r <= rounds; r++) {
            b[r] = rate["before", key, r]; a[r] = rate["after", key, r]
            q = b[r] > 0 ? a[r] / b[r] : 0
            low = q < low ? q : low; high = q > high ? q : high
        }
        mb = median(b, rounds); ma = median(a, rounds)
        word = (key in bad) ? "DIFFERENT" : "EQUAL"
        printf("%-34s before %10.1f  after %10.1f Mcell/s  ratio %.3f  rounds %.3f to %.3f  %s\n",
            key, mb, ma, (mb > 0 ? ma / mb : 0), low, high, word)
    }
}' "$out/rates.txt" | tee "$out/turns.txt"
if grep -q DIFFERENT "$out/turns.txt"; then exit 1; fi
