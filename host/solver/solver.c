/* Stepping: README.md beside this file draws it. */
#include "solver/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/rkc.h"
#include "base/hash.h"
#include "case/source.h"
#include "cpu/topology.h"
#include "run/border.h"
#include "run/regroup.h"
#include "run/within.h"
#include "run/rescue.h"
#include "solver/remote_impl.h"
#include "solver/solver_impl.h"

/* Aim of a batch of steps, and what Ctrl-C waits at most for (unless one step takes longer) [s]. */
static const double batch_seconds = 0.22;

/* A batch may grow by this factor: the first steps of a run are not typical. */
enum { GROWTH = 4 };

/* Cells that may be looked at every STRAKE_LOOK_STEPS: a look at 4 million takes as long as 1000 steps of a fast device. */
static const double few_cells = 250000.0;

int64_t strake_batch_looks(const strake_case *which)
{
    const double cells = (double)which->n[0] * (double)which->n[1] * (double)which->n[2];
    return which->problem->judge_course == NULL
               ? 0
               : (int64_t)(STRAKE_LOOK_STEPS * fmax(1.0, ceil(cells / few_cells)));
}

int64_t strake_batch_steps(const strake_case *which, int64_t step, int64_t batch)
{
    const int64_t every[] = {which->output_every, which->checkpoint_every, which->diagnostics_every,
                             strake_batch_looks(which)};
    int64_t least = which->steps - step;
    least = batch < least ? batch : least;
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        const int64_t left = every[k] > 0 ? every[k] - step % every[k] : least;
        least = left < least ? left : least;
    }
    return least;
}

int64_t strake_batch_next(int64_t batch, int64_t done, int64_t sweep, double seconds)
{
    const double most = (double)GROWTH * (double)batch;
    const double fit = seconds > 0.0 ? batch_seconds / seconds * (double)done : most;
    const double want = fit < most ? fit : most;
    const int64_t next = want < 1e9 ? (int64_t)want : 1000000000;
    return next < sweep ? sweep : next / sweep * sweep;
}

bool strake_batch_has_checkpoints(const strake_case *which)
{
    return which->checkpoint_every > 0 || which->checkpoint_seconds > 0.0 ||
           which->checkpoint_minutes > 0.0;
}

bool strake_batch_has_diagnostics(const strake_case *which)
{
    return which->diagnostics_every > 0 || which->diagnostics_seconds > 0.0;
}

/* A multiple, and the times before it that only rounding keeps from it: 3 * 0.1 is more than 0.3. */
static double reach_multiple(double count, double every)
{
    static const double rounding = 1e-12;
    return count * every * (1.0 - rounding);
}

/** The first multiple of @p every [s] after a time, less what only rounding keeps a time from it. */
static double batch_multiple(double every, double time)
{
    double count = floor(time / every) + 1.0;
    while (reach_multiple(count, every) <= time) {
        count += 1.0; /* a quotient may be rounded down */
    }
    return reach_multiple(count, every);
}

double strake_batch_until(const strake_case *which, double time)
{
    const double every[] = {which->output_seconds, which->checkpoint_seconds,
                            which->diagnostics_seconds};
    double least = INFINITY;
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        least = every[k] > 0.0 ? fmin(least, batch_multiple(every[k], time)) : least;
    }
    return least;
}

bool strake_batch_is_due(int64_t every, double seconds, int64_t step, double before, double time)
{
    return (every > 0 && step % every == 0) ||
           (seconds > 0.0 && time >= batch_multiple(seconds, before));
}

/*
 * Adds the roles' times of the last run to their parts; CPU workers count as one. Where it
 * was timed what a device works, the rest of its thread's time is idle.
 */
static void account(strake_solver *solver, int64_t steps, double seconds)
{
    solver->pace.step_seconds += seconds;
    for (int r = 0; r < solver->team.roles; r++) {
        const strake_role *role = &solver->team.role[r];
        strake_part *part = &solver->team.part[role->part];
        const double share = part->ops->has_workers ? (double)solver->team.threads : 1.0;
        part->waited += role->waited / share;
        part->woken += role->woken / share;
        part->busy = strake_part_busy(part) * solver->domain->stages;
        if (part->busy > 0.0) {
            const double worked = part->busy * (double)steps;
            const double rest = seconds - worked - role->exchange;
            part->compute += worked;
            part->exchange += role->exchange;
            part->idle += rest > 0.0 ? rest : 0.0;
            continue;
        }
        part->compute += role->compute / share;
        part->exchange += role->exchange / share;
        part->idle += role->idle / share;
    }
}

static bool is_asked_to_stop(const strake_solver *solver)
{
    return atomic_load_explicit(&solver->team.stop, memory_order_relaxed);
}

/* Where roles never meet nobody within a run can end it for all: it is short. */
static int64_t cut_apart(const strake_team *team, int64_t steps)
{
    const int64_t sweep = team->at_once > 1 ? team->at_once : 1;
    const int64_t most = sweep < STRAKE_STEPS_AHEAD ? STRAKE_STEPS_AHEAD / sweep * sweep : sweep;
    return team->span < 0 && team->recorder == NULL && most < steps ? most : steps;
}

/* A sweep of no time finds the tendencies and the bound that belong to states that are new. */
static strake_status start_clock(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = solver->domain;
    int64_t one = 1;
    if (!domain->is_adaptive || domain->clock.is_known) {
        return STRAKE_OK;
    }
    domain->clock.dt = 0.0;
    domain->clock.is_at_stop = false;
    STRAKE_TRY(strake_team_run(&solver->team, false, &one, error));
    for (int e = 0; e < solver->team.parts; e++) {
        (void)strake_part_busy(&solver->team.part[e]); /* of that sweep, which is none of a run */
    }
    domain->ops->note(domain, STRAKE_DOMAIN_STEPPED);
cleanup:
    return status;
}

/* Whether an adaptive run is where its caller wanted to have it; it has no further step then. */
static bool is_over(const strake_solver *solver)
{
    const strake_domain *const domain = solver->domain;
    return domain->is_timed
               ? (domain->clock.stop > 0.0 && domain->clock.time >= domain->clock.stop) ||
                     domain->clock.time >= domain->clock.until
               : domain->is_adaptive && strake_clock_is_over(&domain->clock);
}

strake_status strake_solver_let_go(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < solver->team.parts; e++) {
        strake_part *const part = &solver->team.part[e];
        STRAKE_TRY(strake_part_check(part, strake_part_let_go(part, error), error));
    }
cleanup:
    return status;
}

/*
 * Inputs that change with time become those of the present step. Collective. Where they are refused the states are
 * still those of this step.
 */
static strake_status change_inputs(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = solver->domain;
    if (domain->steady == 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_solver_let_go(solver, error));
    solver->is_refused = true;
    STRAKE_TRY(strake_ranks_agree(domain->ranks, solver->kind->change(domain, error), error));
    if (strake_domain_lacks(domain, STRAKE_LACKS_PREPARED)) {
        STRAKE_TRY(strake_ranks_agree(domain->ranks, solver->kind->prepare(domain, error), error));
    }
    solver->is_refused = false;
cleanup:
    return status;
}

/* Steps wait for inputs that change: what that took since a time is theirs, but for those of the first one. */
static void account_change(strake_solver *solver, double since)
{
    const bool has_begun = solver->domain->step > solver->first_step;
    if (solver->domain->steady > 0 && has_begun) {
        solver->pace.step_seconds += strake_clock_seconds() - since;
    }
}

/* Steps until they change, at most so many. */
static int64_t steady_steps(const strake_solver *solver, int64_t most)
{
    return solver->domain->steady > 0 ? solver->kind->steady(solver->domain, most) : most;
}

/* One after the other, so that the time is the same however a run is cut. */
static void pass_steps(strake_domain *domain, int64_t steps)
{
    static const double rounded = 1e-9; /* of a step */
    strake_clock *const clock = &domain->clock;
    domain->step += steps;
    for (int64_t k = 0; k < steps && domain->is_timed && !(domain->dt_after > 0.0); k++) {
        clock->time += clock->dt;
    }
    if (domain->is_timed && fabs(clock->time - clock->stop) <= rounded * clock->dt) {
        clock->time = clock->stop;
    }
}

/* A step with time.tolerance, and what of it and of the next one is to be done. */
typedef struct paced_step {
    double dt, time; /* its length, and the time that it leads to [s] */
    bool has_begun;  /* its first step of the graph is done */
    bool is_again;   /* it begins from the start of the step before, which is undone */
} paced_step;

/* A length that does not lead beyond the end. @param[out] then  the time after it */
static double cut_length(const strake_clock *clock, double time, double dt, double *then)
{
    static const double rounded = 1e-9; /* of a step */
    const bool is_last = clock->stop > time && dt * (1.0 + rounded) >= clock->stop - time;
    *then = is_last ? clock->stop : time + dt;
    return is_last ? clock->stop - time : dt;
}

/* Tells the stages of a step, and the first ones of the next, which estimate its error. */
static void plan_paced(strake_domain *domain, const strake_case *which, const paced_step *now)
{
    int at_once = 1;
    double then = 0.0;
    int stages = which->problem->stages(which, now->dt, &at_once);
    domain->stages = (stages + at_once - 1) / at_once;
    double *const next = &domain->told[domain->stages * domain->tells];
    strake_rkc_tell(stages, domain->stages * at_once, now->dt, domain->told);
    if (now->is_again) {
        strake_rkc_redo(domain->told);
    }
    const double dt = cut_length(&domain->clock, now->time, domain->dt_after, &then);
    stages = which->problem->stages(which, dt, &at_once);
    strake_rkc_tell(stages, at_once, dt, next);
    strake_rkc_estimate(now->dt, next);
    domain->stage = now->has_begun ? 1 : 0;
}

/* Does these steps of the graph. @param[out] ratio  the estimated error of the step over the tolerance. Collective */
static strake_status do_paced(strake_solver *solver, double *ratio, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = solver->domain;
    const int steps = domain->stages + 1;
    double most = 0.0;
    domain->stages = steps; /* the first ones of the next step are the last row */
    while (status == STRAKE_OK && domain->stage < steps) {
        int64_t now = steps - domain->stage;
        status = strake_team_run(&solver->team, true, &now, error);
        domain->stage += (int)now;
    }
    STRAKE_TRY(strake_ranks_agree(domain->ranks, status, error));
    for (int r = 0; r < solver->team.roles; r++) {
        most = fmax(most, -solver->team.role[r].bound);
    }
    STRAKE_TRY(strake_ranks_most(domain->ranks, &most, 1, error));
    *ratio = most / solver->which->tolerance;
cleanup:
    domain->stage = 0;
    return status;
}

/* The longest step that the case and the number of stages allow. */
static double limit_length(const strake_case *which, double dt)
{
    int at_once = 1;
    dt = fmin(dt, which->dt);
    while (which->problem->stages(which, dt, &at_once) > STRAKE_RKC_MOST) {
        dt *= 0.875;
    }
    return dt;
}

/* Steps have become so short that the run would never end. */
static strake_status refuse_tolerance(const strake_solver *solver, double dt, strake_error *error)
{
    const strake_case *const which = solver->which;
    return strake_fail(
        error, STRAKE_ERR_NUMERIC,
        "time.tolerance: %.3g is less than the error of a step of %.3g s, at %.6g s: "
        "%s precision has no smaller one, or the states grow without bound; give a "
        "larger tolerance, or look at the parameters",
        which->tolerance, dt, solver->domain->clock.time, strake_precision_name(which->precision));
}

/*
 * Steps whose lengths follow from the estimated error of those before. A step is judged by the first stages of the next one,
 * which has the length that was found when its own first stages were done: so no stage is in vain but where a step is refused, or
 * a run pauses. A step that is refused is undone and done again, and what was begun of the next one at a pause is undone, so
 * that pauses change no bit.
 */
static strake_status run_by_tolerance(strake_solver *solver, int64_t *steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = solver->which;
    strake_domain *const domain = solver->domain;
    strake_clock *const clock = &domain->clock;
    paced_step now = {.has_begun = false};
    /* The error of steps so much shorter than a run's first one is rounding, which even shorter ones have, too. */
    const double shortest = (which->precision == STRAKE_DOUBLE ? 1e-5 : 1e-3) * domain->dt_first;
    const int64_t wanted = *steps;
    for (*steps = 0;
         *steps < wanted && !is_over(solver) && (*steps == 0 || !is_asked_to_stop(solver));) {
        double ratio = 0.0;
        now.dt = cut_length(clock, clock->time, clock->dt, &now.time);
        STRAKE_TRY(clock->dt > 1e-12 * clock->time ? STRAKE_OK
                                                   : refuse_tolerance(solver, clock->dt, error));
        plan_paced(domain, which, &now);
        STRAKE_TRY(do_paced(solver, &ratio, error));
        const double next = limit_length(which, strake_rkc_next(now.dt, ratio));
        if (ratio <= 1.0) {
            ++*steps;
            clock->time = now.time;
            clock->dt = domain->dt_after;
            domain->dt_after = fmin(next, 2.0 * domain->dt_after);
            now.has_begun = true;
            now.is_again = false;
            continue;
        }
        STRAKE_TRY(now.dt > shortest ? STRAKE_OK : refuse_tolerance(solver, now.dt, error));
        STRAKE_TRY(strake_team_undo(&solver->team, error));
        clock->dt = fmin(next, 0.8 * now.dt);
        domain->dt_after = clock->dt;
        now.has_begun = false;
        now.is_again = true;
    }
    STRAKE_TRY(now.has_begun ? strake_team_undo(&solver->team, error) : STRAKE_OK);
cleanup:
    return status;
}

/*
 * Steps of the team. Where one consists of stages, one that has begun is always done to its end: what its stages leave to
 * each other is nowhere kept.
 */
static strake_status run_steps(strake_solver *solver, bool is_last, int64_t *steps,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = solver->domain;
    int64_t done = 0, wanted = *steps * domain->stages;
    if (domain->dt_after > 0.0) {
        return run_by_tolerance(solver, steps, error);
    }
    do {
        int64_t now = wanted - done;
        domain->stage = (int)(done % domain->stages);
        STRAKE_TRY(strake_team_run(&solver->team, is_last, &now, error));
        done += now;
        wanted = (done + domain->stages - 1) / domain->stages * domain->stages;
    } while (done < wanted);
    *steps = done / domain->stages;
cleanup:
    domain->stage = 0;
    return status;
}

/* One piece of a run: what may be done before rows move or the copy of the states is renewed. */
static strake_status run_piece(strake_solver *solver, int64_t left, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t steps = left, wanted = left;
    const bool renews = solver->pace.kept.valid; /* else it is part of the set-up */
    double start = strake_clock_seconds(), elapsed = 0.0;
    if (solver->domain->ranks == NULL) { /* several ranks have done so before they expect borders */
        STRAKE_TRY(change_inputs(solver, error));
        account_change(solver, start);
        start = strake_clock_seconds();
    }
    STRAKE_TRY(strake_keep(&solver->pace, error));
    solver->pace.step_seconds += renews ? strake_clock_seconds() - start : 0.0;
    start = strake_clock_seconds();
    STRAKE_TRY(strake_share_given(&solver->pace, error));
    STRAKE_TRY(strake_team_upload(&solver->team, error));
    account_change(solver, start);
    start = strake_clock_seconds();
    STRAKE_TRY(start_clock(solver, error));
    steps = strake_keep_piece(&solver->pace, strake_rebalance_piece(&solver->pace, left));
    steps = steady_steps(solver, cut_apart(&solver->team, steps));
    /* Ranks undo what they have begun of a step together. */
    steps = solver->domain->dt_after > 0.0 && solver->domain->ranks != NULL ? left : steps;
    wanted = steps;
    status = run_steps(solver, steps == left, &steps, error);
    elapsed = strake_clock_seconds() - start;
    account(solver, steps, elapsed);
    strake_regroup_observe(&solver->group, steps);
    STRAKE_TRY(status);
    solver->domain->ops->note(solver->domain, STRAKE_DOMAIN_STEPPED);
    pass_steps(solver->domain, steps);
    for (int e = 0; e < solver->team.parts; e++) {
        const strake_range own = solver->team.part[e].range;
        solver->team.part[e].updates += (double)(own.end - own.first) * (double)steps;
    }
    STRAKE_TRY(strake_rebalance(&solver->pace, steps, elapsed,
                                steps < wanted && !is_asked_to_stop(solver) && !is_over(solver),
                                error));
    solver->pace.step_seconds += strake_clock_seconds() - start - elapsed;
cleanup:
    return status;
}

/* Steps end where inputs change. */
static strake_status pass_event(strake_solver *solver, strake_error *error)
{
    return solver->domain->is_adaptive ? solver->kind->pass_event(solver->domain, error)
                                       : STRAKE_OK;
}

/*
 * Runs up to a step. Where a device fails the rest goes on, from earlier states. A request to stop is obeyed from
 * step @p least on; one more sweep comes before, since devices are looked at for NaN and Inf now and then only, and
 * at the end of what is run.
 */
static strake_status run_to(strake_solver *solver, int64_t step, int64_t least, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool ends = false;
    while (solver->domain->step < step && !ends && !is_over(solver)) {
        strake_error cause = {STRAKE_OK, ""};
        const int64_t sweep = strake_solver_steps_at_once(solver);
        int64_t left = step - solver->domain->step;
        ends = solver->domain->step >= least && is_asked_to_stop(solver);
        left = ends && sweep < left ? sweep : left;
        if (run_piece(solver, left, &cause) != STRAKE_OK) {
            const double start = strake_clock_seconds();
            STRAKE_TRY(strake_rescue(&solver->pace, &cause, error));
            STRAKE_TRY(pass_event(solver, error));
            solver->pace.step_seconds += strake_clock_seconds() - start;
            ends = false;
        }
    }
cleanup:
    return status;
}

/* After a failure that nothing could be done about the states are undefined. */
static strake_status lose_states(strake_solver *solver, const strake_error *cause,
                                 strake_error *error)
{
    solver->domain->ops->note(solver->domain, STRAKE_DOMAIN_LOST);
    strake_keep_forget(&solver->pace);
    return strake_fail(error, cause->status, "%s: %s", solver->which->file, cause->text);
}

/*
 * Runs steps with all ranks, which now and then look at how slabs are shared among them; fewer where a lone process
 * is asked to stop, as run_to().
 */
static strake_status run_together(strake_solver *solver, int64_t steps, int64_t least,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool stopped = false;
    const int64_t end = solver->domain->step + steps;
    while (solver->domain->step < end && !stopped && !is_over(solver)) {
        const double start = strake_clock_seconds();
        solver->team.checked = solver->domain->step;
        const int64_t before = solver->domain->step;
        int64_t piece = strake_regroup_piece(&solver->group, end - before);
        if (solver->domain->ranks != NULL) {
            STRAKE_TRY(change_inputs(solver, error));
            account_change(solver, start);
            piece = steady_steps(solver, piece);
        }
        const int64_t aim = before + piece;
        strake_border_expect(&solver->group, piece + (solver->domain->clock.is_known ? 0 : 1));
        strake_within_expect(&solver->group, aim);
        status = run_to(solver, aim, least, error);
        stopped = solver->domain->step < aim;
        if (status != STRAKE_OK) {
            strake_border_break(&solver->group);
            strake_within_break(&solver->group);
        }
        STRAKE_TRY(strake_ranks_agree(solver->domain->ranks, status, error));
        const double elapsed = strake_clock_seconds() - start;
        STRAKE_TRY(strake_regroup(&solver->group, solver->domain->step - before, elapsed, error));
        solver->pace.step_seconds += strake_clock_seconds() - start - elapsed;
    }
cleanup:
    return status;
}

/* Runs up to a step in batches, after which somebody is told of them. */
static strake_status run_batches(strake_solver *solver, int64_t end, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t first = solver->domain->step;
    bool goes_on = true;
    while (solver->domain->step < end && goes_on) {
        const int64_t sweep = strake_solver_steps_at_once(solver);
        const int64_t left = end - solver->domain->step;
        const int64_t batch = solver->batch > 0 ? solver->batch : sweep;
        const int64_t now = left < batch ? left : batch;
        const int64_t aim = solver->domain->step + now;
        const double start = strake_clock_seconds();
        STRAKE_TRY(run_together(solver, now, first, error));
        solver->batch = strake_batch_next(batch, now, sweep, strake_clock_seconds() - start);
        goes_on = solver->domain->step == aim &&
                  (aim == end || solver->progress(solver->progress_user, aim, end));
    }
cleanup:
    return status;
}

/* Runs up to a step, or until somebody asks to stop. */
static strake_status run_all(strake_solver *solver, int64_t end, strake_error *error)
{
    const int64_t first = solver->domain->step;
    if (is_asked_to_stop(solver)) {
        return STRAKE_OK;
    }
    return solver->progress != NULL ? run_batches(solver, end, error)
                                    : run_together(solver, end - first, first, error);
}

static strake_status check_given(const strake_solver *solver, strake_error *error)
{
    const strake_problem *problem = solver->which->problem;
    for (int f = 0; f < problem->fields; f++) {
        if (!strake_solver_field(solver, f).has_values) {
            return strake_fail(
                error, STRAKE_ERR_STATE,
                "field %s has no values (yet, or after a failed step); give it in the "
                "case or with strake_set_field()",
                problem->field[f].name);
        }
    }
    return STRAKE_OK;
}

/* Whether a run has reached a time at which inputs change, and goes on from there. */
static bool is_at_event(const strake_solver *solver)
{
    const strake_clock *const clock = &solver->domain->clock;
    return solver->domain->is_adaptive && clock->time >= clock->stop &&
           clock->stop < solver->which->end && clock->time < clock->until;
}

strake_status strake_advance(strake_solver *solver, double until, int64_t steps,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(solver->domain->is_adaptive || solver->domain->dt_after > 0.0, error,
                 STRAKE_ERR_USAGE,
                 "strake_advance: problem %s has the time step that its case gives; use "
                 "strake_step()",
                 solver->which->problem->name);
    solver->domain->clock.until = until;
    status = strake_step(solver, steps, error);
    solver->domain->clock.until = INFINITY;
cleanup:
    return status;
}

strake_status strake_step(strake_solver *solver, int64_t steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error cause = {STRAKE_OK, ""};
    int64_t end = 0;
    double start = 0.0;
    /* Other ranks do not have the slabs yet that theirs read. */
    const bool is_set = solver->placed && solver->group.ranks != NULL &&
                        strake_domain_lacks(solver->domain, STRAKE_LACKS_SHARED);
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_CHECK(steps >= 0, error, STRAKE_ERR_USAGE, "strake_step: %lld steps; expected 0 or more",
                 (long long)steps);
    STRAKE_CHECK(!solver->pace.is_broken, error, STRAKE_ERR_STATE,
                 "strake_step: a device of this solver failed for good; open another one");
    STRAKE_TRY(check_given(solver, error));
    start = strake_clock_seconds();
    if (solver->domain->steady > 0) { /* to be prepared below */
        STRAKE_TRY(strake_ranks_agree(solver->domain->ranks,
                                      solver->kind->change(solver->domain, error), error));
    }
    if (!solver->placed) {
        STRAKE_TRY(strake_solver_place(solver, error));
    } else if (strake_domain_lacks(solver->domain, STRAKE_LACKS_PREPARED)) {
        STRAKE_TRY(strake_ranks_agree(solver->domain->ranks,
                                      solver->kind->prepare(solver->domain, error), error));
    }
    account_change(solver, start);
    if (is_set) {
        STRAKE_TRY(strake_border_refresh(&solver->group, error));
    }
    end = solver->domain->step + steps;
    STRAKE_TRY(pass_event(solver, error));
    while ((status = run_all(solver, end, &cause)) == STRAKE_OK && solver->domain->step < end &&
           is_at_event(solver)) {
        STRAKE_TRY(pass_event(solver, error));
    }
    if (status != STRAKE_OK && solver->is_refused) {
        solver->is_refused = false;
        status = strake_fail(error, status, "%s", cause.text);
    } else if (status != STRAKE_OK) {
        status = lose_states(solver, &cause, error);
    } else if (solver->domain->step < end && !is_over(solver)) {
        strake_stop(solver, false);
        status = strake_fail(error, STRAKE_STOPPED, "%s: stopped after step %lld of %lld",
                             solver->which->file, (long long)solver->domain->step, (long long)end);
    }
    if (status == STRAKE_OK && solver->has_lent) {
        status = strake_solver_let_go(solver, error);
    }
cleanup:
    return status;
}

void strake_stop(strake_solver *solver, bool stop)
{
    /* Ranks step together, and none may leave alone. */
    atomic_store(&solver->team.stop, stop && solver->group.ranks == NULL);
}

strake_status strake_solver_gather(strake_solver *solver, strake_error *error)
{
    strake_error cause = {STRAKE_OK, ""};
    const int64_t step = solver->domain->step;
    if (strake_team_gather(&solver->team, &cause) == STRAKE_OK) {
        return STRAKE_OK;
    }
    if (strake_rescue(&solver->pace, &cause, &cause) != STRAKE_OK) {
        return lose_states(solver, &cause, error);
    }
    return strake_fail(
        error, STRAKE_WENT_BACK,
        "%s: %s; the states of step %lld are lost with it and those of step %lld are back: "
        "call strake_step() for the %lld steps between, which the other parts do, and read again",
        solver->which->file, cause.text, (long long)step, (long long)solver->domain->step,
        (long long)(step - solver->domain->step));
}

strake_status strake_solver_fetch(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t step = solver->domain->step;
    /* Several ranks do so together (strake_remote_begin()). */
    while (solver->domain->ranks == NULL &&
           (status = strake_solver_gather(solver, error)) == STRAKE_WENT_BACK) {
        STRAKE_TRY(strake_step(solver, step - solver->domain->step, error));
    }
cleanup:
    return status;
}

int64_t strake_step_count(const strake_solver *solver)
{
    return solver->domain->step;
}

double strake_time(const strake_solver *solver)
{
    const strake_domain *const domain = solver->domain;
    return domain->is_adaptive || domain->is_timed ? domain->clock.time
                                                   : (double)domain->step * solver->which->dt;
}

size_t strake_element_size(const strake_solver *solver)
{
    return (size_t)strake_case_element_size(solver->which);
}

strake_status strake_solver_hash(strake_solver *solver, double time, uint64_t *out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const domain = solver->domain;
    /* What has acted until then is hashed before all fields. */
    uint64_t hash = strake_fnv1a(strake_case_hash(solver->which, time), &domain->own_hash,
                                 sizeof domain->own_hash);
    domain->hash = domain->hash_from == hash ? domain->hash : 0;
    domain->hash_from = hash;
    for (int f = 0; f < solver->which->problem->fields && domain->hash == 0; f++) {
        if (strake_solver_field(solver, f).is_hashed) {
            STRAKE_TRY(strake_fields_hash(solver, f, &hash, error));
            domain->hash_to[f] = hash;
        }
    }
    STRAKE_TRY(domain->hash == 0 ? strake_source_hash_rates(solver->which, &hash, error)
                                 : STRAKE_OK);
    domain->hash_to[STRAKE_MAX_FIELDS] =
        domain->hash == 0 ? hash : domain->hash_to[STRAKE_MAX_FIELDS];
    domain->hash = domain->hash != 0 ? domain->hash : hash;
    *out = strake_case_hash_past(solver->which, domain->hash, time);
cleanup:
    return status;
}

strake_status strake_solver_settings(strake_solver *solver, double time, strake_setting_seen *seen,
                                     void *user, strake_error *error)
{
    uint64_t all = 0;
    char name[STRAKE_NAME_LENGTH + 16];
    const strake_problem *const problem = solver->which->problem;
    const strake_status status = strake_solver_hash(solver, time, &all, error);
    if (status != STRAKE_OK) {
        return status;
    }
    strake_case_settings(solver->which, time, seen, user);
    if (problem->has_particles) {
        seen(user, "the particles at the start", solver->domain->own_hash, "");
    }
    for (int f = 0; f < problem->fields; f++) {
        if (solver->domain->hash_to[f] != 0) {
            (void)snprintf(name, sizeof name, STRAKE_SETTING_VALUES "%s", problem->field[f].name);
            seen(user, name, solver->domain->hash_to[f], "");
        }
    }
    if (solver->which->courant > 0.0) {
        seen(user, STRAKE_SETTING_VALUES "velocities", solver->domain->hash_to[STRAKE_MAX_FIELDS],
             "");
    }
    return STRAKE_OK;
}

void strake_solver_set_progress(strake_solver *solver, int64_t steps, double time)
{
    solver->domain->step = steps;
    solver->first_step = steps;
    solver->pace.step_seconds = 0.0;
    for (int e = 0; e < solver->team.parts; e++) {
        strake_part *part = &solver->team.part[e];
        part->compute = part->exchange = part->idle = part->updates = 0.0;
        part->waited = part->woken = 0.0;
    }
    solver->domain->clock.time = time;
    solver->domain->clock.is_known = false;
    if (solver->domain->dt_first > 0.0) {
        solver->domain->clock.dt = solver->domain->dt_after = solver->domain->dt_first;
    }
    strake_keep_forget(&solver->pace);
}

bool strake_solver_lengths(const strake_solver *solver, double length[2])
{
    length[0] = solver->domain->clock.dt;
    length[1] = solver->domain->dt_after;
    return length[1] > 0.0;
}

void strake_solver_set_lengths(strake_solver *solver, const double length[2])
{
    solver->domain->clock.dt = length[0];
    solver->domain->dt_after = length[1];
}
