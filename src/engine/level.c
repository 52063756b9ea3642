#include "engine/level.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Shares stay where the slowest worker would gain less: looks differ by so much anyway. */
static const double least_gain = 0.03;

/* A worker's speed counts at most so many times the mean, or its inverse: what is further off is no speed. */
static const double most_apart = 3.0;

void strake_level_release(strake_level *l)
{
    free(l->seen);
    free(l->cost);
    free(l->before);
    memset(l, 0, sizeof *l);
}

bool strake_level_begin(strake_level *l, int workers)
{
    const int changes = l->changes;
    strake_level_release(l);
    l->changes = changes;
    l->seen = calloc((size_t)workers, sizeof *l->seen);
    l->cost = calloc((size_t)workers * STRAKE_LEVEL_LOOKS, sizeof *l->cost);
    l->workers = l->seen != NULL && l->cost != NULL ? workers : 0;
    return l->workers > 0;
}

/* The median of the last looks of a worker, the lower one of two. */
static double cost_of(const strake_level *l, int worker)
{
    double sorted[STRAKE_LEVEL_LOOKS];
    const int count = l->looks < STRAKE_LEVEL_LOOKS ? l->looks : STRAKE_LEVEL_LOOKS;
    for (int k = 0; k < count; k++) {
        sorted[k] = l->cost[worker * STRAKE_LEVEL_LOOKS + k];
    }
    strake_sort(sorted, count);
    return sorted[(count - 1) / 2];
}

static bool add_look(strake_level *l, const int64_t *slabs)
{
    bool complete = true;
    for (int w = 0; w < l->workers; w++) {
        complete = complete && l->seen[w] > 0.0 && slabs[w] > 0;
    }
    for (int w = 0; w < l->workers && complete; w++) {
        l->cost[w * STRAKE_LEVEL_LOOKS + l->looks % STRAKE_LEVEL_LOOKS] =
            l->seen[w] / (double)slabs[w];
    }
    l->looks += complete ? 1 : 0;
    memset(l->seen, 0, (size_t)l->workers * sizeof *l->seen);
    return complete;
}

bool strake_level_look(strake_level *l, const int64_t *slabs)
{
    double all = 0.0, speeds = 0.0, slowest = 0.0;
    if (l->workers < 2 || !add_look(l, slabs)) {
        return false;
    }
    for (int w = 0; w < l->workers; w++) {
        const double cost = cost_of(l, w);
        const double own = cost * (double)slabs[w];
        slowest = own > slowest ? own : slowest;
        speeds += 1.0 / cost;
        all += (double)slabs[w];
    }
    if (slowest - all / speeds < least_gain * slowest) {
        return false;
    }
    double *const before = calloc((size_t)l->workers + 1, sizeof *before);
    if (before == NULL) {
        return false;
    }
    for (int w = 0; w < l->workers; w++) {
        const double relative = l->workers / (cost_of(l, w) * speeds);
        const double bounded = relative > most_apart         ? most_apart
                               : relative < 1.0 / most_apart ? 1.0 / most_apart
                                                             : relative;
        before[w + 1] = before[w] + bounded;
    }
    free(l->before);
    l->before = before;
    l->changes++;
    return true;
}

double strake_level_before(const strake_level *l, int workers, int worker)
{
    return l->before != NULL && l->workers == workers ? l->before[worker] / l->before[workers]
                                                      : (double)worker / workers;
}
