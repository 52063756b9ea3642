/**
 * @file cl_guard.h
 * Canaries: the first and the last bytes of an array on a device hold a pattern that no kernel may
 * write. It is a NaN in both precisions, so that a value read from there cannot go unnoticed either.
 */
#ifndef STRAKE_CL_GUARD_H
#define STRAKE_CL_GUARD_H

#include "opencl/cl_fill.h"

/** Enqueues the pattern over the first and last @p guard bytes (a multiple of 4) of a buffer. */
strake_status strake_cl_guard_fill(const strake_cl_filler *filler, cl_command_queue queue,
                                   cl_mem buffer, size_t bytes, size_t guard, strake_error *error);

/** Whether the pattern is still there; waits. Sets @p intact to false if it is not. */
strake_status strake_cl_guard_check(const strake_cl *cl, const strake_cl_device *device,
                                    cl_command_queue queue, cl_mem buffer, size_t bytes,
                                    size_t guard, bool *intact, strake_error *error);

#endif
