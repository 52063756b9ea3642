/*
 * The refined quotients of OpenCL kernels (cl/quotient.h), computed here with the fma of the host: the
 * bits of n / d wherever the test for it says so, for seeds as bad as OpenCL allows them to be. The same of
 * quotients and roots inside of point functions (cl/quick.h), for seeds from tables, too.
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

static float inverse_root_of_a_device(float x)
{
    return as_float(as_uint((float)(1.0 / sqrt((double)x))) + (uint)seed_error);
}

#define STRAKE_RECIPROCAL(x) reciprocal_of_a_device(x)
#define STRAKE_INVERSE_ROOT(x) inverse_root_of_a_device(x)

enum { FROM_SINGLE, FROM_TABLES, FROM_LOW_TABLES, FROM_HIGH_TABLES, SEEDS };

static int seed_kind;
static long sure, doubted;
static double strake_seed_of_reciprocal(double d);
static double strake_seed_of_root(double x);
static void check_quick(double n, double d);

/* The high word alone, from that of the operand, one unit off to either side. */
static double from_tables(double y)
{
    return as_double(((as_ulong(y) >> 32) + (ulong)(seed_kind == FROM_HIGH_TABLES) -
                      (ulong)(seed_kind == FROM_LOW_TABLES))
                     << 32);
}

static double reciprocal_seed(double d)
{
    return seed_kind == FROM_SINGLE
               ? strake_seed_of_reciprocal(d)
               : as_double(as_ulong(from_tables(1.0 / as_double(as_ulong(d) >> 32 << 32))) +
                           0x200000000u);
}

static double root_seed(double x)
{
    return seed_kind == FROM_SINGLE ? strake_seed_of_root(x)
                                    : from_tables(1.0 / sqrt(as_double(as_ulong(x) >> 32 << 32)));
}

#define STRAKE_SEED_OF_RECIPROCAL(d) reciprocal_seed(d)
#define STRAKE_SEED_OF_ROOT(x) root_seed(x)

#include "tests/parity/quotient_body.h"
#define STRAKE_REAL_SINGLE
#include "tests/parity/quotient_body.h"

static void check_one(const char *what, double n, double d, uint doubt, double found,
                      double expected)
{
    if (STRAKE_IS_DOUBTED(doubt)) {
        doubted++;
        return;
    }
    sure++;
    if (memcmp(&found, &expected, sizeof found) != 0) {
        fail_msg("%s of %a, %a gives %a, not %a; seed %d off by %d", what, n, d, found, expected,
                 seed_kind, seed_error);
    }
}

static void check_quick(double n, double d)
{
    for (seed_kind = 0; seed_kind < SEEDS; seed_kind++) {
        uint doubt = 0;
        double found = strake_quick_quotient(n, d, &doubt);
        check_one("quotient", n, d, doubt, found, n / d);
        doubt = 0;
        found = strake_quick_quotient(-n, -d, &doubt);
        check_one("quotient", -n, -d, doubt, found, n / d);
        doubt = 0;
        found = strake_quick_reciprocal(d, &doubt);
        check_one("reciprocal", 1.0, d, doubt, found, 1.0 / d);
        doubt = 0;
        found = strake_quick_root(d, &doubt);
        check_one("root", d, d, doubt, found, sqrt(d));
        doubt = 0;
        found = strake_quick_root_up(d, &doubt);
        check_one("root of more than 0", d, d, doubt, found, sqrt(d));
        doubt = 0;
        found = strake_quick_reciprocal_up(d, &doubt);
        if (!(fabs(d) < 0x1p-1042)) { /* below it is that of 1 and a little more */
            check_one("reciprocal of what is not negative", 1.0, d, doubt, found, 1.0 / d);
        }
    }
}

/*
 * Numbers whose root is next to the middle of two: x = m m + c for an odd m of 54 bits and a small c, x of 53 bits
 * and 54 or 55 zeros. Every c that is a square modulo 8 has four roots m, found bit by bit: all such x there are.
 */
static void check_hard_roots(int c)
{
    for (int zeros = 54; zeros <= 55; zeros++) {
        const ulong beyond = UINT64_C(1) << zeros;
        ulong m = 1;
        for (int bit = 3; bit < zeros; bit++) {
            m += ((m * m + (ulong)(int64_t)c) >> bit & 1) << (bit - 1);
        }
        const ulong roots[] = {m, 0 - m, m + beyond / 2, beyond / 2 - m};
        for (int k = 0; k < 8; k++) {
            const wide root = (roots[k / 2] & (beyond - 1)) + (ulong)(k % 2) * beyond;
            const wide square = root * root + 256U - (uint)(256 - c);
            if (root >> 53 != 1 || square >> zeros >> 52 != 1) {
                continue;
            }
            assert_true((square & (beyond - 1)) == 0);
            check_quick(1.0, ldexp((double)(ulong)(square >> zeros), zeros % 2 - 52));
        }
    }
}

static void roots_next_to_the_middle_of_two_numbers_have_their_bits(void **state)
{
    (void)state;
    sure = 0;
    for (seed_error = -3; seed_error <= 3; seed_error++) {
        for (int c = -255; c <= 255; c++) {
            if ((-c & 7) == 1) {
                check_hard_roots(c);
            }
        }
    }
    assert_true(sure > 7L * SEEDS * 64);
}

static bool leaves_doubt(double n, double d)
{
    uint doubt = 0;
    (void)strake_quick_quotient(n, d, &doubt);
    return STRAKE_IS_DOUBTED(doubt);
}

static bool root_leaves_doubt(double x)
{
    uint doubt = 0;
    (void)strake_quick_root(x, &doubt);
    return STRAKE_IS_DOUBTED(doubt);
}

static void doubts_are_left_where_operands_are_not_safe(void **state)
{
    (void)state;
    static const double unsafe[] = {
        -0.0,     0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-480, 0x1p481, 0x1.fffffffffffffp1023,
        INFINITY, NAN};
    static const double safe[] = {0x1p-479, 0x1.0000000000001p-479, 1.0, 0x1.fffffffffffffp480};
    seed_error = 0;
    for (size_t k = 0; k < sizeof unsafe / sizeof unsafe[0]; k++) {
        assert_true(leaves_doubt(unsafe[k], 1.0) && leaves_doubt(1.0, unsafe[k]));
        assert_true(root_leaves_doubt(unsafe[k]));
        check_quick(unsafe[k], unsafe[k]);
    }
    assert_true(leaves_doubt(1.0, 0.0) && !leaves_doubt(0.0, 3.0));
    assert_true(!root_leaves_doubt(0.0) && root_leaves_doubt(-1.0));
    uint doubt = 0;
    (void)strake_quick_root_up(0.0, &doubt);
    assert_true(STRAKE_IS_DOUBTED(doubt));
    /* What is next to 0 is inverted as about 1, whatever its lower word, and without a doubt; from there on it leaves one. */
    static const double tiny[] = {0.0, 0x1p-1074, 0x0.00000ffffffffp-1022};
    for (size_t k = 0; k < sizeof tiny / sizeof tiny[0]; k++) {
        doubt = 0;
        const double about_one = strake_quick_reciprocal_up(tiny[k], &doubt);
        assert_true(!STRAKE_IS_DOUBTED(doubt) && about_one > 0.999999 && about_one <= 1.0);
    }
    doubt = 0;
    (void)strake_quick_reciprocal_up(0x1p-1042, &doubt);
    assert_true(STRAKE_IS_DOUBTED(doubt));
    for (size_t n = 0; n < sizeof safe / sizeof safe[0]; n++) {
        assert_false(root_leaves_doubt(safe[n]));
        for (size_t d = 0; d < sizeof safe / sizeof safe[0]; d++) {
            assert_false(leaves_doubt(safe[n], safe[d]) || leaves_doubt(-safe[n], safe[d]));
            check_quick(safe[n], safe[d]);
            check_quick(0.0, safe[d]);
        }
    }
    /* Every exponent, and the numbers beside the powers of two. */
    for (int e = -1074; e < 1024; e++) {
        const double power = ldexp(1.0, e);
        check_quick(power, nextafter(power, INFINITY));
        check_quick(nextafter(power, 0.0), power);
        check_quick(1.0, nextafter(power, 0.0));
        check_quick(0.0, power);
    }
}

static void check_seeds(void (*check_all)(uint64_t *state))
{
    uint64_t state = 20141121;
    refined = 0;
    left_alone = 0;
    sure = 0;
    doubted = 0;
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
        cmocka_unit_test(roots_next_to_the_middle_of_two_numbers_have_their_bits),
        cmocka_unit_test(doubts_are_left_where_operands_are_not_safe),
    };
    return cmocka_run_group_tests_name("quotient", tests, NULL, NULL);
}
