#include "measure/sample.h"

#include <math.h>

#include "base/sort.h"

strake_sample strake_sample_of(double *value, int count)
{
    if (count < 1) {
        return (strake_sample){(double)NAN, (double)NAN, (double)NAN};
    }
    const double median = strake_median(value, count); /* sorts */
    return (strake_sample){.median = median, .minimum = value[0], .maximum = value[count - 1]};
}

double strake_karp_flatt(double speedup, double workers)
{
    if (!(speedup > 0.0) || !(workers > 1.0)) {
        return (double)NAN;
    }
    return (1.0 / speedup - 1.0 / workers) / (1.0 - 1.0 / workers);
}
