# Several devices: strong scaling of one grid, weak scaling with the rows per device kept; every device is
# one of one host. `grid` takes any shape; steps one exchange apart as the program chooses.
grid() { # ROWS COLS STEPS ON [options]
    rows=$1 cols=$2 steps=$3 on=$4
    shift 4
    cat >"$work/grid.yaml" <<YAML
problem: mpdata2d
grid: {rows: $rows, cols: $cols}
time: {dt: 0.1, steps: $steps}
boundary: {rows: open, cols: open}
fields:
  psi: {gaussian: {center: [$((rows / 2)), $((cols / 2))], sigma: $((cols / 8)), height: 1, base: 0}}
  u1: {deformation: {amplitude: 0.4, waves: [2, 2]}}
  u2: {deformation: {amplitude: 0.4, waves: [2, 2]}}
  h: {random: {seed: 2, minimum: 1, maximum: 1.5}}
output: {fields: []}
YAML
    "$strake" run "$work/grid.yaml" --on "$on" "$@" --no-tune --quiet --report "$work/report.json" 2>"$work/err" || {
        echo "${rows}x$cols $on $*: $(head -c 300 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"rows": %s, "cols": %s, "on": "%s", "options": "%s", "report": %s}\n' "$rows" "$cols" \
        "$on" "$*" "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
    printf '%6sx%-6s %-24s %-40s %10.1f Mcell/s\n' "$rows" "$cols" "$on" "$*" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 |
            awk '{print $2 / 1e6}')" | tee -a "$out/rates.txt"
}
one=ocl:0 two=ocl:0,ocl:1 four=ocl:0,ocl:1,ocl:2,ocl:3
for on in $one $two $four; do grid 8192 8192 400 $on; done
grid 16384 8192 300 $two
grid 32768 8192 300 $four
for on in $one $two $four; do grid 16384 16384 200 $on; done
grid 8192 8192 400 $four
grid 2048 2048 2000 $one
grid 2048 2048 2000 $two
grid 2048 2048 2000 $four
grid 8192 8192 400 $four --set run.overlap=off
grid 16384 16384 200 $four --set run.balance=fixed --split 1,1,1,1
