steps_of() { awk -v n="$1" 'BEGIN { s = 1.5e9 / n / n; s = s > 3000 ? 3000 : s < 60 ? 60 : int(s); print s }'; }
m() { size=$1; shift; measure "$size" "$(steps_of "$size")" ocl:0 "$@"; grep -o '"checksum": "[0-9a-f]*"' "$work/report.json" >>"$out/rates.txt"; grep -o '"registers": [0-9]*\|"private_bytes": [0-9]*' "$work/report.json" | tr '\n' ' ' >> "$out/rates.txt"; }
all() { echo "== $*" | tee -a "$out/rates.txt"; m 1024; m 2048; m 4096; m 8192; m 8192 --set scheme.gauge=infinite; m 8192 --set precision=single; m 2048 --set precision=single; }
for r in 1 2; do
(export X_NOPITCH=1; all nopitch)
all pitch
done
for R in 96 104 112 116 120 124; do m 8192 --set precision=single --set run.registers=$R; done
for R in 112 116 120 124; do m 8192 --set run.registers=$R --set run.group_width=64; done
for o in prefetch=1 prefetch=3 unroll=1 unroll=4 registers=128 keep=2 keep=4 group_width=64; do m 8192 --set run.$o; m 8192  --set precision=single --set run.$o; done
tar -C "$out" -czf "$OUT/g1.tgz" . 2>/dev/null
