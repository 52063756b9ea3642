# Sourced after tap.bash by tests of several ranks: runs under mpirun, small cases. Ends the test where
# these are not possible.
if [ ! -e "$(dirname "$STRAKE")/libstrake-mpi.so" ]; then
    skip "runs on several ranks" "built without MPI"
    done_testing
fi
if ! command -v mpirun >/dev/null 2>&1; then
    skip "runs on several ranks" "there is no mpirun"
    done_testing
fi
# Open MPI leaks from plugins that it has unloaded at the end, which tests/sanitizer.supp cannot name.
[ -z "${STRAKE_TESTS_SANITIZER:-}" ] || export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# Since 5.0 Open MPI has both from PRRTE.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_tmpdir_base=$scratch
export OMPI_MCA_pml=^ucx,cm OMPI_MCA_btl=^openib,usnic,ofi,tcp # no network to look for

cat >flow.yaml <<'END'
problem: mpdata2d
grid: {rows: 61, cols: 40}
time: {dt: 0.1, steps: 23}
boundary: {rows: open, cols: periodic}
fields:
  psi: {cone: {center: [20, 20], radius: 12, height: 4, base: 0.1}}
  u1: {rotation: {omega: 0.05, center: [30, 20]}}
  u2: {rotation: {omega: 0.05, center: [30, 20]}}
run: {on: cpu}
output: {every: 10, initial: true}
checkpoint: {every: 14}
END
cat >winds.yaml <<'END'
problem: mpdata2d
grid: {rows: 61, cols: 40}
time: {dt: 0.1, steps: 13}
boundary: {rows: open, cols: periodic}
fields:
  psi: {cone: {center: [20, 20], radius: 12, height: 4, base: 0.1}}
  u1: {rotation: {omega: 0.05, center: [30, 20], reversal: 1.1}}
  u2: {rotation: {omega: 0.05, center: [30, 20], reversal: 1.1}}
run: {on: cpu}
END
cat >poles.yaml <<'END'
problem: mpdata2d
grid: {rows: 30, cols: 40}
time: {dt: 0.004, steps: 13}
boundary: {rows: polar}
parameters: {diffusivity: [0.2]}
fields:
  psi: {random: {seed: 3, minimum: 1, maximum: 2}}
  u1: {globe: {omega: 1, tilt: 1.2}}
  u2: {globe: {omega: 1, tilt: 1.2}}
  h: {sine: {waves: [0.5, 0], phase: 0.052359877559829887}}
run: {on: cpu}
END
spinodal() { # spinodal DIMS GRID BOUNDARY
    cat <<END
problem: cahn_hilliard$1d
grid: {$2}
time: {dt: 0.004, steps: 25}
boundary: {$3}
scheme: {time: midpoint}
fields:
  u: {random: {seed: 7, minimum: -0.3, maximum: 0.2}}
run: {on: cpu}
output: {every: 11}
checkpoint: {every: 9}
diagnostics: {every: 6}
END
}
spinodal 2 'rows: 59, cols: 36' 'rows: periodic, cols: periodic' >ring.yaml
spinodal 2 'rows: 59, cols: 36' 'rows: no_flux, cols: periodic' >walls.yaml
spinodal 3 'planes: 41, rows: 9, cols: 20' 'planes: periodic' >cube.yaml

# on_ranks RANKS ARGUMENTS...: as try, on several ranks. Ranks write their messages to the file themselves: mpirun may end
# one that failed before it has passed on what that said.
on_ranks() {
    local ranks=$1
    shift
    code=0
    : >"$scratch/.said"
    # shellcheck disable=SC2016
    timeout -k 5 600 mpirun -np "$ranks" bash -c 'exec 2>>"$0"; exec "$@"' "$scratch/.said" "$STRAKE" "$@" \
        >"$scratch/.out" 2>"$scratch/.err" </dev/null || code=$?
    cat "$scratch/.said" >>"$scratch/.err"
}

# begin NAME RANKS ARGUMENTS...: as on_ranks, but goes on at once, in a folder of its own; ended NAME waits for it and
# has its status and what it printed. Runs that end in a refusal mostly wait for mpirun to end, so they do it together.
begin() {
    mkdir "$1" && cp ./*.yaml "$1"
    (
        cd "$1" || exit 1
        scratch=$PWD
        export OMPI_MCA_orte_tmpdir_base=$PWD # two that make the same folder at once fail
        on_ranks "${@:2}"
        echo "$code" >.code
    ) &
}
ended() {
    local tries=0
    while [ ! -s "$1/.code" ] && [ $tries -lt 6200 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    code=$(cat "$1/.code")
    cp "$1/.out" "$1/.err" "$scratch"
}

# says CODE NAME TEXT...: the last on_ranks ended with CODE, and one rank printed one line with every TEXT.
says() {
    local want=$1 name=$2 good=0 text
    shift 2
    [ "$code" -eq "$want" ] || good=1
    [ "$(grep '^strake: ' "$scratch/.err" | grep -vc '^strake: note: ')" -eq 1 ] || good=1
    for text in "$@"; do
        grep '^strake: ' "$scratch/.err" | grep -qF -- "$text" || good=1
    done
    report $good "$name"
}

same() { # same NAME: folder ranks has the files of folder one, byte for byte but for what tells the devices and the run
    local good=0 file
    [ "$code" -eq 0 ] || good=1
    for file in one/*; do
        [ "$file" = one/run.json ] && [ -s ranks/run.json ] && continue
        if [ "$file" = one/index.csv ]; then
            cmp -s <(cut -d, -f1-4 one/index.csv) <(cut -d, -f1-4 ranks/index.csv) || good=1
            continue
        fi
        cmp -s "$file" "ranks/$(basename "$file")" || good=1
    done
    report $good "$1"
    rm -rf ranks
}
