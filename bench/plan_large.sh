#!/bin/sh
# Grids whose arrays are larger than 32 bits count, and one larger than its device's memory: do they run, how
# fast, and to the bytes of another placement?
# usage: bench/plan_large.sh MODE OUTPUT_FOLDER [STRAKE]    (from the repository root, after `make`)
#   one     a GPU of 140 GiB, 128 GiB of host memory: MPDATA and Cahn-Hilliard, mostly against `cpu`
#   two     two of them, 256 GiB: the largest square and cube, against twice as many stripes on the same GPUs
#   beyond  a GPU of 80 GB, 128 GiB: MPDATA with four input fields streams, alone and beside the processors
# Every run has a line in OUTPUT_FOLDER/rates.txt as soon as it ends, its report in reports/NAME.json, its case in
# cases/, what it said in said/. Lines EQUAL and DIFFERENT compare the checksums of two placements; a run for
# which LIMIT leaves no time, or whose arrays the host has no memory for, is left out and said so.
# Variables: LIMIT (seconds of everything, default 360), EACH (of one run, default LIMIT), SCALE (divides cells
# per axis, to rehearse), STEPS, BEYOND_STEPS, GPUS (default: those that are listed; without any ocl:0, twice for
# `two`), ONLY (words: names of the sets of runs to make, in that order), MEMORY (bytes that `beyond` may take of
# a device, to rehearse it).
set -eu
mode=${1:?usage: bench/plan_large.sh one|two|beyond OUTPUT_FOLDER [STRAKE]}
out=${2:?an output folder}
strake=${3:-build/strake}
began=$(date +%s)
limit=${LIMIT:-360}
scale=${SCALE:-1}
steps=${STEPS:-4}
mkdir -p "$out/reports" "$out/cases" "$out/said"
listed=$("$strake" devices --json | sed -n 's/.*"id": "\([a-z]*:[0-9]*\)", "kind": "\([a-z]*\)".*/\2 \1/p')
gpus=${GPUS:-$(echo "$listed" | sed -n '/^gpu /s/.* //p' | tr '\n' ' ')}
first=$(echo "${gpus:-ocl:0}" | awk '{ print $1 }')
second=$(echo "${gpus:-ocl:0}" | awk '{ print (NF > 1 ? $2 : $1) }')
{
    date -u +%Y-%m-%d
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    nproc
    free -g 2>/dev/null || true
    echo "mode $mode, scale $scale, steps $steps, limit $limit s, GPUs: $first $second"
} | tee "$out/machine.txt"
"$strake" devices >"$out/devices.txt"
cp "$0" "$out/plan.sh"
: >"$out/rates.txt"

say() {
    printf '%s\n' "$*" | tee -a "$out/rates.txt"
}
scaled() { # CELLS: of an axis
    echo $(($1 / scale > 16 ? $1 / scale : 16))
}
number() { # KEY: the number of that key of the report itself
    sed -n "s/^  \"$1\": \([0-9.e+-]*\).*/\1/p" "$report" | tail -1
}

# Cases: written to cases/NAME.yaml. Fields are made where they lie, none is read or written.
mpdata() { # NAME ROWS COLS u1 u2 h
    cat >"$out/cases/$1.yaml" <<YAML
problem: mpdata2d
grid: {rows: $2, cols: $3}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: 0, maximum: 1}}
  u1: $4
  u2: $5
  h: $6
output: {fields: []}
YAML
}
phases() { # NAME DIMENSIONS GRID
    cat >"$out/cases/$1.yaml" <<YAML
problem: cahn_hilliard$2d
grid: {$3}
time: {dt: 0.004, steps: $steps}
scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}
YAML
}
cube() { # NAME CELLS
    n=$(scaled "$2")
    phases "$1" 3 "planes: $n, rows: $n, cols: $n"
}
square() { # NAME CELLS
    n=$(scaled "$2")
    phases "$1" 2 "rows: $n, cols: $n"
}

# Runs a case; sets $sum to its checksum, "" if it did not end.
go() { # NAME GB WHERE [options]: GB of host memory that its arrays take, at scale 1
    name=$1 need=$2 on=$3
    shift 3
    sum=
    label=$name-$(echo "$on" | tr -d : | tr , -)
    report=$out/reports/$label.json
    left=$((limit - ($(date +%s) - began)))
    free=$(awk '/^MemAvailable/ { print int($2 / 1e6 * 1.024) }' /proc/meminfo)
    if [ "$left" -lt 15 ]; then
        say "$(printf '%-14s %-24s no time left' "$name" "$on")"
        return 0
    elif [ "$scale" -eq 1 ] && [ "$need" -gt "$free" ]; then
        say "$(printf '%-14s %-24s left out: %s GB of host memory, %s are free' "$name" "$on" "$need" "$free")"
        return 0
    fi
    rm -f "$report"
    start=$(date +%s)
    code=0
    timeout -k 5 "$(awk -v a="${EACH:-$limit}" -v b="$left" 'BEGIN { print (a < b ? a : b) }')" \
        "$strake" run "$out/cases/$name.yaml" --on "$on" --no-tune --report "$report" "$@" \
        >"$out/said/$label.txt" 2>"$out/said/$label.err" || code=$?
    wall=$(($(date +%s) - start))
    if [ $code -ne 0 ] || [ ! -s "$report" ]; then
        say "$(printf '%-14s %-24s exit status %d after %d s: %s' "$name" "$on" $code $wall \
            "$(tail -c 300 "$out/said/$label.err" | tr '\r\n' '  ')")"
        return 0
    fi
    sum=$(grep -o '"checksum": "[0-9a-f]*"' "$report" | tail -1 | cut -d'"' -f4)
    how=resident
    grep -q '"streaming": {' "$report" && how=streams
    say "$(printf '%-14s %-24s' "$name" "$on")$(awk -v wall=$wall -v setup="$(number setup_seconds)" \
        -v seconds="$(number seconds)" -v rate="$(number cells_per_second)" -v how=$how -v sum="$sum" 'BEGIN {
        printf " %8.2f Gcell/s, %s; set-up %.1f s, stepping %.2f s, then %.1f s; %s", rate / 1e9, how, setup, seconds,
            wall - setup - seconds, sum }')"
}
both() { # NAME GB WHERE GB WHERE [options]: two placements and their checksums
    name=$1 gb=$2 where=$3 other_gb=$4 other=$5
    shift 5
    go "$name" "$gb" "$where" "$@"
    one=$sum
    go "$name" "$other_gb" "$other" "$@"
    if [ -z "$one" ] || [ -z "$sum" ]; then
        say "NOT COMPARED $name"
    elif [ "$one" = "$sum" ]; then
        say "EQUAL $name: $where and $other"
    else
        say "DIFFERENT $name: $where and $other"
    fi
}

# What a run takes, in GB (10^9). An array has 8 bytes a cell. On the host a state has one array where GPUs
# keep all of it, two where processors compute or stripes stream; a static field one. On the GPU a state has
# two, a static field one, and Cahn-Hilliard in 3D one for the potential besides.
#                        cells     array   host alone, beside cpu   device (of 150, 85.9 an H100)
#   1600^3, CH3D         4.1e9     32.8    33, 66                   98
#   1024^3, CH3D         1.07e9    8.6     9, 17                    26
#   46000^2, MPDATA      2.1e9     16.9    51, 68  (u1, u2 fields)  68
#   68000^2, CH2D        4.6e9     37.0    37, 74                   74
#   68000^2, MPDATA      4.6e9     37.0    37, 74  (u1, u2 numbers) 74
#   72000^2, CH2D        5.2e9     41.5    42                       83
#   2032^3, CH3D         8.4e9     67.1    67, 135                  2 x 101
#   96000^2, CH2D        9.2e9     73.7    74, 148                  2 x 74
#   49000^2, MPDATA      2.4e9     19.2    96      (u1, u2, h)      96: streams
waves='{deformation: {amplitude: 0.4, waves: [3, 4]}}'
runs_tall() { # more groups along an axis than 16 bits count; a second or two each
    mpdata tall2d $((1200000 / scale)) 64 "$waves" "$waves" '{random: {seed: 2, minimum: 1, maximum: 1.5}}'
    both tall2d 2 "$first" 2 cpu --set run.fusion=none --set run.group_height=1
    phases tall3d 3 "planes: $((70000 / scale)), rows: 24, cols: 24"
    both tall3d 2 "$first" 2 cpu --set run.fusion=none
}
runs_cube1600() { cube cube1600 1600 && both cube1600 35 "$first" 68 cpu; }
runs_cube1024() { cube cube1024 1024 && both cube1024 10 "$first" 20 cpu; }
runs_mpdata46000() {
    n=$(scaled 46000)
    mpdata mpdata46000 "$n" "$n" "$waves" "$waves" '{constant: 1}'
    both mpdata46000 70 "$first" 70 cpu
}
runs_square68000() { square square68000 68000 && both square68000 40 "$first" 76 cpu; }
runs_mpdata68000() {
    n=$(scaled 68000)
    mpdata mpdata68000 "$n" "$n" '{constant: 0.3}' '{constant: -0.2}' '{constant: 1}'
    both mpdata68000 40 "$first" 76 "$first,$first" --set run.balance=fixed
}
runs_flat() { # a long third axis
    phases flat 3 "planes: $(scaled 4096), rows: $(scaled 512), cols: $(scaled 512)"
    both flat 10 "$first" 20 cpu
}
runs_square72000() { # arrays beyond the quarter of its memory that a driver tells: resident if it gives them
    square square72000 72000
    go square72000 84 "$first"
}
runs_cube2032() {
    cube cube2032 2032
    both cube2032 70 "$first,$second" 70 "$first,$second,$first,$second" --set run.balance=fixed
}
runs_square96000() {
    square square96000 96000
    both square96000 78 "$first,$second" 78 "$first,$second,$first,$second" --set run.balance=fixed
}
runs_beyond() {
    steps=${BEYOND_STEPS:-48}
    n=$(scaled 49000)
    mpdata beyond "$n" "$n" "$waves" "$waves" '{random: {seed: 2, minimum: 1, maximum: 1.5}}'
    both beyond 98 "$first" 98 "cpu,$first" \
        ${MEMORY:+--set "run.device_memory=$MEMORY"}
}

case $mode in
    one) sets='cube1600 tall cube1024 mpdata46000 square68000 mpdata68000 flat square72000' ;;
    two) sets='cube2032 square96000' ;;
    beyond) sets=beyond ;;
    *)
        echo "bench/plan_large.sh: MODE is one, two or beyond, not '$mode'" >&2
        exit 2
        ;;
esac
for set in ${ONLY:-$sets}; do
    "runs_$set"
done
say "$(($(date +%s) - began)) s in all"
! grep -q '^DIFFERENT' "$out/rates.txt"
