/* Tuning on one grid: reference, defaults, baseline, search, finalists. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "autotune/tune_impl.h"

/* A measurement is cut off at this many times what the defaults took, within bounds [s]. */
static const double limit_factor = 5.0, least_limit = 10.0, most_limit = 60.0;

/* More samples of a configuration only while it is at most this much slower than the best. */
static const double give_up_factor = 1.5;

/* Part of the time of a grid that the finalists get at most; and measurements they may take longer for. */
static const double final_share = 0.25, final_slack = 1.5;

enum { MOST_TRIED = 4000 };

/* Keeps the fastest, in order, one of those that come to the same. */
static void consider(strake_tuning *t, int settings, const strake_tuned_setting *setting,
                     const strake_measurement *m)
{
    const double median = strake_measurement_median(m);
    int place = t->finalists;
    for (int f = 0; f < t->finalists; f++) {
        if (strake_measurement_alike(&t->finalist[f].result, m)) {
            if (strake_measurement_median(&t->finalist[f].result) <= median) {
                return;
            }
            t->finalists--;
            memmove(&t->finalist[f], &t->finalist[f + 1],
                    (size_t)(t->finalists - f) * sizeof t->finalist[0]);
            place = t->finalists;
        }
    }
    while (place > 0 && strake_measurement_median(&t->finalist[place - 1].result) > median) {
        place--;
    }
    if (place == STRAKE_TUNE_FINALISTS) {
        return;
    }
    t->finalists += t->finalists < STRAKE_TUNE_FINALISTS ? 1 : 0;
    memmove(&t->finalist[place + 1], &t->finalist[place],
            (size_t)(t->finalists - 1 - place) * sizeof t->finalist[0]);
    t->finalist[place].settings = settings;
    memcpy(t->finalist[place].setting, setting, (size_t)settings * sizeof *setting);
    t->finalist[place].result = *m;
}

static double best_so_far(const strake_tuning *t)
{
    const double fallback = strake_measurement_median(&t->fallback.result);
    const double found =
        t->finalists > 0 ? strake_measurement_median(&t->finalist[0].result) : INFINITY;
    return found < fallback ? found : fallback;
}

/* A strake_try_function. */
static bool attempt(void *user, const strake_candidate *candidate, double *seconds)
{
    strake_tuning *const t = user;
    strake_measurement m;
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    const int settings = strake_space_settings(t->space, candidate, setting);
    if (strake_tuning_left(t, t->grid_end) <= 0.5 * t->cost || strake_tuning_stopped(t)) {
        return false;
    }
    if (strake_tuning_measure(t, settings, setting, give_up_factor * best_so_far(t), &m,
                              &t->failure) != STRAKE_OK ||
        m.outcome == STRAKE_OUTCOME_STOPPED) {
        return false;
    }
    t->result->count[m.outcome]++;
    t->failed += m.outcome != STRAKE_OUTCOME_GOOD && m.outcome != STRAKE_OUTCOME_SLOW;
    if (strake_measurement_alike(&m, &t->fallback.result)) {
        strake_tuning_note_fallback(t, &m);
    }
    *seconds = m.samples > 0 ? strake_measurement_median(&m) : INFINITY;
    if (m.outcome == STRAKE_OUTCOME_GOOD) {
        consider(t, settings, setting, &m);
    }
    strake_tuning_tell(t);
    return true;
}

static strake_tuned_end end_of(const strake_tuning *t, const strake_search *search)
{
    switch (search->end) {
    case STRAKE_SEARCH_DONE:
        return STRAKE_TUNED_END_COMPLETE;
    case STRAKE_SEARCH_MOST:
        return STRAKE_TUNED_END_TRIES;
    default:
        return strake_tuning_stopped(t) ? STRAKE_TUNED_END_INTERRUPT : STRAKE_TUNED_END_BUDGET;
    }
}

static strake_status search(strake_tuning *t, const strake_contender *earlier,
                            strake_tuned_class *class, bool *any, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_candidate start[STRAKE_SPACE_SEEDS + 2];
    int most = 0;
    strake_tuning_begin_helpers(t);
    const double left = strake_tuning_left(t, t->grid_end);
    /* The defaults were built by the process that measures; what helpers build costs it less. */
    const double cost = t->helpers > 0 ? t->cost / (1.0 + t->helpers) : t->cost;
    const double affordable = left / cost + strake_tuning_tried(t);
    const int limit =
        t->space->tries > 0 && t->space->tries < MOST_TRIED ? t->space->tries : MOST_TRIED;
    strake_search search = {
        .space = t->space,
        .facts = &t->facts,
        .most = limit,
        /* By one measurement, perhaps a disturbed one: it says how, not how long. */
        .afford = affordable >= limit ? limit : (int)affordable + 1,
        .start = start,
        .seed = UINT64_C(20140917),
        .attempt = attempt,
        .hint = t->helpers > 0 ? strake_tuning_prepare : NULL,
        .user = t};
    if (earlier->settings > 0) {
        start[search.starts++] =
            strake_space_candidate(t->space, &t->facts, earlier->settings, earlier->setting);
    }
    start[search.starts++] = strake_space_start(t->space);
    for (int s = 0; s < t->space->seeds; s++) {
        start[search.starts++] = t->space->seed[s];
    }
    t->doing = "search";
    t->failed = 0;
    status = strake_search_run(&search, error);
    strake_tuning_rest_helpers(t);
    STRAKE_TRY(status);
    *any = search.tried > 0 || search.exhausted;
    class->end = end_of(t, &search);
    (void)snprintf(class->space, sizeof class->space, "%s", t->space->hash);
    class->tried = search.tried;
    class->failed = t->failed;
    class->possible = search.possible;
    STRAKE_CHECK(t->failure.status == STRAKE_OK, error, t->failure.status, "%s", t->failure.text);
    for (int c = 0; c < t->space->constraints; c++) {
        most = search.pruned[c] > search.pruned[most] ? c : most;
    }
    STRAKE_CHECK(search.possible > 0.0 || t->options->like != NULL, error, STRAKE_ERR_USAGE,
                 "%s: its constraints rule out every configuration on grids of %lld x %lld x %lld "
                 "cells, most (%lld) because %s: change them, the values or the grids",
                 t->space->name, (long long)t->n[0], (long long)t->n[1], (long long)t->n[2],
                 (long long)search.pruned[most], t->space->constraint[most].why);
    for (int c = 0; c < t->space->constraints; c++) {
        t->result->pruned[c] += search.pruned[c];
    }
cleanup:
    return status;
}

static strake_status measure_fallback(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = strake_clock_seconds();
    double limit = 0.0;
    strake_measurement *const m = &t->fallback.result;
    t->doing = "default";
    t->wall_limit = most_limit;
    t->cost = 0.0;
    strake_tuning_tell(t);
    STRAKE_TRY(strake_tuning_measure(t, 0, NULL, INFINITY, m, error));
    if (m->outcome == STRAKE_OUTCOME_STOPPED) {
        return strake_fail(error, STRAKE_ERR_STATE, "the budget ended");
    }
    STRAKE_CHECK(m->outcome == STRAKE_OUTCOME_GOOD, error, STRAKE_ERR_DEVICE,
                 "%s: even the default settings fail (%s): %s", t->options->where,
                 strake_outcome_word(m->outcome), m->message);
    limit = limit_factor * (strake_clock_seconds() - start);
    /* From an interrupted tuning: about what it took then. */
    t->cost = t->cost > 0.0 ? t->cost : m->build + m->check + strake_tuning_sampling(t);
    t->wall_limit = limit < least_limit ? least_limit : limit > most_limit ? most_limit : limit;
    t->result->count[STRAKE_OUTCOME_GOOD]++;
cleanup:
    return status;
}

static strake_status measure_baseline(strake_tuning *t, strake_tuned_class *class,
                                      strake_error *error)
{
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    strake_measurement m = {.outcome = STRAKE_OUTCOME_STOPPED};
    const int settings = strake_space_read_settings(t->space->baseline, setting);
    const strake_status status =
        settings > 0 && t->options->like == NULL
            ? strake_tuning_measure(t, settings, setting, INFINITY, &m, error)
            : STRAKE_OK;
    class->baseline = m.outcome == STRAKE_OUTCOME_GOOD ? strake_measurement_median(&m) : 0.0;
    if (m.outcome == STRAKE_OUTCOME_GOOD) {
        consider(t, settings, setting, &m);
    }
    return status;
}

/* The winner's kernels, each in groups of the size that was best for it. */
static strake_status try_kernels(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_contender each;
    bool any = false;
    STRAKE_TRY(strake_tuning_kernels(t, give_up_factor * best_so_far(t), &each, &any, error));
    if (any) {
        t->result->count[each.result.outcome]++;
    }
    if (any && each.result.outcome == STRAKE_OUTCOME_GOOD) {
        consider(t, each.settings, each.setting, &each.result);
    }
cleanup:
    return status;
}

strake_status strake_tuning_grid(strake_tuning *t, strake_tuned_class *class, bool *any,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double deadline = t->grid_end;
    const strake_contender earlier =
        t->finalists > 0 ? t->finalist[0] : (strake_contender){.settings = 0};
    bool searched = false;
    *any = false;
    memset(class, 0, sizeof *class);
    memset(&t->fallback, 0, sizeof t->fallback);
    t->finalists = 0;
    t->least = 0.0;
    status = strake_tuning_reference(t, error);
    if (status == STRAKE_OK) {
        status = measure_fallback(t, error);
    }
    if (status == STRAKE_ERR_STATE) {
        return STRAKE_OK; /* out of time before anything is known */
    }
    STRAKE_TRY(status);
    STRAKE_TRY(measure_baseline(t, class, error));
    t->grid_end =
        deadline - fmin(final_share * strake_tuning_left(t, deadline),
                        final_slack * STRAKE_TUNE_ROUNDS * (STRAKE_TUNE_FINALISTS + 1) * t->cost);
    STRAKE_TRY(search(t, &earlier, class, &searched, error));
    if (!searched) {
        return STRAKE_OK; /* the defaults alone are no result; the journal keeps them */
    }
    STRAKE_TRY(try_kernels(t, error));
    if (t->finalists > 0 && strake_tuning_left(t, t->end) > 0.0 && !strake_tuning_stopped(t)) {
        STRAKE_TRY(strake_tuning_finals(t, deadline, error));
    }
    *any = t->fallback.result.samples > 0;
    if (*any) {
        strake_tuning_result(t, class);
        class->evaluated = strake_tuning_tried(t);
    }
cleanup:
    return status;
}
