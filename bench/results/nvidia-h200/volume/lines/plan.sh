#!/bin/sh
# Cahn-Hilliard 3D by two builds in turns: build/strake-old (9d72784) and build/strake-new (8b4d30a). Usage: sh plan.sh OUT.
OUT=$1; W=$(mktemp -d); cp -r build $W; cd $W; t0=$(date +%s); lap() { echo "## $(( $(date +%s) - t0 )) s: $*"; }
export CUDA_CACHE_PATH=$W/cache STRAKE_CACHE_DIR=$W/sc; mkdir -p -m 700 $W/cache $W/sc; chmod +x build/*
{ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
one() { b=$1; g=$2; n=$3; shift 3; [ $(( $(date +%s) - t0 )) -gt 75 ] && return; set -- $@; p=${g%x*x*}; c=${g##*x}; r=${g#*x}; r=${r%x*}
printf 'problem: cahn_hilliard3d\ngrid: {planes: %s, rows: %s, cols: %s}\ntime: {dt: 0.005, steps: %s}\nfields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}\n' $p $r $c $n >c.yaml
timeout 60 build/strake-$b run c.yaml --on gpu --no-tune --quiet --report r.json --output o --set output.fields=[] "$@" >log 2>&1 || tail -2 log; python3 -c "
import json;r=json.load(open('r.json'));k=r['devices'][0]['kernels'];print('%-4s %-12s %-60s %7.2f Gcell/s  %s %s' % ('$b','$g','$*', r['cells_per_second']/1e9, [f['checksum'] for f in r['fields'].values()][0], {x:k.get(x) for x in ('group_height','group_rows','unroll','keep','prefetch','registers','local_bytes')}))"; }
S="--set scheme.time=midpoint"
for round in 1 2 3; do for b in old new; do one $b 512x512x512 200 $S; done; done; lap midpoint 512
for g in 384x384x384 256x256x256 301x257x333 100x100x100; do for b in old new; do one $b $g 300 $S; done; one new $g 300 $S --set run.lines=1; one new $g 300 $S --set run.lines=3; done; one new 512x512x512 200 $S --set run.lines=1; lap sizes
for g in 512x512x512 256x256x256 301x257x333; do for b in old new; do one $b $g 200 --set scheme.time=euler; done; done; lap euler
for b in old new; do one $b 512x512x512 100 $S --set precision=single; done; for b in old new; do one $b 512x512x512 100 --set scheme.time=heun; done; lap end
} 2>&1 | tee $OUT/ch3d2.txt
