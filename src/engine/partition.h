/**
 * @file partition.h
 * Stripes of slabs (axis 0), and who needs which slabs of whom between two steps.
 */
#ifndef STRAKE_PARTITION_H
#define STRAKE_PARTITION_H

#include "engine/layout.h"

/** Slabs [first, end) of the grid. */
typedef struct strake_range {
    int64_t first, end;
} strake_range;

/**
 * Cuts n slabs into stripes proportional to non-negative weights (not all zero). Boundaries are the
 * rounded partial sums, so stripes cover [0, n) exactly; a weight of zero gives an empty stripe.
 */
void strake_partition(int64_t n, int stripes, const double *weight, strake_range *out);

/**
 * The slabs that stripe @p self must send to any other stripe's ghosts (or to the grid's ghosts that
 * another stripe reads), as at most @p most ascending disjoint ranges of its own slabs.
 * @param[in] lo, hi  ghost slabs needed before and after a stripe
 * @return number of ranges
 */
int strake_partition_border(const strake_range *stripe, int stripes, int self, int64_t n,
                            strake_boundary boundary, int lo, int hi, int most, strake_range *out);

#endif
