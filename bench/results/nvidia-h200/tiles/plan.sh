plan_only_functions=1
. bench/plan_streaming.sh
steps_of() { awk -v n="$1" 'BEGIN { s = 1.5e9 / n / n; s = s > 3000 ? 3000 : s < 60 ? 60 : int(s); print s }'; }
check() { if [ -n "$1" ] && [ "$(checksum)" = "$1" ]; then w=EQUAL; else w=DIFFERENT; fi; echo "$w $2" | tee -a "$out/checks.txt"; }
for size in 64 128 256 512 1000 1024 2048; do n=$(steps_of $size)
 fresh $size $n cpu; c=$(checksum)
 for r in 1 2 3; do fresh $size $n ocl:0; check "$c" "ocl:0 $size"; done
 fresh $size $n ocl:0 --set run.fusion=none; check "$c" "none $size"
 for r in 1 2; do fresh $size $n ocl:0 --set precision=single;  done; fresh $size $n ocl:0 --set scheme.gauge=infinite; fresh $size $n ocl:0 --set 'fields.h={constant: 1}'
done
for r in 1 2; do for o in precision=single 'fields.h={constant: 1}'; do fresh 8192 60 ocl:0 --set "$o"; done; done
