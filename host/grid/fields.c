/* A grid as a kind of domain: its fields for those who open, read and write them. */
#include <math.h>
#include <stdlib.h>

#include "base/element.h"
#include "case/source.h"
#include "cpu/pipeline.h"
#include "grid/active.h"
#include "grid/ahead.h"
#include "grid/arrays.h"
#include "grid/changes.h"
#include "grid/inputs.h"
#include "grid/keep.h"
#include "grid/measure.h"
#include "grid/memory.h"
#include "grid/parts.h"
#include "grid/signs.h"
#include "tuned/record.h"

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

static strake_status begin(strake_domain *domain, strake_error *error)
{
    const strake_case *const which = of(domain)->which;
    domain->steady = strake_changes_least(which);
    domain->is_timed = which->courant > 0.0;
    return strake_grid_begin(strake_grid_of(domain), which, error);
}

static void look(strake_domain *domain)
{
    strake_memory_look(strake_grid_of(domain));
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
    strake_grid_drop_aside(grid);
    for (int f = 0; f < STRAKE_MAX_FIELDS; f++) {
        strake_arrays_free(grid, &grid->velocity[f]);
    }
    strake_arrays_release(grid);
    strake_grid_close_activity(grid);
    free(grid);
}

static uint64_t variant(const strake_domain *domain)
{
    return strake_tuned_table(&of(domain)->graph);
}

/* --- stepping ------------------------------------------------------------------------------------- */

static bool needs_preparing(const strake_domain *domain)
{
    return strake_grid_any(of(domain), false, STRAKE_FIELD_OUTDATED, STRAKE_FIELD_RAW);
}

static strake_status prepare(strake_domain *domain, strake_error *error)
{
    return strake_inputs_prepare(strake_grid_of(domain), error);
}

static strake_status change(strake_domain *domain, strake_error *error)
{
    strake_grid *const grid = strake_grid_of(domain);
    const strake_status status = strake_changes_pass(grid, error);
    if (status == STRAKE_OK && domain->steady > 0) {
        strake_ahead_ask(grid);
    }
    return status;
}

static int64_t steady(const strake_domain *domain, int64_t most)
{
    return strake_changes_steady(of(domain), most);
}

/* Whether something is poured into an input, rather than given. */
static bool pours(const strake_case *which)
{
    return which->problem->pour != NULL && which->problem->pour(which, 0.0, NULL, NULL) > 0;
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

static void lose(strake_domain *domain)
{
    strake_grid *const grid = strake_grid_of(domain);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (grid->which->problem->field[f].is_state && strake_case_has(grid->which, f)) {
            grid->field[f] = (strake_validity){.state = STRAKE_FIELD_EMPTY};
        }
    }
}

static bool is_intact(const strake_domain *domain)
{
    return strake_grid_is_intact(of(domain));
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

static const char *name_of(const strake_domain *domain, int field)
{
    const strake_problem *const problem = of(domain)->which->problem;
    return field >= 0 && field < problem->fields ? problem->field[field].name : NULL;
}

static int kept(const strake_domain *domain, int k)
{
    const strake_case *const which = of(domain)->which;
    for (int f = 0; f < which->problem->fields; f++) {
        if (strake_case_keeps(which, f) && k-- == 0) {
            return f;
        }
    }
    return -1;
}

static size_t element_size(const strake_domain *domain)
{
    return (size_t)of(domain)->layout.element_size;
}

static strake_extent extent(const strake_domain *domain, int field)
{
    const strake_grid *const grid = of(domain);
    int64_t full[STRAKE_AXES];
    strake_case_field_shape(grid->which, field, full);
    strake_extent out = {.dims = grid->which->problem->dims,
                         .shape = {1, 1, 1},
                         .slabs = full[0],
                         .bytes = (size_t)(full[1] * full[2]) * element_size(domain)};
    for (int d = 0; d < out.dims; d++) {
        out.shape[d] = full[strake_axis_of(out.dims, d)];
    }
    return out;
}

static strake_kind role(const strake_domain *domain, int field)
{
    const strake_grid *const grid = of(domain);
    return grid->which->problem->field[field].is_state         ? STRAKE_KIND_STATE
           : grid->field[field].state == STRAKE_FIELD_CONSTANT ? STRAKE_KIND_CONSTANT
                                                               : STRAKE_KIND_INPUT;
}

static bool has_values(const strake_domain *domain, int field)
{
    return of(domain)->field[field].state != STRAKE_FIELD_EMPTY;
}

static bool is_set(const strake_domain *domain)
{
    return strake_grid_any(of(domain), true, STRAKE_FIELD_RAW, STRAKE_FIELD_RAW);
}

static bool is_shared(const strake_domain *domain, int field)
{
    return domain->ranks != NULL && of(domain)->field[field].state != STRAKE_FIELD_CONSTANT;
}

static uint64_t hash(const strake_domain *domain)
{
    return strake_graph_hash(&of(domain)->graph);
}

/*
 * What is poured changes with time, as other inputs may, and velocities with a time step that follows from them; what
 * they come from is in the case's own hash.
 */
static bool is_hashed(const strake_domain *domain, int field)
{
    const strake_grid *const grid = of(domain);
    const strake_field *const f = &grid->which->problem->field[field];
    return !f->is_state && !(f->is_poured && pours(grid->which)) &&
           !strake_inputs_move(grid, field) && grid->field[field].state != STRAKE_FIELD_CONSTANT;
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
    const char *const name = name_of(domain, field);
    const strake_problem *const problem = grid->which->problem;
    const bool is_read = problem->uses == NULL || problem->uses(grid->which, field);
    const bool is_constant = grid->field[field].state == STRAKE_FIELD_CONSTANT;
    if (strake_grid_is_aside(grid, field)) {
        return strake_grid_check_aside(grid, field, first, end, error);
    }
    STRAKE_CHECK(!is_constant || is_read, error, STRAKE_ERR_STATE,
                 "field %s: no step of this case reads it; give it in the case, or say there with "
                 "an option that a model gives it, where `strake help case` has one",
                 name);
    STRAKE_CHECK(!is_constant, error, STRAKE_ERR_STATE,
                 "field %s is a constant of the case; leave it out there to set it here", name);
    STRAKE_CHECK(!is_shared(domain, field) || problem->field[field].is_state, error,
                 STRAKE_ERR_STATE,
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
    const strake_status status =
        strake_grid_check_finite(of(domain), field, first, end, data, error);
    return status == STRAKE_OK
               ? strake_signs_check_given(of(domain), field, first, end, data, error)
               : status;
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
    if (strake_grid_is_aside(grid, field) && strake_grid_given(grid, field).is_given) {
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
                     name_of(domain, field));
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
                                             .look = look,
                                             .sweep = sweep,
                                             .lay_out = lay_out,
                                             .make = make,
                                             .close = close_grid,
                                             .variant = variant,
                                             .needs_preparing = needs_preparing,
                                             .prepare = prepare,
                                             .change = change,
                                             .steady = steady,
                                             .pass_event = pass_event,
                                             .lose = lose,
                                             .is_intact = is_intact,
                                             .describe = describe,
                                             .measure = strake_grid_measure,
                                             .set_aside = strake_grid_set_aside,
                                             .name = name_of,
                                             .kept = kept,
                                             .element_size = element_size,
                                             .extent = extent,
                                             .role = role,
                                             .has_values = has_values,
                                             .is_set = is_set,
                                             .is_shared = is_shared,
                                             .hash = hash,
                                             .is_hashed = is_hashed,
                                             .may_set = may_set,
                                             .check = check,
                                             .put = put,
                                             .get = get,
                                             .lend = lend,
                                             .was_set = was_set};
