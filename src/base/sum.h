/** @file sum.h Compensated sums (Neumaier): nearly exact, and the same whenever the order is the same. */
#ifndef STRAKE_SUM_H
#define STRAKE_SUM_H

#include <math.h>

/** Zero-initialise. */
typedef struct strake_sum {
    double sum;
    double lost; /**< by rounding so far */
} strake_sum;

static inline void strake_sum_add(strake_sum *s, double x)
{
    const double next = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - next) + x : (x - next) + s->sum;
    s->sum = next;
}

/** A sum beyond the range is infinite, and what it lost is not a number. */
static inline double strake_sum_total(const strake_sum *s)
{
    return isfinite(s->sum) ? s->sum + s->lost : s->sum;
}

#endif
