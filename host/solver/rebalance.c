/*
 * Balancing while the team runs: it stops every few steps, looks at what everybody took and, where that
 * pays, moves slabs between stripes. Only moved slabs and new ghosts travel; stripes keep their arrays
 * and kernels unless one has no room for what it gains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/border.h"
#include "solver/rescue.h"

enum { FIRST_PIECE = 5, LEAST_PIECE = 10, MOST_PIECE = 2000 };

/*
 * A piece of the run should last so long [s], since stopping costs a fraction of a millisecond; twice as
 * long after every look that changed nothing: who becomes slower halts the run (strake_team_run).
 */
static const double piece_seconds = 0.03;
enum { MOST_QUIET = 5 };

/* A slab that moves is copied so many times, at so many bytes per second. */
enum { COPIES = 4 };
static const double usual_copy = 4e9;

/* The policies in the order of the words of run.balance; the first word is decided here. */
static strake_balance_policy policy_of(const strake_solver *solver)
{
    const int word = solver->which->balance;
    if (word > 0) {
        return (strake_balance_policy)(word - 1);
    }
    return solver->has_weights ? STRAKE_BALANCE_FIXED : STRAKE_BALANCE_MODEL;
}

static bool has_slabs(const strake_entry *entry)
{
    return entry->range.first < entry->range.end;
}

/* Seconds to move a slab, before that is measured: states go through pinned and host arrays, there and back. */
static double guess_cost(const strake_solver *solver)
{
    double bytes = 0.0;
    for (int v = 0; v < solver->graph.values; v++) {
        const bool is_state = solver->graph.value[v].next >= 0;
        bytes += is_state ? (double)solver->layout.slab * solver->layout.element_size : 0.0;
    }
    return COPIES * bytes / usual_copy;
}

void strake_rebalance_begin(strake_solver *solver)
{
    int64_t owned[STRAKE_MAX_PLACEMENTS];
    int parts = 0;
    for (int e = 0; e < solver->entries; e++) {
        owned[e] = solver->entry[e].range.end - solver->entry[e].range.first;
        parts += owned[e] > 0 ? 1 : 0;
    }
    strake_balancer_begin(&solver->balancer, policy_of(solver), solver->entries, owned,
                          guess_cost(solver));
    solver->balances = parts > 1 && solver->balancer.policy != STRAKE_BALANCE_FIXED;
    solver->piece = FIRST_PIECE;
    solver->quiet = 0;
    solver->pace = 0.0;
}

int strake_solver_policy(const strake_solver *solver, double *slab_seconds)
{
    *slab_seconds = guess_cost(solver);
    return policy_of(solver);
}

int64_t strake_rebalance_piece(const strake_solver *solver, int64_t steps)
{
    if (!solver->balances || solver->recorder != NULL) {
        return steps; /* serial has no steps at once to divide by */
    }
    const int64_t left = solver->piece > solver->seen ? solver->piece - solver->seen : 1;
    const int64_t whole = (left + solver->at_once - 1) / solver->at_once * solver->at_once;
    return whole < steps ? whole : steps;
}

/* Adds what every entry worked: by the device's own timer where it tells, else its thread's; the slowest worker's. */
static void observe(strake_solver *solver, int64_t steps, double elapsed)
{
    double seconds[STRAKE_MAX_PLACEMENTS] = {0.0};
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        const double busy = solver->entry[role->entry].busy * (double)steps;
        const double own = busy > 0.0 ? busy : role->compute;
        seconds[role->entry] = own > seconds[role->entry] ? own : seconds[role->entry];
    }
    for (int e = 0; e < solver->entries; e++) {
        solver->seen_busy[e] += seconds[e];
    }
    solver->seen += steps;
    solver->seen_seconds += elapsed;
}

static void forget_seen(strake_solver *solver)
{
    memset(solver->seen_busy, 0, sizeof solver->seen_busy);
    solver->seen = 0;
    solver->seen_seconds = 0.0;
}

/* Seconds per step of every entry since the last look. */
static void conclude(strake_solver *solver, double *seconds)
{
    for (int e = 0; e < solver->entries; e++) {
        seconds[e] = solver->seen_busy[e] / (double)solver->seen;
    }
    forget_seen(solver);
}

/* Steps that the run has still to do, as far as the case knows. */
static int64_t steps_ahead(const strake_solver *solver)
{
    const int64_t ahead = solver->which->steps - solver->step_count;
    return ahead > 0 ? ahead : 0;
}

static bool has_room(const strake_solver *solver, const strake_range *range)
{
    for (int e = 0; e < solver->entries; e++) {
        const strake_entry *entry = &solver->entry[e];
        const int64_t slabs = range[e].end - range[e].first;
        if (slabs == 0 && !has_slabs(entry)) {
            continue;
        }
        if (entry->place == STRAKE_PLACE_CPU
                ? slabs < 1
                : !strake_cl_stripe_has_room(entry->stripe, range[e])) {
            return false;
        }
    }
    return true;
}

/* Moves slabs so that every entry owns its range. */
static strake_status move(strake_solver *solver, const strake_range *range, strake_error *error)
{
    strake_status status = STRAKE_OK;
    void *const *array = solver->array[solver->parity];
    strake_range stripe[STRAKE_MAX_PLACEMENTS + 2];
    memcpy(stripe, range, (size_t)solver->entries * sizeof *range);
    const int stripes = solver->entries + strake_border_stripes(solver, stripe + solver->entries);
    for (int e = 0; e < solver->entries; e++) {
        strake_entry *entry = &solver->entry[e];
        if (entry->stripe != NULL) {
            status = strake_cl_stripe_give(entry->stripe, stripe, stripes, e, array, error);
            STRAKE_TRY(strake_entry_check(entry, status, error));
        }
    }
    for (int e = 0; e < solver->entries; e++) {
        strake_entry *entry = &solver->entry[e];
        if (entry->stripe != NULL) {
            status = strake_cl_stripe_take(entry->stripe, stripe, stripes, e, array, error);
            STRAKE_TRY(strake_entry_check(entry, status, error));
        }
        entry->range = range[e];
    }
    STRAKE_TRY(strake_team_share(solver, error));
cleanup:
    return status;
}

static void find_ranges(const strake_solver *solver, const int64_t *owned, strake_range *range)
{
    int64_t first = solver->own.first;
    for (int e = 0; e < solver->entries; e++) {
        range[e].first = first;
        first += owned[e];
        range[e].end = first;
    }
}

/* Remembers a decision for the report; a run that makes very many keeps the first ones. */
static void log_decision(strake_solver *solver, const double *seconds, const int64_t *slabs,
                         bool moves, const char *why)
{
    if (solver->decisions == STRAKE_MOST_DECISIONS) {
        return;
    }
    if (solver->decision == NULL) {
        solver->decision = calloc(STRAKE_MOST_DECISIONS, sizeof *solver->decision);
        if (solver->decision == NULL) {
            return; /* a log is no reason to stop */
        }
    }
    strake_decision *d = &solver->decision[solver->decisions++];
    d->step = solver->step_count;
    d->moves = moves;
    (void)snprintf(d->why, sizeof d->why, "%s", why);
    for (int e = 0; e < solver->entries && e < STRAKE_DECISION_PARTS; e++) {
        d->parts = e + 1;
        d->seconds[e] = seconds[e];
        d->slabs[e] = slabs[e];
    }
}

/* What a move took, to the balancer and the log. */
static void end_move(strake_solver *solver, const int64_t *owned, double seconds)
{
    strake_decision *last = solver->decisions > 0 ? &solver->decision[solver->decisions - 1] : NULL;
    if (last != NULL && last->step == solver->step_count) {
        last->move_seconds = seconds;
    }
    strake_balancer_moved(&solver->balancer, owned, seconds);
}

/* Steps until the next look; @p fit are as many as take piece_seconds. */
static void plan_piece(strake_solver *solver, bool moves, double fit)
{
    const bool soon = moves || solver->balancer.doubts;
    solver->quiet = soon ? 0 : solver->quiet < MOST_QUIET ? solver->quiet + 1 : MOST_QUIET;
    const double most = fit * (double)(1 << solver->quiet);
    solver->piece = soon ? LEAST_PIECE : 2 * solver->piece;
    solver->piece = (double)solver->piece > most ? (int64_t)most : solver->piece;
    solver->piece = solver->piece < LEAST_PIECE ? LEAST_PIECE : solver->piece;
    solver->piece = solver->piece > MOST_PIECE ? MOST_PIECE : solver->piece;
}

/* The best pace with the present shares: what disturbed one piece must not hide who becomes slower. */
static void set_pace(strake_solver *solver, bool moves, double pace)
{
    if (moves || solver->ranks != NULL) {
        solver->pace = 0.0;
    } else if (!(solver->pace > 0.0) || pace < solver->pace) {
        solver->pace = pace;
    }
}

/* Begins to observe anew: something became slower in mid-run. */
static void observe_anew(strake_solver *solver)
{
    forget_seen(solver);
    solver->quiet = 0;
    solver->pace = 0.0;
    solver->piece = LEAST_PIECE;
}

strake_status strake_rebalance(strake_solver *solver, int64_t steps, double elapsed, bool halted,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds[STRAKE_MAX_PLACEMENTS];
    double weight[STRAKE_MAX_PLACEMENTS];
    int64_t before[STRAKE_MAX_PLACEMENTS];
    int64_t owned[STRAKE_MAX_PLACEMENTS];
    strake_range range[STRAKE_MAX_PLACEMENTS];
    char why[sizeof solver->decision->why];
    if (!solver->balances || solver->recorder != NULL) {
        return STRAKE_OK;
    }
    if (halted) {
        observe_anew(solver);
        return STRAKE_OK;
    }
    observe(solver, steps, elapsed);
    if (solver->seen < solver->piece || steps_ahead(solver) == 0) {
        return STRAKE_OK;
    }
    const double fit = piece_seconds * (double)solver->seen / solver->seen_seconds;
    const double pace = solver->seen_seconds / (double)solver->seen;
    memcpy(before, solver->balancer.owned, sizeof before);
    conclude(solver, seconds);
    const bool moves = strake_balancer_decide(&solver->balancer, seconds, steps_ahead(solver),
                                              owned, why, sizeof why);
    log_decision(solver, seconds, before, moves, why);
    plan_piece(solver, moves, fit);
    set_pace(solver, moves, pace);
    if (!moves) {
        return STRAKE_OK;
    }
    const double start = strake_solver_clock();
    find_ranges(solver, owned, range);
    if (has_room(solver, range)) {
        STRAKE_TRY(move(solver, range, error));
    } else {
        for (int e = 0; e < solver->entries; e++) {
            weight[e] = (double)owned[e];
        }
        STRAKE_TRY(strake_team_place(solver, weight, error));
        for (int e = 0; e < solver->entries; e++) {
            owned[e] = solver->entry[e].range.end - solver->entry[e].range.first;
        }
        STRAKE_TRY(strake_team_upload(solver, error));
        strake_notices_streams(solver);
    }
    end_move(solver, owned, strake_solver_clock() - start);
cleanup:
    return status;
}
