/**
 * @file cl_fill.h
 * Buffers filled with a pattern, however large they are.
 */
#ifndef STRAKE_CL_FILL_H
#define STRAKE_CL_FILL_H

#include "opencl/cl_device.h"

/**
 * Largest fill of one command [bytes]; a multiple of every pattern. NVIDIA's drivers have hung in, or failed
 * after, fills whose size does not fit in 31 bits.
 */
enum { STRAKE_CL_MOST_FILL = 1 << 30 };

/**
 * Enqueues fills of @p bytes bytes from @p offset on, in pieces of at most STRAKE_CL_MOST_FILL.
 * @param[in] pattern  of @p size bytes, a power of two up to 128; may change after the call
 * @param[in] offset,bytes  multiples of @p size
 * @return STRAKE_ERR_DEVICE as the driver says
 */
strake_status strake_cl_fill(const strake_cl *cl, const strake_cl_device *device,
                             cl_command_queue queue, cl_mem buffer, const void *pattern,
                             size_t size, size_t offset, size_t bytes, strake_error *error);

#endif
