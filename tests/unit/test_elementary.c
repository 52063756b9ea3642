/* Sine, cosine and exponential: close to the C library's, and with the same bits on every machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/elementary.h"
#include "base/hash.h"

static uint64_t seed = 7;

/* Uniform in [-1, 1). */
static double number(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1.0;
}

/* The C library may itself be off by one, on the other side. */
static void expect_close(double found, double expected, double x)
{
    const double ulp = nextafter(fabs(expected), INFINITY) - fabs(expected);
    if (!(fabs(found - expected) <= ulp)) {
        fail_msg("at %.17g: found %.17g, expected %.17g", x, found, expected);
    }
}

static void values_are_those_of_the_library(void **state)
{
    static const double range[] = {1e-3, 0.8, 7.0, 1e3, 1.6e6};
    (void)state;
    for (int k = 0; k < 500000; k++) {
        const double x = number() * range[k % 5];
        const double y = number() * (k % 2 == 0 ? 1.0 : 708.0);
        expect_close(strake_sin(x), sin(x), x);
        expect_close(strake_cos(x), cos(x), x);
        expect_close(strake_exp(y), exp(y), y);
    }
}

/* Where the result is small the reduction needs many digits of pi. */
static void quarters_of_a_turn(void **state)
{
    (void)state;
    for (int k = 1; k < 1000000; k += 7) {
        const double x = k * 1.57079632679489661923;
        expect_close(strake_sin(x), sin(x), x);
        expect_close(strake_cos(x), cos(x), x);
    }
}

static void the_ends_of_the_range(void **state)
{
    (void)state;
    assert_true(strake_sin(0.0) == 0.0 && strake_cos(0.0) == 1.0 && strake_exp(0.0) == 1.0);
    assert_true(isnan(strake_sin(INFINITY)) && isnan(strake_cos(NAN)) && isnan(strake_exp(NAN)));
    assert_true(strake_exp(-INFINITY) == 0.0 && strake_exp(-1e300) == 0.0);
    assert_true(isinf(strake_exp(INFINITY)) && isinf(strake_exp(711.0)));
    assert_true(strake_exp(-745.0) == 0x1p-1074 && isfinite(strake_exp(709.7)));
    for (double x = 1e7; x < 1e300; x *= 1e7) {
        const double s = strake_sin(x), c = strake_cos(x);
        assert_true(fabs(s * s + c * c - 1.0) < 1e-15);
    }
    assert_true(fabs(strake_sin(1e7) - sin(1e7)) < 1e-9);
}

/* A change of these is a change of everybody's fields. */
static void stored_bits(void **state)
{
    double value[3][4096];
    (void)state;
    seed = 11;
    for (int k = 0; k < 4096; k++) {
        const double x = number();
        value[0][k] = strake_sin(9.0 * x);
        value[1][k] = strake_cos(900.0 * x);
        value[2][k] = strake_exp(30.0 * x);
    }
    assert_true(strake_sin(1.0) == 0x1.aed548f090ceep-1);
    assert_true(strake_cos(1.0) == 0x1.14a280fb5068cp-1);
    assert_true(strake_exp(1.0) == 0x1.5bf0a8b145769p+1);
    assert_true(strake_fnv1a(STRAKE_FNV_SEED, value, sizeof value) == UINT64_C(0xa16c4173aab85fe8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_library),
        cmocka_unit_test(quarters_of_a_turn),
        cmocka_unit_test(the_ends_of_the_range),
        cmocka_unit_test(stored_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
