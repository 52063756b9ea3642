# In the root of a checkout on the GPU machine; OUT: folder of the results.
make -j16 program build/particles
p="build/particles ocl:0"
( $p --particles 100000 --check 12 --steps 200
for g in 64 128 256; do echo group $g; $p --particles 1600000 --steps 200 --group $g; done
echo double; $p --particles 1600000 --steps 100 --double
echo single; $p --particles 16000000 --steps 30; $p --particles 50000000 --steps 20 ) | tee "$OUT/particles.txt"
b=data/cases/bore-corridor.yaml
for p in single double; do
    for w in gpu:0 cpu; do
        build/strake run $b --set scene.spacing=0.02 --set precision=$p --set time.end=0.01 --set output.every_seconds=0.005 --on $w --output /tmp/par-$p-$w --quiet
    done
    build/strake compare /tmp/par-$p-gpu:0 /tmp/par-$p-cpu
done
for p in single double; do
    resume=
    for t in 0.0305 0.5 0.53 1.0 1.03; do
        # shellcheck disable=SC2086
        build/strake run $b --on gpu:0 --set precision=$p --set time.end=$t --set output.fields=[] \
            --set output.every_seconds=10 --set checkpoint.every_seconds=$t --output /tmp/bore-$p $resume
        resume="--resume /tmp/bore-$p/checkpoint.strake"
    done | grep -E 'done|mips|lost|bytes|pairs|rebuilds' | tee "$OUT/bore-$p.txt"
done
