/*
 * One run of the team: threads that step, meet their neighbours and leave together. Inside a sweep of one
 * or several steps nobody waits for anybody; between two sweeps everybody waits for its neighbours' border
 * slabs in the host arrays.
 */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/looks.h"
#include "strake.h"
#include "run/meeting.h"
#include "run/recorder.h"
#include "run/team.h"

/* What a role shares with the rest of the team during one run. */
typedef struct strake_running {
    strake_team *team;
    int64_t steps;
    bool trial;
    bool meets;       /* other ranks, where there are any */
    bool is_last;     /* nothing follows that would find a NaN */
    int64_t sweep;    /* steps at once, as long as there are that many left */
    bool has_devices; /* parts that look for NaN and Inf now and then only */
    bool alone;       /* nobody has to meet here: steps may be enqueued ahead */
    bool keeps_clock; /* and parts find their time steps themselves */
    /* where the next time step is decided; NULL: it is known, or not taken */
    strake_meeting *meeting;
    bool fetches_early; /* ghosts may come before all have met */
    /* First step of the sweep in which some role failed; INT64_MAX: none. The states are undefined then. */
    _Atomic int64_t stop;
    /* Step at which everybody leaves, because shares of the work no longer fit; INT64_MAX: none. */
    _Atomic int64_t halt;
    strake_status ranks; /* of the exchange with other ranks */
    strake_error ranks_error;
} strake_running;

static inline int strake_run_parity_at(const strake_running *run, int64_t step)
{
    return run->trial ? run->team->domain->parity
                      : (int)((run->team->domain->parity + step / run->sweep) & 1);
}

/* How far slabs have wandered after so many steps of this run. */
static inline int64_t strake_run_shift_at(const strake_running *run, int64_t steps)
{
    const int64_t sweeps = steps / run->sweep;
    const int64_t last = steps % run->sweep;
    return (run->team->domain->shift + sweeps * strake_domain_shift(run->team->domain, run->sweep) +
            (last > 0 ? strake_domain_shift(run->team->domain, last) : 0)) %
           run->team->domain->slabs;
}

/* Roles that meet within their legs: each has a thread of its own, or none plays. */

/* All roles, and the bell that lets them begin. */
typedef struct company {
    void (*play)(void *user, int role);
    void *user;
    strake_bell begins;
    _Atomic int64_t stop;
} company;

typedef struct player {
    company *of;
    int role;
    pthread_t thread;
} player;

static void *run_player(void *user)
{
    const player *const p = user;
    if (strake_bell_wait(&p->of->begins, 1, &p->of->stop, true)) {
        p->of->play(p->of->user, p->role);
    }
    return NULL;
}

/**
 * Calls @p play for all roles at once; returns when all have. A part with threads of its own finds those of the calling
 * thread made already: it is to be @p own.
 * @return STRAKE_ERR_MEMORY if there are no threads for all: nobody has played then
 */
static strake_status threads_play(int roles, int own, void (*play)(void *user, int role),
                                  void *user, strake_error *error)
{
    strake_status status = STRAKE_OK;
    company all = {.play = play, .user = user};
    int made = 0;
    bool has_bell = false;
    player *const other = calloc((size_t)roles, sizeof *other);
    atomic_init(&all.stop, INT64_MAX);
    has_bell = other != NULL && strake_bell_open(&all.begins);
    STRAKE_CHECK(has_bell, error, STRAKE_ERR_MEMORY, "no memory for the threads of %d parts",
                 roles);
    for (int r = 0; r < roles; r++) {
        player *const p = &other[made];
        *p = (player){.of = &all, .role = r};
        if (r != own) {
            STRAKE_CHECK(pthread_create(&p->thread, NULL, run_player, p) == 0, error,
                         STRAKE_ERR_MEMORY, "the system has no thread for each of %d parts", roles);
            made++;
        }
    }
    strake_bell_ring(&all.begins, 1);
    play(user, own);
cleanup:
    if (status != STRAKE_OK && has_bell) {
        atomic_store(&all.stop, 0);
        strake_bell_wake(&all.begins);
    }
    for (int k = 0; k < made; k++) {
        (void)pthread_join(other[k].thread, NULL);
    }
    if (has_bell) {
        strake_bell_close(&all.begins);
    }
    free(other);
    return status;
}

/* What one role does in a sweep. */

/* NaN and Inf: when they appeared, and where. */

/*
 * Names the field and the first cell of a role's slabs that is NaN or Inf, in the host arrays. It may
 * have appeared in one of the `unseen` steps before: nobody looks at devices after every step, nor at
 * the steps inside a sweep.
 */
static void fail_non_finite(const strake_running *run, strake_role *role, int64_t step,
                            int64_t unseen)
{
    char when[96] = "", what[160];
    const strake_domain *domain = run->team->domain;
    const int parity =
        1 - strake_run_parity_at(run, step); /* of the states after the step's sweep */
    domain->ops->find_bad(domain, parity, strake_run_shift_at(run, step + 1), role->range,
                          role->columns, what, sizeof what);
    if (unseen > 0) {
        (void)snprintf(when, sizeof when, " (or up to %lld earlier: not every step is checked)",
                       (long long)((unseen + domain->stages - 1) / domain->stages));
    }
    role->status = strake_fail(
        &role->error, STRAKE_ERR_NUMERIC,
        "%s after step %lld%s; the run stops (look at the size of the "
        "initial values and of the flow)",
        what, (long long)domain->step + (domain->stage + step) / domain->stages + 1, when);
    role->failed = step;
}

/*
 * Steps of a sweep after which a worker's slabs held NaN or Inf first. All that it reads is still as it was: its
 * neighbours wait for it. Beside devices and other ranks they may wait for its borders only.
 */
static int64_t find_failure(const strake_running *run, strake_role *role, int64_t step,
                            int64_t steps)
{
    int64_t done = steps == 1 ? 1 : 0; /* of a single step the arrays hold what it gave */
    bool finite = true;
    while (finite && done < steps) {
        strake_error ignored;
        done++;
        (void)strake_strips_compute(run->team, role, strake_run_parity_at(run, step), (int)done,
                                    &finite, &ignored);
    }
    return done;
}

/** A part with workers saw NaN or Inf in a sweep: finds the step and names the first value of the role's slabs. */
static void finite_fail(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    const bool is_exact = !run->has_devices && !run->team->outside.is_linked;
    const int64_t done = is_exact ? find_failure(run, role, step, steps) : steps;
    fail_non_finite(run, role, step + done - 1, is_exact ? 0 : done - 1);
}

/**
 * Every STRAKE_STEPS_AHEAD steps a device looks for NaN and Inf; the answer is asked for that many steps later,
 * so that it never runs dry, and no more than two such pieces are ever enqueued.
 */
static void finite_look(const strake_running *run, strake_role *role, int64_t step, int64_t end)
{
    strake_team *team = run->team;
    strake_part *part = &team->part[role->part];
    const bool is_last = end == run->steps && run->is_last;
    const int64_t before = team->domain->step * team->domain->stages + team->domain->stage;
    bool finite = true;
    if (!is_last && (before + end) / STRAKE_STEPS_AHEAD == (before + step) / STRAKE_STEPS_AHEAD) {
        return;
    }
    role->status = part->ops->look(part, is_last, &finite, &role->error);
    if (role->status == STRAKE_OK && !finite) {
        const int64_t unseen = (before + end - 1) % STRAKE_STEPS_AHEAD + STRAKE_STEPS_AHEAD;
        const int64_t most = before + end - 1 - team->checked * team->domain->stages;
        role->status = strake_part_store(part, 1 - strake_run_parity_at(run, step), &role->error);
        fail_non_finite(run, role, end - 1, unseen < most ? unseen : most);
    }
}

/*
 * Nobody waits for the single steps of a lone device, so that one that hangs is found only when all that were
 * enqueued ahead should be over. Where these may take longer than a device may, each is waited for; a step that
 * was waited for tells how long the next ones may take.
 */
static void hold_back(const strake_running *run, strake_role *role, double start, int64_t steps)
{
    strake_team *team = run->team;
    const double ahead = 2.0 * STRAKE_STEPS_AHEAD * role->step_seconds;
    if (team->roles > 1 || (role->step_seconds > 0.0 && ahead < team->which->run.hang_seconds)) {
        return;
    }
    role->status = strake_part_finish(&team->part[role->part], false, &role->error);
    role->step_seconds = (strake_clock_seconds() - start) / (double)steps;
}

/* Ghost slabs from the neighbours, whose sweep is done. */
static void fetch(const strake_running *run, strake_role *role, int64_t step)
{
    const double start = strake_clock_seconds();
    role->status = strake_part_fetch(&run->team->part[role->part], 0,
                                     1 - strake_run_parity_at(run, step), &role->error);
    role->exchange += strake_clock_seconds() - start;
}

/*
 * Where all meet on the time step devices have left their borders before the last of their slabs is done: ghosts come beside
 * those, so that only the bound is left for when all meet.
 */
static void fetch_early(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_neighbours_done(role, step + steps);
    if (strake_neighbours_wait(run->team, role, step + steps, &run->stop)) {
        fetch(run, role, step);
        role->has_ghosts = true;
    }
}

/* What the steps of a sweep are told; those of trials nothing that matters. */
static void tell(const strake_running *run, strake_role *role, int64_t step)
{
    const strake_domain *const domain = run->team->domain;
    role->clock_told[0] = role->clock_told[1] = 0.0;
    role->told = role->clock_told;
    if (domain->told != NULL) {
        const int64_t stage = run->trial ? 0 : (domain->stage + step) % domain->stages;
        role->told = &domain->told[stage * domain->tells];
    } else if (run->meeting != NULL) {
        strake_clock_tell(strake_meeting_clock(run->meeting, step), role->clock_told);
    } else if (domain->is_timed) {
        strake_clock_tell(&domain->clock, role->clock_told);
    }
}

/** A sweep of a role up to its border slabs in the host arrays, and its bound on the next time step. */
static void run_compute(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_team *team = run->team;
    strake_part *part = &team->part[role->part];
    const double start = strake_clock_seconds(), exchanged = role->exchange;
    bool finite = true;
    strake_recorder_begin(team, role, step);
    role->sweep = run->trial ? -1 : team->domain->sweeps + step / run->sweep;
    tell(run, role, step);
    role->status = strake_strips_compute(team, role, strake_run_parity_at(run, step), (int)steps,
                                         &finite, &role->error);
    if (role->status == STRAKE_OK && run->trial && !run->alone) {
        role->status = strake_part_finish(part, false, &role->error);
    }
    if (role->status == STRAKE_OK && !run->trial && !finite) {
        finite_fail(run, role, step, steps);
    } else if (role->status == STRAKE_OK && !run->trial && part->ops->look != NULL) {
        finite_look(run, role, step, step + steps);
        if (role->status == STRAKE_OK) {
            hold_back(run, role, start, steps);
        }
    }
    if (role->status == STRAKE_OK && !run->alone) {
        role->status = strake_part_meet(part, 0, &role->error);
    }
    role->has_ghosts = false;
    if (role->status == STRAKE_OK && run->fetches_early && part->takes_early) {
        fetch_early(run, role, step, steps);
    }
    if (role->status == STRAKE_OK && part->ops->bound != NULL &&
        (run->meeting != NULL || (team->domain->dt_after > 0.0 && step + steps == run->steps))) {
        role->status = part->ops->bound(part, &role->bound, &role->error);
    }
    role->compute += strake_clock_seconds() - start - (role->exchange - exchanged);
}

/** What follows once all have done theirs: ghost slabs, where these have not come before. */
static void run_exchange(const strake_running *run, strake_role *role, int64_t step, int64_t steps)
{
    strake_part *part = &run->team->part[role->part];
    if (role->worker >= 0 || role->status != STRAKE_OK) {
        return;
    }
    if (!run->alone && !role->has_ghosts) {
        fetch(run, role, step);
    }
    const double start = strake_clock_seconds();
    if (run->trial && !run->alone && role->status == STRAKE_OK) {
        role->status = strake_part_finish(part, false, &role->error);
    }
    if (run->trial && role->status == STRAKE_OK) {
        role->status = strake_part_undo(part, (int)steps, &role->error);
    }
    role->exchange += strake_clock_seconds() - start;
}

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
                               : run->keeps_clock && part->clock_is_over)) {
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
            run_compute(run, role, step, steps);
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
            run_exchange(run, role, step, steps);
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
    return threads_play(team->roles, own, play_apart, run, error);
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
        role->status = strake_part_finish(&run->team->part[role->part], false, &role->error);
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

strake_status strake_team_undo(strake_team *team, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = team->domain;
    for (int e = 0; e < team->parts; e++) {
        strake_part *const part = &team->part[e];
        STRAKE_TRY(strake_part_check(
            part, strake_part_has_slabs(part) ? strake_part_undo(part, 1, error) : STRAKE_OK,
            error));
    }
    domain->sweeps--;
    domain->parity = 1 - domain->parity;
    domain->shift =
        (domain->shift + domain->slabs - strake_domain_shift(domain, 1)) % domain->slabs;
cleanup:
    return status;
}
