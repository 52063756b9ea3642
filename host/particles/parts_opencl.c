/* Steps on a device beside others: forces of its outermost slices go to them, theirs come for its ghosts. */
#include <limits.h>

#include "base/clock.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/device.h"

enum { FOUND_BYTES = STRAKE_SPH_FOUND * sizeof(double) };

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
    STRAKE_TRY(strake_sph_new_buffer(own, FOUND_BYTES, &own->found, error));
    own->seen = aligned_alloc(STRAKE_CL_PIN_PAGE, STRAKE_CL_PIN_PAGE);
    STRAKE_CHECK(own->seen != NULL, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
    (void)strake_cl_pins_add(&own->pins, own->seen, STRAKE_CL_PIN_PAGE);
    own->transfers = own->session->cl->clCreateCommandQueue(
        own->session->context, device->device,
        own->session->record != NULL ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
cleanup:
    return status;
}

/* Particles of a range with those before that stand side by side with the first. */
static int64_t wide_count(strake_range range)
{
    return range.end - range.first / STRAKE_SPH_SIDE_BY_SIDE * STRAKE_SPH_SIDE_BY_SIDE;
}

/* The forces on some particles, by name; @p row of what their groups find. */
static strake_status add_forces(strake_sph_device *own, const char *as, bool is_half,
                                strake_range range, int64_t *row, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_int both[2] = {(cl_int)range.first, (cl_int)range.end};
    const int of = is_half ? 1 - own->now : own->now;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_PASS);
    if (range.first >= range.end && *row > 0) { /* the first of a pass leaves something to sum up */
        return STRAKE_OK;
    }
    strake_sph_pass_scheme(own, &a, is_half);
    strake_cl_pass(&a, sizeof both, both);
    strake_cl_pass_int(&a, own->most_groups);
    strake_sph_pass_lists(own, &a);
    strake_cl_pass_int(&a, *row + (is_half ? 2 * own->most_groups : 0));
    strake_cl_pass_buffer(&a, own->x[of]);
    strake_cl_pass_buffer(&a, own->v[of]);
    strake_cl_pass_buffer(&a, own->volume[of]);
    strake_cl_pass_buffer(&a, own->force);
    STRAKE_TRY(strake_sph_launch_as(own, STRAKE_SPH_PASS, as, &a, wide_count(range), error));
    *row += strake_sph_groups(own, STRAKE_SPH_PASS, wide_count(range));
cleanup:
    return status;
}

/* They, or filtered densities. */
static strake_status compute(strake_sph_device *own, strake_sph_event what, bool is_edge,
                             strake_range range, int64_t *row, strake_error *error)
{
    if (what == STRAKE_SPH_BRINGS_DENSITIES) {
        return range.first < range.end
                   ? strake_sph_filter(own, is_edge ? "sph_filter, edges" : "sph_filter, inner",
                                       false, range, error)
                   : STRAKE_OK;
    }
    return add_forces(own, is_edge ? "sph_pass, edges" : "sph_pass, inner",
                      what == STRAKE_SPH_BRINGS_HALF, range, row, error);
}

/* Where what an event brings lies, and the bytes of a particle. */
static cl_mem find_brought(const strake_sph_device *own, strake_sph_event what, size_t *each)
{
    *each = (size_t)strake_sph_numbers_of(what) * (size_t)own->run.element;
    return what == STRAKE_SPH_BRINGS_DENSITIES ? own->volume[1 - own->now] : own->force;
}

/* Enqueues that the forces on an outermost slice, or its densities, go to its box. */
static strake_status leave_slice(strake_sph_device *own, strake_sph_event what, int end,
                                 strake_error *error)
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
    STRAKE_TRY(bytes > 0
                   ? strake_sph_download_from(own, own->transfers, false, from,
                                              (size_t)range.first * each, bytes, box->memory, error)
                   : STRAKE_OK);
cleanup:
    return status;
}

/* What was asked for comes with the forces. */
static strake_status leave_found(strake_sph_device *own, strake_error *error)
{
    strake_sph_note_sent(&own->run, FOUND_BYTES);
    return strake_sph_download_from(own, own->transfers, false, own->found, 0, FOUND_BYTES,
                                    own->seen, error);
}

/* Particles of an outermost slice that others have as ghosts; else none, at that end. */
static strake_range find_edge(const strake_sph_device *own, int end)
{
    const strake_range slice = end == 0 ? own->low : own->high;
    const int64_t at = end == 0 ? slice.first : slice.end;
    return strake_sph_has_reader(&own->run, end) ? slice : (strake_range){at, at};
}

/* Of some steps, and filters, transfers are timed, with nothing beside them. */
static bool is_timed(const strake_sph_run *run, strake_sph_event what)
{
    enum { EVERY = 64, FIRST = 8, FILTERS = 8 };
    return what == STRAKE_SPH_BRINGS_DENSITIES ? run->dealings.filters % FILTERS == 1
                                               : run->dealings.steps % EVERY == FIRST;
}

/* Waits for the kernels so far, and begins to time what follows. */
static strake_status start_timing(strake_sph_device *own, double *start, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter,
                                    own->queue, error));
    *start = strake_clock_seconds();
cleanup:
    return status;
}

/* A pass, or a filter: what others need of the outermost slices goes to them while the inner ones are computed. */
static strake_status compute_slices(strake_sph_device *own, strake_sph_event what, int64_t *row,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    const strake_cl *const cl = own->session->cl;
    const strake_range low = find_edge(own, 0), high = find_edge(own, 1);
    /* Of one slice it is both. */
    const strake_range last = {high.first > low.end ? high.first : low.end, high.end};
    const strake_range between = {low.end, last.first};
    const bool timed = is_timed(run, what);
    double start = 0.0;
    STRAKE_TRY(compute(own, what, true, low, row, error));
    STRAKE_TRY(compute(own, what, true, last, row, error));
    STRAKE_TRY(timed ? start_timing(own, &start, error) : STRAKE_OK);
    STRAKE_TRY(strake_cl_follow(cl, own->session->device, own->transfers, own->queue, error));
    /* Before the transfers: drivers wait for those from memory that is not pinned where they are asked for. */
    STRAKE_TRY(timed ? STRAKE_OK : compute(own, what, false, between, row, error));
    STRAKE_CL("clFlush", cl->clFlush(own->queue), error, own->session->device);
    for (int end = 0; end < 2; end++) {
        STRAKE_TRY(strake_sph_has_reader(run, end) ? leave_slice(own, what, end, error)
                                                   : STRAKE_OK);
    }
    STRAKE_TRY(own->is_asked && what == STRAKE_SPH_BRINGS ? leave_found(own, error) : STRAKE_OK);
    STRAKE_CL("clFlush", cl->clFlush(own->transfers), error, own->session->device);
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, "the device's edge slices");
    STRAKE_TRY(strake_cl_wait_queue(cl, own->session->device, &own->waiter, own->transfers, error));
    if (timed) {
        run->dealings.moving = (what == STRAKE_SPH_BRINGS_HALF ? run->dealings.moving : 0.0) +
                               strake_clock_seconds() - start;
        STRAKE_TRY(compute(own, what, false, between, row, error));
        STRAKE_CL("clFlush", cl->clFlush(own->queue), error, own->session->device);
    }
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, NULL);
    strake_sph_bring(run, what);
cleanup:
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
    STRAKE_TRY(
        compute_slices(own, is_half ? STRAKE_SPH_BRINGS_HALF : STRAKE_SPH_BRINGS, &row, error));
    own->passed[is_half] = row;
cleanup:
    return status;
}

/*
 * Memory that its owner's device has pinned is so for other devices, too. Where no other device is here this one pins what
 * the processors have: two that pin the same memory fail.
 */
static bool is_pinned(strake_sph_device *own, const strake_sph_box *box)
{
    return box->is_pinned ||
           (own->is_only && strake_cl_pins_add(&own->pins, box->memory, box->bytes));
}

/* What others found of the forces on the run's ghosts, or of their densities, beside what is computed now. */
static strake_status take_slices(strake_sph_device *own, strake_sph_event what, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    size_t each = 0;
    const cl_mem to = find_brought(own, what, &each);
    const strake_sph_box *box[2] = {NULL, NULL};
    int64_t ghost[2];
    const bool timed = is_timed(&own->run, what);
    double start = 0.0;
    strake_sph_find_ghosts(&own->run, ghost);
    STRAKE_TRY(strake_sph_await(&own->run, what != STRAKE_SPH_BRINGS, ghost, box, error));
    STRAKE_TRY(timed ? start_timing(own, &start, error) : STRAKE_OK);
    for (int side = 0; side < 2; side++) {
        const strake_range range = own->ghost[side];
        if (box[side] == NULL || range.first >= range.end) {
            continue;
        }
        strake_sph_note_received(&own->run, (size_t)(range.end - range.first) * each);
        strake_sph_note_pageable(
            &own->run, is_pinned(own, box[side]) ? 0 : (size_t)(range.end - range.first) * each);
        STRAKE_TRY(strake_sph_upload_to(own, own->transfers, false, to, (size_t)range.first * each,
                                        (size_t)(range.end - range.first) * each, box[side]->memory,
                                        error));
    }
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
    STRAKE_TRY(strake_cl_follow(cl, own->session->device, own->queue, own->transfers, error));
cleanup:
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
        STRAKE_TRY(take_slices(own, STRAKE_SPH_BRINGS_DENSITIES, error));
    }
    STRAKE_TRY(strake_sph_renew(own, false, error));
cleanup:
    return status;
}

strake_status strake_sph_advance_shared(strake_sph_run *run, bool is_whole, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph_kernel_name name = is_whole ? STRAKE_SPH_WHOLE : STRAKE_SPH_HALF;
    const int now = own->now, then = 1 - now;
    strake_cl_arguments a = strake_sph_begin_arguments(own, name);
    strake_sph_mark(own, run->clock.steps);
    STRAKE_TRY(take_slices(own, is_whole ? STRAKE_SPH_BRINGS_HALF : STRAKE_SPH_BRINGS, error));
    STRAKE_TRY(is_whole ? STRAKE_OK : strake_sph_plan_shared(own, true, error));
    strake_sph_pass_scheme(own, &a, false);
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
    STRAKE_TRY(strake_sph_launch(own, name, &a, run->count, error));
cleanup:
    return status;
}

/* Enqueues that the device finds it. */
static strake_status find(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    const cl_int inner[2] = {(cl_int)run->inner.first, (cl_int)run->inner.end};
    const int64_t passed = own->passed[0] > own->passed[1] ? own->passed[0] : own->passed[1];
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_LOOK);
    strake_sph_mark(own, run->clock.steps);
    STRAKE_TRY(strake_sph_open_shared(own, error));
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass(&a, sizeof inner, inner);
    strake_cl_pass_int(&a, run->count);
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->rest);
    strake_cl_pass_buffer(&a, own->most);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_LOOK, &a, run->count, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SUM_UP);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass_int(&a, passed);
    strake_cl_pass_int(&a, strake_sph_groups(own, STRAKE_SPH_LOOK, run->count));
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_buffer(&a, own->most);
    strake_cl_pass_buffer(&a, own->found);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SUM_UP, &a, 1, error));
    for (int k = 0; k < 2; k++) {
        own->fastest[k] = own->movers.frames.fastest[k];
    }
cleanup:
    return status;
}

strake_status strake_sph_ask_shared(strake_sph_run *run, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    own->is_asked = true;
    return find(own, error);
}

strake_status strake_sph_look_shared(strake_sph_run *run, strake_sph_seen *seen,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph *const sph = run->sph;
    const double *const found = own->seen;
    if (!own->is_asked) {
        STRAKE_TRY(find(own, error));
        STRAKE_TRY(strake_sph_read(own, own->found, 0, FOUND_BYTES, own->seen, error));
    }
    own->is_asked = false;
    *seen = (strake_sph_seen){.far = found[4],
                              .fast = found[5],
                              .bad = found[6] < (double)INT_MAX ? (int64_t)found[6] : -1};
    for (int k = 0; k < 2; k++) {
        seen->bound[k] = sph_bound(found[2 * k], found[2 * k + 1] + own->fastest[k], sph->smoothing,
                                   sph->cfl, strake_sph_viscous_bound(sph));
    }
cleanup:
    return status;
}

/* --- a new order ----------------------------------------------------------------------------------- */

/* Enqueues that particles which others need go side by side. */
static strake_status gather_leavers(strake_sph_device *own, cl_uint *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const cl_uint none = 0;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_LEAVE);
    STRAKE_TRY(strake_cl_fill(&own->session->filler, own->queue, own->totals, &none, sizeof none,
                              sizeof none, sizeof none, error));
    strake_cl_pass(&a, sizeof own->cells4, own->cells4);
    strake_cl_pass_int(&a, own->run.count);
    strake_cl_pass_int(&a, own->out_room);
    strake_cl_pass_buffer(&a, own->share);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->key);
    strake_cl_pass_buffer(&a, own->totals);
    strake_cl_pass_buffer(&a, own->out_x);
    strake_cl_pass_buffer(&a, own->out_v);
    strake_cl_pass_buffer(&a, own->out_cell);
    strake_cl_pass_buffer(&a, own->out_key);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_LEAVE, &a, own->run.count, error));
    STRAKE_TRY(strake_sph_read(own, own->totals, sizeof *count, sizeof *count, count, error));
cleanup:
    return status;
}

static strake_status make_out_room(strake_sph_device *own, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t real = (size_t)own->run.element, room = (size_t)(count + count / 4);
    const struct {
        cl_mem *buffer;
        size_t each;
    } all[] = {{&own->out_x, 4 * real},
               {&own->out_v, 4 * real},
               {&own->out_cell, sizeof(cl_int)},
               {&own->out_key, sizeof(cl_uint)}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        own->bytes -= (double)((size_t)own->out_room * all[k].each);
        strake_cl_release_buffer(own->session, all[k].buffer);
        STRAKE_TRY(strake_sph_new_buffer(own, room * all[k].each, all[k].buffer, error));
    }
    own->out_room = (int64_t)room;
cleanup:
    return status;
}

strake_status strake_sph_make_out(strake_sph_device *own, strake_error *error)
{
    return own->out_room > 0 ? STRAKE_OK : make_out_room(own, STRAKE_SPH_FIRST_OUT, error);
}

static strake_status leave_particles(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_uint count = 0;
    strake_sph_image *out = NULL;
    STRAKE_TRY(strake_sph_make_out(own, error));
    STRAKE_TRY(gather_leavers(own, &count, error));
    if ((int64_t)count > own->out_room) {
        STRAKE_TRY(make_out_room(own, count, error));
        STRAKE_TRY(gather_leavers(own, &count, error));
    }
    out = strake_sph_outbox(&own->run, count);
    STRAKE_CHECK(out != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld particles of others",
                 (long long)count);
    STRAKE_TRY(count > 0 ? strake_sph_read_particles(own, own->out_x, own->out_v, own->out_cell,
                                                     own->out_key, out, error)
                         : STRAKE_OK);
cleanup:
    return status;
}

strake_status strake_sph_change_hands(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    strake_sph_said said = {.is_order = true};
    strake_sph_image come = {0};
    cl_uint lost = 0;
    int64_t more = 0;
    STRAKE_TRY(strake_sph_read(own, own->totals, 0, sizeof lost, &lost, error));
    STRAKE_TRY(leave_particles(own, error));
    said.sum = lost;
    strake_sph_take_range(run);
    STRAKE_TRY(strake_sph_meet(run, &said, error));
    run->clock.lost += (int64_t)said.sum - (int64_t)lost; /* its own are noted one by one */
    more = strake_sph_count_arrivals(run, own->shares);
    STRAKE_TRY(strake_sph_make_room(own, run->count + more, error));
    if (more > 0) {
        STRAKE_TRY(strake_sph_image_open(run, more, &come, error));
        strake_sph_take_arrivals(run, own->shares, &come, 0);
        STRAKE_TRY(strake_sph_write_particles(own, &come, run->count, error));
    }
    run->count += more;
cleanup:
    strake_sph_image_close(&come);
    return status;
}
