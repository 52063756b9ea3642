# Grids larger than device memory: the cap is a third of what the resident stripe needs (a device's
# first GPU is ocl:0). Third argument of measure.sh.
measure 8192 256 ocl:0
cap="--set run.device_memory=1600MB"
measure 8192 256 ocl:0 $cap
measure 16384 128 ocl:0
measure 16384 128 ocl:0 --set run.device_memory=6400MB
for steps in 1 4 8 16 32; do measure 8192 256 ocl:0 $cap --set run.steps_per_sweep=$steps; done
for streams in 1 2 3 4; do
    measure 8192 256 ocl:0 $cap --set run.steps_per_sweep=16 --set run.streams=$streams
done
measure 8192 256 ocl:0 $cap --set run.steps_per_sweep=16 --set run.blocks=40
measure 8192 256 ocl:0 --set precision=single
measure 8192 256 ocl:0 --set run.device_memory=800MB --set precision=single
measure 8192 256 cpu,ocl:0 $cap --split 1,12 --set run.steps_per_sweep=8
