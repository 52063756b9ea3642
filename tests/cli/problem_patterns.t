#!/bin/bash
# The examples of problems in one file, data/examples/problems: patterns (Gray-Scott), vortices (Ginzburg-Landau) and
# elastic waves. Each has the same bits everywhere and agrees with solutions that know nothing of its formulas.
top=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/tap.bash"
cp "$top"/data/examples/problems/*.c "$top"/data/examples/problems/*.yaml .
export STRAKE_CACHE_DIR=$scratch/cache
mkdir -m 700 cache
for problem in gray_scott ginzburg_landau elastic; do
    try problem build $problem.c
    if [ "$code" -ne 0 ] && grep -q 'there is no compiler\|there is none (cc' .err; then
        skip "problems in files" "no C compiler"
        done_testing
    fi
    exits 0 "$problem.c is built"
    check "without a warning" sh -c '! grep -q warning: .err'
done
fieldstat=${FIELDSTAT:-$(dirname "$STRAKE")/tests/fieldstat}
if ! /usr/bin/env python3 -c 'import numpy' 2>/dev/null; then PATH=/usr/bin:$PATH; fi
numpy=no
if python3 -c 'import numpy' 2>/dev/null; then numpy=yes; fi

# The same bits everywhere; a device that fails would be said on stderr, and the others do its work.
cat >small_gray_scott.yaml <<'CASE'
problem: {file: gray_scott.c}
grid: {rows: 61, cols: 83, dx: 0.01, dy: 0.011}
time: {dt: 1, steps: 50}
boundary: {rows: no_flux, cols: periodic}
parameters: {F: 0.05, k: 0.06}
fields: {u: {random: {seed: 1}}, v: {random: {seed: 2, maximum: 0.5}}}
diagnostics: {every: 25}
CASE
sed 's/rows: 96, cols: 128/rows: 61, cols: 83/; s/steps: 400/steps: 50/; s/every: 100/every: 0/; s/every: 40/every: 25/' \
    vortices.yaml >small_ginzburg_landau.yaml
cat >small_elastic.yaml <<'CASE'
problem: {file: elastic.c}
grid: {planes: 13, rows: 11, cols: 17, dz: 1.1, dy: 0.9}
time: {dt: 0.2, steps: 12}
fields:
  vz: {random: {seed: 1, minimum: -1}}
  vx: {random: {seed: 2, minimum: -1}}
  vy: {random: {seed: 3, minimum: -1}}
  szz: {random: {seed: 4, minimum: -1}}
  sxx: {random: {seed: 5, minimum: -1}}
  syy: {random: {seed: 6, minimum: -1}}
  szx: {random: {seed: 7, minimum: -1}}
  szy: {random: {seed: 8, minimum: -1}}
  sxy: {random: {seed: 9, minimum: -1}}
  rho: {random: {seed: 10, minimum: 1, maximum: 2}}
  lambda: {random: {seed: 11, minimum: 1, maximum: 2}}
  mu: {random: {seed: 12, minimum: 1, maximum: 2}}
diagnostics: {every: 6}
CASE
places="cpu/1 cpu/2"
if "$STRAKE" devices 2>/dev/null | grep -q '^ocl:0: '; then
    places="$places ocl:0/1 cpu,ocl:0/1"
else
    skip "the same bits from OpenCL" "no OpenCL device"
fi
for problem in gray_scott/2 ginzburg_landau/2 elastic/9; do
    case=small_${problem%/*}.yaml
    for precision in double single; do
        try run $case --on serial --quiet --set precision=$precision --output serial
        exits 0 "${problem%/*} runs ($precision)"
        for place in $places; do
            rm -rf other
            try run $case --on "${place%/*}" --set run.threads="${place#*/}" --set precision=$precision --quiet --output other
            check "${problem%/*}: the same bits from ${place%/*}, threads ${place#*/}, $precision" sh -c '
                [ ! -s .err ] && [ "$(ls other | grep -c "npy$")" -eq "$1" ] && "$0" compare serial other &&
                    cmp serial/diagnostics.csv other/diagnostics.csv' "$STRAKE" "${problem#*/}"
        done
    done
done

# Gray-Scott. Without differences in space u and v follow two recurrences, bit by bit.
sed 's/u: {.*/u: {constant: 0.6}, v: {constant: 0.3}}/; s/steps: 50/steps: 200/' small_gray_scott.yaml >uniform.yaml
awk 'BEGIN { u = 0.6; v = 0.3; F = 0.05; k = 0.06
    for (n = 0; n < 200; n++) { r = u * (v * v); u += F * (1 - u) - r; v += r - (F + k) * v }
    printf "%.17g %.17g\n", u, v }' >recurrence
read -r u v <recurrence
try run uniform.yaml --on cpu --quiet --output uniform
for what in min max; do
    check "a uniform state is the recurrence's ($what of u)" "$fieldstat" uniform/u_00000200.npy $what near "$u" 0
    check "a uniform state is the recurrence's ($what of v)" "$fieldstat" uniform/v_00000200.npy $what near "$v" 0
done
check "diagnostics have its means" awk -F, -v u="$u" -v v="$v" 'function near(a, b) { return (a / b - 1) ^ 2 < 1e-30 }
    NR == 1 { if ($3 != "mean_u" || $4 != "mean_v") exit 1 } END { exit !(near($3, u) && near($4, v)) }' uniform/diagnostics.csv
# What a plate is fed with stays, whatever the rates.
try run uniform.yaml --set fields.u.constant=1 --set fields.v.constant=0 --on serial --quiet --output fed
check "u = 1 and v = 0 stays" "$fieldstat" fed/u_00000200.npy min near 1 0
# The bound of dt with D = 2e-5, dx = dy = 0.01, v at most 0.3: 2 / (8 D/dx^2 + F + v^2).
bound=$(awk 'BEGIN { printf "%.12g\n", 2 / (8 * 2e-5 / 1e-4 + 0.05 + 0.09) }')
beyond=$(awk -v dt="$bound" 'BEGIN { printf "%.12g\n", dt * 1.0001 }')
try run uniform.yaml --set grid.dy=0.01 --set time.dt="$bound" --set time.steps=1 --on serial --quiet --output limit
exits 0 "Gray-Scott: the largest stable time step is taken"
try run uniform.yaml --set grid.dy=0.01 --set time.dt="$beyond" --on serial --quiet
fails 2 "Gray-Scott: a larger one is refused" "time.dt: " "is unstable; at most 1.149"
try run gray_scott.yaml --set time.steps=2000 --on cpu --quiet --output patterns
exits 0 "Gray-Scott: the example runs"
check "and v, which a plate without patterns loses, is still there" "$fieldstat" patterns/v_00002000.npy max near 0.35 0.1

# Ginzburg-Landau, as src/problem/README.md has it in four files.
try run vortices.yaml --on cpu --quiet --output vortices
exits 0 "Ginzburg-Landau: the example runs"
check "its energy falls" awk -F, 'NR == 1 { if ($4 != "free_energy") exit 1; next }
    NR > 2 && $4 >= last { exit 1 } { last = $4 } END { exit NR != 12 }' vortices/diagnostics.csv
sed 's/re: {.*/re: {constant: 0.003}/; s/im: {.*/im: {constant: 0.004}/' vortices.yaml >uniform.yaml
awk 'BEGIN { a = 0.003; b = 0.004
    for (n = 0; n < 200; n++) { g = 1 - (a * a + b * b); a += 0.05 * (g * a); b += 0.05 * (g * b) }
    printf "%.17g %.17g\n", a, b }' >recurrence
read -r re im <recurrence
try run uniform.yaml --set time.steps=200 --on cpu --quiet --output uniform
for what in min max; do
    check "a uniform psi is the recurrence's ($what of re)" "$fieldstat" uniform/re_00000200.npy $what near "$re" 0
    check "a uniform psi is the recurrence's ($what of im)" "$fieldstat" uniform/im_00000200.npy $what near "$im" 0
done
sed 's/re: {.*/re: {sine: {waves: [12, 32], amplitude: 1e-8}}/; s/im: {.*/im: {constant: 0}/' vortices.yaml >wave.yaml
grown=$(awk 'BEGIN { pi = atan2(0, -1); k = (2 - 2 * cos(2 * pi / 8)) / 4 + 2 - 2 * cos(2 * pi / 4)
    printf "%.17g\n", 1e-8 * (1 + 0.05 * (1 - 0.5 * k)) ^ 200 }')
try run wave.yaml --set time.steps=200 --set grid.dx=2 --set boundary.rows=periodic --set parameters.K=0.5 --on cpu --quiet \
    --output wave
check "a small wave grows as its equation says" "$fieldstat" wave/re_00000200.npy max near "$grown" 1e-9r
try run vortices.yaml --set time.dt=0.2001 --on serial --quiet
fails 2 "Ginzburg-Landau: a time step that is too long is refused" "time.dt: 0.2001 is unstable" "at most 0.2 s"

# Elastic waves.
try run elastic.yaml --set grid.planes=40 --set time.steps=20 --set 'output.fields=[vz]' --on cpu --quiet --output rock
exits 0 "elastic waves: the example runs"
check "and its energy stays to 1e-12" awk -F, 'NR == 1 { if ($3 != "energy") exit 1 } NR == 2 { first = $3 }
    NR > 2 && ($3 / first - 1) ^ 2 > 1e-24 { exit 1 } END { exit !(NR == 3 && $4 > 0.1 * $3) }' rock/diagnostics.csv
# The density is at least 1, lambda + 2 mu at most 6: dt is at most 1/sqrt(6 * 3) with spacings of 1.
sed 's/, dz: 1.1, dy: 0.9//; s/rho: .*/rho: {constant: 1}/; s/lambda: .*/lambda: {constant: 2}/; s/mu: .*/mu: {constant: 2}/' \
    small_elastic.yaml >limit.yaml
try run limit.yaml --set time.dt=0.2357 --on serial --quiet --output limit
exits 0 "the largest stable time step of waves is taken"
try run limit.yaml --set time.dt=0.2358 --on serial --quiet
fails 2 "and a larger one refused" "time.dt: 0.2358 is unstable; at most 0.2357" "2.44949 m/s"
try run limit.yaml --set fields.mu.constant=0 --on serial --quiet
fails 2 "a shear modulus of 0 is refused" "fields.mu"
try run limit.yaml --set fields.rho.constant=-1 --on serial --quiet
fails 2 "a density below 0 is refused" "fields.rho"
try run limit.yaml --set boundary.rows=no_flux --on serial --quiet
fails 2 "walls are refused" "boundary.rows" "periodic"

if [ $numpy = no ]; then
    skip "Gray-Scott and elastic waves beside NumPy, plane waves" "Python has no NumPy"
    done_testing
fi
sed 's/no_flux/periodic/; s/steps: 50/steps: 200/; s/u: {.*/u: {file: u.npy}, v: {file: v.npy}}/' small_gray_scott.yaml >noise.yaml
sed 's/steps: 12/steps: 20/; s/\([a-z]*\): {random: .*/\1: {file: \1.npy}/; s/every: 6/every: 1/' small_elastic.yaml >solid.yaml
cat >reference.py <<'PYTHON'
import os
import subprocess
import sys

import numpy as np

AXES = "zxy"
PLACES = {"v" + a: {i: 0.5} for i, a in enumerate(AXES)}
PLACES.update({"s" + a + b: ({} if a == b else {i: 0.5, j: 0.5})
               for i, a in enumerate(AXES) for j, b in enumerate(AXES) if j >= i})


def run(case, out, *sets):
    options = [word for pair in sets for word in ("--set", pair)]
    subprocess.run([os.environ["STRAKE"], "run", case, "--on", "cpu", "--quiet", "--output", out] + options, check=True)


def last(out, name):
    return np.load(out + "/" + max(f for f in os.listdir(out) if f.startswith(name + "_")))


def gray_scott():
    draw = np.random.default_rng(1)
    u, v = draw.random((61, 83)), 0.5 * draw.random((61, 83))
    np.save("u", u)
    np.save("v", v)
    run("noise.yaml", "noise")
    lap = lambda c: ((np.roll(c, 1, 0) - 2 * c + np.roll(c, -1, 0)) / 0.01 ** 2
                     + (np.roll(c, 1, 1) - 2 * c + np.roll(c, -1, 1)) / 0.011 ** 2)
    for _ in range(200):
        du, dv = 2e-5 * lap(u) - u * v ** 2 + 0.05 * (1 - u), 1e-5 * lap(v) + u * v ** 2 - (0.05 + 0.06) * v
        u, v = u + du, v + dv
    off = max(abs(u - last("noise", "u")).max(), abs(v - last("noise", "v")).max())
    print("largest difference", off, "of values that still vary by", np.ptp(v))
    assert off < 1e-13 and np.ptp(v) > 0.01


def solid():
    """A solid that differs from cell to cell, and noise: the scheme in NumPy, with strains and forces by axes."""
    draw = np.random.default_rng(2)
    shape, d, dt = (13, 11, 17), (1.1, 1.0, 0.9), 0.2
    f = {name: 2 * draw.random(shape) - 1 for name in PLACES}
    f.update({name: 1 + draw.random(shape) for name in ("rho", "lambda", "mu")})
    for name in f:
        np.save(name, f[name])
    run("solid.yaml", "solid")
    forward = lambda x, a: (np.roll(x, -1, a) - x) / d[a]
    backward = lambda x, a: (x - np.roll(x, 1, a)) / d[a]
    stress = lambda a, b: f["s" + AXES[min(a, b)] + AXES[max(a, b)]]
    for _ in range(20):
        v = [f["v" + a] for a in AXES]
        for a in range(3):
            force = sum((forward if a == b else backward)(stress(a, b), b) for b in range(3))
            v[a] = v[a] + dt * (1 / f["rho"] + np.roll(1 / f["rho"], -1, a)) / 2 * force
            f["v" + AXES[a]] = v[a]
        divergence = sum(backward(v[a], a) for a in range(3))
        for a in range(3):
            for b in range(a, 3):
                if a == b:
                    change = f["lambda"] * divergence + 2 * f["mu"] * backward(v[a], a)
                else:
                    soft = 1 / f["mu"]
                    soft = soft + np.roll(soft, -1, a)
                    change = 4 / (soft + np.roll(soft, -1, b)) * (forward(v[a], b) + forward(v[b], a))
                f["s" + AXES[a] + AXES[b]] = stress(a, b) + dt * change
    off = max(abs(f[name] - last("solid", name)).max() for name in PLACES)
    print("largest difference", off)
    assert off < 1e-13
    energy = np.loadtxt("solid/diagnostics.csv", delimiter=",", skiprows=1)
    print("energy varies by a part of", np.ptp(energy[:, 2]) / energy[0, 2], "motion's by", np.ptp(energy[:, 3]) / energy[0, 2])
    assert len(energy) == 21 and np.ptp(energy[:, 2]) < 1e-13 * energy[0, 2] and np.ptp(energy[:, 3]) > 0.1 * energy[0, 2]


RHO, LAMBDA, MU = 1.5, 2.0, 0.75
SPEED = {"P": np.sqrt((LAMBDA + 2 * MU) / RHO), "S": np.sqrt(MU / RHO)}


def wave(kind, shape, waves, polarisation, steps, time):
    """A plane wave in a periodic box of edges 1, after `time` by Strake, and as it is exactly: fields of both."""
    d, dt = [1 / n for n in shape], time / steps
    k = 2 * np.pi * np.array(waves, dtype=float)
    omega = SPEED[kind] * np.linalg.norm(k)
    p = np.array(polarisation, dtype=float) / np.linalg.norm(polarisation)
    assert abs(np.cross(p, k) if kind == "P" else p @ k).max() < 1e-12

    def exact(name, n):
        at = [(i + PLACES[name].get(a, 0)) * d[a] for a, i in enumerate(np.indices(shape))]
        moment = n * dt - (dt / 2 if name[0] == "v" else 0)
        shape_of = np.sin(sum(k[a] * at[a] for a in range(3)) - omega * moment)
        if name[0] == "v":
            return p[AXES.index(name[1])] * shape_of
        a, b = (AXES.index(c) for c in name[1:])
        # v = p f(k x - omega t): ds/dt = C(k p) f' and s = -C(k p) f / omega.
        return -(LAMBDA * (k @ p) * (a == b) + MU * (p[a] * k[b] + p[b] * k[a])) / omega * shape_of

    for name in PLACES:
        np.save(name, exact(name, 0))
    sets = ["grid.%s=%d" % pair for pair in zip(("planes", "rows", "cols"), shape)]
    sets += ["grid.%s=%r" % pair for pair in zip(("dz", "dx", "dy"), map(float, d))]
    sets += ["fields.rho={constant: %r}" % RHO, "fields.lambda={constant: %r}" % LAMBDA, "fields.mu={constant: %r}" % MU,
             "time.dt=%r" % float(dt), "time.steps=%d" % steps, "diagnostics.every=%d" % steps]
    run("solid.yaml", "wave", *sets)
    energy = np.loadtxt("wave/diagnostics.csv", delimiter=",", skiprows=1)[:, 2]
    assert abs(energy[-1] / energy[0] - 1) < 1e-13, energy
    return {name: last("wave", name) for name in PLACES}, {name: exact(name, steps) for name in PLACES}


def speeds(kind):
    """Along each axis, half a box: how far the phase of the largest velocity has come."""
    for axis in range(3):
        shape, waves, p = [3, 4, 5], [0, 0, 0], [0, 0, 0]
        shape[axis], waves[axis] = 64, 1
        across = axis if kind == "P" else (axis + 1) % 3
        p[across] = 1
        time = 0.5 / SPEED[kind]
        steps = int(np.ceil(1.2 * time * SPEED["P"] * np.linalg.norm(shape)))
        ours, _ = wave(kind, shape, waves, p, steps, time)
        v = ours["v" + AXES[across]]
        line = np.moveaxis(v, axis, 0).reshape(64, -1).mean(axis=1)
        phase = np.angle(np.fft.fft(line)[1]) + np.pi / 2 - (np.pi / 64 if across == axis else 0)
        speed = ((-phase / (2 * np.pi)) % 1) / (time * (1 - 0.5 / steps))
        print(kind, "along", AXES[axis], speed, "exactly", SPEED[kind])
        assert abs(speed / SPEED[kind] - 1) < 1e-3


def order(kind):
    """Across all axes, on finer and finer grids."""
    waves, p = (1, 2, 1), (1, 2, 1) if kind == "P" else (1, -1, 1)
    errors = []
    for n in (10, 20, 40):
        ours, exact = wave(kind, (n, n, n), waves, p, n, 0.3)
        errors.append(max(abs(ours[name] - exact[name]).max() / abs(exact[name]).max() for name in PLACES
                          if abs(exact[name]).max() > 1e-9))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    print(kind, "errors", errors, "orders", orders)
    assert abs(orders[-1] - 2) < 0.1


{"gray_scott": gray_scott, "solid": solid, "speeds": lambda: [speeds("P"), speeds("S")],
 "order_p": lambda: order("P"), "order_s": lambda: order("S")}[sys.argv[1]]()
PYTHON
reference() { # reference NAME WHAT
    STRAKE=$STRAKE python3 reference.py "$2" >.out 2>.err
    report $? "$1"
    [ -z "${SHOW:-}" ] || sed 's/^/# /' .out
}
reference "Gray-Scott: NumPy agrees to 1e-13 after 200 steps from noise" gray_scott
reference "elastic waves: in a solid that differs from cell to cell NumPy agrees to 1e-13, and the energy stays to 1e-13" solid
reference "plane P and S waves have their speeds along all axes, to 1e-3 with 64 cells a wave" speeds
reference "a P wave across all axes converges to the exact one, with order 2" order_p
reference "an S wave across all axes does, too" order_s
done_testing
