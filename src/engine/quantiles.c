#include "engine/quantiles.h"

strake_quantiles strake_quantiles_of(const double *before, int64_t slabs)
{
    strake_quantiles out = {.all = before[slabs]};
    int64_t slab = 0;
    for (int k = 0; k <= STRAKE_WORK_PIECES; k++) {
        const double wanted = out.all * k / STRAKE_WORK_PIECES;
        /* The first one begins where work does. */
        while (slab + 1 < slabs &&
               (before[slab + 1] < wanted || (k == 0 && before[slab + 1] <= 0.0))) {
            slab++;
        }
        const double within = before[slab + 1] - before[slab];
        out.place[k] = (double)slab + (within > 0.0 ? (wanted - before[slab]) / within : 0.0);
    }
    return out;
}

void strake_quantiles_spread(const strake_quantiles *quantiles, int64_t slabs, double *before)
{
    const double each = quantiles->all / STRAKE_WORK_PIECES;
    int k = 0;
    before[0] = 0.0;
    for (int64_t slab = 1; slab <= slabs; slab++) {
        const double at = (double)slab;
        while (k < STRAKE_WORK_PIECES && quantiles->place[k + 1] <= at) {
            k++;
        }
        const double first = quantiles->place[k];
        const double length = k < STRAKE_WORK_PIECES ? quantiles->place[k + 1] - first : 0.0;
        before[slab] = each * (k + (length > 0.0 && at > first ? (at - first) / length : 0.0));
    }
    before[slabs] = quantiles->all;
}
