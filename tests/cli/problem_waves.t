#!/bin/bash
# The problems of data/examples/problems that carry waves, each a C file: shallow water over a bed, and Maxwell's
# equations. They are built, compared with exact solutions, and have the same bits on every processor.
top=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/tap.bash"
export STRAKE_CACHE_DIR=$scratch/cache
cp "$top"/data/examples/problems/{shallow_water,maxwell}.{c,yaml} .

for name in shallow_water maxwell; do
    try problem build $name.c
    exits 0 "$name.c is built"
    try run $name.yaml --on cpu --quiet --output example
    exits 0 "its example runs"
done
if ! /usr/bin/env python3 -c 'import numpy' 2>/dev/null; then PATH=/usr/bin:$PATH; fi
if ! python3 -c 'import numpy' 2>/dev/null; then
    skip "waves compared with exact solutions" "Python has no NumPy"
    done_testing
fi

# python: runs the program on standard input, which begins with this.
python() {
    { cat "$scratch/begin.py" && cat; } >"$scratch/now.py"
    python3 "$scratch/now.py"
}
cat >begin.py <<'EOP'
import glob, sys
import numpy as np

def last(folder, name):
    """The last output of a field."""
    return np.load(sorted(glob.glob(folder + '/' + name + '_*.npy'))[-1])

def measured(folder, name):
    """A column of the diagnostics."""
    return np.genfromtxt(folder + '/diagnostics.csv', delimiter=',', names=True)[name]
EOP

# Fields that are no round numbers, so that a product rounded before a sum differs from one that is not.
python <<'EOP'
draw = np.random.default_rng(5)
i, j = np.mgrid[0:40, 0:61]
bed = 0.3 * draw.random(i.shape) + 1.1 * np.exp(-((i - 17.3) ** 2 + (j - 22.7) ** 2) / 60)
np.save('bed', bed)
np.save('lake', np.maximum(0, 0.7123 - bed))
dry = draw.random(i.shape) < 0.4
depth = np.where(dry, 0, draw.random(i.shape))
np.save('depth', depth)
for name, size in ('m1', depth), ('m2', depth), ('ez', 1), ('hx', 1 / 377.3), ('hy', 1 / 377.3):
    np.save(name, (draw.random(i.shape) - 0.5) * size)
np.save('eps', 1 + 2 * draw.random(i.shape))
for name in 'bed', 'depth', 'm1', 'm2':
    np.save(name + '_turned', np.load(name + '.npy').T.copy())
EOP

# A lake at rest.
cat >lake.yaml <<'EOC'
problem: {file: shallow_water.c}
grid: {rows: 40, cols: 61, dx: 0.7, dy: 1.3}
time: {end: 20, safety: 0.9}
boundary: {rows: no_flux, cols: no_flux}
fields: {depth: {file: lake.npy}, bed: {file: bed.npy}}
diagnostics: {every_seconds: 2}
EOC
try run lake.yaml --on cpu --quiet --output lake
exits 0 "a lake over an uneven bed, partly dry, is run"
check "it stays at rest to 1e-14" python <<'EOP'
h = np.load('lake.npy')
assert 50 < (h == 0).sum() < h.size / 2
assert np.abs(last('lake', 'depth') - h).max() <= 1e-14
assert max(np.abs(last('lake', m)).max() for m in ('m1', 'm2')) <= 1e-14
assert len(measured('lake', 'fastest')) == 11 and measured('lake', 'fastest').max() <= 1e-14
EOP
try run lake.yaml --on cpu --quiet --output lake-single --set precision=single
check "and in single precision to 1e-5" python <<'EOP'
assert measured('lake-single', 'fastest').max() <= 1e-5
EOP

# Water that runs through a closed basin with dry places.
sed 's/lake.npy}/depth.npy}, m1: {file: m1.npy}, m2: {file: m2.npy}/; s/end: 20/end: 8/' lake.yaml >flood.yaml
try run flood.yaml --on serial --quiet --output flood
exits 0 "a flood in a closed basin is run"
check "it moves, no depth becomes negative, and the volume stays to 1e-12" python <<'EOP'
v = measured('flood', 'volume')
assert np.abs(v / v[0] - 1).max() <= 1e-12 and len(v) == 5
h = last('flood', 'depth')
assert h.min() >= 0 and np.isfinite(h).all()
assert np.abs(last('flood', 'm1')).max() > 0.01 and measured('flood', 'fastest').max() < 20
EOP
check "between walls its energy falls" python <<'EOP'
e = measured('flood', 'energy')
assert (np.diff(e) < 0).all()
EOP
sed 's/[.]npy/_turned.npy/g; s/rows: 40, cols: 61, dx: 0.7, dy: 1.3/rows: 61, cols: 40, dx: 1.3, dy: 0.7/
    s/m1: {file: m1/m0: {file: m1/; s/m2: {file: m2/m1: {file: m2/; s/m0:/m2:/' flood.yaml >turned.yaml
try run turned.yaml --on serial --quiet --output turned
check "rows and columns may be exchanged, bit by bit" python <<'EOP'
for a, b in ('depth', 'depth'), ('m1', 'm2'), ('m2', 'm1'):
    assert last('flood', a).tobytes() == last('turned', b).T.copy().tobytes()
EOP
try run flood.yaml --set fields.depth.file=m1.npy --on serial --quiet
fails 2 "negative depths are refused" "depth"

# A dam break over a wet bed: a rarefaction, a middle of constant depth, a bore (Stoker, Water Waves (1957), section
# 10.8). Errors are means over the cells, of which each is compared with the mean of the exact depth in it.
for n in 100 200 400 800; do
    cat >dam$n.yaml <<EOC
problem: {file: shallow_water.c}
grid: {rows: 2, cols: $n, dx: 1, dy: $(awk -v n=$n 'BEGIN { printf "%.17g", 100 / n }')}
time: {end: 7, safety: 0.9}
boundary: {rows: periodic, cols: open}
fields: {depth: {box: {from: [0, 0], to: [1, $((n / 2 - 1))], height: 0.8, base: 0.2}}}
EOC
    try run dam$n.yaml --on serial --quiet --output dam$n
done
cat >stoker.py <<'EOP'
g, left, right, t = 9.81, 1.0, 0.2, 7.0

def speed_of_bore(middle):
    return np.sqrt(0.5 * g * middle / right * (middle + right))

def mismatch(middle):
    """Velocity behind the bore less that behind the rarefaction."""
    return (middle - right) / middle * speed_of_bore(middle) - 2 * (np.sqrt(g * left) - np.sqrt(g * middle))

low, high = right, left
for _ in range(100):
    middle = 0.5 * (low + high)
    low, high = (middle, high) if mismatch(middle) < 0 else (low, middle)
u = 2 * (np.sqrt(g * left) - np.sqrt(g * middle))

def depth(x):
    fan = (2 * np.sqrt(g * left) - x / t) ** 2 / (9 * g)
    behind = np.where(x < t * speed_of_bore(middle), middle, right)
    fallen = np.where(x < t * (u - np.sqrt(g * middle)), fan, behind)
    return np.where(x < -t * np.sqrt(g * left), left, fallen)

errors = []
for n in 100, 200, 400, 800:
    edges = -50 + np.arange(n + 1) * 100 / n
    parts = [depth(edges[:-1] + (k + 0.5) / 50 * 100 / n) for k in range(50)]
    errors.append(np.abs(last('dam%d' % n, 'depth')[0] - np.mean(parts, 0)).mean())
rates = np.log2(np.array(errors[:-1]) / errors[1:])
print(errors, rates)
EOP
check "a dam break comes to Stoker's solution, error and rate" python <<EOP
$(cat stoker.py)
assert errors[-1] < 0.004 and rates.min() > 0.6 and rates[-1] > 0.7, (errors, rates)
EOP

# Maxwell: a standing wave in a box of 3 m x 2 m with perfectly conducting walls, filled with a dielectric. Its H is
# given half a step before the start.
python <<'EOP'
c, mu0 = 299792458.0, 1.25663706212e-6
eps, kx, ky = 2.25, 2 * np.pi / 3.0, 3 * np.pi / 2.0
omega = c / np.sqrt(eps) * np.hypot(kx, ky)
np.save('wave', [mu0, kx, ky, omega])
for n in 32, 64, 128:
    dx, dy, dt = 3.0 / n, 2.0 / n, 4e-9 / (5 * n)
    x, y = dx * np.arange(1, n + 1)[:, None], dy * np.arange(1, n + 1)[None, :]
    half = np.sin(-0.5 * omega * dt)
    np.save('ez%d' % n, np.sin(kx * x) * np.sin(ky * y))
    np.save('hx%d' % n, -ky / (mu0 * omega) * np.sin(kx * x) * np.cos(ky * (y - dy / 2)) * half)
    np.save('hy%d' % n, kx / (mu0 * omega) * np.cos(kx * (x - dx / 2)) * np.sin(ky * y) * half)
    open('wave%d.yaml' % n, 'w').write(f'''
problem: {{file: maxwell.c}}
grid: {{rows: {n}, cols: {n}, dx: {dx!r}, dy: {dy!r}}}
time: {{dt: {dt!r}, steps: {10 * n}}}
boundary: {{rows: no_flux, cols: no_flux}}
fields: {{ez: {{file: ez{n}.npy}}, hx: {{file: hx{n}.npy}}, hy: {{file: hy{n}.npy}}, eps: {{constant: {eps}}}}}
''')
EOP
for n in 32 64 128; do
    try run wave$n.yaml --on cpu --quiet --output wave$n
    exits 0 "a standing wave, $n x $n cells"
done
cat >wave.py <<'EOP'
mu0, kx, ky, omega = np.load('wave.npy')
errors = []
for n in 32, 64, 128:
    dx, dy, dt = 3.0 / n, 2.0 / n, 4e-9 / (5 * n)
    x, y = dx * np.arange(1, n + 1)[:, None], dy * np.arange(1, n + 1)[None, :]
    t = 10 * n * dt
    exact = {
        'ez': np.sin(kx * x) * np.sin(ky * y) * np.cos(omega * t),
        'hx': -ky / (mu0 * omega) * np.sin(kx * x) * np.cos(ky * (y - dy / 2)) * np.sin(omega * (t - dt / 2)),
        'hy': kx / (mu0 * omega) * np.cos(kx * (x - dx / 2)) * np.sin(ky * y) * np.sin(omega * (t - dt / 2)),
    }
    errors.append([np.sqrt(np.mean((last('wave%d' % n, f) - exact[f]) ** 2)) for f in exact])
errors = np.array(errors) * [1, 377, 377]
rates = np.log2(errors[:-1] / errors[1:])
print(errors, rates)
EOP
check "each of its fields converges in second order" python <<EOP
$(cat wave.py)
assert rates.min() > 1.9 and rates.max() < 2.1 and errors[-1].max() < 0.001, (errors, rates)
EOP

cat >light.yaml <<'EOC'
problem: {file: maxwell.c}
grid: {rows: 40, cols: 61, dx: 0.7, dy: 1.3}
time: {dt: 2e-9, steps: 300}
boundary: {rows: no_flux, cols: periodic}
fields: {ez: {file: ez.npy}, hx: {file: hx.npy}, hy: {file: hy.npy}, eps: {file: eps.npy}}
diagnostics: {every: 30}
EOC
for rows in no_flux periodic; do
    try run light.yaml --on serial --quiet --output light --set boundary.rows=$rows
    check "energy is constant to 1e-13, with rows $rows" python <<'EOP'
e = measured('light', 'energy')
assert len(e) == 11 and np.abs(e / e[0] - 1).max() <= 1e-13
EOP
done
try run light.yaml --set time.dt=2.1e-9 --on serial --quiet --output long
fails 2 "a time step beyond the Courant limit is refused" "time.dt: 2.1e-09 is unstable" "at most"
try run light.yaml --set fields.eps.file=m1.npy --on serial --quiet --output negative
fails 2 "a negative permittivity is refused" "eps"

# NumPy rounds each operation; the same steps with products that are not rounded have other bits.
cat >steps.py <<'EOP'
def steps(kind, count, contracted):
    wide = np.float64
    def multiply_add(x, a, b):
        return (wide(x) + wide(a) * wide(b)).astype(kind) if contracted else x + a * b
    c, mu0 = 299792458.0, 1.25663706212e-6
    dt, dx, dy = 2e-9, 0.7, 1.3
    rows_h, cols_h, rows, cols = (kind(v) for v in (dt / (mu0 * dx), dt / (mu0 * dy), 1 / dx, 1 / dy))
    ez, hx, hy, eps = (np.load(f + '.npy').astype(kind) for f in ('ez', 'hx', 'hy', 'eps'))
    gain = kind(dt / (1 / (mu0 * c * c))) / eps
    for _ in range(count):
        hx = multiply_add(hx, -cols_h, ez - np.roll(ez, 1, 1))
        hy = multiply_add(hy, rows_h, ez - np.roll(ez, 1, 0))
        curl = rows * (np.roll(hy, -1, 0) - hy) - cols * (np.roll(hx, -1, 1) - hx)
        ez = multiply_add(ez, gain, curl)
    return ez
EOP
for precision in double single; do
    try run light.yaml --on cpu --quiet --output light-$precision --set boundary.rows=periodic --set time.steps=20 \
        --set precision=$precision
    check "20 steps have the bits that NumPy gives, $precision" python <<EOP
$(cat steps.py)
kind = np.float64 if '$precision' == 'double' else np.float32
assert last('light-$precision', 'ez').tobytes() == steps(kind, 20, False).tobytes()
EOP
done
check "and other bits if products were not rounded" python <<EOP
$(cat steps.py)
assert (steps(np.float32, 1, False) != steps(np.float32, 1, True)).mean() > 0.05
EOP

# The same bits everywhere.
"$STRAKE" devices >"$scratch/devices" 2>/dev/null
places="cpu/1 cpu/2"
if grep -q '^ocl:0: ' "$scratch/devices"; then
    places="$places ocl:0/1 cpu,ocl:0/1"
else
    skip "the same bits from OpenCL" "no OpenCL device"
fi
for name in flood light; do
    for precision in double single; do
        try run $name.yaml --on serial --quiet --set precision=$precision --output serial
        for place in $places; do
            split=()
            case $place in *,*) split=(--set run.split=1,1) ;; esac # nothing need be measured
            try run $name.yaml --on "${place%/*}" --set run.threads="${place#*/}" "${split[@]}" --quiet \
                --set precision=$precision --output other
            check "$name: the same bits from ${place%/*}, threads ${place#*/}, $precision" sh -c '
                [ "$1" -eq 0 ] && [ "$(ls other | grep -c "npy$")" -eq 3 ] && "$0" compare serial other &&
                    cmp serial/diagnostics.csv other/diagnostics.csv' "$STRAKE" "$code"
            rm -rf other
        done
        rm -rf serial
    done
done

done_testing
