/**
 * @file cl_wait.h
 * Waiting for a device without burning a processor that the CPU stripe needs (most GPU drivers spin), and
 * without waiting for ever for one that hangs: nothing here blocks inside the driver.
 */
#ifndef STRAKE_CL_WAIT_H
#define STRAKE_CL_WAIT_H

#include "opencl/cl_device.h"

/** In the order of the words of run.wait. */
typedef enum strake_cl_wait_kind {
    STRAKE_CL_WAIT_DEFAULT, /**< sleep, but through short waits for GPUs spin */
    STRAKE_CL_WAIT_SPIN,    /**< never sleep */
    STRAKE_CL_WAIT_SLEEP    /**< always sleep */
} strake_cl_wait_kind;

/** How one thread waits for one kind of event that comes back step after step. */
typedef struct strake_cl_waiter {
    strake_cl_wait_kind kind;
    double limit;    /**< seconds after which the device counts as hung; 0: wait for ever */
    double expected; /**< seconds of the last wait */
} strake_cl_waiter;

/**
 * Waits until @p event is complete (its queue must have been flushed) and releases it; NULL: there is none.
 * Sleeping, the thread looks every 10 to 100 microseconds, the more seldom the longer the last wait; it spins for
 * a GPU from shortly before the last wait's time is over. A device that computes on the processors wakes it instead.
 * @return STRAKE_ERR_DEVICE if the command failed, or is not complete within the waiter's limit
 */
strake_status strake_cl_wait(const strake_cl *cl, const strake_cl_device *device,
                             strake_cl_waiter *waiter, cl_event *event, strake_error *error);

/** Waits for everything in a queue. */
strake_status strake_cl_wait_queue(const strake_cl *cl, const strake_cl_device *device,
                                   strake_cl_waiter *waiter, cl_command_queue queue,
                                   strake_error *error);

/** What tells that all a queue has so far is done; flushes. @param[out] done  owned by the caller */
strake_status strake_cl_mark(const strake_cl *cl, const strake_cl_device *device,
                             cl_command_queue queue, cl_event *done, strake_error *error);

/** What a queue is given from now on comes after an event. */
strake_status strake_cl_come_after(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_event event, strake_error *error);

/** Makes @p queue wait for what @p leader holds now, and flushes the leader. */
strake_status strake_cl_follow(const strake_cl *cl, const strake_cl_device *device,
                               cl_command_queue queue, cl_command_queue leader,
                               strake_error *error);

/*
 * A second queue of a GPU, for kernels that may run at the same time as those of the first. A launch that ends leaves a GPU
 * more and more idle, for as long as its last groups take; what another queue has fills it meanwhile. Only GPUs have one:
 * processors have one launch at a time, and PoCL must not have the same kernel in two queues (its version 3.1 aborts).
 *
 * The two change roles: what follows the kernel that is enqueued second goes to its queue, which comes after that of the
 * first by then. NVIDIA's driver tells that a kernel is done only after those of other queues that were enqueued before
 * it, but knows of transfers behind it at once.
 */

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
