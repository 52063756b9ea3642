/*
 * Balancing while the team runs: it stops every few steps (engine/looks.h), looks at what everybody took
 * and, where that pays, moves slabs between stripes. Who becomes slower halts the run (strake_team_run).
 * Only moved slabs and new ghosts travel; stripes keep their arrays and kernels unless one has no room for
 * what it gains.
 */
#include <string.h>

#include "group/border.h"
#include "pace/rescue.h"

/* What workers take in less [s] tells nothing of their speeds. */
static const double least_look = 5e-3;

/* A slab that moves is copied so many times, at so many bytes per second. */
enum { COPIES = 4 };
static const double usual_copy = 4e9;

strake_balance_policy strake_rebalance_policy(const strake_solver *solver, bool has_shares)
{
    const int word = solver->which->balance;
    return word > 0     ? (strake_balance_policy)(word - 1)
           : has_shares ? STRAKE_BALANCE_FIXED
                        : STRAKE_BALANCE_MODEL;
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
    for (int e = 0; e < solver->parts; e++) {
        owned[e] = solver->part[e].range.end - solver->part[e].range.first;
        parts += owned[e] > 0 ? 1 : 0;
    }
    strake_balancer_begin(&solver->balancer, strake_rebalance_policy(solver, solver->has_weights),
                          solver->parts, owned, guess_cost(solver));
    solver->balances = parts > 1 && solver->balancer.policy != STRAKE_BALANCE_FIXED;
    solver->levels = strake_workers_may_level(solver);
    memset(solver->seen_busy, 0, sizeof solver->seen_busy);
    strake_looks_begin(&solver->looks);
    solver->pace = 0.0;
}

int strake_solver_policy(const strake_solver *solver, double *slab_seconds)
{
    *slab_seconds = guess_cost(solver);
    return (int)strake_rebalance_policy(solver, solver->has_weights);
}

int64_t strake_rebalance_piece(const strake_solver *solver, int64_t steps)
{
    if ((!solver->balances && !solver->levels) || solver->recorder != NULL) {
        return steps; /* serial has no steps at once to divide by */
    }
    return strake_looks_left(&solver->looks, steps, solver->at_once);
}

void strake_parts_worked(const strake_solver *solver, int64_t steps, double *seconds)
{
    for (int e = 0; e < solver->parts; e++) {
        seconds[e] = 0.0;
    }
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        const double busy = solver->part[role->part].busy * (double)steps;
        const double own = busy > 0.0 ? busy : role->compute;
        seconds[role->part] = own > seconds[role->part] ? own : seconds[role->part];
    }
}

static void observe(strake_solver *solver, int64_t steps, double elapsed)
{
    double seconds[STRAKE_MAX_PLACEMENTS];
    strake_parts_worked(solver, steps, seconds);
    for (int e = 0; e < solver->parts; e++) {
        solver->seen_busy[e] += seconds[e];
    }
    strake_looks_add(&solver->looks, steps, elapsed);
}

/* Seconds per step of every part since the last look. */
static void conclude(strake_solver *solver, double *seconds)
{
    for (int e = 0; e < solver->parts; e++) {
        seconds[e] = solver->seen_busy[e] / (double)solver->looks.seen;
        solver->seen_busy[e] = 0.0;
    }
}

int64_t strake_steps_ahead(const strake_solver *solver)
{
    const int64_t ahead = solver->which->steps - solver->step_count;
    return ahead > 0 ? ahead : 0;
}

static bool has_room(const strake_solver *solver, const strake_range *range)
{
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        const bool is_out = range[e].first == range[e].end && !strake_part_has_slabs(part);
        if (!is_out && !strake_part_has_room(part, range[e])) {
            return false;
        }
    }
    return true;
}

/* Moves slabs so that every part owns its range. */
static strake_status move(strake_solver *solver, const strake_range *range, strake_error *error)
{
    strake_status status = STRAKE_OK;
    void *const *array = solver->array[solver->parity];
    strake_range stripe[STRAKE_MAX_PLACEMENTS + 2];
    memcpy(stripe, range, (size_t)solver->parts * sizeof *range);
    const int stripes = solver->parts + strake_border_stripes(solver, stripe + solver->parts);
    for (int e = 0; e < solver->parts; e++) {
        strake_part *part = &solver->part[e];
        status = strake_part_give(part, stripe, stripes, e, array, error);
        STRAKE_TRY(strake_part_check(part, status, error));
    }
    for (int e = 0; e < solver->parts; e++) {
        strake_part *part = &solver->part[e];
        status = strake_part_take(part, stripe, stripes, e, array, error);
        STRAKE_TRY(strake_part_check(part, status, error));
        part->range = range[e];
    }
    STRAKE_TRY(strake_team_share(solver, error));
cleanup:
    return status;
}

static void find_ranges(const strake_solver *solver, const int64_t *owned, strake_range *range)
{
    int64_t first = solver->own.first;
    for (int e = 0; e < solver->parts; e++) {
        range[e].first = first;
        first += owned[e];
        range[e].end = first;
    }
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

/*
 * Levels the workers of the CPU stripe, and plans the next look where nothing else is to be balanced. Between
 * parts the next look decides, by what level shares take; so nobody levels twice in a row.
 */
static strake_status level(strake_solver *solver, bool *ends, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool changes = false;
    if (solver->looks.seconds >= least_look && !(solver->balances && solver->levelled)) {
        STRAKE_TRY(strake_workers_level(solver, &changes, error));
    }
    solver->levelled = changes;
    *ends = changes || !solver->balances;
    if (*ends) {
        memset(solver->seen_busy, 0, sizeof solver->seen_busy);
        solver->looks.quiet = changes ? 0 : solver->looks.quiet;
        strake_looks_plan(&solver->looks, false);
        solver->pace = 0.0;
    }
cleanup:
    return status;
}

/* Looks at the balance and moves slabs where that pays. */
static strake_status look(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double took = 0.0;
    double seconds[STRAKE_MAX_PLACEMENTS];
    double weight[STRAKE_MAX_PLACEMENTS];
    int64_t before[STRAKE_MAX_PLACEMENTS];
    int64_t owned[STRAKE_MAX_PLACEMENTS];
    strake_range range[STRAKE_MAX_PLACEMENTS];
    char why[sizeof((strake_decision *)NULL)->why];
    const double pace = solver->looks.seconds / (double)solver->looks.seen;
    memcpy(before, solver->balancer.owned, sizeof before);
    conclude(solver, seconds);
    const bool moves = strake_balancer_decide(&solver->balancer, seconds,
                                              strake_steps_ahead(solver), owned, why, sizeof why);
    strake_decisions_add(&solver->log, solver->step_count, solver->parts, seconds, before, moves,
                         why);
    strake_looks_plan(&solver->looks, moves || solver->balancer.doubts);
    set_pace(solver, moves, pace);
    if (!moves) {
        return STRAKE_OK;
    }
    const double start = strake_solver_clock();
    find_ranges(solver, owned, range);
    if (has_room(solver, range)) {
        STRAKE_TRY(move(solver, range, error));
    } else {
        for (int e = 0; e < solver->parts; e++) {
            weight[e] = (double)owned[e];
        }
        STRAKE_TRY(strake_team_place(solver, weight, error));
        for (int e = 0; e < solver->parts; e++) {
            owned[e] = solver->part[e].range.end - solver->part[e].range.first;
        }
        STRAKE_TRY(strake_team_upload(solver, error));
        strake_notices_streams(solver);
    }
    took = strake_solver_clock() - start;
    strake_decisions_moved(&solver->log, solver->step_count, took);
    strake_balancer_moved(&solver->balancer, owned, took);
cleanup:
    return status;
}

strake_status strake_rebalance(strake_solver *solver, int64_t steps, double elapsed, bool halted,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool ends = false;
    if ((!solver->balances && !solver->levels) || solver->recorder != NULL) {
        return STRAKE_OK;
    }
    if (!halted) {
        observe(solver, steps, elapsed);
    }
    /* Short pieces end before anybody within them can tell. */
    if (halted || strake_looks_drifted(&solver->looks, solver->at_once, solver->pace)) {
        memset(solver->seen_busy, 0, sizeof solver->seen_busy);
        strake_looks_anew(&solver->looks);
        strake_balancer_warn(&solver->balancer);
        solver->log.warned = true;
        solver->pace = 0.0;
        return STRAKE_OK;
    }
    strake_workers_seen(solver);
    if (!strake_looks_due(&solver->looks) || strake_steps_ahead(solver) == 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(level(solver, &ends, error));
    if (!ends) {
        STRAKE_TRY(look(solver, error));
    }
cleanup:
    return status;
}
