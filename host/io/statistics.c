#include "io/statistics.h"

#include <math.h>

#include "base/hash.h"

strake_statistics strake_statistics_begin(void)
{
    return (strake_statistics){
        .minimum = INFINITY, .maximum = -INFINITY, .checksum = STRAKE_FNV_SEED};
}

/* sum + x, and what it lost by rounding (Neumaier). */
static double add(double sum, double x, double *lost)
{
    const double t = sum + x;
    *lost += fabs(sum) >= fabs(x) ? (sum - t) + x : (x - t) + sum;
    return t;
}

/* A sum beyond the range is infinite, and what it lost is not a number. */
static double complete(double sum, double lost)
{
    return isfinite(sum) ? sum + lost : sum;
}

void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size)
{
    const double *const wide = data;
    const float *const narrow = data;
    strake_statistics s = *statistics;
    for (size_t k = 0; k < count; k++) {
        const double x = element_size == sizeof(double) ? wide[k] : (double)narrow[k];
        s.sum = add(s.sum, x, &s.lost);
        s.squares = add(s.squares, x * x, &s.squares_lost);
        s.minimum = x < s.minimum ? x : s.minimum;
        s.maximum = x > s.maximum ? x : s.maximum;
    }
    s.checksum = strake_fnv1a(s.checksum, data, count * element_size);
    *statistics = s;
}

void strake_statistics_end(strake_statistics *statistics)
{
    statistics->sum = complete(statistics->sum, statistics->lost);
    statistics->norm = sqrt(complete(statistics->squares, statistics->squares_lost));
    statistics->lost = 0.0;
}
