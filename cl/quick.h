/*
 * quick.h: correctly rounded quotients and roots without a branch, anywhere in a point function; in double
 * precision, for devices only. See quotient.h for why; there a function ends with its only division.
 *
 * A point function is given the address of a doubt, or 0 for the device's own operations:
 *
 *     uint doubt = 0;
 *     ... of many cells: real x = f(&doubt, ...); real y = g(&doubt, x, ...);
 *     if (STRAKE_IS_DOUBTED(doubt)) { ... of all of them again: f(0, ...), g(0, x, ...) }
 *
 * Operands from 2^-479 to below 2^481 in magnitude leave no doubt, nor does +0 as a numerator or below a
 * root: everything on the way is a normal number then, and remainders are exact. That is asked of the high words
 * alone, by integer operations: a doubt is the largest of what they are above the least one, modulo 2^32.
 *
 * Reciprocals and quotients are those of quotient.h. The seed is above 1/d in magnitude, by less than 2^-18 of it.
 * Roots, from a seed y of 1/sqrt(x) off by less than 2^-18.5 of it, are s + r/(2 sqrt(x)) with s = x z, r = x - s s
 * and z from y by one step of third order. Where sqrt(x) is not near the middle of two numbers that is
 * good enough; those x where it is can be counted: tests/parity/test_quotient.c goes through them all.
 */

#define STRAKE_SAFE_LEAST 0x22000000u /* high word of 2^-479 */
#define STRAKE_SAFE_RANGE 0x3c000000u
#define STRAKE_IS_DOUBTED(doubt) ((doubt) >= STRAKE_SAFE_RANGE)

/* 1/sqrt(m) in single precision: within 2 units in the last place. */
#ifndef STRAKE_INVERSE_ROOT
#define STRAKE_INVERSE_ROOT(m) rsqrt(m)
#endif

/* The seeds from single precision, for d of either sign and x > 0. */
static inline double strake_seed_of_reciprocal(double d)
{
    return as_double(as_ulong(strake_seed(fabs(d))) | (as_ulong(d) & 0x8000000000000000ul));
}

static inline double strake_seed_of_root(double x)
{
    const uint head = STRAKE_HEAD(x);
    const uint power = ((head - 0x100000u) >> 21) - 511u; /* x is 2^(2 power) m, 1 <= m < 4 */
    const uint tail = (head & 0xfffffu) << 3 | (uint)as_ulong(x) >> 29;
    const float m = as_float(((head & 0x100000u) != 0u ? 0x3f800000u : 0x40000000u) | tail);
    const double y = (double)(STRAKE_INVERSE_ROOT(m));
    return as_double(as_ulong(y) - ((ulong)power << 52));
}

/* NVIDIA's from tables: 20 bits of the high word alone. */
#ifdef __NV_CL_C_VERSION
static inline double strake_approximate_reciprocal(double d)
{
    double y;
    __asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
    return as_double(as_ulong(y) + 0x200000000ul);
}
static inline double strake_approximate_root(double x)
{
    double y;
    __asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
#define STRAKE_SEED_OF_RECIPROCAL(d) strake_approximate_reciprocal(d)
#define STRAKE_SEED_OF_ROOT(x) strake_approximate_root(x)
#endif
#ifndef STRAKE_SEED_OF_RECIPROCAL
#define STRAKE_SEED_OF_RECIPROCAL(d) strake_seed_of_reciprocal(d)
#define STRAKE_SEED_OF_ROOT(x) strake_seed_of_root(x)
#endif

static inline uint strake_doubt_of(uint head)
{
    return head - STRAKE_SAFE_LEAST;
}

static inline void strake_add_doubt(uint *doubt, uint more)
{
    *doubt = *doubt > more ? *doubt : more;
}

/* 1/d */
static inline double strake_quick_reciprocal(double d, uint *doubt)
{
    if (doubt == 0) {
        return 1.0 / d;
    }
    strake_add_doubt(doubt, strake_doubt_of(STRAKE_HEAD(d) & 0x7fffffffu));
    return strake_nearer(d, STRAKE_SEED_OF_RECIPROCAL(d));
}

static inline double strake_quick_quotient(double n, double d, uint *doubt)
{
    if (doubt == 0) {
        return n / d;
    }
    strake_add_doubt(doubt,
                     as_ulong(n) == 0ul ? 0u : strake_doubt_of(STRAKE_HEAD(n) & 0x7fffffffu));
    const double y = strake_quick_reciprocal(d, doubt);
    const double first = n * y;
    return fma(fma(-d, first, n), y, first);
}

/* The same of a d that is not negative, or of 1 and a little more where d is below 2^-1042, 0 above all: that is no doubt. */
static inline double strake_quick_reciprocal_up(double d, uint *doubt)
{
    if (doubt == 0) {
        return 1.0 / d;
    }
    const uint head = STRAKE_HEAD(d) != 0u ? STRAKE_HEAD(d) : 0x3ff00000u;
    strake_add_doubt(doubt, strake_doubt_of(head));
    const double safe = as_double((ulong)head << 32 | (as_ulong(d) & 0xfffffffful));
    return strake_nearer(safe, STRAKE_SEED_OF_RECIPROCAL(safe));
}

static inline double strake_root_from(double x, double y)
{
    const double e = fma(-x, y * y, 1.0);
    const double z = fma(fma(e, 0.375, 0.5), e * y, y);
    const double s = x * z;
    return fma(fma(-s, s, x), 0.5 * z, s);
}

/* The root of x > 0: 0 leaves a doubt. */
static inline double strake_quick_root_up(double x, uint *doubt)
{
    if (doubt == 0) {
        return sqrt(x);
    }
    strake_add_doubt(doubt, strake_doubt_of(STRAKE_HEAD(x)));
    return strake_root_from(x, STRAKE_SEED_OF_ROOT(x));
}

/* The seed of 0 is that of the least normal number; its root is 0 all the same. */
static inline double strake_quick_root(double x, uint *doubt)
{
    if (doubt == 0) {
        return sqrt(x);
    }
    const uint head = STRAKE_HEAD(x);
    strake_add_doubt(doubt, as_ulong(x) == 0ul ? 0u : strake_doubt_of(head));
    const uint normal = head > 0x100000u ? head : 0x100000u;
    return strake_root_from(
        x, STRAKE_SEED_OF_ROOT(as_double((ulong)normal << 32 | (as_ulong(x) & 0xfffffffful))));
}

#define STRAKE_DOUBT uint *const doubt,
#define STRAKE_DIVIDE(n, d) strake_quick_quotient(n, d, doubt)
#define STRAKE_DIVIDE_WHERE(used, n, d) strake_quick_quotient(n, (used) ? (d) : 1.0, doubt)
#define STRAKE_INVERT_UP(d) strake_quick_reciprocal_up(d, doubt)
#define STRAKE_ROOT(x) strake_quick_root(x, doubt)
#define STRAKE_ROOT_UP(x) strake_quick_root_up(x, doubt)
