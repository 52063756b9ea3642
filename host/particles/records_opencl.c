/* Particles that change hands at a new order: records from device to device, through pinned memory. */
#include "base/error.h"
#include "particles/crew.h"
#include "particles/device.h"

/* Room for so many records and some more. */
static strake_status make_records(strake_sph_device *own, int64_t count, cl_mem *buffer,
                                  int64_t *room, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t each = strake_sph_record_bytes(own->run.element);
    const int64_t more = strake_sph_more_room(count);
    if (*buffer != NULL && count <= *room) {
        return STRAKE_OK;
    }
    own->bytes -= (double)((size_t)*room * each);
    *room = 0;
    strake_cl_release_buffer(own->session, buffer);
    STRAKE_TRY(strake_sph_new_buffer(own, (size_t)more * each, buffer, error));
    *room = more;
cleanup:
    return status;
}

strake_status strake_sph_make_out(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(make_records(own, STRAKE_SPH_FIRST_OUT, &own->out, &own->out_room, error));
    STRAKE_TRY(make_records(own, STRAKE_SPH_FIRST_OUT, &own->in, &own->in_room, error));
cleanup:
    return status;
}

/* Enqueues that particles which others need go side by side, as records. */
static strake_status gather_leavers(strake_sph_device *own, strake_error *error)
{
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_LEAVE);
    strake_cl_pass(&a, sizeof own->cells4, own->cells4);
    strake_cl_pass_int(&a, own->run.count);
    strake_cl_pass_int(&a, own->out_room);
    strake_cl_pass_buffer(&a, own->share);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->key);
    strake_cl_pass_buffer(&a, own->totals);
    strake_cl_pass_buffer(&a, own->out);
    return strake_sph_launch(own, STRAKE_SPH_LEAVE, &a, own->run.count, error);
}

/* Enqueues that so many of them go to the member's box, and how many there are; and waits. */
static strake_status read_leavers(strake_sph_device *own, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = (size_t)count * strake_sph_record_bytes(own->run.element);
    cl_event come = NULL;
    strake_sph_box *const box = strake_sph_open_out(&own->run, count);
    STRAKE_CHECK(box != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld particles of others",
                 (long long)count);
    box->is_pinned = strake_cl_pins_add(&own->pins, box->memory, box->bytes);
    STRAKE_TRY(strake_sph_download_from(own, own->queue, false, own->totals, 0,
                                        STRAKE_SPH_TOTALS * sizeof(cl_uint), own->heard, &come,
                                        error));
    STRAKE_TRY(count > 0 ? strake_sph_download_from(own, own->queue, false, own->out, 0, bytes,
                                                    box->memory, &come, error)
                         : STRAKE_OK);
    STRAKE_TRY(strake_sph_wait(own, STRAKE_SPH_FOR_LEAVERS, own->queue, &come, error));
cleanup:
    strake_cl_release_event(own->session->cl, &come);
    return status;
}

/* Most likely they are as many as at the last order, and some: so many are read without asking first. @param[out] lost  of the box */
static strake_status leave_particles(strake_sph_device *own, int64_t *lost, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const cl_uint none = 0;
    int64_t expected = own->out_before + own->out_before / 16;
    STRAKE_TRY(strake_sph_make_out(own, error));
    expected = expected < own->out_room ? expected : own->out_room;
    STRAKE_TRY(gather_leavers(own, error));
    STRAKE_TRY(read_leavers(own, expected, error));
    *lost = own->heard[0];
    own->out_before = own->heard[1];
    if (own->out_before > own->out_room) {
        STRAKE_TRY(make_records(own, own->out_before, &own->out, &own->out_room, error));
        STRAKE_TRY(strake_cl_fill(&own->session->filler, own->queue, own->totals, &none,
                                  sizeof none, sizeof none, sizeof none, error));
        STRAKE_TRY(gather_leavers(own, error));
    }
    STRAKE_TRY(own->out_before > expected ? read_leavers(own, own->out_before, error) : STRAKE_OK);
    strake_sph_leave(&own->run, own->out_before);
cleanup:
    return status;
}

strake_status strake_sph_arrive(strake_sph_device *own, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_ARRIVE);
    strake_cl_pass_int(&a, count);
    strake_cl_pass_int(&a, own->run.count);
    strake_cl_pass_buffer(&a, own->in);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->key);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_ARRIVE, &a, count, error));
    own->run.count += count;
cleanup:
    return status;
}

/* All that others have left, straight from where it lies; what this run does not hold falls out where it is sorted. */
static strake_status take_arrivals(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    const size_t each = strake_sph_record_bytes(run->element);
    int64_t more = 0, at = 0;
    for (int k = 0; k < run->crew->members; k++) {
        const strake_sph_member *const m = strake_sph_giver(run, k);
        more += m != NULL ? m->out_count : 0;
    }
    STRAKE_TRY(strake_sph_make_room(own, run->count + more, error));
    STRAKE_TRY(make_records(own, more, &own->in, &own->in_room, error));
    for (int k = 0; k < run->crew->members; k++) {
        const strake_sph_member *const m = strake_sph_giver(run, k);
        if (m == NULL || m->out_count == 0) {
            continue;
        }
        (void)strake_sph_pin(own, &m->out);
        STRAKE_TRY(strake_sph_upload_to(own, own->queue, own->in, (size_t)at * each,
                                        (size_t)m->out_count * each, m->out.memory, NULL, error));
        at += m->out_count;
    }
    STRAKE_TRY(more > 0 ? strake_sph_arrive(own, more, error) : STRAKE_OK);
    strake_sph_note_arrivals(run, more);
cleanup:
    return status;
}

strake_status strake_sph_change_hands(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_run *const run = &own->run;
    strake_sph_said said = {.is_order = true};
    int64_t lost = 0;
    STRAKE_TRY(leave_particles(own, &lost, error));
    said.sum = (double)lost;
    strake_sph_take_range(run);
    STRAKE_TRY(strake_sph_meet(run, &said, error));
    run->clock.lost += (int64_t)said.sum - lost; /* its own are noted one by one */
    STRAKE_TRY(take_arrivals(own, error));
cleanup:
    return status;
}
