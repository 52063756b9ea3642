#!/bin/sh
# Two ranks of one thread and one core each, over links between network namespaces that bench/relay.c makes
# of two TAP devices: one with the rate and the delay of Ethernet (link), one through the same program
# without either (free), so that what both have in common, the processor time of TCP and of the program,
# can be told from what the link itself costs. Beside them the same ranks on one machine (none), and one
# rank (alone). Needs root, iproute2, python3, /dev/net/tun and Open MPI; takes about fifteen minutes.
# usage: bench/plan_mpi.sh OUTPUT_FOLDER [STRAKE]     (from the repository root, after `make`)
# Every line of OUTPUT_FOLDER/rates.jsonl is one report; medians.txt is what bench/median.sh makes of them.
# link.txt: what was asked of the link, what TCP alone and `strake model` find, and what the relays did.
set -eu
out=$1
strake=$(realpath "${2:-build/strake}")
rate=${RATE:-1000} delay=${DELAY:-50} # [Mbit/s], [us], each way
. bench/link.sh
mkdir -p "$out"
{
    date -u +%Y-%m-%d
    git rev-parse --verify -q HEAD || cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || echo 'commit unknown'
    uname -sr
    nproc
    mpirun --version | head -1
} >"$out/machine.txt"
: >"$out/rates.jsonl"

join link "$rate" "$delay"
join free 100000 0

cat >"$work/probe.py" <<'PYTHON'
import socket, sys, time
ROUNDS, MIB = 500, 128
if sys.argv[1] == "answer":
    peer = socket.create_server(("10.77.0.2", 7701)).accept()[0]
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(ROUNDS):
        peer.sendall(peer.recv(1))
    left = MIB << 20
    while left > 0:
        left -= len(peer.recv(1 << 20))
    peer.sendall(b"x")
else:
    peer = socket.create_connection(("10.77.0.2", 7701))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    trip = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        peer.sendall(b"x")
        peer.recv(1)
        trip.append(1e6 * (time.perf_counter() - begin))
    begin = time.perf_counter()
    for _ in range(MIB):
        peer.sendall(bytes(1 << 20))
    peer.recv(1)
    seconds = time.perf_counter() - begin
    trip.sort()
    print("TCP, 1 byte there and back: median %.0f us, least %.0f, of %d" % (trip[ROUNDS // 2], trip[0], ROUNDS))
    print("TCP, %d MiB one way: %.1f Mbit/s of payload" % (MIB, 8 * (MIB << 20) / seconds / 1e6))
PYTHON
ip netns exec "$name-link-b" python3 "$work/probe.py" answer &
sleep 0.5
{
    echo "asked for: $rate Mbit/s, $delay us each way"
    ip netns exec "$name-link-a" python3 "$work/probe.py" call
} | tee "$out/link.txt"

over() { # over LINK COMMAND...
    link=$1 more=
    shift
    case $link in
        alone) timeout -k 5 120 taskset -c 0 "$@" ;;
        none) timeout -k 5 120 mpirun -np 2 --bind-to core "$@" ;;
        *) # eager: messages of any size are sent before the receiver has said that it is ready
            [ "$link" != eager ] || link=link more='--mca btl_tcp_eager_limit 4000000'
            # shellcheck disable=SC2086
            across "$link" 2 $more "$@"
            ;;
    esac
}
over link "$strake" model --on cpu --budget 5 >"$work/model.txt" 2>&1
grep -A1 messages "$work/model.txt" | tee -a "$out/link.txt"

write() { # NAME PROBLEM GRID REST
    cat >"$work/$1.yaml" <<YAML
problem: $2
grid: {$3}
$4
run: {on: cpu, threads: 1, shares: [1, 1], tuned: false}
output: {fields: []}
YAML
}
noise='scheme: {time: midpoint}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}'
write flow mpdata2d 'rows: 1024, cols: 2048' 'time: {dt: 0.1, steps: 96}
fields: {psi: {random: {seed: 1, minimum: 1, maximum: 2}}, u1: {constant: 0.3}, u2: {constant: -0.2}}'
write spinodal cahn_hilliard2d 'rows: 1024, cols: 2048' "time: {dt: 0.004, steps: 240}
$noise"
write cube cahn_hilliard3d 'planes: 128, rows: 128, cols: 128' "time: {dt: 0.004, steps: 96}
$noise"

any() { # LINK CASE SWEEP EXCHANGE OVERLAP
    set -- "$@" "$(sed -n 's/^problem: //p' "$work/$2.yaml")" \
        "$(sed -n 's/^grid: {\(.*\)}/\1/p' "$work/$2.yaml" | sed 's/[a-z]*: //g; s/, /x/g')"
    # shellcheck disable=SC2086
    kill -0 $relays # a relay that has died would only show as ranks that do not find each other
    over "$1" "$strake" run "$work/$2.yaml" --quiet --set run.steps_per_sweep="$3" \
        --set run.exchange="$4" --set run.overlap="$5" --report "$work/report.json" >"$work/err" 2>&1 || {
        echo "$*: $(head -c 400 "$work/err")" | tee -a "$out/failures.txt"
        return 0
    }
    printf '{"problem": "%s", "grid": "%s", "on": "%s", "options": "%s sweep=%s overlap=%s", "report": %s}\n' \
        "$6" "$7" "$1" "$4" "$3" "$5" "$(tr -d '\n' <"$work/report.json")" >>"$out/rates.jsonl"
}
for _ in ${ROUNDS:-1 2 3}; do
    for case in ${CASES:-flow spinodal cube}; do
        for sweep in ${SWEEPS:-1 2 4 0}; do # 0: the default
            any alone "$case" "$sweep" both auto
            any none "$case" "$sweep" both auto
            any none "$case" "$sweep" messages auto
            any none "$case" "$sweep" one_way auto
            any free "$case" "$sweep" messages on
            any eager "$case" "$sweep" messages on
            for exchange in messages one_way; do
                any link "$case" "$sweep" $exchange on
                any link "$case" "$sweep" $exchange off
            done
        done
    done
done
# shellcheck disable=SC2086
kill $relays
wait
for link in link free; do
    sed "/ready/d; s/^/$link: /" "$work/$link.txt" | tee -a "$out/link.txt"
done
relays=
sh bench/median.sh "$out/rates.jsonl" | tee "$out/medians.txt"
