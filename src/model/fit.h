/**
 * @file fit.h
 * Fitting the models of postal.h to measurements. Sizes and times span many powers of ten and
 * measurements have outliers to one side, so residuals are relative ((model - t) / t, weights 1/t^2),
 * points are medians of repeats, and points that still lie far off lose their weight (Huber).
 */
#ifndef STRAKE_MODEL_FIT_H
#define STRAKE_MODEL_FIT_H

#include "model/postal.h"

enum { STRAKE_FIT_POINTS = 128 };

/** One size. */
typedef struct strake_fit_point {
    double bytes;
    double seconds; /**< median of the repeats */
    double scatter; /**< its standard deviation as a part of it, by the repeats; 0: not known */
} strake_fit_point;

/** What strake_fit_point.scatter is for @p n repeats [s], ascending: by their quartiles. */
double strake_fit_scatter(const double *seconds, int n);

/** A straight line, intercept + slope x, neither of them negative. */
typedef struct strake_line {
    double intercept, slope;
} strake_line;

/** Fits a line to @p n points (x = bytes) by relative residuals, robustly; n of at least 1. */
strake_line strake_fit_line(const strake_fit_point *point, int n);

/**
 * Finds the regimes of a path: breaks by dynamic programming over the robust cost of a line each, in units
 * of the scatter of points, as many as the Bayesian information criterion pays for, each of 4 points or more
 * over three octaves of sizes or more; neighbours whose predictions differ by less than 5 % are one regime.
 * More bytes take no less time, except at a break where measurements fall by more than their scatter, as
 * where a driver begins to copy directly: elsewhere a break that falls goes to where its lines meet.
 * Intervals of 95 % by resampling residuals (fixed seed).
 * @param[in,out] point  sorted by bytes on return; times must be positive
 * @param[in]     n      at most STRAKE_FIT_POINTS; fewer than 4 points give one regime
 */
strake_path strake_fit_path(strake_fit_point *point, int n);

/**
 * R_N of the max-rate model from the seconds that 1, 2, ... @p most active transfers of @p bytes took.
 * Start-up is taken from @p path.
 */
strake_max_rate strake_fit_max_rate(const strake_path *path, double bytes, const double *seconds,
                                    int most);

#endif
