#include "run/regroup.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "run/border.h"
#include "run/commons.h"
#include "run/exchange.h"
#include "run/within.h"
#include "run/choose.h"

/* Shares of slabs among ranks: given, or measured on trial steps of every rank at the same time. */

enum { SHARES_MOST_RANKS = STRAKE_MOST_PARTS, ROUNDS = 2 };

/* Shares stay where every rate agrees with them so well. */
static const double close_enough = 0.02;

void strake_shares_set(strake_rank_group *group, const strake_range *owned)
{
    const int count = strake_ranks_count(group->domain->ranks);
    memmove(group->owned, owned, (size_t)count * sizeof *owned);
    group->domain->ops->take(group->domain, group->owned[strake_ranks_self(group->domain->ranks)],
                             group->team->sweep);
    strake_border_stripes(group);
}

/* Gives every rank slabs in proportion to its weight, and none fewer than it needs for one step. */
static strake_status share(strake_rank_group *group, const double *weight, strake_error *error)
{
    const int count = strake_ranks_count(group->domain->ranks);
    const int64_t least = strake_domain_least(group->domain, 1);
    const int64_t n = group->domain->slabs;
    int64_t slabs[SHARES_MOST_RANKS];
    if (group->which->problem->dims == 1 && count > 1) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: a grid of one dimension is not shared among ranks, of which there "
                           "are %d; start one",
                           group->which->file, count);
    }
    if (n / count < least) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: %lld %s are too few for %d ranks, which need %lld each; start fewer "
            "ranks",
            group->which->file, (long long)n,
            group->which->problem->has_particles ? "slices of cells"
            : group->which->problem->dims == 3   ? "planes"
                                                 : "rows",
            count, (long long)least);
    }
    strake_partition(n, count, weight, group->owned);
    for (int k = 0; k < count; k++) {
        slabs[k] = group->owned[k].end - group->owned[k].first;
    }
    for (int k = 0; k < count; k++) {
        strake_partition_keep(slabs, count, k, least);
    }
    int64_t first = 0;
    for (int k = 0; k < count; k++) {
        group->owned[k].first = first;
        first += slabs[k];
        group->owned[k].end = first;
    }
    strake_shares_set(group, group->owned);
    return STRAKE_OK;
}

/* Weights given for the ranks, or equal ones. */
strake_status strake_shares_weights(const strake_rank_group *group, double *weight,
                                    strake_error *error)
{
    const char *at = group->which->run.shares;
    const int count = strake_ranks_count(group->domain->ranks);
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        char *end = NULL;
        weight[k] = at != NULL ? strake_number_read(at, &end) : 1.0;
        if (at != NULL && (end == at || *end != (k + 1 < count ? ',' : '\0'))) {
            return strake_fail(
                error, STRAKE_ERR_USAGE,
                "%s: run.shares: `%s`: expected one number >= 0 for each of %d ranks",
                group->which->file, group->which->run.shares, count);
        }
        at = at != NULL ? end + 1 : NULL;
        sum += weight[k];
    }
    return sum > 0.0 ? STRAKE_OK
                     : strake_fail(error, STRAKE_ERR_USAGE, "%s: run.shares: all weights are zero",
                                   group->which->file);
}

strake_status strake_shares_begin(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double weight[SHARES_MOST_RANKS];
    const int count = strake_ranks_count(group->domain->ranks);
    if (group->domain->ranks == NULL) {
        goto cleanup;
    }
    STRAKE_CHECK(count <= SHARES_MOST_RANKS, error, STRAKE_ERR_USAGE,
                 "%d ranks; Strake runs on %d at most", count, (int)SHARES_MOST_RANKS);
    strake_ranks_set_patience(group->domain->ranks, group->which->run.patience);
    group->domain->one_way =
        group->exchange.way == STRAKE_EXCHANGE_ONE_WAY && !strake_is_within(group);
    group->owned = calloc((size_t)count, sizeof *group->owned);
    STRAKE_CHECK(group->owned != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    STRAKE_TRY(strake_shares_weights(group, weight, error));
    STRAKE_TRY(share(group, weight, error));
cleanup:
    return status;
}

strake_status strake_shares_check(const strake_rank_group *group, strake_error *error)
{
    for (int e = 0; e < group->team->parts; e++) {
        if (group->team->part[e].ops->needs_all) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "--on %s computes the whole grid on one rank; there are %d: use "
                               "cpu, or start one",
                               group->team->part[e].name, strake_ranks_count(group->domain->ranks));
        }
    }
    return STRAKE_OK;
}

void strake_shares_split(const strake_rank_group *group, double *weight)
{
    for (int e = 0; e < group->team->parts; e++) {
        weight[e] = (double)(group->team->part[e].range.end - group->team->part[e].range.first);
    }
}

/* This rank's slabs per second. */
static strake_status time_rank(strake_rank_group *group, double *rate, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds = 0.0;
    double part_seconds[STRAKE_MAX_PARTS] = {0.0};
    STRAKE_TRY(strake_time_team(group->pace, &seconds, part_seconds, error));
    *rate =
        seconds > 0.0 ? (double)(group->domain->own.end - group->domain->own.first) / seconds : 1.0;
cleanup:
    return status;
}

/* Shares in proportion to the rates that all ranks measure at the same time. */
static strake_status share_by_rates(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double rate = 0.0;
    double rates[SHARES_MOST_RANKS];
    double weight[STRAKE_MAX_PARTS];
    const int count = strake_ranks_count(group->domain->ranks);
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0.0;
        bool settled = true;
        STRAKE_TRY(strake_ranks_agree(group->domain->ranks, time_rank(group, &rate, error), error));
        STRAKE_TRY(strake_ranks_collect(group->domain->ranks, &rate, sizeof rate, rates, error));
        for (int k = 0; k < count; k++) {
            sum += rates[k];
        }
        for (int k = 0; k < count; k++) {
            const double has = (double)(group->owned[k].end - group->owned[k].first);
            const double wants = (double)group->domain->slabs * rates[k] / sum;
            settled = settled && wants < has * (1.0 + close_enough) + 1.0 &&
                      wants > has * (1.0 - close_enough) - 1.0;
        }
        if (settled) {
            break;
        }
        strake_shares_split(group, weight);
        STRAKE_TRY(share(group, rates, error));
        group->domain->ops->trim(group->domain);
        STRAKE_TRY(group->domain->ops->fill(group->domain, error));
        STRAKE_TRY(strake_ranks_agree(group->domain->ranks,
                                      strake_team_place(group->team, weight, error), error));
    }
cleanup:
    return status;
}

/* What every rank tells the others of its team. */
typedef struct facts {
    int at_once, parts;
} facts;

/* All ranks take as many steps at once as the most careful one, and as the smallest has slabs for. */
static strake_status agree_on_steps(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    facts all[SHARES_MOST_RANKS];
    const facts mine = {group->team->at_once, group->team->parts};
    int least = group->team->at_once;
    int parts = 0;
    int64_t fewest = INT64_MAX; /* slabs of a rank */
    double weight[STRAKE_MAX_PARTS];
    const int count = strake_ranks_count(group->domain->ranks);
    STRAKE_TRY(strake_ranks_collect(group->domain->ranks, &mine, sizeof mine, all, error));
    for (int k = 0; k < count; k++) {
        least = all[k].at_once < least ? all[k].at_once : least;
        parts += all[k].parts;
        const int64_t slabs = group->owned[k].end - group->owned[k].first;
        fewest = slabs < fewest ? slabs : fewest;
    }
    STRAKE_CHECK(parts <= STRAKE_MOST_PARTS, error, STRAKE_ERR_USAGE,
                 "--on: %d entries on all ranks together; Strake takes %d at most", parts,
                 (int)STRAKE_MOST_PARTS);
    /* Shares have the slabs of one step (see share()); more steps need more of every rank. */
    while (least > 1 && strake_domain_least(group->domain, least) > fewest) {
        least--;
    }
    group->team->agreed = least;
    if (group->team->at_once != least) {
        strake_shares_split(group, weight);
        status = strake_team_place(group->team, weight, error);
    }
cleanup:
    return status;
}

strake_status strake_shares_place(strake_rank_group *group, strake_error *error)
{
    strake_status status = strake_shares_check(group, error);
    group->team->agreed = 0;
    if (status == STRAKE_OK && group->team->has_weights) {
        status = strake_team_place(group->team, group->pace->weight, error);
    } else if (status == STRAKE_OK) {
        status = strake_balance(group->pace, error);
    }
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, status, error));
    if (group->which->run.shares == NULL) {
        STRAKE_TRY(share_by_rates(group, error));
    }
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, agree_on_steps(group, error), error));
    STRAKE_TRY(strake_exchange_choose(group, error));
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, strake_border_create(group, error), error));
    /* Trials did without the neighbours' slabs. */
    STRAKE_TRY(strake_border_refresh(group, error));
    STRAKE_TRY(strake_exchange_rehearse(group, error));
    group->domain->ops->note(group->domain, STRAKE_DOMAIN_REFRESHED);
cleanup:
    return status;
}

enum { MOST_RANKS = STRAKE_MOST_PARTS, MOST_RANGES = 2 };

/* What moving a rank's share costs before that is measured: to make teams anew [s], and messages [bytes/s]. */
static const double usual_start = 0.02, usual_message = 1e9;

/* Share of a step that a move between ranks must save: everybody stops for it. */
static const double least_gain = 0.1;

/* Steps that are compared with the usual pace, and how much slower a change is. */
enum { WATCHED = 10, WITHIN = 64 };

static const double drift = 1.5;

/* What rank 0 tells the others after a look. */
typedef struct verdict {
    int64_t moves, piece;
    int64_t slabs[MOST_RANKS];
} verdict;

/* What a rank tells of its slabs where these differ. */
typedef struct load {
    double work; /* of a step since the last look */
    strake_quantiles quantiles;
} load;

/* What a look takes, for as many ranks as there may be: too much for the stack of a small thread. */
struct strake_regroup_look {
    double seconds[MOST_RANKS];
    verdict said;
    strake_range before[MOST_RANKS], owned[MOST_RANKS];
    load load[MOST_RANKS];
    double worked[MOST_RANKS];
};

static double guess_cost(const strake_rank_group *group)
{
    const strake_domain *d = group->domain;
    const double slabs = (double)d->slabs / strake_ranks_count(d->ranks);
    return usual_start / slabs + d->slab_bytes * (d->states + d->inputs) / usual_message;
}

int strake_regroup_policy(const strake_rank_group *group, double *slab_seconds, int64_t *least)
{
    *slab_seconds = guess_cost(group);
    *least = strake_domain_least(group->domain, group->team->at_once);
    return (int)strake_rebalance_policy(group->which, group->which->run.shares != NULL);
}

strake_status strake_regroup_begin(strake_rank_group *group, strake_error *error)
{
    double cost = 0.0;
    int64_t least = 0;
    const int count = strake_ranks_count(group->domain->ranks);
    const int policy = strake_regroup_policy(group, &cost, &least);
    strake_looks_begin(&group->looks);
    group->balances = group->domain->ranks != NULL && policy != STRAKE_BALANCE_FIXED;
    if (!group->balances) {
        return STRAKE_OK;
    }
    const bool decides = strake_ranks_self(group->domain->ranks) == 0;
    group->look = malloc(sizeof *group->look);
    group->balancer = decides ? malloc(sizeof *group->balancer) : NULL;
    if (group->look == NULL || (decides && group->balancer == NULL)) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    }
    group->is_fresh = group->domain->work != NULL;
    if (!decides) {
        return STRAKE_OK;
    }
    if (group->is_fresh) {
        group->before = calloc((size_t)group->domain->slabs + 1, sizeof *group->before);
        if (group->before == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
        }
    }
    int64_t *const slabs = group->look->said.slabs;
    for (int k = 0; k < count; k++) {
        slabs[k] = group->owned[k].end - group->owned[k].first;
    }
    strake_balancer_begin(group->balancer, (strake_balance_policy)policy, count, slabs, cost);
    group->balancer->least = least;
    group->balancer->gain = least_gain;
    /* Where slabs are slices of cells, as in the paper, the rule's slice is one. */
    group->balancer->slice = strake_is_within(group) ? 1 : group->balancer->slice;
    group->balancer->threshold = group->which->run.balance_threshold;
    return STRAKE_OK;
}

void strake_regroup_end(strake_rank_group *group)
{
    free(group->look);
    free(group->balancer);
    free(group->before);
    free(group->log.decision);
}

int64_t strake_regroup_piece(const strake_rank_group *group, int64_t steps)
{
    if (group->team->outside.is_within) { /* then each looks at the balance of its parts */
        return steps < WITHIN ? steps : WITHIN;
    }
    return group->balances && group->team->recorder == NULL
               ? strake_looks_left(&group->looks, steps, group->team->at_once)
               : steps;
}

void strake_regroup_observe(strake_rank_group *group, int64_t steps)
{
    double seconds[STRAKE_MAX_PARTS];
    if (!group->balances) {
        return;
    }
    strake_parts_worked(group->team, steps, seconds);
    for (int e = 0; e < group->team->parts; e++) {
        const strake_range range = group->team->part[e].range;
        group->busy[e] += seconds[e];
        group->done[e] += (double)((range.end - range.first) * steps);
    }
}

static void forget(strake_rank_group *group)
{
    memset(group->busy, 0, sizeof group->busy);
    memset(group->done, 0, sizeof group->done);
}

/*
 * Steps that suddenly take longer than they usually do since slabs moved last end the wait for the next
 * look: what was seen before says nothing about now. Not the best pace as within a process: moves between
 * ranks cost more, and machines that others use too are never at their best for long. Collective.
 */
static strake_status watch(strake_rank_group *group, int64_t steps, double elapsed, bool *drifts,
                           strake_error *error)
{
    strake_status status = STRAKE_OK;
    double pace = elapsed / (double)steps;
    const double usual = group->usual;
    *drifts = false;
    if (steps < WATCHED) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_ranks_most(group->domain->ranks, &pace, 1, error));
    *drifts = usual > 0.0 && pace > drift * usual;
    group->usual = *drifts ? 0.0 : usual > 0.0 ? 0.5 * (usual + pace) : pace;
cleanup:
    return status;
}

/*
 * Seconds that a step of this rank's slabs takes, once they are well shared among its parts: what these
 * can settle among themselves is no reason to move slabs to another rank.
 */
static double conclude(strake_rank_group *group)
{
    const strake_domain *const d = group->domain;
    double rate = 0.0;
    double longest = 0.0;
    for (int e = 0; e < group->team->parts; e++) {
        const double busy = group->busy[e];
        const double step = busy / (double)group->looks.seen;
        const double done = d->work != NULL ? strake_domain_work(d, group->team->part[e].range) *
                                                  (double)group->looks.seen
                                            : group->done[e];
        rate += busy > 0.0 ? done / busy : 0.0;
        longest = step > longest ? step : longest;
    }
    forget(group);
    const double all =
        d->work != NULL ? strake_domain_work(d, d->own) : (double)(d->own.end - d->own.first);
    return group->pace->balances && rate > 0.0 ? all / rate : longest;
}

/* What this rank has to tell of its slabs. */
static strake_status tell_load(strake_rank_group *group, load *out, strake_error *error)
{
    const strake_domain *const d = group->domain;
    const int64_t slabs = d->own.end - d->own.first;
    double *const before = calloc((size_t)slabs + 1, sizeof *before);
    if (before == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    }
    strake_domain_sum_work(d, d->own, before);
    out->quantiles = strake_quantiles_of(before, slabs);
    out->work = 0.5 * (group->worked + out->quantiles.all);
    group->worked = out->quantiles.all;
    free(before);
    return STRAKE_OK;
}

/* Brings together where the work of all slabs lies. Collective. */
static strake_status weigh(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct strake_regroup_look *const look = group->look;
    load mine = {0};
    if (group->domain->work == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, tell_load(group, &mine, error), error));
    STRAKE_TRY(strake_ranks_collect(group->domain->ranks, &mine, sizeof mine, look->load, error));
    for (int k = 0; k < strake_ranks_count(group->domain->ranks) && group->before != NULL; k++) {
        const strake_range owned = group->owned[k];
        double *const before = &group->before[owned.first];
        const double first = owned.first > 0 ? before[0] : 0.0;
        strake_quantiles_spread(&look->load[k].quantiles, owned.end - owned.first, before);
        for (int64_t slab = 0; slab <= owned.end - owned.first; slab++) {
            before[slab] += first;
        }
        look->worked[k] = look->load[k].work;
    }
cleanup:
    return status;
}

/* Rank 0 decides for all: the same numbers need not give the same bits on other processors. */
static void decide(strake_rank_group *group, const double *seconds, verdict *out)
{
    strake_balancer *b = group->balancer;
    const int64_t ahead = strake_steps_ahead(group->pace);
    char why[sizeof((strake_decision *)NULL)->why];
    /* One look alone tells nothing of how far it may be off; bisection and slices do not ask. */
    const bool may_move = b->policy != STRAKE_BALANCE_MODEL || group->log.count > 0;
    if (group->before != NULL) {
        strake_balancer_weigh(b, group->before, group->look->worked,
                              group->looks.seconds / (double)group->looks.seen, group->looks.seen);
    }
    out->moves = strake_balancer_decide(b, seconds, ahead, out->slabs, why, sizeof why) && may_move;
    strake_decisions_add(&group->log, group->domain->step, b->parts, seconds, b->owned,
                         out->moves != 0, why);
    if (group->before != NULL) {
        strake_decisions_weigh(&group->log, group->domain->step, b->work.step, group->look->worked,
                               group->before, b->slabs);
    }
    strake_looks_plan(&group->looks, out->moves != 0 || b->doubts);
    out->piece = group->looks.piece;
}

/* A range with the ghosts beyond the ends of the domain, which go with the slabs there. */
static strake_range with_ends(const strake_domain *d, strake_range range)
{
    return (strake_range){range.first == 0 ? -d->reach[0] : range.first,
                          range.end == d->slabs ? d->slabs + d->reach[1] : range.end};
}

/* What a rank is to have of a current state, or of an input, once it owns some slabs. */
static strake_window wanted(const strake_rank_group *group, bool is_state, strake_range own)
{
    strake_window window = {1, {own}};
    if (!is_state) {
        /* Each rank owns slabs. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        window = group->domain->ops->window(group->domain, own, group->team->sweep);
    }
    for (int k = 0; k < window.ranges; k++) {
        window.range[k] = with_ends(group->domain, window.range[k]);
    }
    return window;
}

/* Adds what one rank wants of the slabs that another one had, where that is anything. */
static void add_transfers(const strake_rank_group *group, int item, int peer, strake_range had,
                          const strake_window *wants, strake_transfer *list, int *count)
{
    for (int k = 0; k < wants->ranges; k++) {
        const strake_range both = strake_range_cut(wants->range[k], with_ends(group->domain, had));
        if (both.first < both.end) {
            const strake_stretch piece = strake_domain_stretch(group->domain, item, both);
            /* Each rank has its lists. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
            list[(*count)++] = (strake_transfer){.peer = peer,
                                                 .tag = item * MOST_RANGES + k,
                                                 .data = piece.data,
                                                 .bytes = piece.bytes};
        }
    }
}

/* Who owned a slab before has its right values, of every item: all ranks get from it what they lack. */
static strake_status trade(strake_rank_group *group, const strake_range *owned,
                           strake_transfer *send, strake_transfer *receive, strake_error *error)
{
    int sends = 0;
    int receives = 0;
    const strake_domain *d = group->domain;
    const int self = strake_ranks_self(d->ranks);
    for (int k = 0; k < d->states + d->inputs; k++) {
        const bool is_state = k < d->states;
        const int item = k + (is_state ? d->parity : 1) * d->states;
        const strake_window mine = wanted(group, is_state, owned[self]);
        for (int peer = 0; peer < strake_ranks_count(d->ranks); peer++) {
            const strake_window theirs = wanted(group, is_state, owned[peer]);
            if (peer != self) {
                add_transfers(group, item, peer, d->own, &theirs, send, &sends);
                add_transfers(group, item, peer, group->owned[peer], &mine, receive, &receives);
            }
        }
    }
    return strake_ranks_trade(d->ranks, send, sends, receive, receives, error);
}

/* What needs no other rank: states in host arrays that are this rank's alone, and no team. */
static strake_status leave(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_team_gather(group->team, error));
    strake_team_release(group->team);
    strake_border_destroy(group);
    STRAKE_TRY(strake_commons_unmap(group, error));
cleanup:
    return status;
}

/* From the present owners of the slabs to others; ends the teams. Collective. */
static strake_status hand_over(strake_rank_group *group, const strake_range *owned,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(group->domain->ranks);
    const size_t items = (size_t)(group->domain->states + group->domain->inputs);
    const size_t most = (size_t)count * items * MOST_RANGES;
    strake_transfer *send = calloc(most, sizeof *send);
    strake_transfer *receive = calloc(most, sizeof *receive);
    status = send != NULL && receive != NULL
                 ? leave(group, error)
                 : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, status, error));
    STRAKE_TRY(
        strake_ranks_agree(group->domain->ranks, trade(group, owned, send, receive, error), error));
    strake_shares_set(group, owned);
    group->domain->ops->trim(group->domain);
cleanup:
    free(send);
    free(receive);
    return status;
}

/* Teams around the present slabs, and what they exchange. Collective. */
static strake_status settle(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_ranks_agree(group->domain->ranks, strake_border_create(group, error), error));
    STRAKE_TRY(strake_border_refresh(group, error));
    group->domain->ops->note(group->domain, STRAKE_DOMAIN_REFRESHED);
    STRAKE_TRY(
        strake_ranks_agree(group->domain->ranks, strake_team_upload(group->team, error), error));
    strake_rebalance_begin(group->pace);
    strake_notices_streams(group->team);
cleanup:
    return status;
}

/* Where a move puts each rank's slabs. */
static void find_owned(const strake_rank_group *group, const verdict *wants, strake_range *owned)
{
    int64_t first = 0;
    for (int k = 0; k < strake_ranks_count(group->domain->ranks); k++) {
        owned[k] = (strake_range){first, first + wants->slabs[k]};
        first = owned[k].end;
    }
}

/*
 * Moves slabs; where some device has no room for what its rank would gain, they go back for good, since
 * that is no reason to end a run. Collective.
 */
static strake_status move(strake_rank_group *group, bool *moved, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range *const before = group->look->before;
    strake_range *const owned = group->look->owned;
    double weight[STRAKE_MAX_PARTS];
    strake_error cause = {STRAKE_OK, ""};
    const int count = strake_ranks_count(group->domain->ranks);
    memcpy(before, group->owned, (size_t)count * sizeof *before);
    strake_shares_split(group, weight);
    STRAKE_TRY(hand_over(group, owned, error));
    status = strake_ranks_agree(group->domain->ranks,
                                strake_team_place(group->team, weight, &cause), &cause);
    *moved = status == STRAKE_OK;
    if (status == STRAKE_ERR_MEMORY || status == STRAKE_ERR_USAGE) {
        strake_tell(&group->team->notices, "rows stay with their ranks from now on: %s",
                    cause.text);
        strake_decisions_refused(&group->log, group->domain->step, cause.text);
        group->balances = false;
        STRAKE_TRY(hand_over(group, before, error));
        status = strake_ranks_agree(group->domain->ranks,
                                    strake_team_place(group->team, weight, &cause), &cause);
    }
    STRAKE_CHECK(status == STRAKE_OK, error, cause.status, "%s", cause.text);
    STRAKE_TRY(settle(group, error));
cleanup:
    return status;
}

strake_status strake_regroup(strake_rank_group *group, int64_t steps, double elapsed,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct strake_regroup_look *const look = group->look;
    double own = 0.0, start = 0.0;
    bool moved = false, drifts = false;
    const int count = strake_ranks_count(group->domain->ranks);
    const bool decides = strake_ranks_self(group->domain->ranks) == 0;
    if (!group->balances || group->team->recorder != NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(watch(group, steps, elapsed, &drifts, error));
    if (drifts) {
        forget(group);
        strake_looks_anew(&group->looks);
        return STRAKE_OK;
    }
    strake_looks_add(&group->looks, steps, elapsed);
    if (!strake_looks_due(&group->looks) || strake_steps_ahead(group->pace) == 0) {
        return STRAKE_OK;
    }
    strake_team_weigh(group->team);
    if (group->is_fresh) { /* on all ranks */
        bool settled = true;
        STRAKE_TRY(group->is_moving ? strake_within_settle(group, &settled, error) : STRAKE_OK);
        group->is_fresh = !settled;
        group->worked = strake_domain_work(group->domain, group->domain->own);
        forget(group);
        strake_looks_anew(&group->looks);
        return STRAKE_OK;
    }
    STRAKE_TRY(weigh(group, error));
    own = conclude(group);
    STRAKE_TRY(strake_ranks_collect(group->domain->ranks, &own, sizeof own, look->seconds, error));
    if (decides) {
        decide(group, look->seconds, &look->said);
    }
    STRAKE_TRY(strake_ranks_broadcast(
        group->domain->ranks, &look->said,
        offsetof(verdict, slabs) + (size_t)count * sizeof look->said.slabs[0], error));
    group->looks = (strake_looks){.piece = look->said.piece, .quiet = group->looks.quiet};
    if (look->said.moves == 0) {
        return STRAKE_OK;
    }
    start = strake_clock_seconds();
    group->usual = 0.0;
    group->is_fresh = group->domain->work != NULL;
    find_owned(group, &look->said, look->owned);
    STRAKE_TRY(strake_is_within(group)
                   ? strake_within_move(group, group->look->owned, &moved, error)
                   : move(group, &moved, error));
    if (decides && moved) {
        const double took = strake_clock_seconds() - start;
        strake_decisions_moved(&group->log, group->domain->step, took);
        strake_balancer_moved(group->balancer, look->said.slabs, took);
    }
cleanup:
    return status;
}
