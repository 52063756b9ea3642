#include "grid/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
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

/* Work on slabs by several threads. */
typedef struct look_job {
    strake_survey_look *look;
    const void *user;
    strake_extremes *found; /* by each part */
} look_job;

static void look_at_part(void *user, int part, strake_range slabs)
{
    const look_job *const work = user;
    begin_extremes(work->found[part]);
    work->look(work->user, slabs, work->found[part]);
}

strake_status strake_survey_slabs(const strake_grid *grid, strake_range slabs, int threads,
                                  strake_survey_look *look, const void *user, strake_extremes out,
                                  strake_error *error)
{
    const int parts = strake_spread_parts(threads, (slabs.end - slabs.first) * grid->layout.slab);
    look_job work = {look, user, calloc((size_t)parts, sizeof(strake_extremes))};
    begin_extremes(out);
    if (work.found == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields");
    }
    strake_spread(slabs, parts, look_at_part, &work);
    for (int part = 0; part < parts; part++) {
        join_extremes(out, work.found[part]);
    }
    free(work.found);
    return STRAKE_OK;
}

strake_status strake_survey_all(const strake_grid *grid, strake_survey_look *look, const void *user,
                                strake_extremes out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(grid->domain.ranks);
    strake_extremes own;
    strake_extremes *const all = calloc((size_t)count, sizeof *all);
    begin_extremes(out);
    status = all != NULL
                 ? strake_survey_slabs(grid, grid->domain.own, grid->team->most_threads, look, user,
                                       own, error)
                 : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields");
    STRAKE_TRY(strake_ranks_agree(grid->domain.ranks, status, error));
    memcpy(all, own, sizeof own);
    if (grid->domain.ranks != NULL) {
        STRAKE_TRY(strake_ranks_collect(grid->domain.ranks, own, sizeof own, all, error));
    }
    for (int k = 0; k < count; k++) {
        join_extremes(out, all[k]);
    }
cleanup:
    free(all);
    return status;
}

typedef struct survey_job {
    const strake_grid *grid;
    void *const *array;
    strake_survey_work *before;
    const void *user;
} survey_job;

/* Slabs stay in a private cache between what is done to them. */
static void survey(const void *user, strake_range slabs, strake_extremes found)
{
    enum { FEW = 1 << 14 };
    const survey_job *const work = user;
    const strake_case *const which = work->grid->which;
    const int64_t all = slabs.end - slabs.first;
    const int64_t count = work->before != NULL ? FEW / work->grid->layout.slab + 1 : all;
    for (int64_t i = slabs.first; i < slabs.end; i += count) {
        const strake_range few = {i, i + count < slabs.end ? i + count : slabs.end};
        if (work->before != NULL) {
            work->before(work->user, few);
        }
        which->problem->survey(which, &work->grid->layout, few, work->array, work->grid->number,
                               found);
    }
}

strake_status strake_survey(strake_grid *grid, void *const *array, strake_survey_work *before,
                            const void *user, strake_extremes extreme, strake_error *error)
{
    const survey_job work = {grid, array, before, user};
    return strake_survey_all(grid, survey, &work, extreme, error);
}

const char *strake_survey_when(const strake_grid *grid, bool changes, char text[80])
{
    text[0] = '\0';
    if (changes) {
        (void)strake_number_print(text, 80, "; so it is in step %lld, from %.15g s on",
                                  (long long)grid->domain.step + 1, grid->moment.begin);
    }
    return text;
}

strake_status strake_survey_judge(const strake_grid *grid, strake_extremes extreme,
                                  strake_error *error)
{
    strake_error why;
    bool changes = false;
    char when[80];
    const strake_status status = grid->which->problem->judge(grid->which, extreme, &why);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        changes = changes || grid->field[f].changes;
    }
    return status == STRAKE_OK ? STRAKE_OK
                               : strake_fail(error, status, "%s%s", why.text,
                                             strake_survey_when(grid, changes, when));
}
