/* Vents: what they are, and what comes out of them. */
#include "case/vents.h"

#include <math.h>
#include <stdlib.h>

#include "case/vents_impl.h"

int strake_vents_add(strake_vents *vents)
{
    strake_schedule *const rate =
        realloc(vents->rate, (size_t)(vents->count + 1) * sizeof *vents->rate);
    if (rate == NULL) {
        return -1;
    }
    vents->rate = rate;
    vents->rate[vents->count] = (strake_schedule){0};
    return vents->count++;
}

bool strake_vents_add_cell(strake_vents *vents, int vent, int64_t row, int64_t col)
{
    /* Room for a power of two. */
    if ((vents->cells & (vents->cells - 1)) == 0) {
        const size_t room = vents->cells > 0 ? 2 * (size_t)vents->cells : 1;
        strake_vent_cell *const cell = realloc(vents->cell, room * sizeof *cell);
        if (cell == NULL) {
            return false;
        }
        vents->cell = cell;
    }
    vents->cell[vents->cells++] = (strake_vent_cell){row, col, vent, 1.0};
    return true;
}

bool strake_vents_share(strake_vents *vents)
{
    int64_t *const cells = calloc((size_t)vents->count + 1, sizeof *cells);
    for (int64_t k = 0; cells != NULL && k < vents->cells; k++) {
        cells[vents->cell[k].vent]++;
    }
    for (int64_t k = 0; cells != NULL && k < vents->cells; k++) {
        vents->cell[k].share = 1.0 / (double)cells[vents->cell[k].vent];
    }
    const bool is_good = cells != NULL;
    free(cells);
    return is_good;
}

double strake_vents_rate(const strake_vents *vents, const strake_vent_cell *cell, double time)
{
    return cell->share * strake_schedule_rate(&vents->rate[cell->vent], time);
}

double strake_vents_next(const strake_vents *vents, double time)
{
    double next = INFINITY;
    for (int v = 0; v < vents->count; v++) {
        next = fmin(next, strake_schedule_next(&vents->rate[v], time));
    }
    return next;
}

bool strake_vents_are_over(const strake_vents *vents, double time)
{
    for (int v = 0; v < vents->count; v++) {
        const strake_schedule *const s = &vents->rate[v];
        if (strake_schedule_rate(s, time) > 0.0 || strake_schedule_next(s, time) < INFINITY) {
            return false;
        }
    }
    return true;
}

double strake_vents_volume(const strake_vents *vents, double from, double to)
{
    double volume = 0.0;
    for (int v = 0; v < vents->count; v++) {
        volume += strake_schedule_volume(&vents->rate[v], from, to);
    }
    return volume;
}

void strake_vents_free(strake_vents *vents)
{
    for (int v = 0; v < vents->count; v++) {
        strake_schedule_free(&vents->rate[v]);
    }
    free(vents->rate);
    free(vents->cell);
    *vents = (strake_vents){0};
}
