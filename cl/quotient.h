/*
 * quotient.h: correctly rounded quotients without a branch, for devices only.
 *
 * A device's own division branches to a slow path for unusual operands; four of them in a loop cost
 * a GPU half of its speed, since nothing is scheduled across a branch. Here one test decides for any
 * number of quotients:
 *
 *     const real q = strake_refined(ratio);
 *     ... more of them ...
 *     if (!STRAKE_IS_REFINED(ratio, q)) { q = strake_divided(ratio); }
 *
 * The quotient is that of Markstein (1990; Muller et al., Handbook of Floating-Point Arithmetic,
 * division with an FMA): y is 1/d, correctly rounded, q within one unit of n/d in the last place, and
 * one more correction with the exact remainder makes it the correctly rounded n/d, whatever the seed
 * y was made from was worth, as long as its relative error was below 2^-17. y is correctly rounded because the
 * seed is above 1/d even where all bits of d are ones, the only d for which that matters.
 * Nothing may overflow on the way: that is what STRAKE_IS_REFINED asks for. Numerators and denominators
 * are scaled, so that remainders do not underflow, however small the numerator is: in the thin tails of a
 * field it is.
 *
 * A subnormal quotient may lie in the middle between two numbers, and the product of remainder and y, which
 * is not exact, beside it. Then the odd part of d divides the numerator, counted in the least number 2^-1074.
 * It does not where that count is below 2^32 and d has a one among its last 21 bits; further from the middle
 * than that product can be wrong n/d is anyway: such quotients are right (and 0/d, which is most of them),
 * other subnormal ones are left to the device. In single precision the tails that occur have no others
 * than 0: the least number over epsilon is normal. The tests look at words, since a kernel's loop has no
 * registers left for constants or remainders that exact tests would need.
 * tests/parity/test_quotient.c goes through the hard cases.
 */

static inline real strake_divided(strake_ratio ratio)
{
    return ratio.n / ratio.d;
}

#ifdef STRAKE_REAL_SINGLE

#define STRAKE_HEAD(x) as_uint(x)
#define STRAKE_LEAST_DENOMINATOR 0x0d000000u /* 2^-101 */
#define STRAKE_MOST_DENOMINATOR 0x5d800000u  /* 2^60 */
#define STRAKE_LEAST_QUOTIENT 2.3509887e-38f /* 2^-125 */
#define STRAKE_IS_NO_TIE(ratio) (int)((ratio).n == 0.0f)
/* By 2^60. */
#define STRAKE_SCALED_NUMERATOR(n) ((n)*1.1529215e18f)
#define STRAKE_SCALED_DENOMINATOR(d) ((d)*1.1529215e18f)
#define STRAKE_WITH_SIGN(q, n) as_float(as_uint(q) | (as_uint(n) & 0x80000000u))

#ifndef STRAKE_RECIPROCAL
#define STRAKE_RECIPROCAL(x) native_recip(x) /* as good as the device has it */
#endif

/* A little more than 1/d: by less than 2^-17 of it, or the quotient is left to the device. */
#define STRAKE_SEED_IS_GOOD(e) ((int)((e) <= 0.0f) & (int)((e) > -7.6e-6f))

static inline float strake_seed(float d)
{
    return as_float(as_uint(STRAKE_RECIPROCAL(d)) + 3u);
}

#else

#define STRAKE_HEAD(x) ((uint)(as_ulong(x) >> 32))
#define STRAKE_LEAST_DENOMINATOR 0x33700000u          /* 2^-200 */
#define STRAKE_MOST_DENOMINATOR 0x5f300000u           /* 2^500 */
#define STRAKE_LEAST_QUOTIENT 4.4501477170144028e-308 /* 2^-1021 */
#define STRAKE_IS_NO_TIE(ratio)                                                                    \
    ((int)((STRAKE_HEAD((ratio).n) & 0x7fffffffu) == 0u) &                                         \
     (int)(((uint)as_ulong((ratio).d) & 0x1fffffu) != 0u))
/* By 2^110, the denominator through its exponent. */
#define STRAKE_SCALED_NUMERATOR(n) ((n)*1298074214633706907132624082305024.0)
#define STRAKE_SCALED_DENOMINATOR(d) as_double(as_ulong(d) + 0x06e0000000000000ul)
#define STRAKE_WITH_SIGN(q, n) as_double(as_ulong(q) | (as_ulong(n) & 0x8000000000000000ul))

#ifndef STRAKE_RECIPROCAL
#define STRAKE_RECIPROCAL(x) (1.0f / (x)) /* within 2.5 units in the last place */
#endif
#define STRAKE_SEED_IS_GOOD(e) 1

/*
 * A little more than 1/d, by less than 2^-18 of it: from the reciprocal of the first 24 bits; the
 * exponent is that of d with the sign changed.
 */
static inline double strake_seed(double d)
{
    const uint head = STRAKE_HEAD(d);
    const uint tail = (uint)as_ulong(d);
    const float leading = as_float(0x3f800000u | (head & 0xfffffu) << 3 | tail >> 29);
    const uint y = as_uint(STRAKE_RECIPROCAL(leading)) + 3u;
    return as_double((ulong)((y >> 3) + 0x77f00000u - (head & 0x7ff00000u)) << 32 | y << 29);
}

#endif

static inline real strake_seed_error(real d)
{
    return fma(-d, strake_seed(d), REAL(1.0));
}

/* 1/d, correctly rounded, from a seed of it. */
static inline real strake_nearer(real d, real seed)
{
    const real e = fma(-d, seed, REAL(1.0));
    const real near = fma(seed, fma(e, e, e), seed);
    return fma(near, fma(-d, near, REAL(1.0)), near);
}

static inline real strake_refined(strake_ratio ratio)
{
    const real n = STRAKE_SCALED_NUMERATOR(ratio.n);
    const real d = STRAKE_SCALED_DENOMINATOR(ratio.d);
    const real y = strake_nearer(d, strake_seed(d));
    const real first = n * y;
    const real q = fma(fma(-d, first, n), y, first);
    return STRAKE_WITH_SIGN(q, n); /* of a zero */
}

#define STRAKE_IS_REFINED(ratio, q)                                                                \
    (STRAKE_SEED_IS_GOOD(strake_seed_error(STRAKE_SCALED_DENOMINATOR((ratio).d))) &                \
     (int)(STRAKE_HEAD((ratio).d) - STRAKE_LEAST_DENOMINATOR <                                     \
           STRAKE_MOST_DENOMINATOR - STRAKE_LEAST_DENOMINATOR) &                                   \
     ((int)(fabs(q) >= STRAKE_LEAST_QUOTIENT) | STRAKE_IS_NO_TIE(ratio)))
