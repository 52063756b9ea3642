#include "opencl/cl_wait.h"

#include <time.h>

/* Shorter waits than a thread needs to fall asleep and wake up are left to the driver. */
static const double least_sleep = 150e-6;
/* Part of the expected time that is slept through at once. */
static const double first_part = 0.8;
static const double least_pause = 10e-6, most_pause = 200e-6;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct timespec t = {whole, (long)(1e9 * (seconds - (double)whole))};
    (void)nanosleep(&t, NULL);
}

static bool sleeps(const strake_cl_device *device, const strake_cl_waiter *waiter)
{
    return waiter->kind == STRAKE_CL_WAIT_SLEEP ||
           (waiter->kind == STRAKE_CL_WAIT_DEFAULT && strake_cl_device_is_gpu(device) &&
            waiter->expected > least_sleep);
}

/* Sleeps until the event is complete or failed. */
static strake_status sleep_until(const strake_cl *cl, const strake_cl_device *device,
                                 const strake_cl_waiter *waiter, cl_event event,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int state = CL_QUEUED;
    double pause = waiter->expected / 50.0;
    pause = pause < least_pause ? least_pause : pause;
    pause = pause > most_pause ? most_pause : pause;
    if (waiter->expected > least_sleep) {
        pause_for(first_part * waiter->expected);
    }
    for (;;) {
        STRAKE_CL("clGetEventInfo",
                  cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                     NULL),
                  error, device);
        if (state <= CL_COMPLETE) {
            break;
        }
        pause_for(pause);
    }
    STRAKE_CL("a command", state, error, device);
cleanup:
    return status;
}

strake_status strake_cl_wait(const strake_cl *cl, const strake_cl_device *device,
                             strake_cl_waiter *waiter, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = now();
    if (sleeps(device, waiter)) {
        STRAKE_TRY(sleep_until(cl, device, waiter, *event, error));
    } else {
        STRAKE_CL("clWaitForEvents", cl->clWaitForEvents(1, event), error, device);
    }
    waiter->expected = now() - start;
cleanup:
    (void)cl->clReleaseEvent(*event);
    *event = NULL;
    return status;
}

strake_status strake_cl_wait_queue(const strake_cl *cl, const strake_cl_device *device,
                                   strake_cl_waiter *waiter, cl_command_queue queue,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    if (!sleeps(device, waiter)) {
        const double start = now();
        STRAKE_CL("clFinish", cl->clFinish(queue), error, device);
        waiter->expected = now() - start;
        return STRAKE_OK;
    }
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), error, device);
    STRAKE_CL("clFlush", cl->clFlush(queue), error, device);
    STRAKE_TRY(strake_cl_wait(cl, device, waiter, &event, error));
cleanup:
    return status;
}
