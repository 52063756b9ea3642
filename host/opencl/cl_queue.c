#include "opencl/cl_queue.h"

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
#include "opencl/cl_kernels.h"

enum {
    UNIT = 16,    /* bytes of a work-item, as in cl/fill.cl */
    GROUP = 256,  /* work-items */
    ROW = 1 << 16 /* work-items of axis 0; with as many rows 64 TiB */
};

strake_status strake_cl_filler_build(strake_cl_filler *f, const strake_cl *cl,
                                     const strake_cl_device *device, cl_context context,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const char *const source = strake_cl_source("fill.cl");
    f->cl = cl;
    f->device = device;
    STRAKE_CHECK(source != NULL, error, STRAKE_ERR_STATE,
                 "the program was built without cl/fill.cl; build it again");
    STRAKE_TRY(strake_cl_program_build(cl, device, context, source, STRAKE_DOUBLE, NULL,
                                       &f->program, error));
    f->kernel = cl->clCreateKernel(f->program, "strake_fill", &code);
    STRAKE_CL("clCreateKernel", code, error, device);
cleanup:
    return status;
}

void strake_cl_filler_release(strake_cl_filler *f)
{
    if (f->kernel != NULL) {
        (void)f->cl->clReleaseKernel(f->kernel);
    }
    if (f->program != NULL) {
        (void)f->cl->clReleaseProgram(f->program);
    }
    memset(f, 0, sizeof *f);
}

strake_status strake_cl_fill(const strake_cl_filler *f, cl_command_queue queue, cl_mem buffer,
                             const void *pattern, size_t size, size_t offset, size_t bytes,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_uint word[2];
    const cl_ulong first = offset / sizeof *word;
    const cl_ulong end = (offset + bytes) / sizeof *word;
    const size_t units = (offset + bytes + UNIT - 1) / UNIT - offset / UNIT;
    const size_t group = f->device->max_work_group < GROUP ? f->device->max_work_group : GROUP;
    const size_t row = ROW / group * group;
    const size_t across = units < row ? (units + group - 1) / group * group : row;
    const size_t global[2] = {across, across > 0 ? (units + across - 1) / across : 0};
    const size_t local[2] = {group, 1};
    if (bytes == 0) {
        return STRAKE_OK;
    }
    memcpy(&word[0], pattern, sizeof word[0]);
    memcpy(&word[1], (const char *)pattern + size - sizeof word[1], sizeof word[1]);
    strake_cl_arguments a = strake_cl_arguments_begin(f->cl, f->kernel);
    strake_cl_pass_buffer(&a, buffer);
    strake_cl_pass(&a, sizeof first, &first);
    strake_cl_pass(&a, sizeof end, &end);
    strake_cl_pass(&a, sizeof word[0], &word[0]);
    strake_cl_pass(&a, sizeof word[1], &word[1]);
    STRAKE_CL("clSetKernelArg", a.code, error, f->device);
    STRAKE_CL(
        "strake_fill",
        f->cl->clEnqueueNDRangeKernel(queue, f->kernel, 2, NULL, global, local, 0, NULL, NULL),
        error, f->device);
cleanup:
    return status;
}

static const strake_cl_pin *find(const strake_cl_pins *pins, const char *memory)
{
    for (int k = 0; k < pins->count; k++) {
        const strake_cl_pin *pin = &pins->pin[k];
        if (memory >= pin->memory && memory < pin->memory + pin->bytes) {
            return pin;
        }
    }
    return NULL;
}

bool strake_cl_pins_add(strake_cl_pins *pins, void *memory, size_t bytes)
{
    /* Buffers have a largest size; whole pages. */
    const size_t most =
        (size_t)pins->device->max_allocation / STRAKE_CL_PIN_PAGE * STRAKE_CL_PIN_PAGE;
    const strake_cl_pin *const before = find(pins, memory);
    bool all = false;
    if (!pins->allowed || before != NULL) {
        return before != NULL && before->buffer != NULL;
    }
    all = pins->count < STRAKE_CL_MOST_PINS;
    for (size_t at = 0; at < bytes && pins->count < STRAKE_CL_MOST_PINS;) {
        const size_t piece = most > 0 && bytes - at > most ? most : bytes - at;
        strake_cl_pin *pin = &pins->pin[pins->count++];
        cl_int code = CL_SUCCESS;
        pin->memory = (const char *)memory + at;
        pin->bytes = piece;
        pin->buffer =
            pins->cl->clCreateBuffer(pins->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, piece,
                                     (char *)memory + at, &code);
        pin->buffer = code == CL_SUCCESS ? pin->buffer : NULL;
        at += piece;
        all = all && pin->buffer != NULL && (at == bytes || pins->count < STRAKE_CL_MOST_PINS);
    }
    return all;
}

void strake_cl_pins_release(strake_cl_pins *pins)
{
    for (int k = 0; k < pins->count; k++) {
        if (pins->pin[k].buffer != NULL) {
            (void)pins->cl->clReleaseMemObject(pins->pin[k].buffer);
        }
    }
    pins->count = 0;
}

/* Bytes from an address on that were pinned together, or belong to no pin; at most @p bytes. */
static size_t together(const strake_cl_pins *pins, const char *memory, size_t bytes)
{
    const strake_cl_pin *pin = find(pins, memory);
    const size_t left = pin != NULL ? pin->bytes - (size_t)(memory - pin->memory) : bytes;
    return left < bytes ? left : bytes;
}

/* From or to host memory, whichever is given; pin by pin. */
static strake_status transfer(const strake_cl_pins *pins, cl_command_queue queue, cl_mem buffer,
                              size_t offset, size_t bytes, const char *from, char *to,
                              cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = pins->cl;
    const bool up = from != NULL;
    for (size_t at = 0; at < bytes;) {
        const size_t piece = together(pins, (up ? from : to) + at, bytes - at);
        cl_event own = NULL;
        cl_event *const event = at + piece == bytes && done != NULL ? done
                                : pins->record != NULL              ? &own
                                                                    : NULL;
        const cl_int code = up ? cl->clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset + at,
                                                          piece, from + at, 0, NULL, event)
                               : cl->clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset + at,
                                                         piece, to + at, 0, NULL, event);
        STRAKE_CL(up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer", code, error, pins->device);
        strake_cl_record_add(pins->record, up ? STRAKE_CL_UP : STRAKE_CL_DOWN, "", (double)piece,
                             event != NULL ? *event : NULL);
        strake_cl_release_event(cl, &own);
        at += piece;
    }
cleanup:
    return status;
}

strake_status strake_cl_pins_write(const strake_cl_pins *pins, cl_command_queue queue, cl_mem to,
                                   size_t offset, size_t bytes, const void *from, cl_event *done,
                                   strake_error *error)
{
    return transfer(pins, queue, to, offset, bytes, from, NULL, done, error);
}

strake_status strake_cl_pins_read(const strake_cl_pins *pins, cl_command_queue queue, cl_mem from,
                                  size_t offset, size_t bytes, void *to, cl_event *done,
                                  strake_error *error)
{
    return transfer(pins, queue, from, offset, bytes, NULL, to, done, error);
}

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
