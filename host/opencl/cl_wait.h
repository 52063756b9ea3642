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
 * Waits until @p event is complete (its queue must have been flushed) and releases it.
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

#endif
