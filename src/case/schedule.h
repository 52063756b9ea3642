/** @file schedule.h A rate over time. */
#ifndef STRAKE_CASE_SCHEDULE_H
#define STRAKE_CASE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A rate over time: constant in pieces, so that steps which end where a piece does lose nothing. Rates that change
 * linearly between points are STRAKE_SCHEDULE_STEPS pieces between each two, with the same volume.
 */

enum { STRAKE_SCHEDULE_STEPS = 100 };

/** Plain data; all zero: nothing ever flows. */
typedef struct strake_schedule {
    int64_t pieces, room;
    /** when each piece begins, ascending [s]; the last one has no end, before the first: 0 */
    double *time;
    double *rate; /**< of each, >= 0 [m3/s] */
} strake_schedule;

/**
 * Appends a piece; one with the rate of the one before it is joined to that.
 * @return false without memory
 */
bool strake_schedule_add(strake_schedule *schedule, double time, double rate);

/**
 * Pieces from points: the rate of a point lasts until the next one, or goes linearly to it; that of the last point
 * stays. @param[in] time  ascending @param[in] rate  >= 0 @return false without memory
 */
bool strake_schedule_points(strake_schedule *schedule, int64_t points, const double *time,
                            const double *rate, bool is_linear);

/** Why points are none: "the times are not ascending: 5 follows 7 (point 2)", or NULL. Returns @p buffer. */
const char *strake_schedule_wrong(int64_t points, const double *time, const double *rate,
                                  char *buffer, size_t size);

/** The rate from @p time on, until strake_schedule_next() [m3/s]. */
double strake_schedule_rate(const strake_schedule *schedule, double time);

/** The first time after @p time at which the rate changes [s]; infinity: it stays. */
double strake_schedule_next(const strake_schedule *schedule, double time);

/** What flows between two times [m3]. */
double strake_schedule_volume(const strake_schedule *schedule, double from, double to);

/** Frees the pieces. */
void strake_schedule_free(strake_schedule *schedule);

#endif
