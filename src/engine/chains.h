/**
 * @file chains.h
 * Cuts slabs whose work differs into one stretch for each part, in the parts' order, so that the last of them is
 * done as early as can be (chains on chains: Pinar and Aykanat 2004; parts of different speeds: Pinar, Tabak and
 * Aykanat 2008). A part that would end later for a single slab has nothing. Pure functions.
 */
#ifndef STRAKE_CHAINS_H
#define STRAKE_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

/** What a part takes for a stretch: start + each * its slabs + rate * its work [s]; nothing where it has no slabs. */
typedef struct strake_chain {
    double start;        /**< [s] */
    double each;         /**< [s] of a slab, whatever its work */
    double rate;         /**< [s] of a unit of work; INFINITY: it has no slabs */
    int64_t least, most; /**< slabs, where it has any: at least one, and what its memory holds */
    bool is_needed;      /**< it has some */
    /** [slabs + 1] memory of all slabs before each, from 0 on; NULL: it does not count */
    const double *load;
    double room; /**< memory for its own ones, in the unit of load */
} strake_chain;

/**
 * @param[in]  before  [slabs + 1] work of all slabs before each, from 0 on
 * @param[out] owned   slabs of each part; anything where there is no such cut
 * @return the seconds of the part that takes longest; INFINITY without a cut
 */
double strake_chains_cut(const double *before, int64_t slabs, const strake_chain *chain, int chains,
                         int64_t *owned);

/** The seconds of a part for so many slabs with so much work. */
double strake_chain_seconds(const strake_chain *chain, int64_t slabs, double work);

/** The seconds of the part that takes longest of a cut. @param[out] longest  which that is; NULL: not asked */
double strake_chains_seconds(const double *before, const strake_chain *chain, int chains,
                             const int64_t *owned, int *longest);

#endif
