/* Steps on a device beside others: forces of its outermost slices go to them, theirs come for its ghosts. */
#include "base/clock.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/device.h"

enum { FILLS_UNIT = 1024 /* work-items of passes that a unit of a GPU has at once, at least */ };

strake_status strake_sph_open_shared(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_device *const device = own->session->device;
    cl_int code = CL_SUCCESS;
    if (own->transfers != NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(
        strake_sph_new_buffer(own, strake_sph_force_bytes(own, own->run.room), &own->force, error));
    STRAKE_TRY(strake_sph_new_buffer(own, STRAKE_SPH_FOUND_BYTES, &own->found, error));
    own->transfers = own->session->cl->clCreateCommandQueue(
        own->session->context, device->device,
        own->session->record != NULL ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(strake_cl_aside_open(own->session->cl, device, own->session->context,
                                    own->session->record != NULL, &own->aside, error));
cleanup:
    return status;
}

/* Two ranges of particles, the second one behind the first. */
typedef struct ranges {
    strake_range low, high;
} ranges;

/* Particles that so many rows of work-items have side by side, as many as cover a range. */
static int64_t wide_count(const strake_sph_device *own, strake_range range)
{
    const int64_t each = STRAKE_SPH_SIDE_BY_SIDE * (int64_t)own->settings.vector;
    const int64_t begin = range.first / STRAKE_SPH_SIDE_BY_SIDE * STRAKE_SPH_SIDE_BY_SIDE;
    return range.first < range.end ? (range.end - begin + each - 1) / each * each : 0;
}

/* The forces on some particles, and half a step later the whole step with them; @p row of what their groups find. */
static strake_status add_forces(strake_sph_device *own, bool is_half, bool is_edge, ranges what,
                                int64_t *row, strake_error *error)
{
    static const char *const as[] = {"sph_pass, inner", "sph_pass, edges"};
    strake_status status = STRAKE_OK;
    const cl_int both[4] = {(cl_int)what.low.first, (cl_int)what.low.end, (cl_int)what.high.first,
                            (cl_int)what.high.end};
    const int64_t count = wide_count(own, what.low) + wide_count(own, what.high);
    const int now = own->now, of = is_half ? 1 - now : now;
    const strake_sph_kernel_name name = is_half ? STRAKE_SPH_PASS_WHOLE : STRAKE_SPH_PASS;
    strake_cl_arguments a = strake_sph_begin_arguments(own, name);
    if (count == 0 && *row > 0) { /* the first of a pass leaves something to sum up */
        return STRAKE_OK;
    }
    strake_sph_pass_scheme(own, &a, is_half);
    strake_cl_pass(&a, sizeof both, both);
    strake_cl_pass_int(&a, own->most_groups);
    strake_sph_pass_lists(own, &a);
    strake_cl_pass_int(&a, strake_sph_most_first(own, own->most_half) + *row);
    strake_cl_pass_buffer(&a, own->x[of]);
    strake_cl_pass_buffer(&a, own->v[of]);
    strake_cl_pass_buffer(&a, own->volume[of]);
    strake_cl_pass_buffer(&a, own->force);
    if (is_half) {
        strake_cl_pass_int(&a, is_edge ? 1 : 0);
        strake_cl_pass_real(&a, own->precision, own->run.clock.dt);
        strake_cl_pass_buffer(&a, own->clock_there);
        strake_cl_pass_buffer(&a, own->x[now]);
        strake_cl_pass_buffer(&a, own->v[now]);
        strake_cl_pass_buffer(&a, own->volume[now]);
        strake_cl_pass_buffer(&a, own->rest);
        strake_sph_pass_bodies(own, &a);
    }
    strake_cl_release_event(own->session->cl, &own->working);
    a.event = &own->working;
    STRAKE_TRY(strake_sph_launch_as(own, name, as[is_edge], &a, count, error));
    *row += strake_sph_groups(own, name, count);
cleanup:
    return status;
}

static strake_status filter_range(strake_sph_device *own, bool is_edge, strake_range range,
                                  strake_error *error)
{
    return range.first < range.end
               ? strake_sph_filter(own, is_edge ? "sph_filter, edges" : "sph_filter, inner", false,
                                   range, error)
               : STRAKE_OK;
}

/* They, or filtered densities. */
static strake_status compute(strake_sph_device *own, strake_sph_event what, bool is_edge,
                             ranges which, int64_t *row, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (what != STRAKE_SPH_BRINGS_DENSITIES) {
        return add_forces(own, what == STRAKE_SPH_BRINGS_HALF, is_edge, which, row, error);
    }
    STRAKE_TRY(filter_range(own, is_edge, which.low, error));
    STRAKE_TRY(filter_range(own, is_edge, which.high, error));
cleanup:
    return status;
}

/* Where what an event brings lies, and the bytes of a particle. */
static cl_mem find_brought(const strake_sph_device *own, strake_sph_event what, size_t *each)
{
    *each = (size_t)strake_sph_numbers_of(what) * (size_t)own->run.element;
    return what == STRAKE_SPH_BRINGS_DENSITIES ? own->volume[1 - own->now] : own->force;
}

/* Enqueues that the forces on an outermost slice, or its densities, go to its box; @p sent tells when they are there. */
static strake_status leave_slice(strake_sph_device *own, strake_sph_event what, int end,
                                 cl_event *sent, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_range range = end == 0 ? own->low : own->high;
    size_t each = 0;
    const cl_mem from = find_brought(own, what, &each);
    const size_t bytes = (size_t)(range.end - range.first) * each;
    strake_sph_box *const box =
        strake_sph_open_box(&own->run, what != STRAKE_SPH_BRINGS, end, bytes);
    STRAKE_CHECK(box != NULL, error, STRAKE_ERR_MEMORY, "no memory for forces on %lld particles",
                 (long long)(range.end - range.first));
    box->is_pinned = strake_cl_pins_add(&own->pins, box->memory, box->bytes);
    strake_sph_note_pageable(&own->run, box->is_pinned ? 0 : bytes);
    STRAKE_TRY(bytes > 0 ? strake_sph_download_from(own, own->transfers, false, from,
                                                    (size_t)range.first * each, bytes, box->memory,
                                                    sent, error)
                         : STRAKE_OK);
cleanup:
    return status;
}

/* What was asked for comes before the forces. */
static strake_status leave_found(strake_sph_device *own, cl_event summed, cl_event *sent,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_come_after(own->session->cl, own->session->device, own->transfers, summed,
                                    error));
    strake_sph_note_sent(&own->run, STRAKE_SPH_FOUND_BYTES);
    STRAKE_TRY(strake_sph_download_from(own, own->transfers, false, own->found, 0,
                                        STRAKE_SPH_FOUND_BYTES, own->seen, sent, error));
cleanup:
    return status;
}

/*
 * Particles of the outermost slices that others have as ghosts, and between. What fills a GPU's units once goes along with
 * the outer ones: they alone would leave most of it idle until the inner ones are there (a step of 1.13 ms is 1 % shorter on H200s).
 */
static void find_edges(const strake_sph_device *own, ranges *edges, ranges *between)
{
    const strake_cl_device *const device = own->session->device;
    const bool has_low = strake_sph_has_reader(&own->run, 0);
    const bool has_high = strake_sph_has_reader(&own->run, 1);
    const strake_range inner = own->run.inner;
    const int64_t low = has_low ? own->low.end - own->low.first : 0;
    const int64_t high = has_high ? own->high.end - own->high.first : 0;
    const int64_t fill = strake_cl_device_is_gpu(device)
                             ? (int64_t)device->compute_units * FILLS_UNIT * own->settings.vector
                             : 0;
    const int64_t times = fill > 0 ? (low + high + fill - 1) / fill : 0;
    const int64_t more = times * fill > low + high ? times * fill - low - high : 0;
    const int64_t from_low = low + (has_low ? has_high ? more / 2 : more : 0);
    const int64_t from_high = high + (has_high ? has_low ? more / 2 : more : 0);
    int64_t first = inner.first + from_low, end = inner.end - from_high;
    first = first < inner.end ? first : inner.end;
    end = end > first ? end : first; /* also of one slice that is both */
    *edges = (ranges){{inner.first, first}, {end, inner.end}};
    *between = (ranges){{first, end}, {end, end}};
}

/* Of some steps, and filters, transfers are timed, with nothing beside them. */
static bool is_timed(const strake_sph_run *run, strake_sph_event what)
{
    enum { EVERY = 64, FIRST = 8, FILTERS = 8 };
    return what == STRAKE_SPH_BRINGS_DENSITIES ? run->dealings.filters % FILTERS == 1
                                               : run->dealings.steps % EVERY == FIRST;
}

/* Waits for the kernels of a queue so far, and begins to time what follows. */
static strake_status start_timing(strake_sph_device *own, cl_command_queue queue, double *start,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(
        strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter, queue, error));
    *start = strake_clock_seconds();
cleanup:
    return status;
}

/* The inner slices. */
static strake_status compute_inner(strake_sph_device *own, strake_sph_event what, ranges between,
                                   int64_t *row, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(compute(own, what, false, between, row, error));
    STRAKE_CL("clFlush", own->session->cl->clFlush(own->queue), error, own->session->device);
cleanup:
    return status;
}

/*
 * A pass, or a filter: what others need of the outermost slices goes to them while the inner ones are computed, on a GPU also
 * at the same time as these. What is waited for are the transfers themselves: a marker behind them, or the event of a kernel,
 * would come after kernels of other queues that run beside them (NVIDIA's driver).
 */
static strake_status compute_slices(strake_sph_device *own, strake_sph_event what, int64_t *row,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    const strake_cl *const cl = own->session->cl;
    const strake_cl_device *const device = own->session->device;
    const bool timed = is_timed(run, what), asks = own->is_asked && what == STRAKE_SPH_BRINGS;
    double start = 0.0;
    cl_event sent = NULL, here = NULL, done = NULL, summed = NULL;
    ranges edges, between;
    find_edges(own, &edges, &between);
    STRAKE_TRY(strake_cl_aside_mark(cl, device, own->queue, own->aside, &here, error));
    STRAKE_TRY(compute(own, what, true, edges, row, error));
    STRAKE_TRY(strake_cl_aside_turn(cl, device, &own->queue, &own->aside, &here, &done, error));
    STRAKE_TRY(asks ? strake_sph_sum_up(own, own->passed[1], 1 - own->most_half, &summed, error)
                    : STRAKE_OK);
    if (timed && own->aside != NULL) {
        STRAKE_TRY(start_timing(own, own->aside, &start, error));
    }
    STRAKE_TRY(timed ? start_timing(own, own->queue, &start, error) : STRAKE_OK);
    /* Before the transfers: drivers wait for those from memory that is not pinned where they are asked for. */
    STRAKE_TRY(timed ? STRAKE_OK : compute_inner(own, what, between, row, error));
    STRAKE_TRY(asks ? leave_found(own, summed, &sent, error) : STRAKE_OK);
    STRAKE_TRY(strake_cl_come_after(cl, device, own->transfers, done, error));
    for (int end = 0; end < 2; end++) {
        STRAKE_TRY(strake_sph_has_reader(run, end) ? leave_slice(own, what, end, &sent, error)
                                                   : STRAKE_OK);
    }
    STRAKE_CL("clFlush", cl->clFlush(own->transfers), error, device);
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, "the device's edge slices");
    STRAKE_TRY(sent != NULL ? strake_cl_wait(cl, device, &own->waiter, &sent, error) : STRAKE_OK);
    if (timed) {
        run->dealings.moving = (what == STRAKE_SPH_BRINGS_HALF ? run->dealings.moving : 0.0) +
                               strake_clock_seconds() - start;
        STRAKE_TRY(compute_inner(own, what, between, row, error));
    }
    STRAKE_TRY(own->aside != NULL ? strake_cl_come_after(cl, device, own->queue, done, error)
                                  : STRAKE_OK);
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, NULL);
    strake_sph_bring(run, what);
cleanup:
    strake_cl_release_event(cl, &sent);
    strake_cl_release_event(cl, &here);
    strake_cl_release_event(cl, &done);
    strake_cl_release_event(cl, &summed);
    return status;
}

strake_status strake_sph_pass_shared(strake_sph_run *run, bool is_half, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    int64_t row = 0;
    strake_sph_mark(own, run->clock.steps);
    STRAKE_TRY(strake_sph_open_shared(own, error));
    STRAKE_TRY(is_half ? STRAKE_OK : strake_sph_plan_shared(own, false, error));
    own->most_half = is_half ? own->most_half : 1 - own->most_half;
    STRAKE_TRY(
        compute_slices(own, is_half ? STRAKE_SPH_BRINGS_HALF : STRAKE_SPH_BRINGS, &row, error));
    own->passed[is_half] = row;
    own->is_looked = is_half;
cleanup:
    return status;
}

bool strake_sph_pin(strake_sph_device *own, const strake_sph_box *box)
{
    return own->is_shared ? box->is_pinned
                          : strake_cl_pins_add(&own->pins, box->memory, box->bytes);
}

/*
 * What others found of the forces on the run's ghosts, or of their densities, beside what is computed now.
 * @param[in] queue  which has them from then on
 */
static strake_status take_slices(strake_sph_device *own, strake_sph_event what,
                                 cl_command_queue queue, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    size_t each = 0;
    const cl_mem to = find_brought(own, what, &each);
    const strake_sph_box *box[2] = {NULL, NULL};
    int64_t ghost[2];
    const bool timed = is_timed(&own->run, what);
    double start = 0.0;
    cl_event come = NULL;
    strake_sph_find_ghosts(&own->run, ghost);
    STRAKE_TRY(strake_sph_await(&own->run, what != STRAKE_SPH_BRINGS, ghost, box, error));
    STRAKE_TRY(timed ? start_timing(own, own->queue, &start, error) : STRAKE_OK);
    for (int side = 0; side < 2; side++) {
        const strake_range range = own->ghost[side];
        if (box[side] == NULL || range.first >= range.end) {
            continue;
        }
        strake_sph_note_received(&own->run, (size_t)(range.end - range.first) * each);
        strake_sph_note_pageable(&own->run, strake_sph_pin(own, box[side])
                                                ? 0
                                                : (size_t)(range.end - range.first) * each);
        STRAKE_TRY(strake_sph_upload_to(own, own->transfers, to, (size_t)range.first * each,
                                        (size_t)(range.end - range.first) * each, box[side]->memory,
                                        &come, error));
    }
    STRAKE_CL("clFlush", cl->clFlush(own->transfers), error, own->session->device);
    if (timed) {
        STRAKE_TRY(
            strake_cl_wait_queue(cl, own->session->device, &own->waiter, own->transfers, error));
        own->run.dealings.moving += strake_clock_seconds() - start;
        if (what == STRAKE_SPH_BRINGS_HALF) {
            strake_sph_note_moving(&own->run, own->run.dealings.moving);
        } else if (what == STRAKE_SPH_BRINGS_DENSITIES) {
            strake_sph_note_filtering(&own->run, own->run.dealings.moving);
        }
    }
    STRAKE_TRY(come != NULL ? strake_cl_come_after(own->session->cl, own->session->device, queue,
                                                   come, error)
                            : STRAKE_OK);
cleanup:
    strake_cl_release_event(cl, &come);
    return status;
}

strake_status strake_sph_filter_shared(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const bool is_alone = strake_sph_is_alone(run);
    strake_sph_mark(own, run->clock.steps);
    if (is_alone) {
        STRAKE_TRY(strake_sph_filter(own, NULL, false, (strake_range){0, run->count}, error));
    } else {
        STRAKE_TRY(compute_slices(own, STRAKE_SPH_BRINGS_DENSITIES, NULL, error));
        STRAKE_TRY(take_slices(own, STRAKE_SPH_BRINGS_DENSITIES, own->queue, error));
    }
    STRAKE_TRY(strake_sph_renew(own, false, error));
cleanup:
    return status;
}

/* Particles' half step or, of ghosts, their whole one, which the second pass over all others does not see. */
static strake_status launch_steps(strake_sph_device *own, bool is_whole, strake_error *error)
{
    const strake_sph_run *const run = &own->run;
    const strake_sph_kernel_name name = is_whole ? STRAKE_SPH_WHOLE : STRAKE_SPH_HALF;
    const int now = own->now, then = 1 - now;
    const cl_int inner[2] = {(cl_int)run->inner.first, (cl_int)run->inner.end};
    const int64_t ghosts = run->count - (run->inner.end - run->inner.first);
    strake_cl_arguments a = strake_sph_begin_arguments(own, name);
    strake_sph_pass_scheme(own, &a, false);
    if (is_whole) {
        strake_cl_pass(&a, sizeof inner, inner);
    }
    strake_cl_pass_int(&a, run->count);
    strake_cl_pass_real(&a, own->precision, run->clock.dt);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->key);
    strake_cl_pass_buffer(&a, own->force);
    strake_cl_pass_buffer(&a, own->x[now]);
    strake_cl_pass_buffer(&a, own->v[now]);
    if (is_whole) {
        strake_cl_pass_buffer(&a, own->volume[now]);
    } else {
        strake_cl_pass_buffer(&a, own->x[then]);
        strake_cl_pass_buffer(&a, own->v[then]);
        strake_cl_pass_buffer(&a, own->volume[then]);
    }
    strake_sph_pass_bodies(own, &a);
    return strake_sph_launch(own, name, &a, is_whole ? ghosts : run->count, error);
}

/* The whole step of ghosts, beside the second pass over own particles. */
static strake_status move_ghosts(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event done = NULL;
    strake_cl_aside_swap(&own->queue, &own->aside);
    status = launch_steps(own, true, error);
    if (status == STRAKE_OK && own->aside != NULL) {
        status = strake_cl_mark(own->session->cl, own->session->device, own->queue, &done, error);
    }
    strake_cl_aside_swap(&own->queue, &own->aside);
    STRAKE_TRY(status);
    STRAKE_TRY(done != NULL ? strake_cl_come_after(own->session->cl, own->session->device,
                                                   own->queue, done, error)
                            : STRAKE_OK);
cleanup:
    strake_cl_release_event(own->session->cl, &done);
    return status;
}

strake_status strake_sph_advance_shared(strake_sph_run *run, bool is_whole, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const cl_command_queue beside = own->aside != NULL ? own->aside : own->queue;
    strake_sph_mark(own, run->clock.steps);
    if (is_whole) {
        STRAKE_TRY(take_slices(own, STRAKE_SPH_BRINGS_HALF, beside, error));
        STRAKE_TRY(move_ghosts(own, error));
    } else {
        STRAKE_TRY(take_slices(own, STRAKE_SPH_BRINGS, own->queue, error));
        STRAKE_TRY(strake_sph_plan_shared(own, true, error));
        STRAKE_TRY(launch_steps(own, false, error));
    }
cleanup:
    return status;
}

bool strake_sph_is_busy_shared(const strake_sph_run *run)
{
    const strake_sph_device *const own = (const strake_sph_device *)run;
    cl_int state = CL_COMPLETE;
    return own->working != NULL &&
           own->session->cl->clGetEventInfo(own->working, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof state, &state, NULL) == CL_SUCCESS &&
           state > CL_COMPLETE;
}
