/* Dates of the times in files, of the calendars that models have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "case/axes.h"

static void expect(const char *unit, const char *calendar, double time, const char *date)
{
    char text[64];
    assert_int_equal(strake_date_of(unit, calendar, time, text, sizeof text), date[0] != '\0');
    assert_string_equal(text, date);
}

static void times_become_dates(void **state)
{
    (void)state;
    expect("hours since 1900-01-01 00:00:00.0", "gregorian", 1104510.0, "2026-01-01 06:00:00");
    expect("days since 2000-02-28", "", 1.5, "2000-02-29 12:00:00");
    expect("days since 1900-02-28", "standard", 1.0, "1900-03-01 00:00:00");
    expect("days since 2000-02-28", "noleap", 1.0, "2000-03-01 00:00:00");
    expect("days since 2000-02-28", "360_day", 2.0, "2000-02-30 00:00:00");
    expect("seconds since 1970-01-01T00:00:00Z", "proleptic_gregorian", 1e9, "2001-09-09 01:46:40");
    expect("minutes since 1999-12-31 23:59:30", "", 1.0, "2000-01-01 00:00:30");
    expect("seconds since 2000-01-01 00:00:00", "", 1.6, "2000-01-01 00:00:01.600");
}

static void what_is_not_known_is_none(void **state)
{
    (void)state;
    expect("months since 2000-01-01", "", 1.0, "");
    expect("hours since 2000-01-01 00:00:00 +2:00", "", 1.0, "");
    expect("days since 0001-01-01", "standard", 1.0, "");
    expect("days since 2000-01-01", "julian", 1.0, "");
    expect("days since yesterday", "", 1.0, "");
    expect("hPa", "", 1.0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_become_dates),
        cmocka_unit_test(what_is_not_known_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
