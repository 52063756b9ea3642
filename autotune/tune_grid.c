/* Tuning on one grid: reference, defaults, baseline, search, finalists. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/tune_impl.h"
#include "base/clock.h"
#include "base/hash.h"
#include "cpu/machine.h"

/* Measuring settings and the reference on the present grid within the budget, and telling the user. */

/* The serial reference for runs of at most so many cells times steps; beyond, the CPU stripe. */
static const double serial_cells = 6e7, brief_cells = 2e6;

/* Neighbours are looked for anew in every step there: a particle costs as much as so many cells. */
static const double cells_per_particle = 200.0;

enum { SAMPLES = 3 };

static int count_tried(const strake_tuning *t)
{
    int count = 0;
    for (int k = 0; k < t->journal.entries; k++) {
        count += memcmp(t->journal.entry[k].n, t->n, sizeof t->n) == 0;
    }
    return count;
}

static double least_sample(const strake_measurement *m)
{
    double least = INFINITY;
    for (int k = 0; k < m->samples; k++) {
        least = m->seconds[k] < least ? m->seconds[k] : least;
    }
    return least;
}

static void note_fallback(strake_tuning *t, const strake_measurement *m)
{
    const double least = least_sample(m);
    t->least = isfinite(least) && (t->least <= 0.0 || least < t->least) ? least : t->least;
}

void strake_tuning_tell(strake_tuning *t)
{
    char text[900];
    /* Until something beats the defaults they are the best; least with least, for disturbances. */
    const double found = t->finalists > 0 ? least_sample(&t->finalist[0].result) : INFINITY;
    note_fallback(t, &t->fallback.result);
    const bool beaten = t->least > 0.0 && found < t->least;
    const strake_contender *const best = beaten ? &t->finalist[0] : &t->fallback;
    strake_tune_progress progress = {.where = t->options->where,
                                     .doing = t->doing,
                                     .grid = t->grid,
                                     .grids = t->grids,
                                     .problem = t->which->problem,
                                     .left = strake_tuning_left(t->end)};
    if (t->options->progress == NULL) {
        return;
    }
    memcpy(progress.n, t->n, sizeof t->n);
    progress.tried = count_tried(t);
    progress.fallback = t->least > 0.0 ? t->least : INFINITY;
    progress.best = beaten ? found : progress.fallback;
    progress.settings = strake_settings_text(best->settings, best->setting, text, sizeof text);
    t->options->progress(t->options->user, &progress);
}

static double sample_seconds(const strake_tuning *t)
{
    return t->options->like != NULL ? 0.03 : 0.1;
}

static double sampling(const strake_tuning *t)
{
    return SAMPLES * sample_seconds(t);
}

static strake_request request_for(const strake_tuning *t, int settings,
                                  const strake_tuned_setting *setting, double give_up)
{
    return (strake_request){.where = t->options->where,
                            .case_file = t->case_file,
                            .reference = t->reference,
                            .steps = t->space->steps,
                            .samples = SAMPLES,
                            .sample_seconds = sample_seconds(t),
                            .give_up = give_up,
                            .settings = settings,
                            .setting = setting};
}

static strake_status measure_now(strake_tuning *t, int settings,
                                 const strake_tuned_setting *setting, double give_up,
                                 strake_measurement *out, strake_error *error)
{
    const strake_request request = request_for(t, settings, setting, give_up);
    const double left = strake_tuning_left(t->end);
    const double limit = t->wall_limit < left ? t->wall_limit : left;
    const double start = strake_clock_seconds();
    if (limit <= 0.0 || strake_tuning_stopped(t)) {
        *out = (strake_measurement){.outcome = STRAKE_OUTCOME_STOPPED};
        return STRAKE_OK;
    }
    const strake_status status = strake_measure(&t->worker, &request, limit, out, error);
    /* A measurement that the end of the budget cut off is no failure of its settings. */
    if (out->outcome == STRAKE_OUTCOME_TIMEOUT && limit < t->wall_limit) {
        out->outcome = STRAKE_OUTCOME_STOPPED;
    }
    const double took = strake_clock_seconds() - start;
    t->cost = t->cost > 0.0 ? 0.8 * t->cost + 0.2 * took : took;
    return status;
}

strake_status strake_tuning_measure(strake_tuning *t, int settings,
                                    const strake_tuned_setting *setting, double give_up,
                                    strake_measurement *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_journal_entry entry = {.settings = settings, .when = (double)strake_clock_date()};
    const strake_measurement *const known =
        strake_journal_find(&t->journal, t->n, settings, setting);
    if (known != NULL) {
        *out = *known;
        return STRAKE_OK;
    }
    STRAKE_TRY(measure_now(t, settings, setting, give_up, out, error));
    if (out->outcome == STRAKE_OUTCOME_STOPPED) {
        return STRAKE_OK;
    }
    memcpy(entry.n, t->n, sizeof entry.n);
    if (settings > 0) {
        memcpy(entry.setting, setting, (size_t)settings * sizeof *setting);
    }
    entry.result = *out;
    STRAKE_TRY(strake_journal_add(&t->journal, &entry, error));
cleanup:
    return status;
}

strake_status strake_tuning_reference(strake_tuning *t, strake_error *error)
{
    /* One step at a time, the longest-tested way of the stripe; the smaller grids test it again. */
    static const strake_tuned_setting careful = {"run.steps_per_sweep", "1"};
    strake_status status = STRAKE_OK;
    strake_measurement m;
    const bool has_particles = t->which->problem->has_particles;
    const double cells = (double)t->n[0] * (double)t->n[1] * (double)t->n[2] * t->space->steps *
                         (has_particles ? cells_per_particle : 1.0);
    strake_request request = request_for(t, 0, NULL, INFINITY);
    const bool serial = cells <= (t->options->like != NULL ? brief_cells : serial_cells);
    request.where = serial ? "serial" : "cpu";
    request.settings = serial || has_particles ? 0 : 1;
    request.setting = &careful;
    request.samples = 0;
    t->doing = "reference";
    strake_tuning_tell(t);
    STRAKE_TRY(strake_measure(&t->worker, &request, strake_tuning_left(t->end), &m, error));
    if (m.outcome == STRAKE_OUTCOME_STOPPED || m.outcome == STRAKE_OUTCOME_TIMEOUT) {
        return strake_fail(error, STRAKE_ERR_STATE, "the budget ended");
    }
    STRAKE_CHECK(m.outcome == STRAKE_OUTCOME_GOOD, error, STRAKE_ERR_DEVICE,
                 "the reference's result cannot be computed: %s", m.message);
cleanup:
    return status;
}

/* Building kernels ahead: processes beside the one that measures, while a GPU has no use for the cores. */

/* Part of the host's memory that the helpers' own arrays may take. */
static const double most_memory = 0.2;

/** Decides how many processes build kernels ahead on the present grid. */
static void tuning_begin_helpers(strake_tuning *t)
{
    strake_machine machine;
    int inputs = t->which->problem->has_particles ? STRAKE_TUNE_REALS : 2;
    strake_machine_read(&machine);
    for (int v = 0; v < t->graph.values; v++) {
        const strake_value *const value = &t->graph.value[v];
        inputs += value->stage < 0 && value->is_live && !value->is_constant;
    }
    const double each = inputs * (double)t->n[0] * (double)t->n[1] * (double)t->n[2] *
                        strake_precision_size(t->which->precision);
    const double fit = most_memory * (double)machine.memory / each;
    const int spare = machine.cores / 2;
    int helpers = t->prediction.is_gpu ? spare : 0;
    helpers = helpers > STRAKE_TUNE_HELPERS ? STRAKE_TUNE_HELPERS : helpers;
    helpers = helpers > fit ? (int)fit : helpers;
    t->helpers = helpers > 0 ? helpers : 0;
    t->prepared = 0;
    for (int k = 0; k < STRAKE_TUNE_HELPERS; k++) {
        t->helper[k].command = t->worker.command;
        t->helper[k].environment = t->worker.environment;
        t->helper[k].log = t->worker.log;
    }
}

static bool is_new(strake_tuning *t, int settings, const strake_tuned_setting *setting)
{
    char text[900];
    (void)strake_settings_text(settings, setting, text, sizeof text);
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, text, strlen(text));
    for (int k = 0; k < t->prepared; k++) {
        if (t->hash[k] == hash) {
            return false;
        }
    }
    if (t->prepared == STRAKE_TUNE_PREPARED ||
        strake_journal_find(&t->journal, t->n, settings, setting) != NULL) {
        return false;
    }
    t->hash[t->prepared++] = hash;
    return true;
}

/** A strake_hint_function: idle helpers build the kernels of these candidates. */
static void tuning_prepare(void *tuning, int count, const strake_candidate *candidate)
{
    strake_tuning *const t = tuning;
    int next = 0;
    for (int k = 0; k < t->helpers; k++) {
        if (!strake_worker_is_idle(&t->helper[k], t->wall_limit)) {
            continue;
        }
        for (bool found = false; next < count && !found; next++) {
            strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
            const int settings = strake_space_settings(t->space, &candidate[next], setting);
            found = is_new(t, settings, setting);
            if (found) {
                const strake_request request = {.where = t->options->where,
                                                .case_file = t->case_file,
                                                .reference = t->reference,
                                                .settings = settings,
                                                .setting = setting};
                strake_worker_prepare(&t->helper[k], &request);
                t->result->ahead++;
            }
        }
    }
}

/* Stops building ahead, so that measurements are undisturbed. */
static void tuning_rest_helpers(strake_tuning *t)
{
    for (int k = 0; k < STRAKE_TUNE_HELPERS; k++) {
        if (!strake_worker_is_idle(&t->helper[k], t->wall_limit)) {
            strake_worker_stop(&t->helper[k]);
        }
    }
}

/*
 * Sizes of work-groups kernel by kernel: what the devices' timers said of every kernel in groups of
 * different sizes is put together and measured as a whole.
 */

static const char width_path[] = "run.group_width", height_path[] = "run.group_height";

/* The value of a setting as a number; 0: not set. */
static int number_of(int settings, const strake_tuned_setting *setting, const char *path)
{
    for (int s = 0; s < settings; s++) {
        if (strcmp(setting[s].path, path) == 0) {
            return (int)strtol(setting[s].value, NULL, 10);
        }
    }
    return 0;
}

static bool is_size(const char *path)
{
    return strcmp(path, width_path) == 0 || strcmp(path, height_path) == 0;
}

/* Whether a measurement is of the same kernels as a contender's, in groups of another size. */
static bool is_alike(const strake_journal_entry *entry, const strake_contender *base)
{
    bool alike = entry->settings == base->settings &&
                 entry->result.kernels == base->result.kernels &&
                 (entry->result.outcome == STRAKE_OUTCOME_GOOD ||
                  entry->result.outcome == STRAKE_OUTCOME_SLOW);
    for (int s = 0; s < entry->settings && alike; s++) {
        alike = strcmp(entry->setting[s].path, base->setting[s].path) == 0 &&
                (is_size(entry->setting[s].path) ||
                 strcmp(entry->setting[s].value, base->setting[s].value) == 0);
    }
    for (int k = 0; k < entry->result.kernels && alike; k++) {
        alike = strcmp(entry->result.kernel[k].name, base->result.kernel[k].name) == 0 &&
                entry->result.kernel[k].seconds > 0.0 && base->result.kernel[k].seconds > 0.0;
    }
    return alike;
}

/* The fastest size of every kernel, where it is not the common one. @return the part of the time that they save. */
static double choose(const strake_tuning *t, const strake_contender *base, double gain,
                     strake_group group[STRAKE_MOST_GROUPS])
{
    const strake_measurement *const m = &base->result;
    double all = 0.0, saved = 0.0;
    for (int k = 0; k < m->kernels; k++) {
        double least = (1.0 - gain) * m->kernel[k].seconds;
        all += m->kernel[k].seconds;
        for (int e = 0; e < t->journal.entries && k < STRAKE_MOST_GROUPS; e++) {
            const strake_journal_entry *const entry = &t->journal.entry[e];
            const double seconds = entry->result.kernel[k].seconds;
            if (memcmp(entry->n, t->n, sizeof t->n) == 0 && is_alike(entry, base) &&
                seconds < least) {
                const int height = number_of(entry->settings, entry->setting, height_path);
                least = seconds;
                group[k].width = number_of(entry->settings, entry->setting, width_path);
                group[k].height = height > 0 ? height : 1;
            }
        }
        saved += k < STRAKE_MOST_GROUPS && group[k].width > 0 ? m->kernel[k].seconds - least : 0.0;
    }
    return all > 0.0 ? saved / all : 0.0;
}

/* Whether all kernels chose one size: such groups were measured already. */
static bool is_common(int kernels, const strake_group *group)
{
    for (int k = 0; k < kernels; k++) {
        if (k >= STRAKE_MOST_GROUPS || group[k].width != group[0].width ||
            group[k].height != group[0].height) {
            return false;
        }
    }
    return true;
}

/**
 * The fastest configuration so far with groups of its own for every kernel that was faster in another
 * size, by the timers of all measurements of these kernels; measured as a whole.
 * @param[out] any  false: one size serves all kernels, or the time is over
 */
static strake_status tuning_kernels(strake_tuning *t, double give_up, strake_contender *out,
                                    bool *any, strake_error *error)
{
    strake_group group[STRAKE_MOST_GROUPS] = {{0, 0}};
    *any = false;
    if (t->space->kernel_gain <= 0.0 || t->options->like != NULL || t->finalists == 0) {
        return STRAKE_OK;
    }
    *out = t->finalist[0];
    if (out->result.kernels < 2 || out->settings == STRAKE_TUNED_SETTINGS ||
        number_of(out->settings, out->setting, width_path) == 0 ||
        choose(t, out, t->space->kernel_gain, group) < t->space->kernel_gain ||
        is_common(out->result.kernels, group)) {
        return STRAKE_OK;
    }
    strake_tuned_setting *const added = &out->setting[out->settings++];
    (void)snprintf(added->path, sizeof added->path, "run.groups");
    (void)strake_groups_print(out->result.kernels, group, added->value);
    t->doing = "kernels";
    strake_tuning_tell(t);
    const strake_status status =
        strake_tuning_measure(t, out->settings, out->setting, give_up, &out->result, error);
    *any = status == STRAKE_OK && out->result.outcome != STRAKE_OUTCOME_STOPPED;
    return status;
}

/* The decision on a grid: the fastest candidates are measured in turn with the defaults. */

/* The defaults stay unless the winner is this much faster. */
static const double least_gain = 1.01;

enum { LEAST_ROUNDS = 2 };

static void add_samples(strake_contender *c, const strake_measurement *more)
{
    for (int k = 0; k < more->samples && c->result.samples < STRAKE_WORKER_SAMPLES; k++) {
        c->result.seconds[c->result.samples++] = more->seconds[k];
    }
}

/* Whether both are known to be of the same kernels and parameters. */
static bool measurement_alike(const strake_measurement *a, const strake_measurement *b)
{
    return a->effect != 0 && a->effect == b->effect;
}

/** The best again, in turn with the defaults, so that what disturbs the machine disturbs all alike. */
static strake_status tuning_finals(strake_tuning *t, double deadline, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_contender *player[STRAKE_TUNE_FINALISTS + 1] = {&t->fallback};
    bool begun[STRAKE_TUNE_FINALISTS + 1] = {false};
    int players = 1;
    t->doing = "finalists";
    for (int f = 0; f < t->finalists; f++) {
        const double need = LEAST_ROUNDS * (players + 1) * t->cost;
        if (measurement_alike(&t->finalist[f].result, &t->fallback.result)) {
            t->finalist[f].result.outcome = STRAKE_OUTCOME_SLOW; /* it is the defaults themselves */
        } else if (players == 1 || need < strake_tuning_left(deadline)) {
            player[players++] = &t->finalist[f];
        } else {
            t->finalist[f].result.outcome = STRAKE_OUTCOME_SLOW; /* no time to confirm it */
        }
    }

    for (int round = 0; round < STRAKE_TUNE_ROUNDS; round++) {
        if (round >= LEAST_ROUNDS && strake_tuning_left(deadline) < players * t->cost) {
            break;
        }
        for (int p = 0; p < players; p++) {
            strake_measurement m;
            STRAKE_TRY(
                measure_now(t, player[p]->settings, player[p]->setting, INFINITY, &m, error));
            if (m.outcome == STRAKE_OUTCOME_STOPPED) {
                return STRAKE_OK;
            }
            if (m.outcome == STRAKE_OUTCOME_GOOD) {
                /* The search's own samples favour those that were lucky. */
                player[p]->result.samples = begun[p] ? player[p]->result.samples : 0;
                begun[p] = true;
                add_samples(player[p], &m);
            } else {
                player[p]->result.outcome = m.outcome; /* one failure excludes it */
            }
            strake_tuning_tell(t);
        }
    }
cleanup:
    return status;
}

/*
 * Whether a contender is faster than the defaults beyond doubt: in the median by a margin, in the least
 * disturbed sample, and in most of the samples taken next to each other.
 */
static bool beats(const strake_contender *c, const strake_contender *fallback)
{
    const strake_measurement *const a = &c->result, *const b = &fallback->result;
    const int pairs = a->samples < b->samples ? a->samples : b->samples;
    double least_a = INFINITY, least_b = INFINITY;
    int wins = 0;
    for (int k = 0; k < pairs; k++) {
        wins += a->seconds[k] < b->seconds[k];
        least_a = a->seconds[k] < least_a ? a->seconds[k] : least_a;
        least_b = b->seconds[k] < least_b ? b->seconds[k] : least_b;
    }
    return a->outcome == STRAKE_OUTCOME_GOOD && !measurement_alike(a, b) && pairs > 0 &&
           least_a < least_b && wins * 10 >= pairs * 7 &&
           strake_measurement_median(a) * least_gain < strake_measurement_median(b);
}

/* Fills in a class: the winner's results, or the defaults'. Contenders without samples lose. */
static void tuning_result(const strake_tuning *t, strake_tuned_class *class)
{
    const strake_contender *winner = &t->fallback;
    const double fallback = strake_measurement_median(&t->fallback.result);
    double least = INFINITY;
    for (int f = 0; f < t->finalists; f++) {
        const strake_contender *const c = &t->finalist[f];
        const double median = strake_measurement_median(&c->result);
        if (beats(c, &t->fallback) && median < least) {
            winner = c;
            least = median;
        }
    }
    memcpy(class->n, t->n, sizeof class->n);
    class->settings = winner->settings;
    memcpy(class->setting, winner->setting, sizeof class->setting);
    class->seconds = strake_measurement_median(&winner->result);
    class->spread = strake_measurement_spread(&winner->result);
    class->fallback = fallback;
    class->excess = fmax(strake_measurement_excess(&winner->result),
                         strake_measurement_excess(&t->fallback.result));
    class->disturbed = class->excess > STRAKE_TUNED_MOST_EXCESS;
}

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
        if (measurement_alike(&t->finalist[f].result, m)) {
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
    if (strake_tuning_left(t->grid_end) <= 0.5 * t->cost || strake_tuning_stopped(t)) {
        return false;
    }
    if (strake_tuning_measure(t, settings, setting, give_up_factor * best_so_far(t), &m,
                              &t->failure) != STRAKE_OK ||
        m.outcome == STRAKE_OUTCOME_STOPPED) {
        return false;
    }
    t->result->count[m.outcome]++;
    t->failed += m.outcome != STRAKE_OUTCOME_GOOD && m.outcome != STRAKE_OUTCOME_SLOW;
    if (measurement_alike(&m, &t->fallback.result)) {
        note_fallback(t, &m);
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
    tuning_begin_helpers(t);
    const double left = strake_tuning_left(t->grid_end);
    /* The defaults were built by the process that measures; what helpers build costs it less. */
    const double cost = t->helpers > 0 ? t->cost / (1.0 + t->helpers) : t->cost;
    const double affordable = left / cost + count_tried(t);
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
        .hint = t->helpers > 0 ? tuning_prepare : NULL,
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
    tuning_rest_helpers(t);
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
    t->cost = t->cost > 0.0 ? t->cost : m->build + m->check + sampling(t);
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
    STRAKE_TRY(tuning_kernels(t, give_up_factor * best_so_far(t), &each, &any, error));
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
        deadline - fmin(final_share * strake_tuning_left(deadline),
                        final_slack * STRAKE_TUNE_ROUNDS * (STRAKE_TUNE_FINALISTS + 1) * t->cost);
    STRAKE_TRY(search(t, &earlier, class, &searched, error));
    if (!searched) {
        return STRAKE_OK; /* the defaults alone are no result; the journal keeps them */
    }
    STRAKE_TRY(try_kernels(t, error));
    if (t->finalists > 0 && strake_tuning_left(t->end) > 0.0 && !strake_tuning_stopped(t)) {
        STRAKE_TRY(tuning_finals(t, deadline, error));
    }
    *any = t->fallback.result.samples > 0;
    if (*any) {
        tuning_result(t, class);
        class->evaluated = count_tried(t);
    }
cleanup:
    return status;
}
