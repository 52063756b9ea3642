/* What a device's queues cost: messages, several transfers at once, overlaps, launches and waits. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/clock.h"
#include "model/bed.h"
#include "opencl/cl_wait.h"

enum {
    REPEATS = 9,
    COPIES = 8 /* in a row beside something else: start-ups hide little */,
    LAUNCHES = 100,
    SHORT = 1024,
    MOST_KERNELS = 256
};

/* Some work that is timed as a whole. */
typedef strake_status (*strake_job)(strake_bed *bed, int number, strake_error *error);

static strake_status time_job(strake_bed *bed, strake_job job, int number, double *seconds,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[REPEATS + 1] = {0.0};
    for (int k = 0; k <= REPEATS; k++) {
        const double start = strake_clock_seconds();
        STRAKE_TRY(job(bed, number, error));
        value[k] = strake_clock_seconds() - start;
    }
    *seconds = strake_bed_median(value + 1, REPEATS); /* the first one warms up */
cleanup:
    return status;
}

static strake_status enqueue_copy(strake_bed *bed, int lane, bool up, size_t at, size_t bytes,
                                  void *memory, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_lane *l = &bed->lane[lane];
    STRAKE_CL(up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer",
              up ? bed->cl->clEnqueueWriteBuffer(l->queue, l->array, CL_FALSE, at, bytes, memory, 0,
                                                 NULL, NULL)
                 : bed->cl->clEnqueueReadBuffer(l->queue, l->array, CL_FALSE, at, bytes, memory, 0,
                                                NULL, NULL),
              error, bed->device);
cleanup:
    return status;
}

static strake_status flush(strake_bed *bed, int lane, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFlush", bed->cl->clFlush(bed->lane[lane].queue), error, bed->device);
cleanup:
    return status;
}

static strake_status finish(strake_bed *bed, int lane, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->lane[lane].queue), error, bed->device);
cleanup:
    return status;
}

/* --- messages ------------------------------------------------------------------------------------ */

static strake_status messages(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t each = STRAKE_MODEL_TOTAL / (size_t)number;
    for (int k = 0; k < number; k++) {
        const size_t at = (size_t)k * each;
        STRAKE_TRY(enqueue_copy(bed, 0, up, at, each, bed->lane[0].pinned + at, error));
    }
    STRAKE_TRY(finish(bed, 0, error));
cleanup:
    return status;
}

static strake_status messages_up(strake_bed *bed, int number, strake_error *error)
{
    return messages(bed, true, number, error);
}

static strake_status messages_down(strake_bed *bed, int number, strake_error *error)
{
    return messages(bed, false, number, error);
}

/* gamma: slope of the seconds over the number of further messages. */
static double fit_messages(const strake_both *taken, bool up)
{
    strake_fit_point point[STRAKE_MODEL_MESSAGES];
    for (int k = 0; k < STRAKE_MODEL_MESSAGES; k++) {
        point[k] = (strake_fit_point){(1 << k) - 1.0, up ? taken[k].up : taken[k].down, 0.0};
    }
    return strake_fit_line(point, STRAKE_MODEL_MESSAGES).slope;
}

static strake_status measure_messages(strake_bed *bed, strake_device_model *model,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < STRAKE_MODEL_MESSAGES; k++) {
        STRAKE_TRY(time_job(bed, messages_up, 1 << k, &model->messages[k].up, error));
        STRAKE_TRY(time_job(bed, messages_down, 1 << k, &model->messages[k].down, error));
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
        STRAKE_TRY(enqueue_copy(bed, k, up, 0, bytes, bed->lane[k].pinned, error));
        STRAKE_TRY(flush(bed, k, error));
    }
    for (int k = 0; k < number; k++) {
        STRAKE_TRY(finish(bed, k, error));
    }
cleanup:
    return status;
}

static strake_status queues_up(strake_bed *bed, int number, strake_error *error)
{
    return queues(bed, true, number, error);
}

static strake_status queues_down(strake_bed *bed, int number, strake_error *error)
{
    return queues(bed, false, number, error);
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
        result[k] = enqueue_copy(bed, k, up, 0, bytes, bed->lane[k].pinned, &failure[k]);
        if (result[k] == STRAKE_OK) {
            result[k] = finish(bed, k, &failure[k]);
        }
    }
    for (int k = 0; k < number; k++) {
        STRAKE_CHECK(result[k] == STRAKE_OK, error, result[k], "%s", failure[k].text);
    }
cleanup:
    return status;
}

static strake_status threads_up(strake_bed *bed, int number, strake_error *error)
{
    return threads(bed, true, number, error);
}

static strake_status threads_down(strake_bed *bed, int number, strake_error *error)
{
    return threads(bed, false, number, error);
}

/* Copies in a row on one queue, lane 0 up and lane 1 down. */
static strake_status enqueue_copies(strake_bed *bed, int lane, bool up, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = bed->lane[STRAKE_MODEL_ACTIVE - 1].bytes;
    for (int k = 0; k < COPIES; k++) {
        STRAKE_TRY(enqueue_copy(bed, lane, up, 0, bytes, bed->lane[lane].pinned, error));
    }
    STRAKE_TRY(flush(bed, lane, error));
cleanup:
    return status;
}

/* Up (1), down (2) or both at once (3), each on its own queue. */
static strake_status ways(strake_bed *bed, int which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int lane = 0; lane < 2; lane++) {
        if ((which & (1 << lane)) != 0) {
            STRAKE_TRY(enqueue_copies(bed, lane, lane == 0, error));
        }
    }
    for (int lane = 0; lane < 2; lane++) {
        if ((which & (1 << lane)) != 0) {
            STRAKE_TRY(finish(bed, lane, error));
        }
    }
cleanup:
    return status;
}

static strake_max_rate fit_active(const strake_device_model *model, bool up, double bytes)
{
    double seconds[STRAKE_MODEL_ACTIVE];
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        seconds[k] = up ? model->queues[k].up : model->queues[k].down;
    }
    return strake_fit_max_rate(&model->path[up ? STRAKE_UP_PINNED : STRAKE_DOWN_PINNED], bytes,
                               seconds, STRAKE_MODEL_ACTIVE);
}

static strake_status measure_active(strake_bed *bed, strake_device_model *model,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double bytes = (double)bed->lane[STRAKE_MODEL_ACTIVE - 1].bytes;
    double alone[2] = {0.0, 0.0};
    double both = 0.0;
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        STRAKE_TRY(time_job(bed, queues_up, k + 1, &model->queues[k].up, error));
        STRAKE_TRY(time_job(bed, queues_down, k + 1, &model->queues[k].down, error));
        STRAKE_TRY(time_job(bed, threads_up, k + 1, &model->threads[k].up, error));
        STRAKE_TRY(time_job(bed, threads_down, k + 1, &model->threads[k].down, error));
    }
    STRAKE_TRY(time_job(bed, ways, 1, &alone[0], error));
    STRAKE_TRY(time_job(bed, ways, 2, &alone[1], error));
    STRAKE_TRY(time_job(bed, ways, 3, &both, error));
    model->active_up = fit_active(model, true, bytes);
    model->active_down = fit_active(model, false, bytes);
    model->both_ways = strake_overlap_factor(alone[0], alone[1], both);
cleanup:
    return status;
}

/* --- kernels and copies ----------------------------------------------------------------------------- */

static strake_status enqueue_kernels(strake_bed *bed, int lane, size_t elements, int number,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < number; k++) {
        STRAKE_CL("clEnqueueNDRangeKernel",
                  bed->cl->clEnqueueNDRangeKernel(bed->lane[lane].queue, bed->kernel, 1, NULL,
                                                  &elements, NULL, 0, NULL, NULL),
                  error, bed->device);
    }
cleanup:
    return status;
}

static strake_status short_kernels(strake_bed *bed, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(enqueue_kernels(bed, 0, SHORT, number, error));
    STRAKE_TRY(finish(bed, 0, error));
cleanup:
    return status;
}

static strake_status long_kernels(strake_bed *bed, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(enqueue_kernels(bed, 0, bed->elements, number, error));
    STRAKE_TRY(finish(bed, 0, error));
cleanup:
    return status;
}

/* Copies on lane 1: another queue, other arrays. */
static strake_status copies_up(strake_bed *bed, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    (void)number;
    STRAKE_TRY(enqueue_copies(bed, 1, true, error));
    STRAKE_TRY(finish(bed, 1, error));
cleanup:
    return status;
}

static strake_status copies_down(strake_bed *bed, int number, strake_error *error)
{
    (void)number;
    return ways(bed, 2, error);
}

static strake_status kernels_and_copies(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(enqueue_kernels(bed, 0, bed->elements, number, error));
    STRAKE_TRY(flush(bed, 0, error));
    STRAKE_TRY(enqueue_copies(bed, 1, up, error));
    STRAKE_TRY(finish(bed, 0, error));
    STRAKE_TRY(finish(bed, 1, error));
cleanup:
    return status;
}

static strake_status beside_up(strake_bed *bed, int number, strake_error *error)
{
    return kernels_and_copies(bed, true, number, error);
}

static strake_status beside_down(strake_bed *bed, int number, strake_error *error)
{
    return kernels_and_copies(bed, false, number, error);
}

/* As many kernels as take about as long as the copies. */
static strake_status measure_overlap(strake_bed *bed, strake_device_model *model,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    double one = 0.0, copy = 0.0, alone = 0.0, both = 0.0;
    STRAKE_TRY(time_job(bed, long_kernels, 1, &one, error));
    for (int up = 0; up < 2; up++) {
        STRAKE_TRY(time_job(bed, up ? copies_up : copies_down, 0, &copy, error));
        const double wanted = ceil(copy / one);
        const int number = wanted < MOST_KERNELS ? (int)wanted : MOST_KERNELS;
        STRAKE_TRY(time_job(bed, long_kernels, number, &alone, error));
        STRAKE_TRY(time_job(bed, up ? beside_up : beside_down, number, &both, error));
        *(up ? &model->overlap.up : &model->overlap.down) =
            strake_overlap_factor(alone, copy, both);
    }
cleanup:
    return status;
}

/* --- launches and waits ------------------------------------------------------------------------------ */

static strake_status wait_for_marker(strake_bed *bed, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    (void)number;
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              bed->cl->clEnqueueMarkerWithWaitList(bed->lane[0].queue, 0, NULL, &event), error,
              bed->device);
    STRAKE_TRY(strake_bed_wait(bed, bed->lane[0].queue, &event, error));
cleanup:
    return status;
}

/* Two queues that follow each other in turn. */
static strake_status follow(strake_bed *bed, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < number; k++) {
        STRAKE_TRY(strake_cl_follow(bed->cl, bed->device, bed->lane[1 - k % 2].queue,
                                    bed->lane[k % 2].queue, error));
    }
    STRAKE_TRY(finish(bed, 0, error));
    STRAKE_TRY(finish(bed, 1, error));
cleanup:
    return status;
}

static strake_status measure_launches(strake_bed *bed, strake_device_model *model,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    double row = 0.0;
    STRAKE_TRY(time_job(bed, short_kernels, LAUNCHES, &row, error));
    STRAKE_TRY(time_job(bed, short_kernels, 1, &model->launch_wait, error));
    model->launch = row / LAUNCHES;
    STRAKE_TRY(time_job(bed, wait_for_marker, 0, &model->wait, error));
    STRAKE_TRY(time_job(bed, follow, LAUNCHES, &row, error));
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
        STRAKE_TRY(enqueue_copy(bed, 0, true, 0, bed->lane[1].bytes, memory, error));
        STRAKE_TRY(flush(bed, 0, error));
        value[k] = strake_clock_seconds() - start;
        STRAKE_TRY(finish(bed, 0, error));
    }
    *seconds = strake_bed_median(value, REPEATS);
cleanup:
    return status;
}

strake_status strake_bed_costs(strake_bed *bed, strake_device_model *model, strake_error *error)
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
