#!/bin/bash
# Formulas in cases: they mean what they say, have the same bytes everywhere, and what is none is refused.
. "$(dirname "$0")/tap.bash"
cat >quench.yaml <<'CASE'
problem: cahn_hilliard2d
grid: {rows: 51, cols: 67}
time: {dt: 0.005, steps: 60}
boundary: {rows: no_flux, cols: periodic}
fields: {u: {random: {seed: 1, minimum: -0.4, maximum: 0.4}}}
diagnostics: {every: 20}
CASE
sed 's/2d/3d/; s/rows: 51, cols: 67/planes: 18, rows: 21, cols: 24/' quench.yaml >quench3d.yaml
cat >tracers.yaml <<'CASE'
problem: mpdata2d
tracers: [a, b]
grid: {rows: 51, cols: 67}
time: {dt: 0.1, steps: 50}
fields:
  a: {random: {seed: 1, minimum: 0, maximum: 1}}
  b: {random: {seed: 2, minimum: 0, maximum: 1}}
  u1: {constant: 0.2}
  u2: {constant: -0.1}
CASE
places="cpu/1 cpu/2"
[ "$("$STRAKE" devices 2>/dev/null | grep -c '^ocl:0: ')" -gt 0 ] && places="$places ocl:0/1 cpu,ocl:0/1" ||
    skip "formulas on OpenCL devices" "no OpenCL device"
same() { # same NAME CASE OPTION...: in both precisions, at every place
    local name=$1 case=$2 precision place
    shift 2
    for precision in double single; do
        try run "$case" --on serial --set precision=$precision --quiet --output serial "$@"
        exits 0 "$name runs in $precision precision"
        for place in $places; do
            try run "$case" --on "${place%/*}" --set run.threads="${place#*/}" --set precision=$precision --quiet \
                --output place "$@"
            check "$name: the same bytes from ${place%/*}, threads ${place#*/}, $precision" sh -c \
                'test ! -s .err && "$0" compare serial place' "$STRAKE"
        done
    done
}
same "f' = u^3 - u" quench.yaml --set "scheme.free_energy.derivative=u^3 - u"
"$STRAKE" run quench.yaml --on serial --quiet --output built --set precision=single
check "it is the double well, but for roundings" "$STRAKE" compare serial built --tolerance 1e-5
same "a logarithmic energy" quench.yaml --set "scheme.free_energy.derivative=0.5*log((1+u)/(1-u)) - 1.2*u"
same "every function" quench.yaml --set scheme.unstable=allow \
    --set "scheme.free_energy.derivative=min(sin(3*u), cos(u)/4)*exp(-u^2) - max(u, -abs(u))/3 + sqrt(1 + u^2)*0.01 - 2^-u/7"
same "a mobility" quench.yaml --set "parameters.M={formula: (1 - u^2)}"
same "a mobility and an energy in 3D, with Heun's method" quench3d.yaml --set scheme.time=heun \
    --set "parameters.M={formula: (1 - u^2/4)}" --set "scheme.free_energy.derivative=u^3 - u"
same "reactions" tracers.yaml --set 'parameters.reaction=["-0.3*a*b + 0.01*exp(-a)", "0.3*a*b - 0.02*sin(b)^2"]'
sed '/^  b:/d; s/\[a, b\]/[a]/; s/time: .*/time: {end: 4, courant: 0.4}/; s/{constant: .*/{rotation: {center: [25, 33], omega: 0.02}}/' \
    tracers.yaml >flow.yaml
same "one reaction, with steps that follow from the flow" flow.yaml --set "parameters.reaction=-0.3*a^2"

# Against what they say.
fieldstat=${FIELDSTAT:-$(dirname "$STRAKE")/tests/fieldstat}
still=(--set fields.u1="{constant: 0}" --set fields.u2="{constant: 0}" --set fields.a="{constant: 0.7}" --set fields.b="{constant: 0.3}")
try run tracers.yaml --on cpu --quiet --output still "${still[@]}" --set 'parameters.reaction=["-0.3*a*b", "0.3*a*b"]'
read -r a b < <(awk 'BEGIN { a = 0.7; b = 0.3; for (n = 0; n < 50; n++) { r = 0.3 * a * b; a -= 0.1 * r; b += 0.1 * r }
    printf "%.17g %.17g\n", a, b }')
check "a reaction is the recurrence (a)" "$fieldstat" still/a_00000050.npy max near "$a" 1e-14
check "a reaction is the recurrence (b)" "$fieldstat" still/b_00000050.npy min near "$b" 1e-14
for m in 0 1; do
    try run quench.yaml --on cpu --quiet --output "mobile$m" --set "$([ $m = 0 ] && echo parameters.M=0.75 || echo 'parameters.M={formula: 0.5 + 1/4}')"
done
check "a mobility without u is the number" "$STRAKE" compare mobile0 mobile1 --tolerance 1e-12
check "mass is kept where the mobility changes from cell to cell" sh -c '
    "$0" run quench.yaml --on cpu --quiet --output kept --set "parameters.M={formula: (1 - u^2)}" &&
    awk -F, "NR == 2 { first = \$3 } NR > 2 && (\$3 - first) ^ 2 > 1e-22 { exit 1 } END { exit NR != 5 }" kept/diagnostics.csv' "$STRAKE"
check "and the energy falls" awk -F, 'NR > 2 && $4 >= last { exit 1 } { last = $4 } END { exit NR != 5 }' kept/diagnostics.csv
try run quench.yaml --on serial --quiet --set time.dt=0.0284 --set "parameters.M={formula: 1}" --set "scheme.free_energy.derivative=u^3 - u"
fails 2 "the bound on the time step follows from them" "time.dt: 0.0284 is unstable"
if command -v python3 >/dev/null && python3 -c 'import numpy' 2>/dev/null; then
    try run quench.yaml --on cpu --quiet --output one --steps 1 --set scheme.time=euler --set output.initial=true \
        --set "parameters.M={formula: (1 - u^2)}" --set "scheme.free_energy.derivative=u^3 - u" --set boundary.rows=periodic
    check "a step with a mobility is that of NumPy" python3 - <<'EOF'
import numpy as np
u, next = np.load("one/u_00000000.npy"), np.load("one/u_00000001.npy")
def lap(x): return sum(np.roll(x, s, k) - x for k in (0, 1) for s in (1, -1))
mu, m = u**3 - u - lap(u), 1 - u**2
out = u.copy()
for k in (0, 1):
    flux = 0.5 * (m + np.roll(m, 1, k)) * (mu - np.roll(mu, 1, k))
    out += 0.005 * (np.roll(flux, -1, k) - flux)
assert abs(out - next).max() < 1e-14, abs(out - next).max()
EOF
else
    skip "a step with a mobility is that of NumPy" "Python has no NumPy"
fi

# A restart knows them; what has another one is another case.
try run quench.yaml --on cpu --quiet --output half --steps 40 --set checkpoint.every=40 --set "scheme.free_energy.derivative=u^3 - u"
try run quench.yaml --on cpu --quiet --output half --resume half/checkpoint.strake --set "scheme.free_energy.derivative=u^3 - 2*u"
fails 2 "another formula is not resumed" "scheme.free_energy.derivative"

refused() { # refused NAME CASE SET TEXT...
    local name=$1 case=$2 set=$3
    shift 3
    try run "$case" --quiet --set "$set"
    fails 2 "$name" "$@"
}
refused "an unknown name" quench.yaml "scheme.free_energy.derivative=v^3" "there is no 'v'" "did you mean 'u'"
refused "an end too soon" quench.yaml "scheme.free_energy.derivative=u^3 -" "found its end"
refused "a bracket that stays open" quench.yaml "scheme.free_energy.derivative=(u" "expected ')'"
refused "too much" quench.yaml "scheme.free_energy.derivative=u u" "where it could end"
refused "a function of another number of operands" quench.yaml "scheme.free_energy.derivative=min(u)" "expected ','"
refused "a division by zero" quench.yaml "scheme.free_energy.derivative=u + 1/0" "divides by 0"
refused "brackets without end" quench.yaml "scheme.free_energy.derivative=$(printf '(%.0s' $(seq 60))u" "deep"
refused "signs without end" quench.yaml "scheme.free_energy.derivative=0$(printf -- '-%.0s' $(seq 60))u" "signs"
refused "too many operations" quench.yaml "scheme.free_energy.derivative=u$(printf -- '+u*u%.0s' $(seq 80))" "more than 96 operations"
refused "too long a text" quench.yaml "scheme.free_energy.derivative=u$(printf -- '+u%.0s' $(seq 300))" "at most 399 characters"
refused "code" quench.yaml "scheme.free_energy.derivative=system(u)" "there is no 'system'"
refused "two energies" quench.yaml 'scheme={free_energy: {derivative: u, polynomial: [0, 1]}}' "give one of the two"
refused "another key beside formula" quench.yaml "parameters.M={formula: u, other: 1}" "other"
refused "a list for a mobility" quench.yaml "parameters.M=[u]" "a number"
refused "one reaction for two tracers" tracers.yaml "parameters.reaction=-a" "give a list of one for each"
refused "three reactions for two tracers" tracers.yaml 'parameters.reaction=["a", "b", "a"]' "a list of 2"
try run tracers.yaml --quiet --set 'parameters.reaction=["-a", "-b"]' --set scheme.sign=nonnegative
fails 2 "a reaction and sign: nonnegative" "use sign: any"
try help derivative
prints "help has an example" "u^3 - u"
try help parameters.M
prints "help says where a number may be a formula" '{formula: "..."}'
done_testing
