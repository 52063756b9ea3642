/* A grid as a kind of domain: its fields for those who open, read and write them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "case/source.h"
#include "cpu/pipeline.h"
#include "engine/rkc.h"
#include "grid/active.h"
#include "grid/ahead.h"
#include "grid/arrays.h"
#include "grid/grid.h"
#include "grid/inputs.h"
#include "grid/parts.h"
#include "run/kind.h"
#include "cost/record.h"

/*
 * What a grid's problem measures of its states, and what is kept of fields for that alone (strake_field.is_compared):
 * whole arrays beside those that steps read, on the rank where they were set.
 */

/* --- what is kept for it -------------------------------------------------------------------------- */

static int64_t slabs_of(const strake_grid *grid, int f, size_t *bytes)
{
    int64_t full[STRAKE_AXES];
    strake_case_field_shape(grid->which, f, full);
    *bytes = (size_t)(full[1] * full[2] * grid->layout.element_size);
    return full[0];
}

/** Whether a field is an input that is kept for that alone. */
static bool grid_is_aside(const strake_grid *grid, int field)
{
    const strake_field *const f = &grid->which->problem->field[field];
    return f->is_compared && !f->is_state;
}

/** Its slabs come in order from 0 to the last, until all are there. @return STRAKE_ERR_STATE */
static strake_status grid_check_aside(const strake_grid *grid, int field, int64_t first,
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

/** What is kept of a field. */
static strake_given grid_given(const strake_grid *grid, int field)
{
    size_t bytes = 0;
    const int64_t have = grid->aside_slabs[field];
    const bool is_whole = have == slabs_of(grid, field, &bytes);
    return (strake_given){have < 0 || is_whole, is_whole ? grid->aside[field] : NULL};
}

/** Frees all of that. */
static void grid_drop_aside(strake_grid *grid)
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
        grid->aside_slabs[f] = grid_is_aside(grid, f) ? 0 : -1;
        return grid_is_aside(grid, f)
                   ? strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for field %s", name)
                   : STRAKE_OK;
    }
    if (is_part && !grid_is_aside(grid, f) && grid->field[f].state != STRAKE_FIELD_EMPTY) {
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

static strake_status grid_set_aside(strake_domain *domain, int field,
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

/** strake_domain_kind.measure and set_aside of grids. */
static strake_status grid_measure(strake_domain *domain, strake_slabs_reader *read, void *user,
                                  double *out, double *probes, strake_error *error)
{
    (void)probes; /* are in scenes of particles */
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
        given[f] = grid_given(grid, f);
        if (domain->ranks != NULL && grid->field[f].state != STRAKE_FIELD_CONSTANT) {
            STRAKE_TRY(collect(grid, f, read, user, &collected[f], error));
            array[f] = collected[f];
        }
    }
    STRAKE_TRY(out != NULL ? problem->evaluate(&now, out, error) : STRAKE_OK);
cleanup:
    for (int f = 0; f < problem->fields; f++) {
        strake_arrays_free(grid, &collected[f]);
    }
    return status;
}

/* Inputs that change with time (case/source.h: series, shapes that turn round); only for host/grid/. */

/* A flow that turns round is taken at the middle of each step: of so many before all is back, however slow it is. */
enum { STEPS_OF_REVERSAL = 20 };

static double interval_of(const strake_grid *grid, int f)
{
    return grid->field[f].changes ? strake_source_interval(grid->which->source[f])
                                  : (double)INFINITY;
}

/* Whether an input is another one in the step that begins at one time than in that of another. */
static bool differs(const strake_grid *grid, int f, const strake_moment *one,
                    const strake_moment *other)
{
    const strake_source *const source = grid->which->source[f];
    const double interval = interval_of(grid, f);
    return interval > 0.0
               ? interval < (double)INFINITY && strake_source_level(source, one->begin) !=
                                                    strake_source_level(source, other->begin)
               : one->begin != other->begin || one->dt != other->dt;
}

/** Least number of steps from one change to the next; 0: nothing changes. */
static int64_t changes_least(const strake_case *which)
{
    double least = (double)INFINITY;
    for (int f = 0; f < which->problem->fields; f++) {
        least = fmin(least, strake_source_interval(which->source[f]));
    }
    if (which->courant > 0.0) {
        return least > 0.0 ? INT64_MAX : 1; /* nobody knows, but for a change with every step */
    }
    const double steps = floor(least / which->dt);
    return isinf(least) ? 0 : steps < 1.0 ? 1 : steps < 0x1p53 ? (int64_t)steps : INT64_MAX;
}

/* The first step after @p step in which an input is another one, at most @p end. */
static int64_t next_change(const strake_grid *grid, int f, int64_t step, int64_t end)
{
    const strake_case *const which = grid->which;
    const strake_moment now = strake_case_moment(which, step);
    const double interval = interval_of(grid, f);
    const double level = (double)strake_source_level(which->source[f], now.begin) + 1.0;
    const double guess = floor(level * interval / which->dt);
    int64_t next = guess < (double)end ? (int64_t)guess : end;
    next = next > step ? next : step + 1;
    strake_moment then = strake_case_moment(which, next);
    while (next < end && !differs(grid, f, &now, &then)) {
        then = strake_case_moment(which, ++next);
    }
    then = strake_case_moment(which, next - 1);
    while (next - 1 > step && differs(grid, f, &now, &then)) {
        then = strake_case_moment(which, --next - 1);
    }
    return next;
}

static double next_level(const strake_grid *grid, double time)
{
    double next = (double)INFINITY;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        next = grid->field[f].changes
                   ? fmin(next, strake_source_next_level(grid->which->source[f], time))
                   : next;
    }
    return next;
}

/* Steps end where the next level of an input begins, and at the end of the run; beyond that only levels count. */
static double next_stop(const strake_grid *grid, double time)
{
    const double level = next_level(grid, time), end = grid->domain.clock.stop;
    return end > time ? fmin(level, end) : level;
}

/* The step that begins at a time. */
static double step_at(const strake_grid *grid, double time)
{
    static const double rounded = 1e-9;
    const double left = grid->pace_until - time;
    return grid->pace <= left * (1.0 + rounded) ? grid->pace : left;
}

/* Steps of one length from now on. */
static int64_t timed_steady(const strake_grid *grid, int64_t most)
{
    double time = grid->domain.clock.time;
    int64_t steps = 0;
    do {
        time += grid->domain.clock.dt;
        steps++;
    } while (steps < most && next_stop(grid, time) == grid->pace_until &&
             step_at(grid, time) == grid->domain.clock.dt);
    return grid->domain.steady == 1 ? 1 : steps;
}

/** Steps from the domain's step on, @p most at most, for which all inputs are as they are in that one. */
static int64_t changes_steady(const strake_grid *grid, int64_t most)
{
    if (grid->domain.is_timed) {
        return timed_steady(grid, most);
    }
    const int64_t step = grid->domain.step;
    int64_t end = step + most;
    for (int f = 0; f < grid->which->problem->fields && end > step + 1; f++) {
        const double interval = interval_of(grid, f);
        if (interval < (double)INFINITY) {
            end = interval > 0.0 ? next_change(grid, f, step, end) : step + 1;
        }
    }
    return end - step;
}

/* Fills all velocities, as they are in a moment. */
static strake_status refill_velocities(strake_grid *grid, const strake_moment *moment,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    grid->moment = *moment;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (grid->field[f].from_shape) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    return status;
}

/* The longest step until the next level: a flow between two extremes is never faster than in one of them. */
static strake_status find_pace(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = grid->which;
    double most = 0.0, longest = which->dt;
    for (int f = 0; f < which->problem->fields; f++) {
        longest = fmin(longest, strake_source_reversal(which->source[f]) / STEPS_OF_REVERSAL);
    }
    for (int extreme = 1; extreme <= (grid->domain.steady == 1 ? 2 : 1); extreme++) {
        const strake_moment moment = {grid->domain.clock.time, 1.0, extreme};
        double rate = 0.0;
        STRAKE_TRY(
            strake_ranks_agree(grid->domain.ranks, refill_velocities(grid, &moment, error), error));
        STRAKE_TRY(strake_inputs_rate(grid, &rate, error));
        most = fmax(most, rate);
    }
    grid->pace = fmin(longest, which->courant / most);
    STRAKE_CHECK(grid->pace < (double)INFINITY, error, STRAKE_ERR_USAGE,
                 "%s: time.courant: nothing flows, so that any time step would do; give time.dt, "
                 "the longest one",
                 which->file);
cleanup:
    grid->pace = status == STRAKE_OK ? grid->pace : 0.0;
    return status;
}

/* Velocities are what flows in a step: they change with its length, too. */
static strake_status pass_timed(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_clock *const clock = &grid->domain.clock;
    const strake_moment before = grid->moment;
    const double until = next_stop(grid, clock->time);
    const bool is_new =
        grid->pace == 0.0 || grid->pace_until != until || strake_inputs_are_new(grid);
    strake_moment now = {clock->time, 0.0, 0};
    if (is_new) {
        STRAKE_TRY(find_pace(grid, error));
    }
    grid->pace_until = until;
    clock->dt = now.dt = step_at(grid, clock->time);
    if (is_new || now.dt != before.dt || (grid->domain.steady == 1 && now.begin != before.begin)) {
        STRAKE_TRY(refill_velocities(grid, &now, error));
    }
    grid->moment = now;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (!grid->field[f].from_shape && grid->field[f].changes &&
            differs(grid, f, &now, &before)) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    return status;
}

/** Fills those anew that are not those of the domain's step. @return as strake_inputs_refill() */
static strake_status changes_pass(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_moment before = grid->moment;
    if (grid->domain.is_timed) {
        return pass_timed(grid, error);
    }
    grid->moment = strake_case_moment(grid->which, grid->domain.step);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (grid->field[f].changes && differs(grid, f, &grid->moment, &before)) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    grid->moment = status == STRAKE_OK ? grid->moment : before;
    return status;
}

static const strake_grid *of(const strake_domain *domain)
{
    return (const strake_grid *)domain;
}

/* --- opening and closing -------------------------------------------------------------------------- */

static strake_domain *create(const strake_case *which, const strake_team *team)
{
    strake_grid *const grid = calloc(1, sizeof *grid);
    if (grid == NULL) {
        return NULL;
    }
    grid->which = which;
    grid->team = team;
    return &grid->domain;
}

/*
 * What the stages of a step are told, and again from the begin of the table on: sweeps may lead from a step to the next one. With
 * a tolerance the table is made for every step, and here for the shortest ones, with which a run begins.
 */
static strake_status begin_stages(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = &grid->domain;
    const strake_case *const which = grid->which;
    int (*const count)(const strake_case *, double, int *) = which->problem->stages;
    int at_once = 1;
    const bool is_paced = which->tolerance > 0.0;
    int most = STRAKE_RKC_MOST;
    double dt = is_paced ? strake_rkc_first(count, which, which->dt) : which->dt;
    const int stages = count != NULL ? count(which, dt, &at_once) : 0;
    if (stages == 0) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(!is_paced || stages <= STRAKE_RKC_LEAST || stages <= at_once, error,
                 STRAKE_ERR_USAGE,
                 "%s: time.tolerance: steps of any length take more than %d stages, so no step is "
                 "short enough to begin with; give time.dt instead, or look at the parameters",
                 which->file, at_once > STRAKE_RKC_LEAST ? at_once : STRAKE_RKC_LEAST);
    most = is_paced ? most : stages;
    domain->stages = (stages + at_once - 1) / at_once;
    domain->tells = at_once * STRAKE_RKC_TELLS;
    domain->told = calloc((size_t)((most / at_once + 1 + STRAKE_MAX_SWEEP) * domain->tells),
                          sizeof *domain->told);
    STRAKE_CHECK(domain->told != NULL, error, STRAKE_ERR_MEMORY, "out of memory for stages");
    strake_rkc_tell(stages, domain->stages * at_once, dt, domain->told);
    for (int k = 0; k < STRAKE_MAX_SWEEP * domain->tells; k++) {
        domain->told[domain->stages * domain->tells + k] = domain->told[k];
    }
    domain->clock.dt = dt;
    domain->dt_first = domain->dt_after = is_paced ? dt : 0.0;
cleanup:
    return status;
}

static strake_status begin(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    const strake_case *const which = grid->which;
    domain->steady = changes_least(which);
    domain->is_timed = strake_case_is_paced(which);
    STRAKE_TRY(strake_grid_begin(grid, which, error));
    STRAKE_TRY(begin_stages(grid, error));
    domain->own_hash = strake_graph_hash(&grid->graph);
    domain->variant = strake_tuned_table(&grid->graph);
    strake_memory_look(grid);
cleanup:
    return status;
}

/*
 * By default: measured on Zen 5, where more steps gain nothing for MPDATA. One step where the rings of
 * all threads would take more than a twentieth of the fields' memory (unless that is little anyway).
 */
enum { STEPS_PER_SWEEP = 2, RINGS_OF_FIELDS = 20, LITTLE_MEMORY = 8 * 1024 * 1024 };

/* As asked, else the default; no more than the graph allows. */
static int sweep(const strake_domain *domain, const strake_settings *settings, int threads)
{
    const strake_grid *const grid = of(domain);
    const int asked = settings->steps_per_sweep;
    const int wanted = asked > 0 ? asked : STEPS_PER_SWEEP;
    const int most = strake_pipeline_most_steps(&grid->graph);
    if (asked == 0 && domain->steady == 1) {
        return 1; /* no sweep is ever longer */
    }
    if (asked == 0 && threads > 0) {
        if (grid->which->n[1] > 1) {
            return 1; /* blocks of lines are for one step, and bring more than a second one */
        }
        const strake_layout layout =
            strake_layout_make_deep(&grid->graph, wanted, grid->which->n, grid->which->boundary);
        const int64_t rings =
            strake_pipeline_bytes(&grid->graph, &layout, wanted, settings) * threads;
        const int64_t fields = layout.elements / strake_ranks_count(domain->ranks) *
                               layout.element_size * strake_arrays_count(&grid->graph, 2);
        if (rings > LITTLE_MEMORY && rings > fields / RINGS_OF_FIELDS) {
            return 1;
        }
    }
    return wanted < most ? wanted : most;
}

static strake_status lay_out(strake_domain *domain, int steps, strake_error *error)
{
    strake_grid *const grid = strake_grid_of(domain);
    strake_error ignored;
    strake_grid_lay_out(grid, steps);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        const strake_layout *const l = &grid->layout;
        const int reach = l->lo[axis] > l->hi[axis] ? l->lo[axis] : l->hi[axis];
        if (l->boundary[axis] == STRAKE_POLAR && l->n[axis] < reach) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: grid.rows: %lld; with boundary.rows: polar at least %d, as "
                               "many as a step reads beyond a pole",
                               grid->which->file, (long long)l->n[axis], reach);
        }
    }
    domain->may_wander =
        domain->kept == 0 && strake_grid_check_one_way(grid, &ignored) == STRAKE_OK;
    return grid->which->run.exchange == STRAKE_EXCHANGE_ONE_WAY
               ? strake_grid_check_one_way(grid, error)
               : STRAKE_OK;
}

static strake_status make(strake_domain *domain, strake_cl_list *devices, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    STRAKE_TRY(strake_arrays_allocate(grid, error));
    strake_memory_share(grid, devices);
    STRAKE_TRY(strake_inputs_fill(grid, error));
cleanup:
    return status;
}

static void close_grid(strake_domain **domain)
{
    strake_grid *const grid = strake_grid_of(*domain);
    *domain = NULL;
    strake_ahead_end(grid);
    strake_grid_forget(grid);
    grid_drop_aside(grid);
    for (int f = 0; f < STRAKE_MAX_FIELDS; f++) {
        strake_arrays_free(grid, &grid->velocity[f]);
    }
    strake_arrays_release(grid);
    strake_grid_close_activity(grid);
    free(grid->domain.told);
    free(grid);
}

/* --- stepping ------------------------------------------------------------------------------------- */

static strake_status prepare(strake_domain *domain, strake_error *error)
{
    return strake_inputs_prepare(strake_grid_of(domain), error);
}

static strake_status change(strake_domain *domain, strake_error *error)
{
    strake_grid *const grid = strake_grid_of(domain);
    const strake_status status = changes_pass(grid, error);
    if (status == STRAKE_OK && domain->steady > 0) {
        strake_ahead_ask(grid);
    }
    return status;
}

static int64_t steady(const strake_domain *domain, int64_t most)
{
    return changes_steady(of(domain), most);
}

/* Whether something is poured into an input, rather than given. */
static bool pours(const strake_case *which)
{
    bool does = false;
    for (int f = 0; f < which->problem->fields; f++) {
        does = does || strake_inputs_are_poured(which, f);
    }
    return does;
}

/* The next time after @p time at which inputs change. */
static double next_event(const strake_case *which, double time)
{
    return which->problem->event != NULL ? which->problem->event(which, time) : (double)INFINITY;
}

/* What is poured is filled anew. */
static strake_status pass_event(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    const strake_case *const which = grid->which;
    strake_clock *const clock = &domain->clock;
    const double next = fmin(next_event(which, clock->time), which->end);
    if (pours(which) &&
        (clock->time < grid->poured_at || next_event(which, grid->poured_at) <= clock->time)) {
        strake_inputs_pour(grid);
        STRAKE_TRY(strake_ranks_agree(domain->ranks, strake_inputs_prepare(grid, error), error));
        clock->is_known = false;
    }
    clock->is_known = clock->is_known && clock->stop == next;
    clock->stop = next;
cleanup:
    return status;
}

static void describe(const strake_domain *domain, strake_domain_report *out)
{
    const strake_grid *const grid = of(domain);
    const int64_t *const n = grid->which->n;
    const strake_ops ops = strake_graph_ops(&grid->graph);
    *out = (strake_domain_report){.items = (double)n[0] * (double)n[1] * (double)n[2],
                                  .item = "cell",
                                  .rate = "cells_per_second",
                                  .rate_unit = 1.0,
                                  .slabs = n[0],
                                  .bytes = strake_graph_bytes(&grid->graph),
                                  .flops = ops.adds + ops.muls + ops.divs,
                                  .divisions = ops.divs};
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        out->arrays += grid->array[0][v] != NULL ? 1 : 0;
        out->arrays += grid->array[1][v] != grid->array[0][v] ? 1 : 0;
    }
}

/* --- fields --------------------------------------------------------------------------------------- */

static strake_extent extent(const strake_domain *domain, int field)
{
    const strake_grid *const grid = of(domain);
    int64_t full[STRAKE_AXES];
    strake_case_field_shape(grid->which, field, full);
    strake_extent out = {.dims = grid->which->problem->dims,
                         .shape = {1, 1, 1},
                         .slabs = full[0],
                         .bytes = (size_t)(full[1] * full[2] * grid->layout.element_size)};
    for (int d = 0; d < out.dims; d++) {
        out.shape[d] = full[strake_axis_of(out.dims, d)];
    }
    return out;
}

/*
 * What is poured changes with time, as other inputs may, and velocities with a time step that follows from them; what
 * they come from is in the case's own hash.
 */
static bool is_hashed(const strake_grid *grid, int field)
{
    const strake_case *const which = grid->which;
    const strake_field *const f = &which->problem->field[field];
    const strake_source *const source = which->source[field];
    double number = 0.0;
    const bool may_be_poured = f->is_poured && (strake_inputs_are_poured(which, field) ||
                                                strake_source_constant(source, &number));
    return !f->is_state && !may_be_poured && !strake_inputs_move(grid, field) &&
           grid->field[field].state != STRAKE_FIELD_CONSTANT;
}

static bool field_of(const strake_domain *domain, int field, strake_domain_field *out)
{
    const strake_grid *const grid = of(domain);
    const strake_problem *const problem = grid->which->problem;
    if (field < 0 || field >= problem->fields) {
        return false;
    }
    const bool is_constant = grid->field[field].state == STRAKE_FIELD_CONSTANT;
    *out = (strake_domain_field){.name = problem->field[field].name,
                                 .extent = extent(domain, field),
                                 .role = problem->field[field].is_state ? STRAKE_KIND_STATE
                                         : is_constant                  ? STRAKE_KIND_CONSTANT
                                                                        : STRAKE_KIND_INPUT,
                                 .has_values = grid->field[field].state != STRAKE_FIELD_EMPTY,
                                 .is_kept = strake_case_keeps(grid->which, field),
                                 .is_shared = domain->ranks != NULL && !is_constant,
                                 .is_hashed = is_hashed(grid, field)};
    return true;
}

/* Whether what is given of a field are velocities, which the time step and h make Courant numbers of in every step anew. */
static bool takes_velocity(const strake_grid *grid, int f)
{
    return grid->domain.is_timed && grid->which->problem->field[f].is_velocity;
}

/* Whether a part of the slabs may be set alone. */
static bool may_have_holes(const strake_grid *grid, int f)
{
    const strake_validity *const field = &grid->field[f];
    return field->state != STRAKE_FIELD_EMPTY && (!field->from_shape || field->is_given);
}

/*
 * Slabs of a field without values come in order, so that one number says which are there. A velocity
 * from a shape of the case counts as none: it is weighted with h, what is set here is not.
 */
static strake_status check_order(const strake_grid *grid, int f, int64_t first, int64_t end,
                                 strake_error *error)
{
    const strake_validity *field = &grid->field[f];
    const int64_t expected = field->state == STRAKE_FIELD_EMPTY ? field->slabs : 0;
    if (may_have_holes(grid, f) || first == 0 || first == expected) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_STATE,
                       "field %s: slabs [%lld, %lld) set where slab %lld is next; the slabs of a "
                       "field without values, or with a velocity shape of the case, are set in "
                       "order from 0 to the last",
                       grid->which->problem->field[f].name, (long long)first, (long long)end,
                       (long long)expected);
}

static strake_status may_set(const strake_domain *domain, int field, int64_t first, int64_t end,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_grid *const grid = of(domain);
    const strake_problem *const problem = grid->which->problem;
    const char *const name = problem->field[field].name;
    const bool is_read = problem->uses == NULL || problem->uses(grid->which, field);
    const bool is_constant = grid->field[field].state == STRAKE_FIELD_CONSTANT;
    if (grid_is_aside(grid, field)) {
        return grid_check_aside(grid, field, first, end, error);
    }
    STRAKE_CHECK(!is_constant || is_read, error, STRAKE_ERR_STATE,
                 "field %s: no step of this case reads it; give it in the case, or say there with "
                 "an option that a model gives it, where `strake help case` has one",
                 name);
    STRAKE_CHECK(!is_constant, error, STRAKE_ERR_STATE,
                 "field %s is a constant of the case; leave it out there to set it here", name);
    STRAKE_CHECK(domain->ranks == NULL || problem->field[field].is_state, error, STRAKE_ERR_STATE,
                 "field %s: with several ranks each takes the fields that stay the same from the "
                 "case; give it there",
                 name);
    STRAKE_TRY(check_order(grid, field, first, end, error));
cleanup:
    return status;
}

static strake_status check(const strake_domain *domain, int field, int64_t first, int64_t end,
                           const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(may_set(domain, field, first, end, error));
    if (data != NULL) {
        STRAKE_TRY(strake_grid_check_finite(of(domain), field, first, end, data, error));
        STRAKE_TRY(strake_signs_check_given(of(domain), field, first, end, data, error));
    }
cleanup:
    return status;
}

/* Room for velocities, which are 0 at first. */
static strake_status make_velocity(strake_grid *grid, int f, strake_error *error)
{
    return grid->velocity[f] != NULL ? STRAKE_OK
                                     : strake_arrays_new(grid, grid->which->problem->field[f].name,
                                                         &grid->velocity[f], error);
}

static strake_status put(strake_domain *domain, int field, int64_t first, int64_t end,
                         const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    if (!takes_velocity(grid, field)) {
        strake_grid_copy_in(grid, field, first, end, data);
        return STRAKE_OK;
    }
    STRAKE_TRY(make_velocity(grid, field, error));
    strake_grid_store(grid, field, grid->velocity[field], first, end, data);
cleanup:
    return status;
}

static strake_status get(const strake_domain *domain, int field, int64_t first, int64_t end,
                         void *data, strake_error *error)
{
    const strake_grid *const grid = of(domain);
    (void)error;
    if (grid_is_aside(grid, field) && grid_given(grid, field).is_given) {
        strake_grid_load(grid, field, grid->aside[field], first, end, data);
    } else if (grid->field[field].is_given) {
        strake_grid_load(grid, field, grid->velocity[field], first, end, data);
    } else if (grid->field[field].state == STRAKE_FIELD_CONSTANT) {
        const strake_extent all = extent(domain, field);
        const int size = grid->layout.element_size;
        strake_element_fill(data, size, 0, (end - first) * (int64_t)all.bytes / size,
                            grid->number[field]);
    } else {
        strake_grid_copy_out(grid, field, first, end, data);
    }
    return STRAKE_OK;
}

static strake_status lend(strake_domain *domain, int field, strake_place *place,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *const grid = strake_grid_of(domain);
    const strake_layout *const l = &grid->layout;
    const strake_extent all = extent(domain, field);
    const int64_t stride[STRAKE_AXES] = {l->slab, l->pitch, 1};
    void *array = grid->array[0][grid->value_of[field]];
    if (takes_velocity(grid, field)) {
        STRAKE_CHECK(grid->field[field].is_given || !grid->field[field].from_shape, error,
                     STRAKE_ERR_STATE,
                     "field %s: the case gives its velocity; leave it out there, or set it once "
                     "before it is lent",
                     grid->which->problem->field[field].name);
        STRAKE_TRY(make_velocity(grid, field, error));
        array = grid->velocity[field];
    }
    *place = (strake_place){.data = (char *)array + strake_layout_at(l, 0, 0, 0) * l->element_size,
                            .dims = all.dims};
    for (int d = 0; d < all.dims; d++) {
        place->shape[d] = all.shape[d];
        place->stride[d] = stride[strake_axis_of(all.dims, d)];
    }
cleanup:
    return status;
}

static void was_set(strake_domain *domain, int field, int64_t end)
{
    strake_grid *const grid = strake_grid_of(domain);
    const bool is_whole = may_have_holes(grid, field) || end == extent(domain, field).slabs;
    const bool is_velocity = takes_velocity(grid, field);
    grid->field[field] = (strake_validity){.state = !is_whole     ? STRAKE_FIELD_EMPTY
                                                    : is_velocity ? STRAKE_FIELD_OUTDATED
                                                                  : STRAKE_FIELD_RAW,
                                           .slabs = end,
                                           .from_shape = is_velocity,
                                           .is_given = is_velocity};
    if (!grid->which->problem->field[field].is_state) {
        domain->hash = 0;
    }
}

const strake_domain_kind strake_grid_kind = {.serial = &strake_part_serial,
                                             .cpu = &strake_part_cpu,
                                             .opencl = &strake_part_opencl,
                                             .create = create,
                                             .begin = begin,
                                             .sweep = sweep,
                                             .lay_out = lay_out,
                                             .make = make,
                                             .close = close_grid,
                                             .prepare = prepare,
                                             .change = change,
                                             .steady = steady,
                                             .pass_event = pass_event,
                                             .describe = describe,
                                             .measure = grid_measure,
                                             .set_aside = grid_set_aside,
                                             .field = field_of,
                                             .check = check,
                                             .put = put,
                                             .get = get,
                                             .lend = lend,
                                             .was_set = was_set};
