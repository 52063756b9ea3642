#!/bin/bash
# Published numbers, reproduced by the program itself (TAP). Run from the repository root. The cases
# in data/cases/ say where each number comes from.
strake=${STRAKE:-build/strake}
work=$(mktemp -d "${TMPDIR:-/tmp}/strake-acceptance.XXXXXX") || exit 1
. tests/processes.bash
mark=t$$
export STRAKE_TESTS_MARK=${STRAKE_TESTS_MARK:-}/$mark
trap 'end_processes "$mark"; rm -rf "$work"' EXIT

fieldstat=${FIELDSTAT:-$(dirname "$strake")/tests/fieldstat}
[ -x "$fieldstat" ] || fieldstat=$work/fieldstat
if [ ! -x "$fieldstat" ]; then
    ${CC:-cc} -std=c11 -O2 -o "$fieldstat" tests/support/fieldstat.c -lm || exit 1
fi

count=0
failures=0

# run CASE [KEY=VALUE]...: runs it into $work/out and sets $last and $first to the files of psi.
run()
{
    case_file=$1
    shift
    rm -rf "$work/out"
    : > "$work/why"
    ran=yes
    for option in "$@"; do
        set -- "$@" --set "$option"
        shift
    done
    if ! "$strake" run "data/cases/$case_file" --output "$work/out" --quiet "$@" \
        > "$work/log" 2>&1; then
        ran=no
        { echo "strake run $case_file $* failed:"; cat "$work/log"; } > "$work/why"
    fi
    first=$work/out/psi_00000000.npy
    last=$(find "$work/out" -name 'psi_*.npy' 2> "$work/log" | sort | tail -n 1)
}

# expect STATISTIC... near VALUE TOLERANCE: of the last psi.
expect()
{
    [ "$ran" = yes ] || return 0
    value=$("$fieldstat" "$last" "$@" 2>&1) || echo "psi $*: got $value" >> "$work/why"
}

# finish NAME: one test per run, all its expectations together.
finish()
{
    count=$((count + 1))
    if [ -s "$work/why" ]; then
        failures=$((failures + 1))
        echo "not ok $count - $1"
        sed 's/^/# /' "$work/why"
    else
        echo "ok $count - $1"
    fi
}

# cone NAME MIN MAX RMS [KEY=VALUE]...
cone()
{
    name=$1 least=$2 largest=$3 rms=$4
    shift 4
    run cone.yaml "$@"
    expect min near "$least" 1e-7
    expect max near "$largest" 1e-7
    expect rms "$first" 376.8 near "$rms" 1e-7
    finish "rotating cone: $name"
}

# toy NAME PSI11 PSI12 PSI21 [KEY=VALUE]...
toy()
{
    name=$1 centre=$2 right=$3 below=$4
    shift 4
    run toy.yaml "$@"
    expect at 1 1 near "$centre" 5e-5
    expect at 1 2 near "$right" 5e-5
    expect at 2 1 near "$below" 5e-5
    finish "3 x 3: $name"
}

# smooth NAME E32 E64 E128 [KEY=VALUE]...
smooth()
{
    name=$1 coarse=$2 middle=$3 fine=$4
    shift 4
    for pair in "32 $coarse" "64 $middle" "128 $fine"; do
        cells=${pair% *}
        run smooth.yaml "grid.rows=$cells" "grid.cols=$cells" "time.steps=$((5 * cells))" "$@"
        expect rms "$first" 1 near "${pair#* }" 2e-8r
        finish "smooth field, $name, N = $cells"
    done
}

cone "basic" 0.86381076 3.54697914 0.00037726 scheme.nonoscillatory=false
cone "nonoscillatory" 1.00000000 3.52544410 0.00036731
cone "infinite gauge, nonoscillatory" 1.00000000 4.25518091 0.00026658 scheme.gauge=infinite
cone "donor cell" 1.00000000 1.31177388 0.00102998 scheme.iterations=1

toy "C = (0.1, 0.5), 1 iteration" 0.4 0.5 0.1 scheme.iterations=1
toy "C = (0.1, 0.5), 2 iterations" 0.4068 0.5011 0.0921
toy "C = (0.2, 0.2), 2 iterations" 0.64 0.18 0.18 \
    fields.u1.constant=0.2 fields.u2.constant=0.2
toy "C = (0.2, 0.2), 3 iterations" 0.6578 0.1711 0.1711 \
    fields.u1.constant=0.2 fields.u2.constant=0.2 scheme.iterations=3
for n in 1 2 3; do
    toy "C = (0.5, 0.5), iterations $n" 0 0.5 0.5 \
        fields.u1.constant=0.5 fields.u2.constant=0.5 scheme.iterations=$n
    for way in "0 1" "1 0"; do
        run toy.yaml "fields.u1.constant=${way% *}" "fields.u2.constant=${way#* }" \
            scheme.iterations=$n
        expect at 1 2 near "${way#* }" 0
        expect at 2 1 near "${way% *}" 0
        expect at 1 1 near 0 0
        expect max near 1 0
        expect min near 0 0
        finish "3 x 3: C = (${way% *}, ${way#* }) is an exact shift, iterations $n"
    done
done

smooth "upwind" 3.44841720e-01 2.31971758e-01 1.37629283e-01 scheme.iterations=1
smooth "basic" 3.02274567e-02 7.37451924e-03 1.80112538e-03 scheme.nonoscillatory=false
smooth "nonoscillatory" 3.02471209e-02 7.37334547e-03 1.80237742e-03
smooth "infinite gauge, nonoscillatory" 1.35235579e-02 2.91230857e-03 6.97310992e-04 \
    scheme.gauge=infinite
smooth "infinite gauge, third order" 8.04699295e-03 1.02230875e-03 1.28149843e-04 \
    scheme.gauge=infinite scheme.nonoscillatory=false scheme.third_order=true
smooth "third order, 3 iterations" 9.40714405e-03 1.22817526e-03 1.55324520e-04 \
    scheme.iterations=3 scheme.nonoscillatory=false scheme.third_order=true

echo "1..$count"
[ "$failures" -eq 0 ]
