#!/bin/bash
# Every row loop and every fused loop is done in full vector registers, seen in the disassembly of the
# objects that were linked (see tests/support/simd.awk); and loops that are not are found out.
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${STRAKE_BUILD:-build}")
. "$top/tests/cli/tap.bash"
compiler=${CC:-cc}
judge=$top/tests/support/simd.awk

if [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    echo "1..0 # SKIP a sanitizer's checks stand in the loops"
    exit 0
fi
case $(uname -m) in
    x86_64) ;;
    *)
        echo "1..0 # SKIP loops for AVX2 and AVX-512 exist on x86-64 only; this is $(uname -m)"
        exit 0
        ;;
esac
if ! command -v objdump >/dev/null; then
    echo "1..0 # SKIP no objdump here (binutils)"
    exit 0
fi

# How many arrays a loop writes, where that is not one.
{
    printf '%s 0\n' non_finite least greatest outflow_{1,2,3}d outflow_h_{1,2,3}d # their result is one number
    echo "lava_keep -1"
    echo "state_copy -1"
    echo "half 2"       # in the test's own source below
    awk '/^#define LOOP / { match($0, /loop_[0-9a-f]+/); name = substr($0, RSTART, RLENGTH); count = 0 }
         /real \*restrict const y[0-9]+ =/ { count++ }
         / = (lava_keep|state_copy)\(/ { rest = $0
             gsub(/const real r[0-9]+ = (lava_keep|state_copy)\(a[0-9]+\[j\]\); */, "", rest)
             gsub(/y[0-9]+\[j\] = r[0-9]+; */, "", rest)
             count = rest ~ /^ *$/ ? -count : count }
         /^#undef LOOP/ { print name, count }' "$build"/gen/strake_loops_*_rows.c
} >outputs

width() { # width avx2|avx512: the registers of an instruction set
    [ "$1" = avx2 ] && echo ymm || echo zmm
}

verdicts() { # verdicts OBJECT WIDTH: leaves them in .out, and the numbers $good, $bad
    objdump -d --no-show-raw-insn "$1" | awk -v width="$2" -f "$judge" outputs - >.out
    good=$(grep -c '^yes ' .out)
    bad=$(grep -c '^no ' .out)
}

for isa in avx2 avx512; do
    for precision in f64 f32; do
        fused=0
        for object in "$build"/obj/src/problem/*.$isa.$precision.o \
            "$build"/obj/gen/strake_loops_*_rows.$isa.$precision.o; do
            total=$(nm "$object" | grep -c ' T strake_row_')
            # Objects whose source has moved; surveys, which have loops in one precision alone.
            name=$(basename "$object" .$isa.$precision.o)
            case $object in */gen/*) ;; *) [ "$total" -gt 0 ] && [ -e "$top/src/problem/$name.c" ] || continue ;; esac
            verdicts "$object" "$(width $isa)"
            grep '^no ' .out >.err
            : >.out
            case $object in
                */gen/*) fused=$((fused + good)) ;; # of particles, say, there are none
                *) [ "$good" -gt 0 ] ;;
            esac && [ "$bad" -eq 0 ] && [ "$good" -eq "$total" ]
            report $? "$(basename "$object"): $good of $total loops in $(width $isa) registers"
        done
        check "there are as many fused loops as in the table, $isa, $precision" test \
            "$fused" -gt 0 -a "$fused" -eq "$(grep -c '^loop_' outputs)"
    done
done

# Loops that must be found out. Without -fopenmp the loops' own wish to be vectorised goes unheard.
case $("$compiler" --version 2>/dev/null) in
    *clang*) scalar="-fno-vectorize -fno-slp-vectorize" ;;
    *) scalar="-fno-tree-vectorize -fno-tree-slp-vectorize" ;;
esac
compile() { # compile OBJECT SOURCE ISA FLAGS...
    local object=$1 source=$2 isa=$3 machine=-mavx2
    shift 3
    [ "$isa" = avx512 ] && machine="-mavx512f -mavx512dq -mavx512vl -mavx512bw"
    # shellcheck disable=SC2086
    (cd "$top" && "$compiler" -std=c11 -D_GNU_SOURCE -DSTRAKE_ROWS_X86=1 -DSTRAKE_ROWS_ISA="$isa" \
        -DSTRAKE_ROWS_PRECISION=f64 -Isrc -Ihost -I. -O3 -ffp-contract=off -fno-math-errno \
        -fno-trapping-math $machine "$@" -c -o "$object" "$source") 2>.err
}
if "$compiler" --version >/dev/null 2>&1; then
    for isa in avx2 avx512; do
        for source in $(grep -lE '^STRAKE_POINTS|STRAKE_ROW_NAME\(' "$top"/src/problem/*.c); do
            # shellcheck disable=SC2086
            compile "$scratch/scalar.o" "$source" $isa $scalar
            verdicts scalar.o "$(width $isa)"
            [ "$good" -eq 0 ] && [ "$bad" -gt 0 ]
            report $? "$(basename "$source") for $isa with vectorisation off: all $bad loops are found out"
        done
    done
    cat >half.c <<'SOURCE'
/* The first output can be computed in vectors, the second cannot: each element needs the one before. */
void strake_row_half_f64_avx2(void *const *out, const void *const *in, long n);
void strake_row_half_f64_avx2(void *const *out, const void *const *in, long n)
{
    const double *restrict const a = in[0];
    double *restrict const y0 = out[0];
    double *restrict const y1 = out[1];
    for (long j = 0; j < n; j++) {
        y0[j] = a[j] * 2.0;
        y1[j] = y1[j - 1] * a[j] + 1.0;
    }
}
SOURCE
    compile "$scratch/half.o" "$scratch/half.c" avx2
    verdicts half.o ymm
    [ "$good" -eq 0 ] && [ "$bad" -eq 1 ]
    report $? "a loop that is scalar in one of two outputs is found out"
else
    skip "scalar loops are found out" "no compiler here ($compiler)"
fi
verdicts "$build/obj/src/problem/mpdata_rows.avx2.f64.o" zmm
[ "$good" -eq 0 ] && [ "$bad" -gt 0 ]
report $? "loops in narrower registers are found out"
done_testing
