/** @file roof.h What the memory of each processor allows, measured on the spot. */
#ifndef STRAKE_ROOF_H
#define STRAKE_ROOF_H

#include "opencl/cl_device.h"

/* Statistics of repeated measurements, and what is derived from them. */

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

/**
 * Bandwidth of host memory [B/s]: triad a = b + s c over arrays far larger than the caches, 24 bytes
 * per element (STREAM's count), best of several passes, each thread in memory that it touched first.
 */
strake_status strake_roof_host(int threads, double *bytes_per_second, strake_error *error);

/** Bandwidth of a device's memory [B/s]: four arrays read, one written (cl/stream.cl), best pass. */
strake_status strake_roof_device(const strake_cl *cl, const strake_cl_device *device,
                                 double *bytes_per_second, strake_error *error);

/**
 * Builds cl/stream.cl: arguments are the number of elements, four arrays to read, one to write.
 * @param[out] program, kernel  to be released by the caller, also after a failure
 */
strake_status strake_roof_build(const strake_cl *cl, const strake_cl_device *device,
                                cl_context context, strake_precision precision, cl_program *program,
                                cl_kernel *kernel, strake_error *error);

#endif
