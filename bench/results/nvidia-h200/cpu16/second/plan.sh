one='run.steps_per_sweep=1'
field='fields.h={constant: 1}'
for r in 1 2 3; do
  measure 1024 4 serial --set "$field"; measure 2048 2 serial --set "$field"
  for t in 1 2 4 8 16; do measure 2048 $((t * 10 + 10)) cpu --threads $t --set $one --set "$field"; done
  measure 4096 60 cpu --set $one --set "$field"; measure 2048 150 cpu --set $one; measure 2048 150 cpu --set "$field"
done
