#include "model/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/roof.h"
#include "model/bed.h"

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
        status = strake_pair_measure(list, pair, 2.0 * slice, progress->options->stop,
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
