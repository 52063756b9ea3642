/* The clock that the device of a resident stripe keeps, and its timers: how long kernels take. */
#include "opencl/cl_resident.h"

#include <stdio.h>

#include "base/element.h"
#include "opencl/cl_plan.h"

static strake_status make(strake_cl_clock *c, const strake_cl_kernels *kernels, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const size_t size = (size_t)strake_precision_size(kernels->graph->precision);
    if (c->kernel != NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(
        strake_cl_new_buffer(kernels, 2 * sizeof c->given, CL_MEM_READ_WRITE, &c->clock, error));
    STRAKE_TRY(strake_cl_new_buffer(kernels, (STRAKE_MAX_SCALARS + 1) * size, CL_MEM_READ_WRITE,
                                    &c->told, error));
    c->is_heard =
        kernels->options.hears && (kernels->tiles == NULL || kernels->tiles->options.hears);
    c->kernel = kernels->cl->clCreateKernel(kernels->program, "advance_clock", &code);
    STRAKE_CL("advance_clock", code, error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_resident_start_clock(strake_cl_resident *s, const strake_clock *clock,
                                             bool *keeps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_clock *const c = &s->clock;
    strake_cl_window *const w = &s->window;
    const strake_cl_kernels *kernels = s->kernels;
    const int size = w->layout.element_size;
    double scalar[STRAKE_MAX_SCALARS], given[STRAKE_CLOCK_TELLS];
    double told[STRAKE_MAX_SCALARS + 1]; /* elements */
    *keeps = kernels->device->has_double && strake_cl_plan_has_clock(kernels->graph);
    if (!*keeps) {
        return STRAKE_OK;
    }
    c->given = *clock;
    c->given.sweeps = 0;
    c->given.is_over = 0;
    c->seen = c->given;
    c->runs = true;
    if (s->member != NULL) {
        strake_cl_member_set_clock(s->member, &c->given);
        return STRAKE_OK; /* its batch has the clocks of all members */
    }
    STRAKE_TRY(make(c, kernels, error));
    c->sweeps = 0;
    strake_clock_tell(clock, given);
    strake_graph_scalars(kernels->graph, given, scalar);
    strake_element_set(told, size, 0, 1.0);
    for (int k = 0; k < kernels->graph->scalars; k++) {
        strake_element_set(told, size, k + 1, scalar[k]);
    }
    STRAKE_CL("clEnqueueWriteBuffer",
              kernels->cl->clEnqueueWriteBuffer(w->queue, c->clock, CL_FALSE, 0, sizeof c->given,
                                                &c->given, 0, NULL, NULL),
              error, kernels->device);
    STRAKE_CL("clEnqueueWriteBuffer",
              kernels->cl->clEnqueueWriteBuffer(
                  w->queue, c->told, CL_TRUE, 0,
                  (size_t)(kernels->graph->scalars + 1) * (size_t)size, told, 0, NULL, NULL),
              error, kernels->device);
    strake_cl_reduce_forget(w);
    w->reduced[0].left = 0;
    w->told = c->told;
    w->clock = c->clock;
    w->clock_turn = 0;
cleanup:
    c->runs = status == STRAKE_OK;
    return status;
}

/* By the numbers of the last sweep. */
static strake_status launch(strake_cl_clock *c, strake_cl_window *w, strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, c->kernel);
    strake_cl_pass_buffer(&a, c->clock);
    strake_cl_pass_int(&a, w->clock_turn);
    strake_cl_pass_buffer(&a, c->told);
    const size_t items = strake_cl_reduce_pass_numbers(w, 0, &a);
    strake_cl_reduce_forget(w); /* the others of the graph */
    return strake_cl_launch(kernels, w->queue, "advance_clock", &a, items, 1, items, 1, 1, error);
}

strake_status strake_cl_clock_advance(strake_cl_clock *c, strake_cl_window *w, strake_error *error)
{
    c->sweeps++;
    return c->is_heard && strake_cl_reduce_leave(w) ? STRAKE_OK : launch(c, w, error);
}

strake_status strake_cl_clock_look(strake_cl_clock *c, strake_cl_window *w, cl_event *event,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    if (w->reduced[0].left > 0) {
        STRAKE_TRY(launch(c, w, error));
    }
    STRAKE_CL("clEnqueueReadBuffer",
              kernels->cl->clEnqueueReadBuffer(w->queue, c->clock, CL_FALSE,
                                               (size_t)w->clock_turn * sizeof c->seen,
                                               sizeof c->seen, &c->seen, 0, NULL, event),
              error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_resident_stop_clock(strake_cl_resident *s, strake_clock *clock,
                                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = s->kernels;
    cl_event read = NULL;
    if (s->member != NULL) {
        STRAKE_TRY(strake_cl_resident_finish(s, error));
        *clock = s->clock.seen;
        strake_cl_member_set_clock(s->member, NULL);
        goto cleanup;
    }
    STRAKE_TRY(strake_cl_clock_look(&s->clock, &s->window, &read, error));
    STRAKE_CL("clFlush", kernels->cl->clFlush(s->queue), error, kernels->device);
    STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, &s->waiter, &read, error));
    *clock = s->clock.seen;
    strake_cl_active_rewind(&s->active, s->clock.sweeps - clock->sweeps);
    /* Sweeps that did nothing have not changed the roles of the arrays either. */
    if ((s->clock.sweeps - clock->sweeps) % 2 != 0) {
        strake_cl_window_swap(&s->window);
    }
cleanup:
    strake_cl_release_event(kernels->cl, &read);
    s->clock.runs = false;
    s->window.told = NULL;
    s->window.clock = NULL;
    return status;
}

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

strake_status strake_cl_resident_time(strake_cl_resident *s, strake_cl_time *out, int *count,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = &s->window;
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
        STRAKE_TRY(strake_cl_window_step(w, s->range.first - s->base, s->range.end - s->base, NULL,
                                         error));
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
