/** @file scan_events.h The eruptions of a scan: where they may be, how much lava comes in how long a time, and how probable. */
#ifndef STRAKE_SCAN_EVENTS_H
#define STRAKE_SCAN_EVENTS_H

#include "case/case.h"
#include "program/scan_values.h"

/** Places where lava may come up, with weights: how probable each is beside the others. */
typedef struct strake_scan_vents {
    int64_t count;
    double *x, *y, *weight; /**< on the map [m] */
} strake_scan_vents;

/**
 * Reads places of vents: a grid in ESRI ASCII whose cells above 0 are weights of their middles; points of GeoJSON or another
 * format (features.h), whose property `weight` is that of each point of a feature; or a text in columns x, y and weight. A
 * vent without a weight has 1. Columns have these names in the first line, or this order.
 * @param[in] which  the case, which points must lie in; NULL unless strake_features_are_in(path)
 * @param[out] out  zeroed by the caller; strake_scan_vents_free() in any case
 * @return STRAKE_ERR_USAGE with file and line, STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_vents_read(const char *path, const strake_case *which,
                                     strake_scan_vents *out, strake_error *error);
void strake_scan_vents_free(strake_scan_vents *vents);

/**
 * Reads classes of eruptions, a text with the columns class, volume [m3], duration [s], curve and probability, and, if the
 * runs of classes end at different times, end [s]; and adds them as the first axis, "class": with draws a class is drawn
 * for each by the probabilities, without each is a value, whose weight its probability is. Curves over the time t of a
 * duration T, each with the class's volume V as its integral:
 *   constant    V / T
 *   triangle:F  from 0 at t = 0 to 2 V / T at t = F T, and back to 0 at T; 0 <= F < 1, and 1/4 if it is not said, as by
 *               Del Negro et al., Lava flow hazards at Mount Etna, Scientific Reports 3, 3493, 2013
 *   falling     from 2 V / T at t = 0 to 0 at T
 *   FILE        of a time and a rate in each line, each rate until the next time; the last is 0. Both are relative
 * @return STRAKE_ERR_USAGE with file and line, STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_classes_read(const char *path, const strake_scan_draws *draws,
                                       strake_scan_values *out, strake_error *error);

/**
 * Adds keys vents[0].x and vents[0].y before those of --over: with draws a vent is drawn for each by the weights, without every
 * vent is a draw, which has its weight in maps. @return STRAKE_ERR_MEMORY
 */
strake_status strake_scan_vents_add(const strake_scan_vents *vents, strake_scan_draws *draws,
                                    strake_scan_values *out, strake_error *error);

#endif
