#include "base/elementary.h"

#include <math.h>

#include "cl/sine.h"

/* An angle less a multiple of a quarter turn, as the sum of two numbers: at most pi/4 and an ulp. */
typedef struct angle {
    double high, low;
    int quarter; /* 0 to 3 */
} angle;

/* Of the multiples of a quarter turn up to 2^20, parts of 33 bits have exact products. */
static const double most_quarters = 0x1p20;
static const double quarter_turn[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                      0x1.b839a252049c1p-104};
static const double turn = 0x1.921fb54442d18p+2;
static const double per_quarter = 0x1.45f306dc9c883p-1;

/* a - b, exactly the sum of the result and *lost. */
static double subtract(double a, double b, double *lost)
{
    const double difference = a - b;
    const double back = difference - a;
    *lost = (a - (difference - back)) - (b + back);
    return difference;
}

static angle reduce(double x)
{
    double lost[3];
    double count = rint(x * per_quarter);
    if (fabs(count) > most_quarters) {
        x = fmod(x, turn);
        count = rint(x * per_quarter);
    }
    const double first = x - count * quarter_turn[0];
    const double second = subtract(first, count * quarter_turn[1], &lost[0]);
    const double third = subtract(second, count * quarter_turn[2], &lost[1]);
    const double rest = (lost[0] + lost[1]) - count * quarter_turn[3];
    const double high = subtract(third, -rest, &lost[2]);
    return (angle){high, lost[2], (int)((long)count & 3)};
}

double strake_sin(double x)
{
    if (!isfinite(x)) {
        return NAN;
    }
    const angle a = reduce(x);
    const double value =
        a.quarter % 2 == 0 ? strake_sine_of(a.high, a.low) : strake_cosine_of(a.high, a.low);
    return a.quarter < 2 ? value : -value;
}

double strake_cos(double x)
{
    if (!isfinite(x)) {
        return NAN;
    }
    const angle a = reduce(x);
    const double value =
        a.quarter % 2 == 0 ? strake_cosine_of(a.high, a.low) : strake_sine_of(a.high, a.low);
    return a.quarter == 1 || a.quarter == 2 ? -value : value;
}

double strake_exp(double x)
{
    static const double lowest = -746.0, highest = 710.0, per_doubling = 0x1.71547652b82fep+0;
    static const double doubling[] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33}; /* log 2 */
    if (!(x > lowest && x < highest)) {
        return x <= lowest ? 0.0 : x >= highest ? INFINITY : NAN;
    }
    const double count = rint(x * per_doubling);
    const double high = x - count * doubling[0]; /* exact: 32 bits and at most 11 */
    const double low = count * doubling[1];
    const double r = high - low;
    const double lost = (high - r) - low;
    const double tail =
        1.0 / 6.0 +
        r * (1.0 / 24.0 + r * (1.0 / 120.0 +
                               r * (1.0 / 720.0 +
                                    r * (1.0 / 5040.0 +
                                         r * (1.0 / 40320.0 +
                                              r * (1.0 / 362880.0 +
                                                   r * (1.0 / 3628800.0 +
                                                        r * (1.0 / 39916800.0 +
                                                             r * (1.0 / 479001600.0 +
                                                                  r * (1.0 / 6227020800.0))))))))));
    const double square = r * r;
    const double value = 1.0 + (r + (0.5 * square + (r * square * tail + lost)));
    return ldexp(value, (int)count);
}
