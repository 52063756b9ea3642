/**
 * @file times.h
 * What is known of the time that a part takes for a step, from noisy observations: a line over its slabs
 * and how far that may be off. Pure functions of what was observed.
 *
 * Observations with one number of slabs are a sample, whose level is the mean of its middle half. One
 * beyond what noise explains is put aside: with the next one it is a disturbance that has passed, or the
 * part has changed, and what was known is scaled. The noise is the median of what observations were off.
 */
#ifndef STRAKE_TIMES_H
#define STRAKE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STRAKE_TIMES_SAMPLES = 8, /* numbers of slabs that are remembered */
    STRAKE_TIMES_KEPT = 16,   /* observations of each */
    STRAKE_TIMES_OFFS = 15    /* for the noise */
};

/** What was observed with one number of slabs. */
typedef struct strake_times_sample {
    int64_t slabs;
    int count;
    double seconds[STRAKE_TIMES_KEPT]; /**< per step, newest last */
} strake_times_sample;

/** All zero: nothing was observed yet. */
typedef struct strake_times {
    int samples;
    strake_times_sample sample[STRAKE_TIMES_SAMPLES]; /**< newest last */
    int offs;
    double off[STRAKE_TIMES_OFFS]; /**< relative, without sign, newest last */
    /** the last observation as a ratio to what was expected, put aside; 0: it was not */
    double aside;
    bool warned; /**< an unusually long time as the next one is a change */
} strake_times;

/** Seconds of a step: start + slope * slabs. */
typedef struct strake_times_line {
    double start, slope;
    /** of the seconds for the newest number of slabs, relative, one standard deviation */
    double error;
} strake_times_line;

/** What a step takes by several trials, and how far that may be off. */
typedef struct strake_forecast {
    double seconds; /**< per step: the median of the trials */
    double low,
        high; /**< per step: the shortest trial less the part that was waited for, the longest */
    double waited; /**< part of the time of all trials that threads waited for a processor */
    int trials;
} strake_forecast;

/**
 * @param[in] seconds  per step, of each trial
 * @param[in] waited   of these, seconds that its threads on average waited for a processor
 * @param[in] count    of trials, 1 to STRAKE_TIMES_KEPT
 */
strake_forecast strake_forecast_of(const double *seconds, const double *waited, int count);

/**
 * Adds an observation. @param[in] slabs, seconds  per step; both > 0
 * @return false if it was put aside: it is better to wait for the next one than to act
 */
bool strake_times_add(strake_times *t, int64_t slabs, double seconds);

/** Says that steps began to take longer: if the next observation does, too, it is not put aside first. */
void strake_times_warn(strake_times *t);

/** The line; all zero if nothing was observed. */
strake_times_line strake_times_fit(const strake_times *t);

/** Seconds for some slabs, 0 for none. */
double strake_times_at(const strake_times_line *line, int64_t slabs);

#endif
