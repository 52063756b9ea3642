/* The clock: forward, in seconds, and dates as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static void it_goes_forward_and_sleeps_as_long_as_asked(void **state)
{
    (void)state;
    const double begin = strake_clock_seconds();
    strake_clock_sleep(0.02);
    const double end = strake_clock_seconds();
    assert_true(end - begin >= 0.02);
    assert_true(end - begin < 60.0);
}

static void a_moment_to_come_is_a_time_of_day(void **state)
{
    (void)state;
    for (int k = 0; k < 100; k++) {
        const double before = strake_clock_seconds();
        const struct timespec t = strake_clock_after(0.033 * k);
        const double after = strake_clock_seconds();
        const double then = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        assert_true(t.tv_nsec >= 0 && t.tv_nsec < 1000000000L);
        assert_true(then >= before + 0.033 * k - 1e-6 && then <= after + 0.033 * k + 1e-6);
    }
}

static void dates_are_text(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(strake_clock_utc(0, text), "1970-01-01T00:00:00Z");
    assert_string_equal(strake_clock_utc(1709210096, text), "2024-02-29T12:34:56Z");
    assert_string_equal(strake_clock_utc(-1, text), "1969-12-31T23:59:59Z");
    assert_string_equal(strake_clock_utc(INT64_MAX, text), "");
    assert_true(strake_clock_date() > 1700000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_forward_and_sleeps_as_long_as_asked),
        cmocka_unit_test(a_moment_to_come_is_a_time_of_day),
        cmocka_unit_test(dates_are_text),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
