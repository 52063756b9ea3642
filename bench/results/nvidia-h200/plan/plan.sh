# One GPU (ocl:0) and the processors beside it, in rounds: what is compared is measured in turns. Third
# argument of measure.sh; then `sh bench/median.sh OUT/rates.txt`. Lines EQUAL and DIFFERENT in checks.txt
# compare the checksums of psi after the same steps. About four minutes on an NVIDIA H200 with 16
# processors, by the times of earlier runs. ROUNDS, SIZES, LARGE, HYBRID and HUGE change what is run.
plan_only_functions=1
. "$(dirname "$0")/plan_streaming.sh"
rounds=${ROUNDS:-3}
large=${LARGE:-8192}
h_one='fields.h={constant: 1}'
steps_of() { # SIZE: about 0.05 to 0.1 s of a GPU's stepping
    awk -v n="$1" 'BEGIN { s = 1.5e9 / n / n; s = s > 2000 ? 2000 : s < 60 ? 60 : int(s); print s }'
}
check() { # NAME: compares the last run with the first of its size
    now=$(checksum)
    reference=${reference:-$now}
    if [ -n "$now" ] && [ "$now" = "$reference" ]; then word=EQUAL; else word=DIFFERENT; fi
    echo "$word $1" | tee -a "$out/checks.txt"
}
variants() { # SIZE STEPS
    for option in precision=single scheme.gauge=infinite "$h_one"; do
        fresh "$1" "$2" ocl:0 --set "$option"
    done
}
for size in ${SIZES:-256 512 1000 1024 2048 3001 4096} $large; do
    n=$(steps_of "$size")
    reference=
    fresh "$size" "$n" cpu
    check "cpu $size"
    for round in $(seq "$rounds"); do
        fresh "$size" "$n" ocl:0
        check "ocl:0 $size, round $round"
        fresh "$size" "$n" ocl:0 --set run.fusion=none
        check "ocl:0 $size, one kernel per stage, round $round"
        case $size in 2048 | "$large") variants "$size" "$n" ;; esac
    done
done
for size in ${HYBRID:-512 2048} $large; do
    n=$(steps_of "$size")
    reference=
    fresh "$size" "$n" ocl:0
    check "ocl:0 $size"
    for round in $(seq $((size < large ? rounds : 2))); do
        for on in hybrid auto; do
            fresh "$size" "$n" $on
            check "$on $size, round $round"
        done
    done
done
# Streaming: the cap is a third of what the resident stripe takes.
reference=
n=$((2 * $(steps_of "$large")))
fresh "$large" "$n" ocl:0
check "resident $large"
third
say "  resident $((cap * 3)) bytes, cap $cap bytes"
for round in $(seq "$rounds"); do
    fresh "$large" "$n" ocl:0 --set "run.device_memory=$cap"
    check "streaming $large, round $round"
done
# Phase separation, two and three dimensions.
phases() { # PROBLEM GRID STEPS TIME_STEP
    cat >"$work/phases.yaml" <<YAML
problem: $1
grid: $2
time: {dt: $4, steps: $3}
fields: {u: {random: {seed: 3, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}
YAML
    reference=
    for on in cpu ocl:0; do
        rm -f "$work/report.json"
        "$strake" run "$work/phases.yaml" --on $on --quiet --report "$work/report.json" \
            2>>"$out/failures.txt" || echo '{}' >"$work/report.json"
        check "$1 $2 $on"
        printf '{"problem": "%s", "grid": "%s", "on": "%s", "report": %s}\n' "$1" "$2" "$on" \
            "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
        say "$(printf '%-60s %10.1f Mcell/s' "$1 $2 $on" "$(grep -o '"cells_per_second": [0-9.e+]*' \
            "$work/report.json" | tail -1 | awk '{print $2 / 1e6}')")"
    done
}
cube=$((large / 16))
if "$strake" help case | grep -q '^Problem cahn_hilliard2d'; then
    phases cahn_hilliard2d "{rows: $large, cols: $large}" 40 0.01
fi
if "$strake" help case | grep -q '^Problem cahn_hilliard3d'; then
    phases cahn_hilliard3d "{planes: $cube, rows: $cube, cols: $cube}" 30 0.01
fi
for size in ${HUGE:-16384}; do
    for on in hybrid auto; do fresh "$size" 60 $on; done
done
