out=$1 strake=$2; mkdir -p $out
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
for n in 512 384; do echo "problem: cahn_hilliard3d
grid: {planes: $n, rows: $n, cols: $n}
time: {dt: 0.004, steps: 200}
scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}" > $out/ch3d$n.yaml; done
echo "problem: cahn_hilliard2d
grid: {rows: 8192, cols: 8192}
time: {dt: 0.004, steps: 200}
scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}" > $out/ch2d.yaml
one() { # CASE NAME ENV... -- SET...
  c=$1 name=$2; shift 2; envs=(); while [ "$1" != -- ]; do envs+=("$1"); shift; done; shift
  sets=(--set run.balance=fixed --set run.shares=1,1); for s in "$@"; do sets+=(--set "$s"); done
  env "${envs[@]}" timeout -k 3 60 mpirun -np 2 $strake run $out/$c.yaml --on ocl:0/ocl:1 --quiet --no-tune --report $out/r.json "${sets[@]}" >$out/err 2>&1 || head -c 300 $out/err
  printf '%-8s %-40s %8.1f Gcell/s %s\n' $c "$name" $(grep -o '"cells_per_second": [0-9.e+]*' $out/r.json | tail -1 | awk '{print $2/1e9}') $(grep -o '"checksum": "[0-9a-f]*"' $out/r.json | head -1 | cut -d'"' -f4) | tee -a $out/rates.txt
  rm -f $out/r.json
}
for round in 1 2; do for c in ch3d512 ch3d384 ch2d; do
  one $c common A=1 --
  one $c "messages" A=1 -- run.exchange=messages
  one $c "messages, single_copy none" OMPI_MCA_btl_vader_single_copy_mechanism=none -- run.exchange=messages
  one $c "messages, single_copy cma" OMPI_MCA_btl_vader_single_copy_mechanism=cma -- run.exchange=messages
  one $c "messages, none, 4 MiB segments" OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_vader_max_send_size=1048576 -- run.exchange=messages
  one $c "messages, k=1" A=1 -- run.exchange=messages run.steps_per_sweep=1
done; done
