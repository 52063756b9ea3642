for r in 1 2 3; do
measure 8192 1000 ocl:0
measure 8192 1000 hybrid
measure 2048 5000 ocl:0
measure 2048 5000 hybrid
[ $r = 3 ] || measure 512 20000 ocl:0
[ $r = 3 ] || measure 512 20000 auto
done
measure 16384 250 ocl:0
measure 16384 250 hybrid
