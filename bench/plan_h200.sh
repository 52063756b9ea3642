# One GPU (ocl:0) and the processors beside it, in rounds: what is compared is measured in turns. Third
# argument of measure.sh; then `sh bench/median.sh OUT/rates.jsonl`. Lines EQUAL and DIFFERENT in checks.txt
# compare the checksums of the state after the same steps with those of a `cpu` run of the same options.
# About eight minutes on an NVIDIA H200 with 16 processors, by the times of earlier runs. ROUNDS, SIZES,
# LARGE, HYBRID, HUGE and PHASE_STEPS change what is run.
plan_only_functions=1
. "$(dirname "$0")/plan_streaming.sh"
cp "$(dirname "$0")/plan_streaming.sh" "$out/"
rounds=${ROUNDS:-3}
large=${LARGE:-8192}
h_one='fields.h={constant: 1}'
steps_of() { # SIZE: about 0.05 to 0.1 s of a GPU's stepping
    awk -v n="$1" 'BEGIN { s = 1.5e9 / n / n; s = s > 2000 ? 2000 : s < 60 ? 60 : int(s); print s }'
}
check() { # REFERENCE NAME: compares the last run with a checksum
    if [ -n "$1" ] && [ "$(checksum)" = "$1" ]; then word=EQUAL; else word=DIFFERENT; fi
    echo "$word $2" | tee -a "$out/checks.txt"
}
variant() { # SIZE STEPS OPTION: `cpu` once, the GPU in every round
    reference=$(sed -n "s/^$1 $3 //p" "$work/variants")
    if [ -z "$reference" ]; then
        fresh "$1" "$2" cpu --set "$3"
        reference=$(checksum)
        echo "$1 $3 $reference" >>"$work/variants"
    fi
    fresh "$1" "$2" ocl:0 --set "$3"
    check "$reference" "ocl:0 $1 $3, round $round"
}
: >"$work/variants"
for size in ${SIZES:-256 512 1000 1024 2048 3001 4096} $large; do
    n=$(steps_of "$size")
    fresh "$size" "$n" cpu
    processors=$(checksum)
    for round in $(seq "$rounds"); do
        fresh "$size" "$n" ocl:0
        check "$processors" "ocl:0 $size, round $round"
        fresh "$size" "$n" ocl:0 --set run.fusion=none
        check "$processors" "ocl:0 $size, one kernel per stage, round $round"
        case $size in
            2048 | "$large")
                for option in precision=single scheme.gauge=infinite "$h_one"; do
                    variant "$size" "$n" "$option"
                done
                ;;
        esac
    done
done
for size in ${HYBRID:-512 2048} $large; do
    n=$(steps_of "$size")
    fresh "$size" "$n" cpu
    processors=$(checksum)
    for round in $(seq $((size < large ? rounds : 2))); do
        for on in ocl:0 hybrid auto; do
            fresh "$size" "$n" $on
            check "$processors" "$on $size, round $round"
        done
    done
done
# Streaming: the cap is a third of what the resident stripe takes.
n=$((2 * $(steps_of "$large")))
fresh "$large" "$n" cpu
processors=$(checksum)
for round in $(seq "$rounds"); do
    fresh "$large" "$n" ocl:0
    check "$processors" "resident $large, round $round"
    third
    [ "$round" -gt 1 ] || say "  resident $((cap * 3)) bytes, cap $cap bytes"
    fresh "$large" "$n" ocl:0 --set "run.device_memory=$cap"
    check "$processors" "streaming $large, round $round"
done
# Phase separation, two and three dimensions.
phase() { # PROBLEM GRID WHERE: a run of work/phases.yaml
    rm -f "$work/report.json"
    "$strake" run "$work/phases.yaml" --on "$3" --quiet --report "$work/report.json" 2>"$work/err" || {
        echo "$1 $2 $3: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        echo '{}' >"$work/report.json"
        return 0
    }
    printf '{"problem": "%s", "grid": "%s", "on": "%s", "report": %s}\n' "$1" "$2" "$3" \
        "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
    say "$(printf '%-60s %10.1f Mcell/s' "$1 $2 $3" "$(grep -o '"cells_per_second": [0-9.e+]*' \
        "$work/report.json" | tail -1 | awk '{print $2 / 1e6}')")"
}
phases() { # PROBLEM GRID STEPS TIME_STEP
    cat >"$work/phases.yaml" <<YAML
problem: $1
grid: $2
time: {dt: $4, steps: $3}
fields: {u: {random: {seed: 3, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}
YAML
    phase "$1" "$2" cpu
    processors=$(checksum)
    for round in $(seq "$rounds"); do
        phase "$1" "$2" ocl:0
        check "$processors" "$1 $2 ocl:0, round $round"
    done
}
cube=$((large / 16))
phases cahn_hilliard2d "{rows: $large, cols: $large}" "${PHASE_STEPS:-300}" 0.01
phases cahn_hilliard3d "{planes: $cube, rows: $cube, cols: $cube}" "${PHASE_STEPS:-300}" 0.01
for size in ${HUGE:-16384}; do
    fresh "$size" 60 hybrid
    processors=$(checksum)
    fresh "$size" 60 auto
    check "$processors" "auto $size against hybrid"
done
