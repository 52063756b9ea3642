# Sourced by plans: links between pairs of network namespaces, which bench/relay.c makes of two TAP devices each.
# One end has the processor $near (0), the other one $far (1). Sets $work, an empty folder, and removes all
# at the end. Needs root, iproute2, util-linux, hostname, /dev/net/tun and Open MPI.
work=$(mktemp -d)
name=strake-$$
relays=
links=
tidy() {
    # shellcheck disable=SC2086
    [ -z "$relays" ] || kill $relays 2>/dev/null || true
    for link in $links; do
        ip netns del "$name-$link-a" 2>/dev/null || true
        ip netns del "$name-$link-b" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap tidy EXIT
trap 'exit 1' INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -o "$work/relay" bench/relay.c
join() { # join LINK MBIT_PER_S DELAY_US: namespaces of the link's two ends
    links="$links $1"
    "$work/relay" "s$1a$$" "s$1b$$" "$2" "$3" >"$work/$1.txt" &
    relays="$relays $!"
    until grep -q ready "$work/$1.txt" 2>/dev/null; do
        kill -0 $!
        sleep 0.05
    done
    for end in a b; do
        ip netns add "$name-$1-$end"
        ip link set "s$1$end$$" netns "$name-$1-$end"
        ip -n "$name-$1-$end" link set "s$1$end$$" name link0
        ip -n "$name-$1-$end" link set lo up
        ip -n "$name-$1-$end" addr add "10.77.0.$([ $end = a ] && echo 1 || echo 2)/24" dev link0
        ip -n "$name-$1-$end" link set link0 up
    done
    # What mpirun would do over ssh. The far end has a name and files of its own: MPI must not take both for one machine.
    mkdir -p "$work/far"
    cat >"$work/agent-$1" <<AGENT
#!/bin/sh
shift
export TMPDIR=$work/far PMIX_MCA_gds=hash OMPI_MCA_btl_vader_backing_directory=$work/far
exec taskset -c ${far:-1} ip netns exec $name-$1-b unshare --uts sh -c "hostname far; \$*"
AGENT
    chmod +x "$work/agent-$1"
}
across() { # across LINK RANKS [OPTIONS OF MPIRUN...] COMMAND...: as many at either end
    link=$1 half=$(($2 / 2))
    shift 2
    timeout -k 5 120 taskset -c "${near:-0}" ip netns exec "$name-$link-a" mpirun -np $((2 * half)) --bind-to none --oversubscribe \
        --host "10.77.0.1:$half,10.77.0.2:$half" --mca plm_rsh_agent "$work/agent-$link" --mca btl tcp,self \
        --mca pml ob1 --mca btl_tcp_if_include link0 --mca oob_tcp_if_include link0 "$@"
}
