/*
 * elementary.h: powers of two and cube roots from operations that are exact or correctly rounded, so that
 * they have the same bits everywhere and compilers vectorise them. See real.h; tests/unit/test_elementary.c
 * compares them with the C library: a few units in the last place.
 *
 * A number beside so large a one that only whole numbers can be told apart is rounded to a whole one, whose
 * bits are then the last ones of the sum.
 */
#ifndef STRAKE_CL_ELEMENTARY_H
#define STRAKE_CL_ELEMENTARY_H

#ifdef STRAKE_REAL_SINGLE
#define STRAKE_WHOLE REAL(12582912.0) /* 3 * 2^22 */
#define STRAKE_MANTISSA 23
#define STRAKE_MOST_POWER REAL(125.0)
#else
#define STRAKE_WHOLE REAL(6755399441055744.0) /* 3 * 2^51 */
#define STRAKE_MANTISSA 52
#define STRAKE_MOST_POWER REAL(1020.0)
#endif

/* 2^f for |f| <= 1/2: interpolated at Chebyshev nodes, but exactly 1 at 0. */
STRAKE_POINT_FUNCTION real strake_power_of_part(real f)
{
#ifdef STRAKE_REAL_SINGLE
    const real tail = REAL(0.00961808256) + f * (REAL(0.00133908634) + f * REAL(0.000154531629));
    return REAL(1.0) +
           f * (REAL(0.693147188) + f * (REAL(0.240226508) + f * (REAL(0.0555035711) + f * tail)));
#else
    const real low = REAL(0.00961812910760688818) +
                     f * (REAL(0.00133335581464169359) + f * REAL(0.000154035304417360501));
    const real high = REAL(1.52527338298361187e-05) +
                      f * (REAL(1.32154425879226885e-06) + f * REAL(1.01780624458457736e-07));
    const real top = REAL(7.07258594926922338e-09) + f * REAL(4.45496059818651862e-10);
    const real cube = f * f * f;
    const real tail = low + cube * (high + cube * top);
    return REAL(1.0) +
           f * (REAL(0.693147180559945286) +
                f * (REAL(0.240226506959100971) + f * (REAL(0.0555041086648215966) + f * tail)));
#endif
}

/* 2^x; beyond the largest and smallest exponents of normal numbers that of the nearest x within. */
STRAKE_POINT_FUNCTION real strake_power_of_two(real x)
{
    const real below = STRAKE_MIN(x, STRAKE_MOST_POWER);
    const real within = STRAKE_MAX(below, -STRAKE_MOST_POWER);
    const real shifted = within + STRAKE_WHOLE;
    const real part = strake_power_of_part(within - (shifted - STRAKE_WHOLE));
    return strake_real_of(strake_word_of(part) + (strake_word_of(shifted) << STRAKE_MANTISSA));
}

#ifdef STRAKE_REAL_SINGLE
#define STRAKE_ROOT_SHIFT 8
#define STRAKE_ROOT_WORD 0x4b000000u      /* of 2^23 */
#define STRAKE_ROOT_WHOLE REAL(8388608.0) /* 2^23 */
#define STRAKE_ROOT_START REAL(5546421.0)
#else
#define STRAKE_ROOT_SHIFT 20
#define STRAKE_ROOT_WORD 0x4330000000000000ul /* of 2^52 */
#define STRAKE_ROOT_WHOLE REAL(4503599627370496.0)
#define STRAKE_ROOT_START REAL(5858034744033.0)
#endif

/*
 * 1/cbrt(x) for normal x > 0, exactly 1 at 1. A third of a number's word is nearly that of its root; the
 * relative error is 0.04 at first, after Halley's steps 2e-4 and 5e-11, after Newton's one of rounding.
 */
STRAKE_POINT_FUNCTION real strake_inverse_cube_root(real x)
{
    const real third = REAL(1.0) / REAL(3.0);
    const real ninths = REAL(2.0) / REAL(9.0);
    const real word = strake_real_of((strake_word_of(x) >> STRAKE_ROOT_SHIFT) | STRAKE_ROOT_WORD) -
                      STRAKE_ROOT_WHOLE;
    const real start = (STRAKE_ROOT_START - word * third) + STRAKE_ROOT_WHOLE;
    const real seed = strake_real_of(strake_word_of(start) << STRAKE_ROOT_SHIFT);
    const real e0 = REAL(1.0) - x * (seed * seed * seed);
    const real near = seed + seed * (e0 * (third + ninths * e0));
    const real e1 = REAL(1.0) - x * (near * near * near);
    const real nearer = near + near * (e1 * (third + ninths * e1));
    const real e2 = REAL(1.0) - x * (nearer * nearer * nearer);
    return nearer + nearer * (e2 * third);
}

#endif
