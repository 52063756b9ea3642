/**
 * @file cl_aside.h
 * A second queue of a GPU, for kernels that may run at the same time as those of the first. A launch that ends leaves a GPU
 * more and more idle, for as long as its last groups take; what another queue has fills it meanwhile. Only GPUs have one:
 * processors have one launch at a time, and PoCL must not have the same kernel in two queues (its version 3.1 aborts).
 *
 * The two change roles: what follows the kernel that is enqueued second goes to its queue, which comes after that of the
 * first by then. NVIDIA's driver tells that a kernel is done only after those of other queues that were enqueued before
 * it, but knows of transfers behind it at once.
 */
#ifndef STRAKE_CL_ASIDE_H
#define STRAKE_CL_ASIDE_H

#include "opencl/cl_wait.h"

/** Makes one, where there is none yet. @param[in,out] aside  owned by the caller; stays NULL where there is none to be */
strake_status strake_cl_aside_open(const strake_cl *cl, const strake_cl_device *device,
                                   cl_context context, bool timers, cl_command_queue *aside,
                                   strake_error *error);

/**
 * Marks where the other queue is to go on, without a flush: before the kernel that is enqueued first, on whose way nothing
 * else should be. @param[out] here  owned by the caller; NULL where there is no other queue
 */
strake_status strake_cl_aside_mark(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_command_queue aside, cl_event *here,
                                   strake_error *error);

/**
 * They change roles, if there are two: what the queue is given from now on comes after the mark. Flushes.
 * @param[in,out] here  the mark; released  @param[out] done  of all that was enqueued so far; owned by the caller
 */
strake_status strake_cl_aside_turn(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue *queue, cl_command_queue *aside, cl_event *here,
                                   cl_event *done, strake_error *error);

/** They change roles, if there are two. */
void strake_cl_aside_swap(cl_command_queue *queue, cl_command_queue *aside);

#endif
