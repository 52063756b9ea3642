steps_of() { awk -v n="$1" 'BEGIN { s = 1.5e9 / n / n; s = s > 3000 ? 3000 : s < 60 ? 60 : int(s); print s }'; }
export STRAKE_KT=1
m() { size=$1; shift; measure "$size" "$(steps_of "$size")" ocl:0 "$@"; grep '^KT' "$work/err" | tee -a "$out/rates.txt" || true;  grep -o '"checksum": "[0-9a-f]*"' "$work/report.json" >>"$out/rates.txt"; grep -o '"registers": [0-9]*\|"private_bytes": [0-9]*' "$work/report.json" | tr '\n' ' ' >> "$out/rates.txt"; }
all() { echo "== $*" | tee -a "$out/rates.txt"; m 1024; m 2048; m 8192; m 8192 --set scheme.gauge=infinite; m 8192 --set precision=single; m 2048 --set precision=single; }
for r in 1 2; do
(export X_NOGHOST=1; all noghost; BASE=1; echo base1; m 1024; m 2048; m 8192)
all ghost
(BASE=1; echo base1; m 1024; m 2048)
m 4096; m 512; m 256
done
tar -C "$out" -czf "$OUT/g1.tgz" . 2>/dev/null
for R in 104 112 120; do for w in 64 96 128; do m 8192 --set precision=single --set run.registers=$R --set run.group_width=$w; done; done
for R in 104 112 120; do for w in 64 96; do m 8192 --set run.registers=$R --set run.group_width=$w; done; done
for w in 64 96 192 256; do m 8192 --set run.group_width=$w; done
for o in prefetch=1 prefetch=3 unroll=1 unroll=4 registers=128 registers=168 group_rows=96 group_rows=256 group_rows=384; do m 8192 --set run.$o; done
tar -C "$out" -czf "$OUT/g1.tgz" . 2>/dev/null
S="--set run.fusion=stream"
for size in 512 256; do for wr in 32x4 32x6 32x8 64x4 64x6 64x8 64x10 96x6 128x6 128x8; do m $size $S --set run.group_width=${wr%x*} --set run.group_rows=${wr#*x}; done; done
for wr in 32x18 64x12 64x16 64x20 64x22 64x26 128x18 128x22 128x26; do m 1024 $S --set run.group_width=${wr%x*} --set run.group_rows=${wr#*x}; done
for wr in 64x18 64x34 64x40 128x18 128x26 128x34 128x40; do m 2048 $S --set run.group_width=${wr%x*} --set run.group_rows=${wr#*x}; done
