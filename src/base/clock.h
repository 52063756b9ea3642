/** @file clock.h The one home of time: of clocks that measure, of sleep, and of dates for people. */
#ifndef STRAKE_CLOCK_H
#define STRAKE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** Seconds from some moment on, of a clock that only goes forward. */
double strake_clock_seconds(void);

/** Seconds that the calling thread has computed, whoever else did meanwhile. */
double strake_clock_work(void);

/** Sleeps for some seconds; a signal may end it sooner. */
void strake_clock_sleep(double seconds);

/** The moment in some seconds, for conditions whose clock is CLOCK_MONOTONIC. */
struct timespec strake_clock_after(double seconds);

/** The date and time of day, as seconds since 1970. */
int64_t strake_clock_date(void);

/** A date as "2026-11-22T21:58:20Z" in @p text, "" where it has none; its first 10 characters are the day. */
const char *strake_clock_utc(int64_t date, char text[32]);

#endif
