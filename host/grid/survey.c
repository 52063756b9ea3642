#include "grid/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/spread.h"

/* Adds what later slabs have. */
static void join_extremes(strake_extremes all, strake_extremes later)
{
    for (int k = 0; k < STRAKE_MAX_EXTREMES; k++) {
        strake_extreme_add(&all[k], later[k].value, later[k].cell[0], later[k].cell[1],
                           later[k].cell[2]);
    }
}

static void begin_extremes(strake_extremes all)
{
    for (int k = 0; k < STRAKE_MAX_EXTREMES; k++) {
        all[k] = (strake_extreme){-INFINITY, {0, 0, 0}};
    }
}

typedef struct survey_job {
    const strake_grid *grid;
    void *const *array;
    strake_survey_work *before;
    const void *user;
    strake_extremes *found; /* by each part */
} survey_job;

/* Slabs stay in a private cache between what is done to them. */
static void survey_part(void *user, int part, strake_range slabs)
{
    enum { FEW = 1 << 14 };
    const survey_job *const work = user;
    const strake_case *const which = work->grid->which;
    const int64_t all = slabs.end - slabs.first;
    const int64_t count = work->before != NULL ? FEW / work->grid->layout.slab + 1 : all;
    begin_extremes(work->found[part]);
    for (int64_t i = slabs.first; i < slabs.end; i += count) {
        const strake_range few = {i, i + count < slabs.end ? i + count : slabs.end};
        if (work->before != NULL) {
            work->before(work->user, few);
        }
        which->problem->survey(which, &work->grid->layout, few, work->array, work->grid->number,
                               work->found[part]);
    }
}

strake_status strake_survey(strake_grid *grid, void *const *array, strake_survey_work *before,
                            const void *user, strake_extremes extreme, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(grid->domain.ranks);
    const int parts =
        strake_spread_parts(grid->team->most_threads,
                            (grid->domain.own.end - grid->domain.own.first) * grid->layout.slab);
    survey_job work = {grid, array, before, user, calloc((size_t)parts, sizeof(strake_extremes))};
    strake_extremes *const all = calloc((size_t)count, sizeof *all);
    strake_extremes own;
    begin_extremes(own);
    begin_extremes(extreme);
    if (work.found != NULL) {
        strake_spread(grid->domain.own, parts, survey_part, &work);
    }
    for (int part = 0; part < parts && work.found != NULL; part++) {
        join_extremes(own, work.found[part]);
    }
    STRAKE_TRY(strake_ranks_agree(
        grid->domain.ranks,
        work.found != NULL && all != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields"),
        error));
    memcpy(all, own, sizeof own);
    if (grid->domain.ranks != NULL) {
        STRAKE_TRY(strake_ranks_collect(grid->domain.ranks, own, sizeof own, all, error));
    }
    for (int k = 0; k < count; k++) {
        join_extremes(extreme, all[k]);
    }
cleanup:
    free(work.found);
    free(all);
    return status;
}

strake_status strake_survey_judge(const strake_grid *grid, strake_extremes extreme,
                                  strake_error *error)
{
    strake_error why;
    bool changes = false;
    const strake_status status = grid->which->problem->judge(grid->which, extreme, &why);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        changes = changes || grid->field[f].changes;
    }
    if (status == STRAKE_OK || !changes) {
        return status == STRAKE_OK ? STRAKE_OK : strake_fail(error, status, "%s", why.text);
    }
    return strake_fail(error, status, "%s; so it is in step %lld, from %.15g s on", why.text,
                       (long long)grid->domain.step + 1, grid->moment.begin);
}
