#include "run/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/sort.h"
#include "run/border.h"
#include "run/commons.h"
#include "run/group.h"
#include "run/regroup.h"
#include "run/choose.h"

/*
 * Ways to exchange that are tried before the first step: real steps with their exchange, which leave the states as
 * they were. What figures predict to be about as fast takes part; every round all are placed and timed in turn, and
 * half of them go on, for twice as long, until the last two have had two rounds. Predictions are corrected by what was
 * measured (strake_round_learn()); the best by them is one of these, and stays unless another one is faster by more than
 * both scatter.
 */

enum {
    FIELD = 8,         /* options that are tried, ... */
    ROUNDS = 4,        /* ... 8, 4, 2 and 2 of them, ... */
    WARM = 2,          /* ... each after one sweep and a batch that make it warm, ... */
    TRIAL_BATCHES = 2, /* ... in so many batches */
    SAMPLES = ROUNDS * TRIAL_BATCHES
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
    double seconds[WARM + TRIAL_BATCHES] = {0.0};
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
    for (int k = 0; k < WARM + TRIAL_BATCHES; k++) {
        const double before = strake_clock_seconds();
        status = strake_team_rehearse(group->team, sweeps * o->steps, error);
        seconds[k] = (strake_clock_seconds() - before) / (double)(sweeps * o->steps);
        STRAKE_TRY(strake_ranks_agree(group->ranks, status, error));
        if (k == 0) {
            STRAKE_TRY(strake_ranks_most(group->ranks, seconds, 1, error));
            sweeps = (int64_t)ceil(wanted / (TRIAL_BATCHES + 1) / (seconds[0] * o->steps));
        }
    }
    seconds[0] = strake_clock_seconds() - start;
    STRAKE_TRY(strake_ranks_most(group->ranks, seconds, WARM + TRIAL_BATCHES, error));
    *spent += seconds[0];
    for (int k = WARM; k < WARM + TRIAL_BATCHES && o->samples < SAMPLES; k++) {
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
        least += placing + (WARM + TRIAL_BATCHES) * all[k].option->step * all[k].option->steps;
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

/**
 * Takes the fastest of strake_rank_exchange.option, beginning with @p first, the best as predicted, and places it; the
 * present way and steps where a rank has no room for it. The longer the run is predicted to take the more are tried:
 * for a second, or a hundredth of it up to ten, and for as long as it at most; of a short run none, nor where states
 * decide on the time step. Collective.
 */
static strake_status trial_choose(strake_rank_group *group, int first, strake_error *error)
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

enum {
    DEEPEST = 8,       /* steps per exchange; fewer where a slab has lines, ... */
    DEEPEST_LINES = 4, /* ... since their ghost slabs are large */
    INTERIOR = 5, /* as strips.c: times the border slabs that a worker has, or nothing is hidden */
    TRIALS = 16,
    BATCHES = 9,       /* of exchanges that are timed, each ... */
    MOST_ROUNDS = 512, /* ... of so many at most */
    TAG_TRIAL = 970    /* down; up: one more */
};

/* Others must be better by this ratio. */
static const double least_change = 1.02;

/* [s] What STRAKE_ROUND_SETTLING rounds may take. */
static const double settling_seconds = 0.1;

/* [s] of a batch. */
static const double batch_seconds = 2e-3;

/* Whether what an exchange costs decides anything. */
static bool is_open(const strake_rank_group *group)
{
    return group->which->run.exchange == STRAKE_EXCHANGE_AUTO ||
           (group->team->asked == 0 && !group->domain->is_adaptive);
}

strake_status strake_exchange_load(strake_rank_group *group, const char *cache, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_exchange *const x = &group->exchange;
    strake_ranks *const ranks = group->ranks;
    strake_rank_setup setup;
    strake_rank_found found = STRAKE_RANKS_MISSING;
    int known = 0;
    const strake_exchange asked = (strake_exchange)group->which->run.exchange;
    const bool is_within = strake_is_within(group);
    x->way = is_within                       ? STRAKE_EXCHANGE_MESSAGES
             : asked == STRAKE_EXCHANGE_AUTO ? STRAKE_EXCHANGE_BOTH
                                             : asked;
    x->predicted = x->whole = x->measured = x->reduce = x->reduced = (double)NAN;
    if (ranks == NULL || !group->which->run.tuned) {
        return STRAKE_OK;
    }
    x->figures = calloc(1, sizeof *x->figures);
    STRAKE_TRY(strake_ranks_agree(
        ranks,
        x->figures != NULL ? STRAKE_OK
                           : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    STRAKE_TRY(strake_rank_setup_find(ranks, &setup, error));
    if (strake_ranks_self(ranks) == 0) {
        found = strake_rank_model_load(cache, &setup, x->figures, x->why, sizeof x->why);
        known = found == STRAKE_RANKS_FOUND;
    }
    STRAKE_TRY(strake_ranks_broadcast(ranks, &known, sizeof known, error));
    STRAKE_TRY(strake_ranks_broadcast(ranks, x->figures, sizeof *x->figures, error));
    if (known == 0) {
        strake_exchange_free(group);
        /* Where they choose nothing, there may be none; but those that are there are good. */
        if ((is_open(group) && !is_within) || found == STRAKE_RANKS_DAMAGED) {
            strake_tell(&group->team->notices, "%s", x->why);
        }
    }
    strake_ranks_set_piece(ranks, x->figures != NULL ? (size_t)x->figures->piece : 0);
cleanup:
    return status;
}

void strake_exchange_free(strake_rank_group *group)
{
    free(group->exchange.figures);
    group->exchange.figures = NULL;
}

int strake_exchange_deepest(const strake_rank_group *group, int usual, int most)
{
    const int wanted = group->which->n[1] > 1 ? DEEPEST_LINES : DEEPEST;
    const bool is_free =
        group->exchange.figures != NULL && group->team->asked == 0 && !group->domain->is_adaptive;
    const int deepest = wanted < most ? wanted : most;
    return is_free && deepest > usual ? deepest : usual;
}

/* --- what there is to choose from ---------------------------------------------------------------- */

/* What all ranks have in common, as far as an exchange depends on it. */
typedef struct common {
    bool is_crowded; /* who waits for slabs waits for a processor, too */
    bool shares;     /* one that a worker has, as long as that computes */
    bool has_device, may_wander;
    int64_t fewest; /* slabs of a rank */
} common;

static bool has_edge_device(const strake_team *team)
{
    const strake_range own = team->domain->own;
    bool any = false;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *part = &team->part[e];
        any = any || (part->ops->has_driver && strake_part_has_slabs(part) &&
                      (part->range.first == own.first || part->range.end == own.end));
    }
    return any;
}

/* One way a device's stripe must fit in its memory, with those that come to it. */
static bool may_wander(const strake_rank_group *group)
{
    bool may = group->domain->may_wander && group->which->run.blocks == 0;
    for (int e = 0; e < group->team->parts; e++) {
        const strake_part *part = &group->team->part[e];
        may = may &&
              (!part->ops->has_driver ||
               group->domain->bytes < (double)strake_cl_usable_memory(
                                          part->device, (uint64_t)group->which->run.device_memory));
    }
    return may;
}

static strake_status find_common(const strake_rank_group *group, common *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(group->ranks);
    const bool shares = strake_workers_are_crowded(group->team, 1);
    /* Who waits for slabs has the processor of a worker that waits for them, but not within legs. */
    const bool is_crowded = strake_is_within(group) ? shares : group->team->is_crowded;
    double any[4] = {is_crowded, shares, has_edge_device(group->team), !may_wander(group)};
    STRAKE_TRY(strake_ranks_most(group->ranks, any, 4, error));
    *out = (common){any[0] > 0.0, any[1] > 0.0, any[2] > 0.0, !(any[3] > 0.0), INT64_MAX};
    for (int k = 0; k < count; k++) {
        const int64_t slabs = group->owned[k].end - group->owned[k].first;
        out->fewest = slabs < out->fewest ? slabs : out->fewest;
    }
cleanup:
    return status;
}

/* What a sweep of so many steps exchanges. Ranks of one machine have border slabs in common, and exchange words. */
static strake_round_case round_of(const strake_rank_group *group, const common *all,
                                  strake_exchange way, int steps)
{
    const strake_domain *d = group->domain;
    const bool is_ring = d->ends == STRAKE_PERIODIC;
    const bool words = way != STRAKE_EXCHANGE_MESSAGES &&
                       strake_ranks_local_count(group->ranks) == strake_ranks_count(group->ranks);
    int64_t depth[2];
    strake_round_case c = {.is_crowded = all->is_crowded,
                           .shares = all->shares,
                           .meets = d->is_adaptive,
                           .has_device = all->has_device && !words,
                           .round = is_ring ? STRAKE_ROUND_RING : STRAKE_ROUND_LINE,
                           .bytes = 1.0};
    const double slab_bytes =
        strake_border_is_narrow(group)
            ? (double)d->lines * (double)d->ops->line(d, 0, d->own.first, 0).bytes
            : d->slab_bytes;
    strake_domain_depth(d, steps, depth);
    for (int v = 0; v < d->states && !words; v++) {
        const double slabs = (double)(depth[0] + depth[1]);
        c.bytes += strake_domain_travels(d, v) ? 0.5 * slabs * slab_bytes : 0.0;
    }
    if (way == STRAKE_EXCHANGE_ONE_WAY && !words) {
        c.round = STRAKE_ROUND_ONE_WAY;
        c.bytes *= 2.0;
    }
    return c;
}

/* What a pass exchanges within its leg: the outermost slabs' results. */
static strake_round_case round_within(const strake_rank_group *group, const common *all)
{
    const strake_domain *const d = group->domain;
    return (strake_round_case){.is_crowded = all->is_crowded,
                               .shares = all->shares,
                               .has_device = all->has_device,
                               .round = d->ends == STRAKE_PERIODIC ? STRAKE_ROUND_RING
                                                                   : STRAKE_ROUND_LINE,
                               .bytes = d->ops->exchange(d, 1, 2, 1.0).slab_bytes};
}

/* Slabs that every rank must have. */
static int64_t least_of(const strake_domain *d, strake_exchange way, int steps)
{
    int64_t depth[2];
    strake_domain_depth(d, steps, depth);
    return way == STRAKE_EXCHANGE_ONE_WAY ? depth[0] + depth[1]
           : depth[0] > depth[1]          ? depth[0]
                                          : depth[1];
}

/* How a role computes sweeps of so many steps, as strips.c cuts them. */
static strake_round_slabs slabs_of(const strake_rank_group *group, const strake_role *role,
                                   int steps)
{
    const strake_domain *const d = group->domain;
    const double again = (double)((steps - 1) * d->again);
    const double own = (double)(role->range.end - role->range.first);
    int64_t depth[2];
    strake_domain_depth(d, steps, depth);
    const bool first = role->range.first == d->own.first, last = role->range.end == d->own.end;
    const double sent = (double)((first ? depth[1] : 0) + (last ? depth[0] : 0));
    const bool is_device = role->worker < 0;
    const bool apart =
        group->which->run.overlap != STRAKE_CL_OVERLAP_OFF && sent > 0.0 &&
        (is_device ? own > sent : own >= INTERIOR * sent && strake_commons_hide(group, steps));
    return (strake_round_slabs){.own = own,
                                .sent = sent,
                                .again = again,
                                .pieces = apart && !is_device ? 1 + first + last : 1,
                                .is_apart = apart};
}

/*
 * Seconds of a step on this rank with another number of steps per exchange, by what it took with @p now, in one piece;
 * and the part of it that hides what travels: nothing does where workers themselves wait for processors.
 */
static void guess(const strake_rank_group *group, double compute, int now, strake_round_step *s)
{
    const strake_team *const team = group->team;
    double more = 0.0, hides = team->is_crowded ? 0.0 : 1.0;
    for (int r = 0; r < team->roles; r++) {
        const strake_round_slabs then = slabs_of(group, &team->role[r], s->steps);
        strake_round_slabs before = slabs_of(group, &team->role[r], now);
        before.pieces = 1;
        if (then.own > 0.0) {
            more = fmax(more,
                        strake_round_slabs_computed(&then) / strake_round_slabs_computed(&before));
            hides = then.sent > 0.0 ? fmin(hides, strake_round_slabs_hide(&then)) : hides;
        }
    }
    s->compute = more > 0.0 ? compute * more : compute;
    s->hides = hides;
}

/* All ways and steps that are open and possible, the present ones first, and what steps take with them by rank. */
static void list_options(strake_rank_group *group, const common *all, double compute)
{
    static const strake_exchange ways[] = {STRAKE_EXCHANGE_BOTH, STRAKE_EXCHANGE_MESSAGES,
                                           STRAKE_EXCHANGE_ONE_WAY};
    strake_rank_exchange *const x = &group->exchange;
    const int now = group->team->at_once;
    const bool open_way = group->which->run.exchange == STRAKE_EXCHANGE_AUTO;
    const int most = strake_exchange_deepest(group, group->team->sweep, DEEPEST);
    const bool open_steps = group->team->asked == 0 && !group->domain->is_adaptive;
    x->options = 0;
    for (int w = 0; w < 3; w++) {
        for (int k = 0; k <= DEEPEST; k = k == 0 ? 1 : 2 * k) {
            const int steps = k == 0 ? now : k; /* the present number is the first of a way */
            const bool is_open = k == 0 || (open_steps && k != now && k <= most);
            const bool possible = (ways[w] != STRAKE_EXCHANGE_ONE_WAY || all->may_wander) &&
                                  least_of(group->domain, ways[w], steps) <= all->fewest;
            if ((ways[w] != x->way && !(open_way && possible)) || !is_open ||
                (k > 0 && !possible) || x->options == STRAKE_MOST_ROUND_OPTIONS) {
                continue;
            }
            const strake_round_case c = round_of(group, all, ways[w], steps);
            strake_round_step s = {.steps = steps,
                                   .exchange = strake_round_seconds(x->figures, &c),
                                   .work = strake_round_work(x->figures, &c)};
            guess(group, compute, now, &s);
            x->option[x->options++] = (strake_round_option){.way = (int)ways[w],
                                                            .steps = steps,
                                                            .exchange = s.exchange,
                                                            .step = strake_round_step_seconds(&s)};
        }
    }
}

/* The slowest rank counts. */
static strake_status agree_on_options(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_exchange *const x = &group->exchange;
    double step[STRAKE_MOST_ROUND_OPTIONS] = {0.0};
    for (int k = 0; k < x->options; k++) {
        step[k] = x->option[k].step;
    }
    STRAKE_TRY(strake_ranks_most(group->ranks, step, x->options, error));
    for (int k = 0; k < x->options; k++) {
        x->option[k].step = step[k];
    }
cleanup:
    return status;
}

/* --- choosing -------------------------------------------------------------------------------------- */

/*
 * Seconds of the role that computes longest in a step: the least of short trials, since others compute here, too. Where
 * these are the other ranks, which take turns with it in runs as well, the mean.
 */
static strake_status time_rank(strake_rank_group *group, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_team *const team = group->team;
    double part_seconds[STRAKE_MAX_PARTS] = {0.0};
    double sum = 0.0;
    int64_t steps = 0;
    STRAKE_TRY(strake_time_team(group->pace, seconds, part_seconds, error));
    steps = (int64_t)(batch_seconds / fmax(*seconds, batch_seconds / MOST_ROUNDS));
    steps = (steps / team->at_once + 1) * team->at_once;
    for (int k = 0; k < TRIALS; k++) {
        double slowest = 0.0;
        STRAKE_TRY(strake_team_try(group->team, steps, error));
        for (int r = 0; r < team->roles; r++) {
            const strake_role *role = &team->role[r];
            slowest = fmax(slowest, (role->compute + role->exchange) / (double)steps);
        }
        *seconds = slowest > 0.0 ? fmin(*seconds, slowest) : *seconds;
        sum += slowest;
    }
    *seconds = team->is_crowded && sum > 0.0 ? sum / TRIALS : *seconds;
cleanup:
    return status;
}

strake_status strake_exchange_choose(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_exchange *const x = &group->exchange;
    common all;
    double compute = 0.0;
    strake_round_case c;
    if (x->figures == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(find_common(group, &all, error));
    if (is_open(group) && !strake_is_within(group)) {
        STRAKE_TRY(strake_ranks_agree(group->ranks, time_rank(group, &compute, error), error));
        list_options(group, &all, compute);
        STRAKE_TRY(agree_on_options(group, error));
        x->chose_way = group->which->run.exchange == STRAKE_EXCHANGE_AUTO;
        x->chose_steps = group->team->asked == 0 && !group->domain->is_adaptive;
        STRAKE_TRY(
            trial_choose(group, strake_round_best(x->option, x->options, 0, least_change), error));
    }
    c = strake_is_within(group) ? round_within(group, &all)
                                : round_of(group, &all, x->way, group->team->at_once);
    x->reduce = x->figures->reduce[all.is_crowded ? STRAKE_WAIT_CROWDED : STRAKE_WAIT_AWAKE];
    x->whole = strake_round_seconds(x->figures, &c);
    c.has_device = false;
    x->predicted = strake_round_seconds(x->figures, &c);
cleanup:
    return status;
}

const char *strake_exchange_name(strake_exchange way, char *text, size_t size)
{
    const strake_settings settings = {.exchange = (int)way};
    return strake_setting_text(&settings, strake_setting_find("run.exchange"), text, size);
}

/* --- what it takes here ---------------------------------------------------------------------------- */

/* Seconds of one of so many rounds of all ranks at once. */
typedef strake_status (*rounds_of_ranks)(strake_rank_group *group, int rounds, double *seconds,
                                         strake_error *error);

/* Messages as within a leg, of the same bytes as predicted. */
static strake_status trade_slabs(strake_rank_group *group, int rounds, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_domain *const d = group->domain;
    const int count = strake_ranks_count(group->ranks), self = strake_ranks_self(group->ranks);
    const size_t bytes = (size_t)d->ops->exchange(d, 1, 2, 1.0).slab_bytes;
    strake_transfer send[2], receive[2];
    int sides = 0;
    double start = 0.0;
    char *const data = calloc(4, bytes + 1);
    STRAKE_TRY(strake_ranks_agree(
        group->ranks,
        data != NULL ? STRAKE_OK
                     : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    for (int side = 0; side < 2; side++) { /* before and after */
        const int other = self + (side == 0 ? -1 : 1), peer = (other + count) % count;
        if (d->ends == STRAKE_PERIODIC || peer == other) {
            char *const box = data + 2 * (size_t)side * bytes;
            send[sides] = (strake_transfer){peer, TAG_TRIAL + side, box, bytes};
            receive[sides++] = (strake_transfer){peer, TAG_TRIAL + 1 - side, box + bytes, bytes};
        }
    }
    start = strake_clock_seconds();
    for (int k = 0; k < rounds; k++) {
        STRAKE_TRY(strake_ranks_trade(group->ranks, send, sides, receive, sides, error));
    }
    *seconds = (strake_clock_seconds() - start) / rounds;
cleanup:
    free(data);
    return status;
}

static strake_status reduce(strake_rank_group *group, int rounds, double *seconds,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = strake_clock_seconds();
    for (int k = 0; k < rounds; k++) {
        double value = 1.0;
        STRAKE_TRY(strake_ranks_most(group->ranks, &value, 1, error));
    }
    *seconds = (strake_clock_seconds() - start) / rounds;
cleanup:
    return status;
}

/* The median of some batches, as the figures are measured. @return in @p samples, of how many rounds */
static strake_status time_rounds(strake_rank_group *group, rounds_of_ranks run, double predicted,
                                 double *measured, int *samples, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds[BATCHES];
    const double fit = batch_seconds / fmax(predicted, batch_seconds / MOST_ROUNDS);
    const int rounds = fit > 2.0 ? (int)fit : 2;
    const bool settles = predicted * STRAKE_ROUND_SETTLING < settling_seconds;
    STRAKE_TRY(run(group, settles ? STRAKE_ROUND_SETTLING : 2, &seconds[0], error));
    for (int k = 0; k < BATCHES; k++) {
        STRAKE_TRY(run(group, rounds, &seconds[k], error));
    }
    STRAKE_TRY(strake_ranks_most(group->ranks, seconds, BATCHES, error));
    *measured = strake_median(seconds, BATCHES);
    *samples = BATCHES * rounds;
cleanup:
    return status;
}

strake_status strake_exchange_rehearse(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_rank_exchange *const x = &group->exchange;
    const bool is_within = strake_is_within(group);
    char text[160], how[80], name[16];
    int ignored = 0;
    const int slack = prctl(PR_GET_TIMERSLACK);
    if (x->figures == NULL) {
        return STRAKE_OK;
    }
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* as the thread that exchanges */
    STRAKE_TRY(time_rounds(group, is_within ? trade_slabs : strake_border_time, x->predicted,
                           &x->measured, &x->samples, error));
    STRAKE_TRY(time_rounds(group, reduce, x->reduce, &x->reduced, &ignored, error));
    (void)strake_number_print(text, sizeof text, "%.3g us predicted, %.3g us measured",
                              1e6 * x->predicted, 1e6 * x->measured);
    (void)snprintf(how, sizeof how, "%s every %d step%s",
                   strake_exchange_name(x->way, name, sizeof name), group->team->at_once,
                   group->team->at_once > 1 ? "s" : "");
    strake_tell(&group->team->notices, "ranks exchange %s%s the figures of %s: %s",
                is_within ? "messages after every pass" : how,
                x->chose_way || x->chose_steps ? ", chosen by" : "; by", x->figures->date, text);
cleanup:
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)(slack > 0 ? slack : 50000));
    return status;
}
