/* Memory of parts as a bound of what each gets, where slabs differ. */
#include <math.h>
#include <stdlib.h>

#include "pace/pace.h"

bool strake_rooms_find(strake_pace *pace)
{
    strake_domain *const d = pace->domain;
    const int64_t slabs = d->own.end - d->own.first;
    bool bounds = false;
    free(pace->load);
    pace->load = NULL;
    double *const all = d->ops->room != NULL ? calloc((size_t)d->slabs, sizeof *all) : NULL;
    for (int e = 0; e < pace->team->parts && all != NULL; e++) {
        pace->room[e] = d->ops->room(d, &pace->team->part[e], all);
        bounds = bounds || isfinite(pace->room[e]);
    }
    pace->load = bounds ? calloc((size_t)slabs + 1, sizeof *pace->load) : NULL;
    for (int64_t k = 0; k < slabs && pace->load != NULL; k++) {
        pace->load[k + 1] = pace->load[k] + all[d->own.first + k];
    }
    free(all);
    return pace->load != NULL;
}

bool strake_rooms_hold(const strake_pace *pace, int e, int64_t first, int64_t end)
{
    return pace->load == NULL || pace->load[end] - pace->load[first] <= pace->room[e];
}

bool strake_rooms_hold_all(const strake_pace *pace, const int64_t *owned)
{
    int64_t at = 0;
    bool hold = true;
    for (int e = 0; e < pace->team->parts; e++) {
        /* What a part has already it may keep: the bound is an estimate. */
        const bool gains = owned[e] > pace->balancer.owned[e];
        hold = hold && (!gains || strake_rooms_hold(pace, e, at, at + owned[e]));
        at += owned[e];
    }
    return hold;
}
