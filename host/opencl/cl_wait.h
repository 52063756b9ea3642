/**
 * @file cl_wait.h
 * Waiting for a device without burning a processor that the CPU stripe needs (most GPU drivers spin), and
 * without waiting for ever for one that hangs: nothing here blocks inside the driver.
 */
#ifndef STRAKE_CL_WAIT_H
#define STRAKE_CL_WAIT_H

#include <pthread.h>

#include "opencl/cl_device.h"

/* Who is told of programs that are being compiled, which takes some drivers seconds. */

enum { STRAKE_CL_WATCHED = 64 };

/** To be had by one list of devices; strake_cl.watch leads to it. */
typedef struct strake_cl_watch {
    /**
     * Before a program is compiled: its number, from 1 on, of those that are known to be needed, each counted
     * once; afterwards with number 0. One call at a time, from any thread.
     */
    void (*tell)(void *user, const char *device, int number, int of);
    void *user;
    pthread_mutex_t lock;
    int asked, expected;              /**< different programs */
    uint64_t seen[STRAKE_CL_WATCHED]; /**< their names */
} strake_cl_watch;

/** @param[in] tell  may be NULL */
void strake_cl_watch_begin(strake_cl_watch *watch,
                           void (*tell)(void *user, const char *device, int number, int of),
                           void *user);

/** Programs built with the functions of @p list are told of from now on, if it has any. */
void strake_cl_watch_list(strake_cl_watch *watch, strake_cl_list *list);

/** So many more programs will be asked for; fewer where negative. */
void strake_cl_watch_expect(strake_cl_watch *watch, int programs);

/** A program of this name is asked for. @return its number; @p watch may be NULL here and below */
int strake_cl_watch_ask(strake_cl_watch *watch, uint64_t name);

/** It is compiled from now on (number > 0), or was (0). */
void strake_cl_watch_tell(strake_cl_watch *watch, const strake_cl_device *device, int number);

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
