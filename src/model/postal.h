/**
 * @file postal.h
 * How long moving data takes, as fitted to measurements: the postal model (Bar-Noy and Kipnis 1994)
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
#ifndef STRAKE_MODEL_POSTAL_H
#define STRAKE_MODEL_POSTAL_H

#include <stdbool.h>

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

#endif
