#include "output/statistics.h"

#include <math.h>

#include "base/element.h"
#include "base/hash.h"

enum { VALUES, SQUARES, EXTREMES, TASKS };

enum {
    PIECE = 512,
    LANES = 8,
    SHARED = 1 << 15 /* elements from which on threads share the work */
};

/* Elements that are being added. */
typedef struct batch {
    strake_statistics *statistics;
    const void *data;
    size_t count, element_size;
} batch;

strake_statistics strake_statistics_begin(bool with_checksum, int threads)
{
    return (strake_statistics){.minimum = INFINITY,
                               .maximum = -INFINITY,
                               .has_checksum = with_checksum,
                               .checksum = STRAKE_FNV_SEED,
                               .team = strake_hash_team_begin(threads)};
}

static void add_sum(strake_sum *sum, const double *x, size_t count)
{
    strake_sum s = *sum;
    for (size_t k = 0; k < count; k++) {
        strake_sum_add(&s, x[k]);
    }
    *sum = s;
}

static void add_squares(strake_sum *sum, const double *x, size_t count)
{
    strake_sum s = *sum;
    for (size_t k = 0; k < count; k++) {
        strake_sum_add(&s, x[k] * x[k]);
    }
    *sum = s;
}

/* Zeros of both signs are equal: the first one of them counts. */
static double first_equal(double extreme, const double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (x[k] >= extreme && x[k] <= extreme) {
            return x[k];
        }
    }
    return extreme;
}

static void add_extremes(strake_statistics *s, const double *x, size_t count)
{
    double least[LANES], most[LANES];
    double low = INFINITY, high = -INFINITY;
    size_t k = 0;
    for (int l = 0; l < LANES; l++) {
        least[l] = INFINITY;
        most[l] = -INFINITY;
    }
    for (; k + LANES <= count; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            least[l] = x[k + (size_t)l] < least[l] ? x[k + (size_t)l] : least[l];
            most[l] = x[k + (size_t)l] > most[l] ? x[k + (size_t)l] : most[l];
        }
    }
    for (int l = 0; l < LANES; l++) {
        low = least[l] < low ? least[l] : low;
        high = most[l] > high ? most[l] : high;
    }
    for (; k < count; k++) {
        low = x[k] < low ? x[k] : low;
        high = x[k] > high ? x[k] : high;
    }
    s->minimum = low < s->minimum ? first_equal(low, x, count) : s->minimum;
    s->maximum = high > s->maximum ? first_equal(high, x, count) : s->maximum;
}

/* One task on one piece of the batch, as doubles. */
static void add_piece(strake_statistics *s, int task, const double *x, size_t count)
{
    switch (task) {
    case VALUES:
        add_sum(&s->values, x, count);
        break;
    case SQUARES:
        add_squares(&s->squares, x, count);
        break;
    default:
        add_extremes(s, x, count);
        break;
    }
}

/* A step of a task: its share of the batch, in order. */
static void work(void *user, int task, int step)
{
    const batch *const b = user;
    const size_t first = b->count * (size_t)step / STRAKE_HASH_STEPS;
    const size_t end = b->count * ((size_t)step + 1) / STRAKE_HASH_STEPS;
    if (b->element_size == sizeof(double)) {
        add_piece(b->statistics, task, (const double *)b->data + first, end - first);
        return;
    }
    for (size_t at = first; at < end; at += PIECE) {
        double wide[PIECE];
        const size_t now = end - at < PIECE ? end - at : PIECE;
        strake_element_widen(b->data, (int)b->element_size, (int64_t)at, (int64_t)now, wide);
        add_piece(b->statistics, task, wide, now);
    }
}

static void do_task(void *user, int task)
{
    for (int step = 0; step < STRAKE_HASH_STEPS; step++) {
        work(user, task, step);
    }
}

void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size)
{
    batch all = {statistics, data, count, element_size};
    if (statistics->has_checksum) {
        statistics->checksum = strake_hash_team_add(&statistics->team, statistics->checksum, data,
                                                    count * element_size, TASKS, work, &all);
        return;
    }
    const int threads = statistics->team.threads < TASKS ? statistics->team.threads : TASKS;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (count >= SHARED)
    for (int task = 0; task < TASKS; task++) {
        do_task(&all, task);
    }
}

void strake_statistics_end(strake_statistics *statistics)
{
    statistics->sum = strake_sum_total(&statistics->values);
    statistics->norm = sqrt(strake_sum_total(&statistics->squares));
    strake_hash_team_end(&statistics->team);
}
