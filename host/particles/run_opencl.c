/* Particles on one OpenCL device. */
#include "particles/run_opencl.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "particles/device.h"

/* Walls and gravity whose motions are given, on a device: where bodies begin, and what follows from the clock. */

static strake_status start(strake_sph_device *own, bool has_walls, const char *folder,
                           strake_error *error);

static bool has_motions(const strake_sph_device *own)
{
    return own->run.sph->motions != NULL;
}

/** Room for what moves, if anything does; closed with sph_close_bodies() in any case. */
static strake_status sph_open_bodies(strake_sph_device *own, int64_t count,
                                     const strake_sph_particle *particle, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_movers *const movers = &own->movers;
    size_t origins = 0, series = 0;
    STRAKE_TRY(
        strake_sph_movers_open(own->run.sph, &own->run.cells, count, particle, movers, error));
    if (!has_motions(own)) {
        goto cleanup;
    }
    origins = (3 * (size_t)movers->origins + 1) * sizeof(double);
    series = (2 * (size_t)movers->all.points + 1) * sizeof(double);
    STRAKE_TRY(strake_sph_new_buffer(own, STRAKE_SPH_CONSTANTS, &own->second_constants, error));
    STRAKE_TRY(strake_sph_new_buffer(own, sizeof movers->all, &own->motions, error));
    STRAKE_TRY(strake_sph_new_buffer(own, sizeof movers->frames, &own->frames, error));
    STRAKE_TRY(strake_sph_new_buffer(own, origins, &own->origins, error));
    STRAKE_TRY(strake_sph_new_buffer(own, series, &own->series, error));
    STRAKE_TRY(strake_sph_write(own, own->motions, sizeof movers->all, &movers->all, error));
    STRAKE_TRY(strake_sph_write(own, own->origins, origins, movers->origin, error));
    if (movers->all.points > 0) {
        STRAKE_TRY(strake_sph_write(own, own->series,
                                    2 * (size_t)movers->all.points * sizeof(double), movers->series,
                                    error));
    }
cleanup:
    return status;
}

static void sph_close_bodies(strake_sph_device *own)
{
    cl_mem *const all[] = {&own->second_constants, &own->motions, &own->frames, &own->origins,
                           &own->series};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        strake_cl_release_buffer(own->session, all[k]);
    }
    strake_sph_movers_close(&own->movers);
}

void strake_sph_pass_bodies(const strake_sph_device *own, strake_cl_arguments *a)
{
    if (has_motions(own)) {
        strake_cl_pass_buffer(a, own->motions);
        strake_cl_pass_buffer(a, own->frames);
        strake_cl_pass_buffer(a, own->origins);
    }
}

static void sph_pass_motions(const strake_sph_device *own, strake_cl_arguments *a)
{
    if (has_motions(own)) {
        strake_cl_pass_buffer(a, own->motions);
        strake_cl_pass_buffer(a, own->series);
        strake_cl_pass_buffer(a, own->frames);
        strake_cl_pass_buffer(a, own->constants);
        strake_cl_pass_buffer(a, own->second_constants);
    }
}

/** Numbers of a pass to the device. */
static strake_status sph_write_constants(strake_sph_device *own, cl_mem buffer, strake_error *error)
{
    char constants[STRAKE_SPH_CONSTANTS] = {0};
    const size_t bytes = strake_sph_pair_rows_of(own->precision, STRAKE_ISA_SCALAR)
                             ->constants(&own->numbers, &own->run.cells, constants);
    return strake_sph_write(own, buffer, bytes, constants, error);
}

/* Gravity of the pass (0 or 1) of the step that was planned. */
static strake_status write_gravity(strake_sph_device *own, int pass, strake_error *error)
{
    strake_sph_movers_weigh(&own->movers, pass, &own->numbers);
    return sph_write_constants(own, pass == 0 ? own->constants : own->second_constants, error);
}

strake_status strake_sph_write_clock(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const sph_clock *const c = &own->clock;
    strake_sph_movers *const movers = &own->movers;
    STRAKE_TRY(strake_sph_write(own, own->clock_there, sizeof *c, c, error));
    if (!has_motions(own)) {
        goto cleanup;
    }
    strake_sph_movers_plan(movers, c->time, sph_clock_middle(c->time, c->dt), sph_clock_end(*c));
    STRAKE_TRY(strake_sph_write(own, own->frames, sizeof movers->frames, &movers->frames, error));
    STRAKE_TRY(write_gravity(own, 0, error));
    STRAKE_TRY(write_gravity(own, 1, error));
cleanup:
    return status;
}

strake_status strake_sph_plan_shared(strake_sph_device *own, bool is_half, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_clock *const c = &own->run.clock;
    strake_sph_movers *const movers = &own->movers;
    if (!has_motions(own)) {
        return STRAKE_OK;
    }
    strake_sph_movers_plan(movers, c->time, is_half ? sph_clock_middle(c->time, c->dt) : c->time,
                           is_half ? own->run.end : c->time);
    /* Before writes, for which drivers wait however long that takes. */
    STRAKE_TRY(strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter,
                                    own->queue, error));
    if (is_half) {
        STRAKE_TRY(
            strake_sph_write(own, own->frames, sizeof movers->frames, &movers->frames, error));
    }
    STRAKE_TRY(write_gravity(own, is_half, error));
cleanup:
    return status;
}

enum { FIRST_AHEAD = 4, MOST_AHEAD = 64 };

strake_status strake_sph_tick(strake_sph_device *own, int after, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_look = after == STRAKE_SPH_AFTER_ORDER || after == STRAKE_SPH_AFTER_LOOK;
    const strake_sph_kernel_name last = is_look ? STRAKE_SPH_LOOK : STRAKE_SPH_CORRECT;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_TICK);
    if (is_look) {
        strake_cl_arguments look = strake_sph_begin_arguments(own, STRAKE_SPH_LOOK);
        const cl_int nobody[2] = {0, 0};
        strake_cl_pass_buffer(&look, own->clock_there);
        strake_cl_pass(&look, sizeof nobody, nobody);
        strake_cl_pass_int(&look, own->run.count);
        strake_cl_pass_int(&look, own->most_groups);
        strake_cl_pass_int(&look, 0);
        strake_cl_pass_int(&look, 0);
        strake_cl_pass_buffer(&look, own->x[own->now]);
        strake_cl_pass_buffer(&look, own->v[own->now]);
        strake_cl_pass_buffer(&look, own->rest);
        strake_cl_pass_buffer(&look, own->most);
        STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_LOOK, &look, own->run.count, error));
    }
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass_int(&a, after);
    strake_cl_pass_int(&a, strake_sph_groups(own, STRAKE_SPH_PREDICT, own->run.count));
    strake_cl_pass_int(&a, strake_sph_groups(own, last, own->run.count));
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_buffer(&a, own->most);
    sph_pass_motions(own, &a);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_TICK, &a, 1, error));
cleanup:
    return status;
}

strake_status strake_sph_read_clock(strake_sph_device *own, strake_error *error)
{
    const int64_t before = own->clock.steps;
    strake_sph_clock *const seen = &own->run.clock;
    const strake_status status =
        strake_sph_read(own, own->clock_there, 0, sizeof own->clock, &own->clock, error);
    if (status == STRAKE_OK && own->is_order_ahead) {
        strake_sph_weigh(own); /* pairs have come, too */
        own->is_order_ahead = false;
    }
    seen->steps = own->clock.steps;
    seen->since = own->clock.since;
    seen->time = own->clock.time;
    seen->dt = own->clock.last;
    seen->bound = own->clock.bound;
    seen->is_ordered = own->clock.is_ordered != 0;
    seen->pairs += 2.0 * own->run.pairs * (double)(own->clock.steps - before);
    return status;
}

/* Enqueues so many steps, of which the device does those that the clock lets it. */
static strake_status enqueue(strake_sph_device *own, int64_t steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = own->run.count;
    const int every = own->run.sph->shepard;
    const strake_cl_arguments first = strake_sph_begin_arguments(own, STRAKE_SPH_PREDICT);
    const strake_cl_arguments second = strake_sph_begin_arguments(own, STRAKE_SPH_CORRECT);
    if (own->clock.steps == 0) {
        STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_PREDICT, &first, count, error));
        STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_FIRST, error));
    }
    for (int64_t k = own->clock.steps; k < own->clock.steps + steps; k++) {
        const bool filters = every > 0 && k > 0 && k % every == 0;
        strake_sph_mark(own, k);
        if (filters) {
            STRAKE_TRY(strake_sph_filter(own, NULL, true, (strake_range){0, count}, error));
            STRAKE_TRY(strake_sph_renew(own, true, error));
        }
        STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_PREDICT, &first, count, error));
        STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_CORRECT, &second, count, error));
        STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_STEP, error));
    }
cleanup:
    return status;
}

/*
 * Steps until the clock asks for something else, or a few: as many as lie between two orders, if they last like the last
 * ones. They follow a new order that nobody has seen yet, so that the host waits once for it and for them.
 */
static strake_status go_on(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t left = own->clock.target - own->clock.steps;
    const int64_t expected = own->interval + 1 - own->clock.since; /* one too many does nothing */
    const int64_t ahead = expected > own->ahead ? expected : own->ahead;
    const int64_t steps = left < ahead ? left : ahead;
    STRAKE_TRY(enqueue(own, steps, error));
    own->waiter.limit = own->limit * (double)(steps > 1 ? steps : 1);
    STRAKE_TRY(strake_sph_read_clock(own, error));
    own->waiter.limit = own->limit;
    if (own->session->record != NULL) {
        strake_cl_record_forget(own->session->record, own->clock.steps);
    }
    if (own->clock.state == SPH_NEEDS_ORDER) {
        own->interval = own->clock.since < MOST_AHEAD ? own->clock.since : MOST_AHEAD;
        own->ahead = 1 + own->interval / 8;
    } else if (own->ahead < MOST_AHEAD) {
        own->ahead *= 2;
    }
cleanup:
    return status;
}

static strake_status explain(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_image *image = NULL;
    STRAKE_TRY(strake_sph_view(&own->run, &image, error));
    status = strake_sph_fail_bad(&own->run, image->number[own->clock.bad], error);
cleanup:
    return status;
}

static strake_status step(strake_sph_run *run, int64_t steps, double until, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    sph_clock *const clock = &own->clock;
    clock->until = until;
    clock->pause = run->pause;
    clock->target = steps < INT64_MAX - clock->steps ? clock->steps + steps : INT64_MAX;
    *clock = sph_clock_plan(*clock);
    STRAKE_TRY(strake_sph_write_clock(own, error));
    while (clock->state != SPH_IS_DONE) {
        if (clock->state == SPH_RUNS) {
            STRAKE_TRY(go_on(own, error));
        } else if (clock->state == SPH_NEEDS_ORDER) {
            STRAKE_TRY(strake_sph_reorder(own, error));
        } else if (clock->state == SPH_ASKS_HOST) {
            STRAKE_TRY(strake_sph_end_order(own, error));
        } else if (clock->state == SPH_IS_BAD) {
            STRAKE_TRY(explain(own, error));
        } else {
            STRAKE_TRY(strake_sph_fail_fast(run, error));
        }
    }
cleanup:
    return status;
}

static strake_status order(strake_sph_run *run, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_status status = strake_sph_end_pass(own, STRAKE_SPH_IN_VAIN, error);
    return status == STRAKE_OK ? strake_sph_reorder(own, error) : status;
}

static strake_status view(strake_sph_run *run, const strake_sph_image **image, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_status status = strake_sph_download(own, error);
    *image = &own->image;
    return status;
}

static strake_status put(strake_sph_run *run, const strake_sph_image *image, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    sph_clock *const c = &own->clock;
    const cl_command_queue beside[] = {own->transfers, own->aside};
    for (int k = 0; k < 2; k++) { /* steps that failed may have left something there */
        STRAKE_TRY(beside[k] != NULL ? strake_cl_wait_queue(own->session->cl, own->session->device,
                                                            &own->waiter, beside[k], error)
                                     : STRAKE_OK);
    }
    STRAKE_TRY(strake_sph_make_room(own, image->count, error));
    own->is_looked = own->is_asked = false;
    own->is_set_looked = true; /* or may have begun to */
    own->has_outer = false;
    strake_sph_forget_pass(own);
    run->count = image->count;
    run->inner = (strake_range){0, image->count};
    strake_sph_forget_ranges(own); /* lists tell them, where there is anybody */
    c->time = image->clock.time;
    c->last = image->clock.dt;
    c->bound = image->clock.bound;
    c->steps = image->clock.steps;
    c->since = image->clock.since;
    c->is_ordered = image->clock.is_ordered;
    c->farthest = c->fastest = 0.0;
    c->bad = INT_MAX;
    c->state = SPH_RUNS;
    STRAKE_TRY(strake_sph_write_clock(own, error));
    STRAKE_TRY(strake_sph_upload(own, image, error));
cleanup:
    return status;
}

static double bytes_of(const strake_sph_run *run)
{
    return ((const strake_sph_device *)run)->bytes;
}

static void close_run(strake_sph_run *run)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    strake_cl_kernels *const s = own->session;
    cl_mem *const all[] = {
        &own->constants, &own->clock_there, &own->most,      &own->sums,  &own->totals,
        &own->start,     &own->cell,        &own->key,       &own->rest,  &own->first,
        &own->counts,    &own->words,       &own->x[0],      &own->x[1],  &own->v[0],
        &own->v[1],      &own->volume[0],   &own->volume[1], &own->share, &own->in_slice,
        &own->force,     &own->found,       &own->out,       &own->in,    &own->told};
    strake_cl_release_event(s->cl, &own->working);
    strake_sph_forget_pass(own);
    const cl_command_queue beside[] = {own->transfers, own->aside};
    for (int k = 0; k < 2; k++) {
        if (beside[k] != NULL) {
            (void)s->cl->clFinish(beside[k]);
            (void)s->cl->clReleaseCommandQueue(beside[k]);
        }
    }
    if (own->queue != NULL) {
        (void)s->cl->clFinish(own->queue);
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        strake_cl_release_buffer(s, all[k]);
    }
    strake_cl_pins_release(&own->pins);
    sph_close_bodies(own);
    for (int k = 0; k < STRAKE_SPH_KERNELS; k++) {
        if (own->kernel[k] != NULL) {
            (void)s->cl->clReleaseKernel(own->kernel[k]);
        }
    }
    if (own->program != NULL) {
        (void)s->cl->clReleaseProgram(own->program);
    }
    strake_cl_filler_release(&s->filler);
    if (own->queue != NULL) {
        (void)s->cl->clReleaseCommandQueue(own->queue);
    }
    if (s->context != NULL) {
        (void)s->cl->clReleaseContext(s->context);
    }
    strake_sph_image_close(&own->image);
    free(own->shares);
    free(own->shares_there);
    free(own->in_slices);
    free(own->slice_first);
    free(own->seen);
    free(own->session);
    free(own);
}

/* Context, queue, program, arrays. */
static strake_status start(strake_sph_device *own, bool has_walls, const char *folder,
                           strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    const strake_cl_device *const device = own->session->device;
    const strake_sph *const sph = own->run.sph;
    cl_int code = CL_SUCCESS;
    own->session->context = cl->clCreateContext(NULL, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    own->pins = (strake_cl_pins){
        .cl = cl, .device = device, .context = own->session->context, .allowed = true};
    own->queue = cl->clCreateCommandQueue(own->session->context, device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(
        strake_cl_filler_build(&own->session->filler, cl, device, own->session->context, error));
    STRAKE_TRY(strake_sph_build(own, has_walls, folder, error));
    STRAKE_TRY(strake_sph_make_arrays(own, error));
    strake_sph_set_numbers(sph, &own->run.cells, &own->numbers);
    STRAKE_TRY(sph_write_constants(own, own->constants, error));
    own->ahead = FIRST_AHEAD;
    own->clock = (sph_clock){.cfl = sph->cfl,
                             .smoothing = sph->smoothing,
                             .viscous = strake_sph_viscous_bound(sph),
                             .slack = strake_sph_slack(sph),
                             .rebuild = sph->rebuild};
cleanup:
    return status;
}

#define STEP_BY_STEP                                                                               \
    .order = order, .filter = strake_sph_filter_shared, .pass = strake_sph_pass_shared,            \
    .advance = strake_sph_advance_shared, .ask = strake_sph_ask_shared,                            \
    .look = strake_sph_look_shared, .is_busy = strake_sph_is_busy_shared, .view = view,            \
    .put = put, .bytes = bytes_of, .close = close_run

strake_status strake_sph_open_device(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                                     const bool is_round[STRAKE_PARTICLE_AXES],
                                     strake_precision precision, const strake_cl *cl,
                                     const strake_cl_device *device,
                                     const strake_settings *settings, int64_t count,
                                     const strake_sph_particle *particle, strake_sph_run **out,
                                     strake_error *error)
{
    static const strake_sph_ops by_host = {STEP_BY_STEP}, by_device = {STEP_BY_STEP, .step = step};
    const strake_sph_ops *const ops = device->has_double ? &by_device : &by_host;
    strake_status status = STRAKE_OK;
    bool has_walls = false;
    strake_sph_image image = {0};
    strake_sph_device *own = calloc(1, sizeof *own);
    *out = NULL;
    STRAKE_CHECK(own != NULL, error, STRAKE_ERR_MEMORY, "no memory for a run of particles");
    own->session = calloc(1, sizeof *own->session);
    STRAKE_CHECK(own->session != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for a run of particles");
    own->session->cl = cl;
    own->session->device = device;
    own->precision = precision;
    STRAKE_TRY(strake_sph_choose(own, device, settings, error));
    STRAKE_TRY(strake_sph_begin(&own->run, ops, sph, size, is_round, precision, count, error));
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        own->cells4[a] = (cl_int)own->run.cells.n[a];
    }
    has_walls = sph->has_walls;
    for (int64_t p = 0; particle != NULL && p < count; p++) {
        has_walls = has_walls || particle[p].kind == STRAKE_PARTICLE_WALL;
    }
    STRAKE_TRY(start(own, has_walls, settings != NULL ? settings->dump_kernels : NULL, error));
    STRAKE_TRY(sph_open_bodies(own, count, particle, error));
    STRAKE_TRY(strake_sph_image_open(&own->run, particle != NULL ? count : 0, &image, error));
    strake_sph_image_set(&image, particle);
    STRAKE_TRY(put(&own->run, &image, error));
    *out = &own->run;
    own = NULL;
cleanup:
    strake_sph_image_close(&image);
    if (own != NULL && own->run.ops != NULL) {
        close_run(&own->run);
    } else {
        free(own != NULL ? own->session : NULL);
        free(own);
    }
    return status;
}
