/** @file clock.h Seconds of a clock that only goes forward. */
#ifndef STRAKE_AUTOTUNE_CLOCK_H
#define STRAKE_AUTOTUNE_CLOCK_H

#include <time.h>

static inline double strake_tune_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
