#!/bin/bash
# Ranks on several machines, which tests/support/machines_mpi.c makes of one: what travels between them in pieces has the same bytes,
# and `strake model` measures whether it should.
here=$(realpath "$(dirname "$0")")
support=$here/../support
. "$here/tap.bash"
. "$here/ranks.bash"
if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "ranks on several machines" "a sanitizer must be loaded first"
    done_testing
fi
if ! mpicc -shared -fPIC -o machines.so "$support/machines_mpi.c" 2>cc.err; then
    skip "ranks on several machines" "no mpicc: $(head -1 cc.err)"
    done_testing
fi
export STRAKE_CACHE_DIR=$scratch/kept
spinodal 2 'rows: 48, cols: 2500' 'rows: periodic' >wide.yaml # borders of 40 KB for each step at once
"$STRAKE" run wide.yaml --on cpu --quiet --output one || exit 1
"$STRAKE" run walls.yaml --on cpu --quiet --output narrow || exit 1
# What STRAKE is from here on: ranks that share a machine with as few others as $STRAKE_TEST_MACHINE says.
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$scratch/machines.so" "$STRAKE" >apart
chmod +x apart
export STRAKE=$scratch/apart STRAKE_TEST_MACHINE=1

on_ranks 2 model --on cpu --budget 1 --report model.json
check "messages between machines are measured" test "$code" = 0
prints "whole and in pieces" "2 ranks on 2 machines" "256 KiB both ways between machines, a processor each: whole" "in pieces of 32 KiB"
check "which the report has" grep -qE '"pieces": \{"bytes": (0|32768), "awake": \[[0-9.e-]+, [0-9.e-]+\], "crowded": \[[0-9.e-]+, [0-9.e-]+\]\}' model.json
file=$(ls kept/ranks-*.yaml)
check "and the file that is kept" grep -q '"pieces":' "$file"
cp "$file" measured
# cut BYTES: as if that had been measured; messages: that rank 0 sends in an exchange
cut() { sed -E "s/(\"pieces\": \{\"bytes\": )[0-9]*/\1$1/" measured >"$file"; }
messages() { sed -n 's/.*"rank_messages_per_sweep": \([0-9]*\).*/\1/p' report.json | head -1; }
run() { # run RANKS CASE ARGUMENTS...
    on_ranks "$1" run "$2.yaml" --quiet --output ranks --report report.json "${@:3}"
}
for steps in 1 3; do
    for way in messages one_way; do
        cut 0
        run 2 wide --set run.exchange=$way --set run.steps_per_sweep=$steps
        whole=$(messages)
        same "whole messages, $way, $steps at once: the same bytes"
        cut 32768
        run 2 wide --set run.exchange=$way --set run.steps_per_sweep=$steps
        pieces=$(messages)
        same "pieces of them, $way, $steps at once: the same bytes"
        check "which are more ($whole, then $pieces)" test "$pieces" -ge $((2 * whole))
    done
done
cut 1000
run 2 wide
same "a size that is none is refused, and does no harm"
check "which is told" bash -c '! grep -q "\"figures\": \"20" report.json'
rm -rf one && mv narrow one
cut 32768
run 2 walls --set run.exchange=messages --set run.steps_per_sweep=1
same "messages that are no larger than a piece"
check "stay whole" test "$(messages)" = 1
rm -rf one ranks
on_ranks 2 run wide.yaml --quiet --output bad --set scheme.unstable=allow --set time.dt=1
says 1 "a rank that stops is found, whose messages come in pieces" "NaN or Inf"

# Two on each machine: those have their borders in common, or send whole messages.
export STRAKE_TEST_MACHINE=2
"$STRAKE" run wide.yaml --on cpu --quiet --output one || exit 1
on_ranks 4 model --on cpu --budget 0.5 --quiet
for file in kept/ranks-*.yaml; do
    sed -i -E 's/("pieces": \{"bytes": )[0-9]*/\132768/' "$file"
done
for way in both messages one_way; do
    run 4 wide --set run.exchange=$way --set run.steps_per_sweep=2
    same "two machines of two ranks, $way: the same bytes"
done
done_testing
