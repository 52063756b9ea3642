#include "group/regroup.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "grid/arrays.h"
#include "group/border.h"
#include "group/commons.h"
#include "solver/inject.h"
#include "group/shares.h"

enum { MOST_RANKS = STRAKE_MOST_PLACEMENTS, MOST_RANGES = 2 };

/* What moving a rank's share costs before that is measured: to make teams anew [s], and messages [bytes/s]. */
static const double usual_start = 0.02, usual_message = 1e9;

/* Share of a step that a move between ranks must save: everybody stops for it. */
static const double least_gain = 0.1;

/* Steps that are compared with the usual pace, and how much slower a change is. */
enum { WATCHED = 10 };
static const double drift = 1.5;

/* What rank 0 tells the others after a look. */
typedef struct verdict {
    int64_t moves, piece;
    int64_t slabs[MOST_RANKS];
} verdict;

static double guess_cost(const strake_solver *solver)
{
    const double slabs = (double)solver->layout.n[0] / strake_ranks_count(solver->ranks);
    const double slab = (double)(solver->layout.slab * solver->layout.element_size);
    return usual_start / slabs + slab * strake_arrays_count(&solver->graph, 1) / usual_message;
}

int strake_solver_rank_policy(const strake_solver *solver, double *slab_seconds, int64_t *least)
{
    *slab_seconds = guess_cost(solver);
    *least = strake_border_least(solver, solver->at_once);
    return (int)strake_rebalance_policy(solver, solver->which->shares != NULL);
}

int strake_solver_rank_decisions(const strake_solver *solver, const strake_decision **out)
{
    *out = solver->group.log.decision;
    return solver->group.log.count;
}

strake_status strake_regroup_begin(strake_solver *solver, strake_error *error)
{
    int64_t slabs[MOST_RANKS];
    double cost = 0.0;
    int64_t least = 0;
    const int count = strake_ranks_count(solver->ranks);
    const int policy = strake_solver_rank_policy(solver, &cost, &least);
    strake_looks_begin(&solver->group.looks);
    solver->group.balances = solver->ranks != NULL && policy != STRAKE_BALANCE_FIXED;
    if (!solver->group.balances || strake_ranks_self(solver->ranks) != 0) {
        return STRAKE_OK;
    }
    solver->group.balancer = malloc(sizeof *solver->group.balancer);
    if (solver->group.balancer == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    }
    for (int k = 0; k < count; k++) {
        slabs[k] = solver->owned[k].end - solver->owned[k].first;
    }
    strake_balancer_begin(solver->group.balancer, (strake_balance_policy)policy, count, slabs,
                          cost);
    solver->group.balancer->least = least;
    solver->group.balancer->gain = least_gain;
    return STRAKE_OK;
}

void strake_regroup_end(strake_solver *solver)
{
    free(solver->group.balancer);
    free(solver->group.log.decision);
}

int64_t strake_regroup_piece(const strake_solver *solver, int64_t steps)
{
    return solver->group.balances && solver->recorder == NULL
               ? strake_looks_left(&solver->group.looks, steps, solver->at_once)
               : steps;
}

void strake_regroup_observe(strake_solver *solver, int64_t steps)
{
    double seconds[STRAKE_MAX_PLACEMENTS];
    if (!solver->group.balances) {
        return;
    }
    strake_parts_worked(solver, steps, seconds);
    for (int e = 0; e < solver->parts; e++) {
        const strake_range range = solver->part[e].range;
        solver->group.busy[e] += seconds[e];
        solver->group.done[e] += (double)((range.end - range.first) * steps);
    }
}

static void forget(strake_solver *solver)
{
    memset(solver->group.busy, 0, sizeof solver->group.busy);
    memset(solver->group.done, 0, sizeof solver->group.done);
}

/*
 * Steps that suddenly take longer than they usually do since slabs moved last end the wait for the next
 * look: what was seen before says nothing about now. Not the best pace as within a process: moves between
 * ranks cost more, and machines that others use too are never at their best for long. Collective.
 */
static strake_status watch(strake_solver *solver, int64_t steps, double elapsed, bool *drifts,
                           strake_error *error)
{
    strake_status status = STRAKE_OK;
    double pace = elapsed / (double)steps;
    const double usual = solver->group.pace;
    *drifts = false;
    if (steps < WATCHED) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_ranks_most(solver->ranks, &pace, 1, error));
    *drifts = usual > 0.0 && pace > drift * usual;
    solver->group.pace = *drifts ? 0.0 : usual > 0.0 ? 0.5 * (usual + pace) : pace;
cleanup:
    return status;
}

/*
 * Seconds that a step of this rank's slabs takes, once they are well shared among its parts: what these
 * can settle among themselves is no reason to move slabs to another rank.
 */
static double conclude(strake_solver *solver)
{
    double rate = 0.0;
    double longest = 0.0;
    for (int e = 0; e < solver->parts; e++) {
        const double busy = solver->group.busy[e];
        const double step = busy / (double)solver->group.looks.seen;
        rate += busy > 0.0 ? solver->group.done[e] / busy : 0.0;
        longest = step > longest ? step : longest;
    }
    forget(solver);
    return solver->balances && rate > 0.0 ? (double)(solver->own.end - solver->own.first) / rate
                                          : longest;
}

/* Rank 0 decides for all: the same numbers need not give the same bits on other processors. */
static void decide(strake_solver *solver, const double *seconds, verdict *out)
{
    strake_balancer *b = solver->group.balancer;
    const int64_t ahead = strake_steps_ahead(solver);
    char why[sizeof((strake_decision *)NULL)->why];
    /* One look alone tells nothing of how far it may be off; bisection and slices do not ask. */
    const bool may_move = b->policy != STRAKE_BALANCE_MODEL || solver->group.log.count > 0;
    out->moves = strake_balancer_decide(b, seconds, ahead, out->slabs, why, sizeof why) && may_move;
    strake_decisions_add(&solver->group.log, solver->step_count, b->parts, seconds, b->owned,
                         out->moves != 0, why);
    strake_looks_plan(&solver->group.looks, out->moves != 0 || b->doubts);
    out->piece = solver->group.looks.piece;
}

/* A range with the ghosts beyond the ends of the domain, which go with the slabs there. */
static strake_range with_ends(const strake_layout *l, strake_range range)
{
    return (strake_range){range.first == 0 ? -l->lo[0] : range.first,
                          range.end == l->n[0] ? l->n[0] + l->hi[0] : range.end};
}

/* What a rank is to have of a value, once it owns some slabs. */
static strake_window wanted(const strake_solver *solver, int value, strake_range own)
{
    const bool is_state = solver->graph.value[value].next >= 0;
    strake_window window = {1, {own}};
    if (!is_state) {
        /* Each rank owns slabs. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        window = strake_shares_window(solver, own);
    }
    for (int k = 0; k < window.ranges; k++) {
        window.range[k] = with_ends(&solver->layout, window.range[k]);
    }
    return window;
}

/* Adds what one rank wants of the slabs that another one had, where that is anything. */
static void add_transfers(const strake_solver *solver, int value, int peer, strake_range had,
                          const strake_window *wants, strake_transfer *list, int *count)
{
    const strake_layout *l = &solver->layout;
    const int64_t slab = l->slab * l->element_size;
    char *const array = solver->array[solver->parity][value];
    for (int k = 0; k < wants->ranges; k++) {
        const strake_range both =
            strake_range_cut(wants->range[k], with_ends(&solver->layout, had));
        if (both.first < both.end) {
            /* Each rank has its lists. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
            list[(*count)++] =
                (strake_transfer){.peer = peer,
                                  .tag = value * MOST_RANGES + k,
                                  .data = array + strake_layout_offset(l, both.first),
                                  .bytes = (size_t)((both.end - both.first) * slab)};
        }
    }
}

/* Who owned a slab before has its right values, of every field: all ranks get from it what they lack. */
static strake_status trade(strake_solver *solver, const strake_range *owned, strake_transfer *send,
                           strake_transfer *receive, strake_error *error)
{
    int sends = 0;
    int receives = 0;
    const int self = strake_ranks_self(solver->ranks);
    for (int v = 0; v < solver->graph.values; v++) {
        const strake_window mine = wanted(solver, v, owned[self]);
        for (int k = 0; k < strake_ranks_count(solver->ranks); k++) {
            const strake_window theirs = wanted(solver, v, owned[k]);
            if (k != self && solver->array[0][v] != NULL) {
                add_transfers(solver, v, k, solver->own, &theirs, send, &sends);
                add_transfers(solver, v, k, solver->owned[k], &mine, receive, &receives);
            }
        }
    }
    return strake_ranks_trade(solver->ranks, send, sends, receive, receives, error);
}

/* What needs no other rank: states in host arrays that are this rank's alone, and no team. */
static strake_status leave(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_team_gather(solver, error));
    strake_team_release(solver);
    strake_border_destroy(solver);
    STRAKE_TRY(strake_commons_unmap(solver, error));
    strake_inject_death(solver);
cleanup:
    return status;
}

/* From the present owners of the slabs to others; ends the teams. Collective. */
static strake_status hand_over(strake_solver *solver, const strake_range *owned,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(solver->ranks);
    const size_t most = (size_t)count * STRAKE_MAX_VALUES * MOST_RANGES;
    strake_transfer *send = calloc(most, sizeof *send);
    strake_transfer *receive = calloc(most, sizeof *receive);
    status = send != NULL && receive != NULL
                 ? leave(solver, error)
                 : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    STRAKE_TRY(strake_ranks_agree(solver->ranks, status, error));
    STRAKE_TRY(
        strake_ranks_agree(solver->ranks, trade(solver, owned, send, receive, error), error));
    strake_shares_set(solver, owned);
    strake_arrays_trim(solver);
cleanup:
    free(send);
    free(receive);
    return status;
}

/* Teams around the present slabs, and what they exchange. Collective. */
static strake_status settle(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_border_create(solver, error), error));
    STRAKE_TRY(strake_border_refresh(solver, error));
    solver->states_fresh = true;
    STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_team_upload(solver, error), error));
    strake_rebalance_begin(solver);
    strake_notices_streams(solver);
cleanup:
    return status;
}

/*
 * Moves slabs; where some device has no room for what its rank would gain, they go back for good, since
 * that is no reason to end a run. Collective.
 */
static strake_status move(strake_solver *solver, const verdict *wants, bool *moved,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range before[MOST_RANKS];
    strake_range owned[MOST_RANKS];
    double weight[STRAKE_MAX_PLACEMENTS];
    strake_error cause = {STRAKE_OK, ""};
    const int count = strake_ranks_count(solver->ranks);
    int64_t first = 0;
    for (int k = 0; k < count; k++) {
        before[k] = solver->owned[k];
        owned[k] = (strake_range){first, first + wants->slabs[k]};
        first = owned[k].end;
    }
    strake_shares_split(solver, weight);
    STRAKE_TRY(hand_over(solver, owned, error));
    status = strake_ranks_agree(solver->ranks, strake_team_place(solver, weight, &cause), &cause);
    *moved = status == STRAKE_OK;
    if (status == STRAKE_ERR_MEMORY || status == STRAKE_ERR_USAGE) {
        strake_solver_notice(solver, "rows stay with their ranks from now on: %s", cause.text);
        strake_decisions_refused(&solver->group.log, solver->step_count, cause.text);
        solver->group.balances = false;
        STRAKE_TRY(hand_over(solver, before, error));
        status =
            strake_ranks_agree(solver->ranks, strake_team_place(solver, weight, &cause), &cause);
    }
    STRAKE_CHECK(status == STRAKE_OK, error, cause.status, "%s", cause.text);
    STRAKE_TRY(settle(solver, error));
cleanup:
    return status;
}

strake_status strake_regroup(strake_solver *solver, int64_t steps, double elapsed,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds[MOST_RANKS];
    double own = 0.0, start = 0.0;
    bool moved = false, drifts = false;
    verdict said = {0};
    const int count = strake_ranks_count(solver->ranks);
    const bool decides = strake_ranks_self(solver->ranks) == 0;
    if (!solver->group.balances || solver->recorder != NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(watch(solver, steps, elapsed, &drifts, error));
    if (drifts) {
        forget(solver);
        strake_looks_anew(&solver->group.looks);
        return STRAKE_OK;
    }
    strake_looks_add(&solver->group.looks, steps, elapsed);
    if (!strake_looks_due(&solver->group.looks) || strake_steps_ahead(solver) == 0) {
        return STRAKE_OK;
    }
    own = conclude(solver);
    STRAKE_TRY(strake_ranks_collect(solver->ranks, &own, sizeof own, seconds, error));
    if (decides) {
        decide(solver, seconds, &said);
    }
    STRAKE_TRY(strake_ranks_broadcast(
        solver->ranks, &said, offsetof(verdict, slabs) + (size_t)count * sizeof said.slabs[0],
        error));
    solver->group.looks = (strake_looks){.piece = said.piece, .quiet = solver->group.looks.quiet};
    if (said.moves == 0) {
        return STRAKE_OK;
    }
    start = strake_solver_clock();
    solver->group.pace = 0.0;
    STRAKE_TRY(move(solver, &said, &moved, error));
    if (decides && moved) {
        const double took = strake_solver_clock() - start;
        strake_decisions_moved(&solver->group.log, solver->step_count, took);
        strake_balancer_moved(solver->group.balancer, said.slabs, took);
    }
cleanup:
    return status;
}
