# Kernels of one H200: sizes, fusions, schemes, and the parameters of the generator.
on=ocl:0
for k in 1 2; do
    measure 512 2000 $on
    measure 1024 1000 $on
    measure 2048 500 $on
    measure 4096 200 $on
    measure 8192 100 $on
    measure 8192 100 $on --set scheme.gauge=infinite
    measure 8192 100 $on --set precision=single
    measure 4096 200 $on --set precision=single
done
for size in 512 1024 2048 4096 8192; do
    steps=$((size < 2048 ? 1000 : size < 8192 ? 200 : 50))
    measure $size $steps $on --set run.fusion=none
    measure $size $steps $on --set run.fusion=plain
    measure $size $steps $on --set run.fusion=stream --set run.division=plain
done
measure 512 1000 $on --set run.fusion=stream
for size in 1024 2048; do
    measure $size 500 $on --set run.group_width=64
    measure $size 500 $on --set run.group_width=128
    measure $size 500 $on --set run.group_width=64 --set run.prefetch=1
done
for width in 64 128 192 256 512; do
    measure 8192 100 $on --set precision=single --set run.group_width=$width
done
for rows in 93 186 372; do
    measure 8192 100 $on --set precision=single --set run.group_rows=$rows
    measure 8192 100 $on --set precision=single --set run.group_rows=$rows --set run.group_width=256
    measure 8192 100 $on --set run.group_rows=$rows
    measure 8192 100 $on --set scheme.gauge=infinite --set run.group_rows=$rows
done
measure 8192 100 $on --set precision=single --set run.prefetch=3
measure 8192 100 $on --set precision=single --set run.prefetch=1
measure 8192 100 $on --set precision=single --set run.keep=9
measure 8192 100 $on --set precision=single --set run.unroll=4
measure 8192 100 $on --set run.prefetch=3
measure 8192 100 $on --set run.registers=168
measure 8192 100 $on --set run.group_width=64
measure 8192 100 $on --set scheme.gauge=infinite --set run.registers=128
measure 8192 100 $on --set scheme.gauge=infinite --set run.group_width=64
measure 8192 100 $on --set scheme.gauge=infinite --set run.prefetch=1
measure 2048 500 $on --set scheme.gauge=infinite
measure 8192 100 $on --set scheme.sign=nonnegative
measure 8192 100 $on --set fields.h=1
