#!/bin/sh
# Ranks over a shaped link: each rank in a network namespace of its own, joined by a veth pair that has
# the rate (and, where the kernel has netem, the delay) of 1 Gbit Ethernet, against the same ranks without
# the shaping. Needs root, iproute2 and Open MPI; takes about two minutes.
# usage: bench/plan_mpi.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# Every line of OUTPUT_FOLDER/rates.jsonl is one report with the link, the exchange and the sweep.
set -eu
out=$1
strake=$(realpath "${2:-build/strake}")
rate=${RATE:-1gbit} delay=${DELAY:-50us} # of each direction
work=$(mktemp -d)
a=strake-a-$$ b=strake-b-$$
tidy() {
    ip netns del "$a" 2>/dev/null || true
    ip netns del "$b" 2>/dev/null || true
    rm -rf "$work"
}
trap tidy EXIT
mkdir -p "$out"
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || echo 'commit unknown'
    uname -sr
    nproc
} >"$out/machine.txt"
: >"$out/rates.jsonl"
: >"$out/rates.txt"

ip netns add "$a"
ip netns add "$b"
ip link add veth0 netns "$a" type veth peer name veth0 netns "$b"
for end in "$a 1" "$b 2"; do
    # shellcheck disable=SC2086
    set -- $end
    ip -n "$1" link set lo up
    ip -n "$1" addr add "10.77.0.$2/24" dev veth0
    ip -n "$1" link set veth0 up
done
# What mpirun would do over ssh.
cat >"$work/agent" <<AGENT
#!/bin/sh
shift
exec ip netns exec $b sh -c "\$*"
AGENT
chmod +x "$work/agent"

cat >"$work/flow.yaml" <<'YAML'
problem: mpdata2d
grid: {rows: 1024, cols: 2048}
time: {dt: 0.1, steps: 200}
boundary: {rows: periodic, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: 1, maximum: 2}}
  u1: {constant: 0.3}
  u2: {constant: -0.2}
run: {on: cpu, threads: 1, shares: [1, 1]}
output: {fields: []}
YAML
cat >"$work/spinodal.yaml" <<'YAML'
problem: cahn_hilliard2d
grid: {rows: 1024, cols: 2048}
time: {dt: 0.004, steps: 200}
scheme: {time: midpoint}
fields:
  u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}
run: {on: cpu, threads: 1, shares: [1, 1]}
output: {fields: []}
YAML

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
any() { # LINK CASE STEPS_PER_SWEEP EXCHANGE
    timeout -k 5 120 ip netns exec "$a" mpirun --host 10.77.0.1:1,10.77.0.2:1 -np 2 --bind-to none \
        --mca plm_rsh_agent "$work/agent" --mca btl tcp,self --mca pml ob1 \
        --mca btl_tcp_if_include veth0 --mca oob_tcp_if_include veth0 \
        "$strake" run "$work/$2.yaml" --quiet --set run.steps_per_sweep="$3" \
        --set run.exchange="$4" --report "$work/report.json" >"$work/err" 2>&1 || {
        echo "$*: $(head -c 400 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"link": "%s", "case": "%s", "sweep": %s, "exchange": "%s", "report": %s}\n' "$1" "$2" \
        "$3" "$4" "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
    printf '%-7s %-9s sweep %s %-8s %10.1f Mcell/s\n' "$1" "$2" "$3" "$4" \
        "$(grep -o '"cells_per_second": [0-9.e+]*' "$work/report.json" | tail -1 |
            awk '{print $2 / 1e6}')" | tee -a "$out/rates.txt"
}
for link in free shaped; do
    if [ $link = shaped ]; then
        for end in "$a" "$b"; do
            if tc -n "$end" qdisc add dev veth0 root netem delay "$delay" rate "$rate" 2>/dev/null; then
                echo "link: $rate and $delay each way (netem)" >>"$out/machine.txt"
            else
                tc -n "$end" qdisc add dev veth0 root tbf rate "$rate" burst 64kb latency 50ms
                echo "link: $rate each way (tbf; this kernel has no netem, so no delay)" >>"$out/machine.txt"
            fi
        done
    fi
    for round in ${ROUNDS:-1 2 3}; do
        for case in flow spinodal; do
            for sweep in 1 2 4; do
                any $link $case $sweep messages
            done
            any $link $case 1 one_way
        done
    done
done
