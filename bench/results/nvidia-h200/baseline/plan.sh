measure 1024 5 serial
for size in 1024 4096; do measure $size 50 cpu --threads 1; measure $size 50 cpu; done
measure 8192 20 cpu
for on in $devices; do case "$(grep "^ *$on" $out/devices.txt; grep -A3 "$on" $out/devices.txt)" in *NVIDIA*) 
for size in 256 512 1024 2048 4096 8192; do measure $size 50 "$on"; done
for w in 32 64 128 256; do for h in 1 2 4 8; do [ $((w*h)) -le 1024 ] && measure 4096 50 "$on" --set run.group_width=$w --set run.group_height=$h; done; done
measure 4096 50 "$on" --set precision=single
measure 4096 50 "$on" --set scheme.gauge=infinite ;; *) measure 1024 5 "$on" ;; esac; done
for size in 512 1024 2048 4096 8192; do measure $size 50 auto; measure $size 50 hybrid; done
