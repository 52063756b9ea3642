/* Measuring settings and the reference on the present grid within the budget, and telling the user. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "autotune/tune_impl.h"

/* The serial reference for runs of at most so many cells times steps; beyond, the CPU stripe. */
static const double serial_cells = 6e7, brief_cells = 2e6;

/* Neighbours are looked for anew in every step there: a particle costs as much as so many cells. */
static const double cells_per_particle = 200.0;

enum { SAMPLES = 3 };

double strake_tuning_left(const strake_tuning *t, double deadline)
{
    (void)t;
    return deadline - strake_clock_seconds();
}

bool strake_tuning_stopped(const strake_tuning *t)
{
    return t->options->stop != NULL && t->options->stop(t->options->user);
}

int strake_tuning_tried(const strake_tuning *t)
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

void strake_tuning_note_fallback(strake_tuning *t, const strake_measurement *m)
{
    const double least = least_sample(m);
    t->least = isfinite(least) && (t->least <= 0.0 || least < t->least) ? least : t->least;
}

void strake_tuning_tell(strake_tuning *t)
{
    char text[900];
    /* Until something beats the defaults they are the best; least with least, for disturbances. */
    const double found = t->finalists > 0 ? least_sample(&t->finalist[0].result) : INFINITY;
    strake_tuning_note_fallback(t, &t->fallback.result);
    const bool beaten = t->least > 0.0 && found < t->least;
    const strake_contender *const best = beaten ? &t->finalist[0] : &t->fallback;
    strake_tune_progress progress = {.where = t->options->where,
                                     .doing = t->doing,
                                     .grid = t->grid,
                                     .grids = t->grids,
                                     .problem = t->which->problem,
                                     .left = strake_tuning_left(t, t->end)};
    if (t->options->progress == NULL) {
        return;
    }
    memcpy(progress.n, t->n, sizeof t->n);
    progress.tried = strake_tuning_tried(t);
    progress.fallback = t->least > 0.0 ? t->least : INFINITY;
    progress.best = beaten ? found : progress.fallback;
    progress.settings = strake_settings_text(best->settings, best->setting, text, sizeof text);
    t->options->progress(t->options->user, &progress);
}

static double sample_seconds(const strake_tuning *t)
{
    return t->options->like != NULL ? 0.03 : 0.1;
}

double strake_tuning_sampling(const strake_tuning *t)
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

strake_status strake_tuning_measure_now(strake_tuning *t, int settings,
                                        const strake_tuned_setting *setting, double give_up,
                                        strake_measurement *out, strake_error *error)
{
    const strake_request request = request_for(t, settings, setting, give_up);
    const double left = strake_tuning_left(t, t->end);
    const double limit = t->wall_limit < left ? t->wall_limit : left;
    const double start = strake_clock_seconds();
    if (limit <= 0.0 || strake_tuning_stopped(t)) {
        *out = (strake_measurement){.outcome = STRAKE_OUTCOME_STOPPED};
        return STRAKE_OK;
    }
    const strake_status status = strake_measure(&t->worker, &request, limit, out, error);
    /* What the end of the budget cut off is nobody's fault. */
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
    STRAKE_TRY(strake_tuning_measure_now(t, settings, setting, give_up, out, error));
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
    t->doing = "reference";
    strake_tuning_tell(t);
    STRAKE_TRY(
        strake_measure_reference(&t->worker, &request, strake_tuning_left(t, t->end), &m, error));
    if (m.outcome == STRAKE_OUTCOME_STOPPED || m.outcome == STRAKE_OUTCOME_TIMEOUT) {
        return strake_fail(error, STRAKE_ERR_STATE, "the budget ended");
    }
    STRAKE_CHECK(m.outcome == STRAKE_OUTCOME_GOOD, error, STRAKE_ERR_DEVICE,
                 "the reference's result cannot be computed: %s", m.message);
cleanup:
    return status;
}
