for size in 256 512 1024 2048 4096 8192; do measure $size 100 ocl:0; measure $size 50 ocl:0 --set run.fusion=none; done
measure 8192 50 ocl:0 --set run.fusion=plain
for size in 2048 8192; do measure $size 50 ocl:0 --set precision=single; measure $size 50 ocl:0 --set scheme.gauge=infinite;  measure $size 50 ocl:0 --set fields.h=1; done
measure 1000 50 ocl:0; measure 3001 50 ocl:0
for size in 2048 8192; do measure $size 50 auto; measure $size 50 hybrid; done
