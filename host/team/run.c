/*
 * One run of the team: threads that step, meet their neighbours and leave together. Inside a sweep of one
 * or several steps nobody waits for anybody; between two sweeps everybody waits for its neighbours' border
 * slabs in the host arrays.
 */
#include <omp.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "engine/looks.h"
#include "team/recorder.h"
#include "team/run_impl.h"
#include "team/threads.h"

static void stop_at(strake_running *run, int64_t step)
{
    int64_t earliest = atomic_load(&run->stop);
    while (step < earliest && !atomic_compare_exchange_weak(&run->stop, &earliest, step)) {
    }
    strake_neighbours_wake(run->team);
}

/* Steps of the sweep that begins at a step. */
static int64_t steps_from(const strake_running *run, int64_t step)
{
    const int64_t left = run->steps - step;
    return left < run->sweep ? left : run->sweep;
}

/*
 * Everybody leaves after sweeps that nobody has begun: nobody is further ahead than there are roles between it and
 * the one that watches, so no one has passed the step at which all leave.
 */
static void halt_after(strake_running *run, int64_t step)
{
    if (atomic_load(&run->halt) == INT64_MAX) {
        atomic_store(&run->halt, step + (run->team->span + 2) * run->sweep);
    }
}

/*
 * Sweeps that suddenly take longer than the shares were made for end the run, so that it need not end
 * every few steps only to look; and so does a request to stop.
 */
static void watch(strake_running *run, double *since, int64_t step)
{
    const strake_team *team = run->team;
    const int64_t steps = STRAKE_LOOKS_WATCHED * run->sweep;
    if (run->trial || team->span < 0) {
        return;
    }
    if (atomic_load_explicit(&team->stop, memory_order_relaxed)) {
        halt_after(run, step);
    }
    if (!(team->pace > 0.0) || step % steps != 0) {
        return;
    }
    const double now = strake_clock_seconds();
    if (step > 0 && now - *since > strake_looks_drift * team->pace * (double)steps) {
        halt_after(run, step);
    }
    *since = now;
}

/*
 * Whether all leave here, because the time that somebody waits for is reached: they met, so all know. A part that
 * keeps the clock itself may have been given some steps too many: they do nothing.
 */
static bool is_over(strake_running *run, const strake_role *role, int64_t step)
{
    const strake_part *part = &run->team->part[role->part];
    if (step == 0 ||
        !(run->meeting != NULL ? strake_clock_is_over(strake_meeting_clock(run->meeting, step))
                               : run->keeps_clock && part->ops->is_over(part))) {
        return false;
    }
    atomic_store(&run->halt, step);
    return true;
}

/* Waits for the neighbours, and where time steps follow from the states, for everybody. */
static bool wait_for_others(strake_running *run, const strake_role *role, int64_t step,
                            int64_t steps)
{
    strake_team *team = run->team;
    return strake_neighbours_wait(team, role, step + steps, &run->stop) &&
           (run->meeting == NULL ||
            strake_meeting_wait(run->meeting, step, &run->stop, team->is_crowded));
}

/* Whether a role has nothing to do, and nobody waits for it. */
static bool is_idle(const strake_running *run, const strake_role *role)
{
    return run->meeting != NULL && role->worker >= 0 && role->range.first >= role->range.end;
}

/* What a role waited since it had done its own: for slower ones, and until it went on when all had come. */
static void count_idle(const strake_running *run, strake_role *role, int64_t step, double reached)
{
    const double now = strake_clock_seconds();
    role->idle += now - reached;
    if (run->meeting != NULL) {
        const double met = strake_meeting_met(run->meeting, step);
        const double until = met > reached ? met : reached;
        role->waited += until - reached;
        role->woken += now > until ? now - until : 0.0;
    }
}

/* The sweeps of one thread; with fewer threads than roles each plays several. */
static void run_thread(strake_running *run, int thread, int threads)
{
    strake_team *team = run->team;
    double since = 0.0;
    bool is_needed = false;
    for (int r = thread; r < team->roles; r += threads) {
        is_needed = is_needed || !is_idle(run, &team->role[r]);
    }
    if (!is_needed) {
        return;
    }
    for (int64_t step = 0; step < run->steps; step += run->sweep) {
        const int64_t steps = steps_from(run, step);
        if (thread == 0) {
            watch(run, &since, step);
        }
        if (is_over(run, &team->role[thread], step) || step >= atomic_load(&run->halt)) {
            return;
        }
        for (int r = thread; r < team->roles; r += threads) {
            strake_role *role = &team->role[r];
            if (is_idle(run, role)) {
                continue;
            }
            strake_run_compute(run, role, step, steps);
            if (role->status != STRAKE_OK) {
                stop_at(run, step);
            }
            strake_neighbours_done(role, step + steps);
            if (run->meeting != NULL) {
                strake_meeting_bring(run->meeting, r, step, role->bound);
            }
        }
        for (int r = thread; r < team->roles; r += threads) {
            strake_role *role = &team->role[r];
            const double reached = strake_clock_seconds();
            if (is_idle(run, role)) {
                continue;
            }
            if (!wait_for_others(run, role, step, steps)) {
                return;
            }
            count_idle(run, role, step, reached);
            strake_run_exchange(run, role, step, steps);
            if (role->status != STRAKE_OK) {
                stop_at(run, step);
                return;
            }
        }
    }
}

/* The exchange with other ranks, for the steps of this run. */
static void start_outside(strake_running *run)
{
    strake_outside *const outside = &run->team->outside;
    if (run->meets && (outside->is_linked || outside->is_within)) {
        outside->is_trial = run->trial;
        run->ranks =
            outside->start(outside->user, run->steps, run->sweep, &run->stop, &run->ranks_error);
        outside->is_running = run->ranks == STRAKE_OK;
    }
}

static void join_outside(strake_running *run)
{
    strake_outside *const outside = &run->team->outside;
    if (outside->is_running) {
        run->ranks = outside->join(outside->user, &run->ranks_error);
        outside->is_running = false;
    }
}

/* Trial steps write the same slabs over and over: all exchanges end before the next one begins. */
static void run_trials(strake_running *run, int64_t trials, int thread, int threads)
{
    for (int64_t trial = 0; trial < trials; trial++) {
#pragma omp single
        {
            strake_neighbours_start(run->team);
            start_outside(run);
        }
        run_thread(run, thread, threads);
#pragma omp barrier
#pragma omp single
        join_outside(run);
        if (atomic_load(&run->stop) != INT64_MAX || run->ranks != STRAKE_OK) {
            return;
        }
    }
}

/* Whether each role that does something is a device with a thread of its own, and nobody else waits to hear of its bound. */
static bool fetches_early(const strake_running *run, int threads)
{
    const strake_team *const team = run->team;
    bool devices = run->meeting != NULL && !run->trial && !run->alone && threads == team->roles &&
                   !team->outside.is_linked && !team->outside.is_within;
    for (int r = 0; r < team->roles; r++) {
        devices = devices && (is_idle(run, &team->role[r]) || team->role[r].worker < 0);
    }
    return devices;
}

/* What a thread does in a run. */
static void play(strake_running *run, int64_t trials, int thread, int threads)
{
    strake_team *const team = run->team;
    strake_binding before = {.is_bound = false};
    if (threads == team->roles) {
        strake_workers_enter(team, team->role[thread].worker, &before);
    }
    if (trials > 0) {
        run_trials(run, trials, thread, threads);
    } else {
        run_thread(run, thread, threads);
    }
    strake_topology_unbind(&before);
}

static void play_apart(void *user, int role)
{
    strake_running *const run = user;
    play(run, 0, role, run->team->roles);
}

/* Parts with threads of their own keep those of the thread that starts them. */
static strake_status start_apart(strake_running *run, strake_error *error)
{
    const strake_team *team = run->team;
    int own = 0;
    for (int r = team->roles - 1; r >= 0; r--) {
        own = team->part[team->role[r].part].ops->has_driver ? own : r;
    }
    return strake_threads_play(team->roles, own, play_apart, run, error);
}

static void start_team(strake_running *run, int64_t trials)
{
    strake_team *team = run->team;
    atomic_store(&run->stop, INT64_MAX);
    atomic_store(&run->halt, INT64_MAX);
    int busy = 0;
    for (int r = 0; r < team->roles; r++) {
        team->role[r].status = STRAKE_OK;
        team->role[r].failed = 0;
        busy += is_idle(run, &team->role[r]) ? 0 : 1;
    }
    strake_neighbours_start(team);
    if (run->meeting != NULL) {
        strake_meeting_start(run->meeting, &team->domain->clock, busy, team->outside.is_linked);
    }
    if (trials == 0) {
        start_outside(run);
    }
    if (run->ranks != STRAKE_OK) {
        return;
    }
    if (team->roles == 1) {
        /* A lone part may have threads of its own: a team in a team is made anew each time. */
        play(run, trials, 0, 1);
    } else if (run->alone) {
        run->ranks = start_apart(run, &run->ranks_error);
    } else {
#pragma omp parallel num_threads(team->roles)
        {
#pragma omp single
            run->fetches_early = fetches_early(run, omp_get_num_threads());
            play(run, trials, omp_get_thread_num(), omp_get_num_threads());
        }
    }
    join_outside(run);
}

/* Trials of a lone device are enqueued one after the other, as its steps are. */
static void finish_lone(const strake_running *run)
{
    strake_role *role = &run->team->role[0];
    if (run->alone && role->status == STRAKE_OK) {
        role->status = strake_part_finish(&run->team->part[role->part], &role->error);
    }
}

static void forget_times(strake_team *team)
{
    for (int r = 0; r < team->roles; r++) {
        strake_role *role = &team->role[r];
        role->compute = 0.0;
        role->exchange = 0.0;
        role->idle = 0.0;
        role->waited = role->woken = 0.0;
    }
}

/* Whether the parts take over the clock: the only one, or all. */
static strake_status start_clock(strake_running *run, strake_error *error)
{
    strake_team *team = run->team;
    strake_status status = STRAKE_OK;
    for (int r = 0; r < team->roles && status == STRAKE_OK; r++) {
        strake_part *part = &team->part[team->role[r].part];
        if (run->meeting == NULL || part->ops->start_clock == NULL ||
            (team->domain->ranks != NULL && !part->ops->meets_within)) {
            return STRAKE_OK;
        }
        status = strake_part_check(
            part, part->ops->start_clock(part, &team->domain->clock, &run->keeps_clock, error),
            error);
    }
    if (run->keeps_clock) {
        run->meeting = NULL;
    }
    return status;
}

static strake_status stop_clock(strake_running *run, strake_error *error)
{
    strake_team *team = run->team;
    strake_part *part = &team->part[team->role[0].part];
    return strake_part_check(part, part->ops->stop_clock(part, &team->domain->clock, error), error);
}

/* Whether roles have nothing to bring to each other between two sweeps. */
static bool is_alone(const strake_team *team)
{
    const strake_part *const first = &team->part[team->role[0].part];
    return first->ops->meets_within || (team->roles == 1 && strake_part_is_alone(first));
}

/* What a run is for. */
typedef enum purpose { TO_ADVANCE, TO_END, TO_TRY, TO_REHEARSE } purpose;

static strake_status run_team(strake_team *team, purpose why, int64_t *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t steps = *done;
    const bool trial = why == TO_TRY || why == TO_REHEARSE;
    strake_running run = {.team = team,
                          .steps = steps,
                          .trial = trial,
                          .meets = why != TO_TRY,
                          .is_last = why != TO_ADVANCE,
                          .sweep = 1};
    forget_times(team);
    run.sweep = team->at_once;
    for (int r = 0; r < team->roles; r++) {
        run.has_devices = run.has_devices || team->part[team->role[r].part].ops->look != NULL;
    }
    run.meeting = team->domain->is_adaptive && !trial ? &team->meeting : NULL;
    run.alone = is_alone(team);
    STRAKE_TRY(run.alone ? start_clock(&run, error) : STRAKE_OK);
    run.alone = run.alone && run.meeting == NULL;
    if (trial && (run.has_devices || (run.sweep == 1 && !run.meets))) {
        run.steps = run.sweep; /* the same sweep over and over */
        start_team(&run, (steps + run.sweep - 1) / run.sweep);
        finish_lone(&run);
        if (run.sweep > 1) {
            team->domain->ops->note(team->domain, STRAKE_DOMAIN_SPOILT);
        }
    } else {
        start_team(&run, 0);
    }
    status = strake_team_first_failure(team, error);
    if (run.keeps_clock) {
        strake_error ignored;
        const strake_status stopped = stop_clock(&run, status == STRAKE_OK ? error : &ignored);
        status = status == STRAKE_OK ? stopped : status;
    }
    if (status == STRAKE_OK && run.ranks != STRAKE_OK) {
        status = strake_fail(error, run.ranks, "%s", run.ranks_error.text);
    }
    STRAKE_TRY(status);
    if (!trial) {
        *done = atomic_load(&run.halt) < steps ? atomic_load(&run.halt) : steps;
        *done = run.keeps_clock ? (int64_t)team->domain->clock.sweeps : *done;
        team->domain->sweeps += (*done + run.sweep - 1) / run.sweep;
        team->domain->parity =
            strake_run_parity_at(&run, (*done + run.sweep - 1) / run.sweep * run.sweep);
        team->domain->shift = strake_run_shift_at(&run, *done);
    }
    if (run.meeting != NULL) {
        team->domain->clock = *strake_meeting_clock(run.meeting, *done);
    }
cleanup:
    return status;
}

strake_status strake_team_try(strake_team *team, int64_t steps, strake_error *error)
{
    return run_team(team, TO_TRY, &steps, error);
}

strake_status strake_team_rehearse(strake_team *team, int64_t steps, strake_error *error)
{
    return run_team(team, TO_REHEARSE, &steps, error);
}

strake_status strake_team_run(strake_team *team, bool is_last, int64_t *steps, strake_error *error)
{
    return run_team(team, is_last ? TO_END : TO_ADVANCE, steps, error);
}
