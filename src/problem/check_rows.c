/* The row loops that look at a line: for NaN and Inf, for its least and its greatest number. Compiled like all (rows.h). */
#include "problem/check_rows.h"

#include <string.h>

#include "problem/rows.h"

#include "cl/real.h"

#ifdef STRAKE_REAL_SINGLE
typedef uint32_t bits;
static const bits exponent = UINT32_C(0x7f800000),
                  unit = UINT32_C(0x00800000); /* the last bit of it */
#else
typedef uint64_t bits;
static const bits exponent = UINT64_C(0x7ff0000000000000), unit = UINT64_C(0x0010000000000000);
#endif

void STRAKE_ROW_NAME(non_finite, STRAKE_ROWS_PRECISION,
                     STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n)
{
    const real *restrict const x = in[0];
    bits found = 0;
    for (int64_t j = 0; j < n; j++) {
        bits pattern = 0;
        memcpy(&pattern, &x[j], sizeof pattern);
        found |= (pattern & exponent) + unit; /* all ones and one more: the highest bit */
    }
    *(int64_t *)out[0] = (int64_t)(found >> (8 * sizeof found - 1));
}

/* Of the pragma's clauses only the order of the comparisons is new, and that changes no minimum. */
#define REDUCTION_PRAGMA(text) _Pragma(#text)
#define REDUCTION_scalar(operator)
#ifdef __clang__ /* which takes such loops no vectors at a time, and warns */
#define REDUCTION_base(operator)
#else
#define REDUCTION_base(operator) REDUCTION_PRAGMA(omp simd reduction(operator: found))
#endif
#define REDUCTION_avx2(operator) REDUCTION_base(operator)
#define REDUCTION_avx512(operator) REDUCTION_base(operator)
#define REDUCTION_PASTE(isa, operator) REDUCTION_##isa(operator)
#define REDUCTION(isa, operator) REDUCTION_PASTE(isa, operator)

void STRAKE_ROW_NAME(least, STRAKE_ROWS_PRECISION,
                     STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n)
{
    const real *restrict const x = in[0];
    real found = *(real *)out[0];
    REDUCTION(STRAKE_ROWS_ISA, min)
    for (int64_t j = 0; j < n; j++) {
        found = STRAKE_MIN(x[j], found);
    }
    *(real *)out[0] = found;
}

void STRAKE_ROW_NAME(greatest, STRAKE_ROWS_PRECISION,
                     STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n)
{
    const real *restrict const x = in[0];
    real found = *(real *)out[0];
    REDUCTION(STRAKE_ROWS_ISA, max)
    for (int64_t j = 0; j < n; j++) {
        found = STRAKE_MAX(x[j], found);
    }
    *(real *)out[0] = found;
}
