#include "output/difference.h"

#include <math.h>
#include <string.h>

const strake_difference strake_difference_none = {.first = -1, .worst = -1};

/* Position among all doubles in ascending order; both zeros are 0. */
static int64_t rank_double(double x)
{
    int64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static int64_t rank_single(double x)
{
    const float narrow = (float)x;
    int32_t bits = 0;
    memcpy(&bits, &narrow, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static uint64_t ulp_between(double a, double b, bool single)
{
    const int64_t x = single ? rank_single(a) : rank_double(a);
    const int64_t y = single ? rank_single(b) : rank_double(b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

void strake_difference_add(strake_difference *difference, const double *a, const double *b,
                           size_t count, double tolerance, bool single)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t index = difference->elements + (int64_t)k;
        if (memcmp(&a[k], &b[k], sizeof *a) == 0) {
            continue;
        }
        difference->differing++;
        if (difference->first < 0) {
            difference->first = index;
            difference->first_a = a[k];
            difference->first_b = b[k];
        }
        const bool finite = isfinite(a[k]) && isfinite(b[k]);
        const bool both_nan = isnan(a[k]) && isnan(b[k]);
        const double apart = finite ? fabs(a[k] - b[k]) : both_nan ? 0.0 : (double)INFINITY;
        if (apart > difference->absolute || difference->worst < 0) {
            difference->absolute = apart;
            difference->worst = index;
        }
        if (finite) {
            const double larger = fmax(fabs(a[k]), fabs(b[k]));
            const double relative = larger > 0.0 ? apart / larger : 0.0;
            const uint64_t ulp = ulp_between(a[k], b[k], single);
            difference->relative = fmax(difference->relative, relative);
            difference->ulp = ulp > difference->ulp ? ulp : difference->ulp;
        } else if (!both_nan) {
            difference->relative = (double)INFINITY;
        }
        difference->beyond = difference->beyond || tolerance <= 0.0 || apart > tolerance;
    }
    difference->elements += (int64_t)count;
}
