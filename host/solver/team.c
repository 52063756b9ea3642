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

#include "solver/arrays.h"
#include "solver/border.h"
#include "solver/inject.h"
#include "solver/rescue.h"
#include "solver/model.h"
#include "tuned/kernels.h"

enum {
    STEPS_AHEAD = 64, /* steps enqueued on a lone device, and steps between its checks for NaN */
    OWN_SLABS = 16,   /* a worker's own slabs for each one that a sweep computes twice, ... */
    OWN_BESIDE = 8,   /* ... or a whole stripe's, where sweeps save exchanges with a device */
    MOST_BYTES =
        2097152 /* of a device's ghost slabs: more take longer than a start-up that is saved */
};

void strake_team_release(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_pipeline_destroy(&solver->role[r].pipeline);
        free(solver->role[r].neighbour);
        strake_bell_close(&solver->role[r].done);
        strake_bell_close(&solver->role[r].bordered);
    }
    free(solver->role);
    solver->role = NULL;
    solver->roles = 0;
    for (int e = 0; e < solver->entries; e++) {
        strake_cl_stripe_destroy(&solver->entry[e].stripe);
    }
    strake_reference_destroy(&solver->reference);
}

static int count_roles(const strake_solver *solver)
{
    int roles = 0;
    for (int e = 0; e < solver->entries; e++) {
        const strake_entry *entry = &solver->entry[e];
        if (entry->range.first < entry->range.end) {
            roles += entry->place == STRAKE_PLACE_CPU ? solver->threads : 1;
        }
    }
    return roles;
}

static void assign_roles(strake_solver *solver)
{
    int next = 0;
    for (int e = 0; e < solver->entries; e++) {
        const strake_entry *entry = &solver->entry[e];
        const int64_t slabs = entry->range.end - entry->range.first;
        const int workers = entry->place == STRAKE_PLACE_CPU ? solver->threads : 1;
        for (int w = 0; w < workers && slabs > 0; w++) {
            strake_role *role = &solver->role[next++];
            role->entry = e;
            role->worker = entry->place == STRAKE_PLACE_CPU ? w : -1;
            role->range = entry->range;
            role->columns = (strake_range){0, solver->layout.n[2]};
            if (role->worker >= 0) {
                strake_workers_share(solver, entry->range, w, &role->range, &role->columns);
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
        devices += solver->entry[solver->role[r].entry].place == STRAKE_PLACE_OPENCL ? 1 : 0;
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
    if (solver->most_at_once == 1) {
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
        const strake_range stripe = solver->entry[role->entry].range;
        const int64_t own = has_devices ? stripe.end - stripe.first : own_slabs(role);
        const bool is_device = solver->entry[role->entry].place == STRAKE_PLACE_OPENCL;
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
    return 2 * (solver->roles == 1 ? STEPS_AHEAD : solver->at_once);
}

/* Every role is set up by the thread that will run it, so that its memory is touched first there. */
static void create_role(strake_solver *solver, strake_role *role)
{
    strake_entry *entry = &solver->entry[role->entry];
    const strake_case settings = strake_solver_settings(solver, entry);
    const strake_case *which = &settings;
    if (entry->place == STRAKE_PLACE_CPU) {
        role->status = strake_pipeline_create(&solver->graph, &solver->layout, solver->isa,
                                              which->block_columns, &role->pipeline, &role->error);
    } else if (entry->place == STRAKE_PLACE_OPENCL) {
        strake_cl_stripe_options options = strake_tuned_kernels(which);
        options.pins = count_devices(solver) == 1;
        options.one_way = solver->one_way;
        options.movable = !solver->has_weights || which->balance > 0;
        options.overlap =
            which->overlap == 0 ? (strake_cl_overlap)solver->overlap : options.overlap;
        options.horizon = steps_between_stops(which);
        options.known = strake_tuned_known(
            &entry->tuned,
            (const int64_t[]){own_slabs(role), solver->layout.n[1], solver->layout.n[2]},
            options.pins);
        options.limit = which->hang_seconds * most_in_flight(solver);
        options.costs = strake_solver_costs(solver, entry);
        strake_range range[STRAKE_MAX_PLACEMENTS + 2];
        for (int e = 0; e < solver->entries; e++) {
            range[e] = solver->entry[e].range;
        }
        const int stripes =
            solver->entries + strake_border_stripes(solver, range + solver->entries);
        role->status = strake_cl_stripe_create(
            solver->list.cl, &solver->list.device[entry->device], &solver->graph,
            solver->which->problem, &solver->layout, range, stripes, role->entry, solver->at_once,
            &options, &entry->stripe, &role->error);
        if (role->status == STRAKE_OK) {
            role->status = strake_inject_again(solver, role->entry, &role->error);
        }
    }
}

static void create_roles(strake_solver *solver)
{
#pragma omp parallel num_threads(solver->roles)
    {
        for (int r = omp_get_thread_num(); r < solver->roles; r += omp_get_num_threads()) {
            strake_binding before;
            strake_workers_enter(solver, solver->role[r].worker, &before);
            create_role(solver, &solver->role[r]);
            strake_topology_unbind(&before);
        }
    }
}

/*
 * The first device that failed decides the message: without it the run may go on. Else the first of the roles
 * that failed in the earliest step.
 */
static strake_status first_failure(strake_solver *solver, strake_error *error)
{
    const strake_role *first = NULL;
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        const bool is_device = strake_entry_check(&solver->entry[role->entry], role->status,
                                                  &role->error) == STRAKE_ERR_DEVICE;
        const bool beats = first == NULL || (is_device && first->status != STRAKE_ERR_DEVICE) ||
                           (first->status == STRAKE_ERR_NUMERIC && role->failed < first->failed);
        first = role->status != STRAKE_OK && beats ? role : first;
    }
    return first == NULL ? STRAKE_OK : strake_fail(error, first->status, "%s", first->error.text);
}

/*
 * Makes what the roles work with. A device with little memory may have room for the blocks of single
 * steps only; nobody asked for more.
 */
static strake_status make_roles(strake_solver *solver, strake_error *error)
{
    create_roles(solver);
    const strake_status status = first_failure(solver, error);
    const bool may_shorten = solver->at_once > 1 && solver->agreed == 0 &&
                             solver->settings.steps_per_sweep == 0 && count_devices(solver) > 0;
    if (!may_shorten || (status != STRAKE_ERR_USAGE && status != STRAKE_ERR_MEMORY)) {
        return status;
    }
    for (int r = 0; r < solver->roles; r++) {
        strake_pipeline_destroy(&solver->role[r].pipeline);
        strake_cl_stripe_destroy(&solver->entry[solver->role[r].entry].stripe);
    }
    solver->at_once = 1;
    solver->model_steps = 0;
    create_roles(solver);
    return first_failure(solver, error);
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
    STRAKE_TRY(strake_team_gather(solver, error));
    strake_team_release(solver);
    strake_partition(solver->own.end - solver->own.first, solver->entries, weight, range);
    for (int e = 0; e < solver->entries; e++) {
        solver->entry[e].range.first = solver->own.first + range[e].first;
        solver->entry[e].range.end = solver->own.first + range[e].end;
    }
    solver->threads = strake_workers_of_stripe(solver);
    if (solver->entry[0].place == STRAKE_PLACE_SERIAL) {
        STRAKE_TRY(
            strake_reference_create(&solver->graph, &solver->layout, &solver->reference, error));
        goto cleanup;
    }
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
    if (solver->ranks == NULL && solver->roles == 1 &&
        solver->entry[solver->role[0].entry].stripe != NULL) {
        /* A lone stripe that streams through its device takes as many steps as pay. */
        solver->at_once = strake_cl_stripe_steps(solver->entry[solver->role[0].entry].stripe);
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
    for (int e = 0; e < solver->entries; e++) {
        strake_cl_stripe *stripe = solver->entry[e].stripe;
        if (stripe == NULL) {
            continue;
        }
        if (!solver->prepared) {
            status = strake_cl_stripe_upload_static(stripe, solver->array[0], error);
        }
        if (status == STRAKE_OK && solver->states_fresh) {
            status = strake_cl_stripe_upload_state(stripe, solver->array[solver->parity], error);
        }
        STRAKE_TRY(strake_entry_check(&solver->entry[e], status, error));
    }
    solver->prepared = true;
    solver->states_fresh = false;
cleanup:
    return status;
}

strake_status strake_team_gather(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < solver->entries && solver->devices_hold; e++) {
        strake_entry *entry = &solver->entry[e];
        if (entry->stripe == NULL) {
            continue;
        }
        status = strake_inject(solver, e, solver->step_count, true, error);
        if (status == STRAKE_OK) {
            status = strake_cl_stripe_download(entry->stripe, solver->array[solver->parity], error);
        }
        STRAKE_TRY(strake_entry_check(entry, status, error));
    }
    solver->devices_hold = false;
cleanup:
    return status;
}

/* What a role shares with the rest of the team during one run. */
typedef struct team_run {
    strake_solver *solver;
    int64_t steps;
    bool trial;
    bool is_last;  /* nothing follows that would find a NaN */
    int64_t sweep; /* steps at once, as long as there are that many left */
    bool has_devices;
    bool alone; /* one device, no neighbours: steps may be enqueued ahead */
    /* First step of the sweep in which some role failed; INT64_MAX: none. The states are undefined then. */
    _Atomic int64_t stop;
    /* Step at which everybody leaves, because shares of the work no longer fit; INT64_MAX: none. */
    _Atomic int64_t halt;
    strake_status ranks; /* of the exchange with other ranks */
    strake_error ranks_error;
} team_run;

static int parity_at(const team_run *run, int64_t step)
{
    return run->trial ? run->solver->parity : (int)((run->solver->parity + step / run->sweep) & 1);
}

/* How far slabs have wandered after so many steps of this run. */
static int64_t shift_at(const team_run *run, int64_t steps)
{
    const int64_t sweeps = steps / run->sweep;
    const int64_t last = steps % run->sweep;
    return (run->solver->shift + sweeps * strake_border_shift(run->solver, run->sweep) +
            (last > 0 ? strake_border_shift(run->solver, last) : 0)) %
           run->solver->layout.n[0];
}

/*
 * Names the field and the first cell of a role's slabs that is NaN or Inf, in the host arrays. It may
 * have appeared in one of the `unseen` steps before: nobody looks at devices after every step, nor at
 * the steps inside a sweep.
 */
static void fail_non_finite(const team_run *run, strake_role *role, int64_t step, int64_t unseen)
{
    char when[96] = "";
    char line[32] = "";
    const strake_solver *solver = run->solver;
    const int parity = 1 - parity_at(run, step); /* of the states after the step's sweep */
    int64_t cell[STRAKE_AXES] = {role->range.first, 0, 0};
    const char *name = "a state";
    for (int v = 0; v < solver->graph.values; v++) {
        if (solver->graph.value[v].next >= 0 &&
            !strake_layout_part_is_finite(&solver->layout, solver->array[parity][v],
                                          role->range.first, role->range.end, role->columns.first,
                                          role->columns.end, cell)) {
            name = solver->graph.value[v].name;
            break;
        }
    }
    if (unseen > 0) {
        (void)snprintf(when, sizeof when, " (or up to %lld earlier: not every step is checked)",
                       (long long)unseen);
    }
    cell[0] = (cell[0] + shift_at(run, step + 1)) % solver->layout.n[0];
    if (solver->which->problem->dims == 3) {
        (void)snprintf(line, sizeof line, "%lld, ", (long long)cell[1]);
    }
    role->status = strake_fail(&role->error, STRAKE_ERR_NUMERIC,
                               "%s is NaN or Inf at [%lld, %s%lld] after step %lld%s; the run "
                               "stops (look at the size of the initial values and of the flow)",
                               name, (long long)cell[0], line, (long long)cell[2],
                               (long long)solver->step_count + step + 1, when);
    role->failed = step;
}

/*
 * Steps of a sweep after which a worker's slabs held NaN or Inf first. All that it reads is still as it was: its
 * neighbours wait for it. Beside devices and other ranks they may wait for its borders only.
 */
static int64_t find_failure(const team_run *run, strake_role *role, int64_t step, int64_t steps)
{
    int64_t done = 1;
    while (strake_border_compute(run->solver, role, parity_at(run, step), (int)done) &&
           done < steps) {
        done++;
    }
    return done;
}

static void fail_sweep(const team_run *run, strake_role *role, int64_t step, int64_t steps)
{
    const bool is_exact = !run->has_devices && run->solver->border == NULL;
    const int64_t done = is_exact ? find_failure(run, role, step, steps) : steps;
    fail_non_finite(run, role, step + done - 1, is_exact ? 0 : done - 1);
}

/*
 * Every STEPS_AHEAD steps a device looks for NaN and Inf; the answer is asked for that many steps later,
 * so that it never runs dry, and no more than two such pieces are ever enqueued.
 */
static void look_after(const team_run *run, strake_role *role, int64_t step, int64_t end)
{
    strake_solver *solver = run->solver;
    strake_cl_stripe *stripe = solver->entry[role->entry].stripe;
    const bool is_last = end == run->steps && run->is_last;
    const int64_t before = solver->step_count;
    bool finite = true;
    if (!is_last && (before + end) / STEPS_AHEAD == (before + step) / STEPS_AHEAD) {
        return;
    }
    role->status = strake_cl_stripe_is_finite(stripe, &finite, &role->error);
    if (role->status == STRAKE_OK && finite) {
        role->status = strake_cl_stripe_look(stripe, &role->error);
    }
    if (role->status == STRAKE_OK && finite && is_last) {
        role->status = strake_cl_stripe_is_finite(stripe, &finite, &role->error);
    }
    if (role->status == STRAKE_OK && !finite) {
        const int64_t unseen = (before + end - 1) % STEPS_AHEAD + STEPS_AHEAD;
        const int64_t most = before + end - 1 - solver->checked;
        role->status = strake_cl_stripe_download(stripe, solver->array[1 - parity_at(run, step)],
                                                 &role->error);
        fail_non_finite(run, role, end - 1, unseen < most ? unseen : most);
    }
}

/* The part of a sweep that depends on nobody, up to the border slabs in the host arrays. */
static void compute(const team_run *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_solver *solver = run->solver;
    strake_cl_stripe *stripe = solver->entry[role->entry].stripe;
    const int parity = parity_at(run, step);
    const double start = strake_solver_clock();
    strake_recorder_begin(solver, role, step);
    if (role->pipeline != NULL) {
        if (!strake_border_compute(solver, role, parity, (int)steps) && !run->trial) {
            fail_sweep(run, role, step, steps);
        }
        if (!run->trial && solver->injections > 0) {
            strake_inject_delay(solver, role, solver->step_count + step + steps,
                                strake_solver_clock() - start);
        }
        role->compute += strake_solver_clock() - start;
        return;
    }
    if (!run->trial) {
        role->status = strake_inject(solver, role->entry, solver->step_count + step + steps, false,
                                     &role->error);
    }
    if (role->status == STRAKE_OK) {
        role->status = strake_cl_stripe_sweep(stripe, (int)steps, solver->array[parity],
                                              solver->next[parity], &role->error);
    }
    if (role->status == STRAKE_OK && run->trial && !run->alone) {
        role->status = strake_cl_stripe_finish(stripe, &role->error);
    }
    if (role->status == STRAKE_OK && !run->trial) {
        look_after(run, role, step, step + steps);
    }
    if (role->status == STRAKE_OK && !run->alone) {
        role->status = strake_cl_stripe_publish(stripe, &role->error);
    }
    role->compute += strake_solver_clock() - start;
}

/* Ghost slabs from the neighbours, whose sweep is done. */
static void exchange(const team_run *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_cl_stripe *stripe = run->solver->entry[role->entry].stripe;
    const double start = strake_solver_clock();
    if (stripe == NULL || role->status != STRAKE_OK) {
        return;
    }
    if (!run->alone) {
        role->status = strake_cl_stripe_fetch(stripe, run->solver->array[1 - parity_at(run, step)],
                                              &role->error);
    }
    if (run->trial && !run->alone) {
        role->status = strake_cl_stripe_finish(stripe, &role->error);
    }
    if (run->trial && role->status == STRAKE_OK) {
        role->status = strake_cl_stripe_undo(stripe, (int)steps, &role->error);
    }
    role->exchange += strake_solver_clock() - start;
}

static void stop_at(team_run *run, int64_t step)
{
    int64_t earliest = atomic_load(&run->stop);
    while (step < earliest && !atomic_compare_exchange_weak(&run->stop, &earliest, step)) {
    }
    strake_neighbours_wake(run->solver);
}

/* Steps of the sweep that begins at a step. */
static int64_t steps_from(const team_run *run, int64_t step)
{
    const int64_t left = run->steps - step;
    return left < run->sweep ? left : run->sweep;
}

/*
 * Sweeps that suddenly take longer than the shares were made for end the run, so that it need not end
 * every few steps only to look. Nobody is further ahead than there are roles between it and the one that
 * watches: no one has passed the step at which all leave.
 */
static void watch(team_run *run, double *since, int64_t step)
{
    const strake_solver *solver = run->solver;
    const int64_t steps = STRAKE_LOOKS_WATCHED * run->sweep;
    if (run->trial || solver->span < 0 || !(solver->pace > 0.0) || step % steps != 0) {
        return;
    }
    const double now = strake_solver_clock();
    if (step > 0 && now - *since > strake_looks_drift * solver->pace * (double)steps &&
        atomic_load(&run->halt) == INT64_MAX) {
        atomic_store(&run->halt, step + (solver->span + 2) * run->sweep);
    }
    *since = now;
}

/* The sweeps of one thread; with fewer threads than roles each plays several. */
static void run_thread(team_run *run, int thread, int threads)
{
    strake_solver *solver = run->solver;
    double since = 0.0;
    for (int64_t step = 0; step < run->steps; step += run->sweep) {
        const int64_t steps = steps_from(run, step);
        if (thread == 0) {
            watch(run, &since, step);
        }
        if (step >= atomic_load(&run->halt)) {
            return;
        }
        for (int r = thread; r < solver->roles; r += threads) {
            strake_role *role = &solver->role[r];
            compute(run, role, step, steps);
            if (role->status != STRAKE_OK) {
                stop_at(run, step);
            }
            strake_neighbours_done(role, step + steps);
        }
        for (int r = thread; r < solver->roles; r += threads) {
            strake_role *role = &solver->role[r];
            const double reached = strake_solver_clock();
            if (!strake_neighbours_wait(solver, role, step + steps, &run->stop)) {
                return;
            }
            role->idle += strake_solver_clock() - reached;
            exchange(run, role, step, steps);
            if (role->status != STRAKE_OK) {
                stop_at(run, step);
                return;
            }
        }
    }
}

/* Trial steps write the same slabs over and over: all exchanges end before the next one begins. */
static void run_trials(team_run *run, int64_t trials, int thread, int threads)
{
    for (int64_t trial = 0; trial < trials; trial++) {
#pragma omp single
        strake_neighbours_start(run->solver);
        run_thread(run, thread, threads);
#pragma omp barrier
        if (atomic_load(&run->stop) != INT64_MAX) {
            return;
        }
    }
}

static strake_status run_reference(const team_run *run, strake_error *error)
{
    strake_solver *solver = run->solver;
    const strake_range all = {0, solver->layout.n[0]};
    for (int64_t step = 0; step < run->steps; step++) {
        const int parity = parity_at(run, step);
        strake_reference_run(solver->reference, solver->array[parity], solver->next[parity]);
        for (int v = 0; v < solver->graph.values; v++) {
            int64_t cell[STRAKE_AXES];
            if (solver->graph.value[v].next >= 0 &&
                !strake_layout_is_finite(&solver->layout, solver->array[1 - parity][v], all.first,
                                         all.end, cell)) {
                strake_role role = {.range = all, .columns = {0, solver->layout.n[2]}};
                fail_non_finite(run, &role, step, 0);
                return strake_fail(error, role.status, "%s", role.error.text);
            }
        }
    }
    solver->parity = parity_at(run, run->steps);
    return STRAKE_OK;
}

static void start_team(team_run *run, int64_t trials)
{
    strake_solver *solver = run->solver;
    atomic_store(&run->stop, INT64_MAX);
    atomic_store(&run->halt, INT64_MAX);
    for (int r = 0; r < solver->roles; r++) {
        solver->role[r].status = STRAKE_OK;
        solver->role[r].failed = 0;
    }
    strake_neighbours_start(solver);
    if (!run->trial) {
        run->ranks =
            strake_border_start(solver, run->steps, run->sweep, &run->stop, &run->ranks_error);
    }
    if (run->ranks != STRAKE_OK) {
        return;
    }
#pragma omp parallel num_threads(solver->roles)
    {
        const int thread = omp_get_thread_num();
        const int threads = omp_get_num_threads();
        strake_binding before = {.is_bound = false};
        if (threads == solver->roles) {
            strake_workers_enter(solver, solver->role[thread].worker, &before);
        }
        if (trials > 0) {
            run_trials(run, trials, thread, threads);
        } else {
            run_thread(run, thread, threads);
        }
        strake_topology_unbind(&before);
    }
    run->ranks = strake_border_join(solver, &run->ranks_error);
}

/* Trials of a lone device are enqueued one after the other, as its steps are. */
static void finish_lone(const team_run *run)
{
    strake_role *role = &run->solver->role[0];
    if (run->alone && role->pipeline == NULL && role->status == STRAKE_OK) {
        role->status =
            strake_cl_stripe_finish(run->solver->entry[role->entry].stripe, &role->error);
    }
}

static void forget_times(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        role->compute = 0.0;
        role->exchange = 0.0;
        role->idle = 0.0;
    }
}

static strake_status run_team(strake_solver *solver, bool trial, bool is_last, int64_t *done,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t steps = *done;
    team_run run = {
        .solver = solver, .steps = steps, .trial = trial, .is_last = is_last, .sweep = 1};
    if (solver->reference != NULL) {
        return run_reference(&run, error);
    }
    forget_times(solver);
    run.sweep = solver->at_once;
    for (int r = 0; r < solver->roles; r++) {
        run.has_devices = run.has_devices || solver->role[r].pipeline == NULL;
    }
    run.alone = solver->roles == 1 &&
                (solver->role[0].pipeline != NULL ||
                 strake_cl_stripe_is_alone(solver->entry[solver->role[0].entry].stripe));
    if (trial && (run.sweep == 1 || run.has_devices)) {
        run.steps = run.sweep; /* the same sweep over and over */
        start_team(&run, (steps + run.sweep - 1) / run.sweep);
        finish_lone(&run);
        solver->states_fresh = solver->states_fresh || run.sweep > 1; /* the devices' are gone */
    } else {
        start_team(&run, 0);
    }
    status = first_failure(solver, error);
    if (status == STRAKE_OK && run.ranks != STRAKE_OK) {
        status = strake_fail(error, run.ranks, "%s", run.ranks_error.text);
    }
    STRAKE_TRY(status);
    if (!trial) {
        *done = atomic_load(&run.halt) < steps ? atomic_load(&run.halt) : steps;
        solver->parity = parity_at(&run, (*done + run.sweep - 1) / run.sweep * run.sweep);
        solver->shift = shift_at(&run, *done);
    }
cleanup:
    return status;
}

strake_status strake_team_try(strake_solver *solver, int64_t steps, strake_error *error)
{
    int64_t done = steps;
    return run_team(solver, true, true, &done, error);
}

strake_status strake_team_run(strake_solver *solver, bool is_last, int64_t *steps,
                              strake_error *error)
{
    return run_team(solver, false, is_last, steps, error);
}
