# Several devices of one host: strong scaling of three grids, weak scaling with the rows per device kept.
# Third argument of measure.sh; its results are in turns, ROUNDS of them. scaling.txt has medians, efficiency,
# Karp-Flatt serial fraction and the share of the time in which the busiest device did not compute; lines
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
    # Of the time of the device that computes longest, by its own timers, what it does not.
    share=$(tr -d '\n' <"$work/report.json" | sed 's/  */ /g' | awk '
        match($0, /"seconds": [0-9.e-]+, "setup_seconds"/) { all = substr($0, RSTART + 11) + 0 }
        { while (match($0, /"compute": [0-9.e-]+/)) {
            busy = substr($0, RSTART + 11, RLENGTH - 11) + 0
            most = busy > most ? busy : most
            $0 = substr($0, RSTART + RLENGTH) } }
        END { printf("%.2f", all > 0 ? 100 * (1 - most / all) : 0) }')
    printf '%-8s %6sx%-6s %d %-40s %10.1f Mcell/s %6s %% not computing\n' "$kind" "$rows" "$cols" "$count" "$*" \
        "$rate" "$share" | tee -a "$out/rates.txt"
    echo "$kind ${rows}x$cols$(echo "$*" | tr -d ' ') $count $rate $share" >>"$work/measured"
    echo "$rows $cols $steps $(grep -o '"checksum": "[0-9a-f]*"' "$work/report.json")" >>"$work/sums"
}
: >"$work/measured"
: >"$work/sums"
gpus=${GPUS:-$(grep -c '^ocl:[0-9]' "$out/devices.txt")}
for round in $(seq "${ROUNDS:-3}"); do
    count=1
    while [ "$count" -le "$gpus" ]; do
        grid strong "$count" 2048 2048 4000
        grid strong "$count" 8192 8192 400
        grid strong "$count" ${HUGE:-16384} ${HUGE:-16384} 150
        grid weak "$count" $((8192 * count)) 8192 300
        [ "$count" -lt "$gpus" ] || {
            grid strong "$count" 8192 8192 400 --set run.overlap=off
            grid strong "$count" 8192 8192 400 --set run.steps_per_sweep=1
        }
        count=$((count * 2))
    done
done
sort "$work/sums" | uniq | awk '{ n[$1 "x" $2 " " $3 " steps"]++ } END { for (k in n) print (n[k] == 1 ? "EQUAL " : "DIFFERENT ") k }' |
    tee "$out/checks.txt"
sort -k1,1 -k2,2 -k3,3n -k4,4g "$work/measured" | awk '
    function flush(  m, base, s, e, f) {
        if (n == 0) return
        m = n % 2 ? r[(n + 1) / 2] : (r[n / 2] + r[n / 2 + 1]) / 2
        if (p == 1) one[key] = m
        what = key
        if (!(key in one)) sub(/--set.*/, "", what)
        base = kind == "weak" ? weak : one[what]
        if (kind == "weak" && p == 1) base = weak = m
        s = base > 0 ? m / base : 0
        e = s / p
        f = p > 1 && s > 0 ? (1 / s - 1 / p) / (1 - 1 / p) : 0
        printf("%-48s %d devices %10.1f Mcell/s, speed-up %5.2f, efficiency %5.1f %%, serial fraction %7.4f, not computing at most %.2f %%\n",
            key, p, m, s, 100 * e, f, worst)
    }
    { k = $1 " " $2 }
    k != key || $3 != p { flush(); n = 0; worst = 0 }
    { key = k; kind = $1; p = $3; r[++n] = $4; worst = $5 > worst ? $5 : worst }
    END { flush() }' | tee "$out/scaling.txt"
