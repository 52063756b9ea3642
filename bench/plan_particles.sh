#!/bin/sh
# Particles on the processors: a 3D dam break of about 170,000 in single precision, by candidates on one thread, with lists
# on one and on all, in turns; pairs of a core in a second, and what bounds them. Two and a half minutes on two quiet cores.
# usage: bench/plan_particles.sh OUTPUT_FOLDER [STRAKE]    (from the repository root, after `make`)
# Writes machine.txt, bench.txt and bench.jsonl (strake bench), roof.txt (strake model) and what.txt: updates a second,
# pairs a second of a thread, and how many times those of serial. Variables: SPACING, STEPS, REPEATS, BUDGET (of the roof).
set -eu
out=$1
strake=${2:-build/strake}
threads=${OMP_NUM_THREADS:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
{
    date -u +%Y-%m-%d
    cat "${COMMIT_FILE:-/nonexistent}" 2>/dev/null || git rev-parse --verify -q HEAD || echo 'commit unknown'
    uname -sr
    nproc
    uptime
} >"$out/machine.txt"
set -- data/cases/dambreak3d.yaml --set scene.spacing="${SPACING:-0.0095}" --set precision=single --cache "$work" --quiet
"$strake" bench "$@" --on serial --on cpu@1 --on "cpu@$threads" --steps "${STEPS:-40}" --repeats "${REPEATS:-3}" \
    --report "$work/bench.jsonl" >"$out/bench.txt"
sed 's/, "timeline":.*/}/' "$work/bench.jsonl" >"$out/bench.jsonl"
STRAKE_CACHE_DIR=$work OMP_NUM_THREADS=$threads "$strake" model data/cases/dambreak3d.yaml \
    --set scene.spacing="${SPACING:-0.0095}" --set precision=single --on cpu --budget "${BUDGET:-20}" --quiet >"$out/roof.txt"
awk -v threads="$threads" '
    function number(key) { return match($0, "\"" key "\": [0-9.e+-]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0 : 0 }
    function median(key) { return match($0, "\"" key "\": \\{\"median\": [0-9.e+-]+") ? substr($0, RSTART + length(key) + 15, RLENGTH - length(key) - 15) + 0 : 0 }
    { match($0, "\"where\": \"[^\"]*"); where = substr($0, RSTART + 10, RLENGTH - 10); mips[where] = median("mips"); pairs[where] = number("pairs_per_second")
      particles = number("particles") }
    END { all = "cpu@" threads
          printf "%d particles\n", particles
          for (w in mips) if (w != "serial") {
              n = w == all ? threads : 1
              printf "%-8s %.3f mips, %.4g pairs a second of a thread, %.1f times those of serial (%.4g)\n", w, mips[w], pairs[w] / n, pairs[w] / n / pairs["serial"], pairs["serial"] } }
' "$out/bench.jsonl" | sort >"$out/what.txt"
cat "$out/what.txt"
