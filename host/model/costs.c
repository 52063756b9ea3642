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
    *seconds = strake_bed_median(value + 1, REPEATS); /* the first one warms up */
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

static strake_status messages(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t each = STRAKE_MODEL_TOTAL / (size_t)number;
    for (int k = 0; k < number; k++) {
        const size_t at = (size_t)k * each;
        STRAKE_TRY(strake_bed_copy(bed, 0, up, at, each, bed->lane[0].pinned + at, NULL, error));
    }
    STRAKE_TRY(strake_bed_finish(bed, 0, error));
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
        STRAKE_TRY(strake_bed_finish(bed, k, error));
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
            result[k] = strake_bed_finish(bed, k, &failure[k]);
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
            STRAKE_TRY(strake_bed_finish(bed, lane, error));
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
    return status == STRAKE_OK ? strake_bed_finish(bed, 0, error) : status;
}

static strake_status long_kernels(strake_bed *bed, bool up, int number, strake_error *error)
{
    (void)up;
    const strake_status status = enqueue_kernels(bed, bed->elements, number, error);
    return status == STRAKE_OK ? strake_bed_finish(bed, 0, error) : status;
}

/* Copies on lane 1, another queue and other arrays, beside kernels, or alone where their number is 0. */
static strake_status copies(strake_bed *bed, bool up, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(number > 0 ? enqueue_kernels(bed, bed->elements, number, error) : STRAKE_OK);
    STRAKE_TRY(enqueue_copies(bed, 1, up, error));
    STRAKE_TRY(number > 0 ? strake_bed_finish(bed, 0, error) : STRAKE_OK);
    STRAKE_TRY(strake_bed_finish(bed, 1, error));
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
    STRAKE_TRY(strake_bed_finish(bed, 0, error));
    STRAKE_TRY(strake_bed_finish(bed, 1, error));
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
        STRAKE_TRY(strake_bed_finish(bed, 0, error));
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
