/*
 * The refined quotients of OpenCL kernels (cl/quotient.h), computed here with the fma of the host: the
 * bits of n / d wherever the test for it says so, for seeds as bad as OpenCL allows them to be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 40000 };

typedef uint32_t uint;
typedef uint64_t ulong;
__extension__ typedef unsigned __int128 wide;

static int seed_error; /* units in the last place */
static long refined, left_alone;

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint as_uint(float x)
{
    uint bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float as_float(uint bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static ulong as_ulong(double x)
{
    ulong bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double as_double(ulong bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float reciprocal_of_a_device(float x)
{
    return as_float(as_uint(1.0F / x) + (uint)seed_error);
}

#define STRAKE_RECIPROCAL(x) reciprocal_of_a_device(x)

#include "tests/parity/quotient_body.h"
#define STRAKE_REAL_SINGLE
#include "tests/parity/quotient_body.h"

static void check_seeds(void (*check_all)(uint64_t *state))
{
    uint64_t state = 20141121;
    refined = 0;
    left_alone = 0;
    for (seed_error = -3; seed_error <= 2; seed_error++) {
        check_all(&state);
    }
    /* Much of what was drawn is in the range of the refinement, and much is not: ties, say. */
    assert_true(2 * refined > left_alone);
    assert_true(left_alone > DRAWS);
}

static void refined_quotients_have_the_bits_of_a_division(void **state)
{
    (void)state;
    check_seeds(check_all_double);
}

static void refined_single_quotients_have_the_bits_of_a_division(void **state)
{
    (void)state;
    check_seeds(check_all_single);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refined_quotients_have_the_bits_of_a_division),
        cmocka_unit_test(refined_single_quotients_have_the_bits_of_a_division),
    };
    return cmocka_run_group_tests_name("quotient", tests, NULL, NULL);
}
