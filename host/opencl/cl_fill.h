/**
 * @file cl_fill.h
 * Buffers filled with a pattern, however large they are: by a kernel with indices of 64 bits, and never by
 * clEnqueueFillBuffer. NVIDIA's driver counts patterns in 32 bits there: beyond 2^31 of them a fill fails
 * later, or is reported as done and lies elsewhere.
 */
#ifndef STRAKE_CL_FILL_H
#define STRAKE_CL_FILL_H

#include "opencl/cl_device.h"

/** The kernel, of one context. It carries its arguments, so one thread fills at a time. */
typedef struct strake_cl_filler {
    const strake_cl *cl;
    const strake_cl_device *device;
    cl_program program;
    cl_kernel kernel;
} strake_cl_filler;

/**
 * Builds the kernel.
 * @param[in]  cl, device  borrowed until release
 * @param[out] filler      zeroed by the caller; to be released also after a failure
 */
strake_status strake_cl_filler_build(strake_cl_filler *filler, const strake_cl *cl,
                                     const strake_cl_device *device, cl_context context,
                                     strake_error *error);
void strake_cl_filler_release(strake_cl_filler *filler);

/**
 * Enqueues a fill of @p bytes bytes from @p offset on.
 * @param[in] pattern  of @p size bytes, 4 or 8; may change after the call
 * @param[in] offset,bytes  multiples of @p size
 * @return STRAKE_ERR_DEVICE as the driver says
 */
strake_status strake_cl_fill(const strake_cl_filler *filler, cl_command_queue queue, cl_mem buffer,
                             const void *pattern, size_t size, size_t offset, size_t bytes,
                             strake_error *error);

#endif
