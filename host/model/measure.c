#include "model/measure.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/roof.h"
#include "model/bed.h"

/* Data from one device to another, on the two ways there are. */

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
        STRAKE_TRY(strake_bed_costs(&bed, model, error));
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
