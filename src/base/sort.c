#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

void strake_sort(double *value, int count)
{
    if (count > 1) {
        qsort(value, (size_t)count, sizeof *value, ascending);
    }
}

double strake_median(double *value, int count)
{
    strake_sort(value, count);
    return count > 0 ? 0.5 * (value[(count - 1) / 2] + value[count / 2]) : (double)NAN;
}
