/**
 * @file cl_reduce.h
 * What the values of a window are brought down to after a step (cl/reduce.cl). Kernels leave a number of each of
 * their groups; a sweep may have several launches, of borders and of the rest.
 */
#ifndef STRAKE_CL_REDUCE_H
#define STRAKE_CL_REDUCE_H

#include "opencl/cl_groups.h"
#include "opencl/cl_wait.h"
#include "opencl/cl_window.h"

/** Makes the kernel and buffers of a graph's reductions. @return STRAKE_ERR_DEVICE */
strake_status strake_cl_reduce_create(strake_cl_window *window, strake_error *error);
void strake_cl_reduce_release(strake_cl_window *window);

/** Forgets the numbers of launches that belong to no sweep. */
void strake_cl_reduce_forget(strake_cl_window *window);

/** Passes where a launch of a kernel leaves the numbers of its groups, behind earlier ones. */
strake_status strake_cl_reduce_pass(strake_cl_window *window, const strake_cl_kernel_plan *plan,
                                    const strake_cl_cut *cut, strake_cl_arguments *a,
                                    strake_error *error);

/**
 * Leaves the numbers of the first reduction, and forgets the others', to the next launch of a kernel that hears them,
 * unless they are too many. @return whether it did
 */
bool strake_cl_reduce_leave(strake_cl_window *window);

/** Passes these to such a launch, none where there are none, and the halves of the clock (cl/clock.cl). */
void strake_cl_reduce_pass_left(strake_cl_window *window, strake_cl_arguments *a);

/** Passes to a kernel of one group of @return work-items the numbers of reduction @p n, and forgets them. */
size_t strake_cl_reduce_pass_numbers(strake_cl_window *window, int n, strake_cl_arguments *a);

/** Enqueues bringing down the numbers that launches left since the last time, where they are many, ... */
strake_status strake_cl_reduce_begin(strake_cl_window *window, strake_error *error);
/** ... and reading what that gives. */
strake_status strake_cl_reduce_read(strake_cl_window *window, strake_error *error);

/** Waits for that. @param[out] reduced  one number per reduction of the graph */
strake_status strake_cl_reduce_end(strake_cl_window *window, strake_cl_waiter *waiter,
                                   double *reduced, strake_error *error);

#endif
