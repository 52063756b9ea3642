/* Doubles from integers, as devices without doubles compute them: the bits of the machine's own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SPH_DOUBLES 0
#include "cl/sph_double.h"

static uint64_t seed = 11;

static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed ^ seed >> 29;
}

static sph_double word_of(double x)
{
    sph_double word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static double number_of(sph_double word)
{
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Any finite number, one of about another's size, one of few bits, or one of those below the normal ones. */
static double number(int kind, double like)
{
    const uint64_t bits = draw();
    double x = number_of(bits);
    switch (kind) {
    case 0:
        break;
    case 1:
        x = like * (1.0 + (double)(int64_t)(bits >> 40) * 0x1p-50) * (bits & 1 ? 1.0 : -1.0);
        break;
    case 2:
        x = ((double)(bits >> 56) - 128.0) * 0x1p-3;
        break;
    case 3:
        x = (bits & 1 ? 1.0 : -1.0) * number_of(bits >> 11);
        break;
    default:
        x = (double)(int64_t)bits * 0x1p-60;
    }
    return isfinite(x) ? x : 1.5;
}

static void expect(sph_double found, double expected, const char *what, double a, double b)
{
    if (found != word_of(expected)) {
        fail_msg("%a %s %a: found %a, expected %a", a, what, b, number_of(found), expected);
    }
}

static void operations_have_the_bits_of_the_machine(void **state)
{
    (void)state;
    for (int k = 0; k < 2000000; k++) {
        const double a = number(k % 5, 1.0), b = number(k / 5 % 5, a);
        const sph_double x = word_of(a), y = word_of(b);
        expect(SPH_PLUS(x, y), a + b, "+", a, b);
        expect(SPH_LESS(x, y), a - b, "-", a, b);
        expect(SPH_TIMES(x, y), a * b, "*", a, b);
        if (b != 0.0) {
            expect(SPH_OVER(x, y), a / b, "/", a, b);
        }
        expect(SPH_WHOLE(x), rint(a), "rint", a, 0.0);
        assert_int_equal(SPH_IS_UP(x) ? 1 : 0, a > 0.0 ? 1 : 0);
        const float single = (float)a;
        uint32_t bits = 0;
        memcpy(&bits, &single, sizeof bits);
        assert_int_equal(sph_to_single(x), bits);
        const int count = (int)(uint32_t)draw();
        expect(SPH_OF_COUNT(count), (double)count, "count", (double)count, 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_the_bits_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
