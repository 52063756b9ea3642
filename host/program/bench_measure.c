/* Runs the placements of a benchmark: open, warm up, take turns, close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "program/bench.h"
#include "cpu/spread.h"
#include "cpu/machine.h"
#include "output/report.h"
#include "solver/solver.h"

/*
 * Placements of a case whose inputs end with it begin it anew, however many steps a benchmark takes of it.
 */

/** Keeps the states that a solver begins with. @return STRAKE_ERR_MEMORY. bench_forget() in any case */
static strake_status bench_keep(strake_solver *solver, strake_bench_start *start,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *name = NULL;
    while ((name = strake_solver_kept(solver, start->states)) != NULL) {
        strake_extent extent;
        STRAKE_TRY(strake_field_extent(solver, name, &extent, error));
        void *const state = malloc((size_t)extent.slabs * extent.bytes);
        STRAKE_CHECK(state != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory for the states that a benchmark begins with");
        start->state[start->states++] = state;
        STRAKE_TRY(strake_get_field(solver, name, state, error));
    }
cleanup:
    return status;
}

/** The solver has these states again, and done no step; nor spent any time in them. */
static strake_status bench_rewind(strake_solver *solver, const strake_bench_start *start,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < start->states; k++) {
        strake_extent extent;
        const char *const name = strake_solver_kept(solver, k);
        STRAKE_TRY(strake_field_extent(solver, name, &extent, error));
        STRAKE_TRY(strake_solver_restore(solver, name, 0, extent.slabs, start->state[k], error));
    }
    strake_solver_set_progress(solver, 0, 0.0);
cleanup:
    return status;
}

static void bench_forget(strake_bench_start *start)
{
    while (start->states > 0) {
        free(start->state[--start->states]);
    }
}

enum { LEAST_WARM_UP = 3, UNTIMED_SHARE = 10 };

/* What one repeat of `serial` may take, unless a single step takes longer [s]. */
static const double serial_seconds = 1.0;

/* How long a request to stop may wait, unless a single step takes longer [s]. */
static const double batch_seconds = 0.5;

/* Share of the memory that all placements together may fill. */
static const double memory_share = 0.6;

typedef struct measurement {
    strake_bench *bench;
    const strake_bench_options *options;
    bool stopped;
    double done; /* parts of the work: each placement has one warm-up and its repeats */
} measurement;

static bool is_serial(const strake_bench_item *item)
{
    return strcmp(item->where, "serial") == 0;
}

strake_status strake_bench_add(strake_bench *bench, const char *where, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const at = strchr(where, '@');
    strake_bench_item *const item = &bench->item[bench->items];
    STRAKE_CHECK(bench->items < STRAKE_BENCH_ITEMS, error, STRAKE_ERR_USAGE,
                 "--on `%s`: more than %d placements; measure them in two runs", where,
                 STRAKE_BENCH_ITEMS);
    STRAKE_CHECK(strlen(where) < sizeof item->where, error, STRAKE_ERR_USAGE,
                 "--on `%s`: longer than %zu characters", where, sizeof item->where - 1);
    for (int k = 0; k < bench->items; k++) {
        STRAKE_CHECK(strcmp(bench->item[k].where, where) != 0, error, STRAKE_ERR_USAGE,
                     "--on `%s`: listed twice; expected each placement once", where);
    }
    if (at != NULL) {
        char *end = NULL;
        const long threads = strtol(at + 1, &end, 10);
        STRAKE_CHECK(at[1] >= '1' && at[1] <= '9' && *end == '\0' && threads <= 4096, error,
                     STRAKE_ERR_USAGE,
                     "--on `%s`: expected a number of threads from 1 to 4096 after @, as in cpu@4",
                     where);
        STRAKE_CHECK(
            at > where && (strncmp(where, "cpu", 3) == 0 || strstr(where, ",cpu") != NULL), error,
            STRAKE_ERR_USAGE,
            "--on `%s`: only a placement that lists cpu has threads to choose, as in cpu@4 "
            "or cpu,ocl:0@4",
            where);
    }
    memset(item, 0, sizeof *item);
    memcpy(item->where, where, strlen(where) + 1);
    bench->items++;
cleanup:
    return status;
}

int strake_bench_threads(const char *place, char where[sizeof((strake_bench_item *)0)->where],
                         int otherwise)
{
    (void)snprintf(where, sizeof((strake_bench_item *)0)->where, "%s", place);
    char *const at = strchr(where, '@');
    if (at == NULL) {
        return otherwise;
    }
    *at = '\0';
    return (int)strtol(at + 1, NULL, 10);
}

static strake_status failed(strake_bench_item *item, strake_status status,
                            const strake_error *cause, strake_error *error)
{
    bench_forget(&item->start);
    strake_close(&item->solver);
    item->status = status;
    (void)snprintf(item->why, sizeof item->why, "%.500s", cause->text);
    /* A wrong place or case is wrong for good; a device or memory may only fail here. */
    return status == STRAKE_ERR_USAGE ? strake_fail(error, status, "%s", cause->text) : STRAKE_OK;
}

static strake_status open_item(const measurement *m, strake_bench_item *item, strake_error *error)
{
    char where[sizeof item->where];
    strake_error cause;
    const int threads = strake_bench_threads(item->where, where, m->options->threads);
    const strake_options settings = {.where = where,
                                     .threads = threads,
                                     .cache = m->options->cache,
                                     .notice = m->options->notice,
                                     .compiling = m->options->compiling,
                                     .user = m->options->user};
    strake_status status = strake_open(m->bench->which, &settings, &item->solver, &cause);
    if (status == STRAKE_OK && m->bench->period > 0) {
        status = bench_keep(item->solver, &item->start, &cause);
    }
    if (status != STRAKE_OK) {
        return failed(item, status, &cause, error);
    }
    item->setup_seconds = strake_solver_setup_seconds(item->solver);
    item->parts = strake_solver_parts(item->solver, NULL, 0);
    item->part = calloc((size_t)item->parts, sizeof *item->part);
    if (item->part == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
    }
    m->bench->domain = strake_solver_describe(item->solver);
    m->bench->cells = m->bench->domain.items;
    m->bench->bytes_per_cell = m->bench->domain.bytes;
    m->bench->flops_per_cell = m->bench->domain.flops;
    return STRAKE_OK;
}

/* FNV-1a-64 over all states, in the order of the problem: with one state it is a report's checksum. */
static strake_status checksum(const strake_bench *bench, strake_bench_item *item, uint64_t *out,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_slabs slabs = {0};
    strake_hash_team team = strake_hash_team_begin(strake_solver_threads(item->solver));
    uint64_t hash = STRAKE_FNV_SEED;
    STRAKE_TRY(strake_slabs_open(&slabs, bench->which, item->solver, error));
    STRAKE_TRY(strake_solver_fetch(item->solver, error));
    for (int f = 0; f < bench->which->problem->fields; f++) {
        if (strake_case_keeps(bench->which, f)) {
            STRAKE_TRY(strake_slabs_select(&slabs, bench->which->problem->field[f].name, error));
            while (strake_slabs_next(&slabs)) {
                STRAKE_TRY(strake_slabs_get(&slabs, error));
                hash = strake_hash_team_add(&team, hash, slabs.data, strake_slabs_bytes(&slabs));
            }
        }
    }
    *out = hash;
cleanup:
    strake_hash_team_end(&team);
    strake_slabs_close(&slabs);
    return status;
}

/* Adds what the parts did between two readings of the solver's counters. */
static void add_parts(strake_bench_item *item, const strake_part_report *before,
                      const strake_part_report *after)
{
    for (int k = 0; k < item->parts; k++) {
        strake_part_report *const sum = &item->part[k];
        const strake_part_report old = *sum;
        *sum = after[k];
        sum->compute = old.compute + after[k].compute - before[k].compute;
        sum->exchange = old.exchange + after[k].exchange - before[k].exchange;
        sum->idle = old.idle + after[k].idle - before[k].idle;
        sum->updates = old.updates + after[k].updates - before[k].updates;
        sum->active_updates =
            old.active_updates + after[k].active_updates - before[k].active_updates;
        sum->computed = old.computed + after[k].computed - before[k].computed;
    }
}

/* Of so many steps those that the case has; where there is none left it is begun anew. */
static strake_status begin_steps(const measurement *m, strake_bench_item *item, int64_t steps,
                                 int64_t *now, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t period = m->bench->period;
    *now = steps;
    if (period > 0) {
        if (strake_step_count(item->solver) >= period) {
            STRAKE_TRY(bench_rewind(item->solver, &item->start, error));
        }
        const int64_t left = period - strake_step_count(item->solver);
        *now = steps < left ? steps : left;
    }
cleanup:
    return status;
}

/* Steps in batches. They end early only where the whole measurement does. */
static strake_status advance(measurement *m, strake_bench_item *item, int64_t steps,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_bench_options *const options = m->options;
    while (steps > 0 && !m->stopped) {
        int64_t now = 0;
        STRAKE_TRY(begin_steps(m, item, steps, &now, error));
        now = now < item->batch ? now : item->batch;
        STRAKE_TRY(strake_step(item->solver, now, error));
        steps -= now;
        m->stopped = options->stop != NULL && options->stop(options->user);
    }
cleanup:
    return status;
}

/* The batch, from all steps so far. */
static void set_batch(strake_bench_item *item)
{
    const double step =
        strake_solver_step_seconds(item->solver) / (double)strake_step_count(item->solver);
    const double fit = step > 0.0 ? batch_seconds / step : 1e9;
    item->batch = fit < 1.0 ? 1 : fit < 1e9 ? (int64_t)fit : 1000000000;
}

/* Looks at an item's domain. @return what was done so far of the work that it counts */
static double work_of(strake_bench_item *item)
{
    double work = 0.0;
    item->domain = strake_solver_describe(item->solver);
    for (int k = 0; k < item->domain.numbers; k++) {
        work = item->domain.number[k].is_work ? item->domain.number[k].value : work;
    }
    return work;
}

/* Some steps, timed: begun anew the solver counts from nothing. */
static strake_status time_steps(measurement *m, strake_bench_item *item, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t count = (size_t)item->parts;
    int64_t now = 0;
    double seconds = 0.0;
    strake_part_report *const seen = calloc(2 * count, sizeof *seen);
    STRAKE_CHECK(seen != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int64_t left = item->steps; left > 0 && !m->stopped; left -= now) {
        STRAKE_TRY(begin_steps(m, item, left, &now, error));
        (void)strake_solver_parts(item->solver, seen, item->parts);
        const double work = work_of(item);
        const double begin = strake_solver_step_seconds(item->solver);
        STRAKE_TRY(advance(m, item, now, error));
        item->work += work_of(item) - work;
        seconds += strake_solver_step_seconds(item->solver) - begin;
        (void)strake_solver_parts(item->solver, seen + count, item->parts);
        add_parts(item, seen, seen + count);
    }
    item->seconds[item->repeats++] = seconds;
cleanup:
    free(seen);
    return status;
}

/* A step for the timeline, where the case has as many as that is found among. */
static strake_status record_step(const measurement *m, strake_bench_item *item, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t period = m->bench->period;
    const int64_t steps = strake_timeline_steps(item->solver);
    if (period > 0 && steps > period) {
        return STRAKE_OK;
    }
    if (period > 0 && steps > period - strake_step_count(item->solver)) {
        STRAKE_TRY(bench_rewind(item->solver, &item->start, error));
    }
    STRAKE_TRY(strake_timeline_record(item->solver, &item->timeline, &item->rare, error));
cleanup:
    return status;
}

/*
 * The second step of `serial` (the first one also touches its arrays) says how many it can do; that
 * fixes the warm-up of the others.
 */
static strake_status plan_serial(const measurement *m, strake_bench_item *item, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_bench *const bench = m->bench;
    double begin = 0.0, step = 0.0, fit = 0.0;
    int64_t one = 1;
    STRAKE_TRY(begin_steps(m, item, 1, &one, error));
    begin = strake_solver_step_seconds(item->solver);
    STRAKE_TRY(strake_step(item->solver, one, error));
    step = strake_solver_step_seconds(item->solver) - begin;
    fit = step > 0.0 ? serial_seconds / step : (double)bench->steps;
    item->steps = fit < 1.0 ? 1 : fit < (double)bench->steps ? (int64_t)fit : bench->steps;
    bench->warm_up = 2 + bench->repeats * item->steps;
cleanup:
    return status;
}

static strake_status warm_up(measurement *m, strake_bench_item *item, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_bench *const bench = m->bench;
    STRAKE_TRY(strake_step(item->solver, 1, error));
    set_batch(item);
    if (is_serial(item)) {
        return plan_serial(m, item, error);
    }
    item->steps = bench->steps;
    STRAKE_TRY(advance(m, item, bench->warm_up - 1, error));
    set_batch(item);
    STRAKE_TRY(checksum(bench, item, &item->warm_checksum, error));
cleanup:
    return status;
}

static strake_status repeat(measurement *m, strake_bench_item *item, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_bench *const bench = m->bench;
    const bool serial = is_serial(item);
    if (!serial) {
        STRAKE_TRY(advance(m, item, bench->untimed, error));
    }
    STRAKE_TRY(time_steps(m, item, error));
    if (item->repeats == bench->repeats) {
        uint64_t *const result = serial ? &item->warm_checksum : &item->end_checksum;
        STRAKE_TRY(checksum(bench, item, result, error));
        item->has_end = !serial;
        if (m->options->timelines) {
            STRAKE_TRY(record_step(m, item, error));
        }
    }
cleanup:
    return status;
}

/* One part of the work of one placement: its warm-up, or one of its repeats. */
static strake_status part(measurement *m, strake_bench_item *item, bool first, strake_error *error)
{
    strake_bench *const bench = m->bench;
    const strake_bench_options *const options = m->options;
    strake_error cause;
    m->stopped = m->stopped || (options->stop != NULL && options->stop(options->user));
    if (m->stopped || item->solver == NULL) {
        return STRAKE_OK;
    }
    if (options->progress != NULL) {
        const double all = (double)bench->items * (double)(bench->repeats + 1);
        options->progress(options->user, bench, item, m->done / all);
    }
    const strake_status status = first ? warm_up(m, item, &cause) : repeat(m, item, &cause);
    m->done += 1.0;
    return status == STRAKE_OK ? status : failed(item, status, &cause, error);
}

/* Whether all placements fit in the memory at once, judged by the first one that is open. */
static bool fit_together(const measurement *m, const strake_solver *solver)
{
    const strake_bench *const bench = m->bench;
    strake_machine machine;
    int devices = 0;
    const double one =
        bench->domain.arrays > 0
            ? bench->cells * (double)strake_element_size(solver) * bench->domain.arrays
            : bench->domain.memory;
    strake_machine_read(&machine);
    for (int k = 0; k < bench->items; k++) {
        const char *const where = bench->item[k].where;
        devices += !is_serial(&bench->item[k]) && strcmp(where, "cpu") != 0 &&
                   strncmp(where, "cpu@", 4) != 0;
    }
    /* A device that is a CPU keeps its copies in the same memory. */
    const double host = one * (bench->items + (m->options->device_memory > 0.0 ? 0 : devices));
    return host <= memory_share * (double)machine.memory &&
           (m->options->device_memory <= 0.0 ||
            one * devices <= memory_share * m->options->device_memory);
}

static strake_status measure_together(measurement *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_bench *const bench = m->bench;
    for (int k = 1; k < bench->items; k++) {
        STRAKE_TRY(open_item(m, &bench->item[k], error));
    }
    for (int r = 0; r <= bench->repeats; r++) {
        for (int k = 0; k < bench->items; k++) {
            STRAKE_TRY(part(m, &bench->item[k], r == 0, error));
        }
    }
cleanup:
    return status;
}

static strake_status measure_in_turn(measurement *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_bench *const bench = m->bench;
    for (int k = 0; k < bench->items && !m->stopped; k++) {
        strake_bench_item *const item = &bench->item[k];
        if (k > 0) {
            STRAKE_TRY(open_item(m, item, error));
        }
        for (int r = 0; r <= bench->repeats; r++) {
            STRAKE_TRY(part(m, item, r == 0, error));
        }
        bench_forget(&item->start);
        strake_close(&item->solver);
    }
cleanup:
    return status;
}

/* `serial` goes first: what it can do fixes the warm-up of the others. */
static void serial_first(strake_bench *bench)
{
    for (int k = 1; k < bench->items; k++) {
        if (is_serial(&bench->item[k])) {
            const strake_bench_item serial = bench->item[k];
            memmove(&bench->item[1], &bench->item[0], (size_t)k * sizeof serial);
            bench->item[0] = serial;
        }
    }
}

strake_status strake_bench_measure(strake_bench *bench, const strake_bench_options *options,
                                   bool *stopped, strake_error *error)
{
    strake_status status = STRAKE_OK;
    measurement m = {.bench = bench, .options = options};
    bench->warm_up = LEAST_WARM_UP;
    bench->untimed = (bench->steps + UNTIMED_SHARE - 1) / UNTIMED_SHARE;
    serial_first(bench);
    STRAKE_TRY(open_item(&m, &bench->item[0], error));
    bench->together = bench->item[0].solver == NULL || fit_together(&m, bench->item[0].solver);
    STRAKE_TRY(bench->together ? measure_together(&m, error) : measure_in_turn(&m, error));
    *stopped = m.stopped;
cleanup:
    for (int k = 0; k < bench->items; k++) {
        bench_forget(&bench->item[k].start);
        strake_close(&bench->item[k].solver);
    }
    return status;
}

void strake_bench_free(strake_bench *bench)
{
    for (int k = 0; k < bench->items; k++) {
        strake_close(&bench->item[k].solver);
        free(bench->item[k].part);
        bench->item[k].part = NULL;
        strake_timeline_free(&bench->item[k].timeline);
        strake_timeline_free(&bench->item[k].rare);
    }
    bench->items = 0;
    free(bench->batch);
    bench->batch = NULL;
    bench->batches = 0;
}
