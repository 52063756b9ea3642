/* The kernels of particles on a device: how settings shape them, their program, their launches and their times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "case/groups.h"
#include "particles/crew.h"
#include "particles/device.h"
#include "particles/run_opencl.h"

enum {
    GROUP = 128,
    SUMMERS =
        512, /* work-items of the one group that brings down what groups left: it waits for memory alone */
    TIMED_STEPS = 4,
    MOST_TIMED = 256
};

/* Those whose groups may have sizes of their own, in the order of run.groups: passes, then what an order takes. */
static const strake_sph_kernel_name sized[] = {
    STRAKE_SPH_PREDICT, STRAKE_SPH_CORRECT,    STRAKE_SPH_ENTER,    STRAKE_SPH_SCATTER,
    STRAKE_SPH_SETTLE,  STRAKE_SPH_COUNT_NEAR, STRAKE_SPH_FILL_NEAR};
enum { SIZED = sizeof sized / sizeof *sized };

static const char *const kernel_names[STRAKE_SPH_KERNELS] = {
    "sph_enter",     "sph_gather",    "sph_scatter",    "sph_place",      "sph_count_near",
    "sph_fill_near", "sph_scan_sums", "sph_scan_tops",  "sph_scan_write", "sph_predict",
    "sph_correct",   "sph_filter",    "sph_renew",      "sph_look",       "sph_tick",
    "sph_pass",      "sph_pass_half", "sph_pass_whole", "sph_half",       "sph_whole",
    "sph_sum_up",    "sph_leave",     "sph_arrive",     "sph_tell"};

/* --- what settings come to ------------------------------------------------------------------------ */

static strake_status check_group(const strake_cl_device *device, const char *path, int items,
                                 strake_error *error)
{
    const size_t most = device->max_work_group;
    if (items % STRAKE_SPH_SIDE_BY_SIDE == 0 && (size_t)items <= most) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: %d work-items: groups of particles have a multiple of %d, and on %s "
                       "at most %zu",
                       path, items, STRAKE_SPH_SIDE_BY_SIDE, device->name, most);
}

strake_status strake_sph_choose(strake_sph_device *own, const strake_cl_device *device,
                                const strake_settings *settings, strake_error *error)
{
    static const strake_settings none = {.group_width = 0};
    strake_status status = STRAKE_OK;
    strake_group size[STRAKE_MOST_GROUPS] = {{0, 0}};
    const size_t most = device->max_work_group;
    strake_settings *const s = &own->settings;
    settings = settings != NULL ? settings : &none;
    *s = (strake_settings){.group_width = settings->group_width > 0 ? settings->group_width
                                          : most < GROUP            ? (int)most
                                                                    : GROUP,
                           .prefetch = settings->prefetch > 1 ? 2 : 1,
                           .vector = settings->vector > 1 ? settings->vector : 1,
                           .lists = settings->lists > 0 ? settings->lists : STRAKE_SPH_PACKED,
                           .registers = settings->registers,
                           .device_memory = settings->device_memory};
    own->may_shrink = settings->group_width == 0 && settings->groups[0] == '\0';
    memcpy(s->groups, settings->groups, sizeof s->groups);
    (void)strake_groups_read(settings->groups, size);
    STRAKE_TRY(check_group(device, "run.group_width", s->group_width, error));
    own->largest = (size_t)s->group_width;
    for (int k = 0; k < STRAKE_SPH_KERNELS; k++) {
        own->group[k] = (size_t)s->group_width;
    }
    for (int k = 0; k < SIZED; k++) {
        const int items = size[k].width * (size[k].height > 1 ? size[k].height : 1);
        if (items > 0) {
            STRAKE_TRY(check_group(device, "run.groups", items, error));
            own->group[sized[k]] = (size_t)items;
            own->largest = (size_t)items > own->largest ? (size_t)items : own->largest;
        }
    }
    own->group[STRAKE_SPH_TICK] = own->group[STRAKE_SPH_SUM_UP] =
        most < SUMMERS || !strake_cl_device_is_gpu(device) ? own->largest : SUMMERS;
    own->group[STRAKE_SPH_PASS] = own->group[STRAKE_SPH_PASS_HALF] = own->group[STRAKE_SPH_PREDICT];
    own->group[STRAKE_SPH_PASS_WHOLE] = own->group[STRAKE_SPH_CORRECT];
cleanup:
    return status;
}

void strake_sph_device_is_shared(strake_sph_run *run, bool is_shared)
{
    ((strake_sph_device *)run)->is_shared = is_shared;
}

void strake_sph_device_watch(strake_sph_run *run, double limit)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    own->limit = own->waiter.limit = limit;
}

void strake_sph_device_describe(const strake_sph_run *run, strake_cl_description *out)
{
    const strake_sph_device *const own = (const strake_sph_device *)run;
    char option[64];
    *out = (strake_cl_description){
        .count = SIZED,
        .of_particles = true,
        .limitable =
            strake_cl_register_options(own->session->device, 1, option, sizeof option) != NULL,
        .used = own->settings,
        .registers = own->registers};
}

/* --- the program ---------------------------------------------------------------------------------- */

/* Everything that the case fixes, and what settings do. */
static void print_options(const strake_sph_device *own, bool has_walls, char *text, size_t size)
{
    const strake_sph *const sph = own->run.sph;
    const bool *const round = own->run.cells.is_round;
    char limit[64];
    const char *const registers = strake_cl_register_options(
        own->session->device, own->settings.registers, limit, sizeof limit);
    (void)snprintf(text, size,
                   "-DSPH_DIMS=%d -DSPH_CUBIC=%d -DSPH_LAMINAR=%d -DSPH_DIFFUSION=%d "
                   "-DSPH_WALLS=%d -DSPH_PLANES=%d -DSPH_ROUND=%d -DSPH_GROUP=%d -DSPH_SUMMERS=%d "
                   "-DSPH_EACH=%d "
                   "-DSPH_WIDE=%d -DSPH_AHEAD=%d -DSPH_SLIPS=%d -DSPH_FILTERS=%d "
                   "-DSPH_MOTIONS=%d -DSPH_DOUBLES=%d%s%s%s",
                   sph->dims, sph->kernel == STRAKE_SPH_CUBIC, sph->viscosity == STRAKE_SPH_LAMINAR,
                   (int)sph->diffusion, has_walls, sph->planes,
                   round[0] | round[1] << 1 | round[2] << 2, (int)own->largest,
                   (int)own->group[STRAKE_SPH_TICK], own->settings.vector,
                   own->settings.lists == STRAKE_SPH_WIDE, own->settings.prefetch > 1, sph->slips,
                   sph->shepard > 0, sph->motions != NULL, own->session->device->has_double,
                   sph->is_fast ? " -DSPH_FAST" : "", registers != NULL ? " " : "",
                   registers != NULL ? registers : "");
}

/* Whether a run needs that kernel: steps by a clock on the device are in doubles. */
static bool has_kernel(const strake_sph_device *own, int name)
{
    const bool filters = name == STRAKE_SPH_FILTER || name == STRAKE_SPH_RENEW;
    const bool has_clock = name == STRAKE_SPH_PREDICT || name == STRAKE_SPH_CORRECT ||
                           name == STRAKE_SPH_TICK || name == STRAKE_SPH_SUM_UP;
    return (!filters || own->run.sph->shepard > 0) &&
           (!has_clock || own->session->device->has_double);
}

/* Groups that nobody asked for are as large as kernels allow, all alike, since several share what they leave. */
static strake_status limit_groups(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_device *const device = own->session->device;
    size_t least = SIZE_MAX;
    for (int k = 0; k < STRAKE_SPH_KERNELS; k++) {
        size_t most = 0;
        if (own->kernel[k] == NULL || own->session->cl->clGetKernelWorkGroupInfo(
                                          own->kernel[k], device->device, CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof most, &most, NULL) != CL_SUCCESS) {
            continue;
        }
        most = strake_cl_group_limit(device, most, own->group[k]);
        STRAKE_CHECK(own->group[k] <= most ||
                         (own->may_shrink && most >= (size_t)STRAKE_SPH_SIDE_BY_SIDE),
                     error, STRAKE_ERR_DEVICE,
                     "%s: groups of %zu work-items of kernel %s need more than the device has: "
                     "%zu are possible; take a smaller run.group_width or run.groups",
                     device->name, own->group[k], kernel_names[k], most);
        least = own->group[k] > most && most < least ? most : least;
    }
    least = least / STRAKE_SPH_SIDE_BY_SIDE * STRAKE_SPH_SIDE_BY_SIDE;
    for (int k = 0; k < STRAKE_SPH_KERNELS; k++) {
        own->group[k] = least < own->group[k] ? least : own->group[k];
    }
    if (least < SIZE_MAX) {
        own->settings.group_width = (int)own->group[STRAKE_SPH_ENTER];
    }
cleanup:
    return status;
}

strake_status strake_sph_build(strake_sph_device *own, bool has_walls, const char *folder,
                               strake_error *error)
{
    static const char *const part[] = {
        "real.h",     "sph_double.h", "sine.h",       "sph_motion.h",  "sph_point.h",
        "sph_pair.h", "sph_clock.h",  "reduce.cl",    "sph_most.cl",   "sph_carry.cl",
        "sph.cl",     "sph_tick.cl",  "sph_parts.cl", "sph_filter.cl", "cells.cl"};
    enum { PARTS = sizeof part / sizeof *part };
    strake_status status = STRAKE_OK;
    char options[440];
    char *source = NULL;
    size_t length = 0;
    cl_int code = CL_SUCCESS;
    FILE *const text = open_memstream(&source, &length);
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "no memory for kernels of particles");
    print_options(own, has_walls, options, sizeof options);
    (void)fprintf(text, "/* %s */\n", options);
    for (int k = 0; k < PARTS; k++) {
        const char *const has = strake_cl_source(part[k]);
        const bool is_of_doubles =
            strcmp(part[k], "sine.h") == 0 || strcmp(part[k], "sph_tick.cl") == 0;
        if (is_of_doubles && !own->session->device->has_double) {
            continue;
        }
        (void)fprintf(text, "#line 1 \"cl/%s\"\n%s\n", part[k], has != NULL ? has : "#error");
    }
    (void)fclose(text);
    STRAKE_TRY(strake_cl_program_dump(folder, own->run.sph->dims == 2 ? "sph2d" : "sph3d",
                                      own->precision, source, error));
    STRAKE_TRY(strake_cl_program_build(own->session->cl, own->session->device,
                                       own->session->context, source, own->precision, options,
                                       &own->program, error));
    for (int k = 0; k < STRAKE_SPH_KERNELS; k++) {
        if (has_kernel(own, k)) {
            own->kernel[k] = own->session->cl->clCreateKernel(own->program, kernel_names[k], &code);
            STRAKE_CL(kernel_names[k], code, error, own->session->device);
        }
    }
    STRAKE_TRY(limit_groups(own, error));
    own->registers =
        strake_cl_registers(own->session->cl, own->session->device, own->program,
                            kernel_names[own->session->device->has_double ? STRAKE_SPH_CORRECT
                                                                          : STRAKE_SPH_PASS_WHOLE]);
cleanup:
    free(source);
    return status;
}

/* --- launches ------------------------------------------------------------------------------------- */

strake_cl_arguments strake_sph_begin_arguments(const strake_sph_device *own,
                                               strake_sph_kernel_name name)
{
    return strake_cl_arguments_begin(own->session->cl, own->kernel[name]);
}

void strake_sph_pass_scheme(const strake_sph_device *own, strake_cl_arguments *a, bool is_second)
{
    strake_cl_pass_buffer(a, is_second && own->second_constants != NULL ? own->second_constants
                                                                        : own->constants);
    strake_cl_pass(a, sizeof own->cells4, own->cells4);
}

void strake_sph_pass_lists(const strake_sph_device *own, strake_cl_arguments *a, cl_mem most)
{
    strake_cl_pass_buffer(a, own->start);
    strake_cl_pass_buffer(a, own->first);
    strake_cl_pass_buffer(a, own->counts);
    strake_cl_pass_buffer(a, own->words);
    strake_cl_pass_buffer(a, own->cell);
    strake_cl_pass_buffer(a, own->key);
    strake_cl_pass_buffer(a, most);
}

/* Work-items that take so many particles. */
static size_t items_for(const strake_sph_device *own, strake_sph_kernel_name name, size_t particles)
{
    const bool is_pass = name == STRAKE_SPH_PREDICT || name == STRAKE_SPH_CORRECT ||
                         name == STRAKE_SPH_PASS || name == STRAKE_SPH_PASS_HALF ||
                         name == STRAKE_SPH_PASS_WHOLE;
    const size_t each = is_pass ? (size_t)own->settings.vector : 1;
    const size_t side = STRAKE_SPH_SIDE_BY_SIDE;
    const size_t rows = (particles + side * each - 1) / (side * each);
    return rows > 0 ? rows * side : side;
}

int64_t strake_sph_groups(const strake_sph_device *own, strake_sph_kernel_name name,
                          int64_t particles)
{
    const size_t group = own->group[name];
    return (int64_t)((items_for(own, name, (size_t)particles) + group - 1) / group);
}

/* Of launches while they are timed. */
struct strake_sph_timers {
    int launches;
    strake_sph_kernel_name name[MOST_TIMED];
    cl_event event[MOST_TIMED];
};

strake_status strake_sph_launch(strake_sph_device *own, strake_sph_kernel_name name,
                                const strake_cl_arguments *a, int64_t particles,
                                strake_error *error)
{
    return strake_sph_launch_as(own, name, kernel_names[name], a, particles, error);
}

strake_status strake_sph_launch_as(strake_sph_device *own, strake_sph_kernel_name name,
                                   const char *as, const strake_cl_arguments *a, int64_t particles,
                                   strake_error *error)
{
    strake_cl_arguments with = *a;
    struct strake_sph_timers *const t = own->timers;
    const size_t items = (size_t)strake_sph_groups(own, name, particles) * own->group[name];
    if (t != NULL && t->launches < MOST_TIMED) {
        t->name[t->launches] = name;
        with.event = &t->event[t->launches++];
    }
    return strake_cl_launch(own->session, own->queue, as, &with, own->group[name], 1, items, 1, 1,
                            error);
}

strake_status strake_sph_device_record(strake_sph_run *run, strake_cl_record *record,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    strake_cl_kernels *const s = own->session;
    cl_command_queue *const queue[] = {&own->queue, &own->transfers, &own->aside};
    s->record = NULL;
    for (int k = 0; k < 3; k++) {
        STRAKE_TRY(*queue[k] != NULL ? strake_cl_record_renew(s->cl, s->device, s->context,
                                                              record != NULL, queue[k], error)
                                     : STRAKE_OK);
    }
    STRAKE_TRY(record != NULL ? strake_cl_record_begin(record, s->cl, s->device, own->queue, error)
                              : STRAKE_OK);
    s->record = record;
cleanup:
    return status;
}

/* --- times ---------------------------------------------------------------------------------------- */

/* Seconds of each kernel in all launches, and how often it was launched. @return false without timers */
static bool read_timers(const strake_sph_device *own, double seconds[STRAKE_SPH_KERNELS],
                        int launches[STRAKE_SPH_KERNELS])
{
    const strake_cl *const cl = own->session->cl;
    bool known = true;
    for (int k = 0; k < own->timers->launches; k++) {
        cl_ulong begin = 0, end = 0;
        const cl_event event = own->timers->event[k];
        known = event != NULL &&
                cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                            NULL) == CL_SUCCESS &&
                cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                            NULL) == CL_SUCCESS &&
                end >= begin && known;
        seconds[own->timers->name[k]] += 1e-9 * (double)(end - begin);
        launches[own->timers->name[k]]++;
    }
    return known;
}

/* Steps with timers, of which the first is one with a new order, and back to where the run was. */
static strake_status run_timed(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_image *image = NULL;
    strake_sph_image before = {0};
    STRAKE_TRY(strake_sph_view(&own->run, &image, error));
    STRAKE_TRY(strake_sph_image_copy(&own->run, image, &before, error));
    own->clock.is_ordered = 0;
    STRAKE_TRY(strake_sph_step(&own->run, TIMED_STEPS, (double)INFINITY, error));
    STRAKE_TRY(strake_sph_put(&own->run, &before, error));
cleanup:
    if (before.number != NULL) {
        strake_sph_image_close(&before);
    }
    return status;
}

strake_status strake_sph_device_time(strake_sph_run *run, strake_cl_time *out, int *count,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_cl *const cl = own->session->cl;
    const cl_command_queue usual = own->queue;
    const double interval = own->interval > 0 ? (double)own->interval : 1.0;
    double seconds[STRAKE_SPH_KERNELS] = {0.0};
    int launches[STRAKE_SPH_KERNELS] = {0};
    cl_int code = CL_SUCCESS;
    cl_command_queue timed = NULL;
    struct strake_sph_timers *const timers = calloc(1, sizeof *timers);
    *count = 0;
    if (!strake_sph_keeps_clock(
            own)) { /* others would not come along; who waits for the host is timed by it */
        free(timers);
        return STRAKE_OK;
    }
    STRAKE_CHECK(timers != NULL, error, STRAKE_ERR_MEMORY, "no memory to time kernels");
    timed = cl->clCreateCommandQueue(own->session->context, own->session->device->device,
                                     CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) {
        timed = NULL; /* no timers here */
        goto cleanup;
    }
    STRAKE_CL("clFinish", cl->clFinish(usual), error, own->session->device);
    own->queue = timed;
    own->timers = timers;
    status = run_timed(own, error);
    (void)cl->clFinish(timed);
    if (status == STRAKE_OK && read_timers(own, seconds, launches)) {
        for (int k = 0; k < SIZED; k++) {
            const bool is_pass = k < 2;
            const double each = launches[sized[k]] > 0 ? launches[sized[k]] : 1.0;
            (void)snprintf(out[k].name, sizeof out[k].name, "%s", kernel_names[sized[k]]);
            out[k].seconds = seconds[sized[k]] / each / (is_pass ? 1.0 : interval);
        }
        *count = SIZED;
    }
cleanup:
    for (int k = 0; timers != NULL && k < timers->launches; k++) {
        strake_cl_release_event(cl, &timers->event[k]);
    }
    own->timers = NULL;
    own->queue = usual;
    if (timed != NULL) {
        (void)cl->clReleaseCommandQueue(timed);
    }
    free(timers);
    return status;
}
