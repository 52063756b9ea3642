/** @file scan_values.h What a scan varies: keys with lists of values, and the runs that they make together. */
#ifndef STRAKE_SCAN_VALUES_H
#define STRAKE_SCAN_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { STRAKE_SCAN_AXES = 8, STRAKE_SCAN_MOST = 1000000 /* runs */, STRAKE_SCAN_TEXT = 1536 };

/** One --over PATH=VALUES. */
typedef struct strake_scan_axis {
    char *path;
    int count;
    char **value;   /**< as a case says them */
    double *weight; /**< of each, in what is made of all runs; NULL: 1 */
    bool is_random; /**< the values are drawn: */
    double low, high;
    uint64_t seed;
    bool is_even;  /**< evenly distributed between low and high */
    bool is_drawn; /**< together with others: run k of the draws has value k of each */
} strake_scan_axis;

/** How keys are drawn together. */
typedef struct strake_scan_draws {
    int64_t count; /**< 0: none are */
    uint64_t seed;
    bool
        is_latin; /**< a Latin hypercube: of each key one value lies in each of so many parts that are as probable */
} strake_scan_draws;

/** Places where lava may come up, with weights: how probable each is beside the others. */
typedef struct strake_scan_vents {
    int64_t count;
    double *x, *y, *weight; /**< on the map [m] */
} strake_scan_vents;

/** All of them; the last one that is not drawn changes from run to run. Zero-initialise. */
typedef struct strake_scan_values {
    int axes;
    strake_scan_axis axis[STRAKE_SCAN_AXES];
    int64_t draws; /**< of keys that are drawn together, at least 1 */
    int64_t runs;  /**< every value with every other, and with every draw */
} strake_scan_values;

/**
 * Reads PATH=A,B,C (commas in brackets, braces and quotes are part of a value), PATH=FROM:TO:COUNT (both ends
 * among them, evenly) or PATH=random:LOW:HIGH:COUNT:SEED (evenly distributed, the same for the same seed;
 * strake_scan_axis_draw_integers() for keys that take integers). With draws also PATH=uniform:LOW:HIGH, normal:MEAN:SD,
 * lognormal:MEDIAN:FACTOR (the logarithm is normal, FACTOR that of one standard deviation) and of:FILE or of:FILE:COLUMN
 * (draw k has line k of a text in columns, which begins anew at its end). A key's draws depend on seed and path alone.
 * @param[in] overs  NULL-terminated
 * @param[out] out   strake_scan_values_free() in any case
 * @return STRAKE_ERR_USAGE with option and value, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_values_read(const char *const *overs, const strake_scan_draws *draws,
                                      strake_scan_values *out, strake_error *error);

/**
 * Reads places of vents: a grid in ESRI ASCII whose cells above 0 are weights of their middles, or a text in columns x, y and
 * weight (1 where there is none), by these names in the first line or in this order.
 * @param[out] out  zeroed by the caller; strake_scan_vents_free() in any case
 * @return STRAKE_ERR_USAGE with file and line, STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_vents_read(const char *path, strake_scan_vents *out, strake_error *error);
void strake_scan_vents_free(strake_scan_vents *vents);

/**
 * Adds keys vents[0].x and vents[0].y before any others: with draws a vent is drawn for each by the weights, without every
 * vent is a draw, which has its weight in maps. @return STRAKE_ERR_MEMORY
 */
strake_status strake_scan_vents_add(const strake_scan_vents *vents, strake_scan_draws *draws,
                                    strake_scan_values *out, strake_error *error);

/**
 * Draws the values of a random axis again as integers, each from LOW to HIGH with the same probability, out of the same
 * random numbers; what is drawn together is rounded. The axis stays as it is where there is no integer from LOW to HIGH. @return STRAKE_ERR_MEMORY
 */
strake_status strake_scan_axis_draw_integers(strake_scan_axis *axis, strake_error *error);

/**
 * Reads PATH=W,W,...: weights of the values of an axis, numbers >= 0, of which one is above 0.
 * @param[in] weights  NULL-terminated @return STRAKE_ERR_USAGE with option and value, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_weights_read(const char *const *weights, strake_scan_values *values,
                                       strake_error *error);

/** The product of the weights of a run's values. */
double strake_scan_weight(const strake_scan_values *values, int64_t run);

/** Which of an axis' values a run has. */
const char *strake_scan_value(const strake_scan_values *values, int64_t run, int axis);

void strake_scan_values_free(strake_scan_values *values);

#endif
