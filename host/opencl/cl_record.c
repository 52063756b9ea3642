#include "opencl/cl_record.h"

#include <stdio.h>

#include "base/clock.h"

enum { MARKERS = 32 };

strake_status strake_cl_record_renew(const strake_cl *cl, const strake_cl_device *device,
                                     cl_context context, bool timers, cl_command_queue *queue,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    cl_command_queue other = NULL;
    STRAKE_CL("clFinish", cl->clFinish(*queue), error, device);
    other = cl->clCreateCommandQueue(context, device->device,
                                     timers ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    (void)cl->clReleaseCommandQueue(*queue);
    *queue = other;
cleanup:
    return status;
}

/* Seconds of an event on the device's clock. @return false where there are none */
static bool read_times(const strake_cl *cl, cl_event event, double *begin, double *end)
{
    cl_ulong from = 0, to = 0;
    if (cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) !=
            CL_SUCCESS ||
        cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL) !=
            CL_SUCCESS ||
        from == 0 || to < from) {
        return false;
    }
    *begin = 1e-9 * (double)from;
    *end = 1e-9 * (double)to;
    return true;
}

/* A marker between two looks at the host's clock narrows what the offset may be. */
static strake_status look_at_clocks(strake_cl_record *r, cl_command_queue queue, double *least,
                                    double *most, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double begin = 0.0, end = 0.0, after = 0.0;
    const double before = strake_clock_seconds();
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              r->cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), error, r->device);
    STRAKE_CL("clFinish", r->cl->clFinish(queue), error, r->device);
    after = strake_clock_seconds();
    r->timers = read_times(r->cl, event, &begin, &end);
    if (r->timers) {
        *least = before - begin > *least ? before - begin : *least;
        *most = after - end < *most ? after - end : *most;
    }
cleanup:
    strake_cl_release_event(r->cl, &event);
    return status;
}

strake_status strake_cl_record_begin(strake_cl_record *r, const strake_cl *cl,
                                     const strake_cl_device *device, cl_command_queue queue,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    double least = -1e300, most = 1e300;
    r->cl = cl;
    r->device = device;
    r->commands = 0;
    r->lost = 0;
    r->timers = true;
    for (int k = 0; k < MARKERS && r->timers; k++) {
        STRAKE_TRY(look_at_clocks(r, queue, &least, &most, error));
    }
    r->offset = 0.5 * (least + most);
    /* Clocks that drift apart leave less than nothing. */
    r->clock_error = 0.5 * (most > least ? most - least : least - most);
cleanup:
    return status;
}

void strake_cl_record_add(strake_cl_record *r, strake_cl_command_kind kind, const char *name,
                          double amount, cl_event event)
{
    if (r == NULL || event == NULL || !r->timers) {
        return;
    }
    if (r->commands == STRAKE_CL_MOST_COMMANDS || r->cl->clRetainEvent(event) != CL_SUCCESS) {
        r->lost++;
        return;
    }
    strake_cl_command *const c = &r->command[r->commands++];
    *c = (strake_cl_command){
        .kind = kind, .amount = amount, .sweep = r->sweep, .is_rare = r->is_rare, .event = event};
    (void)snprintf(c->name, sizeof c->name, "%s", name);
}

void strake_cl_record_forget(strake_cl_record *r, int64_t sweep)
{
    int kept = 0;
    for (int k = 0; k < r->commands; k++) {
        if (r->command[k].sweep < sweep) {
            r->command[kept++] = r->command[k];
        } else {
            strake_cl_release_event(r->cl, &r->command[k].event);
        }
    }
    r->commands = kept;
}

void strake_cl_record_end(strake_cl_record *r)
{
    int kept = 0;
    for (int k = 0; k < r->commands; k++) {
        strake_cl_command c = r->command[k];
        const bool known = read_times(r->cl, c.event, &c.begin, &c.end);
        strake_cl_release_event(r->cl, &c.event);
        c.begin += r->offset;
        c.end += r->offset;
        if (known) {
            r->command[kept++] = c;
        }
    }
    r->lost += r->commands - kept;
    r->commands = kept;
}
