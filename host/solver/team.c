/*
 * The team of threads that steps a solver: workers of the CPU stripe and one driver per device
 * (Wyrzykowski et al. 2014, figures 4 and 5). Inside a step nobody waits for anybody; between two
 * steps there is one barrier, after the border slabs have gone to the host arrays.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "solver/solver_impl.h"

enum {
    STEPS_AHEAD = 64
}; /* steps enqueued on a lone device, and steps between its checks for NaN */

void strake_team_release(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_pipeline_destroy(&solver->role[r].pipeline);
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
            role->range.first = entry->range.first + slabs * w / workers;
            role->range.end = entry->range.first + slabs * (w + 1) / workers;
        }
    }
}

/* Every role is set up by the thread that will run it, so that its memory is touched first there. */
static void create_role(strake_solver *solver, strake_role *role)
{
    strake_entry *entry = &solver->entry[role->entry];
    if (entry->place == STRAKE_PLACE_CPU) {
        role->status = strake_pipeline_create(&solver->graph, &solver->layout, solver->isa, 0,
                                              &role->pipeline, &role->error);
    } else if (entry->place == STRAKE_PLACE_OPENCL) {
        const strake_case *which = solver->which;
        const strake_cl_tuning tuning = {.options = {.fusion = (strake_cl_fusion)which->fusion,
                                                     .hold = which->hold,
                                                     .unroll = which->unroll,
                                                     .prefetch = which->prefetch,
                                                     .keep = which->keep},
                                         .width = which->group_width,
                                         .height = which->group_height,
                                         .rows = which->group_rows,
                                         .registers = which->registers};
        strake_range range[STRAKE_MAX_PLACEMENTS];
        for (int e = 0; e < solver->entries; e++) {
            range[e] = solver->entry[e].range;
        }
        role->status = strake_cl_stripe_create(solver->list.cl, &solver->list.device[entry->device],
                                               &solver->graph, solver->which->problem,
                                               &solver->layout, range, solver->entries, role->entry,
                                               &tuning, &entry->stripe, &role->error);
    }
}

static void create_roles(strake_solver *solver)
{
#pragma omp parallel num_threads(solver->roles)
    {
        for (int r = omp_get_thread_num(); r < solver->roles; r += omp_get_num_threads()) {
            create_role(solver, &solver->role[r]);
        }
    }
}

/* The first role that failed decides the message. */
static strake_status first_failure(const strake_solver *solver, strake_error *error)
{
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        if (role->status != STRAKE_OK) {
            return strake_fail(error, role->status, "%s", role->error.text);
        }
    }
    return STRAKE_OK;
}

/*
 * A thread that waits for a GPU spins in most drivers: unless the user chose a number, the CPU stripe
 * leaves it a core. An OpenCL CPU device shares the cores in any case.
 */
static int stripe_threads(const strake_solver *solver)
{
    int threads = solver->most_threads;
    for (int e = 0; e < solver->entries && !solver->threads_chosen; e++) {
        const strake_entry *entry = &solver->entry[e];
        if (entry->place == STRAKE_PLACE_OPENCL && entry->range.first < entry->range.end &&
            strake_cl_device_is_gpu(&solver->list.device[entry->device])) {
            threads--;
        }
    }
    return threads > 1 ? threads : 1;
}

strake_status strake_team_place(strake_solver *solver, const double *weight, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range range[STRAKE_MAX_PLACEMENTS];
    STRAKE_TRY(strake_team_gather(solver, error));
    strake_team_release(solver);
    strake_partition(solver->layout.n[0], solver->entries, weight, range);
    for (int e = 0; e < solver->entries; e++) {
        solver->entry[e].range = range[e];
    }
    solver->threads = stripe_threads(solver);
    if (solver->entry[0].place == STRAKE_PLACE_SERIAL) {
        STRAKE_TRY(
            strake_reference_create(&solver->graph, &solver->layout, &solver->reference, error));
        goto cleanup;
    }
    solver->role = calloc((size_t)count_roles(solver) + 1, sizeof *solver->role);
    STRAKE_CHECK(solver->role != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the team");
    solver->roles = count_roles(solver);
    assign_roles(solver);
    create_roles(solver);
    STRAKE_TRY(first_failure(solver, error));
    solver->prepared = false; /* static inputs must reach the new stripes */
    solver->states_fresh = true;
cleanup:
    if (status != STRAKE_OK) {
        strake_team_release(solver);
    }
    return status;
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
            STRAKE_TRY(strake_cl_stripe_upload_static(stripe, solver->array[0], error));
        }
        if (solver->states_fresh) {
            STRAKE_TRY(strake_cl_stripe_upload_state(stripe, solver->array[solver->parity], error));
        }
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
        if (solver->entry[e].stripe != NULL) {
            STRAKE_TRY(strake_cl_stripe_download(solver->entry[e].stripe,
                                                 solver->array[solver->parity], error));
        }
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
    bool alone; /* one device, no neighbours: no barrier */
    /*
     * Everybody leaves after the barrier of this step. A failure while computing step k is set before
     * barrier k, one while exchanging after it is set to k + 1, so all threads see the same value in
     * time and none waits at a barrier that another never reaches.
     */
    int64_t stop;
} team_run;

static void stop_at(team_run *run, int64_t step)
{
#pragma omp critical(strake_team_stop)
    if (step < run->stop) {
#pragma omp atomic write
        run->stop = step;
    }
}

static bool is_stopped(const team_run *run, int64_t step)
{
    int64_t stop = 0;
#pragma omp atomic read
    stop = run->stop;
    return stop <= step;
}

static int parity_at(const team_run *run, int64_t step)
{
    return run->trial ? run->solver->parity : (int)((run->solver->parity + step) & 1);
}

/* Names the field and the first cell of a role's slabs that is NaN or Inf, in the host arrays. */
static void fail_non_finite(const team_run *run, strake_role *role, const strake_range *range,
                            int64_t step)
{
    const strake_solver *solver = run->solver;
    const int parity = 1 - parity_at(run, step);
    int64_t cell[STRAKE_AXES] = {range->first, 0, 0};
    const char *name = "a state";
    for (int v = 0; v < solver->graph.values; v++) {
        if (solver->graph.value[v].next >= 0 &&
            !strake_layout_is_finite(&solver->layout, solver->array[parity][v], range->first,
                                     range->end, cell)) {
            name = solver->graph.value[v].name;
            break;
        }
    }
    role->status = strake_fail(&role->error, STRAKE_ERR_NUMERIC,
                               "%s is NaN or Inf at [%lld, %lld] after step %lld; the run stops "
                               "(look at the size of the initial values and of the flow)",
                               name, (long long)cell[0], (long long)cell[2],
                               (long long)solver->step_count + step + 1);
}

/* The part of a step that depends on nobody, up to the border slabs in the host arrays. */
static void compute(const team_run *run, strake_role *role, int64_t step)
{
    strake_solver *solver = run->solver;
    strake_cl_stripe *stripe = solver->entry[role->entry].stripe;
    const int parity = parity_at(run, step);
    const double start = strake_solver_clock();
    if (role->pipeline != NULL) {
        if (!strake_pipeline_run(role->pipeline, role->range.first, role->range.end,
                                 solver->array[parity], solver->next[parity])) {
            fail_non_finite(run, role, &role->range, step);
        }
        role->compute += strake_solver_clock() - start;
        return;
    }
    role->status = strake_cl_stripe_step(stripe, &role->error);
    const bool is_last = step + 1 == run->steps || (step + 1) % STEPS_AHEAD == 0;
    if (role->status == STRAKE_OK && (!run->alone || is_last || run->trial)) {
        role->status = strake_cl_stripe_finish(stripe, &role->error);
    }
    if (role->status == STRAKE_OK && is_last && !run->trial) {
        bool finite = true;
        role->status = strake_cl_stripe_is_finite(stripe, &finite, &role->error);
        if (role->status == STRAKE_OK && !finite) {
            role->status =
                strake_cl_stripe_download(stripe, solver->array[1 - parity], &role->error);
            fail_non_finite(run, role, &solver->entry[role->entry].range, step);
        }
    }
    const double computed = strake_solver_clock();
    role->compute += computed - start;
    if (role->status == STRAKE_OK && !run->alone) {
        role->status = strake_cl_stripe_publish(stripe, solver->array[1 - parity], &role->error);
        role->exchange += strake_solver_clock() - computed;
    }
}

/* After the barrier: ghost slabs from the neighbours. */
static void exchange(const team_run *run, strake_role *role, int64_t step)
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
    if (run->trial) {
        (void)strake_cl_stripe_finish(stripe, &role->error);
        strake_cl_stripe_undo(stripe);
    }
    role->exchange += strake_solver_clock() - start;
}

/* The steps of one thread; with fewer threads than roles each plays several. */
static void run_thread(team_run *run, int thread, int threads)
{
    strake_solver *solver = run->solver;
    for (int64_t step = 0; step < run->steps; step++) {
        for (int r = thread; r < solver->roles; r += threads) {
            strake_role *role = &solver->role[r];
            if (role->status == STRAKE_OK) {
                compute(run, role, step);
            }
            if (role->status != STRAKE_OK) {
                stop_at(run, step);
            }
        }
        const double reached = strake_solver_clock();
        if (!run->alone) {
#pragma omp barrier
        }
        if (thread < solver->roles) {
            solver->role[thread].idle += strake_solver_clock() - reached;
        }
        if (is_stopped(run, step)) {
            return;
        }
        for (int r = thread; r < solver->roles; r += threads) {
            exchange(run, &solver->role[r], step);
            if (solver->role[r].status != STRAKE_OK) {
                stop_at(run, step + 1);
            }
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
        for (int v = 0; v < solver->graph.values && step + 1 == run->steps; v++) {
            int64_t cell[STRAKE_AXES];
            if (solver->graph.value[v].next >= 0 &&
                !strake_layout_is_finite(&solver->layout, solver->array[1 - parity][v], all.first,
                                         all.end, cell)) {
                strake_role role = {.status = STRAKE_OK};
                fail_non_finite(run, &role, &all, step);
                return strake_fail(error, role.status, "%s", role.error.text);
            }
        }
    }
    return STRAKE_OK;
}

strake_status strake_team_run(strake_solver *solver, int64_t steps, bool trial, strake_error *error)
{
    strake_status status = STRAKE_OK;
    team_run run = {.solver = solver, .steps = steps, .trial = trial, .stop = INT64_MAX};
    if (solver->reference != NULL) {
        return run_reference(&run, error);
    }
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        role->compute = 0.0;
        role->exchange = 0.0;
        role->idle = 0.0;
        role->status = STRAKE_OK;
    }
    run.alone = solver->roles == 1 &&
                (solver->role[0].pipeline != NULL ||
                 strake_cl_stripe_is_alone(solver->entry[solver->role[0].entry].stripe));
#pragma omp parallel num_threads(solver->roles)
    run_thread(&run, omp_get_thread_num(), omp_get_num_threads());
    STRAKE_TRY(first_failure(solver, error));
cleanup:
    return status;
}
