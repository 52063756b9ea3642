lava() { # rows cols end
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
one() { # where opts
 timeout 60 build/strake run /tmp/lava.yaml --no-tune --report /tmp/r.json "$@" > /tmp/o.txt 2>&1 || tail -n 3 /tmp/o.txt
 echo "$size $* $(grep 'steps 0 to' /tmp/o.txt | sed 's/.*steps/steps/') $(tail -n 1 /tmp/o.txt) $(grep -o '"checksum": "[0-9a-f]*"' /tmp/r.json | head -1)" | tee -a $OUT/lava.txt; }
size=64x64; lava 64 64 300; one --on gpu:0; one --on cpu --threads 1
size=100x100; lava 100 100 300; one --on gpu:0; one --on gpu:0 --set run.fusion=plain;  one --on gpu:0 --set run.fusion=tile; one --on gpu:0 --set run.fusion=stream
size=1024; lava 1024 1024 100; one --on gpu:0; one --on gpu:0 --set run.fusion=plain; one --on gpu:0 --set run.fusion=tile; one --on gpu:0 --set run.fusion=none
size=1024; lava 1024 1024 20; one --on cpu --threads 1;one --on cpu --threads 2; one --on cpu --threads 16; one --on gpu:0
size=3162; lava 3162 3162 60;  one --on gpu:0; one --on gpu:0 --set run.fusion=plain; one --on gpu:0 --set run.fusion=tile; one --on gpu:0 --set precision=single
size=10240; lava 10240 10240 10;  one --on gpu:0
