#include "io/statistics.h"

#include <math.h>

#include "base/hash.h"

strake_statistics strake_statistics_of(const void *data, size_t count, size_t element_size)
{
    const double *const wide = data;
    const float *const narrow = data;
    strake_statistics s = {.minimum = INFINITY, .maximum = -INFINITY};
    double sum = 0.0, lost = 0.0;
    for (size_t k = 0; k < count; k++) {
        const double x = element_size == sizeof(double) ? wide[k] : (double)narrow[k];
        const double t = sum + x;
        lost += fabs(sum) >= fabs(x) ? (sum - t) + x : (x - t) + sum;
        sum = t;
        s.minimum = x < s.minimum ? x : s.minimum;
        s.maximum = x > s.maximum ? x : s.maximum;
    }
    s.sum = sum + lost;
    s.checksum = strake_fnv1a(STRAKE_FNV_SEED, data, count * element_size);
    return s;
}
