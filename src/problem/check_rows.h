/**
 * @file check_rows.h
 * Row loops that look at a line in[0]. non_finite finds what is not finite: out[0] is one int64_t, 0 where all is. least and
 * greatest bring down out[0], one number of the working precision.
 */
#ifndef STRAKE_CHECK_ROWS_H
#define STRAKE_CHECK_ROWS_H

#include "problem/rows.h"

STRAKE_ROW_DECLARE(non_finite, f64)
STRAKE_ROW_DECLARE(non_finite, f32)
STRAKE_ROW_DECLARE(least, f64)
STRAKE_ROW_DECLARE(least, f32)
STRAKE_ROW_DECLARE(greatest, f64)
STRAKE_ROW_DECLARE(greatest, f32)

/** Initialisers of strake_row_function[STRAKE_PRECISIONS][STRAKE_ISAS]. */
#define STRAKE_CHECK_ROWS(name)                                                                    \
    {                                                                                              \
        STRAKE_ROW_LIST(name, f64), STRAKE_ROW_LIST(name, f32)                                     \
    }

#endif
