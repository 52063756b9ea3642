/* Data from one device to another, on the two ways there are. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "base/clock.h"
#include "model/bed.h"

enum { REPEATS = 9 };

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
    return status == STRAKE_OK ? strake_bed_finish(bed, 0, error) : status;
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
    *seconds = strake_bed_median(value, REPEATS);
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

strake_status strake_pair_measure(const strake_cl_list *list, strake_pair_model *pair,
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
