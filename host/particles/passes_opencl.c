/* Passes of a device beside others: forces of its outermost slices go to them while those of the inner ones are computed. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/device.h"

/* What a device finds in a step that it shares: how far and how fast its particles are, and bounds of the time step. */

/* Nothing was raised yet in so many sets. */
static strake_status clear(strake_sph_device *own, int first, int count, strake_error *error)
{
    static const cl_uint nothing = 0;
    return strake_cl_fill(&own->session->filler, own->queue, own->found, &nothing, sizeof nothing,
                          (size_t)first * strake_sph_found_bytes(own),
                          (size_t)count * strake_sph_found_bytes(own), error);
}

/** Room for that. */
static strake_status sph_make_found(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_sph_new_buffer(own, strake_sph_found_room(own), &own->found, error));
    STRAKE_TRY(strake_sph_raises(own) ? clear(own, 0, STRAKE_SPH_SETS, error) : STRAKE_OK);
cleanup:
    return status;
}

/** What the next step finds gets another place. */
static strake_status sph_next_set(strake_sph_device *own, strake_error *error)
{
    enum { HALF = STRAKE_SPH_SETS / 2 };
    own->set_before = own->set;
    own->is_set_looked = false;
    if (!strake_sph_raises(own)) {
        own->set = 1 - own->set;
        return STRAKE_OK;
    }
    own->set = (own->set + 1) % STRAKE_SPH_SETS;
    /* The one before, which the host may not have seen yet, is of the other half. */
    if (own->set % HALF == 0) {
        own->has_outer = false; /* the next pass comes after that */
        return clear(own, own->set, HALF, error);
    }
    return STRAKE_OK;
}

/* Enqueues that the greatest of what groups found is found. */
static strake_status sum_up(strake_sph_device *own, int64_t looked, int set, strake_error *error)
{
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_SUM_UP);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass_int(&a, own->passed[0]);
    strake_cl_pass_int(&a, own->passed[1]);
    strake_cl_pass_int(&a, looked);
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_int(&a, strake_sph_most_first(own, set));
    strake_cl_pass_buffer(&a, own->most);
    strake_cl_pass_buffer(&a, own->found);
    return strake_sph_launch(own, STRAKE_SPH_SUM_UP, &a, 1, error);
}

/**
 * Enqueues that the greatest of what groups found comes to own->seen. @param[in] looked  groups of who looked
 * @param[in] set  that of the step  @param[out] come  it has; owned by the caller
 */
static strake_status sph_leave_found(strake_sph_device *own, int64_t looked, int set,
                                     cl_event *come, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool raises = strake_sph_raises(own);
    const size_t bytes = strake_sph_found_bytes(own);
    STRAKE_TRY(raises ? STRAKE_OK : sum_up(own, looked, set, error));
    STRAKE_TRY(strake_sph_download_from(own, own->queue, false, own->found,
                                        raises ? (size_t)set * bytes : 0, bytes, own->seen, come,
                                        error));
cleanup:
    return status;
}

/* Enqueues that the device looks. */
static strake_status launch_look(strake_sph_device *own, strake_error *error)
{
    const bool raises = strake_sph_raises(own);
    const strake_sph_run *const run = &own->run;
    const cl_int inner[2] = {(cl_int)run->inner.first, (cl_int)run->inner.end};
    const int64_t first = strake_sph_most_first(own, own->set);
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_LOOK);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass(&a, sizeof inner, inner);
    strake_cl_pass_int(&a, run->count);
    strake_cl_pass_int(&a, strake_sph_most_row(own));
    /* It raises rows 4 and 5 from here on, as if they were those of a step. */
    strake_cl_pass_int(&a, raises ? first + STRAKE_SPH_OF_LOOKS - 4 : first);
    strake_cl_pass_int(&a, raises ? 1 : 0);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->rest);
    strake_cl_pass_buffer(&a, strake_sph_most(own));
    own->is_set_looked = true;
    return strake_sph_launch(own, STRAKE_SPH_LOOK, &a, run->count, error);
}

/* Enqueues that the device finds what it is asked for, and has looked first, where the last pass has not. */
static strake_status find(strake_sph_device *own, cl_event *come, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t looked =
        own->is_looked ? own->passed[1] : strake_sph_groups(own, STRAKE_SPH_LOOK, own->run.count);
    strake_sph_mark(own, own->run.clock.steps);
    STRAKE_TRY(strake_sph_open_shared(own, error));
    if (!own->is_looked && own->is_set_looked) { /* no pass has left anything in another one */
        STRAKE_TRY(sph_next_set(own, error));
        own->passed[0] = own->passed[1] = 0;
    }
    STRAKE_TRY(own->is_looked ? STRAKE_OK : launch_look(own, error));
    STRAKE_TRY(sph_leave_found(own, looked, own->set, come, error));
cleanup:
    return status;
}

/* What moves is as fast as it is now where the device is asked. */
static void note_asked(strake_sph_device *own)
{
    own->is_looked = false;
    for (int k = 0; k < 2; k++) {
        own->fastest[k] = own->movers.frames.fastest[k];
    }
}

strake_status strake_sph_ask_shared(strake_sph_run *run, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    (void)error;
    own->is_asked = true;
    note_asked(own);
    return STRAKE_OK;
}

/*
 * What has come, as sph_sum_up has it. @param[in] by_look  a look has found how far and how fast they are. Who is bad, which
 * is not raised, is asked for where somebody is infinitely far.
 */
static strake_status read_found(strake_sph_device *own, bool by_look, double *found,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!strake_sph_raises(own)) {
        for (int k = 0; k < STRAKE_SPH_FOUND; k++) {
            found[k] = own->seen[k];
        }
        return STRAKE_OK;
    }
    const float *const raised = (const float *)own->seen;
    for (int k = 0; k < STRAKE_SPH_BOUNDS; k++) {
        found[k] = (double)raised[k < 4 || !by_look ? k : k - 4 + STRAKE_SPH_OF_LOOKS];
    }
    found[STRAKE_SPH_BOUNDS] = (double)INT_MAX;
    if (isinf(found[4])) {
        sph_clock clock;
        STRAKE_TRY(strake_sph_read(own, own->clock_there, 0, sizeof clock, &clock, error));
        found[STRAKE_SPH_BOUNDS] = (double)clock.bad;
    }
cleanup:
    return status;
}

strake_status strake_sph_look_shared(strake_sph_run *run, strake_sph_seen *seen,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph *const sph = run->sph;
    const bool by_look = !own->is_asked && !own->is_looked;
    double found[STRAKE_SPH_FOUND];
    cl_event come = NULL;
    if (own->is_asked) {
        STRAKE_TRY(
            strake_sph_wait(own, STRAKE_SPH_FOR_FOUND, own->queue, &own->first_pass.heard, error));
    } else {
        STRAKE_TRY(strake_sph_end_pass(own, STRAKE_SPH_WITHOUT, error));
        STRAKE_TRY(find(own, &come, error));
        note_asked(own);
        STRAKE_TRY(strake_sph_wait(own, STRAKE_SPH_FOR_LOOK, own->queue, &come, error));
    }
    own->is_asked = false;
    STRAKE_TRY(read_found(own, by_look, found, error));
    *seen = (strake_sph_seen){.far = found[4],
                              .fast = found[5],
                              .bad = found[6] < (double)INT_MAX ? (int64_t)found[6] : -1};
    /* Only the mark of a bad one, as on the processor, where a step is to fail that ends with it. */
    seen->far = seen->bad >= 0 && isinf(seen->far) ? 0.0 : seen->far;
    for (int k = 0; k < 2; k++) {
        seen->bound[k] = sph_bound(found[2 * k], found[2 * k + 1] + own->fastest[k], sph->smoothing,
                                   sph->cfl, strake_sph_viscous_bound(sph));
    }
cleanup:
    strake_cl_release_event(own->session->cl, &come);
    return status;
}

/* Steps on a device beside others: what their passes found comes for its ghosts, and all particles move. */

static cl_mem sph_find_brought(const strake_sph_device *own, strake_sph_event what, size_t *each);
static bool sph_is_timed(const strake_sph_run *run, strake_sph_event what);
static strake_status sph_start_timing(strake_sph_device *own, cl_command_queue queue, double *start,
                                      strake_error *error);

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
    STRAKE_TRY(sph_make_found(own, error));
    own->transfers = own->session->cl->clCreateCommandQueue(
        own->session->context, device->device,
        own->session->record != NULL ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(strake_cl_aside_open(own->session->cl, device, own->session->context,
                                    own->session->record != NULL, &own->aside, error));
cleanup:
    return status;
}

bool strake_sph_pin(strake_sph_device *own, const strake_sph_box *box)
{
    return own->is_shared ? box->is_pinned
                          : strake_cl_pins_add(&own->pins, box->memory, box->bytes);
}

/** What others found of the forces on the run's ghosts, or of their densities, beside what is computed now. @param[in] queue  which has them from then on */
static strake_status sph_take_slices(strake_sph_device *own, strake_sph_event what,
                                     cl_command_queue queue, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    size_t each = 0;
    const cl_mem to = sph_find_brought(own, what, &each);
    const strake_sph_box *box[2] = {NULL, NULL};
    int64_t ghost[2];
    const bool timed = sph_is_timed(&own->run, what);
    double start = 0.0;
    cl_event come = NULL;
    strake_sph_find_ghosts(&own->run, ghost);
    STRAKE_TRY(strake_sph_await(&own->run, what != STRAKE_SPH_BRINGS, ghost, box, error));
    STRAKE_TRY(timed ? sph_start_timing(own, own->queue, &start, error) : STRAKE_OK);
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

/* Half a step of all but a range or, of ghosts, the whole one, which passes over own particles make with the forces that they find. */
static strake_status launch_steps(strake_sph_device *own, bool is_whole, strake_range made,
                                  strake_error *error)
{
    const strake_sph_kernel_name name = is_whole ? STRAKE_SPH_WHOLE : STRAKE_SPH_HALF;
    const int now = own->now, then = 1 - now;
    const cl_int range[2] = {(cl_int)made.first, (cl_int)made.end};
    const int64_t left = own->run.count - (made.end - made.first);
    strake_cl_arguments a = strake_sph_begin_arguments(own, name);
    strake_sph_pass_scheme(own, &a, false);
    strake_cl_pass(&a, sizeof range, range);
    strake_cl_pass_int(&a, own->run.count);
    strake_cl_pass_real(&a, own->precision, own->run.clock.dt);
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
    return strake_sph_launch(own, name, &a, left, error);
}

/* That beside the pass over the range, whose forces need not come first; where there is none after all of them. */
static strake_status move_others(strake_sph_device *own, bool is_whole, strake_range made,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_command_queue none = NULL;
    cl_event done = NULL;
    const strake_sph_event what = is_whole ? STRAKE_SPH_BRINGS_HALF : STRAKE_SPH_BRINGS;
    cl_command_queue *const aside = made.first < made.end ? &own->aside : &none;
    STRAKE_TRY(sph_take_slices(own, what, *aside != NULL ? *aside : own->queue, error));
    strake_cl_aside_swap(&own->queue, aside);
    status = launch_steps(own, is_whole, made, error);
    if (status == STRAKE_OK && *aside != NULL) {
        status = strake_cl_mark(own->session->cl, own->session->device, own->queue, &done, error);
    }
    strake_cl_aside_swap(&own->queue, aside);
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
    strake_range made = run->inner;
    strake_sph_mark(own, run->clock.steps);
    if (!is_whole) {
        STRAKE_TRY(strake_sph_plan_shared(own, true, error));
        STRAKE_TRY(strake_sph_end_pass(own, STRAKE_SPH_WITH_HALF, error));
        made = own->first_pass.made;
    }
    STRAKE_TRY(move_others(own, is_whole, made, error));
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

/* The filter of densities on a device (cl/sph_filter.cl). */

static strake_status begin(strake_sph_device *own, strake_sph_begun *b, strake_error *error);

static void pass_range(const strake_sph_device *own, bool by_clock, strake_range range,
                       strake_cl_arguments *a)
{
    const cl_int both[2] = {(cl_int)range.first, (cl_int)range.end};
    strake_cl_pass_buffer(a, own->clock_there);
    strake_cl_pass_int(a, by_clock ? 1 : 0);
    strake_cl_pass_buffer(a, own->constants);
    strake_cl_pass(a, sizeof both, both);
}

strake_status strake_sph_filter(strake_sph_device *own, const char *as, bool by_clock,
                                strake_range range, strake_error *error)
{
    const int now = own->now;
    const cl_mem *const rest[] = {
        &own->start, &own->first,  &own->counts, &own->words,       &own->cell,
        &own->key,   &own->x[now], &own->v[now], &own->volume[now], &own->volume[1 - now]};
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_FILTER);
    pass_range(own, by_clock, range, &a);
    strake_cl_pass(&a, sizeof own->cells4, own->cells4);
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        strake_cl_pass_buffer(&a, *rest[k]);
    }
    return strake_sph_launch_as(own, STRAKE_SPH_FILTER, as != NULL ? as : "sph_filter", &a,
                                range.end - range.first, error);
}

strake_status strake_sph_renew(strake_sph_device *own, bool by_clock, strake_error *error)
{
    const int now = own->now;
    const cl_mem *const rest[] = {&own->key, &own->x[now], &own->v[now], &own->volume[now],
                                  &own->volume[1 - now]};
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_RENEW);
    pass_range(own, by_clock, (strake_range){0, own->run.count}, &a);
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        strake_cl_pass_buffer(&a, *rest[k]);
    }
    return strake_sph_launch(own, STRAKE_SPH_RENEW, &a, own->run.count, error);
}

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

/** Where what an event brings lies. @param[out] each  bytes of a particle */
static cl_mem sph_find_brought(const strake_sph_device *own, strake_sph_event what, size_t *each)
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
    const cl_mem from = sph_find_brought(own, what, &each);
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

/** Of some steps, and filters, transfers are timed, with nothing beside them. */
static bool sph_is_timed(const strake_sph_run *run, strake_sph_event what)
{
    enum { EVERY = 64, FIRST = 8, FILTERS = 8 };
    return what == STRAKE_SPH_BRINGS_DENSITIES ? run->dealings.filters % FILTERS == 1
                                               : run->dealings.steps % EVERY == FIRST;
}

/** Waits for the kernels of a queue so far, and begins to time what follows. */
static strake_status sph_start_timing(strake_sph_device *own, cl_command_queue queue, double *start,
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
    b->timed = sph_is_timed(&own->run, b->what);
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
        STRAKE_TRY(sph_leave_found(own, own->passed[1], own->set_before, &b->heard, error));
        STRAKE_CL("clFlush", cl->clFlush(own->queue), error, device);
    }
    if (b->timed && own->aside != NULL) {
        STRAKE_TRY(sph_start_timing(own, own->aside, &b->start, error));
    }
    STRAKE_TRY(b->timed ? sph_start_timing(own, own->queue, &b->start, error) : STRAKE_OK);
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
    STRAKE_TRY(sph_next_set(own, error));
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
        STRAKE_TRY(sph_take_slices(own, STRAKE_SPH_BRINGS_DENSITIES, own->queue, error));
    }
    STRAKE_TRY(strake_sph_renew(own, false, error));
cleanup:
    return status;
}
