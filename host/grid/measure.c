#include "grid/measure.h"

#include <stdlib.h>

#include "grid/arrays.h"
#include "grid/memory.h"

/* --- what is kept for it -------------------------------------------------------------------------- */

static int64_t slabs_of(const strake_grid *grid, int f, size_t *bytes)
{
    int64_t full[STRAKE_AXES];
    strake_case_field_shape(grid->which, f, full);
    *bytes = (size_t)(full[1] * full[2] * grid->layout.element_size);
    return full[0];
}

bool strake_grid_is_aside(const strake_grid *grid, int field)
{
    const strake_field *const f = &grid->which->problem->field[field];
    return f->is_compared && !f->is_state;
}

strake_status strake_grid_check_aside(const strake_grid *grid, int field, int64_t first,
                                      int64_t end, strake_error *error)
{
    if (first <= grid->aside_slabs[field]) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_STATE,
                       "field %s: slabs [%lld, %lld) set where slab %lld is next; they are set in "
                       "order from 0 to the last",
                       grid->which->problem->field[field].name, (long long)first, (long long)end,
                       (long long)grid->aside_slabs[field]);
}

strake_given strake_grid_given(const strake_grid *grid, int field)
{
    size_t bytes = 0;
    const int64_t have = grid->aside_slabs[field];
    const bool is_whole = have == slabs_of(grid, field, &bytes);
    return (strake_given){have < 0 || is_whole, is_whole ? grid->aside[field] : NULL};
}

void strake_grid_drop_aside(strake_grid *grid)
{
    for (int f = 0; f < STRAKE_MAX_FIELDS; f++) {
        strake_arrays_free(grid, &grid->aside[f]);
    }
}

/* An array of all slabs of a field in their places, whoever has which. */
static strake_status collect(strake_grid *grid, int f, strake_slabs_reader *read, void *user,
                             void **out, strake_error *error)
{
    enum { PIECE = 1 << 20 };
    strake_status status = STRAKE_OK;
    size_t bytes = 0;
    const int64_t slabs = slabs_of(grid, f, &bytes);
    const int64_t most = bytes < PIECE ? (int64_t)(PIECE / bytes) : 1;
    void *const data = malloc((size_t)most * bytes);
    const char *const name = grid->which->problem->field[f].name;
    STRAKE_CHECK(data != NULL, error, STRAKE_ERR_MEMORY, "out of memory reading field %s", name);
    STRAKE_TRY(strake_arrays_new(grid, name, out, error));
    for (int64_t first = 0, end = 0; first < slabs; first = end) {
        end = slabs - first < most ? slabs : first + most;
        STRAKE_TRY(read(user, f, first, end, data, error));
        strake_grid_store(grid, f, *out, first, end, data);
    }
cleanup:
    free(data);
    return status;
}

/* Room for a field that is kept; where a part of one that has values is set, with these. */
static strake_status begin_aside(strake_grid *grid, int f, const strake_given_slabs *slabs,
                                 strake_slabs_reader *read, void *user, strake_error *error)
{
    size_t bytes = 0;
    const int64_t all = slabs_of(grid, f, &bytes);
    const bool is_part = slabs->end - slabs->first < all;
    const char *const name = grid->which->problem->field[f].name;
    if (!strake_memory_has_one(grid)) {
        grid->aside_slabs[f] = strake_grid_is_aside(grid, f) ? 0 : -1;
        return strake_grid_is_aside(grid, f)
                   ? strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for field %s", name)
                   : STRAKE_OK;
    }
    if (is_part && !strake_grid_is_aside(grid, f) && grid->field[f].state != STRAKE_FIELD_EMPTY) {
        const strake_status status = collect(grid, f, read, user, &grid->aside[f], error);
        if (status != STRAKE_OK) {
            strake_arrays_free(grid, &grid->aside[f]);
        }
        grid->aside_slabs[f] = status == STRAKE_OK ? all : 0;
        return status;
    }
    grid->aside_slabs[f] = 0;
    return strake_arrays_new(grid, name, &grid->aside[f], error);
}

strake_status strake_grid_set_aside(strake_domain *domain, int field,
                                    const strake_given_slabs *slabs, strake_slabs_reader *read,
                                    void *user, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    if (!grid->which->problem->field[field].is_compared) {
        return STRAKE_OK;
    }
    if (grid->aside[field] == NULL) {
        STRAKE_TRY(begin_aside(grid, field, slabs, read, user, error));
    }
    if (grid->aside[field] != NULL) {
        strake_grid_store(grid, field, grid->aside[field], slabs->first, slabs->end, slabs->data);
        grid->aside_slabs[field] =
            slabs->end > grid->aside_slabs[field] ? slabs->end : grid->aside_slabs[field];
    }
cleanup:
    return status;
}

/* --- measuring ------------------------------------------------------------------------------------ */

strake_status strake_grid_measure(strake_domain *domain, strake_slabs_reader *read, void *user,
                                  double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    const strake_problem *const problem = grid->which->problem;
    void *array[STRAKE_MAX_FIELDS] = {NULL};
    void *collected[STRAKE_MAX_FIELDS] = {NULL};
    strake_given given[STRAKE_MAX_FIELDS] = {{false, NULL}};
    const double time = domain->is_adaptive || domain->is_timed
                            ? domain->clock.time
                            : (double)domain->step * grid->which->dt;
    const strake_snapshot now = {grid->which, &grid->layout, array, grid->number, time, given};
    for (int f = 0; f < problem->fields; f++) {
        array[f] = grid->array[domain->parity][grid->value_of[f]];
        given[f] = strake_grid_given(grid, f);
        if (domain->ranks != NULL && grid->field[f].state != STRAKE_FIELD_CONSTANT) {
            STRAKE_TRY(collect(grid, f, read, user, &collected[f], error));
            array[f] = collected[f];
        }
    }
    STRAKE_TRY(problem->evaluate(&now, out, error));
cleanup:
    for (int f = 0; f < problem->fields; f++) {
        strake_arrays_free(grid, &collected[f]);
    }
    return status;
}
