# run on the GPU machine: old and new builds, one thread and 16, in turns
cat >any.yaml <<YAML
problem: mpdata2d
grid: {rows: 2048, cols: 2048}
time: {dt: 0.1, steps: 20}
boundary: {rows: open, cols: open}
fields:
  psi: {gaussian: {center: [1024, 1024], sigma: 256, height: 1, base: 0}}
  u1: {deformation: {amplitude: 0.4, waves: [2, 2]}}
  u2: {deformation: {amplitude: 0.4, waves: [2, 2]}}
output: {fields: []}
YAML
r() { p=$1; st=$2; shift 2; $p run any.yaml --on cpu --steps $st "$@" --quiet --report rep.json >/dev/null 2>err.txt || head -c 200 err.txt; echo "$p $* $(grep -o '"cells_per_second": [0-9.e+]*' rep.json | tail -1 | awk '{print $2/1e6}')"; }
lscpu | grep -E "Model name|L2|L3|Flags" | cut -c1-2000
for k in 1 2 3; do
for p in old/build/strake build/strake; do
r $p 20 --threads 1 --set run.steps_per_sweep=1
r $p 20 --threads 1
r $p 200 --threads 16 --set run.steps_per_sweep=1
r $p 200 --threads 16
done
p=build/strake
r $p 20 --threads 1 --set run.steps_per_sweep=1 --set run.instruction_set=avx2
for b in 128 256 384 640 1024; do r $p 20 --threads 1 --set run.steps_per_sweep=1 --set run.block_columns=$b; done
r $p 200 --threads 16 --set run.steps_per_sweep=1 --set run.block_columns=256
r $p 200 --threads 16 --set run.steps_per_sweep=1 --set run.instruction_set=avx2
done
