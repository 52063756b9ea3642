case_of() {
cat > /tmp/lava.yaml <<Y
problem: lava
grid: {rows: $1, cols: $2, dx: 10, dy: 10}
time: {end: $3, dt_max: 60}
fields:
  terrain: {random: {seed: 1, minimum: 0, maximum: 1}}
  thickness: {random: {seed: 2, minimum: 2, maximum: 4}}
output: {fields: []}
Y
}
export STRAKE_CACHE=/tmp/cache; mkdir -p $STRAKE_CACHE
one() {
 timeout 90 build/strake run /tmp/lava.yaml --no-tune --report /tmp/r.json "$@" > /tmp/o.txt 2>&1 || tail -n 3 /tmp/o.txt
 us=$(sed -n 's/.*steps 0 to \([0-9]*\) done.*/\1/p' /tmp/o.txt); s=$(grep -o 'in [0-9.]* s of stepping' /tmp/o.txt | cut -d' ' -f2)
 echo "$size $* | $(grep 'of stepping' /tmp/o.txt | cut -c1-60) | $(awk -v s="$s" -v n="$us" 'BEGIN{printf "%.1f us/step", 1e6*s/n}') $(grep -o '"checksum": "[0-9a-f]*"' /tmp/r.json | head -1)" | tee -a $OUT/lava.txt; cp /tmp/r.json $OUT/r-$n.json; n=$((n+1)); }
n=0
size=1024; case_of 1024 1024 1500; one --on gpu:0; for o in on off; do one --on gpu:0,gpu:1 --split 1,1 --set run.balance=fixed --set run.overlap=$o; done; one --on gpu:0,gpu:1
size=3162; case_of 3162 3162 500; one --on gpu:0;for o in on off; do one --on gpu:0,gpu:1 --split 1,1 --set run.balance=fixed --set run.overlap=$o; done;  one --on gpu:0,gpu:1
size=10240; case_of 10240 10240 60; one --on gpu:0; one --on gpu:0,gpu:1 --split 1,1 --set run.balance=fixed; one --on gpu:0,gpu:1
