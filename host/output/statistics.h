/** @file statistics.h Minimum, maximum, sum, norm and checksum of a field, independent of how it was computed. */
#ifndef STRAKE_STATISTICS_H
#define STRAKE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sum.h"
#include "cpu/spread.h"

enum { STRAKE_CHUNK = 4096 };

/** Consecutive elements of a field from a multiple of STRAKE_CHUNK on, which one thread adds up. */
typedef struct strake_chunk {
    double minimum, maximum;
    strake_lanes values, squares;
} strake_chunk;

typedef struct strake_statistics {
    double minimum, maximum;
    /** compensated, of chunks in order: one value for any split, any pieces and any threads */
    double sum;
    double norm; /**< square root of the sum of squares, added up the same way */
    bool has_checksum;
    uint64_t checksum;          /**< FNV-1a-64 over the bytes */
    strake_sum values, squares; /**< of whole chunks so far */
    strake_chunk open;          /**< the elements after them */
    strake_hash_team team;
} strake_statistics;

/** Statistics of nothing, to be computed by at most @p threads threads. */
strake_statistics strake_statistics_begin(bool with_checksum, int threads);

/**
 * Adds @p count elements of 8 (double) or 4 (float) bytes, the next ones in index order, on all threads:
 * best with megabytes at a time.
 */
void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size);

/** Completes sum and norm; nothing may be added any more. To be called in any case: frees memory. */
void strake_statistics_end(strake_statistics *statistics);

#endif
