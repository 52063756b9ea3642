/* Runs of a case side by side on each placement, by their number: dealt out as `strake scan` does it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "output/report.h"
#include "program/bench.h"
#include "program/interrupt.h"
#include "program/scan_deal.h"

enum { SIZES_ACROSS = 5 };

strake_status strake_bench_members_read(const char *text, strake_bench_members *out,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *at = text;
    char *end = NULL;
    *out = (strake_bench_members){.counts = 1, .count = {1}}; /* others are compared with it */
    do {
        const bool is_digit = *at >= '1' && *at <= '9';
        const long long number = is_digit ? strtoll(at, &end, 10) : 0;
        bool is_there = false;
        STRAKE_CHECK(is_digit && number <= STRAKE_SCAN_MEMBERS && (*end == ',' || *end == '\0'),
                     error, STRAKE_ERR_USAGE,
                     "option --members: '%s': expected a list of numbers of runs from 1 to %d, as "
                     "in 1,16,256",
                     text, STRAKE_SCAN_MEMBERS);
        for (int k = 0; k < out->counts; k++) {
            is_there = is_there || out->count[k] == number;
        }
        STRAKE_CHECK(is_there || out->counts < STRAKE_BENCH_COUNTS, error, STRAKE_ERR_USAGE,
                     "option --members: '%s': more than %d numbers; measure them in two runs", text,
                     STRAKE_BENCH_COUNTS);
        if (!is_there) {
            out->count[out->counts++] = (int)number;
        }
        at = end + 1;
    } while (*end != '\0');
cleanup:
    return status;
}

/* --- measuring ------------------------------------------------------------------------------------ */

/* From a member's first step to the sums of its states. */
typedef struct span {
    double begin, end;
} span;

/* A batch under way. */
typedef struct going {
    strake_bench *bench;
    strake_bench_batch *batch;
    const strake_bench_options *options;
    double done; /* share of all work before this batch */
    int spans;
    span *span; /* of each member that has ended */
} going;

static strake_status take_answer(void *user, const strake_scan_answer *answer, strake_error *error)
{
    going *const g = user;
    strake_bench *const bench = g->bench;
    strake_bench_batch *const batch = g->batch;
    uint64_t checksum = STRAKE_FNV_SEED;
    if (answer->status == STRAKE_ERR_USAGE) {
        return strake_fail(error, answer->status, "%s", answer->text); /* wrong for good */
    }
    if (answer->status != STRAKE_OK) {
        batch->status = answer->status;
        (void)snprintf(batch->why, sizeof batch->why, "%.500s", answer->text);
        return STRAKE_OK;
    }
    for (int f = 0; f < answer->fields; f++) {
        const uint64_t *const own = &answer->field[f].checksum;
        checksum = answer->fields == 1 ? *own : strake_fnv1a(checksum, own, sizeof *own);
    }
    batch->differs = batch->differs || (batch->checksum != 0 && batch->checksum != checksum);
    batch->checksum = checksum;
    /* A flow may end before its last step; of particles nobody else knows how many there are. */
    bench->steps = answer->steps;
    bench->cells = bench->which->problem->has_particles && answer->steps > 0
                       ? round(answer->rate * answer->seconds / (double)answer->steps)
                       : strake_case_cells(bench->which);
    g->span[g->spans++] = (span){answer->opened, answer->ended};
    return STRAKE_OK;
}

static strake_status tick(void *user, int busy, strake_error *error)
{
    const going *const g = user;
    (void)busy;
    (void)error;
    if (g->options->progress_of_batch != NULL) {
        g->options->progress_of_batch(g->options->user, g->bench, g->batch, g->done);
    }
    return STRAKE_OK;
}

static int by_begin(const void *one, const void *other)
{
    const double a = ((const span *)one)->begin, b = ((const span *)other)->begin;
    return (a > b) - (a < b);
}

/* The time in which at least one member stepped. */
static double join_spans(span *all, int count)
{
    double seconds = 0.0, end = 0.0;
    qsort(all, (size_t)count, sizeof *all, by_begin);
    for (int k = 0; k < count; k++) {
        seconds += fmax(0.0, all[k].end - fmax(all[k].begin, end));
        end = fmax(end, all[k].end);
    }
    return seconds;
}

/* Makes all members of a batch, once. @param[in] counts  false: to warm up */
static strake_status make_batch(going *g, const strake_arguments *given, bool counts,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = g->bench->which;
    strake_bench_batch *const batch = g->batch;
    strake_arguments arguments = *given;
    char where[sizeof((strake_bench_item *)0)->where];
    const int threads = strake_bench_threads(batch->where, where, (int)given->threads);
    const strake_scan_values values = {.draws = 1, .runs = batch->members};
    const strake_scan_job job = {.arguments = &arguments, .values = &values};
    strake_scan_deal deal = {.job = &job,
                             .tasks = batch->members,
                             .where = where,
                             .ended = take_answer,
                             .tick = tick,
                             .user = g};
    const double begin = strake_clock_seconds();
    arguments.on = where;
    arguments.threads = threads;
    arguments.members = batch->members;
    deal.task = calloc((size_t)batch->members, sizeof *deal.task);
    g->span = calloc((size_t)batch->members, sizeof *g->span);
    g->spans = 0;
    STRAKE_CHECK(deal.task != NULL && g->span != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int k = 0; k < batch->members; k++) {
        deal.task[k].order = (strake_scan_order){.run = k, .id = (uint64_t)k};
        deal.task[k].work = strake_scan_work(which);
    }
    strake_scan_deal_share(&deal, batch->members, strake_scan_bytes(which), which->run.threads);
    STRAKE_TRY(strake_scan_deal_all(&deal, error));
    batch->busiest = deal.busiest > batch->busiest ? deal.busiest : batch->busiest;
    if (counts && batch->status == STRAKE_OK && g->spans == batch->members) {
        batch->seconds[batch->repeats] = join_spans(g->span, g->spans);
        batch->whole[batch->repeats++] = strake_clock_seconds() - begin;
    }
cleanup:
    free(deal.task);
    free(g->span);
    return status;
}

strake_status strake_bench_members_measure(strake_bench *bench, const strake_bench_members *members,
                                           const strake_arguments *arguments,
                                           const strake_bench_options *options, bool *stopped,
                                           strake_error *error)
{
    strake_status status = STRAKE_OK;
    double done = 0.0;
    bench->together = true;
    bench->batch = calloc((size_t)(bench->items * members->counts) + 1, sizeof *bench->batch);
    STRAKE_CHECK(bench->batch != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int k = 0; k < bench->items * members->counts; k++) {
        strake_bench_batch *const batch = &bench->batch[bench->batches++];
        batch->where = bench->item[k / members->counts].where;
        batch->members = members->count[k % members->counts];
    }
    for (int r = options->is_warm ? 1 : 0; r <= bench->repeats; r++) {
        for (int k = 0; k < bench->batches; k++) {
            /* Placements take turns. */
            const int turn = k % bench->items * members->counts + k / bench->items;
            going g = {.bench = bench, .batch = &bench->batch[turn], .options = options};
            g.done = done / (double)(bench->batches * (bench->repeats + 1));
            done += 1.0;
            if (g.batch->status == STRAKE_OK) {
                STRAKE_TRY(make_batch(&g, arguments, r > 0, error));
            }
            *stopped = strake_interrupted();
            if (*stopped) {
                goto cleanup;
            }
        }
    }
cleanup:
    return status;
}

/* --- tables --------------------------------------------------------------------------------------- */

/* A number in @p width columns, or a dash where there is none. */
static void print_cell(FILE *stream, int width, double value)
{
    if (!isfinite(value)) {
        (void)fprintf(stream, "%*s", width, "-");
    } else {
        (void)fprintf(stream, "%*.*f", width, value < 99.95 ? 2 : value < 9999.5 ? 1 : 0, value);
    }
}

void strake_bench_print_batches(const strake_bench *bench, FILE *stream)
{
    char text[96];
    (void)fprintf(stream, "%.30s: %s, %s precision\n", bench->title,
                  strake_bench_size_text(bench, text),
                  strake_precision_name(bench->which->precision));
    (void)fprintf(stream, "%d repeats of %lld steps of each member, in turns, after one\n",
                  bench->repeats, (long long)bench->steps);
    (void)fprintf(stream, "\n%-20s%8s%9s%9s%9s%10s%9s%6s\n", "", strake_bench_unit(bench), "", "",
                  "members", "over", "over", "");
    (void)fprintf(stream, "%-12s%8s%8s%9s%9s%9s%10s%9s%6s\n", "where", "members", "median", "min",
                  "max", "a second", "one", "fastest", "bits");
    for (int k = 0; k < bench->batches; k++) {
        const strake_bench_batch *const batch = &bench->batch[k];
        (void)fprintf(stream, "%-12.12s%8d", batch->where, batch->members);
        if (batch->status != STRAKE_OK) {
            (void)fprintf(stream, " failed\n");
            continue;
        }
        print_cell(stream, 8, 1e-6 * batch->rate.median);
        print_cell(stream, 9, 1e-6 * batch->rate.minimum);
        print_cell(stream, 9, 1e-6 * batch->rate.maximum);
        print_cell(stream, 9, batch->members_rate);
        print_cell(stream, 10, batch->over_one);
        print_cell(stream, 9, batch->over_alone);
        (void)fprintf(stream, "%6s\n", batch->differs ? "DIFF" : "same");
    }
    (void)fprintf(stream, "\n");
}

/* The batch of a placement and a number of members; NULL: it has no rate. */
static const strake_bench_batch *find_batch(const strake_bench *bench,
                                            const strake_bench_batch *like)
{
    for (int k = 0; k < bench->batches; k++) {
        const strake_bench_batch *const batch = &bench->batch[k];
        if (batch->members == like->members && strcmp(batch->where, like->where) == 0 &&
            batch->status == STRAKE_OK) {
            return batch;
        }
    }
    return NULL;
}

void strake_bench_print_batches_by_size(const strake_bench *bench, int benches, FILE *stream)
{
    for (int first = 0; first < benches; first += SIZES_ACROSS) {
        const strake_bench *const part = bench + first;
        const int across = benches - first < SIZES_ACROSS ? benches - first : SIZES_ACROSS;
        (void)fprintf(stream, "%s of all members together, medians\n%-12s%8s",
                      strake_bench_unit(part), "where", "members");
        for (int b = 0; b < across; b++) {
            char text[96];
            (void)fprintf(stream, "%12.11s", strake_bench_column_text(&part[b], text));
        }
        (void)fprintf(stream, "\n");
        for (int k = 0; k < part->batches; k++) {
            (void)fprintf(stream, "%-12.12s%8d", part->batch[k].where, part->batch[k].members);
            for (int b = 0; b < across; b++) {
                const strake_bench_batch *const batch = find_batch(&part[b], &part->batch[k]);
                print_cell(stream, 12, batch != NULL ? 1e-6 * batch->rate.median : (double)NAN);
            }
            (void)fprintf(stream, "\n");
        }
        (void)fprintf(stream, "\n");
    }
}
