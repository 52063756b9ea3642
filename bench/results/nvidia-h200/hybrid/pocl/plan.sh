for r in 1 2; do
measure 2048 150 cpu
measure 2048 150 cpu --threads 7
measure 2048 150 ocl:0
for k in 1 2 4; do measure 2048 150 cpu,ocl:0 --set run.steps_per_sweep=$k; done
done
