/** @file sample.h Statistics of repeated measurements, and what is derived from them. */
#ifndef STRAKE_SAMPLE_H
#define STRAKE_SAMPLE_H

/** Middle and extremes of some measurements. */
typedef struct strake_sample {
    double median; /**< of an even number: the mean of the middle two */
    double minimum, maximum;
} strake_sample;

/** Statistics of @p count values; all are NaN where there is none. Reorders @p value. */
strake_sample strake_sample_of(double *value, int count);

/**
 * Experimentally determined serial fraction e = (1/S - 1/p) / (1 - 1/p) (Karp and Flatt, CACM 33(5),
 * 1990): 0 for a perfect speed-up, 1 for none, below 0 for more than p.
 * @param[in] speedup  S: rate of p workers over the rate of one of them
 * @param[in] workers  p
 * @return NaN unless S > 0 and p > 1
 */
double strake_karp_flatt(double speedup, double workers);

#endif
