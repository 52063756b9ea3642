#include "run/within.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/balance.h"
#include "run/exchange.h"
#include "run/regroup.h"
#include "run/choose.h"

/* Of parts that exchange within their legs. */
static strake_status start_within(void *user, int64_t steps, int64_t sweep, _Atomic int64_t *stop,
                                  strake_error *error)
{
    const strake_rank_group *group = user;
    (void)steps;
    (void)sweep;
    (void)stop;
    return group->domain->ops->start(group->domain, strake_workers_are_crowded(group->team, 1),
                                     error);
}

static strake_status join_within(void *user, strake_error *error)
{
    const strake_rank_group *group = user;
    return group->domain->ops->join(group->domain, error);
}

/* From now on they step with those of other ranks. */
static strake_status join(strake_rank_group *group, strake_error *error)
{
    strake_outside *const outside = &group->team->outside;
    strake_ranks_set_crowded(group->ranks, strake_workers_are_crowded(group->team, 1));
    outside->user = group;
    outside->start = start_within;
    outside->join = join_within;
    outside->is_within = true;
    return group->domain->ops->share(group->domain, group->owned, error);
}

/* Slabs of every rank by their work, of which all know, and the ranks' weights. */
static strake_status share_work(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const d = group->domain;
    const int count = strake_ranks_count(d->ranks);
    strake_chain chain[STRAKE_MOST_PARTS];
    int64_t slabs[STRAKE_MOST_PARTS];
    double weight[STRAKE_MOST_PARTS];
    double *const before = calloc((size_t)d->slabs + 1, sizeof *before);
    STRAKE_CHECK(before != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    STRAKE_TRY(strake_shares_weights(group, weight, error));
    d->ops->weigh(d);
    strake_domain_sum_work(d, (strake_range){0, d->slabs}, before);
    for (int k = 0; k < count; k++) {
        chain[k] = (strake_chain){.rate = 1.0 / fmax(weight[k], 1e-9),
                                  .least = strake_domain_least(d, 1),
                                  .most = d->slabs,
                                  .is_needed = true};
    }
    if (isfinite(strake_chains_cut(before, d->slabs, chain, count, slabs))) {
        for (int64_t k = 0, first = 0; k < count; first += slabs[k++]) {
            group->owned[k] = (strake_range){first, first + slabs[k]};
        }
        strake_shares_set(group, group->owned);
    }
cleanup:
    free(before);
    return status;
}

/* Ranks whose parts exchange within their legs: all take the same ones. */
strake_status strake_within_place(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double fewest = 0.0; /* steps at once */
    STRAKE_TRY(strake_ranks_agree(group->ranks, strake_shares_check(group, error), error));
    STRAKE_TRY(strake_ranks_agree(group->ranks, share_work(group, error), error));
    STRAKE_TRY(strake_ranks_agree(group->ranks,
                                  group->team->has_weights
                                      ? strake_team_place(group->team, group->pace->weight, error)
                                      : strake_balance(group->pace, error),
                                  error));
    /* Trials are made as if nobody were beside this rank. */
    STRAKE_TRY(strake_ranks_agree(group->ranks, join(group, error), error));
    fewest = -(double)group->team->at_once;
    STRAKE_TRY(strake_ranks_most(group->ranks, &fewest, 1, error));
    group->team->at_once = (int)-fewest;
    STRAKE_TRY(strake_exchange_choose(group, error));
    STRAKE_TRY(strake_exchange_rehearse(group, error));
cleanup:
    return status;
}

/*
 * Shares this rank's slabs among the parts that have some, as they are shared now: a part that lost its last one, or
 * got its first, would have to be made anew, with what only other ranks have.
 */
static strake_obstacle split_own(const strake_rank_group *group, strake_range own, int64_t *slabs)
{
    const strake_team *const team = group->team;
    double weight[STRAKE_MAX_PARTS];
    strake_range range[STRAKE_MAX_PARTS];
    strake_shares_split(group, weight);
    strake_partition(own.end - own.first, team->parts, weight, range);
    for (int e = 0; e < team->parts; e++) {
        slabs[e] = range[e].end - range[e].first;
    }
    for (int e = 0; e < team->parts; e++) {
        strake_partition_keep(slabs, team->parts, e, weight[e] > 0.0 ? 1 : 0);
    }
    int64_t first = own.first;
    for (int e = 0; e < team->parts; first += slabs[e++]) {
        range[e] = (strake_range){first, first + slabs[e]};
    }
    return strake_rebalance_obstacle(team, range);
}

/*
 * Nothing is handed over here: parts take their slabs with the next order. Until then nobody balances.
 */
strake_status strake_within_move(strake_rank_group *group, const strake_range *owned, bool *moved,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *const d = group->domain;
    int64_t slabs[STRAKE_MAX_PARTS];
    double most = (double)split_own(group, owned[strake_ranks_self(d->ranks)], slabs);
    strake_obstacle found = STRAKE_NO_OBSTACLE;
    STRAKE_TRY(strake_ranks_most(d->ranks, &most, 1, error));
    found = (strake_obstacle)most;
    *moved = found == STRAKE_NO_OBSTACLE;
    if (found == STRAKE_OTHER_PARTS) { /* of other shares the next look may think otherwise */
        strake_decisions_refused(&group->log, d->step, "fewer slices than parts");
        return STRAKE_OK;
    }
    if (found == STRAKE_NO_ROOM) {
        strake_tell(&group->team->notices, "slices stay with their ranks from now on: a part has "
                                           "no room for what it would get");
        strake_decisions_refused(&group->log, d->step, "no room");
        group->balances = false;
        return STRAKE_OK;
    }
    strake_shares_set(group, owned);
    STRAKE_TRY(
        strake_ranks_agree(d->ranks, strake_rebalance_move(group->pace, slabs, error), error));
    STRAKE_TRY(d->ops->share(d, owned, error));
    group->pace->balances = group->pace->levels = false;
    group->is_moving = true;
cleanup:
    return status;
}

/* Whether all ranks have the slabs that they were given; the balance of their parts then goes on. Collective. */
strake_status strake_within_settle(strake_rank_group *group, bool *settled, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double waits = strake_domain_lacks(group->domain, STRAKE_LACKS_MOVED) ? 1.0 : 0.0;
    STRAKE_TRY(strake_ranks_most(group->domain->ranks, &waits, 1, error));
    *settled = !(waits > 0.0);
    if (*settled) {
        group->is_moving = false;
        strake_rebalance_begin(group->pace);
    }
cleanup:
    return status;
}

void strake_within_expect(strake_rank_group *group, int64_t aim)
{
    group->aim = aim;
}

void strake_within_break(strake_rank_group *group)
{
    if (group->team->outside.is_within && group->domain->step < group->aim &&
        !strake_clock_is_over(&group->domain->clock)) {
        group->domain->ops->leave(group->domain);
    }
}
