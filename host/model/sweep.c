/* Transfers of every size over one path, and the model that follows. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/clock.h"
#include "model/bed.h"
#include "opencl/cl_wait.h"

/* The halves of an exchange as a stripe makes them: a driver is slower after a kernel than in a row of
   transfers, and memory that another processor has just written is slower to read. */

enum { KERNEL_BYTES = 1048576 /* of each array of the kernel before a transfer */ };

/* The next slabs, pinned; a neighbour's thread writes them. */
static char *make_slabs(strake_bed *bed, size_t bytes)
{
    const size_t pages = (bytes + STRAKE_CL_PIN_PAGE - 1) / STRAKE_CL_PIN_PAGE;
    char *const slabs = bed->slabs + strake_bed_place(bed, bytes);
    strake_cl_pins_release(&bed->pins);
    strake_cl_pins_add(&bed->pins, slabs, pages * STRAKE_CL_PIN_PAGE);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() + 1 == omp_get_num_threads()) {
        /* As a stripe writes, number by number: memset has stores of its own, which other processors see sooner. */
        double *const number = (double *)(void *)slabs;
        for (size_t k = 0; k < bytes / sizeof *number; k++) {
            number[k] = (double)k;
        }
    }
    return slabs;
}

/* The end of a sweep. */
static strake_status compute(strake_bed *bed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t all = bed->elements;
    const size_t some = KERNEL_BYTES / (bed->device->has_double ? sizeof(double) : sizeof(float));
    const size_t global = some < all ? some : all;
    STRAKE_CL("clEnqueueNDRangeKernel",
              bed->cl->clEnqueueNDRangeKernel(bed->stripe, bed->kernel, 1, NULL, &global, NULL, 0,
                                              NULL, NULL),
              error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(bed->stripe), error, bed->device);
cleanup:
    return status;
}

/**
 * Half of an exchange as a stripe makes it, after a kernel: its border slabs into pinned host arrays, or
 * ghost slabs that another thread has just written from there. What comes before the transfer is not timed.
 * Needs the kernel.
 * @param[in] beside  on a queue of its own, else on the kernel's
 */
static strake_status bed_publish(strake_bed *bed, bool beside, size_t bytes, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double start = 0.0;
    const cl_command_queue queue = beside ? bed->lane[0].queue : bed->stripe;
    strake_cl_waiter waiter = {.kind = STRAKE_CL_WAIT_DEFAULT};
    char *const slabs = make_slabs(bed, bytes);
    STRAKE_TRY(compute(bed, error));
    start = strake_clock_seconds();
    if (beside) {
        STRAKE_TRY(strake_cl_follow(bed->cl, bed->device, queue, bed->stripe, error));
    }
    STRAKE_TRY(strake_cl_pins_read(&bed->pins, queue, bed->lane[0].array,
                                   strake_bed_offset(bed, bytes), bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_TRY(strake_cl_wait(bed->cl, bed->device, &waiter, &event, error));
    *seconds = strake_clock_seconds() - start;
cleanup:
    strake_cl_release_event(bed->cl, &event);
    return status;
}

static strake_status bed_fetch(strake_bed *bed, bool beside, size_t bytes, double *seconds,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    double ignored = 0.0, start = 0.0;
    char *slabs = NULL;
    const cl_command_queue queue = beside ? bed->lane[0].queue : bed->stripe;
    STRAKE_TRY(bed_publish(bed, beside, bytes, &ignored, error));
    slabs = make_slabs(bed, bytes);
    start = strake_clock_seconds();
    STRAKE_TRY(strake_cl_pins_write(&bed->pins, queue, bed->lane[0].array,
                                    strake_bed_offset(bed, bytes), bytes, slabs, &event, error));
    STRAKE_CL("clFlush", bed->cl->clFlush(queue), error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(queue), error, bed->device);
    *seconds = strake_clock_seconds() - start;
cleanup:
    strake_cl_release_event(bed->cl, &event);
    return status;
}

enum {
    LEAST_BYTES = 64,
    SETTLE = 4,
    SETTLE_BYTES = 96,
    LEAST_ROUNDS = 5,
    MOST_ROUNDS = 31,
    LEAST_SIZES = 14
};

/* Through a mapping of the device's own buffer. */
static strake_status map_transfer(strake_bed *bed, bool up, size_t bytes, char *place,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_lane *lane = &bed->lane[0];
    const size_t offset = strake_bed_offset(bed, bytes);
    char *mapped = bed->cl->clEnqueueMapBuffer(lane->queue, lane->array, CL_TRUE,
                                               up ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ,
                                               offset, bytes, 0, NULL, NULL, &code);
    STRAKE_CL("clEnqueueMapBuffer", code, error, bed->device);
    memcpy(up ? mapped : place, up ? place : mapped, bytes);
    STRAKE_CL("clEnqueueUnmapMemObject",
              bed->cl->clEnqueueUnmapMemObject(lane->queue, lane->array, mapped, 0, NULL, NULL),
              error, bed->device);
    STRAKE_CL("clFinish", bed->cl->clFinish(lane->queue), error, bed->device);
cleanup:
    return status;
}

/* A copy, and waiting for it. */
static strake_status copy(strake_bed *bed, bool up, char *memory, size_t bytes, strake_error *error)
{
    cl_event event = NULL;
    const strake_status status =
        strake_bed_copy(bed, 0, up, strake_bed_offset(bed, bytes), bytes, memory, &event, error);
    return status == STRAKE_OK ? strake_bed_wait(bed, bed->lane[0].queue, &event, error) : status;
}

static strake_status copy_within(strake_bed *bed, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    const strake_lane *lane = &bed->lane[0];
    const size_t offset = strake_bed_offset(bed, bytes);
    STRAKE_CL("clEnqueueCopyBuffer",
              bed->cl->clEnqueueCopyBuffer(lane->queue, lane->array, bed->other, offset, offset,
                                           bytes, 0, NULL, &event),
              error, bed->device);
    STRAKE_TRY(strake_bed_wait(bed, lane->queue, &event, error));
cleanup:
    return status;
}

strake_status strake_bed_transfer(strake_bed *bed, strake_path_kind kind, size_t bytes,
                                  double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    switch (kind) {
    case STRAKE_PUBLISH:
    case STRAKE_PUBLISH_BESIDE:
        return bed_publish(bed, kind == STRAKE_PUBLISH_BESIDE, bytes, seconds, error);
    case STRAKE_FETCH:
    case STRAKE_FETCH_BESIDE:
        return bed_fetch(bed, kind == STRAKE_FETCH_BESIDE, bytes, seconds, error);
    default:
        break;
    }
    char *const place = bed->host + strake_bed_place(bed, bytes);
    char *const pinned = bed->lane[0].pinned;
    const double start = strake_clock_seconds();
    switch (kind) {
    case STRAKE_UP_PAGEABLE:
    case STRAKE_DOWN_PAGEABLE:
        status = copy(bed, kind == STRAKE_UP_PAGEABLE, place, bytes, error);
        break;
    case STRAKE_UP_PINNED:
    case STRAKE_DOWN_PINNED:
        status = copy(bed, kind == STRAKE_UP_PINNED, pinned, bytes, error);
        break;
    case STRAKE_UP_MAPPED:
    case STRAKE_DOWN_MAPPED:
        status = map_transfer(bed, kind == STRAKE_UP_MAPPED, bytes, place, error);
        break;
    default:
        status = copy_within(bed, bytes, error);
    }
    *seconds = strake_clock_seconds() - start;
    return status;
}

/* Sizes and their samples while a sweep runs. */
typedef struct samples {
    int sizes, rounds;
    size_t bytes[STRAKE_FIT_POINTS];
    double seconds[STRAKE_FIT_POINTS][MOST_ROUNDS];
} samples;

static bool is_stopped(const strake_sweep *sweep)
{
    return sweep->stop != NULL && sweep->stop(sweep->stop_user);
}

/* Rounds over sizes [first, sizes): a disturbance meets all sizes, not one. */
static strake_status run_rounds(const strake_sweep *sweep, int first, double limit, samples *s,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double start = strake_clock_seconds();
    for (s->rounds = 0; s->rounds < MOST_ROUNDS; s->rounds++) {
        const bool enough = s->rounds >= LEAST_ROUNDS && strake_clock_seconds() - start > limit;
        if (enough || (s->rounds > 0 && is_stopped(sweep))) {
            break;
        }
        for (int k = 0; k < SETTLE; k++) { /* the largest transfer has emptied the caches */
            double ignored = 0.0;
            STRAKE_TRY(sweep->transfer(sweep->user, SETTLE_BYTES, &ignored, error));
        }
        for (int k = first; k < s->sizes; k++) {
            STRAKE_TRY(sweep->transfer(sweep->user, s->bytes[k], &s->seconds[k][s->rounds], error));
        }
    }
cleanup:
    return status;
}

static void add_points(const samples *s, int first, strake_measured *out)
{
    for (int k = first; k < s->sizes; k++) {
        double sorted[MOST_ROUNDS];
        memcpy(sorted, s->seconds[k], sizeof sorted);
        strake_measured_point *p = &out->point[out->points++];
        p->bytes = (double)s->bytes[k];
        p->repeats = s->rounds;
        p->median = fmax(1e-9, strake_bed_median(sorted, s->rounds)); /* sorts */
        p->least = sorted[0];
        p->high = sorted[(s->rounds - 1) * 9 / 10];
        p->scatter = strake_fit_scatter(sorted, s->rounds);
    }
}

static strake_path fit(const strake_measured *m)
{
    strake_fit_point point[STRAKE_FIT_POINTS];
    for (int k = 0; k < m->points; k++) {
        point[k] = (strake_fit_point){m->point[k].bytes, m->point[k].median, m->point[k].scatter};
    }
    return strake_fit_path(point, m->points);
}

/* Twice each: the first transfer of a size may compile, pin or allocate. */
static strake_status warm_up(const strake_sweep *sweep, size_t bytes, double *seconds,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(sweep->transfer(sweep->user, bytes, seconds, error));
    STRAKE_TRY(sweep->transfer(sweep->user, bytes, seconds, error));
cleanup:
    return status;
}

/* Sizes that double, as long as the time allows enough rounds of them. */
static strake_status choose_sizes(const strake_sweep *sweep, samples *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double round = 0.0;
    for (size_t bytes = LEAST_BYTES; bytes <= sweep->largest; bytes *= 2) {
        double seconds = 0.0;
        STRAKE_TRY(warm_up(sweep, bytes, &seconds, error));
        round += seconds;
        if (s->sizes >= LEAST_SIZES && round * LEAST_ROUNDS > sweep->seconds) {
            break;
        }
        s->bytes[s->sizes++] = bytes;
    }
cleanup:
    return status;
}

static bool is_known(const samples *s, size_t bytes)
{
    for (int k = 0; k < s->sizes; k++) {
        if (s->bytes[k] == bytes) {
            return true;
        }
    }
    return false;
}

/* Three more sizes in the octave on either side of each break. */
static strake_status add_sizes(const strake_sweep *sweep, const strake_path *path, samples *s,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t most = s->bytes[s->sizes - 1];
    for (int r = 1; r < path->regimes; r++) {
        for (int quarter = -3; quarter <= 3; quarter++) {
            double seconds = 0.0;
            const double wanted = path->regime[r].from * exp2(quarter / 4.0);
            const size_t bytes = (size_t)(wanted / LEAST_BYTES + 0.5) * LEAST_BYTES;
            if (bytes >= LEAST_BYTES && bytes <= most && !is_known(s, bytes) &&
                s->sizes < STRAKE_FIT_POINTS) {
                STRAKE_TRY(warm_up(sweep, bytes, &seconds, error));
                s->bytes[s->sizes++] = bytes;
            }
        }
    }
cleanup:
    return status;
}

strake_status strake_sweep_run(const strake_sweep *sweep, strake_measured *measured,
                               strake_path *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    samples s = {.sizes = 0};
    int first = 0;
    measured->points = 0;
    STRAKE_TRY(choose_sizes(sweep, &s, error));
    STRAKE_TRY(run_rounds(sweep, 0, 0.7 * sweep->seconds, &s, error));
    add_points(&s, 0, measured);
    *path = fit(measured);
    first = s.sizes;
    STRAKE_TRY(add_sizes(sweep, path, &s, error));
    if (s.sizes > first && !is_stopped(sweep)) {
        STRAKE_TRY(run_rounds(sweep, first, 0.3 * sweep->seconds, &s, error));
        add_points(&s, first, measured);
        *path = fit(measured);
    }
cleanup:
    return status;
}
