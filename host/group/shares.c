/* Shares of slabs among ranks: given, or measured on trial steps of every rank at the same time. */
#include "group/shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "group/border.h"
#include "group/exchange.h"
#include "pace/choose.h"

enum { MOST_RANKS = STRAKE_MOST_PARTS, ROUNDS = 2 };

/* Shares stay where every rate agrees with them so well. */
static const double close_enough = 0.02;

strake_status strake_shares_pick(const strake_rank_group *group, const char *option,
                                 const char *text, char *out, size_t size, strake_error *error)
{
    const int count = strake_ranks_count(group->domain->ranks);
    const int self = strake_ranks_self(group->domain->ranks);
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
    int64_t slabs[MOST_RANKS];
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
    double weight[MOST_RANKS];
    const int count = strake_ranks_count(group->domain->ranks);
    if (group->domain->ranks == NULL) {
        goto cleanup;
    }
    STRAKE_CHECK(count <= MOST_RANKS, error, STRAKE_ERR_USAGE,
                 "%d ranks; Strake runs on %d at most", count, (int)MOST_RANKS);
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
    double rates[MOST_RANKS];
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
    facts all[MOST_RANKS];
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
