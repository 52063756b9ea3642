/** @file statistics.h Minimum, maximum, sum, norm and checksum of a field, independent of how it was computed. */
#ifndef STRAKE_STATISTICS_H
#define STRAKE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sum.h"

typedef struct strake_statistics {
    double minimum, maximum;
    double sum;  /**< compensated, in index order: one value for any split */
    double norm; /**< square root of the sum of squares, added up the same way */
    bool has_checksum;
    uint64_t checksum; /**< FNV-1a-64 over the bytes: most of the time where it is wanted */
    strake_sum values, squares; /**< so far */
} strake_statistics;

/** Statistics of nothing. */
strake_statistics strake_statistics_begin(bool with_checksum);

/** Adds @p count elements of 8 (double) or 4 (float) bytes, the next ones in index order. */
void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size);

/** Completes sum and norm; nothing may be added any more. */
void strake_statistics_end(strake_statistics *statistics);

#endif
