# The largest grids: bash big.sh OUT STRAKE. LIMIT seconds for all.
out=$1 strake=$2; mkdir -p "$out"; began=$SECONDS
: > "$out/rates.txt"
big() { # NAME PROBLEM GRID ON [SET...]
    name=$1 problem=$2 grid=$3 on=$4; shift 4
    left=$((${LIMIT:-300} - (SECONDS - began))); [ $left -gt 40 ] || { echo "$name $on: no time left" | tee -a "$out/rates.txt"; return; }
    cat > "$out/$name.yaml" <<Y
problem: $problem
grid: {$grid}
time: {dt: 0.004, steps: 4}
scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
output: {fields: []}
Y
    sets=(); for s in "$@"; do sets+=(--set "$s"); done
    t=$SECONDS
    timeout -k 5 $((left < 150 ? left : 150)) "$strake" run "$out/$name.yaml" --on "$on" --no-tune "${sets[@]}" >"$out/$name.txt" 2>"$out/err"
    rc=$?
    printf '%-10s %-40s %-12s rc %d  %3d s in all, device used %s MiB: %s  %s\n' "$name" "$grid" "$on" $rc $((SECONDS-t)) \
      "$(tr '\n' ' ' </tmp/peak)" "$(tail -1 "$out/$name.txt")" "$(tail -c 200 "$out/err" | tr '\n' ' ')" | tee -a "$out/rates.txt"
    : > /tmp/peak
}
# the most memory in use on each GPU, every half second
( while sleep 0.5; do nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits > /tmp/now; 
  [ -s /tmp/peak ] || cp /tmp/now /tmp/peak; paste /tmp/peak /tmp/now | awk '{print ($1>$2)?$1:$2}' > /tmp/p2; cp /tmp/p2 /tmp/peak; done ) & w=$!
big one3d cahn_hilliard3d 'planes: 1600, rows: 1600, cols: 1600' ocl:0
big two2d cahn_hilliard2d 'rows: 96000, cols: 96000' ocl:0,ocl:1 run.balance=fixed
big two3d cahn_hilliard3d 'planes: 2032, rows: 2032, cols: 2032' ocl:0,ocl:1 run.balance=fixed
kill $w
free -g | head -2 >> "$out/rates.txt"
