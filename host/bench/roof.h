/** @file roof.h What the memory of each processor allows, measured on the spot. */
#ifndef STRAKE_ROOF_H
#define STRAKE_ROOF_H

#include "bench/bench.h"
#include "opencl/cl_device.h"

enum { STRAKE_ROOFS = 128 };

typedef struct strake_roof {
    int device;              /**< of the list, -1: the host */
    int threads;             /**< of the host */
    double bytes_per_second; /**< NaN where it cannot be measured */
} strake_roof;

/** Each roof is measured once, when it is first asked for. Zero-initialise, then set the list. */
typedef struct strake_roofs {
    strake_cl_list *list; /**< borrowed */
    void (*notice)(void *user, const char *line);
    void *user;
    int count;
    strake_roof roof[STRAKE_ROOFS];
} strake_roofs;

/**
 * Sets the roof of every item that was measured. The roof of a mixture is the sum of those of its
 * GPUs and of the host memory, which CPU stripe and OpenCL CPU devices share. What cannot be measured
 * is NaN, and a notice says why.
 */
void strake_roofs_apply(strake_roofs *roofs, strake_bench *bench);

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
