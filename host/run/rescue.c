#include "run/rescue.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "run/part.h"

/*
 * Renewing the copy may take one part in COST_PART of the time spent stepping (not of what lies between
 * the steps); not more often than that [s].
 */
enum { COST_PART = 100 };
static const double least_interval = 0.5;

static int count_parts(const strake_pace *pace)
{
    int parts = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        parts += pace->team->part[e].dropped ? 0 : 1;
    }
    return parts;
}

/* Whether a device could fail and another part take over. */
static bool is_wanted(const strake_pace *pace)
{
    bool any = false;
    for (int e = 0; e < pace->team->parts; e++) {
        any = any || (pace->team->part[e].ops->has_driver && pace->team->part[e].body != NULL);
    }
    /* Other ranks cannot go back to where this one's copy is. */
    return any && count_parts(pace) > 1 && !pace->kept.refused && pace->domain->ranks == NULL;
}

static double interval(const strake_kept *kept)
{
    const double seconds = COST_PART * kept->cost;
    return seconds > least_interval ? seconds : least_interval;
}

strake_status strake_keep(strake_pace *pace, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_kept *kept = &pace->kept;
    const double start = strake_clock_seconds();
    const double passed = pace->step_seconds - kept->since;
    if (!is_wanted(pace) || (kept->valid && passed < interval(kept)) ||
        (kept->is_outdated && passed < COST_PART * kept->cost)) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_team_gather(pace->team, error));
    status = pace->domain->ops->keep(pace->domain, error);
    if (status == STRAKE_ERR_MEMORY && !kept->valid) {
        kept->refused = true;
        strake_tell(&pace->team->notices, STRAKE_NOTICE_WARNING
                    "the machine has no memory for a copy of the states: if a "
                    "device fails, so does the run");
        return STRAKE_OK;
    }
    STRAKE_TRY(status);
    if (kept->valid && pace->domain->step > kept->step) {
        kept->pace = passed / (double)(pace->domain->step - kept->step);
    }
    kept->valid = true;
    kept->is_outdated = false;
    kept->step = pace->domain->step;
    kept->clock = pace->domain->clock;
    kept->dt_after = pace->domain->dt_after;
    kept->since = pace->step_seconds;
    kept->cost = strake_clock_seconds() - start;
cleanup:
    return status;
}

int64_t strake_keep_piece(const strake_pace *pace, int64_t steps)
{
    const strake_kept *kept = &pace->kept;
    const int64_t done = pace->domain->step - kept->step;
    const double passed = pace->step_seconds - kept->since;
    const double step = done > 0 ? passed / (double)done : kept->pace;
    const int64_t sweep = pace->team->at_once > 1 ? pace->team->at_once : 1;
    if (!kept->valid || !is_wanted(pace)) {
        return steps;
    }
    /* Where nothing is known yet of how long a step takes, one sweep tells. */
    const double fit = step > 0.0 ? (interval(kept) - passed) / step : 0.0;
    const int64_t whole = (int64_t)fmin(fmax(fit, 0.0), 1e15) / sweep * sweep;
    const int64_t piece = whole > sweep ? whole : sweep;
    return piece < steps ? piece : steps;
}

void strake_keep_forget(strake_pace *pace)
{
    pace->kept.valid = false;
    pace->kept.is_outdated = false;
}

void strake_keep_outdate(strake_pace *pace)
{
    pace->kept.is_outdated = pace->kept.is_outdated || pace->kept.valid;
    pace->kept.valid = false;
}

/* Drops what failed. @return how many that were */
static int drop(strake_pace *pace)
{
    int dropped = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        strake_part *part = &pace->team->part[e];
        if (!part->failed) {
            continue;
        }
        strake_leave_behind(part->body);
        part->body = NULL;
        part->failed = false;
        part->dropped = true;
        part->dropped_at = pace->domain->step;
        dropped++;
    }
    return dropped;
}

static void tell(const strake_pace *pace)
{
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *part = &pace->team->part[e];
        if (part->failed) {
            strake_tell(
                &pace->team->notices,
                STRAKE_NOTICE_WARNING "%s is dropped after step %lld: %s; the other parts do its "
                                      "work, again from step %lld on",
                part->name, (long long)pace->domain->step, part->why, (long long)pace->kept.step);
        }
    }
}

static int count_failed(const strake_pace *pace)
{
    int failed = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        failed += pace->team->part[e].failed ? 1 : 0;
    }
    return failed;
}

void strake_rescue_weights(const strake_pace *pace, double *weight)
{
    double sum = 0.0;
    for (int e = 0; e < pace->team->parts; e++) {
        weight[e] = pace->team->part[e].dropped ? 0.0 : weight[e];
        sum += weight[e];
    }
    for (int e = 0; e < pace->team->parts && sum == 0.0; e++) {
        weight[e] = pace->team->part[e].dropped ? 0.0 : 1.0;
    }
}

strake_status strake_rescue_setup(strake_pace *pace, const strake_error *cause, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_error first = *cause; /* error may be the same */
    const int failed = count_failed(pace);
    if (first.status != STRAKE_ERR_DEVICE || failed == 0 || pace->domain->ranks != NULL) {
        return strake_fail(error, first.status, "%s", first.text);
    }
    STRAKE_CHECK(count_parts(pace) > failed, error, STRAKE_ERR_DEVICE,
                 "%s; no other part of this run is left to go on: name more in --on, or another "
                 "device; where memory is short, run.device_memory makes the stripe stream "
                 "through less of it",
                 first.text);
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *part = &pace->team->part[e];
        if (part->failed) {
            /* One that was made may have been tried, and its driver may still write. */
            pace->domain->has_lost = pace->domain->has_lost || part->body != NULL;
            strake_tell(&pace->team->notices,
                        STRAKE_NOTICE_WARNING "%s is left out: %s; the other parts do its work",
                        part->name, part->why);
        }
    }
    (void)drop(pace);
    strake_team_release(pace->team);
    if (pace->domain->has_lost) {
        STRAKE_TRY(pace->domain->ops->renew(pace->domain, false, error));
    }
cleanup:
    return status;
}

/* The others keep their shares of the slabs; where they had none, equal ones. */
static void find_weights(const strake_pace *pace, double *weight)
{
    for (int e = 0; e < pace->team->parts; e++) {
        weight[e] = (double)(pace->team->part[e].range.end - pace->team->part[e].range.first);
    }
    strake_rescue_weights(pace, weight);
}

/* Places the parts that are left; a device that fails now is dropped too. */
static strake_status place_others(strake_pace *pace, strake_error *error)
{
    double weight[STRAKE_MAX_PARTS];
    find_weights(pace, weight);
    strake_status status = strake_team_place(pace->team, weight, error);
    while (status == STRAKE_ERR_DEVICE && drop(pace) > 0 && count_parts(pace) > 0) {
        find_weights(pace, weight);
        status = strake_team_place(pace->team, weight, error);
    }
    return status;
}

strake_status strake_rescue(strake_pace *pace, const strake_error *cause, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_error first = *cause; /* error may be the same */
    const int failed = count_failed(pace);
    if (first.status != STRAKE_ERR_DEVICE || failed == 0) {
        return strake_fail(error, first.status, "%s", first.text);
    }
    pace->domain->has_lost = true;
    if (count_parts(pace) > failed && pace->kept.valid) {
        tell(pace);
    }
    (void)drop(pace);
    STRAKE_CHECK(count_parts(pace) > 0, error, STRAKE_ERR_DEVICE,
                 "%s; no other part of this run is left to go on: name more in --on, or another "
                 "device",
                 first.text);
    STRAKE_CHECK(pace->kept.valid, error, STRAKE_ERR_DEVICE,
                 "%s; there is no copy of the states from which the other parts could go on",
                 first.text);
    STRAKE_TRY(pace->domain->ops->renew(pace->domain, true, error));
    pace->domain->step = pace->kept.step;
    pace->kept.clock.until = pace->domain->clock.until; /* who waits now */
    pace->domain->clock = pace->kept.clock;
    pace->domain->dt_after = pace->kept.dt_after;
    STRAKE_TRY(place_others(pace, error));
    strake_rebalance_begin(pace);
cleanup:
    pace->is_broken = status != STRAKE_OK;
    return status;
}
