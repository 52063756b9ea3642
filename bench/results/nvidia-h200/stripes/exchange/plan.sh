# Several devices of one host: strong scaling of three grids, weak scaling with the rows per device kept.
# Third argument of measure.sh; its results are in turns, ROUNDS of them. scaling.txt has medians, efficiency,
# Karp-Flatt serial fraction and the share of the time in which a device exchanged and did nothing else; lines
# EQUAL and DIFFERENT compare checksums of runs of the same grid and steps. GPUS: how many devices to use.
grid() { # KIND COUNT ROWS COLS STEPS [options]
    kind=$1 count=$2 rows=$3 cols=$4 steps=$5 on=ocl:0
    shift 5
    while [ "$(echo "$on" | tr ',' '\n' | wc -l)" -lt "$count" ]; do
        on=$on,ocl:$(echo "$on" | tr ',' '\n' | wc -l)
    done
    cat >"$work/grid.yaml" <<YAML
problem: mpdata2d
grid: {rows: $rows, cols: $cols}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: open}
fields:
  psi: {gaussian: {center: [$((rows / 2)), $((cols / 2))], sigma: $((cols / 8)), height: 1, base: 0.5}}
  u1: {deformation: {amplitude: 0.4, waves: [2, 2]}}
  u2: {deformation: {amplitude: 0.4, waves: [2, 2]}}
  h: {random: {seed: 2, minimum: 1, maximum: 1.5}}
output: {fields: []}
YAML
    "$strake" run "$work/grid.yaml" --on "$on" "$@" --no-tune --quiet --report "$work/report.json" 2>"$work/err" || {
        echo "${rows}x$cols $on $*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"kind": "%s", "rows": %s, "cols": %s, "devices": %s, "on": "%s", "options": "%s", "report": %s}\n' \
        "$kind" "$rows" "$cols" "$count" "$on" "$*" "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
    rate=$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 | awk '{print $2 / 1e6}')
    # The last "seconds" is the whole run's; the others are a device's.
    share=$(tr -d '\n' <"$work/report.json" | grep -o '"seconds": *{[^}]*}' | grep -o '"exchange": *[0-9.e-]*' |
        awk -v s="$(grep -o '"seconds": [0-9.e-]*' "$work/report.json" | tail -1 | awk '{print $2}')" \
            '{ m = $2 > m ? $2 : m } END { printf("%.2f", 100 * m / s) }')
    printf '%-8s %6sx%-6s %d %-40s %10.1f Mcell/s %6s %% exchange\n' "$kind" "$rows" "$cols" "$count" "$*" \
        "$rate" "$share" | tee -a "$out/rates.txt"
    echo "$kind ${rows}x$cols$(echo "$*" | tr -d ' ') $count $rate $share" >>"$work/measured"
    echo "$rows $cols $steps $(grep -o '"checksum": "[0-9a-f]*"' "$work/report.json")" >>"$work/sums"
}
: >"$work/measured"; : >"$work/sums"
for r in 1 2 3; do
  [ $r = 3 ] || grid strong 1 8192 8192 1000
  for k in 2 4 8; do grid strong 2 8192 8192 1000 --set run.steps_per_sweep=$k; done
  grid strong 2 8192 8192 1000 --set run.steps_per_sweep=4 --set run.balance=fixed
  [ $r = 3 ] || for k in 2 4 8; do grid strong 2 2048 2048 6000 --set run.steps_per_sweep=$k; done
done
