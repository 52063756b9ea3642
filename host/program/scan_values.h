/** @file scan_values.h What a scan varies: keys with lists of values, and the runs that they make together. */
#ifndef STRAKE_SCAN_VALUES_H
#define STRAKE_SCAN_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
    STRAKE_SCAN_AXES = 8,
    STRAKE_SCAN_MOST = 1000000, /* runs */
    STRAKE_SCAN_TEXT = 1536,
    STRAKE_SCAN_CLASSES = 32,
    STRAKE_SCAN_NUMBER = 40 /* bytes of a number as a text */
};

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

/** A class of eruptions: so much lava in so long a time. */
typedef struct strake_scan_class {
    char *name;
    char *rate;         /**< the value of vents[0].rate */
    char *end;          /**< that of time.end; NULL: the case's */
    double duration;    /**< of an eruption [s] */
    double probability; /**< beside the others */
} strake_scan_class;

/** All of them; the last one that is not drawn changes from run to run. Zero-initialise. */
typedef struct strake_scan_values {
    int axes;
    strake_scan_axis axis[STRAKE_SCAN_AXES];
    int64_t draws; /**< of keys that are drawn together, at least 1 */
    int64_t runs;  /**< every value with every other, and with every draw */
    int classes;   /**< 0: none; else the first axis is over them, by their names */
    strake_scan_class one_class[STRAKE_SCAN_CLASSES];
} strake_scan_values;

/**
 * Reads PATH=A,B,C (commas in brackets, braces and quotes are part of a value), PATH=FROM:TO:COUNT (both ends
 * among them, evenly) or PATH=random:LOW:HIGH:COUNT:SEED (evenly distributed, the same for the same seed;
 * strake_scan_axis_draw_integers() for keys that take integers). With draws also PATH=uniform:LOW:HIGH, normal:MEAN:SD,
 * lognormal:MEDIAN:FACTOR (the logarithm is normal, FACTOR that of one standard deviation) and of:FILE or of:FILE:COLUMN
 * (draw k has line k of a text in columns, which begins anew at its end). A key's draws depend on seed and path alone.
 * @param[in] overs  NULL-terminated
 * @param[out] out   with the axes of scan_events.h, if any; strake_scan_values_free() in any case
 * @return STRAKE_ERR_USAGE with option and value, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_values_read(const char *const *overs, const strake_scan_draws *draws,
                                      strake_scan_values *out, strake_error *error);

/** How many keys of a case a run sets. */
int strake_scan_set_count(const strake_scan_values *values);

/** Number @p k of them: those of the axes in their order, then time.end where classes have one. @return its value */
const char *strake_scan_set(const strake_scan_values *values, int64_t run, int k,
                            const char **path);

/** The number of a run's class, from 0 on. */
int strake_scan_class_of(const strake_scan_values *values, int64_t run);

/** A value more. @return STRAKE_ERR_MEMORY */
strake_status strake_scan_axis_add(strake_scan_axis *axis, const char *text, size_t length,
                                   strake_error *error);

/** The same of a number, with 15 digits: 0.15 between 0.1 and 0.2, not what binary makes of it. */
strake_status strake_scan_axis_add_number(strake_scan_axis *axis, double number,
                                          strake_error *error);

/**
 * Numbers between 0 and 1, evenly distributed, one for each draw; of a Latin hypercube one in each of as many parts, in an
 * order that is drawn, too (McKay, Beckman and Conover, Technometrics 21, 1979).
 * @param[in] path  of what is drawn @return to be freed; NULL without memory
 */
double *strake_scan_parts(const strake_scan_draws *draws, const char *path);

/** Word @p column of a line, from 0 on: commas, semicolons or blanks are between them. @return false: the line has fewer */
bool strake_scan_word(const char *line, int column, const char **word, size_t *length);

/** The number of a column, by its name in the first line or counted from 1; "": the first. -1: there is none */
int strake_scan_column(const char *first, const char *name);

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
