#include "grid/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/spread.h"
#include "engine/extend.h"

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
    const strake_surveyed *what;
    strake_extremes *found; /* by each part */
} survey_job;

static void look(const survey_job *work, strake_range slabs, strake_extremes found)
{
    const strake_case *const which = work->grid->which;
    if (which->problem->survey != NULL) {
        which->problem->survey(which, &work->grid->layout, slabs, work->what->array,
                               work->grid->number, found);
    }
}

/* The ghosts of some slabs that come late, and those slabs of them that are ghosts themselves. */
static void extend(const survey_job *work, strake_range slabs)
{
    const strake_grid *const grid = work->grid;
    const strake_layout *const l = &grid->layout;
    const strake_statics late = {grid->which->problem, l, work->what->late, grid->number,
                                 grid->which->is_closed};
    slabs.first -= slabs.first == 0 ? l->lo[0] : 0;
    slabs.end += slabs.end == l->n[0] ? l->hi[0] : 0;
    for (int axis = 1; axis < STRAKE_AXES; axis++) {
        strake_extend(&late, STRAKE_ON_FACES, axis, slabs, slabs.end);
    }
}

/* So many slabs stay in a cache of the thread's own from the filling of their ghosts to the look at them. */
static int64_t slabs_at_once(const survey_job *work)
{
    enum { BYTES = 256 * 1024 };
    const strake_layout *const l = &work->grid->layout;
    int64_t slab = 1;
    for (int f = 0; f < work->grid->which->problem->fields; f++) {
        slab += work->what->late[f] != NULL ? l->slab * l->element_size : 0;
    }
    return slab < BYTES ? BYTES / slab : 1;
}

/*
 * The last slabs come first: a step has just been there, and the next one begins where this ends, so that both find in the
 * caches what fits them.
 */
static void survey_part(void *user, int part, strake_range slabs)
{
    const survey_job *const work = user;
    const int64_t most = slabs_at_once(work);
    begin_extremes(work->found[part]);
    if (!work->what->is_late) {
        look(work, slabs, work->found[part]);
        return;
    }
    for (int64_t end = slabs.end; end > slabs.first; end -= most) {
        const strake_range now = {end - most > slabs.first ? end - most : slabs.first, end};
        extend(work, now);
        look(work, now, work->found[part]);
    }
}

strake_status strake_survey(strake_grid *grid, const strake_surveyed *what, strake_extremes extreme,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(grid->domain.ranks);
    const int parts =
        strake_spread_parts(grid->team->most_threads,
                            (grid->domain.own.end - grid->domain.own.first) * grid->layout.slab);
    survey_job work = {grid, what, calloc((size_t)parts, sizeof(strake_extremes))};
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

strake_status strake_survey_judge(strake_grid *grid, const strake_surveyed *what,
                                  strake_extremes extreme, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = grid->which->problem;
    strake_error why;
    bool changes = false;
    if (problem->judge(grid->which, extreme, &why) == STRAKE_OK) {
        return STRAKE_OK;
    }
    if (what->is_late) { /* the first cell is told, whoever has looked first */
        strake_surveyed again = *what;
        again.is_late = false;
        STRAKE_TRY(strake_survey(grid, &again, extreme, error));
        (void)problem->judge(grid->which, extreme, &why);
    }
    for (int f = 0; f < problem->fields; f++) {
        changes = changes || grid->field[f].changes;
    }
    status = !changes ? strake_fail(error, STRAKE_ERR_USAGE, "%s", why.text)
                      : strake_fail(error, STRAKE_ERR_USAGE,
                                    "%s; so it is in step %lld, from %.15g s on", why.text,
                                    (long long)grid->domain.step + 1, grid->moment.begin);
cleanup:
    return status;
}
