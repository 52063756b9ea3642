#include "model/choose.h"

#include <math.h>
#include <stddef.h>

enum { MOST_PACKED = 32768 };

bool strake_exchange_packs(int states, double bytes)
{
    return states > 1 && bytes <= (double)MOST_PACKED;
}

strake_exchange_size strake_exchange_size_of(const strake_exchange_case *c, int steps)
{
    const int64_t again = (steps - 1) * c->reach;
    const int64_t halo = c->halo[0] > c->halo[1] ? c->halo[0] : c->halo[1];
    const bool packs =
        strake_exchange_packs(c->states, (double)(halo + again) * c->states * c->slab_bytes);
    strake_exchange_size size = {.messages = packs ? c->sides : c->states * c->sides,
                                 .apart = c->states * c->sides};
    if (c->sides == 0) {
        return size;
    }
    /* One neighbour: on average half of what two would ask for. */
    const double up = (double)(c->halo[0] + c->halo[1] + 2 * again) * 0.5 * c->sides;
    size.bytes_up = up * c->states * c->slab_bytes;
    size.bytes_down = size.bytes_up; /* the neighbours' halos are as wide */
    return size;
}

double strake_overlap_seconds(const strake_overlap_case *c)
{
    return c->beside - c->factor * fmin(c->beside, c->interior) + c->extra;
}

bool strake_overlap_pays(const strake_overlap_case *c)
{
    return strake_overlap_seconds(c) < c->exchange;
}

int strake_choose_steps(const strake_exchange_case *c, const double *added, int most, double *best)
{
    int chosen = 1;
    double least = (double)INFINITY;
    for (int k = 1; k <= most && (k == 1 || (k - 1) * c->reach + c->halo[0] < c->slabs); k++) {
        const double again = 0.5 * (k - 1) * (double)c->reach * c->sides * c->slab_seconds;
        const double seconds = added[k - 1] / k + again;
        if (seconds < least) {
            least = seconds;
            chosen = k;
        }
    }
    if (best != NULL) {
        *best = least;
    }
    return chosen;
}
