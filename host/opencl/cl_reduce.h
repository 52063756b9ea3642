/** @file cl_reduce.h What the values of a window are brought down to after a step (cl/reduce.cl). */
#ifndef STRAKE_CL_REDUCE_H
#define STRAKE_CL_REDUCE_H

#include "opencl/cl_wait.h"
#include "opencl/cl_window.h"

/** Makes the kernels and buffers of a graph's reductions. @return STRAKE_ERR_DEVICE */
strake_status strake_cl_reduce_create(strake_cl_window *window, strake_error *error);
void strake_cl_reduce_release(strake_cl_window *window);

/** Enqueues the reductions over slabs [first, end), and reading what they give. */
strake_status strake_cl_reduce_begin(strake_cl_window *window, int64_t first, int64_t end,
                                     strake_error *error);

/** Waits for it. @param[out] reduced  one number per reduction of the graph */
strake_status strake_cl_reduce_end(strake_cl_window *window, strake_cl_waiter *waiter,
                                   double *reduced, strake_error *error);

#endif
