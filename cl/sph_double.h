/*
 * sph_double.h: double precision of the clock and of walls that move, C11 and OpenCL C. A device without doubles
 * (SPH_DOUBLES is 0) has their words, and computes what it needs from integers: each operation is correctly rounded, to
 * even, so that the bits are those of doubles. Operands are finite, divisors are not 0.
 */
#ifndef STRAKE_CL_SPH_DOUBLE_H
#define STRAKE_CL_SPH_DOUBLE_H

#ifndef SPH_DOUBLES
#define SPH_DOUBLES 1
#endif

#if SPH_DOUBLES

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SPH_WHOLE(x) rint(x)
#else
#define SPH_WHOLE(x) __builtin_rint(x)
#endif
typedef double sph_double;
#define SPH_PLUS(a, b) ((a) + (b))
#define SPH_LESS(a, b) ((a) - (b))
#define SPH_TIMES(a, b) ((a) * (b))
#define SPH_OVER(a, b) ((a) / (b))
#define SPH_IS_UP(x) ((x) > 0.0)
#define SPH_OF_COUNT(k) ((double)(k))
#define SPH_TO_REAL(x) ((real)(x))

#else

#ifdef __OPENCL_C_VERSION__
typedef ulong sph_double;
#define SPH_LEADING(m) ((int)clz(m)) /* zeros above the first one of m > 0 */
#define SPH_HIGH(a, b) mul_hi(a, b)  /* word of a product */
#else
typedef unsigned long long sph_double;
__extension__ typedef unsigned __int128 sph_wide;
#define SPH_LEADING(m) __builtin_clzll(m)
#define SPH_HIGH(a, b) ((sph_double)(((sph_wide)(a) * (b)) >> 64))
#endif

#define SPH_SIGN ((sph_double)1 << 63)

/* A number: m 2^power, where m is 0 or at least 2^63, and its sign. */
typedef struct sph_parted {
    sph_double sign, m;
    int power;
} sph_parted;

static inline sph_parted sph_part(sph_double x)
{
    const int exponent = (int)(x >> 52 & 0x7ff);
    sph_parted out;
    out.sign = x & SPH_SIGN;
    out.m = (x & (((sph_double)1 << 52) - 1)) | (sph_double)(exponent > 0) << 52;
    out.power = (exponent > 0 ? exponent : 1) - 1075;
    if (out.m != 0) {
        const int up = SPH_LEADING(out.m);
        out.m = out.m << up;
        out.power = out.power - up;
    }
    return out;
}

/* The word without sign of m 2^power in a format of so many bits; the last one of m stands for all that were lost. */
static inline sph_double sph_rounded(int power, sph_double m, int bits, int bias)
{
    const sph_double most = (sph_double)(2 * bias + 1) << (bits - 1); /* infinite */
    if (m == 0) {
        return 0;
    }
    const int up = SPH_LEADING(m), exponent = power - up + 63 + bias;
    const int drop = 64 - bits + (exponent < 1 ? 1 - exponent : 0);
    if (drop > 64) {
        return 0;
    }
    m = m << up;
    const sph_double middle = (sph_double)1 << (drop - 1);
    const sph_double kept = drop < 64 ? m >> drop : 0, rest = m & (middle | (middle - 1));
    const sph_double more = rest > middle || (rest == middle && (kept & 1) != 0) ? 1 : 0;
    /* A carry goes into the exponent, as it should. */
    const sph_double out =
        (exponent > 0 ? (sph_double)(exponent - 1) << (bits - 1) : 0) + kept + more;
    return exponent > 2 * bias || out > most ? most : out;
}

static inline sph_double sph_packed(sph_double sign, int power, sph_double m)
{
    return sign | sph_rounded(power, m, 53, 1023);
}

static inline sph_double sph_plus(sph_double x, sph_double y)
{
    const int swaps = (x & ~SPH_SIGN) < (y & ~SPH_SIGN);
    const sph_parted a = sph_part(swaps ? y : x), b = sph_part(swaps ? x : y);
    const int away = a.power - b.power;
    const sph_double large = a.m >> 1,
                     other = b.m >> 1; /* ten bits below the last one, one above */
    const sph_double small =
        b.m == 0    ? 0
        : away > 62 ? 1
                    : other >> away | (sph_double)((other & (((sph_double)1 << away) - 1)) != 0);
    if (a.m == 0) {
        return a.sign & b.sign;
    }
    const sph_double sum = a.sign == b.sign ? large + small : large - small;
    return sph_packed(sum != 0 ? a.sign : 0, a.power + 1, sum);
}

static inline sph_double sph_times(sph_double x, sph_double y)
{
    const sph_parted a = sph_part(x), b = sph_part(y);
    const sph_double m = SPH_HIGH(a.m, b.m) | (sph_double)(a.m * b.m != 0);
    return sph_packed(a.sign ^ b.sign, a.power + b.power + 64, m);
}

static inline sph_double sph_over(sph_double x, sph_double y)
{
    const sph_parted a = sph_part(x), b = sph_part(y);
    const sph_double d = b.m >> 1; /* the last bits of both are zeros */
    sph_double rest = a.m >> 1, q = 0;
    for (int k = 0; k < 63; k++) {
        const sph_double is_in = rest >= d ? 1 : 0;
        q = q << 1 | is_in;
        rest = (rest - (is_in != 0 ? d : 0)) << 1;
    }
    return sph_packed(a.sign ^ b.sign, a.power - b.power - 62, q | (sph_double)(rest != 0));
}

/* The nearest whole number, of two the even one. */
static inline sph_double sph_whole_number(sph_double x)
{
    const int drop = 1075 - (int)(x >> 52 & 0x7ff); /* bits behind the point */
    if (drop > 52) {
        return (x & SPH_SIGN) |
               ((x & ~SPH_SIGN) > (sph_double)1022 << 52 ? (sph_double)1023 << 52 : 0);
    }
    if (drop < 1) {
        return x;
    }
    const sph_double middle = (sph_double)1 << (drop - 1), rest = x & (middle | (middle - 1));
    const sph_double kept = x - rest;
    return rest > middle || (rest == middle && (kept >> drop & 1) != 0) ? kept + middle + middle
                                                                        : kept;
}

static inline sph_double sph_of_count(int k)
{
    return sph_packed(k < 0 ? SPH_SIGN : 0, 0, (sph_double)(k < 0 ? -(long)k : (long)k));
}

/* The word of the nearest number of single precision. */
static inline unsigned int sph_to_single(sph_double x)
{
    const sph_parted a = sph_part(x);
    return (unsigned int)(a.sign >> 32) | (unsigned int)sph_rounded(a.power, a.m, 24, 127);
}

#define SPH_PLUS(a, b) sph_plus(a, b)
#define SPH_LESS(a, b) sph_plus(a, (b) ^ SPH_SIGN)
#define SPH_TIMES(a, b) sph_times(a, b)
#define SPH_OVER(a, b) sph_over(a, b)
#define SPH_WHOLE(x) sph_whole_number(x)
#define SPH_IS_UP(x) ((x) != 0 && (x) < SPH_SIGN)
#define SPH_OF_COUNT(k) sph_of_count(k)
#define SPH_TO_REAL(x) as_float(sph_to_single(x))

#endif

#endif
