#include "opencl/cl_wait.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"

/* Shorter waits than a thread needs to fall asleep and wake up are spent spinning. */
static const double least_sleep = 150e-6;

/* Pauses between two looks: a part of the last wait, within bounds. */
static const double pause_part = 1.0 / 64.0;

static const double least_pause = 10e-6, most_pause = 100e-6;

/* Seconds until a thread that a driver should wake looks for itself. */
static const double most_trust = 0.05;

/*
 * What the driver rings when a command is complete. The waiter may have given up by then: the last of the
 * two to let go frees it.
 */
typedef struct call {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    bool is_rung;
    _Atomic int holders;
} call;

static void let_go(call *c)
{
    if (atomic_fetch_sub(&c->holders, 1) == 1) {
        (void)pthread_cond_destroy(&c->rung);
        (void)pthread_mutex_destroy(&c->mutex);
        free(c);
    }
}

static void CL_CALLBACK ring(cl_event event, cl_int state, void *data)
{
    call *const c = data;
    (void)event, (void)state; /* the waiter asks for the state */
    (void)pthread_mutex_lock(&c->mutex);
    c->is_rung = true;
    (void)pthread_cond_signal(&c->rung);
    (void)pthread_mutex_unlock(&c->mutex);
    let_go(c);
}

/* Asks for a call when the event is complete. @return NULL if that is not possible */
static call *ask(const strake_cl *cl, cl_event event)
{
    pthread_condattr_t clock;
    call *const c = calloc(1, sizeof *c);
    if (c == NULL || pthread_condattr_init(&clock) != 0) {
        free(c);
        return NULL;
    }
    const bool opened = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0 &&
                        pthread_mutex_init(&c->mutex, NULL) == 0;
    const bool ready = opened && pthread_cond_init(&c->rung, &clock) == 0;
    (void)pthread_condattr_destroy(&clock);
    if (!ready) {
        if (opened) {
            (void)pthread_mutex_destroy(&c->mutex);
        }
        free(c);
        return NULL;
    }
    atomic_init(&c->holders, 2);
    if (cl->clSetEventCallback(event, CL_COMPLETE, ring, c) != CL_SUCCESS) {
        let_go(c);
        /* Of two holders. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        let_go(c);
        return NULL;
    }
    return c;
}

/* Sleeps until the call comes, or some seconds. */
static void await_call(call *c, double seconds)
{
    const struct timespec end = strake_clock_after(seconds);
    (void)pthread_mutex_lock(&c->mutex);
    while (!c->is_rung && pthread_cond_timedwait(&c->rung, &c->mutex, &end) != ETIMEDOUT) {
    }
    c->is_rung = false; /* whatever it meant: the next sleep is a whole one */
    (void)pthread_mutex_unlock(&c->mutex);
}

/* Seconds of sleep between two looks, 0 to spin. */
static double find_pause(const strake_cl_waiter *waiter)
{
    double pause = waiter->expected * pause_part;
    pause = pause < least_pause ? least_pause : pause;
    pause = pause > most_pause ? most_pause : pause;
    return waiter->kind == STRAKE_CL_WAIT_SPIN ? 0.0 : pause;
}

/* Who waits for a GPU is awake when the last wait's time is nearly over: waking up takes longer than a border. */
static bool is_near(const strake_cl_device *device, const strake_cl_waiter *waiter, double waited)
{
    return waiter->kind == STRAKE_CL_WAIT_DEFAULT && strake_cl_device_is_gpu(device) &&
           waited > waiter->expected - least_sleep;
}

/*
 * Looks now and then whether the event is complete. Never one long sleep for a GPU: some drivers hand
 * commands that wait for another queue to the device only when the host calls them. A device that computes
 * on the processors needs them more than a thread that polls: its driver is asked to call,
 * unless the wait is short.
 */
strake_status strake_cl_wait(const strake_cl *cl, const strake_cl_device *device,
                             strake_cl_waiter *waiter, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int state = CL_QUEUED;
    double waited = 0.0;
    const double start = strake_clock_seconds();
    const double pause = find_pause(waiter);
    const bool may_call = pause > 0.0 && !strake_cl_device_is_gpu(device);
    bool has_asked = false;
    call *caller = NULL;
    if (*event == NULL) {
        return STRAKE_OK;
    }
#ifdef PR_SET_TIMERSLACK
    if (pause > 0.0) {
        (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* [ns]; the default adds 50 us */
    }
#endif
    for (;;) {
        STRAKE_CL("clGetEventInfo",
                  cl->clGetEventInfo(*event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                     &state, NULL),
                  error, device);
        waited = strake_clock_seconds() - start;
        if (state <= CL_COMPLETE) {
            break;
        }
        STRAKE_CHECK(waiter->limit <= 0.0 || waited < waiter->limit, error, STRAKE_ERR_DEVICE,
                     "%s: no answer for %.3g s (run.hang_seconds says when to give up)",
                     device->name, waited);
        if (may_call && !has_asked && fmax(waited, waiter->expected) > least_sleep) {
            caller = ask(cl, *event);
            has_asked = true;
        }
        if (caller != NULL) {
            await_call(caller, most_trust);
        } else if (pause > 0.0 && !is_near(device, waiter, waited)) {
            strake_clock_sleep(pause);
        }
    }
    STRAKE_CL("a command", state, error, device);
    waiter->expected = waited;
cleanup:
    if (caller != NULL) {
        let_go(caller);
    }
    strake_cl_release_event(cl, event);
    return status;
}

strake_status strake_cl_wait_queue(const strake_cl *cl, const strake_cl_device *device,
                                   strake_cl_waiter *waiter, cl_command_queue queue,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    STRAKE_TRY(strake_cl_mark(cl, device, queue, &event, error));
    STRAKE_TRY(strake_cl_wait(cl, device, waiter, &event, error));
cleanup:
    return status;
}

strake_status strake_cl_mark(const strake_cl *cl, const strake_cl_device *device,
                             cl_command_queue queue, cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clEnqueueMarkerWithWaitList", cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, done),
              error, device);
    STRAKE_CL("clFlush", cl->clFlush(queue), error, device);
cleanup:
    return status;
}

strake_status strake_cl_come_after(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_event event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clEnqueueBarrierWithWaitList",
              cl->clEnqueueBarrierWithWaitList(queue, 1, &event, NULL), error, device);
cleanup:
    return status;
}

strake_status strake_cl_follow(const strake_cl *cl, const strake_cl_device *device,
                               cl_command_queue queue, cl_command_queue leader, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    STRAKE_TRY(strake_cl_mark(cl, device, leader, &event, error));
    STRAKE_TRY(strake_cl_come_after(cl, device, queue, event, error));
cleanup:
    strake_cl_release_event(cl, &event);
    return status;
}

strake_status strake_cl_aside_open(const strake_cl *cl, const strake_cl_device *device,
                                   cl_context context, bool timers, cl_command_queue *aside,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    if (*aside == NULL && strake_cl_device_is_gpu(device) && !strake_cl_device_is_pocl(device)) {
        *aside = cl->clCreateCommandQueue(context, device->device,
                                          timers ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
        STRAKE_CL("clCreateCommandQueue", code, error, device);
    }
cleanup:
    return status;
}

strake_status strake_cl_aside_mark(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_command_queue aside, cl_event *here,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (aside != NULL) {
        STRAKE_CL("clEnqueueMarkerWithWaitList",
                  cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, here), error, device);
    }
cleanup:
    return status;
}

strake_status strake_cl_aside_turn(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue *queue, cl_command_queue *aside, cl_event *here,
                                   cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_mark(cl, device, *queue, done, error));
    strake_cl_aside_swap(queue, aside);
    STRAKE_TRY(*here != NULL ? strake_cl_come_after(cl, device, *queue, *here, error) : STRAKE_OK);
cleanup:
    strake_cl_release_event(cl, here);
    return status;
}

void strake_cl_aside_swap(cl_command_queue *queue, cl_command_queue *aside)
{
    const cl_command_queue before = *queue;
    if (*aside != NULL) {
        *queue = *aside;
        *aside = before;
    }
}
