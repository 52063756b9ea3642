steps_of() { awk -v n="$1" 'BEGIN { s = 1.5e9 / n / n; s = s > 3000 ? 3000 : s < 60 ? 60 : int(s); print s }'; }
export STRAKE_KT=1
m() { size=$1; shift; measure "$size" "$(steps_of "$size")" ocl:0 "$@"; grep '^KT' "$work/err" | tee -a "$out/rates.txt" || true;  grep -o '"checksum": "[0-9a-f]*"' "$work/report.json" >>"$out/rates.txt"; grep -o '"registers": [0-9]*\|"private_bytes": [0-9]*' "$work/report.json" | tr '\n' ' ' >> "$out/rates.txt"; }
all() { echo "== $*" | tee -a "$out/rates.txt"; m 1024; m 2048; m 8192; m 8192 --set scheme.gauge=infinite; m 8192 --set precision=single; }
for r in 1 2; do
(export X_NOGHOST=1 X_MODE=X_OLDQ; all noghost oldq; BASE=1; echo base1; m 1024; m 2048)
(export X_NOGHOST=1; all noghost newq;  BASE=1; echo base1; m 1024; m 2048)
(export X_MODE=X_OLDQ; all ghost oldq)
all ghost newq
(export X_V2=1; all ghost v2 newq)
(export X_V2=1  X_MODE=X_OLDQ; all ghost v2 oldq)
done
m 256; m 512; m 4096;
for w in 64x15 64x17 64x18 64x22 128x18 32x18; do m 1024 --set run.group_width=${w%x*} --set run.group_rows=${w#*x}; done
