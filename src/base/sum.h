/** @file sum.h Compensated sums (Neumaier; in lanes Knuth's): nearly exact, and the same whenever the order is the same. */
#ifndef STRAKE_SUM_H
#define STRAKE_SUM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/** Adds a sum of other numbers. */
static inline void strake_sum_join(strake_sum *s, strake_sum other)
{
    strake_sum_add(s, other.sum);
    s->lost += other.lost;
}

/** A sum beyond the range is infinite, and what it lost is not a number. */
static inline double strake_sum_total(const strake_sum *s)
{
    return isfinite(s->sum) ? s->sum + s->lost : s->sum;
}

enum { STRAKE_SUM_LANES = 8 };

/**
 * The same of long sequences, which processors add several numbers of at once: number k is added in lane
 * k modulo STRAKE_SUM_LANES, and in the end the lanes are. Zero-initialise.
 */
typedef struct strake_lanes {
    double sum[STRAKE_SUM_LANES], lost[STRAKE_SUM_LANES];
    size_t count; /**< of numbers so far */
} strake_lanes;

static inline void strake_lanes_add_one(double *sum, double *lost, double x)
{
    const double next = *sum + x;
    const double added = next - *sum;
    *lost += (*sum - (next - added)) + (x - added);
    *sum = next;
}

/** Adds the next numbers of the sequence, or their squares. */
static inline void strake_lanes_add(strake_lanes *s, const double *x, size_t count, bool squared)
{
    size_t k = 0;
    for (; k < count && (s->count + k) % STRAKE_SUM_LANES != 0; k++) {
        const size_t l = (s->count + k) % STRAKE_SUM_LANES;
        strake_lanes_add_one(&s->sum[l], &s->lost[l], squared ? x[k] * x[k] : x[k]);
    }
    double sum[STRAKE_SUM_LANES], lost[STRAKE_SUM_LANES];
    memcpy(sum, s->sum, sizeof sum);
    memcpy(lost, s->lost, sizeof lost);
    for (; k + STRAKE_SUM_LANES <= count; k += STRAKE_SUM_LANES) {
        for (size_t l = 0; l < STRAKE_SUM_LANES; l++) {
            const double y = x[k + l];
            strake_lanes_add_one(&sum[l], &lost[l], squared ? y * y : y);
        }
    }
    memcpy(s->sum, sum, sizeof sum);
    memcpy(s->lost, lost, sizeof lost);
    for (size_t l = 0; k < count; k++, l++) {
        strake_lanes_add_one(&s->sum[l], &s->lost[l], squared ? x[k] * x[k] : x[k]);
    }
    s->count += count;
}

/** All lanes' numbers. */
static inline strake_sum strake_lanes_sum(const strake_lanes *s)
{
    strake_sum all = {0.0, 0.0};
    for (int l = 0; l < STRAKE_SUM_LANES; l++) {
        strake_sum_join(&all, (strake_sum){s->sum[l], s->lost[l]});
    }
    return all;
}

#endif
