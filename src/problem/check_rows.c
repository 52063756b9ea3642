/* The row loop that counts NaN and Inf; compiled like every row loop (see rows.h). */
#include "problem/check_rows.h"

#include <string.h>

#include "problem/rows.h"

#include "cl/real.h"

#ifdef STRAKE_REAL_SINGLE
typedef uint32_t bits;
static const bits exponent = UINT32_C(0x7f800000);
#else
typedef uint64_t bits;
static const bits exponent = UINT64_C(0x7ff0000000000000);
#endif

void STRAKE_ROW_NAME(non_finite, STRAKE_ROWS_PRECISION,
                     STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n)
{
    const real *restrict const x = in[0];
    bits count = 0;
    for (int64_t j = 0; j < n; j++) {
        bits pattern = 0;
        memcpy(&pattern, &x[j], sizeof pattern);
        count += (pattern & exponent) == exponent ? 1U : 0U;
    }
    *(int64_t *)out[0] = (int64_t)count;
}
