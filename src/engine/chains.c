#include "engine/chains.h"

#include <math.h>
#include <stddef.h>

/* Halvings of the interval of times: as many as a double has digits, and some. */
enum { HALVINGS = 64 };

double strake_chain_seconds(const strake_chain *chain, int64_t slabs, double work)
{
    return slabs > 0 ? chain->start + chain->each * (double)slabs + chain->rate * work : 0.0;
}

/* Whether a part has memory for so many slabs from @p at on. */
static bool holds(const strake_chain *c, int64_t at, int64_t count)
{
    return c->load == NULL || c->load[at + count] - c->load[at] <= c->room;
}

/* The most slabs from @p at on, of @p most, that a part holds and can do within a time. */
static int64_t count_within(const double *before, int64_t at, int64_t most, const strake_chain *c,
                            double seconds)
{
    int64_t low = 0, high = most;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (holds(c, at, middle) &&
            strake_chain_seconds(c, middle, before[at + middle] - before[at]) <= seconds) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Everybody in turn takes as many slabs as it can do within a time. @return whether none are left */
static bool fits(const double *before, int64_t slabs, const strake_chain *chain, int chains,
                 double seconds, int64_t *owned)
{
    int64_t at = 0, due = 0; /* slabs that those who come later need */
    for (int p = 0; p < chains; p++) {
        due += chain[p].is_needed ? chain[p].least : 0;
    }
    for (int p = 0; p < chains; p++) {
        const strake_chain *const c = &chain[p];
        due -= c->is_needed ? c->least : 0;
        const int64_t left = slabs - at - due;
        const int64_t most = c->most < left ? c->most : left;
        const int64_t count =
            most > 0 && isfinite(c->rate) ? count_within(before, at, most, c, seconds) : 0;
        if (count < c->least && c->is_needed) {
            return false;
        }
        owned[p] = count >= c->least ? count : 0;
        at += owned[p];
    }
    return at == slabs;
}

double strake_chains_seconds(const double *before, const strake_chain *chain, int chains,
                             const int64_t *owned, int *longest)
{
    double most = 0.0;
    int64_t at = 0;
    int found = 0;
    for (int p = 0; p < chains; p++) {
        const double work = before[at + owned[p]] - before[at];
        const double own = strake_chain_seconds(&chain[p], owned[p], work);
        found = own > most ? p : found;
        most = own > most ? own : most;
        at += owned[p];
    }
    if (longest != NULL) {
        *longest = found;
    }
    return most;
}

double strake_chains_cut(const double *before, int64_t slabs, const strake_chain *chain, int chains,
                         int64_t *owned)
{
    double low = 0.0, high = 0.0;
    for (int p = 0; p < chains; p++) {
        const double all = strake_chain_seconds(&chain[p], slabs, before[slabs]);
        high = isfinite(all) && all > high ? all : high;
    }
    if (!fits(before, slabs, chain, chains, high, owned)) {
        return (double)INFINITY;
    }
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        if (fits(before, slabs, chain, chains, middle, owned)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    (void)fits(before, slabs, chain, chains, high, owned);
    return strake_chains_seconds(before, chain, chains, owned, NULL);
}
