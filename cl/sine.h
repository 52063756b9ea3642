/*
 * sine.h: sine and cosine of small angles in double precision, C11 and OpenCL C: from exactly rounded operations, so that
 * their bits are the same everywhere. src/base/elementary.h has those of any angle.
 */
#ifndef STRAKE_CL_SINE_H
#define STRAKE_CL_SINE_H

/* Of a sum high + low, within pi/4 and an ulp: Taylor series, which leave out less than 2^-64 of the result. */
static inline double strake_sine_of(double high, double low)
{
    const double z = high * high;
    const double cube = z * high;
    const double tail =
        1.0 / 120.0 +
        z * (-1.0 / 5040.0 +
             z * (1.0 / 362880.0 +
                  z * (-1.0 / 39916800.0 +
                       z * (1.0 / 6227020800.0 +
                            z * (-1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0))))));
    /* The sine of the sum is about sin(high) + low (1 - high^2/2). */
    return high - ((z * (0.5 * low - cube * tail) - low) - cube * (-1.0 / 6.0));
}

static inline double strake_cosine_of(double high, double low)
{
    const double z = high * high;
    const double tail =
        1.0 / 24.0 + z * (-1.0 / 720.0 +
                          z * (1.0 / 40320.0 +
                               z * (-1.0 / 3628800.0 +
                                    z * (1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 +
                                                                  z * (1.0 / 20922789888000.0))))));
    const double part = 0.5 * z;
    const double rest = 1.0 - part;
    return rest + (((1.0 - rest) - part) + (z * (z * tail) - high * low));
}

#endif
