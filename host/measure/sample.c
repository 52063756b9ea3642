#include "measure/sample.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

strake_sample strake_sample_of(double *value, int count)
{
    if (count < 1) {
        return (strake_sample){(double)NAN, (double)NAN, (double)NAN};
    }
    qsort(value, (size_t)count, sizeof *value, ascending);
    const int low = (count - 1) / 2;
    const int high = count / 2;
    return (strake_sample){.median = 0.5 * value[low] + 0.5 * value[high],
                           .minimum = value[0],
                           .maximum = value[count - 1]};
}

double strake_karp_flatt(double speedup, double workers)
{
    if (!(speedup > 0.0) || !(workers > 1.0)) {
        return (double)NAN;
    }
    return (1.0 / speedup - 1.0 / workers) / (1.0 - 1.0 / workers);
}
