#include "opencl/cl_wait.h"

#include <math.h>
#include <time.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Shorter waits than a thread needs to fall asleep and wake up are spent spinning. */
static const double least_sleep = 150e-6;
/* Pauses between two looks: a part of the last wait, within bounds. */
static const double pause_part = 1.0 / 64.0;
static const double least_pause = 10e-6, most_pause = 100e-6;
/* The first sleep where the device computes on the processors: a part of the last wait, within bounds. */
static const double first_part = 0.75, most_sleep = 0.5;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(double seconds)
{
    const struct timespec t = {0, (long)(1e9 * seconds)};
    (void)nanosleep(&t, NULL);
}

/*
 * Seconds of sleep between two looks, 0 to spin. A device that computes on the processors needs them
 * more than whoever waits for it.
 */
static double find_pause(const strake_cl_device *device, const strake_cl_waiter *waiter)
{
    double pause = waiter->expected * pause_part;
    pause = pause < least_pause ? least_pause : pause;
    pause = pause > most_pause ? most_pause : pause;
    const bool spins = waiter->kind == STRAKE_CL_WAIT_SPIN ||
                       (waiter->kind == STRAKE_CL_WAIT_DEFAULT && strake_cl_device_is_gpu(device) &&
                        waiter->expected <= least_sleep);
    return spins ? 0.0 : pause;
}

/*
 * Looks now and then whether the event is complete. Never one long sleep for a GPU: some drivers hand
 * commands that wait for another queue to the device only when the host calls them. Where the device
 * computes on the processors every look takes a little of its time, so most of the wait is one sleep.
 */
strake_status strake_cl_wait(const strake_cl *cl, const strake_cl_device *device,
                             strake_cl_waiter *waiter, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int state = CL_QUEUED;
    double waited = 0.0;
    const double start = now();
    const double pause = find_pause(device, waiter);
    double sleep = pause;
#ifdef PR_SET_TIMERSLACK
    if (pause > 0.0) {
        (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* [ns]; the default adds 50 us */
    }
#endif
    if (pause > 0.0 && !strake_cl_device_is_gpu(device)) {
        sleep = fmin(first_part * waiter->expected, most_sleep);
    }
    for (;;) {
        STRAKE_CL("clGetEventInfo",
                  cl->clGetEventInfo(*event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                     &state, NULL),
                  error, device);
        waited = now() - start;
        if (state <= CL_COMPLETE) {
            break;
        }
        STRAKE_CHECK(waiter->limit <= 0.0 || waited < waiter->limit, error, STRAKE_ERR_DEVICE,
                     "%s: no answer for %.3g s (run.hang_seconds says when to give up)",
                     device->name, waited);
        if (sleep > 0.0) {
            pause_for(sleep);
        }
        sleep = pause;
    }
    STRAKE_CL("a command", state, error, device);
    waiter->expected = waited;
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
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), error, device);
    STRAKE_CL("clFlush", cl->clFlush(queue), error, device);
    STRAKE_TRY(strake_cl_wait(cl, device, waiter, &event, error));
cleanup:
    return status;
}
