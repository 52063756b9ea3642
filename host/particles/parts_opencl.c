/* Steps on a device beside others: what their passes found comes for its ghosts, and all particles move. */
#include "base/clock.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/parts_impl.h"

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
    STRAKE_TRY(strake_sph_make_found(own, error));
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

strake_status strake_sph_take_slices(strake_sph_device *own, strake_sph_event what,
                                     cl_command_queue queue, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    size_t each = 0;
    const cl_mem to = strake_sph_find_brought(own, what, &each);
    const strake_sph_box *box[2] = {NULL, NULL};
    int64_t ghost[2];
    const bool timed = strake_sph_is_timed(&own->run, what);
    double start = 0.0;
    cl_event come = NULL;
    strake_sph_find_ghosts(&own->run, ghost);
    STRAKE_TRY(strake_sph_await(&own->run, what != STRAKE_SPH_BRINGS, ghost, box, error));
    STRAKE_TRY(timed ? strake_sph_start_timing(own, own->queue, &start, error) : STRAKE_OK);
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
    STRAKE_TRY(strake_sph_take_slices(own, what, *aside != NULL ? *aside : own->queue, error));
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
