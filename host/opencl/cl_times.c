#include "opencl/cl_times.h"

#include "opencl/cl_reduce.h"

#include <stdio.h>

enum { REPEATS = 3 };

/* Adds the time of one launch of every kernel, and forgets the events. @return false without timers. */
static bool read_timers(const strake_cl_window *w, strake_cl_time *out, int *count)
{
    const strake_cl *const cl = w->kernels->cl;
    bool known = true;
    *count = 0;
    for (int k = 0; k < w->kernels->kernels; k++) {
        cl_ulong begin = 0, end = 0;
        if (w->timer[k] == NULL) {
            continue; /* a static kernel */
        }
        known = cl->clGetEventProfilingInfo(w->timer[k], CL_PROFILING_COMMAND_START, sizeof begin,
                                            &begin, NULL) == CL_SUCCESS &&
                cl->clGetEventProfilingInfo(w->timer[k], CL_PROFILING_COMMAND_END, sizeof end, &end,
                                            NULL) == CL_SUCCESS &&
                end >= begin && known;
        const double seconds = 1e-9 * (double)(end - begin);
        strake_cl_time *const time = &out[(*count)++];
        (void)snprintf(time->name, sizeof time->name, "%s", w->kernels->plan[k].name);
        time->seconds = time->seconds == 0.0 || seconds < time->seconds ? seconds : time->seconds;
    }
    return known;
}

static void forget_timers(const strake_cl_window *w)
{
    for (int k = 0; k < w->kernels->kernels; k++) {
        strake_cl_release_event(w->kernels->cl, &w->timer[k]);
    }
}

strake_status strake_cl_window_time(strake_cl_window *w, int64_t first, int64_t end,
                                    strake_cl_time *out, int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = w->kernels->cl;
    const strake_cl_device *const device = w->kernels->device;
    const cl_command_queue usual = w->queue;
    cl_event timer[STRAKE_CL_MOST_KERNELS] = {NULL};
    cl_int code = CL_SUCCESS;
    bool known = true;
    *count = 0;
    for (int k = 0; k < STRAKE_CL_MOST_KERNELS; k++) {
        out[k] = (strake_cl_time){.seconds = 0.0};
    }
    const cl_command_queue timed = cl->clCreateCommandQueue(w->kernels->context, device->device,
                                                            CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) {
        return STRAKE_OK; /* no timers here */
    }
    STRAKE_CL("clFinish", cl->clFinish(usual), error, device);
    w->queue = timed;
    w->timer = timer;
    for (int r = 0; r < REPEATS && known; r++) {
        STRAKE_TRY(strake_cl_window_step(w, first, end, NULL, error));
        STRAKE_CL("clFinish", cl->clFinish(timed), error, device);
        known = read_timers(w, out, count);
        forget_timers(w);
    }
    *count = known ? *count : 0;
cleanup:
    if (w->timer != NULL) {
        forget_timers(w);
    }
    w->timer = NULL;
    w->queue = usual;
    strake_cl_reduce_forget(w);
    (void)cl->clReleaseCommandQueue(timed);
    return status;
}
