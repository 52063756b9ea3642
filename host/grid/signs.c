#include "grid/signs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/number.h"
#include "case/source.h"
#include "cpu/spread.h"
#include "engine/lines.h"

/* Where a field is furthest below 0, as the largest of its negative, and what is largest in it. */
typedef struct signs {
    strake_extreme below, above;
} signs;

static const signs nothing = {{-INFINITY, {0, 0, 0}}, {-INFINITY, {0, 0, 0}}};

typedef struct job {
    const strake_grid *grid;
    const void *array; /* of the grid, or NULL: ... */
    const void *data;  /* ... dense slabs, from slab first on */
    int64_t first;
    signs *found; /* by each part */
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

static void look(void *user, int part, strake_range slabs)
{
    const job *const work = user;
    const int64_t *const n = work->grid->layout.n;
    signs *const found = &work->found[part];
    *found = nothing;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            for (int64_t j = 0; j < n[2]; j += STRAKE_PIECE) {
                const int64_t count = n[2] - j < STRAKE_PIECE ? n[2] - j : STRAKE_PIECE;
                strake_piece room, negative;
                const double *const x = piece_of(work, i, m, j, count, room);
                for (int64_t k = 0; k < count; k++) {
                    negative[k] = -x[k];
                }
                strake_extreme_add_line(&found->below, negative, count, i, m, j);
                strake_extreme_add_line(&found->above, x, count, i, m, j);
            }
        }
    }
}

static void join(signs *all, const signs *later)
{
    const strake_extreme *const below = &later->below, *const above = &later->above;
    strake_extreme_add(&all->below, below->value, below->cell[0], below->cell[1], below->cell[2]);
    strake_extreme_add(&all->above, above->value, above->cell[0], above->cell[1], above->cell[2]);
}

static strake_status look_at(job *work, strake_range slabs, int threads, signs *out,
                             strake_error *error)
{
    const int parts =
        strake_spread_parts(threads, (slabs.end - slabs.first) * work->grid->layout.slab);
    *out = nothing;
    work->found = calloc((size_t)parts, sizeof *work->found);
    if (work->found == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields");
    }
    strake_spread(slabs, parts, look, work);
    for (int part = 0; part < parts; part++) {
        join(out, &work->found[part]);
    }
    free(work->found);
    return STRAKE_OK;
}

static const char *reason(const strake_grid *grid, int f)
{
    const strake_problem *const problem = grid->which->problem;
    return problem->nonnegative != NULL ? problem->nonnegative(grid->which, f) : NULL;
}

/* "; so it is in step 7, from 1.5 s on" where a field changes with time, else "". */
static const char *when(const strake_grid *grid, int field, char text[80])
{
    text[0] = '\0';
    if (grid->field[field].changes) {
        (void)strake_number_print(text, 80, "; so it is in step %lld, from %.15g s on",
                                  (long long)grid->domain.step + 1, grid->moment.begin);
    }
    return text;
}

static strake_status refuse(const strake_grid *grid, int f, const strake_extreme *below,
                            strake_error *error)
{
    const int dims = grid->which->problem->dims;
    char place[80] = "", moment[80];
    for (int d = 0; d < dims; d++) {
        const size_t used = strlen(place);
        (void)snprintf(place + used, sizeof place - used, "%s%lld", d > 0 ? ", " : "",
                       (long long)below->cell[strake_axis_of(dims, d)]);
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s is %.17g at [%s] but %s%s",
                       grid->which->file, grid->which->problem->field[f].name, -below->value, place,
                       reason(grid, f), when(grid, f, moment));
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

/* What a field has in the slabs of all ranks. */
static strake_status look_everywhere(const strake_grid *grid, int f, signs *out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(grid->domain.ranks);
    job work = {.grid = grid, .array = grid->array[grid->domain.parity][grid->value_of[f]]};
    signs own = nothing;
    signs *const all = calloc((size_t)count, sizeof *all);
    status = all != NULL
                 ? look_at(&work, grid->domain.own, grid->team->most_threads, &own, error)
                 : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields");
    STRAKE_TRY(strake_ranks_agree(grid->domain.ranks, status, error));
    all[0] = own;
    if (grid->domain.ranks != NULL) {
        STRAKE_TRY(strake_ranks_collect(grid->domain.ranks, &own, sizeof own, all, error));
    }
    *out = nothing;
    for (int k = 0; k < count; k++) {
        join(out, &all[k]);
    }
cleanup:
    free(all);
    return status;
}

strake_status strake_signs_check(const strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        signs all;
        if (is_looked_at(grid, f)) {
            STRAKE_TRY(look_everywhere(grid, f, &all, error));
            STRAKE_TRY(all.below.value > 0.0 ? refuse(grid, f, &all.below, error) : STRAKE_OK);
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
    job work = {.grid = grid, .data = data, .first = first};
    const bool is_state = grid->which->problem->field[f].is_state;
    double least = 0.0;
    signs all;
    if (reason(grid, f) == NULL || first >= end) {
        return STRAKE_OK;
    }
    STRAKE_TRY(look_at(&work, (strake_range){first, end}, strake_workers_copying(grid->team), &all,
                       error));
    least = is_state ? fmax(none, rounded * all.above.value) : 0.0;
    STRAKE_TRY(all.below.value > least ? refuse(grid, f, &all.below, error) : STRAKE_OK);
cleanup:
    return status;
}
