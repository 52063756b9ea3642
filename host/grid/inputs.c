/* Fields from their sources, and what inputs need before the first step. */
#include "grid/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void store_line(const strake_layout *l, void *array, int64_t i, int64_t m, int64_t n,
                       const double *line)
{
    const int64_t at = strake_layout_at(l, i, m, 0);
    for (int64_t j = 0; j < n; j++) {
        if (l->element_size == 8) {
            ((double *)array)[at + j] = line[j];
        } else {
            ((float *)array)[at + j] = (float)line[j];
        }
    }
}

/* A field is not a number everywhere: names the first such point. */
static strake_status refuse_point(const strake_solver *solver, int f, const int64_t cell[],
                                  strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: field %s is not finite at [%lld, %lld] (in the run's precision); give "
                       "finite numbers",
                       solver->which->file, solver->which->problem->field[f].name,
                       (long long)cell[0], (long long)cell[2]);
}

/* Fills slabs [first, end) of a field from its source and looks whether they are finite. */
static strake_status fill_slabs(const strake_solver *solver, int f, int64_t first, int64_t end,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t shape[STRAKE_AXES];
    int64_t cell[STRAKE_AXES];
    strake_source_reader *reader = NULL;
    void *array = solver->array[0][solver->value_of[f]];
    strake_layout whole = solver->layout;
    strake_case_field_shape(solver->which, f, shape);
    double *line = malloc((size_t)shape[2] * sizeof *line);
    STRAKE_CHECK(line != NULL, error, STRAKE_ERR_MEMORY, "out of memory reading fields");
    STRAKE_TRY(strake_source_open(solver->which, f, &reader, error));
    for (int64_t i = first; i < end; i++) {
        for (int64_t m = 0; m < shape[1]; m++) {
            STRAKE_TRY(strake_source_line(reader, i, m, line, error));
            store_line(&solver->layout, array, i, m, shape[2], line);
        }
    }
    memcpy(whole.n, shape, sizeof whole.n);
    if (!strake_layout_is_finite(&whole, array, first, end, cell)) {
        STRAKE_TRY(refuse_point(solver, f, cell, error));
    }
cleanup:
    strake_source_close(&reader);
    free(line);
    return status;
}

/*
 * The slabs of a field that this rank has: of a state its own, of an input all that it reads. A field on
 * faces has one more at the end of the domain.
 */
static strake_window slabs_of(const strake_solver *solver, int f)
{
    int64_t shape[STRAKE_AXES];
    strake_window slabs = {1, {solver->own}};
    if (!solver->which->problem->field[f].is_state) {
        slabs = solver->window;
    }
    strake_case_field_shape(solver->which, f, shape);
    for (int k = 0; k < slabs.ranges; k++) {
        if (slabs.range[k].end == solver->layout.n[0]) {
            slabs.range[k].end = shape[0];
        }
    }
    return slabs;
}

/*
 * Fills slabs of a field from its source, each thread its share of them: sources give lines in any order.
 * Of several failures the one of the first slabs is reported.
 */
static strake_status fill_range(const strake_solver *solver, int f, strake_range range,
                                strake_error *error)
{
    enum { FILL_CELLS = 1 << 16 /* below this a thread costs more than it brings */ };
    strake_status status = STRAKE_OK;
    int64_t shape[STRAKE_AXES];
    strake_case_field_shape(solver->which, f, shape);
    const int64_t slabs = range.end - range.first;
    const int64_t most = slabs * shape[1] * shape[2] / FILL_CELLS + 1;
    const int threads =
        strake_source_has_bands(solver->which->source[f]) ? 1 : solver->most_threads;
    const int parts = most < threads ? (int)most : threads;
    int64_t failed = INT64_MAX;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const int64_t first = range.first + slabs * part / parts;
        strake_error mine = {0};
        const strake_status done =
            fill_slabs(solver, f, first, range.first + slabs * (part + 1) / parts, &mine);
#pragma omp critical(strake_fill_field)
        if (done != STRAKE_OK && first < failed) {
            failed = first;
            status = done;
            *error = mine;
        }
    }
    return status;
}

static strake_status fill_field(strake_solver *solver, int f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_window slabs = slabs_of(solver, f);
    for (int k = 0; k < slabs.ranges; k++) {
        STRAKE_TRY(fill_range(solver, f, slabs.range[k], error));
    }
    solver->given[f] = true;
    solver->unweighted[f] = strake_source_is_velocity(solver->which->source[f]);
    solver->shaped[f] = solver->unweighted[f];
cleanup:
    return status;
}

static void fill_with(const strake_solver *solver, int f, strake_range range, double *line)
{
    int64_t shape[STRAKE_AXES];
    strake_case_field_shape(solver->which, f, shape);
    for (int64_t j = 0; j < shape[2]; j++) {
        line[j] = solver->which->problem->field[f].fallback;
    }
    for (int64_t i = range.first; i < range.end; i++) {
        for (int64_t m = 0; m < shape[1]; m++) {
            store_line(&solver->layout, solver->array[0][solver->value_of[f]], i, m, shape[2],
                       line);
        }
    }
}

/* An optional field that may be set later starts as its default. */
static strake_status fill_default(strake_solver *solver, int f, strake_error *error)
{
    const strake_window slabs = slabs_of(solver, f);
    int64_t shape[STRAKE_AXES];
    strake_case_field_shape(solver->which, f, shape);
    double *line = malloc((size_t)shape[2] * sizeof *line);
    if (line == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for fields");
    }
    for (int k = 0; k < slabs.ranges; k++) {
        fill_with(solver, f, slabs.range[k], line);
    }
    free(line);
    solver->given[f] = true;
    return STRAKE_OK;
}

strake_status strake_inputs_fill(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *which = solver->which;
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->source[f] != NULL && !solver->constant[f]) {
            STRAKE_TRY(fill_field(solver, f, error));
        } else if (!solver->constant[f] && !which->problem->field[f].required) {
            STRAKE_TRY(fill_default(solver, f, error));
        }
    }
cleanup:
    return status;
}

/* Velocities given by a shape are weighted with h: they are taken anew after another input changed. */
static strake_status refill_shaped(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int f = 0; f < solver->which->problem->fields; f++) {
        if (solver->shaped[f] && !solver->unweighted[f]) {
            STRAKE_TRY(fill_field(solver, f, error));
        }
    }
cleanup:
    return status;
}

/* Ghosts of a scalar input in the window, and beyond the ends of the domain where these are in it. */
static void extend_scalar(const strake_solver *solver, void *array)
{
    const strake_layout *l = &solver->layout;
    const strake_window *window = &solver->window;
    for (int k = 0; k < window->ranges; k++) {
        strake_layout_fill_lateral(l, array, window->range[k].first, window->range[k].end);
    }
    strake_layout_fill_ends(l, array, strake_window_has(window, 0),
                            strake_window_has(window, l->n[0] - 1));
}

/* What decides on stability, of the whole domain. Collective. */
static strake_status survey(strake_solver *solver, void *const *array,
                            strake_extreme extreme[STRAKE_MAX_EXTREMES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(solver->ranks);
    strake_extreme own[STRAKE_MAX_EXTREMES];
    strake_extreme *all = NULL;
    for (int k = 0; k < STRAKE_MAX_EXTREMES; k++) {
        own[k] = extreme[k] = (strake_extreme){-INFINITY, {0, 0, 0}};
    }
    solver->which->problem->survey(solver->which, &solver->layout, solver->own, array,
                                   solver->number, own);
    all = calloc((size_t)count, sizeof own);
    STRAKE_CHECK(all != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    memcpy(all, own, sizeof own);
    if (solver->ranks != NULL) {
        STRAKE_TRY(strake_ranks_collect(solver->ranks, own, sizeof own, all, error));
    }
    for (int k = 0; k < count * STRAKE_MAX_EXTREMES; k++) {
        strake_extreme_add(&extreme[k % STRAKE_MAX_EXTREMES], all[k].value, all[k].cell[0],
                           all[k].cell[1], all[k].cell[2]);
    }
cleanup:
    free(all);
    return status;
}

strake_status strake_inputs_prepare(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *problem = solver->which->problem;
    void *array[STRAKE_MAX_FIELDS] = {NULL};
    strake_extreme extreme[STRAKE_MAX_EXTREMES];
    STRAKE_TRY(strake_ranks_agree(solver->ranks, refill_shaped(solver, error), error));
    for (int f = 0; f < problem->fields; f++) {
        array[f] = solver->array[solver->parity][solver->value_of[f]];
        if (problem->field[f].position == STRAKE_CELL && !problem->field[f].is_state &&
            array[f] != NULL) {
            extend_scalar(solver, array[f]);
        }
    }
    if (problem->prepare != NULL) {
        problem->prepare(solver->which, &solver->layout, &solver->window, array, solver->number,
                         solver->unweighted);
    }
    /* Velocities are weighted now: where they are refused, the next try starts from the shapes again. */
    memset(solver->unweighted, 0, sizeof solver->unweighted);
    solver->is_hashed = false;
    STRAKE_TRY(survey(solver, array, extreme, error));
    STRAKE_TRY(problem->judge(solver->which, extreme, error));
    for (int f = 0; f < problem->fields; f++) {
        if (problem->field[f].is_state) {
            strake_layout_fill_lateral(&solver->layout, array[f], solver->own.first,
                                       solver->own.end);
        }
    }
cleanup:
    return status;
}
