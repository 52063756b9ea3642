/* Shares of slabs among ranks: given, or measured on trial steps of every rank at the same time. */
#include "group/shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "grid/arrays.h"
#include "group/border.h"
#include "pace/choose.h"
#include "grid/inputs.h"

enum { MOST_RANKS = STRAKE_MOST_PLACEMENTS, ROUNDS = 2 };

/* Shares stay where every rate agrees with them so well. */
static const double close_enough = 0.02;

strake_status strake_shares_pick(const strake_solver *solver, const char *option, const char *text,
                                 char *out, size_t size, strake_error *error)
{
    const int count = strake_ranks_count(solver->ranks);
    const int self = strake_ranks_self(solver->ranks);
    const char *part = text;
    int parts = 1;
    for (const char *at = strchr(text, '/'); at != NULL; at = strchr(at + 1, '/')) {
        part = parts == self ? at + 1 : part;
        parts++;
    }
    if (parts != 1 && parts != count) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: `%s` has parts for %d ranks, and there %s %d; give one for each "
                           "rank, or one for all",
                           option, text, parts, count == 1 ? "is" : "are", count);
    }
    const size_t length = strcspn(part, "/");
    if (length >= size) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: `%s` is too long", option, text);
    }
    memcpy(out, part, length);
    out[length] = '\0';
    return STRAKE_OK;
}

strake_window strake_shares_window(const strake_solver *solver, strake_range own)
{
    int64_t depth[2];
    strake_border_depth(solver, solver->sweep, depth);
    return strake_window_make(&solver->layout, own, depth[0] + 1, depth[1] + 1);
}

void strake_shares_set(strake_solver *solver, const strake_range *owned)
{
    const int count = strake_ranks_count(solver->ranks);
    memmove(solver->owned, owned, (size_t)count * sizeof *owned);
    solver->own = solver->owned[strake_ranks_self(solver->ranks)];
    solver->window = strake_shares_window(solver, solver->own);
}

/* Gives every rank slabs in proportion to its weight, and none fewer than it needs. */
static strake_status share(strake_solver *solver, const double *weight, int steps,
                           strake_error *error)
{
    const int count = strake_ranks_count(solver->ranks);
    const int64_t least = strake_border_least(solver, steps);
    const int64_t n = solver->layout.n[0];
    int64_t slabs[MOST_RANKS];
    if (n / count < least) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: %lld %s are too few for %d ranks, which need %lld each; start fewer "
            "ranks",
            solver->which->file, (long long)n,
            solver->which->problem->dims == 3 ? "planes" : "rows", count, (long long)least);
    }
    strake_partition(n, count, weight, solver->owned);
    for (int k = 0; k < count; k++) {
        slabs[k] = solver->owned[k].end - solver->owned[k].first;
    }
    for (int k = 0; k < count; k++) {
        strake_partition_keep(slabs, count, k, least);
    }
    int64_t first = 0;
    for (int k = 0; k < count; k++) {
        solver->owned[k].first = first;
        first += slabs[k];
        solver->owned[k].end = first;
    }
    strake_shares_set(solver, solver->owned);
    return STRAKE_OK;
}

/* One way, slabs wander through the ranks: whatever belongs to a place would have to wander too. */
static strake_status check_one_way(const strake_solver *solver, strake_error *error)
{
    const strake_problem *problem = solver->which->problem;
    if (solver->layout.boundary[0] != STRAKE_PERIODIC) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: run.exchange: one_way needs a periodic boundary in the slowest "
                           "direction, because every row wanders round it; use both",
                           solver->which->file);
    }
    for (int f = 0; f < problem->fields; f++) {
        if (!problem->field[f].is_state && !solver->constant[f]) {
            return strake_fail(
                error, STRAKE_ERR_USAGE,
                "%s: run.exchange: one_way is for problems without fields that stay "
                "the same, but field %s has different values from cell to cell; give "
                "it as {constant: X}, or use both",
                solver->which->file, problem->field[f].name);
        }
    }
    return STRAKE_OK;
}

/* Weights given for the ranks, or equal ones. */
static strake_status first_weights(const strake_solver *solver, double *weight, strake_error *error)
{
    const char *at = solver->which->shares;
    const int count = strake_ranks_count(solver->ranks);
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        char *end = NULL;
        weight[k] = at != NULL ? strake_number_read(at, &end) : 1.0;
        if (at != NULL && (end == at || *end != (k + 1 < count ? ',' : '\0'))) {
            return strake_fail(
                error, STRAKE_ERR_USAGE,
                "%s: run.shares: `%s`: expected one number >= 0 for each of %d ranks",
                solver->which->file, solver->which->shares, count);
        }
        at = at != NULL ? end + 1 : NULL;
        sum += weight[k];
    }
    return sum > 0.0 ? STRAKE_OK
                     : strake_fail(error, STRAKE_ERR_USAGE, "%s: run.shares: all weights are zero",
                                   solver->which->file);
}

strake_status strake_shares_begin(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double weight[MOST_RANKS];
    const int count = strake_ranks_count(solver->ranks);
    solver->own = (strake_range){0, solver->layout.n[0]};
    solver->window = (strake_window){1, {solver->own}};
    if (solver->which->exchange == STRAKE_EXCHANGE_ONE_WAY) {
        STRAKE_TRY(check_one_way(solver, error));
    }
    if (solver->ranks == NULL) {
        goto cleanup;
    }
    STRAKE_CHECK(count <= MOST_RANKS, error, STRAKE_ERR_USAGE,
                 "%d ranks; Strake runs on %d at most", count, (int)MOST_RANKS);
    strake_ranks_set_patience(solver->ranks, solver->which->patience);
    solver->one_way = solver->which->exchange == STRAKE_EXCHANGE_ONE_WAY;
    solver->owned = calloc((size_t)count, sizeof *solver->owned);
    STRAKE_CHECK(solver->owned != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    STRAKE_TRY(first_weights(solver, weight, error));
    STRAKE_TRY(share(solver, weight, 1, error));
cleanup:
    return status;
}

/* What this rank's places can be under ranks. */
static strake_status check_places(const strake_solver *solver, strake_error *error)
{
    for (int e = 0; e < solver->parts; e++) {
        if (solver->part[e].ops->needs_all) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "--on %s computes the whole grid on one rank; there are %d: use "
                               "cpu, or start one",
                               solver->part[e].name, strake_ranks_count(solver->ranks));
        }
    }
    return STRAKE_OK;
}

void strake_shares_split(const strake_solver *solver, double *weight)
{
    for (int e = 0; e < solver->parts; e++) {
        weight[e] = (double)(solver->part[e].range.end - solver->part[e].range.first);
    }
}

/* This rank's slabs per second. */
static strake_status time_rank(strake_solver *solver, double *rate, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds = 0.0;
    double part_seconds[STRAKE_MAX_PLACEMENTS] = {0.0};
    STRAKE_TRY(strake_time_team(solver, &seconds, part_seconds, error));
    *rate = seconds > 0.0 ? (double)(solver->own.end - solver->own.first) / seconds : 1.0;
cleanup:
    return status;
}

/* The fields of a share that has changed before the first step: all of them come from the case. */
static strake_status take_share(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_arrays_trim(solver);
    STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_inputs_fill(solver, error), error));
    STRAKE_TRY(strake_inputs_prepare(solver, error));
cleanup:
    return status;
}

/* Shares in proportion to the rates that all ranks measure at the same time. */
static strake_status share_by_rates(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double rate = 0.0;
    double rates[MOST_RANKS];
    double weight[STRAKE_MAX_PLACEMENTS];
    const int count = strake_ranks_count(solver->ranks);
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0.0;
        bool settled = true;
        STRAKE_TRY(strake_ranks_agree(solver->ranks, time_rank(solver, &rate, error), error));
        STRAKE_TRY(strake_ranks_collect(solver->ranks, &rate, sizeof rate, rates, error));
        for (int k = 0; k < count; k++) {
            sum += rates[k];
        }
        for (int k = 0; k < count; k++) {
            const double has = (double)(solver->owned[k].end - solver->owned[k].first);
            const double wants = (double)solver->layout.n[0] * rates[k] / sum;
            settled = settled && wants < has * (1.0 + close_enough) + 1.0 &&
                      wants > has * (1.0 - close_enough) - 1.0;
        }
        if (settled) {
            break;
        }
        strake_shares_split(solver, weight);
        STRAKE_TRY(share(solver, rates, 1, error));
        STRAKE_TRY(take_share(solver, error));
        STRAKE_TRY(
            strake_ranks_agree(solver->ranks, strake_team_place(solver, weight, error), error));
    }
cleanup:
    return status;
}

/* What every rank tells the others of its team. */
typedef struct facts {
    int at_once, parts;
} facts;

/* All ranks take as many steps at once as the most careful one, and as the smallest has slabs for. */
static strake_status agree_on_steps(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    facts all[MOST_RANKS];
    const facts mine = {solver->at_once, solver->parts};
    int least = solver->at_once;
    int parts = 0;
    int64_t fewest = INT64_MAX; /* slabs of a rank */
    double weight[STRAKE_MAX_PLACEMENTS];
    const int count = strake_ranks_count(solver->ranks);
    STRAKE_TRY(strake_ranks_collect(solver->ranks, &mine, sizeof mine, all, error));
    for (int k = 0; k < count; k++) {
        least = all[k].at_once < least ? all[k].at_once : least;
        parts += all[k].parts;
        const int64_t slabs = solver->owned[k].end - solver->owned[k].first;
        fewest = slabs < fewest ? slabs : fewest;
    }
    STRAKE_CHECK(parts <= STRAKE_MOST_PLACEMENTS, error, STRAKE_ERR_USAGE,
                 "--on: %d entries on all ranks together; Strake takes %d at most", parts,
                 (int)STRAKE_MOST_PLACEMENTS);
    /* Shares have the slabs of one step (see share()); more steps need more of every rank. */
    while (least > 1 && strake_border_least(solver, least) > fewest) {
        least--;
    }
    solver->agreed = least;
    if (solver->at_once != least) {
        strake_shares_split(solver, weight);
        status = strake_team_place(solver, weight, error);
    }
cleanup:
    return status;
}

strake_status strake_shares_place(strake_solver *solver, strake_error *error)
{
    strake_status status = check_places(solver, error);
    solver->agreed = 0;
    if (status == STRAKE_OK && solver->has_weights) {
        status = strake_team_place(solver, solver->weight, error);
    } else if (status == STRAKE_OK) {
        status = strake_balance(solver, solver->kind, error);
    }
    STRAKE_TRY(strake_ranks_agree(solver->ranks, status, error));
    if (solver->which->shares == NULL) {
        STRAKE_TRY(share_by_rates(solver, error));
    }
    STRAKE_TRY(strake_ranks_agree(solver->ranks, agree_on_steps(solver, error), error));
    STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_border_create(solver, error), error));
    /* Trials did without the neighbours' slabs. */
    STRAKE_TRY(strake_border_refresh(solver, error));
    solver->ghosts_stale = false;
    solver->states_fresh = true;
cleanup:
    return status;
}
