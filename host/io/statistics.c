#include "io/statistics.h"

#include <math.h>

#include "base/hash.h"

strake_statistics strake_statistics_begin(bool with_checksum)
{
    return (strake_statistics){.minimum = INFINITY,
                               .maximum = -INFINITY,
                               .has_checksum = with_checksum,
                               .checksum = STRAKE_FNV_SEED};
}

void strake_statistics_add(strake_statistics *statistics, const void *data, size_t count,
                           size_t element_size)
{
    const double *const wide = data;
    const float *const narrow = data;
    strake_statistics s = *statistics;
    for (size_t k = 0; k < count; k++) {
        const double x = element_size == sizeof(double) ? wide[k] : (double)narrow[k];
        strake_sum_add(&s.values, x);
        strake_sum_add(&s.squares, x * x);
        s.minimum = x < s.minimum ? x : s.minimum;
        s.maximum = x > s.maximum ? x : s.maximum;
    }
    if (s.has_checksum) {
        s.checksum = strake_fnv1a(s.checksum, data, count * element_size);
    }
    *statistics = s;
}

void strake_statistics_end(strake_statistics *statistics)
{
    statistics->sum = strake_sum_total(&statistics->values);
    statistics->norm = sqrt(strake_sum_total(&statistics->squares));
}
