/*
 * The first split where parts meet within steps, which can hardly be tried and taken back: each computes a few slabs
 * of the domain alone, and what it takes for their work says who begins.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "engine/balance.h"
#include "run/choose.h"
#include "run/predict.h"

enum { LEAST_SLABS = 3, MOST_STEPS = 64, TIMES = 3 };

/* Items, so many of which keep a GPU busy, or processors and devices made of them. */
static const double items_of_gpu = 5e5, items_of_processors = 8192.0;

/* Steps of a sample take so long at least [s]. */
static const double enough = 0.02;

/* Another part must make a step shorter by this factor, also if it is slower than measured by that one. */
static const double least_gain = 1.03, most_off = 1.25;

typedef struct sampling {
    strake_pace *pace;
    strake_range own; /* slabs of this process */
    double *before;   /* [slabs + 1] their work */
    double rate
        [STRAKE_MAX_PARTS]; /* [s] of a unit of work; INFINITY: it takes no part, 0: not known */
} sampling;

static void weigh(const sampling *s)
{
    strake_domain *const d = s->pace->domain;
    d->ops->weigh(d);
    strake_domain_sum_work(d, s->own, s->before);
    (void)strake_rooms_find(s->pace);
}

/* Slabs around the one with half of the work before it, as many as the part has memory for. @return none: not for one */
static strake_range pick(const sampling *s, int e)
{
    const strake_part *const part = &s->pace->team->part[e];
    const strake_domain *const d = s->pace->domain;
    const int64_t all = s->own.end - s->own.first;
    const double each = (double)d->n[0] * (double)d->n[1] * (double)d->n[2] / (double)d->slabs;
    const double wanted = strake_part_is_gpu(part) ? items_of_gpu : items_of_processors;
    const double slabs = fmin(fmax(ceil(wanted / fmax(each, 1.0)), LEAST_SLABS), (double)all);
    int64_t middle = 0;
    while (middle < all && s->before[middle + 1] < 0.5 * s->before[all]) {
        middle++;
    }
    for (int64_t count = (int64_t)slabs; count > 0; count--) {
        int64_t first = middle - count / 2;
        first = first + count > all ? all - count : first;
        first = first < 0 ? 0 : first;
        if (strake_rooms_hold(s->pace, e, first, first + count)) {
            return (strake_range){s->own.first + first, s->own.first + first + count};
        }
    }
    return (strake_range){0, 0};
}

/* Seconds of a step of the placed part, the only one: what disturbs makes it no shorter. */
static strake_status time_steps(strake_team *team, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double took = 0.0;
    int64_t steps = 1;
    STRAKE_TRY(strake_team_upload(team, error));
    STRAKE_TRY(strake_team_try(team, 1, error)); /* it compiles, and brings in order */
    *seconds = (double)INFINITY;
    for (int k = 0; k < TIMES; k += took < enough && steps < MOST_STEPS ? 0 : 1) {
        const double start = strake_clock_seconds();
        STRAKE_TRY(strake_team_try(team, steps, error));
        took = strake_clock_seconds() - start;
        *seconds = fmin(*seconds, took / (double)steps);
        steps = took < enough && steps < MOST_STEPS ? 2 * steps : steps;
    }
cleanup:
    return status;
}

/* The rate of a part, on slabs of its own. What is wrong with their states the steps will tell. */
static strake_status sample(sampling *s, int e, strake_error *error)
{
    strake_pace *const pace = s->pace;
    strake_domain *const d = pace->domain;
    const strake_range some = pick(s, e);
    double weight[STRAKE_MAX_PARTS] = {0.0};
    double seconds = 0.0;
    char why[80];
    weight[e] = 1.0;
    d->own = some;
    strake_status status = strake_team_place(pace->team, weight, error);
    status = status == STRAKE_OK ? time_steps(pace->team, &seconds, error) : status;
    d->own = s->own;
    d->ops->note(d, STRAKE_DOMAIN_SPOILT);
    weigh(s);
    const double work = s->before[some.end - s->own.first] - s->before[some.first - s->own.first];
    s->rate[e] = status == STRAKE_OK && work > 0.0 ? seconds / work : 0.0;
    (void)snprintf(why, sizeof why, "measured on %lld of %lld slabs",
                   (long long)(some.end - some.first), (long long)(s->own.end - s->own.first));
    strake_tell_choice_of(pace, pace->team->part[e].name,
                          s->rate[e] * s->before[s->own.end - s->own.first], false, why);
    return status == STRAKE_ERR_NUMERIC ? STRAKE_OK : status;
}

/* As tuned where that is known, else of a device of this name, else measured. */
static strake_status find_rates(sampling *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_pace *const pace = s->pace;
    strake_prediction *const p = calloc(1, sizeof *p);
    const double all = s->before[s->own.end - s->own.first];
    STRAKE_CHECK(p != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a prediction");
    strake_predict(pace, 1.0, p);
    for (int e = 0; e < pace->team->parts; e++) {
        const int twin = strake_team_twin(pace->team, e);
        const strake_team_part *const part = &p->part[e];
        const double alone = part->fixed + part->slab * (double)(s->own.end - s->own.first);
        const strake_range some = pick(s, e);
        if (pace->team->part[e].dropped || some.first == some.end) {
            s->rate[e] = (double)INFINITY;
        } else if (twin >= 0) {
            s->rate[e] = s->rate[twin];
        } else if (p->complete && isfinite(alone)) {
            s->rate[e] = alone / all;
            strake_tell_choice_of(pace, pace->team->part[e].name, alone, false, p->why[e]);
        } else {
            STRAKE_TRY(sample(s, e, error));
        }
    }
cleanup:
    free(p);
    return status;
}

/* Cuts the slabs for those who take part, of whom one (-1: none) may be slower. @return the seconds of a step; INFINITY: there is no such cut */
static double cut(const sampling *s, const bool *taken, int doubted, bool is_needed, int64_t *owned)
{
    const int64_t slabs = s->own.end - s->own.first;
    const int parts = s->pace->team->parts;
    strake_chain chain[STRAKE_MAX_PARTS];
    for (int e = 0; e < parts; e++) {
        owned[e] = 0;
        const double off = e == doubted ? most_off : 1.0;
        chain[e] = (strake_chain){.rate = taken[e] ? off * s->rate[e] : (double)INFINITY,
                                  .least = 1,
                                  .most = slabs,
                                  .is_needed = taken[e] && is_needed,
                                  .load = s->pace->load,
                                  .room = s->pace->room[e]};
    }
    return strake_chains_cut(s->before, slabs, chain, parts, owned);
}

/* The fastest, and who makes a step shorter beside those before. @return the seconds of a step */
static double take_worthy(const sampling *s, int64_t *owned)
{
    const int parts = s->pace->team->parts;
    bool taken[STRAKE_MAX_PARTS] = {false}, tried[STRAKE_MAX_PARTS] = {false};
    double best = (double)INFINITY;
    for (int k = 0; k < parts; k++) {
        int next = -1;
        for (int e = 0; e < parts; e++) {
            const bool is_faster = next < 0 || s->rate[e] < s->rate[next];
            next = !tried[e] && isfinite(s->rate[e]) && is_faster ? e : next;
        }
        if (next < 0) {
            break;
        }
        tried[next] = taken[next] = true;
        taken[next] =
            k == 0 || !isfinite(best) || best > least_gain * cut(s, taken, next, false, owned);
        best = cut(s, taken, -1, false, owned);
    }
    return cut(s, taken, -1, false, owned);
}

/* All that were not dropped; where slabs are fewer the first ones. */
static double take_all(const sampling *s, int64_t *owned)
{
    bool taken[STRAKE_MAX_PARTS];
    for (int e = 0; e < s->pace->team->parts; e++) {
        taken[e] = isfinite(s->rate[e]);
    }
    const double seconds = cut(s, taken, -1, true, owned);
    return isfinite(seconds) ? seconds : cut(s, taken, -1, false, owned);
}

/* Where a rate is not known nothing is compared; else what is known is told to the balancer. */
static bool keep_rates(sampling *s)
{
    strake_pace *const pace = s->pace;
    const int64_t slabs = s->own.end - s->own.first;
    const double each = s->before[slabs] / (double)slabs;
    bool known = each > 0.0;
    for (int e = 0; e < pace->team->parts; e++) {
        known = known && s->rate[e] > 0.0;
    }
    for (int e = 0; e < pace->team->parts; e++) {
        const bool takes_part = isfinite(s->rate[e]);
        pace->predicted[e] =
            (strake_times_line){0.0, known && takes_part ? s->rate[e] * each : 0.0, 0.1};
        s->rate[e] = known ? s->rate[e] : takes_part ? 1.0 : (double)INFINITY;
    }
    return known;
}

/* All together have too little memory. */
static strake_status fail_short(const sampling *s, strake_error *error)
{
    const strake_pace *const pace = s->pace;
    const strake_team *const team = pace->team;
    char rooms[256] = "";
    size_t used = 0;
    for (int e = 0; e < team->parts && used < sizeof rooms; e++) {
        const double room = team->part[e].dropped ? 0.0 : fmax(pace->room[e], 0.0);
        used += (size_t)snprintf(rooms + used, sizeof rooms - used, "%s%s for %lld",
                                 e > 0 ? ", " : "", team->part[e].name, (long long)room);
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "the parts together have too little memory: %s, in whole slices, and there "
                       "are %lld particles; raise run.device_memory, or add cpu to --on",
                       rooms, (long long)llround(pace->load[s->own.end - s->own.first]));
}

strake_status strake_share_work(strake_pace *pace, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_team *const team = pace->team;
    double weight[STRAKE_MAX_PARTS], seconds = 0.0;
    bool known = false;
    int64_t owned[STRAKE_MAX_PARTS];
    sampling s = {.pace = pace, .own = pace->domain->own};
    const strake_balance_policy policy = strake_rebalance_policy(pace->which, team->has_weights);
    s.before = calloc((size_t)(s.own.end - s.own.first) + 1, sizeof *s.before);
    STRAKE_CHECK(s.before != NULL, error, STRAKE_ERR_MEMORY, "out of memory sharing slabs");
    weigh(&s);
    STRAKE_TRY(find_rates(&s, error));
    known = keep_rates(&s);
    seconds =
        known && policy == STRAKE_BALANCE_MODEL ? take_worthy(&s, owned) : take_all(&s, owned);
    STRAKE_TRY(isfinite(seconds) || pace->load == NULL ? STRAKE_OK : fail_short(&s, error));
    for (int e = 0; e < team->parts; e++) {
        weight[e] = (double)owned[e];
        if (owned[e] == 0 && !team->part[e].dropped && !isfinite(s.rate[e])) {
            strake_tell(&team->notices, "%s begins without slabs: it has no memory for one",
                        team->part[e].name);
        } else if (owned[e] == 0 && !team->part[e].dropped) {
            strake_tell(&team->notices,
                        "%s begins without slabs: with it a step would not be %.0f %% shorter",
                        team->part[e].name, 100.0 * (least_gain - 1.0));
        }
    }
    STRAKE_TRY(strake_team_place(team, weight, error));
    strake_tell_choice(pace, known ? seconds : 0.0, true, "shares of the work by these rates");
cleanup:
    free(s.before);
    return status;
}

strake_status strake_share_given(strake_pace *pace, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_team *const team = pace->team;
    strake_domain *const d = pace->domain;
    int64_t owned[STRAKE_MAX_PARTS];
    bool taken[STRAKE_MAX_PARTS], differs = false;
    sampling s = {.pace = pace, .own = d->own};
    const int64_t slabs = s.own.end - s.own.first;
    if (!pace->balances || !pace->is_fresh || pace->looks.seen > 0 || d->ranks != NULL ||
        d->work == NULL || !team->part[0].ops->meets_within ||
        !strake_domain_lacks(d, STRAKE_LACKS_STATES)) {
        return STRAKE_OK;
    }
    s.before = calloc((size_t)slabs + 1, sizeof *s.before);
    STRAKE_CHECK(s.before != NULL, error, STRAKE_ERR_MEMORY, "out of memory sharing slabs");
    weigh(&s);
    for (int e = 0; e < team->parts; e++) {
        s.rate[e] = pace->predicted[e].slope;
        taken[e] = strake_part_has_slabs(&team->part[e]);
        differs = differs || (taken[e] && !(s.rate[e] > 0.0)); /* then nothing is compared */
    }
    if (differs || !isfinite(cut(&s, taken, -1, true, owned))) {
        goto cleanup;
    }
    for (int e = 0; e < team->parts; e++) {
        differs = differs || owned[e] != team->part[e].range.end - team->part[e].range.first;
    }
    if (differs) {
        STRAKE_TRY(strake_rebalance_move(pace, owned, error));
        strake_rebalance_begin(pace);
    }
cleanup:
    free(s.before);
    return status;
}
