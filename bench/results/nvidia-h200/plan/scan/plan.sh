s() { n=$1 st=$2; shift 2; o=; for x in "$@"; do o="$o --set $x"; done; measure $n $st ocl:0 $o; }
for round in 1 2; do
s 1024 1500
for w in 32 64 128; do for g in 8 12 16 20 24 32; do s 1024 1500 run.group_width=$w run.group_rows=$g; done; done
for u in 1 4; do s 1024 1500 run.unroll=$u; done
for p in 1 3; do s 1024 1500 run.prefetch=$p; done
for r in 96 128 168; do s 1024 1500 run.registers=$r; done
done
G=scheme.gauge=infinite
s 8192 60 $G
for p in 0 1 3; do s 8192 60 $G run.prefetch=$p; done
for r in 96 128 168; do s 8192 60 $G run.registers=$r; done
for w in 64 256; do s 8192 60 $G run.group_width=$w; done
for u in 1 4; do s 8192 60 $G run.unroll=$u; done
for g in 96 128 256 384; do s 8192 60 $G run.group_rows=$g; done
s 8192 60 $G "fields.h={constant: 1}"
s 8192 60 $G run.prefetch=1 run.registers=128
s 8192 60
S=precision=single
s 8192 60 $S
for v in 1 4; do s 8192 60 $S run.vector=$v; done
for r in 64 80 96 168; do s 8192 60 $S run.registers=$r; done
for r in 64 80 96; do s 8192 60 $S run.vector=1 run.registers=$r; done
for p in 1 3 4; do s 8192 60 $S run.prefetch=$p; done
for w in 64 256; do s 8192 60 $S run.group_width=$w; done
for u in 1 4; do s 8192 60 $S run.unroll=$u; done
for g in 128 192 384 512; do s 8192 60 $S run.group_rows=$g; done
s 8192 60 $S
