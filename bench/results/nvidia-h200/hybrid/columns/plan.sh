for r in 1 2; do
measure 8192 400 ocl:0
for k in 1 2 4 8; do measure 8192 400 hybrid --set run.steps_per_sweep=$k; done
measure 2048 3000 ocl:0
for k in 1 2 4 8; do measure 2048 3000 hybrid --set run.steps_per_sweep=$k; done
done
