#include "group/trial.h"

#include <math.h>

#include "base/clock.h"
#include "base/sort.h"
#include "group/border.h"
#include "group/commons.h"
#include "group/shares.h"

enum {
    FIELD = 8,   /* options that are tried, ... */
    ROUNDS = 4,  /* ... 8, 4, 2 and 2 of them, ... */
    WARM = 2,    /* ... each after one sweep and a batch that make it warm, ... */
    BATCHES = 2, /* ... in so many batches */
    SAMPLES = ROUNDS * BATCHES
};

/* [s] Of all trials, or this part of a longer run, up to so many; what placing takes at least. */
static const double patience = 1.0, part_of_run = 0.01, most_patience = 10.0, placing = 2e-3;

/* Options that are predicted to take longer by more than this ratio are not tried: predictions are not off by more. */
static const double most_off = 1.6;

/* An option in the field. */
typedef struct runner {
    strake_round_option *option;
    double seconds[SAMPLES]; /* of a step on the rank that takes longest */
} runner;

/* Leaves what is placed; states are in the host's arrays. No device may have these when they are mapped anew. */
static strake_status leave(strake_rank_group *group, strake_error *error)
{
    strake_team_release(group->team);
    strake_border_destroy(group);
    return strake_commons_unmap(group, error);
}

/* Places this rank's team for another way and number of steps; more slabs of others are then read. */
static strake_status place(strake_rank_group *group, const double *weight, strake_exchange way,
                           int steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_team *const team = group->team;
    strake_domain *const d = group->domain;
    const bool one_way = way == STRAKE_EXCHANGE_ONE_WAY;
    const bool reads_more = one_way != d->one_way || steps > team->sweep;
    STRAKE_TRY(leave(group, error));
    team->agreed = steps;
    team->sweep = steps > team->sweep ? steps : team->sweep;
    d->one_way = one_way;
    group->exchange.way = way;
    if (reads_more) {
        strake_shares_set(group, group->owned);
        d->ops->trim(d);
        STRAKE_TRY(d->ops->fill(d, error));
    }
    STRAKE_TRY(strake_team_place(team, weight, error));
cleanup:
    return status;
}

/* The team of every rank with its neighbours' slabs, as in a run. */
static strake_status join(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_ranks_agree(group->ranks, strake_border_create(group, error), error));
    STRAKE_TRY(strake_border_refresh(group, error));
    group->domain->ops->note(group->domain, STRAKE_DOMAIN_REFRESHED);
    STRAKE_TRY(strake_ranks_agree(group->ranks, strake_team_upload(group->team, error), error));
cleanup:
    return status;
}

/* Times one option for about @p wanted seconds. @param[in,out] spent  seconds of trials, the same on all ranks */
static strake_status try_one(strake_rank_group *group, const double *weight, runner *r,
                             double wanted, double *spent, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error cause;
    strake_round_option *const o = r->option;
    const double start = strake_clock_seconds();
    double seconds[WARM + BATCHES] = {0.0};
    int64_t sweeps = 1;
    status = strake_ranks_agree(
        group->ranks, place(group, weight, (strake_exchange)o->way, o->steps, &cause), &cause);
    if (status == STRAKE_ERR_RANK) {
        return strake_fail(error, status, "%s", cause.text);
    }
    if (status != STRAKE_OK) { /* some rank has no room for it */
        o->measured = (double)INFINITY;
        return STRAKE_OK;
    }
    STRAKE_TRY(join(group, error));
    for (int k = 0; k < WARM + BATCHES; k++) {
        const double before = strake_clock_seconds();
        status = strake_team_rehearse(group->team, sweeps * o->steps, error);
        seconds[k] = (strake_clock_seconds() - before) / (double)(sweeps * o->steps);
        STRAKE_TRY(strake_ranks_agree(group->ranks, status, error));
        if (k == 0) {
            STRAKE_TRY(strake_ranks_most(group->ranks, seconds, 1, error));
            sweeps = (int64_t)ceil(wanted / (BATCHES + 1) / (seconds[0] * o->steps));
        }
    }
    seconds[0] = strake_clock_seconds() - start;
    STRAKE_TRY(strake_ranks_most(group->ranks, seconds, WARM + BATCHES, error));
    *spent += seconds[0];
    for (int k = WARM; k < WARM + BATCHES && o->samples < SAMPLES; k++) {
        r->seconds[o->samples++] = seconds[k];
    }
    o->measured = strake_median(r->seconds, o->samples);
cleanup:
    return status;
}

/* Puts an option where it belongs by what its steps take. @param[in] from  those before stay */
static void insert(runner *field, int count, int from, runner r, bool is_measured)
{
    int at = count;
    for (; at > from; at--) {
        const strake_round_option *const before = field[at - 1].option;
        if (is_measured ? before->measured <= r.option->measured : before->step <= r.option->step) {
            break;
        }
        field[at] = field[at - 1];
    }
    field[at] = r;
}

/* Who is tried, the best as predicted first. @return their number, the same on all ranks */
static int find_field(strake_rank_group *group, int first, double budget, runner *out)
{
    strake_rank_exchange *const x = &group->exchange;
    runner all[STRAKE_MOST_ROUND_OPTIONS];
    int count = 0, taken = 1;
    double least = 0.0;
    all[count++] = (runner){.option = &x->option[first]};
    for (int k = 0; k < x->options && !group->domain->is_adaptive; k++) {
        if (k != first && x->option[k].step <= most_off * x->option[first].step) {
            insert(all, count++, 1, (runner){.option = &x->option[k]}, false);
        }
    }
    out[0] = all[0];
    for (int k = 0; k < count && k < FIELD; k++) {
        least += placing + (WARM + BATCHES) * all[k].option->step * all[k].option->steps;
        if (least > budget) {
            break;
        }
        out[k] = all[k];
        taken = k + 1;
    }
    return taken;
}

/* Places the best of the field, else what was placed before. Collective. */
static strake_status settle(strake_rank_group *group, const double *weight,
                            const strake_round_option *best, strake_exchange way, int steps,
                            strake_error *error)
{
    strake_error cause;
    strake_status status = strake_ranks_agree(
        group->ranks, place(group, weight, (strake_exchange)best->way, best->steps, &cause),
        &cause);
    if (status != STRAKE_OK && status != STRAKE_ERR_RANK) {
        status = strake_ranks_agree(group->ranks, place(group, weight, way, steps, &cause), &cause);
    }
    return status == STRAKE_OK ? status : strake_fail(error, status, "%s", cause.text);
}

/* No rank lacks room for it, as far as is known. */
static bool is_possible(const strake_round_option *o)
{
    return !(o->measured > 0.0 && isinf(o->measured));
}

/* Half of the field goes on, two at least; the best as predicted always does. @return how many */
static int select_half(runner *field, int count, const strake_round_option *predicted)
{
    int left = count > 3 ? (count + 1) / 2 : 2;
    for (int k = 1; k < count; k++) {
        insert(field, k, 0, field[k], true);
    }
    for (int k = left; k < count; k++) {
        if (field[k].option == predicted && is_possible(predicted)) {
            field[left - 1] = field[k];
        }
    }
    while (left > 1 && !is_possible(field[left - 1].option)) {
        left--;
    }
    return left;
}

/* The fastest, unless trials cannot tell it from the best as predicted: then all runs of a case take the same one. */
static const strake_round_option *find_winner(const runner *field, int count,
                                              const strake_round_option *predicted)
{
    const runner *best = &field[0];
    for (int k = 1; k < count; k++) {
        best = field[k].option->measured < best->option->measured ? &field[k] : best;
    }
    for (int k = 0; k < count; k++) {
        const runner *const r = &field[k];
        if (r->option == predicted && is_possible(r->option) &&
            !strake_round_is_faster(best->seconds, best->option->samples, r->seconds,
                                    r->option->samples)) {
            return predicted;
        }
    }
    return best->option;
}

/* The best as predicted of the field, by what its steps and those of others took. */
static const strake_round_option *learn(strake_rank_exchange *x, const runner *field, int count)
{
    strake_round_learn(x->option, x->options);
    const strake_round_option *best = NULL;
    for (int k = 0; k < count; k++) {
        const strake_round_option *const o = field[k].option;
        const bool is_less = best == NULL || o->learnt < best->learnt ||
                             (!(o->learnt > best->learnt) && o < best); /* alike: as listed */
        best = is_possible(o) && is_less ? o : best;
    }
    return best != NULL ? best : field[0].option;
}

strake_status strake_trial_choose(strake_rank_group *group, int first, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_exchange *const x = &group->exchange;
    const strake_exchange way = x->way;
    const int steps = group->team->at_once;
    const double run = (double)strake_steps_ahead(group->pace) * x->option[first].step;
    const double budget = fmin(run, fmin(most_patience, fmax(patience, part_of_run * run)));
    const strake_round_option *best = &x->option[first], *predicted = best;
    double weight[STRAKE_MAX_PARTS], spent = 0.0;
    runner field[FIELD];
    int count = find_field(group, first, budget, field);
    strake_shares_split(group, weight);
    for (int round = 0; round < ROUNDS && count > 1 && spent < budget; round++) {
        const double wanted = budget / (ROUNDS * count);
        for (int k = 0; k < count && (k == 0 || spent < budget); k++) {
            STRAKE_TRY(try_one(group, weight, &field[k], wanted, &spent, error));
        }
        while (field[count - 1].option->samples == 0 && is_possible(field[count - 1].option)) {
            count--; /* its turn did not come */
        }
        predicted = learn(x, field, count);
        best = find_winner(field, count, predicted);
        count = count > 1 ? select_half(field, count, predicted) : 1;
    }
    if ((int)way != best->way || steps != best->steps || spent > 0.0) {
        STRAKE_TRY(settle(group, weight, best, way, steps, error));
    }
    x->waited = 0.0;
    x->sweeps = 0;
cleanup:
    return status;
}
