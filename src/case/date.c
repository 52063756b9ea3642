#include "case/date.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "case/input.h"

typedef enum calendar { STANDARD, PROLEPTIC, NO_LEAP, ALL_30, UNKNOWN } calendar;

static calendar calendar_of(const char *name)
{
    static const struct {
        const char *name;
        calendar is;
    } known[] = {{"", STANDARD},          {"standard", STANDARD},
                 {"gregorian", STANDARD}, {"proleptic_gregorian", PROLEPTIC},
                 {"noleap", NO_LEAP},     {"365_day", NO_LEAP},
                 {"360_day", ALL_30}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(known[k].name, name) == 0) {
            return known[k].is;
        }
    }
    return UNKNOWN;
}

static bool is_leap(calendar is, int64_t year)
{
    return is != NO_LEAP && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_of_year(calendar is, int64_t year)
{
    return is == ALL_30 ? 360 : is_leap(is, year) ? 366 : 365;
}

static int64_t days_of_month(calendar is, int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return is == ALL_30 ? 30 : days[month - 1] + (month == 2 && is_leap(is, year) ? 1 : 0);
}

/* Days and seconds of a day after the date of a unit. @return whether the clock is that of UTC */
static bool read_origin(const char *unit, int *year, int *month, int *day, double *seconds)
{
    int hour = 0, minute = 0, used = 0;
    double second = 0.0;
    const char *at = strstr(unit, " since ");
    if (at == NULL || sscanf(at + strlen(" since "), "%d-%d-%d%n", year, month, day, &used) != 3 ||
        *month < 1 || *month > 12 || *day < 1 || *day > 31) {
        return false;
    }
    at += strlen(" since ") + (size_t)used;
    if (*at == 'T' || *at == ' ') {
        if (sscanf(at + 1, "%d:%d%n", &hour, &minute, &used) == 2) {
            char *end = NULL;
            at += 1 + used;
            second = *at == ':' ? strake_number_read(at + 1, &end) : 0.0;
            at = end != NULL ? end : at;
        }
    }
    *seconds = 3600.0 * hour + 60.0 * minute + second;
    at += strspn(at, " ");
    return *at == '\0' || strcmp(at, "Z") == 0 || strcmp(at, "UTC") == 0 ||
           strcmp(at, "+0:00") == 0 || strcmp(at, "+00:00") == 0 || strcmp(at, "0:00") == 0 ||
           strcmp(at, "00:00") == 0;
}

bool strake_date_of(const char *unit, const char *name, double time, char *out, size_t size)
{
    static const double of_day = 86400.0, far = 1e7, thousandth = 1e-3;
    const calendar is = calendar_of(name);
    int from = 0, month = 0, day = 0;
    double seconds = 0.0;
    out[0] = '\0';
    if (is == UNKNOWN || !read_origin(unit, &from, &month, &day, &seconds) ||
        (is == STANDARD && from < 1583)) { /* the Gregorian calendar begins in October 1582 */
        return false;
    }
    seconds += time * strake_input_axis_seconds(unit);
    const double whole = floor(seconds + 0.5);
    seconds = fabs(seconds - whole) < thousandth ? whole : seconds;
    double days = floor(seconds / of_day);
    if (!(days >= 0.0 && days < far)) {
        return false;
    }
    seconds -= days * of_day;
    int64_t left = (int64_t)days + day - 1, year = from;
    for (int m = 1; m < month; m++) {
        left += days_of_month(is, year, m);
    }
    while (left >= days_of_year(is, year)) {
        left -= days_of_year(is, year++);
    }
    for (month = 1; left >= days_of_month(is, year, month); month++) {
        left -= days_of_month(is, year, month);
    }
    const int minutes = (int)(seconds / 60.0);
    const double rest = seconds - 60.0 * minutes;
    (void)strake_number_print(out, size, "%04d-%02d-%02d %02d:%02d:%0*.*f", (int)year, month,
                              (int)left + 1, minutes / 60, minutes % 60,
                              rest == floor(rest) ? 2 : 6, rest == floor(rest) ? 0 : 3, rest);
    return true;
}
