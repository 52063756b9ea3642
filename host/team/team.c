/*
 * The team of threads that steps a solver: workers of the CPU stripe and one driver per device
 * (Wyrzykowski et al. 2014, figures 4 and 5). Inside a sweep of one or several steps nobody waits for
 * anybody; between two sweeps everybody waits for its neighbours' border slabs in the host arrays.
 */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid/arrays.h"
#include "group/border.h"
#include "solver/inject.h"
#include "pace/rescue.h"
#include "team/costs.h"

enum {
    OWN_SLABS = 16, /* a worker's own slabs for each one that a sweep computes twice, ... */
    OWN_BESIDE = 8, /* ... or a whole stripe's, where sweeps save exchanges with a device */
    MOST_BYTES =
        2097152 /* of a device's ghost slabs: more take longer than a start-up that is saved */
};

void strake_team_release(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        free(solver->role[r].neighbour);
        strake_bell_close(&solver->role[r].done);
        strake_bell_close(&solver->role[r].bordered);
    }
    free(solver->role);
    solver->role = NULL;
    solver->roles = 0;
    for (int e = 0; e < solver->parts; e++) {
        strake_part_unmake(&solver->part[e]);
    }
}

/* Threads of a part with slabs. */
static int count_workers(const strake_solver *solver, const strake_part *part)
{
    return part->ops->has_workers ? solver->threads : 1;
}

static int count_roles(const strake_solver *solver)
{
    int roles = 0;
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        roles += strake_part_has_slabs(part) ? count_workers(solver, part) : 0;
    }
    return roles;
}

static void assign_roles(strake_solver *solver)
{
    int next = 0;
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        const int workers = strake_part_has_slabs(part) ? count_workers(solver, part) : 0;
        for (int w = 0; w < workers; w++) {
            strake_role *role = &solver->role[next++];
            role->part = e;
            role->worker = part->ops->has_workers ? w : -1;
            role->range = part->range;
            role->columns = (strake_range){0, solver->layout.n[2]};
            if (role->worker >= 0) {
                strake_workers_share(solver, part->range, w, &role->range, &role->columns);
            }
        }
    }
}

static int64_t own_slabs(const strake_role *role)
{
    return role->range.end - role->range.first;
}

static int count_devices(const strake_solver *solver)
{
    int devices = 0;
    for (int r = 0; r < solver->roles; r++) {
        devices += solver->part[solver->role[r].part].device != NULL ? 1 : 0;
    }
    return devices;
}

/*
 * Steps per sweep: by default only several where the slabs computed twice are few beside everybody's
 * own, or, for devices whose models are known, where these say that it pays. A device without neighbours
 * has nothing to exchange: its steps are enqueued one by one, unless it streams (see strake_team_place).
 */
static int steps_at_once(strake_solver *solver)
{
    if (solver->agreed > 0) {
        return solver->agreed;
    }
    if (solver->most_at_once == 1 || solver->part[0].ops->needs_all) {
        return 1;
    }
    const bool has_devices = count_devices(solver) > 0;
    const bool given = solver->settings.steps_per_sweep > 0;
    const strake_layout *l = &solver->layout;
    const int64_t halo = l->lo[0] > l->hi[0] ? l->lo[0] : l->hi[0];
    const int64_t again = (solver->sweep - 1) * (solver->layout.lo[0] + solver->layout.hi[0]);
    const int64_t least = given ? 0 : (has_devices ? OWN_BESIDE : OWN_SLABS) * again;
    solver->model_steps = given ? 0 : strake_solver_model_steps(solver);
    if (has_devices && !given && solver->model_steps == 0 &&
        halo * l->slab * l->element_size > MOST_BYTES) {
        return 1;
    }
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        const strake_range stripe = solver->part[role->part].range;
        const int64_t own = has_devices ? stripe.end - stripe.first : own_slabs(role);
        const bool is_device = solver->part[role->part].device != NULL;
        if ((own < least && !(is_device && solver->model_steps > 0)) ||
            (is_device && own == solver->layout.n[0])) {
            solver->model_steps = 0;
            return 1;
        }
    }
    return solver->model_steps > 0 ? solver->model_steps : solver->sweep;
}

/* Steps from one output, checkpoint or end of the run to the next; 0 where the case does not say. */
static int64_t steps_between_stops(const strake_case *which)
{
    const int64_t every[] = {which->output_every, which->checkpoint_every,
                             which->diagnostics_every};
    int64_t steps = which->steps;
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        steps = every[k] > 0 && every[k] < steps ? every[k] : steps;
    }
    return steps;
}

/* Steps that a device may have before it when somebody waits for it. */
static int most_in_flight(const strake_solver *solver)
{
    return 2 * (solver->roles == 1 ? STRAKE_STEPS_AHEAD : solver->at_once);
}

/*
 * The first device that failed decides the message: without it the run may go on. Else the first of the roles
 * that failed in the earliest step.
 */
strake_status strake_team_first_failure(strake_solver *solver, strake_error *error)
{
    const strake_role *first = NULL;
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        const bool is_device = strake_part_check(&solver->part[role->part], role->status,
                                                 &role->error) == STRAKE_ERR_DEVICE;
        const bool beats = first == NULL || (is_device && first->status != STRAKE_ERR_DEVICE) ||
                           (first->status == STRAKE_ERR_NUMERIC && role->failed < first->failed);
        first = role->status != STRAKE_OK && beats ? role : first;
    }
    return first == NULL ? STRAKE_OK : strake_fail(error, first->status, "%s", first->error.text);
}

/* What the plans of all parts have in common. */
static strake_part_plan common_plan(const strake_solver *solver, const strake_range *stripe,
                                    int stripes)
{
    return (strake_part_plan){.graph = &solver->graph,
                              .layout = &solver->layout,
                              .problem = solver->which->problem,
                              .isa = solver->isa,
                              .cl = solver->list.cl,
                              .stripe = stripe,
                              .stripes = stripes,
                              .steps = solver->at_once,
                              .is_only = count_devices(solver) == 1,
                              .one_way = solver->one_way,
                              .movable = !solver->has_weights || solver->which->balance > 0,
                              .overlap = solver->overlap,
                              .horizon = steps_between_stops(solver->which),
                              .limit = solver->which->hang_seconds * most_in_flight(solver)};
}

/* Every role is set up by the thread that will run it, so that its memory is touched first there. */
static void make_role(strake_solver *solver, const strake_part_plan *common, strake_role *role)
{
    strake_part *part = &solver->part[role->part];
    const strake_case settings = strake_solver_settings(solver, part);
    strake_part_plan plan = *common;
    plan.settings = &settings;
    plan.self = role->part;
    plan.costs = strake_solver_costs(solver, part);
    role->status = part->ops->make(part, &plan, role->worker >= 0 ? role->worker : 0, &role->error);
    if (role->status == STRAKE_OK) {
        role->status = strake_inject_again(solver, role->part, &role->error);
    }
}

/* Room for what the workers of each part make. */
static strake_status begin_parts(strake_solver *solver, const strake_part_plan *common,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < solver->parts; e++) {
        strake_part *part = &solver->part[e];
        strake_part_plan plan = *common;
        plan.workers = count_workers(solver, part);
        if (strake_part_has_slabs(part) && part->ops->begin != NULL) {
            STRAKE_TRY(part->ops->begin(part, &plan, error));
        }
    }
cleanup:
    return status;
}

static strake_status create_roles(strake_solver *solver, strake_error *error)
{
    strake_range stripe[STRAKE_MAX_PLACEMENTS + 2];
    for (int e = 0; e < solver->parts; e++) {
        stripe[e] = solver->part[e].range;
    }
    const int stripes = solver->parts + strake_border_stripes(solver, stripe + solver->parts);
    const strake_part_plan common = common_plan(solver, stripe, stripes);
    const strake_status status = begin_parts(solver, &common, error);
    if (status != STRAKE_OK) {
        return status;
    }
#pragma omp parallel num_threads(solver->roles)
    {
        for (int r = omp_get_thread_num(); r < solver->roles; r += omp_get_num_threads()) {
            strake_binding before;
            strake_workers_enter(solver, solver->role[r].worker, &before);
            make_role(solver, &common, &solver->role[r]);
            strake_topology_unbind(&before);
        }
    }
    return strake_team_first_failure(solver, error);
}

/*
 * Makes what the roles work with. A device with little memory may have room for the blocks of single
 * steps only; nobody asked for more.
 */
static strake_status make_roles(strake_solver *solver, strake_error *error)
{
    const strake_status status = create_roles(solver, error);
    const bool may_shorten = solver->at_once > 1 && solver->agreed == 0 &&
                             solver->settings.steps_per_sweep == 0 && count_devices(solver) > 0;
    if (!may_shorten || (status != STRAKE_ERR_USAGE && status != STRAKE_ERR_MEMORY)) {
        return status;
    }
    for (int e = 0; e < solver->parts; e++) {
        strake_part_unmake(&solver->part[e]);
    }
    solver->at_once = 1;
    solver->model_steps = 0;
    return create_roles(solver, error);
}

static strake_status open_bells(strake_role *role, strake_error *error)
{
    const bool first = strake_bell_open(&role->done);
    if (!first || !strake_bell_open(&role->bordered)) {
        if (first) {
            strake_bell_close(&role->done);
        }
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the team");
    }
    return STRAKE_OK;
}

strake_status strake_team_place(strake_solver *solver, const double *weight, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range range[STRAKE_MAX_PLACEMENTS];
    const strake_part *first = NULL;
    STRAKE_TRY(strake_team_gather(solver, error));
    strake_team_release(solver);
    strake_partition(solver->own.end - solver->own.first, solver->parts, weight, range);
    for (int e = 0; e < solver->parts; e++) {
        solver->part[e].range.first = solver->own.first + range[e].first;
        solver->part[e].range.end = solver->own.first + range[e].end;
    }
    solver->threads = strake_workers_of_stripe(solver);
    strake_arrays_settle(solver);
    solver->role = calloc((size_t)count_roles(solver) + 1, sizeof *solver->role);
    STRAKE_CHECK(solver->role != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the team");
    for (; solver->roles < count_roles(solver); solver->roles++) {
        STRAKE_TRY(open_bells(&solver->role[solver->roles], error));
    }
    assign_roles(solver);
    solver->is_crowded = strake_workers_are_crowded(solver, 0);
    solver->at_once = steps_at_once(solver);
    STRAKE_TRY(make_roles(solver, error));
    first = &solver->part[solver->role[0].part];
    if (solver->ranks == NULL && solver->roles == 1 && first->ops->steps != NULL) {
        /* A lone stripe that streams through its device takes as many steps as pay. */
        solver->at_once = first->ops->steps(first);
    }
    STRAKE_TRY(strake_neighbours_find(solver, error));
    solver->prepared = false; /* static inputs must reach the new stripes */
    solver->states_fresh = true;
cleanup:
    if (status != STRAKE_OK) {
        strake_team_release(solver);
    }
    return status;
}

strake_status strake_team_share(strake_solver *solver, strake_error *error)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        free(role->neighbour);
        role->neighbour = NULL;
        role->neighbours = 0;
    }
    assign_roles(solver);
    return strake_neighbours_find(solver, error);
}

strake_status strake_team_upload(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < solver->parts; e++) {
        strake_part *part = &solver->part[e];
        if (!solver->prepared) {
            status = strake_part_load_inputs(part, solver->array[0], error);
        }
        if (status == STRAKE_OK && solver->states_fresh) {
            status = strake_part_load_states(part, solver->array[solver->parity], error);
        }
        STRAKE_TRY(strake_part_check(part, status, error));
    }
    solver->prepared = true;
    solver->states_fresh = false;
cleanup:
    return status;
}

strake_status strake_team_gather(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < solver->parts && solver->devices_hold; e++) {
        strake_part *part = &solver->part[e];
        if (part->body != NULL) {
            status = strake_inject(solver, e, solver->step_count, true, error);
        }
        if (status == STRAKE_OK) {
            status = strake_part_store(part, solver->array[solver->parity], error);
        }
        STRAKE_TRY(strake_part_check(part, status, error));
    }
    solver->devices_hold = false;
cleanup:
    return status;
}
