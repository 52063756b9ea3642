#!/bin/sh
# One GPU alone, what `auto` chooses, and the CPU beside it by force, in turns.
# usage: plan.sh OUTPUT_FOLDER STRAKE
out=$1 strake=$2; mkdir -p $out; w=$(mktemp -d)
go() { # N STEPS ON...
    n=$1 steps=$2; shift 2
    cat >$w/c.yaml <<YAML
problem: mpdata2d
grid: {rows: $n, cols: $n}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: open}
fields:
  psi: {cone: {center: [$((n / 2)), $((n * 3 / 4))], radius: $((n / 7)), height: 4, base: 0}}
  u1: {rotation: {omega: $(awk "BEGIN {print 4.0 / $n}"), center: [$((n / 2)), $((n / 2))]}}
  u2: {rotation: {omega: $(awk "BEGIN {print 4.0 / $n}"), center: [$((n / 2)), $((n / 2))]}}
  h: {random: {seed: 2, minimum: 1, maximum: 1.5}}
output: {fields: []}
YAML
    timeout 60 $strake run $w/c.yaml "$@" --no-tune --quiet --report $w/r.json 2>$w/err || {
        echo "$n $*: $(head -c 300 $w/err)" | tee -a $out/failures.txt
        return
    }
    printf '{"size": %s, "options": "%s", "report": %s}\n' $n "$*" "$(tr -d '\n' <$w/r.json)" >>$out/rates.jsonl
    printf '%6s %5s %-40s %10.1f Mcell/s\n' $n $steps "$*" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' $w/r.json | tail -1 | awk '{print $2/1e6}')" | tee -a $out/rates.txt
}
for round in 1 2 3; do
    for s in "256 20000" "512 20000" "1024 10000" "2048 5000" "4096 1000"; do
        set -- $s
        go $1 $2 --on ocl:0
        go $1 $2 --on auto
    done
    go 2048 40 --on cpu --threads 15
    go 2048 5000 --on cpu,ocl:0
    go 4096 1000 --on cpu,ocl:0
    go 8192 40 --on cpu --threads 15
    go 8192 800 --on ocl:0; go 8192 800 --on auto; go 8192 800 --on cpu,ocl:0
    go 16384 200 --on ocl:0; go 16384 200 --on cpu,ocl:0; go 16384 200 --on auto
done
