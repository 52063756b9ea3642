/** @file clock.h What time it is: for measuring, and for people. */
#ifndef STRAKE_CLOCK_H
#define STRAKE_CLOCK_H

#include <time.h>

/** A moment as "2026-11-22T21:58:20Z" in @p text; "" where it has no date. @return @p text */
const char *strake_clock_utc(time_t moment, char text[32]);

#endif
