/* Passes of a device beside others: forces of its outermost slices go to them while those of the inner ones are computed. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/parts_impl.h"

/*
 * Work-items of passes that a unit of a GPU has at once, at least. Outermost slices are a part of all particles, at least as
 * many as fill the GPU once, at most as often as said here.
 */
enum { FILLS_UNIT = 1024, OUTER_PART = 2, OUTER_FILLS = 3 };

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

/* Arguments of a pass up to the state that it reads; @p row of what its groups find. */
static strake_cl_arguments begin_forces(strake_sph_device *own, strake_sph_kernel_name name,
                                        bool is_half, ranges what, int64_t row)
{
    const cl_int both[4] = {(cl_int)what.low.first, (cl_int)what.low.end, (cl_int)what.high.first,
                            (cl_int)what.high.end};
    const int of = is_half ? 1 - own->now : own->now;
    strake_cl_arguments a = strake_sph_begin_arguments(own, name);
    strake_sph_pass_scheme(own, &a, is_half);
    strake_cl_pass(&a, sizeof both, both);
    strake_cl_pass_int(&a, strake_sph_most_row(own));
    strake_sph_pass_lists(own, &a, strake_sph_most(own));
    strake_cl_pass_int(&a,
                       strake_sph_most_first(own, own->set) + (strake_sph_raises(own) ? 0 : row));
    strake_cl_pass_buffer(&a, own->x[of]);
    strake_cl_pass_buffer(&a, own->v[of]);
    strake_cl_pass_buffer(&a, own->volume[of]);
    return a;
}

static strake_status launch_forces(strake_sph_device *own, strake_sph_kernel_name name,
                                   bool is_edge, strake_cl_arguments *a, ranges what, int64_t *row,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = wide_count(own, what.low) + wide_count(own, what.high);
    if (count == 0 && *row > 0) { /* the first of a pass leaves something to sum up */
        return STRAKE_OK;
    }
    strake_cl_release_event(own->session->cl, &own->working);
    a->event = &own->working;
    STRAKE_TRY(strake_sph_launch_as(own, name, is_edge ? "sph_pass, edges" : "sph_pass, inner", a,
                                    count, error));
    *row += strake_sph_groups(own, name, count);
cleanup:
    return status;
}

/* The forces on some particles, and half a step later the whole step with them. */
static strake_status add_forces(strake_sph_device *own, bool is_half, bool is_edge, ranges what,
                                int64_t *row, strake_error *error)
{
    const int now = own->now;
    const strake_sph_kernel_name name = is_half ? STRAKE_SPH_PASS_WHOLE : STRAKE_SPH_PASS;
    strake_cl_arguments a = begin_forces(own, name, is_half, what, *row);
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
    return launch_forces(own, name, is_edge, &a, what, row, error);
}

/* The forces on some particles of the present state, and half a step with them. */
static strake_status add_half(strake_sph_device *own, ranges what, int64_t *row,
                              strake_error *error)
{
    const int then = 1 - own->now;
    strake_cl_arguments a = begin_forces(own, STRAKE_SPH_PASS_HALF, false, what, *row);
    strake_cl_pass_real(&a, own->precision, own->run.clock.dt);
    strake_cl_pass_buffer(&a, own->x[then]);
    strake_cl_pass_buffer(&a, own->v[then]);
    strake_cl_pass_buffer(&a, own->volume[then]);
    strake_sph_pass_bodies(own, &a);
    return launch_forces(own, STRAKE_SPH_PASS_HALF, false, &a, what, row, error);
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

cl_mem strake_sph_find_brought(const strake_sph_device *own, strake_sph_event what, size_t *each)
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
    const cl_mem from = strake_sph_find_brought(own, what, &each);
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

/* Particles that fill a GPU's units once. */
static int64_t fill_of(const strake_sph_device *own)
{
    const strake_cl_device *const device = own->session->device;
    return strake_cl_device_is_gpu(device)
               ? (int64_t)device->compute_units * FILLS_UNIT * own->settings.vector
               : 0;
}

/*
 * Whether inner slices that are asked for ahead wait for the time step, so that half a step needs no launch of its own (a part
 * of 8.5 million particles 0.7 % faster, of 0.9 million 1 %, of 0.5 million 2 % slower on H200s): that takes as long as the
 * outermost ones do where all are devices of this process.
 */
static bool waits_for_step(const strake_sph_device *own)
{
    enum { LEAST = 4 }; /* times what fills a GPU */
    const int64_t inner = own->run.inner.end - own->run.inner.first;
    return own->is_asked && strake_sph_is_among_devices(&own->run) && inner >= LEAST * fill_of(own);
}

/* Particles between so many slices at either end. */
static strake_range find_between(const strake_sph_device *own, const int64_t outer[2])
{
    const strake_range slices = own->run.own, inner = own->run.inner;
    return (strake_range){outer[0] > 0 ? own->slice_first[slices.first + outer[0]] : inner.first,
                          outer[1] > 0 ? own->slice_first[slices.end - outer[1]] : inner.end};
}

/* Particles of these slices. */
static int64_t count_outer(const strake_sph_device *own, const int64_t outer[2])
{
    const strake_range inner = own->run.inner, between = find_between(own, outer);
    return between.first - inner.first + inner.end - between.end;
}

/*
 * The slices that are computed before the others: those that others have as ghosts, and more: these alone would leave most of
 * a GPU idle until the inner ones are there, and each of the passes that go ahead has one less at either end.
 */
static void find_outer(const strake_sph_device *own, int64_t outer[2])
{
    const int64_t all = own->run.own.end - own->run.own.first, fill = fill_of(own);
    const int64_t most = OUTER_FILLS * fill;
    const int64_t part =
        (own->run.inner.end - own->run.inner.first) / OUTER_PART / (fill + 1) * fill;
    const int64_t least = part > fill ? part : fill, wanted = least < most ? least : most;
    const bool has[2] = {strake_sph_has_reader(&own->run, 0), strake_sph_has_reader(&own->run, 1)};
    outer[0] = has[0] ? 1 : 0;
    outer[1] = has[1] && outer[0] < all ? 1 : 0; /* one slice may be both */
    while (outer[0] + outer[1] > 0 && outer[0] + outer[1] < all &&
           count_outer(own, outer) < wanted) {
        outer[has[1] && (!has[0] || outer[1] < outer[0]) ? 1 : 0]++;
    }
}

/*
 * Whether the outermost slices need not wait for the last pass over the inner ones: those that it computed before have one
 * more at either end. So nobody that is near them changes any more, and nobody that they change is read. On a GPU they begin
 * while the last groups of that pass leave more and more of it idle, and half of what fills it is enough for that (a step of
 * 1.10 ms is 6 % shorter on H200s). @param[out] outer  slices at either end
 */
static bool goes_ahead(const strake_sph_device *own, const strake_sph_begun *b, int64_t outer[2])
{
    const strake_range made = own->first_pass.made;
    bool does = own->aside != NULL && own->has_outer && !b->timed &&
                (b->what == STRAKE_SPH_BRINGS_HALF ? made.first < made.end
                                                   : b->what == STRAKE_SPH_BRINGS && own->is_asked);
    for (int end = 0; end < 2; end++) {
        outer[end] = own->outer[end] > 0 ? own->outer[end] - 1 : 0;
        does = does && (own->outer[end] == 0 || outer[end] > 0);
    }
    return does && 2 * count_outer(own, outer) >= fill_of(own);
}

bool strake_sph_is_timed(const strake_sph_run *run, strake_sph_event what)
{
    enum { EVERY = 64, FIRST = 8, FILTERS = 8 };
    return what == STRAKE_SPH_BRINGS_DENSITIES ? run->dealings.filters % FILTERS == 1
                                               : run->dealings.steps % EVERY == FIRST;
}

strake_status strake_sph_start_timing(strake_sph_device *own, cl_command_queue queue, double *start,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(
        strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter, queue, error));
    *start = strake_clock_seconds();
cleanup:
    return status;
}

/* The inner slices, of a first pass with half a step where the time step is known. */
static strake_status compute_inner(strake_sph_device *own, strake_sph_begun *b, bool steps,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const ranges between = {b->between, {b->between.end, b->between.end}};
    STRAKE_TRY(steps ? add_half(own, between, &b->row, error)
                     : compute(own, b->what, false, between, &b->row, error));
    b->has_inner = true;
    b->made = steps ? b->between : b->made;
    STRAKE_CL("clFlush", own->session->cl->clFlush(own->queue), error, own->session->device);
cleanup:
    return status;
}

/*
 * So many outermost slices, on a GPU in a queue of their own, so that the inner ones are computed at the same time: in the one
 * that has the inner ones of the last pass, and then changes roles with the other one, or, ahead, in the one that has the
 * outermost ones of the last pass, and what became of ghosts.
 */
static strake_status compute_outer(strake_sph_device *own, strake_sph_begun *b, bool ahead,
                                   const int64_t outer[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    const strake_cl_device *const device = own->session->device;
    const strake_range inner = own->run.inner, between = find_between(own, outer);
    const ranges edges = {{inner.first, between.first}, {between.end, inner.end}};
    cl_event here = NULL;
    b->between = between;
    own->has_outer = b->what != STRAKE_SPH_BRINGS_DENSITIES && !b->timed;
    memcpy(own->outer, outer, sizeof own->outer);
    if (ahead) {
        strake_cl_aside_swap(&own->queue, &own->aside);
        status = compute(own, b->what, true, edges, &b->row, error);
        status =
            status == STRAKE_OK ? strake_cl_mark(cl, device, own->queue, &b->done, error) : status;
        strake_cl_aside_swap(&own->queue, &own->aside);
        return status;
    }
    STRAKE_TRY(strake_cl_aside_mark(cl, device, own->queue, own->aside, &here, error));
    STRAKE_TRY(compute(own, b->what, true, edges, &b->row, error));
    STRAKE_TRY(strake_cl_aside_turn(cl, device, &own->queue, &own->aside, &here, &b->done, error));
cleanup:
    strake_cl_release_event(cl, &here);
    return status;
}

/* The outermost slices; and where it was asked what the last step found, that comes. */
static strake_status begin(strake_sph_device *own, strake_sph_begun *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    const strake_cl_device *const device = own->session->device;
    int64_t outer[2];
    b->timed = strake_sph_is_timed(&own->run, b->what);
    const bool ahead = goes_ahead(own, b, outer);
    if (!ahead) {
        find_outer(own, outer);
    }
    STRAKE_TRY(compute_outer(own, b, ahead, outer, error));
    if (own->is_asked && b->what == STRAKE_SPH_BRINGS) {
        /*
         * In the queue that comes after the last step: beside the outermost slices, which were asked for before, the event
         * of a kernel, also for another queue, would come only after these (NVIDIA's driver).
         */
        strake_sph_note_sent(&own->run, strake_sph_found_bytes(own));
        STRAKE_TRY(strake_sph_leave_found(own, own->passed[1], own->set_before, &b->heard, error));
        STRAKE_CL("clFlush", cl->clFlush(own->queue), error, device);
    }
    if (b->timed && own->aside != NULL) {
        STRAKE_TRY(strake_sph_start_timing(own, own->aside, &b->start, error));
    }
    STRAKE_TRY(b->timed ? strake_sph_start_timing(own, own->queue, &b->start, error) : STRAKE_OK);
cleanup:
    return status;
}

/* Enqueues that what others need goes to them. */
static strake_status send(strake_sph_device *own, strake_sph_begun *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    const strake_cl_device *const device = own->session->device;
    STRAKE_TRY(strake_cl_come_after(cl, device, own->transfers, b->done, error));
    for (int end = 0; end < 2; end++) {
        STRAKE_TRY(strake_sph_has_reader(&own->run, end)
                       ? leave_slice(own, b->what, end, &b->sent, error)
                       : STRAKE_OK);
    }
    STRAKE_CL("clFlush", cl->clFlush(own->transfers), error, device);
cleanup:
    return status;
}

/*
 * Waits until it is there. What is waited for are the transfers themselves: a marker behind them, or the event of a kernel,
 * would come after kernels of other queues that run beside them (NVIDIA's driver).
 */
static strake_status await_sent(strake_sph_device *own, strake_sph_begun *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, "the device's edge slices");
    STRAKE_TRY(b->sent != NULL
                   ? strake_sph_wait(own,
                                     (strake_sph_wait_for)(STRAKE_SPH_FOR_EDGES + (int)b->what),
                                     own->transfers, &b->sent, error)
                   : STRAKE_OK);
    strake_cl_release_event(own->session->cl, &b->sent);
    if (b->timed) {
        run->dealings.moving = (b->what == STRAKE_SPH_BRINGS_HALF ? run->dealings.moving : 0.0) +
                               strake_clock_seconds() - b->start;
        b->timed = false;
    }
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, NULL);
cleanup:
    return status;
}

static strake_status bring(strake_sph_device *own, strake_sph_begun *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(await_sent(own, b, error));
    strake_sph_bring(&own->run, b->what);
cleanup:
    return status;
}

static strake_status follow(strake_sph_device *own, const strake_sph_begun *b, strake_error *error)
{
    return own->aside != NULL && b->done != NULL
               ? strake_cl_come_after(own->session->cl, own->session->device, own->queue, b->done,
                                      error)
               : STRAKE_OK;
}

static void forget(strake_sph_device *own, strake_sph_begun *b)
{
    cl_event *const event[] = {&b->done, &b->sent, &b->heard};
    for (int k = 0; k < 3; k++) {
        strake_cl_release_event(own->session->cl, event[k]);
    }
    b->is_open = false;
}

void strake_sph_forget_pass(strake_sph_device *own)
{
    forget(own, &own->first_pass);
}

/* A pass half a step later, or a filter: what others need of the outermost slices goes to them while the inner ones are computed. */
static strake_status compute_slices(strake_sph_device *own, strake_sph_event what, int64_t *row,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_begun b = {.what = what};
    STRAKE_TRY(begin(own, &b, error));
    /* Before the transfers: drivers wait for those from memory that is not pinned where they are asked for. */
    STRAKE_TRY(b.timed ? STRAKE_OK : compute_inner(own, &b, false, error));
    STRAKE_TRY(send(own, &b, error));
    STRAKE_TRY(bring(own, &b, error));
    STRAKE_TRY(b.has_inner ? STRAKE_OK : compute_inner(own, &b, false, error));
    STRAKE_TRY(follow(own, &b, error));
    *row = b.row;
cleanup:
    forget(own, &b);
    return status;
}

/* The first pass up to its outermost slices, or with the inner ones. */
static strake_status begin_first(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_begun *const b = &own->first_pass;
    forget(own, b);
    *b = (strake_sph_begun){
        .what = STRAKE_SPH_BRINGS, .is_open = true, .waits = waits_for_step(own)};
    STRAKE_TRY(begin(own, b, error));
    STRAKE_TRY(!own->is_asked || b->timed || b->waits ? STRAKE_OK
                                                      : compute_inner(own, b, false, error));
    STRAKE_TRY(send(own, b, error));
    STRAKE_TRY(b->timed ? await_sent(own, b, error) : STRAKE_OK);
cleanup:
    return status;
}

strake_status strake_sph_end_pass(strake_sph_device *own, strake_sph_ending how,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_begun *const b = &own->first_pass;
    const bool is_needed = !b->has_inner && how != STRAKE_SPH_IN_VAIN;
    if (!b->is_open) {
        return STRAKE_OK;
    }
    STRAKE_TRY(is_needed ? compute_inner(own, b, how == STRAKE_SPH_WITH_HALF, error) : STRAKE_OK);
    STRAKE_TRY(bring(own, b, error));
    STRAKE_TRY(follow(own, b, error));
    own->passed[0] = b->row;
cleanup:
    forget(own, b);
    return status;
}

strake_status strake_sph_pass_shared(strake_sph_run *run, bool is_half, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    strake_sph_mark(own, run->clock.steps);
    STRAKE_TRY(strake_sph_open_shared(own, error));
    own->is_looked = is_half;
    if (is_half) {
        STRAKE_TRY(compute_slices(own, STRAKE_SPH_BRINGS_HALF, &own->passed[1], error));
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_sph_plan_shared(own, false, error));
    STRAKE_TRY(strake_sph_next_set(own, error));
    STRAKE_TRY(begin_first(own, error));
cleanup:
    return status;
}

strake_status strake_sph_filter_shared(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const bool is_alone = strake_sph_is_alone(run);
    int64_t none = 0;
    strake_sph_mark(own, run->clock.steps);
    own->has_outer = false;
    if (is_alone) {
        STRAKE_TRY(strake_sph_filter(own, NULL, false, (strake_range){0, run->count}, error));
    } else {
        STRAKE_TRY(compute_slices(own, STRAKE_SPH_BRINGS_DENSITIES, &none, error));
        STRAKE_TRY(strake_sph_take_slices(own, STRAKE_SPH_BRINGS_DENSITIES, own->queue, error));
    }
    STRAKE_TRY(strake_sph_renew(own, false, error));
cleanup:
    return status;
}
