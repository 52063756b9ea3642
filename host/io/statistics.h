/** @file statistics.h Minimum, maximum, sum and checksum of a field, independent of how it was computed. */
#ifndef STRAKE_STATISTICS_H
#define STRAKE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

typedef struct strake_statistics {
    double minimum, maximum;
    double sum;        /**< compensated (Neumaier), in index order: one value for any split */
    uint64_t checksum; /**< FNV-1a-64 over the bytes */
} strake_statistics;

/** Statistics of @p count elements of 8 (double) or 4 (float) bytes; count > 0. */
strake_statistics strake_statistics_of(const void *data, size_t count, size_t element_size);

#endif
