/*
 * cl/quotient.h in one precision, on the host: test_quotient.c includes this with STRAKE_REAL_SINGLE
 * or without. The seed of a quotient is off by as much as a device may be.
 */
#ifdef STRAKE_REAL_SINGLE
typedef float single_real;
#define real single_real
#define REAL(x) x##f
#define fma fmaf
#define fabs fabsf
#define NAME(name) name##_single
#define DIGITS 24
#define LEAST_EXPONENT (-149)
#else
typedef double double_real;
#define real double_real
#define REAL(x) x
#define NAME(name) name##_double
#define DIGITS 53
#define LEAST_EXPONENT (-1074)
#endif
#define strake_ratio NAME(strake_ratio)
#define strake_divided NAME(strake_divided)
#define strake_seed NAME(strake_seed)
#define strake_seed_error NAME(strake_seed_error)
#define strake_refined NAME(strake_refined)
#define strake_nearer NAME(strake_nearer)

typedef struct strake_ratio {
    real n, d;
} strake_ratio;

#include "cl/quotient.h"
#ifndef STRAKE_REAL_SINGLE
#include "cl/quick.h"
#endif

static void NAME(check_pair)(real n, real d)
{
    const strake_ratio ratio = {n, d};
    const real q = strake_refined(ratio);
    const real expected = strake_divided(ratio);
#ifndef STRAKE_REAL_SINGLE
    check_quick(n, d);
#endif
    if (STRAKE_IS_REFINED(ratio, q)) {
        refined++;
        if (memcmp(&q, &expected, sizeof q) != 0) {
            fail_msg("%a / %a gives %a, not %a, from a seed off by %d units", (double)n, (double)d,
                     (double)q, (double)expected, seed_error);
        }
    } else {
        left_alone++;
    }
}

/*
 * Quotients as near as possible to the middle of two numbers: for odd d there is an odd m with
 * n 2^(DIGITS + 1) = m d + c for a small c, so that n/d is next to the middle m.
 */
static void NAME(check_hard)(uint64_t d, uint64_t *state)
{
    uint64_t inverse = d; /* of d, modulo 2^(DIGITS + 1) */
    for (int k = 0; k < 6; k++) {
        inverse *= 2 - d * inverse;
    }
    const int64_t size = (int64_t)(random_bits(state) % 64) * 2 + 1;
    const int64_t c = random_bits(state) % 2 == 0 ? size : -size;
    const uint64_t m = inverse * (uint64_t)-c & ((UINT64_C(1) << (DIGITS + 1)) - 1);
    uint64_t n = (uint64_t)(((wide)m * d + (wide)c) >> (DIGITS + 1));
    while (n > 0 && n >> (DIGITS - 1) == 0) {
        n <<= 1;
    }
    if (n > 0 && n >> DIGITS == 0) {
        const int scale = (int)(random_bits(state) % 60);
        NAME(check_pair)((real)n, (real)d);
        NAME(check_pair)(-(real)n, (real)d);
        NAME(check_pair)((real)ldexp((double)n, -DIGITS), (real)ldexp((double)d, -scale));
    }
}

static void NAME(check_tail)(uint64_t n_bits, uint64_t d_bits)
{
    const real n = (real)ldexp((double)(n_bits >> 11), LEAST_EXPONENT + (int)(n_bits % 100) - 50);
    const real d =
        (real)ldexp((double)(d_bits >> 1 | UINT64_C(1) << 62), (int)(d_bits % 110) - 163);
    const real epsilon = REAL(1e-15);
    const real least = (real)ldexp((double)(n_bits % 4096), LEAST_EXPONENT);
    const strake_ratio ratio = {n, d};
    long before = refined;
    NAME(check_pair)(n, d);
    /* whenever the quotient is a normal number, and the seed as it should be */
    if (fabs(strake_divided(ratio)) >= STRAKE_LEAST_QUOTIENT &&
        STRAKE_SEED_IS_GOOD(strake_seed_error(STRAKE_SCALED_DENOMINATOR(d)))) {
        assert_int_equal(refined, before + 1);
    }
    before = refined;
    NAME(check_pair)(least, epsilon);
    if (STRAKE_SEED_IS_GOOD(strake_seed_error(STRAKE_SCALED_DENOMINATOR(epsilon)))) {
        assert_int_equal(refined, before + 1);
    }
}

/* Quotients in the middle of two subnormal numbers. */
static void NAME(check_tie)(uint64_t bits)
{
    const double odd = (double)(bits % 1024 * 2 + 1);
    const int power = (int)(bits >> 10) % 12;
    const double middle = (double)((bits >> 14) % 512) + 0.5;
    const real d = (real)ldexp(odd, power + 1);
    NAME(check_pair)((real)ldexp(odd * middle, LEAST_EXPONENT + power + 1), d);
    NAME(check_pair)((real)ldexp(-odd * (2 * middle), LEAST_EXPONENT), (real)(2 * odd));
    NAME(check_pair)
    ((real)ldexp(odd * middle, LEAST_EXPONENT + DIGITS - 20), (real)ldexp(odd, DIGITS - 20));
}

/* The same for odd parts of all lengths: numerators of 2 to 52 bits, denominators with as many zeros. */
static void NAME(check_long_tie)(uint64_t *state)
{
    const int length = 1 + (int)(random_bits(state) % (DIGITS - 3));
    const int rest = DIGITS - 1 - length;
    const uint64_t odd = random_bits(state) >> (64 - length) | 1;
    const uint64_t twice =
        random_bits(state) >> (64 - 1 - (int)(random_bits(state) % (uint64_t)rest)) | 1;
    const real d = (real)ldexp((double)odd, 1 - (int)(random_bits(state) % 3));
    NAME(check_pair)((real)ldexp((double)odd * (double)twice, LEAST_EXPONENT), d);
    NAME(check_pair)
    (-(real)ldexp((double)odd * (double)twice, LEAST_EXPONENT), (real)(2.0 * (double)odd));
}

/* Quotients of a few of the least numbers, many in or next to the middle of two of them. */
static void NAME(check_subnormal)(uint64_t *state)
{
    const uint64_t bits = random_bits(state);
    const uint64_t m = bits % 4096 * 2 + 1; /* m / 2 least numbers */
    const uint64_t d = random_bits(state) >> (65 - DIGITS) | UINT64_C(1) << (DIGITS - 2);
    const int scale = (int)(bits >> 32) % 20; /* of the denominator: 2^scale and more */
    const real n = (real)ldexp((double)(bits >> 20 & 4095), LEAST_EXPONENT);
    NAME(check_pair)(n, (real)ldexp((double)d, scale - DIGITS));
    NAME(check_pair)((real)ldexp((double)m, LEAST_EXPONENT), REAL(2.0));
    for (int away = -1; away <= 1; away++) {
        const real near = (real)(ldexp(1.0, DIGITS - 1) + away);
        NAME(check_pair)
        ((real)ldexp((double)m, LEAST_EXPONENT), (real)ldexp((double)near, scale - DIGITS + 2));
        NAME(check_pair)
        (-(real)ldexp((double)(m << (scale + 1)), LEAST_EXPONENT),
         (real)ldexp((double)near, scale - DIGITS + 3));
    }
}

static void NAME(check_all)(uint64_t *state)
{
    const uint64_t ones = (UINT64_C(1) << DIGITS) - 1;
    for (int k = 0; k < DRAWS; k++) {
        NAME(check_hard)
        (random_bits(state) >> (64 - DIGITS) | UINT64_C(1) << (DIGITS - 1) | 1, state);
        /* any bits: also infinite, NaN, denormal and zero */
        real n;
        real d;
        const uint64_t bits[2] = {random_bits(state), random_bits(state)};
        memcpy(&n, &bits[0], sizeof n);
        memcpy(&d, &bits[1], sizeof d);
        NAME(check_pair)(n, fabs(d));
        NAME(check_pair)
        ((real)ldexp((double)(int64_t)bits[0], (int)(bits[1] % 200) - 200),
         (real)ldexp((double)(bits[1] >> 1 | 1), (int)(bits[0] % 120) - 150));
        NAME(check_pair)(k % 2 == 0 ? REAL(0.0) : -REAL(0.0), fabs(d));
        /* the thin tails of a field: numerators down to the least, denominators above epsilon's square */
        NAME(check_tail)(bits[0], bits[1]);
        NAME(check_subnormal)(state);
        NAME(check_tie)(random_bits(state));
        NAME(check_long_tie)(state);
    }
    for (int k = 0; k < 4000; k++) {
        /* denominators of ones only, for which 1/d is next to the middle of two numbers */
        NAME(check_hard)(ones - 2 * (uint64_t)(k / 40), state);
        NAME(check_pair)((real)ldexp(1.0, k % 40 - 20), (real)ldexp((double)ones, k / 40 - 90));
    }
}

#undef real
#undef REAL
#undef fma
#undef fabs
#undef NAME
#undef DIGITS
#undef LEAST_EXPONENT
#undef strake_ratio
#undef strake_divided
#undef strake_seed
#undef strake_seed_error
#undef strake_refined
#undef strake_nearer
#undef STRAKE_HEAD
#undef STRAKE_LEAST_DENOMINATOR
#undef STRAKE_MOST_DENOMINATOR
#undef STRAKE_SCALED_NUMERATOR
#undef STRAKE_SCALED_DENOMINATOR
#undef STRAKE_SEED_IS_GOOD
#undef STRAKE_LEAST_QUOTIENT
#undef STRAKE_IS_NO_TIE
#undef STRAKE_WITH_SIGN
#undef STRAKE_IS_REFINED
