/**
 * @file quantiles.h
 * Where the work of slabs lies, in few numbers: the places before which there is nothing, 1/32, 2/32 ... all of it.
 * For the logs of decisions, and for what ranks tell each other. Pure functions.
 */
#ifndef STRAKE_QUANTILES_H
#define STRAKE_QUANTILES_H

#include <stdint.h>

enum { STRAKE_WORK_PIECES = 32 /* of equal work */ };

typedef struct strake_quantiles {
    double all; /**< work of all slabs */
    /** [slabs] ascending; within a slab as if it were even */
    double place[STRAKE_WORK_PIECES + 1];
} strake_quantiles;

/** @param[in] before  [slabs + 1] work before each slab, from 0 on */
strake_quantiles strake_quantiles_of(const double *before, int64_t slabs);

/** The work before each slab, as far as these tell: linear between two. @param[out] before  [slabs + 1] */
void strake_quantiles_spread(const strake_quantiles *quantiles, int64_t slabs, double *before);

#endif
