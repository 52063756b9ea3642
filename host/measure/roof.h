/** @file roof.h What the memory of each processor allows, measured on the spot. */
#ifndef STRAKE_ROOF_H
#define STRAKE_ROOF_H

#include "opencl/cl_device.h"

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
