#include "model/team.h"

#include <math.h>
#include <string.h>

/* Slabs that a part does within a time beside others. */
static double within(const strake_team_part *p, double seconds)
{
    const double slabs = (seconds - p->fixed - p->exchange) / (p->slab * p->beside);
    return slabs > 0.0 ? slabs : 0.0;
}

static double alone(const strake_team_part *p, double slabs)
{
    return p->slab < (double)INFINITY ? p->fixed + p->slab * slabs : (double)INFINITY;
}

double strake_team_seconds(const strake_team_part *part, int parts, const bool *taken, double slabs,
                           double *share)
{
    int count = 0, last = 0;
    double low = 0.0;
    double high = (double)INFINITY;
    for (int p = 0; p < parts; p++) {
        share[p] = 0.0;
        if (taken[p]) {
            count++;
            last = p;
            /* One part beside idle others needs no more than this. */
            high = fmin(high,
                        part[p].fixed + part[p].exchange + part[p].slab * part[p].beside * slabs);
        }
    }
    if (!(high < (double)INFINITY)) {
        return (double)INFINITY;
    }
    if (count == 1) {
        share[last] = slabs;
        return alone(&part[last], slabs);
    }
    for (int k = 0; k < 100; k++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (int p = 0; p < parts; p++) {
            sum += taken[p] ? within(&part[p], middle) : 0.0;
        }
        *(sum < slabs ? &low : &high) = middle;
    }
    for (int p = 0; p < parts; p++) {
        share[p] = taken[p] ? within(&part[p], high) : 0.0;
    }
    return high;
}

void strake_team_plan_make(const strake_team_part *part, int parts, double slabs, double least_gain,
                           strake_team_plan *out)
{
    memset(out, 0, sizeof *out);
    out->parts = parts;
    out->seconds = (double)INFINITY;
    for (int p = 0; p < parts; p++) {
        int at = p;
        out->alone[p] = alone(&part[p], slabs);
        for (; at > 0 && out->alone[p] < out->alone[out->order[at - 1]]; at--) {
            out->order[at] = out->order[at - 1];
        }
        out->order[at] = p;
    }
    for (int k = 0; k < parts; k++) {
        double share[STRAKE_TEAM_PARTS];
        const int p = out->order[k];
        out->taken[p] = true;
        out->with[p] = strake_team_seconds(part, parts, out->taken, slabs, share);
        out->taken[p] = out->seconds > least_gain * out->with[p] && share[p] >= 1.0;
        if (out->taken[p]) {
            out->seconds = out->with[p];
            memcpy(out->share, share, sizeof share);
        }
    }
}
