/**
 * @file fit.h
 * Fitting the models of postal.h to measurements. Sizes and times span many powers of ten and
 * measurements have outliers to one side, so residuals are relative ((model - t) / t, weights 1/t^2),
 * points are medians of repeats, and points that still lie far off lose their weight (Huber).
 */
#ifndef STRAKE_MODEL_FIT_H
#define STRAKE_MODEL_FIT_H

#include <stdbool.h>

/*
 * * How long moving data takes, as fitted to measurements: the postal model (Bar-Noy and Kipnis 1994)
 * per regime of sizes, the max-rate model (Gropp, Olson and Samfass 2016) where several transfers are
 * active, a term per message, and how far transfers hide behind kernels.
 *
 * Bienz et al., "Modeling Data Movement Performance on Heterogeneous Architectures", print their
 * equations 2 and 3 with the maximum of the two rates; their text asks for the minimum, as here:
 *
 *     T(s)    = alpha + beta s                          one message of s bytes
 *     T(s, p) = alpha + p s / min(R_N, p R_p)           p active at once, s bytes each, R_p = 1 / beta
 *     T(s, n) = T(s) + (n - 1) gamma                    s bytes in n messages
 */

enum { STRAKE_POSTAL_REGIMES = 4 };

/** A number with its interval of 95 %. */
typedef struct strake_estimate {
    double value, low, high;
} strake_estimate;

/** One regime of sizes. */
typedef struct strake_postal {
    double from;           /**< [bytes] it holds from here on, up to the next regime */
    strake_estimate alpha; /**< start-up [s], at least 0 */
    strake_estimate beta;  /**< [s/byte], at least 0 */
} strake_postal;

/** A path: its regimes in the order of sizes, and how well they describe what was measured. */
typedef struct strake_path {
    int regimes; /**< 0: not measured */
    strake_postal regime[STRAKE_POSTAL_REGIMES];
    double least, most;  /**< [bytes] smallest and largest size measured */
    double error, worst; /**< median and largest |predicted / measured - 1| */
    int points;          /**< sizes measured */
} strake_path;

/** Seconds of one message. @return NaN if the path was not measured */
double strake_path_seconds(const strake_path *path, double bytes);

/** Bytes per second that the largest messages reach, without their start-up; NaN if not measured. */
double strake_path_rate(const strake_path *path);

/** Several transfers of one direction at once on one device. */
typedef struct strake_max_rate {
    double one;   /**< R_p [bytes/s] of one alone, without its start-up */
    double all;   /**< R_N [bytes/s] of any number together */
    bool reached; /**< else R_N is only known to be at least that */
} strake_max_rate;

/**
 * Seconds until all of @p active transfers of @p bytes each are done, by the max-rate model: what they
 * take alone and what the limit adds to it.
 */
double strake_max_rate_seconds(const strake_path *path, const strake_max_rate *rate, double bytes,
                               int active);

/**
 * How much of the shorter of two jobs hides behind the longer when both run at once:
 * (first + second - both) / min(first, second), within 0 and 1.
 */
double strake_overlap_factor(double first, double second, double both);

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
