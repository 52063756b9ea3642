for r in 1 2; do
measure 8192 400 ocl:0
for k in 1 2 4 8; do measure 8192 400 hybrid --set run.steps_per_sweep=$k; done
measure 2048 3000 ocl:0
for k in 1 2 4 8; do measure 2048 3000 hybrid --set run.steps_per_sweep=$k; done
done
for k in 2 4; do measure 8192 400 hybrid --set run.steps_per_sweep=$k --set run.overlap=off; done
for k in 4 8; do measure 512 10000 hybrid --set run.steps_per_sweep=$k; done
measure 8192 400 cpu,ocl:0 --set run.steps_per_sweep=4 --set run.balance=fixed --split 1,60
measure 8192 400 cpu,ocl:0 --set run.steps_per_sweep=4 --set run.wait=spin
