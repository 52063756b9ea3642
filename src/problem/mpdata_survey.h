/**
 * @file mpdata_survey.h
 * Row loops that look at a line of a flow of MPDATA, always of doubles: how many of its cells let more out than bound[0],
 * twice, over their content, or have less content than bound[1]? out[0] is one int64_t.
 */
#ifndef STRAKE_MPDATA_SURVEY_H
#define STRAKE_MPDATA_SURVEY_H

#include <math.h>

#include "problem/rows.h"

/** Their operands: the faces before and after the cells across each dimension, in its order; then these. */
enum {
    STRAKE_SURVEY_H = 6, /**< content; loops without _h_ do not read it: it is 1 */
    STRAKE_SURVEY_BOUND, /**< two numbers */
    STRAKE_SURVEY_OPERANDS
};

/**
 * Adds to twice what flows out of a cell what does through two opposite faces: |u| + u is exact, without a branch, and
 * no number where u is none.
 */
static inline double strake_twice_outflow(double sum, double before, double after)
{
    return (sum + (fabs(after) + after)) + (fabs(before) - before);
}

/** X(name, dimensions, whether content is read). */
#define STRAKE_SURVEY_ROWS(X)                                                                      \
    X(outflow_1d, 1, false)                                                                        \
    X(outflow_2d, 2, false)                                                                        \
    X(outflow_3d, 3, false)                                                                        \
    X(outflow_h_1d, 1, true)                                                                       \
    X(outflow_h_2d, 2, true)                                                                       \
    X(outflow_h_3d, 3, true)

#define STRAKE_SURVEY_DECLARE(name, dims, has_h) STRAKE_ROW_DECLARE(name, f64)
STRAKE_SURVEY_ROWS(STRAKE_SURVEY_DECLARE)

#endif
