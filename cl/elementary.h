/*
 * elementary.h: exponentials, logarithms, sines, cosines and cube roots from operations that are exact or correctly rounded, so that
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

/*
 * e^x, log(x), sin(x) and cos(x) by the usual reductions of the argument (Cody & Waite, Software Manual for the
 * Elementary Functions (1980)) and Taylor's series, whose next term is below the last place: errors of a few units
 * there, more only beside zeros of log and of sines of large angles. Formulas of problems call them by these names.
 */
#define STRAKE_EXP(x) strake_exponential(x)
#define STRAKE_LOG(x) strake_logarithm(x)
#define STRAKE_SIN(x) strake_sine(x)
#define STRAKE_COS(x) strake_cosine(x)

#ifdef STRAKE_REAL_SINGLE
#define STRAKE_MOST_EXPONENT REAL(88.72283)
#define STRAKE_LEAST_EXPONENT REAL(-104.0)
#define STRAKE_LN2_HIGH REAL(0.69314575)
#define STRAKE_LN2_LOW REAL(1.4286068e-06)
#define STRAKE_QUARTER_1                                                                           \
    REAL(1.5703125) /* of a turn, with so few digits that its multiples are exact */
#define STRAKE_QUARTER_2 REAL(0.0004837512969970703)
#define STRAKE_QUARTER_3 REAL(7.549533620476723e-08)
#define STRAKE_QUARTER_4 REAL(2.563344e-12)
#define STRAKE_BIAS 127
#define STRAKE_SIGN 0x80000000u
#define STRAKE_ROOT_HALF 0x3f3504f3u /* sqrt(1/2) */
#define STRAKE_SMALLEST REAL(1.17549435e-38)
#define STRAKE_INFINITE 0x7f800000u
#else
#define STRAKE_MOST_EXPONENT REAL(709.782712893384)
#define STRAKE_LEAST_EXPONENT REAL(-746.0)
#define STRAKE_LN2_HIGH REAL(0.693147180559663)
#define STRAKE_LN2_LOW REAL(2.8235290563031577e-13)
#define STRAKE_QUARTER_1 REAL(1.5707963267341256)
#define STRAKE_QUARTER_2 REAL(6.077100506303966e-11)
#define STRAKE_QUARTER_3 REAL(2.0222662487959506e-21)
#define STRAKE_QUARTER_4 REAL(0.0)
#define STRAKE_BIAS 1023
#define STRAKE_SIGN 0x8000000000000000ul
#define STRAKE_ROOT_HALF 0x3fe6a09e667f3bcdul
#define STRAKE_SMALLEST REAL(2.2250738585072014e-308)
#define STRAKE_INFINITE 0x7ff0000000000000ul
#endif

/* 2^n of a whole number that was shifted: x + STRAKE_WHOLE; within the exponents of normal numbers. */
STRAKE_POINT_FUNCTION real strake_scale_of(real shifted)
{
    return strake_real_of((strake_word_of(shifted) + STRAKE_BIAS) << STRAKE_MANTISSA);
}

/* e^x: 0 and infinite beyond the range, and where it is below the smallest normal number 0 or that. */
STRAKE_POINT_FUNCTION real strake_exponential(real x)
{
    const real below = STRAKE_MIN(x, STRAKE_MOST_EXPONENT);
    const real within = STRAKE_MAX(below, STRAKE_LEAST_EXPONENT);
    const real shifted = within * REAL(1.4426950408889634) + STRAKE_WHOLE;
    const real n = shifted - STRAKE_WHOLE;
    const real r = (within - n * STRAKE_LN2_HIGH) - n * STRAKE_LN2_LOW;
    /* In two factors, each of which has an exponent. */
    const real halved = n * REAL(0.5) + STRAKE_WHOLE;
    const real rest = (n - (halved - STRAKE_WHOLE)) + STRAKE_WHOLE;
    real sum = REAL(1.1470745597729725e-11);
    sum = REAL(1.6059043836821613e-10) + r * sum;
    sum = REAL(2.08767569878681e-09) + r * sum;
    sum = REAL(2.505210838544172e-08) + r * sum;
    sum = REAL(2.755731922398589e-07) + r * sum;
    sum = REAL(2.7557319223985893e-06) + r * sum;
    sum = REAL(2.48015873015873e-05) + r * sum;
    sum = REAL(0.0001984126984126984) + r * sum;
    sum = REAL(0.001388888888888889) + r * sum;
    sum = REAL(0.008333333333333333) + r * sum;
    sum = REAL(0.041666666666666664) + r * sum;
    sum = REAL(0.16666666666666666) + r * sum;
    sum = REAL(0.5) + r * sum;
    const real power = REAL(1.0) + (r + r * (r * sum));
    const real value = (power * strake_scale_of(halved)) * strake_scale_of(rest);
    const real normal = value < STRAKE_SMALLEST ? REAL(0.0) : value;
    const real large =
        x > STRAKE_MOST_EXPONENT ? strake_real_of((strake_word)STRAKE_INFINITE) : normal;
    return x == x ? large : x;
}

/* The natural logarithm of a normal number; of 0 and what is below the smallest -infinite, of what is negative NaN. */
STRAKE_POINT_FUNCTION real strake_logarithm(real x)
{
    const strake_word mantissa = ((strake_word)1 << STRAKE_MANTISSA) - 1;
    const strake_word from = strake_word_of(x) - (strake_word)STRAKE_ROOT_HALF;
    /* x = 2^k m with sqrt(1/2) <= m < sqrt(2); k comes as a word's lowest bits, which are those of a shifted number. */
    const real m = strake_real_of((from & mantissa) + (strake_word)STRAKE_ROOT_HALF);
    const strake_word biased = (from + (strake_word)STRAKE_SIGN) >> STRAKE_MANTISSA;
    const real k = strake_real_of(biased + strake_word_of(STRAKE_WHOLE)) -
                   (STRAKE_WHOLE + (real)(2 * STRAKE_BIAS + 2));
    const real f = m - REAL(1.0);
    const real s = f / (REAL(2.0) + f);
    const real z = s * s;
    real sum = REAL(0.08695652173913043);
    sum = REAL(0.09523809523809523) + z * sum;
    sum = REAL(0.10526315789473684) + z * sum;
    sum = REAL(0.11764705882352941) + z * sum;
    sum = REAL(0.13333333333333333) + z * sum;
    sum = REAL(0.15384615384615385) + z * sum;
    sum = REAL(0.18181818181818182) + z * sum;
    sum = REAL(0.2222222222222222) + z * sum;
    sum = REAL(0.2857142857142857) + z * sum;
    sum = REAL(0.4) + z * sum;
    sum = REAL(0.6666666666666666) + z * sum;
    /* log(1 + f) = 2 atanh(s) = f - s (f - z (2/3 + ...)), which is exact to the last place of f. */
    const real part = f - s * (f - z * sum);
    const real value = k * STRAKE_LN2_HIGH + (k * STRAKE_LN2_LOW + part);
    const real infinite = strake_real_of((strake_word)STRAKE_INFINITE);
    const real large = x < infinite ? value : x;
    const real small = x < STRAKE_SMALLEST ? -infinite : large;
    return x < REAL(0.0) ? infinite - infinite : small;
}

/*
 * sin(x + q quarters of a turn), q being 0 or 1. Up to 10^6 (in single precision 10^3) the angle is reduced to its last
 * place; beyond that the same bits come out everywhere, but fewer and fewer of them are digits of a sine.
 */
STRAKE_POINT_FUNCTION real strake_turned_sine(real x, int q)
{
    const real shifted = x * REAL(0.6366197723675814) + STRAKE_WHOLE;
    const real n = shifted - STRAKE_WHOLE;
    const real r = (((x - n * STRAKE_QUARTER_1) - n * STRAKE_QUARTER_2) - n * STRAKE_QUARTER_3) -
                   n * STRAKE_QUARTER_4;
    const real z = r * r;
    real odd = REAL(2.8114572543455206e-15);
    odd = REAL(-7.647163731819816e-13) + z * odd;
    odd = REAL(1.6059043836821613e-10) + z * odd;
    odd = REAL(-2.505210838544172e-08) + z * odd;
    odd = REAL(2.7557319223985893e-06) + z * odd;
    odd = REAL(-0.0001984126984126984) + z * odd;
    odd = REAL(0.008333333333333333) + z * odd;
    odd = REAL(-0.16666666666666666) + z * odd;
    real even = REAL(4.779477332387385e-14);
    even = REAL(-1.1470745597729725e-11) + z * even;
    even = REAL(2.08767569878681e-09) + z * even;
    even = REAL(-2.755731922398589e-07) + z * even;
    even = REAL(2.48015873015873e-05) + z * even;
    even = REAL(-0.001388888888888889) + z * even;
    even = REAL(0.041666666666666664) + z * even;
    const real sine = r + r * (z * odd);
    const real cosine = REAL(1.0) - (REAL(0.5) * z - z * (z * even));
    const strake_word quarter = strake_word_of(shifted) + (strake_word)q;
    const real value = (quarter & 1) != 0 ? cosine : sine;
    return (quarter & 2) != 0 ? -value : value;
}

STRAKE_POINT_FUNCTION real strake_sine(real x)
{
    return strake_turned_sine(x, 0);
}

STRAKE_POINT_FUNCTION real strake_cosine(real x)
{
    return strake_turned_sine(x, 1);
}

#endif
