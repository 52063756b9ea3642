#include "base/clock.h"

static const long giga = 1000000000L;

static double read_clock(clockid_t which)
{
    struct timespec now;
    (void)clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double strake_clock_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double strake_clock_work(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Whole seconds, and what is left of them. */
static struct timespec interval(double seconds)
{
    const time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)((seconds - (double)whole) * (double)giga)};
}

void strake_clock_sleep(double seconds)
{
    const struct timespec t = interval(seconds);
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

struct timespec strake_clock_after(double seconds)
{
    const struct timespec more = interval(seconds);
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += more.tv_sec + (t.tv_nsec + more.tv_nsec) / giga;
    t.tv_nsec = (t.tv_nsec + more.tv_nsec) % giga;
    return t;
}

int64_t strake_clock_date(void)
{
    return (int64_t)time(NULL);
}

const char *strake_clock_utc(int64_t date, char text[32])
{
    const time_t seconds = (time_t)date;
    struct tm utc;
    text[0] = '\0';
    if (gmtime_r(&seconds, &utc) != NULL) {
        (void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    return text;
}
