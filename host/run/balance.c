/*
 * The first split: every stripe is timed on trial steps that leave the state untouched, and rows are
 * shared in proportion to the measured rates.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cpu/topology.h"
#include "run/choose.h"
#include "run/predict.h"
#include "run/rescue.h"

enum {
    TIMED = 3,
    MOST_TIMED = 256,
    FOLLOWING =
        2, /* sweeps of a stripe that streams, at least: alone the next one begins before the last has ended */
    ROUNDS = 2,
    LEAST_TRIALS = 3,
    MOST_TRIALS = STRAKE_TIMES_KEPT - 1
};

/*
 * Seconds of a trial that decides, and of one that is not repeated for that; of all trials that say how far it may be
 * off.
 */
static const double enough = 0.02, plenty = 0.2, patience = 1.0;

/* An H200 makes some 12 times what 64 processors beside it do. */
static const double of_gpu = 8.0;

/* Devices of one name start with equal rates unless their trials differ by this ratio: less is noise. */
static const double most_off = 1.25;

/* Trial steps that take about so long [s], within bounds: short ones are measured too badly. */
static int64_t find_steps(const strake_pace *pace, double step, double seconds)
{
    const double fit = step > 0.0 ? seconds / step : MOST_TIMED;
    const int64_t wanted = fit < TIMED ? TIMED : fit > MOST_TIMED ? MOST_TIMED : (int64_t)fit;
    return (wanted + pace->team->at_once - 1) / pace->team->at_once * pace->team->at_once;
}

static bool streams(const strake_team *team)
{
    bool any = false;
    for (int e = 0; e < team->parts; e++) {
        any = any || (team->part[e].body != NULL && team->part[e].ops->visit != NULL);
    }
    return any;
}

strake_status strake_time_team(strake_pace *pace, double *seconds, double *part_seconds,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    double start = 0.0;
    int64_t timed = 0;
    STRAKE_TRY(strake_team_upload(pace->team, error));
    STRAKE_TRY(strake_team_try(pace->team, pace->team->at_once, error));
    timed = (streams(pace->team) ? FOLLOWING : 1) * (int64_t)pace->team->at_once;
    start = strake_clock_seconds();
    STRAKE_TRY(strake_team_try(pace->team, timed, error));
    *seconds = (strake_clock_seconds() - start) / (double)timed;
    if (*seconds * (double)timed < plenty) {
        const int64_t fit = find_steps(pace, *seconds, enough);
        timed = fit > timed ? fit : timed;
        start = strake_clock_seconds();
        STRAKE_TRY(strake_team_try(pace->team, timed, error));
        *seconds = (strake_clock_seconds() - start) / (double)timed;
    }
    for (int e = 0; e < pace->team->parts; e++) {
        part_seconds[e] = 0.0;
    }
    for (int r = 0; r < pace->team->roles; r++) {
        const strake_role *role = &pace->team->role[r];
        const double own = (role->compute + role->exchange) / (double)timed;
        double *slot = &part_seconds[role->part];
        *slot = own > *slot ? own : *slot;
        strake_part *part = &pace->team->part[role->part];
        part->slab_seconds =
            role->compute / (double)timed / (double)(part->range.end - part->range.first);
    }
    for (int e = 0; e < pace->team->parts && pace->domain->work != NULL; e++) {
        const strake_range range = pace->team->part[e].range;
        if (part_seconds[e] > 0.0) {
            (void)strake_times_add(&pace->tried[e], range.end - range.first, part_seconds[e]);
        }
    }
    strake_workers_seen(pace->team);
    STRAKE_TRY(strake_workers_level(pace->team) ? strake_team_share(pace->team, error) : STRAKE_OK);
cleanup:
    return status;
}

/*
 * Whether threads of this very team wait for each other's processors, in a run as in a trial: more than
 * there are processors, or beside a device that computes on them.
 */
static bool is_crowded(const strake_pace *pace)
{
    bool crowded = pace->team->most_threads > strake_topology_threads(&pace->team->topology);
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *part = &pace->team->part[e];
        crowded =
            crowded || (part->ops->has_driver && part->body != NULL && !strake_part_is_gpu(part));
    }
    return crowded;
}

/* Seconds per step of one more trial, and how much of these a thread waited for a processor on average:
   slow threads get smaller shares, so that the one which waited longest says nothing of the others. */
static strake_status time_again(strake_pace *pace, int64_t steps, strake_waits *before,
                                strake_waits *after, double *seconds, double *waited,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_waits_read(before);
    const double start = strake_clock_seconds();
    STRAKE_TRY(strake_team_try(pace->team, steps, error));
    *seconds = (strake_clock_seconds() - start) / (double)steps;
    strake_waits_read(after);
    *waited = strake_waits_between(before, after) / (double)(steps * pace->team->roles);
cleanup:
    return status;
}

strake_status strake_time_often(strake_pace *pace, strake_forecast *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds[MOST_TRIALS], waited[MOST_TRIALS];
    double part_seconds[STRAKE_MAX_PARTS] = {0.0};
    double start = 0.0;
    int64_t steps = 0;
    int trials = 0;
    const bool crowded = is_crowded(pace);
    strake_waits *const waits = calloc(2, sizeof *waits);
    STRAKE_CHECK(waits != NULL, error, STRAKE_ERR_MEMORY, "out of memory timing steps");
    /* Gets the data where they are needed; levels the workers' shares. */
    STRAKE_TRY(strake_time_team(pace, &start, part_seconds, error));
    steps = find_steps(pace, start, patience / MOST_TRIALS);
    start = strake_clock_seconds();
    while (trials < LEAST_TRIALS ||
           (trials < MOST_TRIALS && strake_clock_seconds() - start < patience)) {
        STRAKE_TRY(time_again(pace, steps, &waits[0], &waits[1], &seconds[trials], &waited[trials],
                              error));
        waited[trials] *= crowded ? 0.0 : 1.0;
        trials++;
    }
    *out = strake_forecast_of(seconds, waited, trials);
cleanup:
    free(waits);
    return status;
}

/* Gives devices of one name the mean of their rates. */
static void level_twins(const strake_pace *pace, double *weight)
{
    for (int e = 0; e < pace->team->parts; e++) {
        double sum = weight[e], least = weight[e], most = weight[e];
        int count = 1;
        for (int k = e + 1; k < pace->team->parts; k++) {
            if (weight[k] > 0.0 && strake_team_twin(pace->team, k) == e) {
                sum += weight[k];
                count++;
                least = weight[k] < least ? weight[k] : least;
                most = weight[k] > most ? weight[k] : most;
            }
        }
        for (int k = e; k < pace->team->parts && count > 1 && most < most_off * least; k++) {
            if (k == e || (weight[k] > 0.0 && strake_team_twin(pace->team, k) == e)) {
                weight[k] = sum / count;
            }
        }
    }
}

/* Weights proportional to rows per second; a stripe that had no rows keeps none. */
static void weights_from_rates(const strake_pace *pace, const double *part_seconds, double *weight)
{
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *part = &pace->team->part[e];
        const double rows = (double)(part->range.end - part->range.first);
        weight[e] = part_seconds[e] > 0.0 ? rows / part_seconds[e] : 0.0;
    }
    level_twins(pace, weight);
}

strake_status strake_balance_place(strake_pace *pace, const double *weight, strake_error *error)
{
    const double start = strake_clock_seconds();
    strake_status status = strake_team_place(pace->team, weight, error);
    if (status == STRAKE_OK) {
        status = strake_team_upload(pace->team, error);
    }
    pace->placing = strake_clock_seconds() - start;
    return status;
}

/*
 * Whether weights mean other shares than the parts have, of which placing takes longer than the trials do. Where processors
 * take part their threads' shares were levelled by the trial, too.
 */
static bool moves(const strake_pace *pace, const double *weight)
{
    static const double least_move = 0.02; /* of a part's slabs */
    double sum = 0.0;
    bool any = false;
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *const part = &pace->team->part[e];
        any = any || (part->ops->has_workers && strake_part_has_slabs(part));
        sum += weight[e];
    }
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_range range = pace->team->part[e].range;
        const double slabs = (double)(pace->domain->own.end - pace->domain->own.first);
        const double own = (double)(range.end - range.first);
        any = any || !(fabs(weight[e] / sum * slabs - own) <= fmax(1.0, least_move * own));
    }
    return any;
}

strake_status strake_balance_weights(strake_pace *pace, double *weight, double *seconds,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    double part_seconds[STRAKE_MAX_PARTS] = {0.0};
    for (int round = 0; round < ROUNDS; round++) {
        STRAKE_TRY(strake_balance_place(pace, weight, error));
        STRAKE_TRY(strake_time_team(pace, seconds, part_seconds, error));
        weights_from_rates(pace, part_seconds, weight);
        if (!moves(pace, weight)) {
            return STRAKE_OK;
        }
    }
    STRAKE_TRY(strake_balance_place(pace, weight, error));
    STRAKE_TRY(strake_time_team(pace, seconds, part_seconds, error));
cleanup:
    return status;
}

/*
 * As predicted; else a GPU begins with so many times as much as processors, since the first trial takes as long as whoever
 * has too much, else even ones.
 */
static strake_status first_weights(const strake_pace *pace, double *weight, strake_error *error)
{
    strake_prediction *const prediction = calloc(1, sizeof *prediction);
    if (prediction == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a prediction");
    }
    strake_predict(pace, 1.0, prediction);
    for (int e = 0; e < pace->team->parts; e++) {
        weight[e] = strake_part_is_gpu(&pace->team->part[e]) ? of_gpu : 1.0;
    }
    if (prediction->complete) {
        strake_predict_shares(pace, prediction, weight);
    }
    free(prediction);
    return STRAKE_OK;
}

/*
 * Whether it is to be measured who takes part. Where a stripe streams through its device, others may cost it more
 * than they compute, so that of a list, too, those begin without slabs beside whom steps would be no shorter.
 */
static bool has_choice(const strake_pace *pace)
{
    return pace->kind == STRAKE_WHERE_AUTO ||
           (strake_team_may_stream(pace->team) && !strake_may_rest(pace->which) &&
            strake_rebalance_policy(pace->which, false) == STRAKE_BALANCE_MODEL);
}

strake_status strake_balance(strake_pace *pace, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double weight[STRAKE_MAX_PARTS];
    double seconds = 0.0;
    if (pace->team->part[0].ops->meets_within && pace->domain->work != NULL) {
        return strake_share_work(pace, error);
    }
    if (has_choice(pace)) {
        return strake_choose(pace, error);
    }
    STRAKE_TRY(first_weights(pace, weight, error));
    strake_rescue_weights(pace, weight);
    STRAKE_TRY(strake_balance_weights(pace, weight, &seconds, error));
    strake_tell_choice(pace, seconds, true, "rows in proportion to the measured rates");
cleanup:
    return status;
}
