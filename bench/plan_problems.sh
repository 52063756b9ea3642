#!/bin/bash
# Usage: bash bench/plan_problems.sh OUT [WHERE [SIZES]]
# Problems in C files on WHERE (gpu:0): every example's case has the bytes of the serial reference there and in a mixture with
# the processors, formulas of cases too; a step of MPDATA and of Cahn-Hilliard as a file beside the one that is built in, in
# turns; Gray-Scott and shallow water beside NumPy, Numba and JAX (bench/problems.py). Needs `make`, build/tests/problem_file
# and a C compiler. Results and what was run go into OUT.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$1" && out=$(realpath "$1")
where=${2:-gpu:0} sizes=${3:-512 2048 8192}
strake=${STRAKE:-$PWD/build/strake} work=$(mktemp -d)
export STRAKE_CACHE_DIR=$work/cache
trap 'rm -rf "$work"' EXIT
"$strake" devices >"$out/devices.txt" 2>&1

same() { # same NAME CASE ARGUMENTS...: serial against WHERE and a mixture
    local name=$1 case=$2 place
    shift 2
    "$strake" run "$case" --on serial --quiet --output "$work/serial" "$@" >/dev/null 2>"$work/said" || { echo "$name: $(cat "$work/said")"; return; }
    for place in "$where" "cpu,$where"; do
        "$strake" run "$case" --on "$place" --quiet --no-tune --output "$work/there" "$@" >/dev/null 2>"$work/said"
        printf '%-44s %-12s %s %s\n' "$name" "$place" "$("$strake" compare "$work/serial" "$work/there" | tail -1)" "$(cat "$work/said")"
    done
}
{
    for file in data/examples/problems/*.c; do
        "$strake" problem build "$file" --quiet || exit 1
    done
    "$strake" new "$PWD/data/examples/problems/heat.c" >"$work/heat.yaml"
    for case in "$work/heat.yaml" data/examples/problems/*.yaml; do
        for precision in double single; do
            same "$(basename "$case" .yaml) $precision" "$case" --set precision=$precision --set output.formats=[npy]
        done
    done
    cat >"$work/quench.yaml" <<'CASE'
problem: cahn_hilliard2d
grid: {rows: 200, cols: 300}
time: {dt: 0.005, steps: 100}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
CASE
    same "derivative u^3 - u" "$work/quench.yaml" --set "scheme.free_energy.derivative=u^3 - u"
    same "derivative with logarithms" "$work/quench.yaml" --set "scheme.free_energy.derivative=log((1+u)/(1-u))/2 - 1.2*u"
    same "derivative with sin, exp" "$work/quench.yaml" --set "scheme.free_energy.derivative=sin(3*u)*exp(-u^2) - u/2" --set scheme.unstable=allow
    same "mobility 1 - u^2" "$work/quench.yaml" --set "parameters.M={formula: 1 - u^2}"
    cat >"$work/tracers.yaml" <<'CASE'
problem: mpdata2d
tracers: [a, b]
grid: {rows: 200, cols: 300}
time: {dt: 0.1, steps: 100}
parameters: {reaction: ["-0.3*a*b + 0.01*exp(-a)", "-0.3*a*b + 0.02*sin(b)^2"]}
fields:
  a: {gaussian: {center: [100, 100], sigma: 16, height: 1, base: 0.1}}
  b: {gaussian: {center: [100, 140], sigma: 16, height: 1, base: 0.2}}
  u1: {rotation: {center: [100, 150], omega: 0.02}}
  u2: {rotation: {center: [100, 150], omega: 0.02}}
CASE
    same "reactions of tracers" "$work/tracers.yaml"
} 2>&1 | tee "$out/same.txt"

# A step as a file and built in, in turns.
cat >"$work/mpdata2d.yaml" <<'CASE'
problem: mpdata2d
grid: {rows: 512, cols: 512}
time: {dt: 0.1, steps: 100}
boundary: {rows: open, cols: periodic}
fields:
  psi: {gaussian: {center: [200, 256], sigma: 30, height: 1, base: 0.1}}
  u1: {rotation: {center: [256, 256], omega: 0.0001}}
  u2: {rotation: {center: [256, 256], omega: 0.0001}}
CASE
cat >"$work/cahn_hilliard3d.yaml" <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 64, rows: 64, cols: 64}
time: {dt: 0.005, steps: 100}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
CASE
for name in mpdata2d cahn_hilliard3d; do
    "${PROBLEM_FILE:-build/tests/problem_file}" "$work/$name.yaml" "own_$name" >"$work/own_$name.c" && "$strake" problem build "$work/own_$name.c" --quiet || exit 1
    sed "s/^problem:.*/problem: {file: own_$name.c}/" "$work/$name.yaml" >"$work/own_$name.yaml"
    same "own_$name" "$work/own_$name.yaml"
    for size in $sizes; do
        edge=$size steps=50
        [ "$name" = mpdata2d ] || edge=$(awk -v n="$size" 'BEGIN { printf "%d", n == 512 ? 64 : n == 2048 ? 160 : 400 }')
        set -- --set grid.rows="$edge" --set grid.cols="$edge" --on "$where" --steps $steps --repeats 5
        [ "$name" = mpdata2d ] || set -- "$@" --set grid.planes="$edge"
        for turn in 1 2 3; do
            for case in "$name" "own_$name"; do
                printf '%-20s %6s %s\n' "$case" "$edge" "$("$strake" bench "$work/$case.yaml" "$@" 2>&1 | grep -E "^(gpu|ocl|cpu)")"
            done
        done
    done
done 2>&1 | tee "$out/turns.txt"
PYTHONPATH=host/python python3 bench/problems.py --on "$where" --sizes "$(tr ' ' , <<<"$sizes")" --steps 100 2>&1 | tee "$out/peers.txt"
