for r in 1 2 3; do
measure 2048 2000 ocl:0
measure 2048 2000 hybrid
measure 2048 2000 auto
measure 8192 400 ocl:0
measure 8192 400 hybrid
measure 512 20000 ocl:0
measure 512 20000 auto
done
