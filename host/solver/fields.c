/* Fields going in and out of a solver: dense arrays of whole fields or of some of their slabs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "cpu/hash_team.h"
#include "cpu/threads.h"
#include "grid/arrays.h"
#include "solver/remote_impl.h"
#include "pace/rescue.h"

static strake_status find_field(const strake_solver *solver, const char *name, int *out,
                                strake_error *error)
{
    const strake_problem *problem = solver->which->problem;
    for (int f = 0; f < problem->fields; f++) {
        if (strcmp(problem->field[f].name, name) == 0) {
            *out = f;
            return STRAKE_OK;
        }
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "problem %s has no field `%s`", problem->name,
                       name);
}

static strake_status check_slabs(const char *name, const int64_t shape[], int64_t first,
                                 int64_t end, strake_error *error)
{
    if (first >= 0 && first <= end && end <= shape[0]) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "field %s: slabs [%lld, %lld) asked for; it has slabs [0, %lld)", name,
                       (long long)first, (long long)end, (long long)shape[0]);
}

int strake_solver_threads(const strake_solver *solver)
{
    return solver->team.most_threads;
}

/* Whether a part of the slabs may be set alone. */
static bool has_values(const strake_solver *solver, int f)
{
    return solver->grid.field[f].state != STRAKE_FIELD_EMPTY && !solver->grid.field[f].from_shape;
}

/*
 * Slabs of a field without values come in order, so that one number says which are there. A velocity
 * from a shape of the case counts as none: it is weighted with h, what is set here is not.
 */
static strake_status check_order(const strake_solver *solver, int f, int64_t first, int64_t end,
                                 strake_error *error)
{
    const strake_validity *field = &solver->grid.field[f];
    const int64_t expected = field->state == STRAKE_FIELD_EMPTY ? field->slabs : 0;
    if (has_values(solver, f) || first == 0 || first == expected) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_STATE,
                       "field %s: slabs [%lld, %lld) set where slab %lld is next; the slabs of a "
                       "field without values, or with a velocity shape of the case, are set in "
                       "order from 0 to the last",
                       solver->which->problem->field[f].name, (long long)first, (long long)end,
                       (long long)expected);
}

/* Whether other ranks hold parts of a field. */
static bool is_shared(const strake_solver *solver, int f)
{
    return solver->grid.domain.ranks != NULL &&
           solver->grid.field[f].state != STRAKE_FIELD_CONSTANT;
}

/* Notes that the slabs before end were set. */
static void account_slabs(strake_solver *solver, int f, const int64_t shape[], int64_t end)
{
    const bool is_whole = has_values(solver, f) || end == shape[0];
    solver->grid.field[f] =
        (strake_validity){.state = is_whole ? STRAKE_FIELD_RAW : STRAKE_FIELD_EMPTY, .slabs = end};
}

/* Refuses fields that a run does not have. */
static strake_status check_had(const strake_solver *solver, int f, strake_error *error)
{
    const strake_field *const field = &solver->which->problem->field[f];
    return field->derive != NULL || strake_case_has(solver->which, f)
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_STATE,
                             "field %s is only there in runs whose output.fields names it",
                             field->name);
}

/* Between NaN outside and a number below 0 inside, for what has not happened. */
static void mark_never(const strake_solver *solver, void *data, int64_t count, double inside,
                       bool goes_out)
{
    const int size = solver->grid.layout.element_size;
    for (int64_t k = 0; k < count; k++) {
        const double value = strake_element_get(data, size, k);
        if (goes_out ? value < 0.0 : isnan(value)) {
            strake_element_set(data, size, k, goes_out ? (double)NAN : inside);
        }
    }
}

/* Slabs of a field that follows from others. */
static strake_status derive(strake_solver *solver, int f, int64_t first, int64_t end, int64_t count,
                            void *data, strake_error *error)
{
    enum { FROM = 2 };
    strake_status status = STRAKE_OK;
    const strake_field *const all = solver->which->problem->field;
    const int size = solver->grid.layout.element_size;
    double *value[FROM + 1] = {NULL};
    for (int k = 0; k <= FROM; k++) {
        value[k] = malloc((size_t)count * sizeof(double) + 1);
        STRAKE_CHECK(value[k] != NULL, error, STRAKE_ERR_MEMORY, "out of memory reading field %s",
                     all[f].name);
    }
    for (int k = 0; k < FROM; k++) {
        STRAKE_TRY(strake_get_slabs(solver, all[all[f].from[k]].name, first, end, data, error));
        strake_element_widen(data, size, 0, count, value[k]);
    }
    all[f].derive(solver->which, (const double *const *)value, count, value[FROM]);
    strake_element_narrow(data, size, 0, count, value[FROM]);
cleanup:
    for (int k = 0; k <= FROM; k++) {
        free(value[k]);
    }
    return status;
}

strake_status strake_set_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    int64_t shape[STRAKE_AXES];
    void *own = NULL;
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_TRY(find_field(solver, name, &f, error));
    STRAKE_CHECK(solver->which->problem->field[f].derive == NULL, error, STRAKE_ERR_STATE,
                 "field %s follows from others, which can be set", name);
    STRAKE_TRY(check_had(solver, f, error));
    STRAKE_CHECK(solver->grid.field[f].state != STRAKE_FIELD_CONSTANT, error, STRAKE_ERR_STATE,
                 "field %s is a constant of the case; leave it out there to set it here", name);
    STRAKE_CHECK(!is_shared(solver, f) || solver->which->problem->field[f].is_state, error,
                 STRAKE_ERR_STATE,
                 "field %s: with several ranks each takes the fields that stay the same from the "
                 "case; give it there",
                 name);
    strake_case_field_shape(solver->which, f, shape);
    STRAKE_TRY(check_slabs(name, shape, first, end, error));
    STRAKE_TRY(check_order(solver, f, first, end, error));
    if (solver->which->problem->field[f].has_never) {
        const int64_t count = (end - first) * shape[1] * shape[2];
        const size_t bytes = (size_t)(count * solver->grid.layout.element_size);
        own = malloc(bytes + 1);
        STRAKE_CHECK(own != NULL, error, STRAKE_ERR_MEMORY, "out of memory setting field %s", name);
        memcpy(own, data, bytes);
        mark_never(solver, own, count, solver->which->problem->field[f].fallback, false);
        data = own;
    }
    STRAKE_TRY(strake_grid_check_finite(&solver->grid, f, first, end, data, error));
    STRAKE_TRY(strake_solver_gather(solver, error));
    if (first == end) {
        goto cleanup;
    }
    strake_keep_forget(&solver->pace);
    solver->grid.domain.clock.is_known = false;
    if (is_shared(solver, f)) {
        STRAKE_TRY(strake_remote_put(solver, f, first, end, data, error));
    } else {
        strake_grid_copy_in(&solver->grid, f, first, end, data);
    }
    account_slabs(solver, f, shape, end);
    if (!solver->which->problem->field[f].is_state) {
        solver->grid.hash = 0;
    }
cleanup:
    free(own);
    return status;
}

strake_status strake_get_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    int64_t shape[STRAKE_AXES];
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_TRY(find_field(solver, name, &f, error));
    strake_case_field_shape(solver->which, f, shape);
    STRAKE_TRY(check_slabs(name, shape, first, end, error));
    STRAKE_TRY(check_had(solver, f, error));
    STRAKE_CHECK(solver->grid.field[f].state != STRAKE_FIELD_EMPTY, error, STRAKE_ERR_STATE,
                 "field %s has no values (yet, or after a failed step)", name);
    STRAKE_TRY(solver->which->problem->field[f].is_state ? strake_solver_gather(solver, error)
                                                         : STRAKE_OK);
    if (solver->which->problem->field[f].derive != NULL) {
        status = derive(solver, f, first, end, (end - first) * shape[1] * shape[2], data, error);
    } else if (is_shared(solver, f)) {
        status = strake_remote_get(solver, f, first, end, data, error);
    } else if (solver->grid.field[f].state == STRAKE_FIELD_CONSTANT) {
        strake_element_fill(data, solver->grid.layout.element_size, 0,
                            (end - first) * shape[1] * shape[2], solver->grid.number[f]);
    } else {
        strake_grid_copy_out(&solver->grid, f, first, end, data);
    }
    if (status == STRAKE_OK && solver->which->problem->field[f].has_never) {
        mark_never(solver, data, (end - first) * shape[1] * shape[2], 0.0, true);
    }
cleanup:
    return status;
}

strake_status strake_set_field(strake_solver *solver, const char *name, const void *data,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    int64_t shape[STRAKE_AXES];
    STRAKE_TRY(find_field(solver, name, &f, error));
    strake_case_field_shape(solver->which, f, shape);
    STRAKE_TRY(strake_set_slabs(solver, name, 0, shape[0], data, error));
cleanup:
    return status;
}

strake_status strake_get_field(strake_solver *solver, const char *name, void *data,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    int64_t shape[STRAKE_AXES];
    STRAKE_TRY(find_field(solver, name, &f, error));
    strake_case_field_shape(solver->which, f, shape);
    STRAKE_TRY(strake_get_slabs(solver, name, 0, shape[0], data, error));
cleanup:
    return status;
}

strake_status strake_field_shape(const strake_solver *solver, const char *name, int *dims,
                                 int64_t shape[3], strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    int64_t full[STRAKE_AXES];
    STRAKE_TRY(find_field(solver, name, &f, error));
    strake_case_field_shape(solver->which, f, full);
    *dims = solver->which->problem->dims;
    if (*dims == 2) {
        shape[0] = full[0];
        shape[1] = full[2];
    } else {
        for (int axis = 0; axis < *dims; axis++) {
            shape[axis] = full[axis + STRAKE_AXES - *dims];
        }
    }
cleanup:
    return status;
}

int strake_field_count(const strake_solver *solver)
{
    return solver->which->problem->fields;
}

const char *strake_field_name(const strake_solver *solver, int field)
{
    const strake_problem *problem = solver->which->problem;
    return field >= 0 && field < problem->fields ? problem->field[field].name : NULL;
}

strake_status strake_field_kind(const strake_solver *solver, const char *name, strake_kind *kind,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    STRAKE_TRY(find_field(solver, name, &f, error));
    *kind = solver->which->problem->field[f].is_state              ? STRAKE_KIND_STATE
            : solver->grid.field[f].state == STRAKE_FIELD_CONSTANT ? STRAKE_KIND_CONSTANT
                                                                   : STRAKE_KIND_INPUT;
cleanup:
    return status;
}

size_t strake_piece_bytes(size_t slab, uint64_t total)
{
    enum { FEW = 1 << 17, SHARED = 1 << 20, MOST = 1 << 23, PIECES = 128 };
    const uint64_t part = total / PIECES;
    const uint64_t wanted = part < SHARED ? FEW : part > MOST ? MOST : part;
    const uint64_t bytes = (wanted < total ? wanted : total) / slab * slab;
    return bytes > 0 ? (size_t)bytes : slab;
}

/* Slabs of a field that are read one piece after the other. */
typedef struct pieces {
    const char *name;
    int64_t slabs, most; /* of the field, of a piece */
    size_t slab;         /* bytes */
    void *data;
} pieces;

static strake_status begin_pieces(const strake_solver *solver, int f, pieces *out,
                                  strake_error *error)
{
    int64_t shape[STRAKE_AXES];
    strake_case_field_shape(solver->which, f, shape);
    *out = (pieces){.name = solver->which->problem->field[f].name,
                    .slabs = shape[0],
                    .slab = (size_t)(shape[1] * shape[2] * solver->grid.layout.element_size)};
    const uint64_t total = out->slab * (uint64_t)out->slabs;
    out->most = (int64_t)(strake_piece_bytes(out->slab, total) / out->slab);
    out->data = malloc((size_t)out->most * out->slab);
    return out->data != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory reading field %s", out->name);
}

/* The piece from a slab on. */
static strake_range next_piece(const pieces *p, int64_t first)
{
    return (strake_range){first, p->slabs - first < p->most ? p->slabs : first + p->most};
}

strake_status strake_fields_hash(strake_solver *solver, int f, uint64_t *hash, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_hash_team team = strake_hash_team_begin(solver->team.most_threads);
    pieces all;
    strake_range now;
    STRAKE_TRY(begin_pieces(solver, f, &all, error));
    for (int64_t first = 0; first < all.slabs; first = now.end) {
        now = next_piece(&all, first);
        STRAKE_TRY(strake_get_slabs(solver, all.name, now.first, now.end, all.data, error));
        *hash =
            strake_hash_team_add(&team, *hash, all.data, (size_t)(now.end - now.first) * all.slab);
    }
cleanup:
    strake_hash_team_end(&team);
    free(all.data);
    return status;
}

/* An array of a field that other ranks have slabs of: all of them in their places, whoever has which. */
static strake_status collect(strake_solver *solver, int f, void **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    pieces all;
    strake_range now;
    STRAKE_TRY(begin_pieces(solver, f, &all, error));
    STRAKE_TRY(strake_arrays_new(&solver->grid, all.name, out, error));
    for (int64_t first = 0; first < all.slabs; first = now.end) {
        now = next_piece(&all, first);
        STRAKE_TRY(strake_get_slabs(solver, all.name, now.first, now.end, all.data, error));
        strake_grid_store(&solver->grid, f, *out, now.first, now.end, all.data);
    }
cleanup:
    free(all.data);
    return status;
}

strake_status strake_solver_measure(strake_solver *solver, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *problem = solver->which->problem;
    void *array[STRAKE_MAX_FIELDS] = {NULL};
    void *collected[STRAKE_MAX_FIELDS] = {NULL};
    const strake_snapshot now = {solver->which, &solver->grid.layout, array, solver->grid.number,
                                 strake_time(solver)};
    STRAKE_TRY(strake_solver_gather(solver, error));
    for (int f = 0; f < problem->fields; f++) {
        array[f] = solver->grid.array[solver->grid.domain.parity][solver->grid.value_of[f]];
        if (is_shared(solver, f)) {
            STRAKE_TRY(collect(solver, f, &collected[f], error));
            array[f] = collected[f];
        }
    }
    STRAKE_TRY(problem->evaluate(&now, out, error));
cleanup:
    for (int f = 0; f < problem->fields; f++) {
        strake_arrays_free(&solver->grid, &collected[f]);
    }
    return status;
}
