#include "grid/signs.h"

#include <math.h>

#include "base/element.h"
#include "engine/lines.h"
#include "grid/survey.h"

/* Where a field is furthest below 0, as the largest of its negative, and what is largest in it. */
enum { BELOW, ABOVE };

typedef struct job {
    const strake_grid *grid;
    const void *array; /* of the grid, or NULL: ... */
    const void *data;  /* ... dense slabs, from slab first on */
    int64_t first;
} job;

static const double *piece_of(const job *work, int64_t i, int64_t m, int64_t j, int64_t count,
                              strake_piece room)
{
    const strake_layout *const l = &work->grid->layout;
    if (work->array != NULL) {
        return strake_piece_of(l, work->array, 0.0, i, m, j, count, room);
    }
    strake_element_widen(work->data, l->element_size,
                         ((i - work->first) * l->n[1] + m) * l->n[2] + j, count, room);
    return room;
}

static void look(const void *user, strake_range slabs, strake_extremes found)
{
    const job *const work = user;
    const int64_t *const n = work->grid->layout.n;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            for (int64_t j = 0; j < n[2]; j += STRAKE_PIECE) {
                const int64_t count = n[2] - j < STRAKE_PIECE ? n[2] - j : STRAKE_PIECE;
                strake_piece room, negative;
                const double *const x = piece_of(work, i, m, j, count, room);
                for (int64_t k = 0; k < count; k++) {
                    negative[k] = -x[k];
                }
                strake_extreme_add_line(&found[BELOW], negative, count, i, m, j);
                strake_extreme_add_line(&found[ABOVE], x, count, i, m, j);
            }
        }
    }
}

static const char *reason(const strake_grid *grid, int f)
{
    const strake_problem *const problem = grid->which->problem;
    return problem->nonnegative != NULL ? problem->nonnegative(grid->which, f) : NULL;
}

static strake_status refuse(const strake_grid *grid, int f, const strake_extreme *below,
                            strake_error *error)
{
    char place[80], when[80];
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s is %.17g at %s but %s%s", grid->which->file,
                       grid->which->problem->field[f].name, -below->value,
                       strake_case_cell_text(grid->which, below->cell, place), reason(grid, f),
                       strake_survey_when(grid, grid->field[f].changes, when));
}

/* The same on all ranks. */
static bool is_looked_at(const strake_grid *grid, int f)
{
    const strake_field_state state = grid->field[f].state;
    const bool is_new = grid->which->problem->field[f].is_state
                            ? state != STRAKE_FIELD_EMPTY && grid->domain.step == 0
                            : state == STRAKE_FIELD_RAW;
    return is_new && reason(grid, f) != NULL;
}

strake_status strake_signs_check(const strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        strake_extremes all;
        if (is_looked_at(grid, f)) {
            const job work = {.grid = grid,
                              .array = grid->array[grid->domain.parity][grid->value_of[f]]};
            STRAKE_TRY(strake_survey_all(grid, look, &work, all, error));
            STRAKE_TRY(all[BELOW].value > 0.0 ? refuse(grid, f, &all[BELOW], error) : STRAKE_OK);
        }
    }
cleanup:
    return status;
}

strake_status strake_signs_check_given(const strake_grid *grid, int f, int64_t first, int64_t end,
                                       const void *data, strake_error *error)
{
    /* A step lets all of a cell out but for roundings; less than what denominators have added is nothing in them. */
    static const double rounded = 1e-6, none = 1e-15;
    strake_status status = STRAKE_OK;
    const job work = {.grid = grid, .data = data, .first = first};
    const bool is_state = grid->which->problem->field[f].is_state;
    double least = 0.0;
    strake_extremes all;
    if (reason(grid, f) == NULL || first >= end) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_survey_slabs(grid, (strake_range){first, end},
                                   strake_workers_copying(grid->team), look, &work, all, error));
    least = is_state ? fmax(none, rounded * all[ABOVE].value) : 0.0;
    STRAKE_TRY(all[BELOW].value > least ? refuse(grid, f, &all[BELOW], error) : STRAKE_OK);
cleanup:
    return status;
}
