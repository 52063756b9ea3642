/*
 * Powers of two and cube roots of cl/elementary.h beside the C library's: a few units in the last place, exact
 * where they must be; row loops of all instruction sets give the bits of the scalar one (test_cpu.c).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cl/real.h"

#include "cl/elementary.h"

/* The other precision, with names of its own. */
#undef STRAKE_CL_ELEMENTARY_H
#undef STRAKE_WHOLE
#undef STRAKE_MANTISSA
#undef STRAKE_MOST_POWER
#undef STRAKE_ROOT_SHIFT
#undef STRAKE_ROOT_WORD
#undef STRAKE_ROOT_WHOLE
#undef STRAKE_ROOT_START
#undef STRAKE_MOST_EXPONENT
#undef STRAKE_LEAST_EXPONENT
#undef STRAKE_LN2_HIGH
#undef STRAKE_LN2_LOW
#undef STRAKE_QUARTER_1
#undef STRAKE_QUARTER_2
#undef STRAKE_QUARTER_3
#undef STRAKE_QUARTER_4
#undef STRAKE_BIAS
#undef STRAKE_SIGN
#undef STRAKE_ROOT_HALF
#undef STRAKE_SMALLEST
#undef STRAKE_INFINITE
#undef STRAKE_EXP
#undef STRAKE_LOG
#undef STRAKE_SIN
#undef STRAKE_COS
#undef REAL
#define STRAKE_REAL_SINGLE
#define REAL(x) x##f
#define real float
#define strake_word uint32_t
#define strake_bits strake_bits_single
typedef union strake_bits {
    float number;
    uint32_t word;
} strake_bits;
#define strake_power_of_part power_of_part_single
#define strake_power_of_two power_of_two_single
#define strake_inverse_cube_root inverse_cube_root_single
#define strake_scale_of scale_of_single
#define strake_exponential exponential_single
#define strake_logarithm logarithm_single
#define strake_turned_sine turned_sine_single
#define strake_sine sine_single
#define strake_cosine cosine_single
#include "cl/elementary.h"
#undef real
#undef strake_power_of_two
#undef strake_inverse_cube_root
#undef strake_scale_of
#undef strake_exponential
#undef strake_logarithm
#undef strake_turned_sine
#undef strake_sine
#undef strake_cosine

static uint64_t seed = 11;

static double uniform(double low, double high)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (double)(seed >> 11) * 0x1p-53 * (high - low);
}

static void expect_near(double found, double expected, double epsilon, double units, double x)
{
    if (!(fabs(found - expected) <= units * epsilon * fabs(expected))) {
        fail_msg("at %.17g: found %.17g, expected %.17g", x, found, expected);
    }
}

static void powers_are_those_of_the_library(void **state)
{
    (void)state;
    for (int k = 0; k < 400000; k++) {
        const double x = uniform(-1019.0, 1019.0) * (k % 2 == 0 ? 1.0 : 0.01);
        const float y = (float)uniform(-120.0, 120.0);
        expect_near(strake_power_of_two(x), exp2(x), 0x1p-53, 3.0, x);
        expect_near((double)power_of_two_single(y), exp2((double)y), 0x1p-24, 3.0, (double)y);
    }
    for (int k = -1000; k <= 1000; k++) {
        assert_true(strake_power_of_two(k) == ldexp(1.0, k));
    }
    for (int k = -120; k <= 120; k++) {
        assert_true(power_of_two_single((float)k) == ldexpf(1.0F, k));
    }
    assert_true(strake_power_of_two(1e9) == ldexp(1.0, 1020));
    assert_true(strake_power_of_two(-1e9) == ldexp(1.0, -1020));
    assert_true(power_of_two_single(1e9F) == ldexpf(1.0F, 125));
}

static void roots_are_those_of_the_library(void **state)
{
    (void)state;
    for (int k = 0; k < 400000; k++) {
        const double x = exp2(uniform(-20.0, 100.0));
        const float y = (float)exp2(uniform(-20.0, 99.0));
        expect_near(strake_inverse_cube_root(x), 1.0 / cbrt(x), 0x1p-53, 6.0, x);
        expect_near((double)inverse_cube_root_single(y), 1.0 / cbrt((double)y), 0x1p-24, 6.0,
                    (double)y);
    }
    /* Else a step of no time would cool. */
    assert_true(strake_inverse_cube_root(1.0) == 1.0);
    assert_true(inverse_cube_root_single(1.0F) == 1.0F);
}

/* Sines of large angles have errors of the reduced angle's last place, beside zeros more of them in the result's. */
static void formulas_have_those_of_the_library(void **state)
{
    (void)state;
    for (int k = 0; k < 400000; k++) {
        const double part = k % 2 == 0 ? 1.0 : 0.01;
        const double x = uniform(-700.0, 700.0) * part, turn = uniform(-1e5, 1e5) * part;
        const float y = (float)(uniform(-86.0, 86.0) * part);
        const float angle = (float)(uniform(-900.0, 900.0) * part);
        const double positive = exp2(uniform(-900.0, 900.0) * part);
        const float above = (float)exp2(uniform(-120.0, 120.0) * part);
        expect_near(strake_exponential(x), exp(x), 0x1p-53, 3.0, x);
        expect_near((double)exponential_single(y), exp((double)y), 0x1p-24, 3.0, (double)y);
        expect_near(strake_logarithm(positive), log(positive), 0x1p-53, 4.0, positive);
        expect_near((double)logarithm_single(above), log((double)above), 0x1p-24, 4.0,
                    (double)above);
        assert_true(fabs(strake_sine(turn) - sin(turn)) < 3.0 * 0x1p-53);
        assert_true(fabs(strake_cosine(turn) - cos(turn)) < 3.0 * 0x1p-53);
        assert_true(fabs((double)sine_single(angle) - sin((double)angle)) < 3.0 * 0x1p-24);
        assert_true(fabs((double)cosine_single(angle) - cos((double)angle)) < 3.0 * 0x1p-24);
    }
}

static void formulas_have_ends(void **state)
{
    (void)state;
    assert_true(strake_exponential(0.0) == 1.0 && strake_logarithm(1.0) == 0.0);
    assert_true(strake_sine(0.0) == 0.0 && strake_cosine(0.0) == 1.0);
    assert_true(isinf(strake_exponential(710.0)) && isinf(strake_exponential((double)INFINITY)));
    assert_true(strake_exponential(-710.0) == 0.0 && strake_exponential(-(double)INFINITY) == 0.0);
    assert_true(isfinite(strake_exponential(709.7)) && strake_exponential(-708.0) > 0.0);
    assert_true(strake_logarithm(0.0) == -(double)INFINITY && isnan(strake_logarithm(-1.0)));
    assert_true(strake_logarithm((double)INFINITY) == (double)INFINITY);
    assert_true(isnan(strake_exponential((double)NAN)) && isnan(strake_logarithm((double)NAN)) &&
                isnan(strake_sine((double)NAN)) && isnan(strake_cosine((double)INFINITY)));
    assert_true(isinf(exponential_single(89.0F)) && exponential_single(-90.0F) == 0.0F);
    assert_true(logarithm_single(0.0F) == -INFINITY && isnan(logarithm_single(-1.0F)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_those_of_the_library),
        cmocka_unit_test(roots_are_those_of_the_library),
        cmocka_unit_test(formulas_have_those_of_the_library),
        cmocka_unit_test(formulas_have_ends),
    };
    return cmocka_run_group_tests_name("powers", tests, NULL, NULL);
}
