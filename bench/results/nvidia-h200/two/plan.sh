half="--set grid.rows=4096"
measure 8192 60 ocl:0
measure 8192 60 ocl:0 $half
measure 8192 60 ocl:0,ocl:1 --split 1,1
for k in 1 2 4; do for o in off on; do measure 8192 60 ocl:0,ocl:1 --split 1,1 --set run.overlap=$o --set run.steps_per_sweep=$k; done; done
for w in spin sleep; do measure 8192 60 ocl:0,ocl:1 --split 1,1 --set run.wait=$w --set run.overlap=on --set run.steps_per_sweep=1; done
for s in 1024 2048; do
measure $s 300 ocl:0; measure $s 300 ocl:0 --set grid.rows=$((s/2))
for k in 1 2 4 8; do for o in off on; do measure $s 300 ocl:0,ocl:1 --split 1,1 --set run.overlap=$o --set run.steps_per_sweep=$k; done; done
done
for w in spin sleep; do measure 2048 300 ocl:0 --set run.wait=$w;  measure 8192 60 ocl:0 --set run.wait=$w; done
measure 8192 60 cpu
for o in off on; do for k in 1 2; do measure 8192 60 cpu,ocl:0 --set run.overlap=$o --set run.steps_per_sweep=$k; done; done
measure 8192 60 cpu,ocl:0 --set run.wait=sleep --set run.steps_per_sweep=1
measure 8192 60 cpu,ocl:0 --set run.wait=sleep --set run.steps_per_sweep=1 --threads 32
measure 8192 60 cpu,ocl:0 --set run.wait=spin --set run.steps_per_sweep=1 --threads 32
