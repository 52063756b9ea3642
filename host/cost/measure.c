#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/measure.h"
#include "base/clock.h"
#include "cost/bed.h"
#include "opencl/cl_queue.h"

/* Measures the queues of a device: messages, simultaneous transfers, overlap, launches and waits. */

enum {
    REPEATS = 9,
    COPIES = 8 /* in a row beside something else: start-ups hide little */,
    LAUNCHES = 100,
    SHORT = 1024,
    MOST_KERNELS = 256
};

static double *way(strake_both *both, bool up)
{
    return up ? &both->up : &both->down;
}

/* Some work that is timed as a whole, one way where it has one. */
typedef strake_status (*strake_job)(strake_bed *bed, bool up, int number, strake_error *error);

static strake_status time_job(strake_bed *bed, strake_job job, bool up, int number, double *seconds,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[REPEATS + 1] = {0.0};
    for (int k = 0; k <= REPEATS; k++) {
        const double start = strake_clock_seconds();
        STRAKE_TRY(job(bed, up, number, error));
        value[k] = strake_clock_seconds() - start;
    }
    *seconds = strake_sample_of(value + 1, REPEATS).median; /* the first one warms up */
cleanup:
    return status;
}

static strake_status time_both(strake_bed *bed, strake_job job, int number, strake_both *seconds,
                               strake_error *error)
{
    const strake_status status = time_job(bed, job, true, number, &seconds->up, error);
    return status == STRAKE_OK ? time_job(bed, job, false, number, &seconds->down, error) : status;
}

static strake_status flush(strake_bed *bed, int lane, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFlush", bed->cl->clFlush(bed->lane[lane].queue), error, bed->device);
cleanup:
    return status;
}

/* --- messages ------------------------------------------------------------------------------------ */

static strake_status bed_finish(const strake_bed *bed, int lane, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->lane[lane].queue), error, bed->device);
cleanup:
    return status;
}

static strake_status messages(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t each = STRAKE_MODEL_TOTAL / (size_t)number;
    for (int k = 0; k < number; k++) {
        const size_t at = (size_t)k * each;
        STRAKE_TRY(strake_bed_copy(bed, 0, up, at, each, bed->lane[0].pinned + at, NULL, error));
    }
    STRAKE_TRY(bed_finish(bed, 0, error));
cleanup:
    return status;
}

/* gamma: slope of the seconds over the number of further messages. */
static double fit_messages(strake_both *taken, bool up)
{
    strake_fit_point point[STRAKE_MODEL_MESSAGES];
    for (int k = 0; k < STRAKE_MODEL_MESSAGES; k++) {
        point[k] = (strake_fit_point){(1 << k) - 1.0, *way(&taken[k], up), 0.0};
    }
    return strake_fit_line(point, STRAKE_MODEL_MESSAGES).slope;
}

static strake_status measure_messages(strake_bed *bed, strake_device_model *model,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < STRAKE_MODEL_MESSAGES; k++) {
        STRAKE_TRY(time_both(bed, messages, 1 << k, &model->messages[k], error));
    }
    model->message.up = fit_messages(model->messages, true);
    model->message.down = fit_messages(model->messages, false);
cleanup:
    return status;
}

/* --- several at once ------------------------------------------------------------------------------ */

static strake_status queues(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < number; k++) {
        const size_t bytes = bed->lane[STRAKE_MODEL_ACTIVE - 1].bytes;
        STRAKE_TRY(strake_bed_copy(bed, k, up, 0, bytes, bed->lane[k].pinned, NULL, error));
        STRAKE_TRY(flush(bed, k, error));
    }
    for (int k = 0; k < number; k++) {
        STRAKE_TRY(bed_finish(bed, k, error));
    }
cleanup:
    return status;
}

/* The same with a thread for each queue. */
static strake_status threads(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_status result[STRAKE_MODEL_ACTIVE] = {STRAKE_OK};
    strake_error failure[STRAKE_MODEL_ACTIVE];
#pragma omp parallel for num_threads(number) schedule(static, 1)
    for (int k = 0; k < number; k++) {
        const size_t bytes = bed->lane[STRAKE_MODEL_ACTIVE - 1].bytes;
        result[k] = strake_bed_copy(bed, k, up, 0, bytes, bed->lane[k].pinned, NULL, &failure[k]);
        if (result[k] == STRAKE_OK) {
            result[k] = bed_finish(bed, k, &failure[k]);
        }
    }
    for (int k = 0; k < number; k++) {
        STRAKE_CHECK(result[k] == STRAKE_OK, error, result[k], "%s", failure[k].text);
    }
cleanup:
    return status;
}

/* Copies in a row on one queue, lane 0 up and lane 1 down. */
static strake_status enqueue_copies(strake_bed *bed, int lane, bool up, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = bed->lane[STRAKE_MODEL_ACTIVE - 1].bytes;
    for (int k = 0; k < COPIES; k++) {
        STRAKE_TRY(strake_bed_copy(bed, lane, up, 0, bytes, bed->lane[lane].pinned, NULL, error));
    }
    STRAKE_TRY(flush(bed, lane, error));
cleanup:
    return status;
}

/* Up (1), down (2) or both at once (3), each on its own queue. */
static strake_status ways(strake_bed *bed, bool up, int which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    (void)up;
    for (int lane = 0; lane < 2; lane++) {
        if ((which & (1 << lane)) != 0) {
            STRAKE_TRY(enqueue_copies(bed, lane, lane == 0, error));
        }
    }
    for (int lane = 0; lane < 2; lane++) {
        if ((which & (1 << lane)) != 0) {
            STRAKE_TRY(bed_finish(bed, lane, error));
        }
    }
cleanup:
    return status;
}

static strake_max_rate fit_active(strake_device_model *model, bool up, double bytes)
{
    double seconds[STRAKE_MODEL_ACTIVE];
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        seconds[k] = *way(&model->queues[k], up);
    }
    return strake_fit_max_rate(&model->path[up ? STRAKE_UP_PINNED : STRAKE_DOWN_PINNED], bytes,
                               seconds, STRAKE_MODEL_ACTIVE);
}

static strake_status measure_active(strake_bed *bed, strake_device_model *model,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double bytes = (double)bed->lane[STRAKE_MODEL_ACTIVE - 1].bytes;
    double taken[3] = {0.0};
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        STRAKE_TRY(time_both(bed, queues, k + 1, &model->queues[k], error));
        STRAKE_TRY(time_both(bed, threads, k + 1, &model->threads[k], error));
    }
    for (int k = 0; k < 3; k++) {
        STRAKE_TRY(time_job(bed, ways, true, k + 1, &taken[k], error));
    }
    model->active_up = fit_active(model, true, bytes);
    model->active_down = fit_active(model, false, bytes);
    model->both_ways = strake_overlap_factor(taken[0], taken[1], taken[2]);
cleanup:
    return status;
}

/* --- kernels and copies ----------------------------------------------------------------------------- */

static strake_status enqueue_kernels(strake_bed *bed, size_t elements, int number,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < number; k++) {
        STRAKE_CL("clEnqueueNDRangeKernel",
                  bed->cl->clEnqueueNDRangeKernel(bed->lane[0].queue, bed->kernel, 1, NULL,
                                                  &elements, NULL, 0, NULL, NULL),
                  error, bed->device);
    }
    STRAKE_TRY(flush(bed, 0, error));
cleanup:
    return status;
}

static strake_status short_kernels(strake_bed *bed, bool up, int number, strake_error *error)
{
    (void)up;
    const strake_status status = enqueue_kernels(bed, SHORT, number, error);
    return status == STRAKE_OK ? bed_finish(bed, 0, error) : status;
}

static strake_status long_kernels(strake_bed *bed, bool up, int number, strake_error *error)
{
    (void)up;
    const strake_status status = enqueue_kernels(bed, bed->elements, number, error);
    return status == STRAKE_OK ? bed_finish(bed, 0, error) : status;
}

/* Copies on lane 1, another queue and other arrays, beside kernels, or alone where their number is 0. */
static strake_status copies(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(number > 0 ? enqueue_kernels(bed, bed->elements, number, error) : STRAKE_OK);
    STRAKE_TRY(enqueue_copies(bed, 1, up, error));
    STRAKE_TRY(number > 0 ? bed_finish(bed, 0, error) : STRAKE_OK);
    STRAKE_TRY(bed_finish(bed, 1, error));
cleanup:
    return status;
}

/* As many kernels as take about as long as the copies. */
static strake_status measure_overlap(strake_bed *bed, strake_device_model *model,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    double one = 0.0, copy = 0.0, alone = 0.0, both = 0.0;
    STRAKE_TRY(time_job(bed, long_kernels, true, 1, &one, error));
    for (int up = 0; up < 2; up++) {
        STRAKE_TRY(time_job(bed, copies, up, 0, &copy, error));
        const double wanted = ceil(copy / one);
        const int number = wanted < MOST_KERNELS ? (int)wanted : MOST_KERNELS;
        STRAKE_TRY(time_job(bed, long_kernels, true, number, &alone, error));
        STRAKE_TRY(time_job(bed, copies, up, number, &both, error));
        *way(&model->overlap, up) = strake_overlap_factor(alone, copy, both);
    }
cleanup:
    return status;
}

/* --- launches and waits ------------------------------------------------------------------------------ */

static strake_status wait_for_marker(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    (void)up, (void)number;
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              bed->cl->clEnqueueMarkerWithWaitList(bed->lane[0].queue, 0, NULL, &event), error,
              bed->device);
    STRAKE_TRY(strake_bed_wait(bed, bed->lane[0].queue, &event, error));
cleanup:
    return status;
}

/* Two queues that follow each other in turn. */
static strake_status follow(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    (void)up;
    for (int k = 0; k < number; k++) {
        STRAKE_TRY(strake_cl_follow(bed->cl, bed->device, bed->lane[1 - k % 2].queue,
                                    bed->lane[k % 2].queue, error));
    }
    STRAKE_TRY(bed_finish(bed, 0, error));
    STRAKE_TRY(bed_finish(bed, 1, error));
cleanup:
    return status;
}

static strake_status measure_launches(strake_bed *bed, strake_device_model *model,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    double row = 0.0;
    STRAKE_TRY(time_job(bed, short_kernels, true, LAUNCHES, &row, error));
    STRAKE_TRY(time_job(bed, short_kernels, true, 1, &model->launch_wait, error));
    model->launch = row / LAUNCHES;
    STRAKE_TRY(time_job(bed, wait_for_marker, true, 0, &model->wait, error));
    STRAKE_TRY(time_job(bed, follow, true, LAUNCHES, &row, error));
    model->barrier = row / LAUNCHES;
cleanup:
    return status;
}

/* How long the call itself takes that enqueues a large copy without waiting for it. */
static strake_status measure_enqueue(strake_bed *bed, void *memory, double *seconds,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[REPEATS] = {0.0};
    for (int k = 0; k < REPEATS; k++) {
        const double start = strake_clock_seconds();
        STRAKE_TRY(strake_bed_copy(bed, 0, true, 0, bed->lane[1].bytes, memory, NULL, error));
        STRAKE_TRY(flush(bed, 0, error));
        value[k] = strake_clock_seconds() - start;
        STRAKE_TRY(bed_finish(bed, 0, error));
    }
    *seconds = strake_sample_of(value, REPEATS).median;
cleanup:
    return status;
}

static strake_status measure_costs(strake_bed *bed, strake_device_model *model, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(measure_messages(bed, model, error));
    STRAKE_TRY(measure_active(bed, model, error));
    STRAKE_TRY(measure_overlap(bed, model, error));
    STRAKE_TRY(measure_launches(bed, model, error));
    STRAKE_TRY(measure_enqueue(bed, bed->lane[0].pinned, &model->enqueue_pinned, error));
    STRAKE_TRY(measure_enqueue(bed, bed->host, &model->enqueue_pageable, error));
cleanup:
    return status;
}

/* Data from one device to another, on the two ways there are. */

typedef struct road {
    strake_bed from, to;
    strake_cl_pins pins; /**< the slabs of `to`, pinned for the device of `from` too */
} road;

/* As stripes exchange: down into host memory that both devices have pinned, and up from there. */
static strake_status through_host(void *user, size_t bytes, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    road *r = user;
    cl_event event = NULL;
    const strake_lane *a = &r->from.lane[0];
    const strake_lane *b = &r->to.lane[0];
    char *const slabs = r->to.slabs + strake_bed_place(&r->to, bytes);
    const double start = strake_clock_seconds();
    STRAKE_TRY(strake_cl_pins_read(&r->pins, a->queue, a->array, 0, bytes, slabs, &event, error));
    STRAKE_TRY(strake_bed_wait(&r->from, a->queue, &event, error));
    STRAKE_TRY(
        strake_cl_pins_write(&r->to.pins, b->queue, b->array, 0, bytes, slabs, &event, error));
    STRAKE_TRY(strake_bed_wait(&r->to, b->queue, &event, error));
    *seconds = strake_clock_seconds() - start;
cleanup:
    return status;
}

/* A device writes the end of its array: drivers may move a buffer only when its device wants it. */
static strake_status touch(const strake_bed *bed, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int zero = 0;
    const strake_lane *l = &bed->lane[0];
    const double start = strake_clock_seconds();
    STRAKE_TRY(strake_cl_fill(&bed->filler, l->queue, l->array, &zero, sizeof zero,
                              l->bytes - sizeof zero, sizeof zero, error));
    STRAKE_CL("clFinish", bed->cl->clFinish(l->queue), error, bed->device);
    *seconds = strake_clock_seconds() - start;
cleanup:
    return status;
}

/* The copy, and what it takes until the other device can use its array. */
static strake_status in_context(void *user, size_t bytes, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    road *r = user;
    cl_event event = NULL;
    const strake_lane *a = &r->from.lane[0];
    double start = 0.0, first = 0.0, again = 0.0;
    STRAKE_TRY(touch(&r->from, &first, error));
    STRAKE_TRY(touch(&r->to, &first, error));
    start = strake_clock_seconds();
    STRAKE_CL("clEnqueueCopyBuffer",
              r->from.cl->clEnqueueCopyBuffer(a->queue, a->array, r->to.lane[0].array, 0, 0, bytes,
                                              0, NULL, &event),
              error, r->from.device);
    STRAKE_TRY(strake_bed_wait(&r->from, a->queue, &event, error));
    *seconds = strake_clock_seconds() - start;
    STRAKE_TRY(touch(&r->to, &first, error));
    STRAKE_TRY(touch(&r->to, &again, error));
    *seconds += first > again ? first - again : 0.0;
cleanup:
    return status;
}

static strake_status upload(strake_bed *bed, strake_error *error)
{
    const strake_lane *l = &bed->lane[0];
    const size_t bytes = l->bytes < STRAKE_MODEL_LARGE ? l->bytes : STRAKE_MODEL_LARGE;
    const strake_status status = strake_bed_copy(bed, 0, true, 0, bytes, l->pinned, NULL, error);
    return status == STRAKE_OK ? bed_finish(bed, 0, error) : status;
}

/* Median seconds of uploads to one device, the other, or both at once by two threads. */
static strake_status time_uploads(road *r, bool first, bool second, double *seconds,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[REPEATS];
    for (int k = 0; k < REPEATS; k++) {
        strake_status result[2] = {STRAKE_OK, STRAKE_OK};
        strake_error failure[2];
        const double start = strake_clock_seconds();
#pragma omp parallel for num_threads(2) schedule(static, 1)
        for (int d = 0; d < 2; d++) {
            if (d == 0 ? first : second) {
                result[d] = upload(d == 0 ? &r->from : &r->to, &failure[d]);
            }
        }
        value[k] = strake_clock_seconds() - start;
        for (int d = 0; d < 2; d++) {
            STRAKE_CHECK(result[d] == STRAKE_OK, error, result[d], "%s", failure[d].text);
        }
    }
    *seconds = strake_sample_of(value, REPEATS).median;
cleanup:
    return status;
}

static strake_status measure_together(road *r, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double one = 0.0, other = 0.0, both = 0.0;
    STRAKE_TRY(time_uploads(r, true, true, &both, error));
    STRAKE_TRY(time_uploads(r, true, false, &one, error));
    STRAKE_TRY(time_uploads(r, false, true, &other, error));
    STRAKE_TRY(time_uploads(r, true, true, &both, error));
    *out = strake_overlap_factor(one, other, both);
cleanup:
    return status;
}

static strake_status open_road(const strake_cl_list *list, const strake_pair_model *pair,
                               cl_context context, road *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_bed_create(&r->from, list->cl, &list->device[pair->from], context, 1, error));
    STRAKE_TRY(strake_bed_create(&r->to, list->cl, &list->device[pair->to], context, 1, error));
    r->pins = (strake_cl_pins){
        .cl = list->cl, .device = r->from.device, .context = r->from.context, .allowed = true};
    strake_cl_pins_add(&r->pins, r->to.slabs, r->to.host_bytes);
    strake_cl_pins_add(&r->to.pins, r->to.slabs, r->to.host_bytes);
cleanup:
    return status;
}

static void close_road(road *r)
{
    strake_cl_pins_release(&r->pins);
    strake_bed_release(&r->from);
    strake_bed_release(&r->to);
}

/* Both devices in one context, which not all can share. */
static strake_status measure_context(const strake_cl_list *list, strake_pair_model *pair,
                                     strake_sweep *sweep, strake_error *error)
{
    strake_status status = STRAKE_OK;
    road r = {.from = {.cl = NULL}};
    cl_context context = NULL;
    cl_int code = CL_SUCCESS;
    const strake_cl_device *a = &list->device[pair->from];
    const strake_cl_device *b = &list->device[pair->to];
    const cl_device_id devices[2] = {a->device, b->device};
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)a->platform, 0};
    if (a->platform != b->platform) {
        (void)snprintf(pair->why_not, sizeof pair->why_not, "they belong to different platforms");
        return STRAKE_OK;
    }
    context = list->cl->clCreateContext(properties, pair->from == pair->to ? 1 : 2, devices, NULL,
                                        NULL, &code);
    if (code != CL_SUCCESS) {
        (void)snprintf(pair->why_not, sizeof pair->why_not, "clCreateContext of both: %s",
                       strake_cl_error_name(code));
        return STRAKE_OK;
    }
    STRAKE_TRY(open_road(list, pair, context, &r, error));
    sweep->transfer = in_context;
    sweep->user = &r;
    STRAKE_TRY(strake_sweep_run(sweep, &pair->context_measured, &pair->in_context, error));
cleanup:
    close_road(&r);
    (void)list->cl->clReleaseContext(context);
    return status;
}

/** One pair of devices; not supported copies are no failure. */
static strake_status pair_measure(const strake_cl_list *list, strake_pair_model *pair,
                                  double seconds, bool (*stop)(void *user), void *stop_user,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    road r = {.from = {.cl = NULL}};
    strake_sweep sweep = {.transfer = through_host,
                          .user = &r,
                          .seconds = 0.5 * seconds,
                          .stop = stop,
                          .stop_user = stop_user};
    pair->together = (double)NAN;
    STRAKE_TRY(open_road(list, pair, NULL, &r, error));
    sweep.largest = r.from.largest < r.to.largest ? r.from.largest : r.to.largest;
    STRAKE_TRY(strake_sweep_run(&sweep, &pair->host_measured, &pair->through_host, error));
    if (pair->from != pair->to) {
        STRAKE_TRY(measure_together(&r, &pair->together, error));
    }
    close_road(&r);
    STRAKE_TRY(measure_context(list, pair, &sweep, error));
cleanup:
    close_road(&r);
    return status;
}

/* Where the budget goes: all but this share to the sweeps over sizes, of which a pair has two. */
static const double share_of_costs = 0.2;

typedef struct progress_state {
    const strake_model_options *options;
    int done, all; /* sweeps */
} progress_state;

static void tell(progress_state *p, const char *facts)
{
    if (p->options->progress != NULL) {
        p->options->progress(p->options->user, (double)p->done / p->all, facts);
    }
}

static bool is_stopped(const strake_model_options *options)
{
    return options->stop != NULL && options->stop(options->user);
}

typedef struct one_path {
    strake_bed *bed;
    strake_path_kind kind;
} one_path;

static strake_status transfer(void *user, size_t bytes, double *seconds, strake_error *error)
{
    const one_path *path = user;
    return strake_bed_transfer(path->bed, path->kind, bytes, seconds, error);
}

static void identify(const strake_cl_device *device, strake_device_model *model)
{
    char now[32];
    (void)snprintf(model->platform, sizeof model->platform, "%s", device->platform_name);
    (void)snprintf(model->version, sizeof model->version, "%s", device->platform_version);
    (void)snprintf(model->name, sizeof model->name, "%s", device->name);
    (void)snprintf(model->driver, sizeof model->driver, "%s", device->driver);
    (void)snprintf(model->date, sizeof model->date, "%.10s",
                   strake_clock_utc(strake_clock_date(), now));
}

static strake_status measure_device(const strake_cl_list *list, strake_model_device *device,
                                    double slice, progress_state *progress, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char facts[64];
    strake_bed bed = {.cl = NULL};
    strake_device_model *model = &device->model;
    const strake_cl_device *which = &list->device[device->index];
    memset(model, 0, sizeof *model);
    identify(which, model);
    STRAKE_TRY(strake_bed_create(&bed, list->cl, which, NULL, STRAKE_MODEL_ACTIVE, error));
    STRAKE_TRY(strake_bed_build(&bed, error));
    for (int k = 0; k < STRAKE_PATHS && !is_stopped(progress->options); k++) {
        one_path path = {&bed, (strake_path_kind)k};
        const strake_sweep sweep = {.transfer = transfer,
                                    .user = &path,
                                    .largest = bed.largest,
                                    .seconds = slice,
                                    .stop = progress->options->stop,
                                    .stop_user = progress->options->user};
        (void)snprintf(facts, sizeof facts, "ocl:%d, %s", device->index, strake_path_name[k]);
        tell(progress, facts);
        STRAKE_TRY(strake_sweep_run(&sweep, &device->measured[k], &model->path[k], error));
        progress->done++;
    }
    if (!is_stopped(progress->options)) {
        (void)snprintf(facts, sizeof facts, "ocl:%d, queues and launches", device->index);
        tell(progress, facts);
        STRAKE_TRY(measure_costs(&bed, model, error));
    }
    strake_bed_release(&bed);
    model->bandwidth = (double)NAN;
    if (!is_stopped(progress->options)) {
        STRAKE_TRY(strake_roof_device(list->cl, which, &model->bandwidth, error));
    }
cleanup:
    strake_bed_release(&bed);
    return status;
}

static strake_status measure_pairs(strake_cl_list *list, strake_model_machine *m, double slice,
                                   progress_state *progress, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < m->pairs && !is_stopped(progress->options); k++) {
        char facts[64];
        strake_error cause;
        strake_pair_model *pair = &m->pair[k];
        (void)snprintf(facts, sizeof facts, "ocl:%d to ocl:%d", pair->from, pair->to);
        tell(progress, facts);
        status = pair_measure(list, pair, 2.0 * slice, progress->options->stop,
                              progress->options->user, &cause);
        if (status == STRAKE_ERR_DEVICE) { /* some drivers fail only when they are asked to copy */
            (void)snprintf(pair->why_not, sizeof pair->why_not, "%.190s", cause.text);
            status = STRAKE_OK;
        }
        STRAKE_CHECK(status == STRAKE_OK, error, status, "%s", cause.text);
        progress->done += 2;
    }
cleanup:
    return status;
}

strake_status strake_model_measure(strake_cl_list *list, const strake_model_options *options,
                                   strake_model_machine *m, bool *stopped, strake_error *error)
{
    strake_status status = STRAKE_OK;
    progress_state progress = {options, 0, m->devices * STRAKE_PATHS + 2 * m->pairs + 1};
    const double slice = options->budget * (1.0 - share_of_costs) / progress.all;
    for (int d = 0; d < m->devices && !is_stopped(options); d++) {
        strake_error cause;
        m->device[d].status = measure_device(list, &m->device[d], slice, &progress, &cause);
        if (m->device[d].status != STRAKE_OK) {
            (void)snprintf(m->device[d].why, sizeof m->device[d].why, "%.390s", cause.text);
        }
        progress.done = (d + 1) * STRAKE_PATHS;
        STRAKE_CHECK(m->device[d].status == STRAKE_OK || m->device[d].status == STRAKE_ERR_DEVICE,
                     error, m->device[d].status, "%s", cause.text);
    }
    STRAKE_TRY(measure_pairs(list, m, slice, &progress, error));
    m->threads = options->threads;
    m->host_bandwidth = (double)NAN;
    if (options->host && !is_stopped(options)) {
        tell(&progress, "host memory");
        STRAKE_TRY(strake_roof_host(options->threads, &m->host_bandwidth, error));
    }
    *stopped = is_stopped(options);
cleanup:
    return status;
}
