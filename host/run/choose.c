#include "run/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "run/predict.h"

/*
 * Another part must make a step shorter by this factor: less is within what measuring and balancing
 * cost, and one part alone needs no exchange. How parts exchange is changed for less.
 */
static const double least_gain = 1.03, least_change = 1.02;

/*
 * Predictions count where measured ones agree with them by this ratio; a part within so much of being
 * worth it is measured.
 */
static const double most_off = 1.25, close_call = 1.03;

/* What is known while parts are chosen. */
typedef struct choice {
    strake_pace *pace;
    double alone[STRAKE_MAX_PARTS];  /* seconds per step of a part alone; INFINITY: cannot */
    int order[STRAKE_MAX_PARTS];     /* parts, the fastest first */
    double weight[STRAKE_MAX_PARTS]; /* slabs per second */
    double seconds;                  /* per step with these weights */
} choice;

/* "cpu, ocl:0": the parts with slabs. */
static void name_team(const strake_pace *pace, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int e = 0; e < pace->team->parts && used + 1 < size; e++) {
        if (!strake_part_has_slabs(&pace->team->part[e])) {
            continue;
        }
        const int more = snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
                                  pace->team->part[e].name);
        used += more > 0 ? (size_t)more : 0;
    }
}

static strake_choice *new_choice(strake_pace *pace, double seconds, bool taken, const char *why)
{
    const int last = STRAKE_MOST_CHOICES - 1;
    strake_choice *c = &pace->choice[pace->choices < last ? pace->choices++ : last];
    c->seconds = seconds;
    c->taken = taken;
    (void)snprintf(c->why, sizeof c->why, "%s", why);
    return c;
}

void strake_tell_choice_of(strake_pace *pace, const char *where, double seconds, bool taken,
                           const char *why)
{
    strake_choice *const c = new_choice(pace, seconds, taken, why);
    (void)snprintf(c->where, sizeof c->where, "%s", where);
}

void strake_tell_choice(strake_pace *pace, double seconds, bool taken, const char *why)
{
    strake_choice *c = new_choice(pace, seconds, taken, why);
    name_team(pace, c->where, sizeof c->where);
}

/*
 * A part that cannot take part in `auto` only loses, others may do the work: a device that fails, and one that the
 * case's keys leave too little memory. @return the status where that is no such failure
 */
static strake_status forgive(strake_pace *pace, const strake_part *part, strake_status status,
                             const strake_error *error, double *seconds)
{
    const char *what = part != NULL ? part->name : "the team";
    const bool may_lack = part == NULL || part->ops->has_driver;
    if (pace->kind == STRAKE_WHERE_AUTO &&
        (status == STRAKE_ERR_DEVICE || (status == STRAKE_ERR_USAGE && may_lack))) {
        strake_tell(&pace->team->notices, "%sauto: %s is left out: %s",
                    status == STRAKE_ERR_DEVICE ? STRAKE_NOTICE_WARNING : "", what, error->text);
        (void)snprintf(new_choice(pace, 0.0, false, "it failed")->where, sizeof pace->choice->where,
                       "%s", what);
        for (int e = 0; e < pace->team->parts; e++) {
            pace->team->part[e].failed = false;
        }
        *seconds = INFINITY;
        return STRAKE_OK;
    }
    return status;
}

/* Lists what is predicted of each part and of the team, and why. */
static void tell_prediction(strake_pace *pace, const strake_prediction *p)
{
    char why[200];
    strake_choice *told = NULL;
    int parts = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        const double alone = p->part[e].fixed + p->part[e].slab * (double)pace->domain->slabs;
        char name[sizeof pace->team->part->name];
        memcpy(name, pace->team->part[e].name, sizeof name);
        told = new_choice(pace, p->known[e] && isfinite(alone) ? alone : 0.0, false, p->why[e]);
        told->predicted = true;
        (void)snprintf(told->where, sizeof told->where, "%s", name);
    }
    for (int k = 1; k < pace->team->parts && p->complete; k++) {
        const int e = p->plan.order[k];
        char name[sizeof pace->team->part->name];
        memcpy(name, pace->team->part[e].name, sizeof name);
        (void)strake_number_print(why, sizeof why, "%s: %.4g ms a step with it, %.0f slabs",
                                  p->plan.taken[e] ? "worth it" : "not worth it",
                                  1e3 * p->plan.with[e], p->plan.share[e]);
        told = new_choice(pace, p->plan.with[e], false, why);
        told->predicted = true;
        (void)snprintf(told->where, sizeof told->where, "+ %s", name);
        parts += p->plan.taken[e] ? 1 : 0;
    }
    if (p->complete) {
        (void)snprintf(why, sizeof why, "predicted: %d part%s", parts + 1, parts > 0 ? "s" : "");
        told = new_choice(pace, p->plan.seconds, false, why);
        told->predicted = true;
        (void)snprintf(told->where, sizeof told->where, "team");
    }
}

static bool agree(double measured, double predicted)
{
    return measured < most_off * predicted && predicted < most_off * measured;
}

/* Seconds per step of one part with all rows. */
static strake_status time_alone(choice *c, int e, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double weight[STRAKE_MAX_PARTS] = {0.0};
    double part_seconds[STRAKE_MAX_PARTS] = {0.0};
    weight[e] = 1.0;
    STRAKE_TRY(strake_balance_place(c->pace, weight, error));
    STRAKE_TRY(strake_time_team(c->pace, &c->alone[e], part_seconds, error));
    strake_tell_choice(c->pace, c->alone[e], false, "measured alone");
cleanup:
    return status;
}

static strake_status time_each(choice *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_pace *pace = c->pace;
    for (int e = 0; e < pace->team->parts; e++) {
        const int twin = strake_team_twin(pace->team, e);
        if (pace->team->part[e].dropped) {
            c->alone[e] = INFINITY; /* it failed in the team */
        } else if (twin >= 0) {
            c->alone[e] = c->alone[twin];
        } else if (!(c->alone[e] > 0.0)) { /* not measured yet */
            status = time_alone(c, e, error);
            STRAKE_TRY(forgive(pace, &pace->team->part[e], status, error, &c->alone[e]));
        }
        int at = e;
        for (; at > 0 && c->alone[e] < c->alone[c->order[at - 1]]; at--) {
            c->order[at] = c->order[at - 1];
        }
        c->order[at] = e;
    }
cleanup:
    return status;
}

/* Notes what steps of the placed team took beyond those of its slowest part, as that was alone. */
static void note_beyond(strake_pace *pace, const double *alone, double seconds)
{
    double longest = 0.0;
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_range own = pace->team->part[e].range;
        const double share = (double)(own.end - own.first) / (double)pace->domain->slabs;
        longest = fmax(longest, share > 0.0 ? share * alone[e] : 0.0);
    }
    pace->beyond = isfinite(seconds) ? fmax(seconds - longest, 0.0) : 0.0;
}

/* Slabs per second of a part alone. */
static double rate_alone(const choice *c, int e)
{
    return (double)c->pace->domain->slabs / c->alone[e];
}

/* Switches on one more part if that pays. @return whether in *taken */
static strake_status add_part(choice *c, int e, bool *taken, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_pace *pace = c->pace;
    char why[160];
    char name[sizeof pace->team->part->name];
    memcpy(name, pace->team->part[e].name, sizeof name);
    double weight[STRAKE_MAX_PARTS];
    double seconds = INFINITY;
    const double best = 1.0 / (1.0 / c->seconds + 1.0 / c->alone[e]);
    *taken = false;
    if (c->seconds < least_gain * best) {
        (void)strake_number_print(why, sizeof why,
                                  "not switched on: at best %.1f %% faster with it",
                                  100.0 * (c->seconds / best - 1.0));
        (void)snprintf(new_choice(pace, best, false, why)->where, sizeof pace->choice->where,
                       "+ %s", name);
        return STRAKE_OK;
    }
    memcpy(weight, c->weight, sizeof weight);
    weight[e] = rate_alone(c, e); /* as those of the others are, which were measured in a team */
    status = strake_balance_weights(pace, weight, &seconds, error);
    STRAKE_TRY(forgive(pace, &pace->team->part[e], status, error, &seconds));
    note_beyond(pace, c->alone, seconds);
    *taken = c->seconds > least_gain * seconds;
    if (seconds < INFINITY) {
        const strake_range own = pace->team->part[e].range;
        (void)strake_number_print(
            why, sizeof why, "%s: %.1f %% faster with %lld slabs on %s, at best %.1f %%",
            *taken ? "switched on" : "not switched on", 100.0 * (c->seconds / seconds - 1.0),
            (long long)(own.end - own.first), name, 100.0 * (c->seconds / best - 1.0));
        strake_tell_choice(pace, seconds, false, why);
    }
    if (*taken) {
        c->seconds = seconds;
        memcpy(c->weight, weight, sizeof weight);
    }
cleanup:
    return status;
}

/* Another way to exchange, kept if it is faster. The ways are settings of the solver. */
static strake_status try_way(choice *c, int *setting, int value, const char *what,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    char why[160];
    const int before = *setting;
    double part_seconds[STRAKE_MAX_PARTS] = {0.0};
    double seconds = INFINITY;
    *setting = value;
    STRAKE_TRY(strake_team_place(c->pace->team, c->weight, error));
    STRAKE_TRY(strake_time_team(c->pace, &seconds, part_seconds, error));
    (void)strake_number_print(why, sizeof why, "%s: %.1f %% %s", what,
                              100.0 * fabs(c->seconds / seconds - 1.0),
                              seconds < c->seconds ? "faster" : "slower");
    strake_tell_choice(c->pace, seconds, false, why);
    if (c->seconds > least_change * seconds) {
        c->seconds = seconds;
    } else {
        *setting = before;
    }
cleanup:
    return status;
}

/* Steps per exchange and overlapping transfers, where the case leaves them open. */
static strake_status choose_ways(choice *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_pace *pace = c->pace;
    const strake_case *which = pace->which;
    if (which->run.steps_per_sweep == 0 && pace->team->at_once > 1 && pace->team->visit == 0) {
        STRAKE_TRY(try_way(c, &pace->team->most_at_once, 1, "one step per exchange", error));
    }
    if (which->run.overlap == 0) {
        STRAKE_TRY(try_way(c, &pace->team->overlap, STRAKE_CL_OVERLAP_OFF,
                           "all rows before the transfers", error));
    }
cleanup:
    return status;
}

/*
 * Measures what was predicted: the fastest part alone and the whole team. @p good: that agrees, no other
 * part is a close call, and a team is faster than its fastest part.
 */
static strake_status confirm(choice *c, const strake_prediction *p, bool *good, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_pace *pace = c->pace;
    const strake_team_plan *plan = &p->plan;
    const int first = plan->order[0];
    double weight[STRAKE_MAX_PARTS] = {0.0};
    double seconds = INFINITY;
    bool is_team = false;
    *good = isfinite(plan->seconds);
    for (int e = 0; e < pace->team->parts; e++) {
        weight[e] = plan->share[e];
        is_team = is_team || (plan->taken[e] && e != first);
        *good =
            *good && (plan->taken[e] || close_call * plan->seconds < least_gain * plan->with[e]);
    }
    if (!*good) {
        return STRAKE_OK;
    }
    status = time_alone(c, first, error);
    STRAKE_TRY(forgive(pace, &pace->team->part[first], status, error, &c->alone[first]));
    *good = agree(c->alone[first], plan->alone[first]);
    if (*good && is_team) {
        status = strake_balance_weights(pace, weight, &seconds, error);
        STRAKE_TRY(forgive(pace, NULL, status, error, &seconds));
        note_beyond(pace, plan->alone, seconds);
        *good = agree(seconds, plan->seconds) && c->alone[first] > least_gain * seconds;
        if (seconds < INFINITY) {
            strake_tell_choice(pace, seconds, false, "as predicted, measured");
        }
    }
    c->seconds = is_team ? seconds : c->alone[first];
    memcpy(c->weight, weight, sizeof weight);
cleanup:
    return status;
}

/* Measures every part alone, then teams. */
static strake_status measure_all(choice *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    memset(c->weight, 0, sizeof c->weight);
    STRAKE_TRY(time_each(c, error));
    c->seconds = c->alone[c->order[0]];
    STRAKE_CHECK(c->seconds < INFINITY, error, STRAKE_ERR_DEVICE, "no part can run this case");
    c->weight[c->order[0]] = rate_alone(c, c->order[0]);
    for (int k = 1; k < c->pace->team->parts && c->alone[c->order[k]] < INFINITY; k++) {
        bool taken = false;
        STRAKE_TRY(add_part(c, c->order[k], &taken, error));
    }
cleanup:
    return status;
}

bool strake_may_rest(const strake_case *which)
{
    bool any = false;
    for (int f = 0; f < which->problem->fields; f++) {
        any = any || which->problem->field[f].wakes;
    }
    return any;
}

/* What a user is told of the choice. */
static void tell_team(const choice *c, bool rests)
{
    const strake_team *const team = c->pace->team;
    char names[160];
    name_team(c->pace, names, sizeof names);
    if (c->pace->kind == STRAKE_WHERE_AUTO) {
        strake_tell(&team->notices, "auto: %s, about %.3g ms a step%s (%s alone %.3g)", names,
                    1e3 * c->seconds, rests ? " where every cell is active" : "",
                    team->parts > 1 ? "the fastest part" : names, 1e3 * c->alone[c->order[0]]);
        return;
    }
    for (int e = 0; e < team->parts; e++) {
        if (!strake_part_has_slabs(&team->part[e]) && !team->part[e].dropped) {
            strake_tell(&team->notices,
                        "%s begins without slabs: with it a step would not be %.0f %% shorter",
                        team->part[e].name, 100.0 * (least_gain - 1.0));
        }
    }
}

strake_status strake_choose(strake_pace *pace, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int parts = 0;
    bool good = false;
    const bool rests = strake_may_rest(pace->which);
    choice c = {.pace = pace};
    strake_prediction *const prediction = calloc(1, sizeof *prediction);
    STRAKE_CHECK(prediction != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a prediction");
    strake_predict(pace, least_gain, prediction);
    tell_prediction(pace, prediction);
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_team_part *const part = &prediction->part[e];
        const bool is_known = prediction->known[e] && isfinite(part->slab);
        pace->predicted[e] = (strake_times_line){part->fixed, is_known ? part->slab : 0.0, 0.1};
    }
    c.order[0] = prediction->plan.order[0];
    if (prediction->complete) {
        STRAKE_TRY(confirm(&c, prediction, &good, error));
        if (!good) {
            (void)snprintf(new_choice(pace, 0.0, false,
                                      "the prediction does not hold, or is close: all is measured")
                               ->where,
                           sizeof pace->choice->where, "team");
        }
    }
    if (!good) {
        STRAKE_TRY(measure_all(&c, error));
    }
    if (rests) {
        memset(c.weight, 0, sizeof c.weight);
        c.weight[c.order[0]] = 1.0;
        c.seconds = c.alone[c.order[0]];
    }
    for (int e = 0; e < pace->team->parts; e++) {
        parts += c.weight[e] > 0.0 ? 1 : 0;
    }
    STRAKE_TRY(strake_team_place(pace->team, c.weight, error));
    if (parts > 1) {
        STRAKE_TRY(choose_ways(&c, error));
        STRAKE_TRY(strake_team_place(pace->team, c.weight, error));
    }
    strake_tell_choice(pace, c.seconds, true,
                       rests ? "the fastest alone where every cell is active; how many are decides "
                               "while it runs"
                       : good ? "the fastest, as predicted"
                              : "the fastest");
    tell_team(&c, rests);
cleanup:
    free(prediction);
    return status;
}
