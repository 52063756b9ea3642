# The CPU stripe: threads, grid shapes, precision, steps per sweep. `any` takes any shape of grid.
any() { # ROWS COLS STEPS ON [options]
    rows=$1 cols=$2 steps=$3 on=$4
    shift 4
    cat >"$work/any.yaml" <<YAML
problem: mpdata2d
grid: {rows: $rows, cols: $cols}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: open}
fields:
  psi: {gaussian: {center: [$((rows / 2)), $((cols / 2))], sigma: $((rows / 8)), height: 1, base: 0}}
  u1: {deformation: {amplitude: 0.4, waves: [2, 2]}}
  u2: {deformation: {amplitude: 0.4, waves: [2, 2]}}
output: {fields: []}
YAML
    "$strake" run "$work/any.yaml" --on "$on" "$@" --quiet --report "$work/report.json" 2>"$work/err" || {
        echo "${rows}x$cols $on $*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"rows": %s, "cols": %s, "on": "%s", "options": "%s", "report": %s}\n' "$rows" "$cols" \
        "$on" "$*" "$(tr -d '\n' <"$work/report.json" | sed "s#$work/##")" >>"$out/rates.jsonl"
    printf '%6sx%-6s %-10s %-40s %10.1f Mcell/s\n' "$rows" "$cols" "$on" "$*" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 |
            awk '{print $2 / 1e6}')" | tee -a "$out/rates.txt"
}
# Five minutes on 2 cores. Steps one by one unless said, so that sizes and threads compare; what
# is compared is measured in turns, ROUNDS times (3): take medians.
one='run.steps_per_sweep=1'
field='fields.h={random: {seed: 2, minimum: 1, maximum: 2}}'
cores=$(nproc)
one='run.steps_per_sweep=1'
for round in $(seq 5); do
for k in 1 2; do
one=run.steps_per_sweep=$k
for n in 512 1024 2048 4096; do any $n $n $((n > 500 ? 200000 / n + 1 : 1)) cpu --set $one; done
any 8192 8192 24 cpu --set $one
any 1000 100000 16 cpu --set $one
any 100000 1000 16 cpu --set $one
done
done
