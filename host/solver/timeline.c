#include "solver/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "solver/solver_impl.h"

enum {
    SWEEPS = 8,  /* recorded at once; the first one is still disturbed by what came before */
    BATCHES = 16 /* of so many, at most, until one has what is rare */
};

static void destroy(strake_recorder *recorder)
{
    for (int e = 0; e < STRAKE_MAX_PARTS; e++) {
        free(recorder->device[e]);
    }
    free(recorder->log);
    free(recorder);
}

static strake_status prepare(const strake_solver *solver, strake_recorder *recorder,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    recorder->roles = solver->team.roles;
    recorder->log = calloc((size_t)solver->team.roles + 1, sizeof *recorder->log);
    STRAKE_CHECK(recorder->log != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a timeline");
    for (int e = 0; e < solver->team.parts; e++) {
        if (solver->team.part[e].body != NULL && solver->team.part[e].ops->record != NULL) {
            recorder->device[e] = calloc(1, sizeof *recorder->device[e]);
            STRAKE_CHECK(recorder->device[e] != NULL, error, STRAKE_ERR_MEMORY,
                         "out of memory for a timeline");
        }
    }
cleanup:
    return status;
}

/* Records from now on, or no longer. A device that was dropped meanwhile records nothing any more. */
static strake_status record_devices(strake_solver *solver, const strake_recorder *recorder, bool on,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < solver->team.parts; e++) {
        strake_cl_record *const record = recorder->device[e];
        if (record != NULL) {
            const strake_status one =
                strake_part_record(&solver->team.part[e], on ? record : NULL, error);
            status = status == STRAKE_OK ? one : status;
        }
        if (record != NULL && !on && record->cl != NULL) {
            strake_cl_record_end(record);
        }
    }
    return status;
}

/* --- what was recorded, as lanes and spans -------------------------------------------------------- */

static strake_status make_room(strake_timeline *t, const strake_recorder *recorder,
                               strake_error *error)
{
    size_t spans = 1;
    size_t lanes = (size_t)recorder->roles + 1;
    for (int r = 0; r < recorder->roles; r++) {
        spans += (size_t)recorder->log[r].count;
    }
    for (int e = 0; e < STRAKE_MAX_PARTS; e++) {
        spans += recorder->device[e] != NULL ? (size_t)recorder->device[e]->commands : 0;
        lanes += recorder->device[e] != NULL ? 2 : 0;
    }
    t->span = calloc(spans, sizeof *t->span);
    t->lane = calloc(lanes, sizeof *t->lane);
    return t->span != NULL && t->lane != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a timeline");
}

static int new_lane(strake_timeline *t, int part, const char *name)
{
    strake_timeline_lane *const lane = &t->lane[t->lanes];
    lane->part = part;
    (void)snprintf(lane->name, sizeof lane->name, "%s", name);
    return t->lanes++;
}

static void add_worker(strake_timeline *t, const strake_part *part, const strake_worker_log *log)
{
    char name[24];
    (void)snprintf(name, sizeof name, "worker %d", log->worker);
    if (!part->ops->has_workers) {
        (void)snprintf(name, sizeof name, "%s", part->ops->record != NULL ? "host" : "threads");
    }
    const int lane = new_lane(t, log->part, name);
    for (int k = 0; k < log->count; k++) {
        strake_timeline_span *const s = &t->span[t->spans++];
        const strake_work *const work = &log->span[k];
        *s = (strake_timeline_span){.lane = lane,
                                    .kind = work->kind,
                                    .begin = work->begin,
                                    .end = work->end,
                                    .step = work->step,
                                    .is_rare = work->is_rare};
        (void)snprintf(s->what, sizeof s->what, "%s", work->what);
    }
}

static void add_device(strake_timeline *t, int part, const strake_cl_record *record)
{
    const int kernels = new_lane(t, part, "kernels");
    const int transfers = new_lane(t, part, "transfers");
    for (int k = 0; k < record->commands; k++) {
        const strake_cl_command *const c = &record->command[k];
        const bool is_kernel = c->kind == STRAKE_CL_KERNEL;
        strake_timeline_span *const s = &t->span[t->spans++];
        *s = (strake_timeline_span){.lane = is_kernel ? kernels : transfers,
                                    .kind = is_kernel ? STRAKE_SPAN_COMPUTE : STRAKE_SPAN_TRANSFER,
                                    .begin = c->begin,
                                    .end = c->end,
                                    .step = c->sweep,
                                    .is_rare = c->is_rare};
        if (is_kernel) {
            (void)strake_number_print(s->what, sizeof s->what, "%.28s, %.0f items", c->name,
                                      c->amount);
        } else {
            (void)strake_number_print(s->what, sizeof s->what, "%.0f bytes %s", c->amount,
                                      c->kind == STRAKE_CL_UP ? "to the device" : "to the host");
        }
    }
    t->lost += record->lost;
    t->clock_error = record->timers && record->clock_error > t->clock_error ? record->clock_error
                                                                            : t->clock_error;
}

/* When sweeps begin, which follow each other. */
typedef struct sweeps {
    int count;
    double begin[SWEEPS];
    int64_t step[SWEEPS];
    bool is_rare[SWEEPS];
} sweeps;

/* When the first one begins each sweep: between neighbours nobody begins the next one before both have done this one. */
static sweeps find_sweeps(const strake_timeline *t)
{
    sweeps is = {.count = 0};
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        int at = 0;
        while (at < is.count && is.step[at] < s->step) {
            at++;
        }
        if (s->kind != STRAKE_SPAN_COMPUTE) {
            continue;
        }
        if (at < is.count && is.step[at] == s->step) {
            is.begin[at] = s->begin < is.begin[at] ? s->begin : is.begin[at];
        } else if (is.count < SWEEPS) {
            memmove(&is.step[at + 1], &is.step[at], (size_t)(is.count - at) * sizeof *is.step);
            memmove(&is.begin[at + 1], &is.begin[at], (size_t)(is.count - at) * sizeof *is.begin);
            is.step[at] = s->step;
            is.begin[at] = s->begin;
            is.count++;
        }
    }
    for (int k = 0; k < t->spans; k++) {
        for (int at = 0; at < is.count; at++) {
            is.is_rare[at] |= t->span[k].is_rare && t->span[k].step == is.step[at];
        }
    }
    return is;
}

/*
 * The sweep of median length, without the first and the last one, of those that do what is rare or of the others.
 * @return it, or -1
 */
static int find_median(const sweeps *is, bool rare)
{
    const double *const begin = is->begin;
    int of = 0;
    for (int k = 1; k + 1 < is->count; k++) {
        of += is->is_rare[k] == rare ? 1 : 0;
    }
    for (int k = 1; k + 1 < is->count; k++) {
        int shorter = 0;
        for (int j = 1; j + 1 < is->count; j++) {
            const double difference = begin[j + 1] - begin[j] - (begin[k + 1] - begin[k]);
            const bool is_less = difference < 0.0 || (!(difference > 0.0) && j < k);
            shorter += is_less && is->is_rare[j] == rare ? 1 : 0;
        }
        if (is->is_rare[k] == rare && shorter == of / 2) {
            return k;
        }
    }
    return -1;
}

/* Keeps what lies within the step. */
static void cut(strake_timeline *t, double begin, double end)
{
    int kept = 0;
    t->seconds = end - begin;
    for (int k = 0; k < t->spans; k++) {
        strake_timeline_span s = t->span[k];
        s.begin = s.begin > begin ? s.begin - begin : 0.0;
        s.end = s.end < end ? s.end - begin : t->seconds;
        if (s.begin < s.end) {
            t->span[kept++] = s;
        }
    }
    t->spans = kept;
}

static int by_begin(const void *a, const void *b)
{
    const strake_timeline_span *const one = a;
    const strake_timeline_span *const other = b;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

enum {
    COMPUTES = 1U << STRAKE_SPAN_COMPUTE,
    TRANSFERS = 1U << STRAKE_SPAN_TRANSFER,
    WAITS = 1U << STRAKE_SPAN_WAIT
};

/* Seconds in which a part (all lanes, if @p lane is -1) does one of the kinds, each a bit; spans are in order. */
static double covered(const strake_timeline *t, int part, int lane, unsigned kinds)
{
    double sum = 0.0;
    double until = 0.0;
    for (int k = 0; k < t->spans; k++) {
        const strake_timeline_span *const s = &t->span[k];
        if (t->lane[s->lane].part != part || (lane >= 0 && s->lane != lane) ||
            (kinds >> s->kind & 1U) == 0) {
            continue;
        }
        const double from = s->begin > until ? s->begin : until;
        sum += s->end > from ? s->end - from : 0.0;
        until = s->end > until ? s->end : until;
    }
    return sum;
}

static void add_up(const strake_solver *solver, strake_timeline *t)
{
    t->parts = solver->team.parts;
    for (int e = 0; e < solver->team.parts; e++) {
        strake_timeline_sum *const sum = &t->sum[e];
        int workers = 0;
        double computed = 0.0;
        if (!solver->team.part[e].ops->has_workers) {
            sum->compute = covered(t, e, -1, COMPUTES);
            sum->transfer = covered(t, e, -1, TRANSFERS);
            sum->wait = covered(t, e, -1, WAITS);
            const double either = covered(t, e, -1, COMPUTES | TRANSFERS);
            sum->both = sum->compute + sum->transfer - either;
            sum->idle = t->seconds - either;
            continue;
        }
        for (int l = 0; l < t->lanes; l++) {
            if (t->lane[l].part == e) {
                computed += covered(t, e, l, COMPUTES);
                workers++;
            }
        }
        sum->compute = workers > 0 ? computed / workers : 0.0;
        sum->idle = t->seconds - sum->compute;
    }
}

/* A sweep of those that were recorded; no lanes where there is none. */
static strake_status assemble(const strake_solver *solver, const strake_recorder *recorder,
                              bool rare, strake_timeline *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sweeps is = {.count = 0};
    int median = -1;
    strake_timeline_free(t);
    STRAKE_TRY(make_room(t, recorder, error));
    for (int e = 0; e < solver->team.parts; e++) {
        if (recorder->device[e] != NULL) {
            add_device(t, e, recorder->device[e]);
        }
        for (int r = 0; r < recorder->roles; r++) {
            if (recorder->log[r].part == e && recorder->log[r].count > 0) {
                add_worker(t, &solver->team.part[e], &recorder->log[r]);
            }
        }
    }
    is = find_sweeps(t);
    median = find_median(&is, rare);
    if (median < 0) {
        t->lanes = 0;
        t->spans = 0;
        return STRAKE_OK;
    }
    t->step = is.step[median];
    t->steps = (int)(is.step[median + 1] - is.step[median]);
    t->slabs = solver->which->problem->has_particles ? "slices"
               : solver->which->problem->dims == 3   ? "planes"
                                                     : "rows";
    for (int k = 0; k < t->spans; k++) {
        t->sum[t->lane[t->span[k].lane].part].known = true;
    }
    cut(t, is.begin[median], is.begin[median + 1]);
    qsort(t->span, (size_t)t->spans, sizeof *t->span, by_begin);
    add_up(solver, t);
cleanup:
    return status;
}

/* Records some sweeps, instead of those that are recorded. */
static strake_status record(strake_solver *solver, strake_recorder *recorder, int64_t steps,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int r = 0; r < recorder->roles; r++) {
        recorder->log[r].count = 0;
    }
    STRAKE_TRY(record_devices(solver, recorder, true, error));
    STRAKE_TRY(strake_step(solver, steps, error));
    STRAKE_TRY(record_devices(solver, recorder, false, error));
cleanup:
    return status;
}

int64_t strake_timeline_steps(const strake_solver *solver)
{
    return (int64_t)SWEEPS * (solver->team.part[0].ops->meets_within ? 1 : solver->team.at_once);
}

strake_status strake_timeline_record(strake_solver *solver, strake_timeline *out,
                                     strake_timeline *rare, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_part_ops *const ops = solver->team.part[0].ops;
    const bool seeks = rare != NULL && ops->meets_within;
    memset(out, 0, sizeof *out);
    if (rare != NULL) {
        memset(rare, 0, sizeof *rare);
    }
    if (ops->needs_all) {
        return STRAKE_OK;
    }
    strake_recorder *const recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a timeline");
    }
    STRAKE_TRY(prepare(solver, recorder, error));
    solver->team.recorder = recorder;
    for (int b = 0; b == 0 || (seeks && b < BATCHES && (out->lanes == 0 || rare->lanes == 0));
         b++) {
        STRAKE_TRY(record(solver, recorder, strake_timeline_steps(solver), error));
        STRAKE_TRY(out->lanes == 0 ? assemble(solver, recorder, false, out, error) : STRAKE_OK);
        STRAKE_TRY(seeks ? assemble(solver, recorder, true, rare, error) : STRAKE_OK);
    }
cleanup:
    if (solver->team.recorder == recorder) {
        strake_error ignored;
        solver->team.recorder = NULL;
        (void)record_devices(solver, recorder, false, &ignored);
    }
    destroy(recorder);
    return status;
}

void strake_timeline_free(strake_timeline *timeline)
{
    free(timeline->lane);
    free(timeline->span);
    memset(timeline, 0, sizeof *timeline);
}
