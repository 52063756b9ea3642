# Grids larger than device memory: for each case the cap is a third of the bytes that its resident stripe
# takes (device_memory_bytes of the run before), at equal steps, with the checksum of psi from `cpu` beside
# it. Third argument of measure.sh; a device's first GPU is ocl:0.
say() { # LINE: into the results
    printf '%s\n' "$1" | tee -a "$out/rates.txt"
}
checksum() { # of psi, of the last run
    grep -o '"checksum": "[0-9a-f]*"' "$work/report.json" | tail -1
}
third() { # sets cap: a third of what the last run took on the device [bytes]
    cap=$(grep -o '"device_memory_bytes": [0-9]*' "$work/report.json" | head -1 | awk '{print int($2 / 3)}')
}
fresh() { # SIZE STEPS WHERE [options]: a run whose report is not an older one's
    rm -f "$work/report.json"
    measure "$@"
    [ -f "$work/report.json" ] || echo '{}' >"$work/report.json"
}
against() { # WANTED NAME: compares the checksum of the last run
    if [ -n "$1" ] && [ "$(checksum)" = "$1" ]; then say "EQUAL $2"; else say "DIFFERENT $2"; fi
}
out_of_core() { # SIZE STEPS [options]: resident, capped, cpu
    n=$1 count=$2
    shift 2
    fresh "$n" "$count" ocl:0 "$@"
    resident=$(checksum)
    third
    say "  resident $((cap * 3)) bytes, cap $cap bytes"
    fresh "$n" "$count" ocl:0 --set "run.device_memory=$cap" "$@"
    against "$resident" "streaming and resident, $n $*"
    fresh "$n" "$count" cpu "$@"
    against "$resident" "cpu and resident, $n $*"
}
if [ -z "${plan_only_functions:-}" ]; then
    out_of_core 8192 64
    out_of_core 8192 64 --set precision=single
    out_of_core 16384 32
    fresh 8192 64 ocl:0
    third
    for steps in 1 4 8 16 32; do
        measure 8192 64 ocl:0 --set "run.device_memory=$cap" --set run.steps_per_sweep=$steps
    done
    for streams in 1 2 3 4; do
        measure 8192 64 ocl:0 --set "run.device_memory=$cap" --set run.steps_per_sweep=16 \
            --set run.streams=$streams
    done
    measure 8192 64 cpu,ocl:0 --set "run.device_memory=$cap" --split 1,12 --set run.steps_per_sweep=8
fi
