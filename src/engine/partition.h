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

/** Slabs of a grid that one process holds, ascending ranges that neither meet nor touch. */
typedef struct strake_window {
    int ranges;
    strake_range range[2];
} strake_window;

/**
 * The window of a process that computes slabs @p own and reads @p before and @p after more around them;
 * slabs beyond an edge of the domain stand for those that they copy.
 */
strake_window strake_window_make(const strake_layout *layout, strake_range own, int64_t before,
                                 int64_t after);

/** Whether a slab of the domain is in a window. */
bool strake_window_has(const strake_window *window, int64_t slab);

/**
 * Cuts n slabs into stripes proportional to non-negative weights (not all zero). Boundaries are the
 * rounded partial sums, so stripes cover [0, n) exactly; a weight of zero gives an empty stripe.
 */
void strake_partition(int64_t n, int stripes, const double *weight, strake_range *out);

/** Raises one stripe's number of slabs to @p least, one by one from whichever has the most then. */
void strake_partition_keep(int64_t *slabs, int stripes, int stripe, int64_t least);

/**
 * The slabs that stripe @p self must send to any other stripe's ghosts (or to the grid's ghosts that
 * another stripe reads), as at most @p most ascending disjoint ranges of its own slabs.
 * @param[in] lo, hi  ghost slabs needed before and after a stripe
 * @return number of ranges
 */
int strake_partition_border(const strake_range *stripe, int stripes, int self, int64_t n,
                            strake_boundary boundary, int lo, int hi, int most, strake_range *out);

#endif
