/**
 * @file level.h
 * Shares of slabs for workers that do the same work at different speeds: processors of a virtual machine,
 * with others on the same core, differ by a third for seconds. Pure functions of what was observed.
 *
 * What a worker takes for a slab is the median of its last looks, so that what disturbs one of them moves
 * nothing; shares follow where the slowest worker would get done sooner by a few percent.
 */
#ifndef STRAKE_LEVEL_H
#define STRAKE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

enum { STRAKE_LEVEL_LOOKS = 3 };

/** Zero-initialise. */
typedef struct strake_level {
    int workers;
    int looks;      /**< since it began */
    int changes;    /**< of shares */
    double *seen;   /**< [s] by worker, since the last look */
    double *cost;   /**< [s] a slab, of the last looks; [worker * STRAKE_LEVEL_LOOKS + look] */
    double *before; /**< sum of the weights of the workers before each, and of all; NULL: even */
} strake_level;

/** Forgets everything. @return false if there is no memory: shares stay even */
bool strake_level_begin(strake_level *l, int workers);
void strake_level_release(strake_level *l);

/**
 * Looks at what the workers took for their slabs since the last look (l->seen, which is cleared).
 * @param[in] slabs  of each worker, positive
 * @return whether the shares (l->before) have changed
 */
bool strake_level_look(strake_level *l, const int64_t *slabs);

/** The share of the slabs that the first @p worker workers have together, 0 to 1. */
double strake_level_before(const strake_level *l, int workers, int worker);

#endif
