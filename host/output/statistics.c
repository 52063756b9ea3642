#include "output/statistics.h"

#include <math.h>

#include "base/element.h"
#include "base/hash.h"

enum {
    NARROW = 512, /* floats widened at once */
    TOGETHER = 64 /* chunks of which the results wait for those before them */
};

static strake_chunk empty_chunk(void)
{
    return (strake_chunk){.minimum = INFINITY, .maximum = -INFINITY};
}

strake_statistics strake_statistics_begin(bool with_checksum, int threads)
{
    return (strake_statistics){.minimum = INFINITY,
                               .maximum = -INFINITY,
                               .has_checksum = with_checksum,
                               .checksum = STRAKE_FNV_SEED,
                               .open = empty_chunk(),
                               .team = strake_hash_team_begin(threads)};
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

static void add_extremes(strake_chunk *c, const double *x, size_t count)
{
    enum { LANES = STRAKE_SUM_LANES };
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
    c->minimum = low < c->minimum ? first_equal(low, x, count) : c->minimum;
    c->maximum = high > c->maximum ? first_equal(high, x, count) : c->maximum;
}

static void add_doubles(strake_chunk *c, const double *x, size_t count)
{
    strake_lanes_add(&c->values, x, count, false);
    strake_lanes_add(&c->squares, x, count, true);
    add_extremes(c, x, count);
}

static void add_to_chunk(strake_chunk *c, const char *data, size_t count, size_t element_size)
{
    if (element_size == sizeof(double)) {
        add_doubles(c, (const double *)(const void *)data, count);
        return;
    }
    for (size_t at = 0; at < count; at += NARROW) {
        double wide[NARROW];
        const size_t now = count - at < NARROW ? count - at : NARROW;
        strake_element_widen(data, (int)element_size, (int64_t)at, (int64_t)now, wide);
        add_doubles(c, wide, now);
    }
}

/* Chunks come in order. */
static void close_chunk(strake_statistics *s, const strake_chunk *c)
{
    strake_sum_join(&s->values, strake_lanes_sum(&c->values));
    strake_sum_join(&s->squares, strake_lanes_sum(&c->squares));
    s->minimum = c->minimum < s->minimum ? c->minimum : s->minimum;
    s->maximum = c->maximum > s->maximum ? c->maximum : s->maximum;
}

/* Fills the chunk that is open. @return elements taken */
static size_t fill_open(strake_statistics *s, const char *data, size_t count, size_t element_size)
{
    const size_t left = STRAKE_CHUNK - s->open.values.count;
    const size_t now = count < left ? count : left;
    add_to_chunk(&s->open, data, now, element_size);
    if (s->open.values.count == STRAKE_CHUNK) {
        close_chunk(s, &s->open);
        s->open = empty_chunk();
    }
    return now;
}

void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size)
{
    const char *const all = data;
    const int threads = statistics->team.threads;
    size_t at = 0;
    if (statistics->has_checksum) {
        statistics->checksum = strake_hash_team_add(&statistics->team, statistics->checksum, data,
                                                    count * element_size);
    }
    if (statistics->open.values.count > 0) {
        at = fill_open(statistics, all, count, element_size);
    }
    while (count - at >= STRAKE_CHUNK) {
        strake_chunk chunk[TOGETHER];
        const size_t full = (count - at) / STRAKE_CHUNK;
        const int chunks = (int)(full < TOGETHER ? full : TOGETHER);
#pragma omp parallel for num_threads(threads) if (chunks > threads)
        for (int k = 0; k < chunks; k++) {
            chunk[k] = empty_chunk();
            add_to_chunk(&chunk[k], all + (at + (size_t)k * STRAKE_CHUNK) * element_size,
                         STRAKE_CHUNK, element_size);
        }
        for (int k = 0; k < chunks; k++) {
            close_chunk(statistics, &chunk[k]);
        }
        at += (size_t)chunks * STRAKE_CHUNK;
    }
    (void)fill_open(statistics, all + at * element_size, count - at, element_size);
}

void strake_statistics_end(strake_statistics *statistics)
{
    close_chunk(statistics, &statistics->open);
    statistics->sum = strake_sum_total(&statistics->values);
    statistics->norm = sqrt(strake_sum_total(&statistics->squares));
    strake_hash_team_end(&statistics->team);
}
