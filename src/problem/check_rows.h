/** @file check_rows.h Row loop that counts non-finite values: out[0] is one int64_t, in[0] the row. */
#ifndef STRAKE_CHECK_ROWS_H
#define STRAKE_CHECK_ROWS_H

#include "problem/rows.h"

STRAKE_ROW_DECLARE(non_finite, f64)
STRAKE_ROW_DECLARE(non_finite, f32)

/** Initialiser of strake_row_function[STRAKE_PRECISIONS][STRAKE_ISAS]. */
#define STRAKE_NON_FINITE_ROWS                                                                     \
    {                                                                                              \
        STRAKE_ROW_LIST(non_finite, f64), STRAKE_ROW_LIST(non_finite, f32)                         \
    }

#endif
