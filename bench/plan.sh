# Which runs bench/measure.sh makes: measure SIZE STEPS WHERE [options]. Edit or pass another file.
measure 512 5 serial
measure 2048 3 serial
for size in 256 512 1024 2048 4096; do
    measure $size 100 cpu --threads 1
    measure $size 100 cpu
done
for on in $devices; do
    for size in 256 512 1024 2048 4096 8192; do
        measure $size 50 "$on"
    done
    measure 4096 50 "$on" --set precision=single
    measure 4096 50 "$on" --set scheme.gauge=infinite
done
for size in 512 1024 2048 4096 8192; do
    measure $size 50 auto
    measure $size 50 hybrid
done
