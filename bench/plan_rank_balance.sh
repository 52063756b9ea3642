#!/bin/sh
# Two ranks of one thread whose shares stay or follow measured times, in turn: undisturbed, and with one of
# them slowed to a third from step 100 on. Needs Open MPI; takes about a minute.
# usage: bench/plan_rank_balance.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make all check-build`)
# OUTPUT_FOLDER/rates.txt has a line per run: what was done, run.balance, seconds of 400 steps of 1024 x 1024,
# rows of rank 0 at the end, looks and moves; then medians. Bytes of all runs are compared.
set -eu
out=$1
strake=$(realpath "${2:-build/strake}")
rounds=${ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(realpath "$out")
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    sed -n 's/^model name.*: //p' /proc/cpuinfo | uniq
    nproc
    uptime
} >"$out/machine.txt"
cat >"$work/flow.yaml" <<'END'
problem: mpdata2d
grid: {rows: 1024, cols: 1024}
time: {dt: 0.1, steps: 400}
boundary: {rows: open, cols: open}
fields:
  psi: {cone: {center: [512, 600], radius: 200, height: 4, base: 0.1}}
  u1: {rotation: {omega: 0.004, center: [512, 512]}}
  u2: {rotation: {omega: 0.004, center: [512, 512]}}
run: {on: cpu}
END
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
cd "$work"
"$strake" run flow.yaml --on serial --quiet --output one
: >"$out/rates.txt"
for round in $(seq "$rounds"); do
    for what in even slowed; do
        word=
        [ $what = even ] || word=slow:1:cpu@100*3
        for balance in fixed model; do
            STRAKE_INJECT=$word mpirun -np 2 "$(dirname "$strake")/tests/injected/strake" run flow.yaml --quiet --output "$work/two" \
                --report report.json --set run.shares=1,1 --set run.balance=$balance
            cmp one/psi_00000400.npy two/psi_00000400.npy
            seconds=$(sed -n 's/^  "seconds": \([0-9.]*\),.*/\1/p' report.json)
            rows=$(sed -n 's/.*"rank": 0, .*"rows": \[0, \([0-9]*\)\].*/\1/p' report.json)
            looks=$(sed -n '/"rank_balance"/,/]},$/p' report.json | grep -c '"step":' || true)
            moves=$(sed -n 's/.*"rank_balance": .*"moves": \([0-9]*\), "decisions".*/\1/p' report.json)
            printf '%-7s %-6s %8.3f s  %4d rows  %3d looks  %3d moves\n' $what $balance "$seconds" \
                "$rows" "$looks" "$moves" >>"$out/rates.txt"
        done
    done
done
for what in even slowed; do
    for balance in fixed model; do
        grep "^$what *$balance" "$out/rates.txt" | sort -k 3 -n |
            awk '{s[NR] = $3} END {printf "median  %-7s %-6s %8.3f s\n", $1, $2, s[int((NR + 1) / 2)]}'
    done
done >"$work/medians"
cat "$work/medians" >>"$out/rates.txt"
uptime >>"$out/machine.txt"
