/* The order of particles on a device, and their lists, anew. */
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "particles/crew.h"
#include "particles/device.h"

/* Particles to a device and back. */

/* Where cells begin, of particles that are in order. */
static strake_status write_start(strake_sph_device *own, const strake_sph_image *image,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t cells = (size_t)own->run.cells.count;
    cl_uint *const start = calloc(cells + 2, sizeof *start);
    STRAKE_CHECK(start != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld cells",
                 (long long)cells);
    for (int64_t p = 0; p < image->count; p++) {
        start[image->cell[p] + 1]++;
    }
    for (size_t c = 0; c <= cells; c++) {
        start[c + 1] += start[c];
    }
    STRAKE_TRY(strake_sph_write(own, own->start, (cells + 2) * sizeof *start, start, error));
cleanup:
    free(start);
    return status;
}

/* What follows from densities, as passes on the processor have it. */
static void prepare(strake_sph_device *own, const strake_sph_image *image, void *push, void *sound,
                    void *volume)
{
    const strake_sph_parts parts = {.count = image->count,
                                    .cells = &own->run.cells,
                                    .kind = image->kind,
                                    .now = image->state,
                                    .push = push,
                                    .sound = sound,
                                    .volume = volume};
    (void)strake_sph_rows_of(own->precision, STRAKE_ISA_SCALAR)
        ->prepare(&parts, &own->numbers, &image->state, 0, image->count);
}

strake_status strake_sph_upload(strake_sph_device *own, const strake_sph_image *image,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int element = own->run.element;
    const int64_t count = image->count;
    const size_t room = (size_t)count + 1, real = (size_t)element;
    void *const *const value = image->state.value;
    void *const wide = calloc(4 * room, real), *const push = calloc(room, real);
    void *const sound = calloc(room, real), *const volume = calloc(room, real);
    cl_uint *const key = calloc(room, sizeof *key);
    STRAKE_CHECK(wide != NULL && push != NULL && sound != NULL && volume != NULL && key != NULL,
                 error, STRAKE_ERR_MEMORY, "no memory for %lld particles", (long long)count);
    if (count == 0) {
        goto cleanup;
    }
    for (int64_t p = 0; p < count; p++) {
        key[p] = strake_sph_key_of(image, p);
    }
    prepare(own, image, push, sound, volume);
    STRAKE_TRY(strake_sph_write(own, own->key, (size_t)count * sizeof *key, key, error));
    STRAKE_TRY(
        strake_sph_write(own, own->cell, (size_t)count * sizeof(cl_int), image->cell, error));
    if (strake_sph_has_volumes(own->run.sph)) {
        STRAKE_TRY(
            strake_sph_write(own, own->volume[own->now], (size_t)count * real, volume, error));
    }
    strake_sph_interleave(wide, element, count, &value[STRAKE_SPH_V0], push);
    STRAKE_TRY(strake_sph_write(own, own->v[own->now], 4 * (size_t)count * real, wide, error));
    if (image->clock.is_ordered) {
        /* Lists are those of where particles were when the order was made. */
        strake_sph_interleave(wide, element, count, image->rest, value[STRAKE_SPH_RHO]);
        STRAKE_TRY(strake_sph_write(own, own->x[own->now], 4 * (size_t)count * real, wide, error));
        STRAKE_TRY(write_start(own, image, error));
        STRAKE_TRY(strake_sph_make_lists(own, error));
        for (int64_t p = 0; p < count; p++) {
            for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
                strake_element_copy(wide, element, 3 * p + a, 4 * p + a);
            }
        }
        STRAKE_TRY(strake_sph_write(own, own->rest, 3 * (size_t)count * real, wide, error));
    }
    strake_sph_interleave(wide, element, count, &value[STRAKE_SPH_X0], value[STRAKE_SPH_RHO]);
    STRAKE_TRY(strake_sph_write(own, own->x[own->now], 4 * (size_t)count * real, wide, error));
    if (image->clock.is_ordered && own->session->device->has_double) {
        STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_LOOK, error));
        STRAKE_TRY(strake_sph_read_clock(own, error));
    }
cleanup:
    free(wide);
    free(push);
    free(sound);
    free(volume);
    free(key);
    return status;
}

strake_status strake_sph_download(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_image *const image = &own->image;
    const int64_t count = own->run.count;
    if (image->number == NULL || count > own->image_room) {
        if (image->number != NULL) {
            strake_sph_image_close(image);
        }
        STRAKE_TRY(strake_sph_image_open(&own->run, own->run.room, image, error));
        own->image_room = own->run.room;
    }
    image->count = count;
    image->clock = own->run.clock;
    if (count > 0) {
        STRAKE_TRY(strake_sph_read_particles(own, own->x[own->now], own->v[own->now], own->cell,
                                             own->key, image, error));
        STRAKE_TRY(strake_sph_read_wide(own, own->rest, count, 3, image->rest, NULL, error));
    }
cleanup:
    return status;
}

/* Particles that change hands at a new order: records from device to device, through pinned memory. */

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

enum { SCAN_EACH = 8 /* as in cl/cells.cl */, MOST_IN_CELL = 2048 };

static const cl_uint ANY_ROWS = 0xffffffffU; /* likewise */

static strake_status zero(strake_sph_device *own, cl_mem buffer, size_t bytes, strake_error *error)
{
    static const cl_uint nothing = 0;
    return strake_cl_fill(&own->session->filler, own->queue, buffer, &nothing, sizeof nothing, 0,
                          bytes, error);
}

/* Each of the words of an array becomes the sum of those before; totals[0] that of all. */
static strake_status scan(strake_sph_device *own, cl_mem array, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t items = (count + SCAN_EACH - 1) / SCAN_EACH;
    const int64_t groups = strake_sph_groups(own, STRAKE_SPH_SCAN_SUMS, items);
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_SCAN_SUMS);
    strake_cl_pass_long(&a, count);
    strake_cl_pass_buffer(&a, array);
    strake_cl_pass_buffer(&a, own->sums);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCAN_SUMS, &a, items, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SCAN_TOPS);
    strake_cl_pass_int(&a, groups);
    strake_cl_pass_buffer(&a, own->sums);
    strake_cl_pass_buffer(&a, own->totals);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCAN_TOPS, &a, 1, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SCAN_WRITE);
    strake_cl_pass_long(&a, count);
    strake_cl_pass_buffer(&a, array);
    strake_cl_pass_buffer(&a, own->sums);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCAN_WRITE, &a, items, error));
cleanup:
    return status;
}

/* The run's own particles to their cells, and to those who compute these. Cells are emptied while the host waits for these. */
static strake_status enter(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_ENTER);
    const bool is_alone = strake_sph_is_alone(&own->run);
    const size_t slices = (size_t)own->run.cells.n[0];
    strake_sph_find_shares(&own->run, own->shares);
    if (!own->has_shares || memcmp(own->shares, own->shares_there, slices) != 0) {
        memcpy(own->shares_there, own->shares, slices);
        STRAKE_TRY(strake_sph_write(own, own->share, slices, own->shares_there, error));
        own->has_shares = true;
    }
    STRAKE_TRY(zero(own, own->totals, STRAKE_SPH_TOTALS * sizeof(cl_uint), error));
    strake_sph_pass_scheme(own, &a, false);
    strake_cl_pass_int(&a, own->run.count);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->share);
    strake_cl_pass_buffer(&a, own->totals);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_ENTER, &a, own->run.count, error));
    STRAKE_TRY(zero(own, own->start, (size_t)(own->run.cells.count + 2) * sizeof(cl_uint), error));
    STRAKE_TRY(is_alone ? STRAKE_OK : strake_sph_change_hands(own, error));
cleanup:
    return status;
}

/* Particles that are in their cells in order: from x[now] to the other one, which is now then. */
static strake_status sort(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t cells = own->run.cells.count, count = own->run.count;
    const int now = own->now, then = 1 - now;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_GATHER);
    strake_cl_pass(&a, sizeof own->cells4, own->cells4);
    strake_cl_pass_int(&a, count);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->share);
    strake_cl_pass_long(&a, own->run.room);
    strake_cl_pass_buffer(&a, own->words);
    strake_cl_pass_buffer(&a, own->start);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_GATHER, &a, count, error));
    STRAKE_TRY(scan(own, own->start, cells + 2, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SCATTER);
    strake_cl_pass_int(&a, count);
    strake_cl_pass_long(&a, own->run.room);
    strake_cl_pass_buffer(&a, own->words);
    strake_cl_pass_buffer(&a, own->start);
    strake_cl_pass_buffer(&a, own->key);
    strake_cl_pass_buffer(&a, own->cell);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCATTER, &a, count, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SETTLE);
    strake_sph_pass_scheme(own, &a, false);
    strake_cl_pass_int(&a, count);
    strake_cl_pass_long(&a, own->run.room);
    strake_cl_pass_buffer(&a, own->words);
    strake_cl_pass_buffer(&a, own->start);
    strake_cl_pass_buffer(&a, own->x[now]);
    strake_cl_pass_buffer(&a, own->v[now]);
    strake_cl_pass_buffer(&a, own->x[then]);
    strake_cl_pass_buffer(&a, own->v[then]);
    strake_cl_pass_buffer(&a, own->volume[then]);
    strake_cl_pass_buffer(&a, own->key);
    strake_cl_pass_buffer(&a, own->cell);
    strake_cl_pass_buffer(&a, own->rest);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SETTLE, &a, count, error));
    own->now = then;
cleanup:
    return status;
}

static void pass_list(strake_sph_device *own, strake_cl_arguments *a)
{
    const double reach = strake_sph_reach(own->run.sph);
    const cl_int slices[2] = {(cl_int)own->run.own.first, (cl_int)own->run.own.end};
    strake_sph_pass_scheme(own, a, false);
    strake_cl_pass_real(a, own->precision, reach * reach);
    strake_cl_pass_buffer(a, own->start);
    strake_cl_pass_buffer(a, own->cell);
    strake_cl_pass_buffer(a, own->key);
    strake_cl_pass_buffer(a, own->x[own->now]);
    strake_cl_pass(a, sizeof slices, slices);
}

/* Arguments of passes, which they have until the next order. */
static strake_status set_passes(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int now = own->now, then = 1 - now;
    const int first = STRAKE_SPH_PREDICT;
    const int end = own->session->device->has_double ? STRAKE_SPH_CORRECT + 1 : first;
    for (int k = first; k < end; k++) {
        strake_cl_arguments a = strake_sph_begin_arguments(own, (strake_sph_kernel_name)k);
        strake_cl_pass_buffer(&a, own->clock_there);
        strake_sph_pass_scheme(own, &a, k == STRAKE_SPH_CORRECT);
        strake_cl_pass_int(&a, own->run.count);
        strake_cl_pass_int(&a, own->most_groups);
        strake_sph_pass_lists(own, &a, own->most);
        strake_cl_pass_buffer(&a, own->x[now]);
        strake_cl_pass_buffer(&a, own->v[now]);
        strake_cl_pass_buffer(&a, own->volume[now]);
        strake_cl_pass_buffer(&a, own->x[then]);
        strake_cl_pass_buffer(&a, own->v[then]);
        strake_cl_pass_buffer(&a, own->volume[then]);
        if (k == STRAKE_SPH_CORRECT) {
            strake_cl_pass_buffer(&a, own->rest);
        }
        strake_sph_pass_bodies(own, &a);
        STRAKE_CL("clSetKernelArg", a.code, error, own->session->device);
    }
cleanup:
    return status;
}

enum { ROW_BYTES = STRAKE_SPH_SIDE_BY_SIDE * sizeof(cl_uint) };

/* Rows of words that a pass looks at and leaves, behind those of lists. */
static size_t rows_behind(const strake_sph_device *own)
{
    return own->settings.lists == STRAKE_SPH_WIDE ? 2 : 1;
}

/* More room, where there is too little: 3 % beyond what they need. */
size_t strake_sph_words_for(const strake_sph_device *own, size_t rows)
{
    const size_t bytes = (rows + rows_behind(own)) * ROW_BYTES;
    return bytes > own->words_bytes ? bytes + bytes / 32 : own->words_bytes;
}

/* Enqueues that what came of an order so far comes to own->heard. @param[out] come  it has; owned by the caller */
static strake_status tell(strake_sph_device *own, cl_event *come, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_run *const run = &own->run;
    const int64_t words = strake_sph_told(run->cells.n[0]);
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_TELL);
    strake_cl_pass_int(&a, run->cells.count);
    strake_cl_pass_int(&a, run->cells.n[0]);
    strake_cl_pass_buffer(&a, own->start);
    strake_cl_pass_buffer(&a, own->totals);
    strake_cl_pass_buffer(&a, own->in_slice);
    strake_cl_pass_buffer(&a, own->told);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_TELL, &a, words, error));
    STRAKE_TRY(strake_sph_download_from(own, own->queue, false, own->told, 0,
                                        (size_t)words * sizeof *own->heard, own->heard, come,
                                        error));
cleanup:
    return status;
}

/* Particles of a slice; of none where it is -1. */
static strake_range range_of(const strake_sph_device *own, int64_t slice)
{
    return slice >= 0 ? (strake_range){own->slice_first[slice], own->slice_first[slice + 1]}
                      : (strake_range){0, 0};
}

void strake_sph_forget_ranges(strake_sph_device *own)
{
    const strake_range none = {0, 0};
    memset(own->slice_first, 0, ((size_t)own->run.cells.n[0] + 1) * sizeof *own->slice_first);
    own->low = own->high = own->ghost[0] = own->ghost[1] = none;
}

/* Ranges of particles, by where slices begin. */
static void set_ranges(strake_sph_device *own)
{
    strake_sph_run *const run = &own->run;
    const int64_t first = run->own.first, end = run->own.end;
    int64_t ghost[2];
    strake_sph_find_ghosts(run, ghost);
    own->low = range_of(own, first < end ? first : -1);
    own->high = range_of(own, first < end ? end - 1 : -1);
    run->inner = (strake_range){own->low.first, own->high.end};
    for (int side = 0; side < 2; side++) {
        own->ghost[side] = range_of(own, ghost[side]);
    }
    if (end - first == run->cells.n[0]) {
        run->inner = (strake_range){0, run->count};
    }
}

/* Asks for pairs of the slices, which come with whatever is waited for next. */
static strake_status ask_for_pairs(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clEnqueueReadBuffer",
              own->session->cl->clEnqueueReadBuffer(own->queue, own->in_slice, CL_FALSE, 0,
                                                    (size_t)own->run.cells.n[0] * sizeof(cl_uint),
                                                    own->in_slices, 0, NULL, NULL),
              error, own->session->device);
cleanup:
    return status;
}

void strake_sph_weigh(strake_sph_device *own)
{
    strake_sph_run *const run = &own->run;
    run->pairs = 0.0;
    for (int64_t slice = 0; slice < run->cells.n[0]; slice++) {
        run->pairs += own->in_slices[slice];
        if (run->crew != NULL && slice >= run->own.first && slice < run->own.end) {
            run->crew->work[slice] = own->in_slices[slice];
        }
    }
}

/* Names the first particle of the cell in which they are so many. */
static strake_status fail_crowded(strake_sph_device *own, int64_t most, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t first = 0;
    STRAKE_TRY(strake_sph_download(own, error));
    for (int64_t k = 0; k < own->image.count && own->run.culprit < 0; k++) {
        first = own->image.cell[k] != own->image.cell[first] ? k : first;
        own->run.culprit = k - first + 1 >= most ? own->image.number[first] : -1;
    }
    status = strake_fail(
        error, STRAKE_ERR_NUMERIC,
        "after step %lld, t = %g s, %lld particles, %lld among them, are in one cell; on a device "
        "at most %d are. Where they collapsed, a larger speed of sound helps; else a smaller skin",
        (long long)own->run.clock.steps, own->run.clock.time, (long long)most,
        (long long)own->run.culprit, MOST_IN_CELL);
cleanup:
    return status;
}

/* Those who left the box stand behind all others. */
static strake_status note_lost(strake_sph_device *own, int64_t kept, int64_t end,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t left = (size_t)(end - kept), real = (size_t)own->run.element;
    const size_t before = (size_t)kept;
    void *const x = malloc((4 * left + 1) * real);
    cl_int *const cell = malloc((left + 1) * sizeof *cell);
    cl_uint *const key = malloc((left + 1) * sizeof *key);
    STRAKE_CHECK(x != NULL && cell != NULL && key != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %zu particles that left the box", left);
    if (left == 0) {
        goto cleanup;
    }
    STRAKE_TRY(
        strake_sph_read(own, own->x[own->now], 4 * before * real, 4 * left * real, x, error));
    STRAKE_TRY(
        strake_sph_read(own, own->cell, before * sizeof *cell, left * sizeof *cell, cell, error));
    STRAKE_TRY(
        strake_sph_read(own, own->key, before * sizeof *key, left * sizeof *key, key, error));
    for (size_t k = 0; k < left; k++) {
        double in_cell[STRAKE_PARTICLE_AXES];
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            in_cell[a] = strake_element_get(x, own->run.element, 4 * (int64_t)k + a);
        }
        STRAKE_TRY(strake_sph_note_lost(&own->run, strake_sph_number_of(key[k]),
                                        (strake_particle_kind)(key[k] >> STRAKE_SPH_PLACE_BITS),
                                        cell[k], in_cell, error));
    }
cleanup:
    free(x);
    free(cell);
    free(key);
    return status;
}

/* How long lists are to be: rows of each 32 particles, where they begin, pairs of slices. */
static strake_status count_near(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_COUNT_NEAR);
    STRAKE_TRY(zero(own, own->totals, STRAKE_SPH_TOTALS * sizeof(cl_uint), error));
    STRAKE_TRY(zero(own, own->in_slice, (size_t)own->run.cells.n[0] * sizeof(cl_uint), error));
    pass_list(own, &a);
    strake_cl_pass_buffer(&a, own->counts);
    strake_cl_pass_buffer(&a, own->first);
    strake_cl_pass_buffer(&a, own->totals);
    strake_cl_pass_buffer(&a, own->in_slice);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_COUNT_NEAR, &a, own->run.count, error));
    STRAKE_TRY(scan(own, own->first, strake_sph_list_rows(own->run.count), error));
cleanup:
    return status;
}

/* Lists, if they take at most so many rows and nothing else is to be looked at (cl/cells.cl). */
static strake_status fill_near(strake_sph_device *own, cl_uint rows, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_FILL_NEAR);
    pass_list(own, &a);
    strake_cl_pass_buffer(&a, own->first);
    strake_cl_pass_buffer(&a, own->words);
    strake_cl_pass_buffer(&a, own->totals);
    strake_cl_pass(&a, sizeof rows, &rows);
    strake_cl_pass_buffer(&a, own->clock_there);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_FILL_NEAR, &a, own->run.count, error));
cleanup:
    return status;
}

/* Rows of words that there are. */
static cl_uint rows_there(const strake_sph_device *own)
{
    const size_t rows = own->words_bytes / ROW_BYTES, behind = rows_behind(own);
    return rows > behind ? (cl_uint)(rows - behind) : 0;
}

/*
 * What the host does with what an order tells, once that has come. Lists are made of it then, unless they were already, in
 * @p rows rows that were enough for them.
 */
static strake_status look_and_fill(strake_sph_device *own, cl_uint rows, cl_event *come,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t slices = (size_t)own->run.cells.n[0];
    cl_uint kept[2], totals[STRAKE_SPH_TOTALS];
    STRAKE_TRY(strake_sph_wait(own, STRAKE_SPH_FOR_ORDER, own->queue, come, error));
    memcpy(kept, own->heard, sizeof kept);
    memcpy(totals, own->heard + 2, sizeof totals);
    memcpy(own->in_slices, own->heard + 4, slices * sizeof *own->in_slices);
    memcpy(own->slice_first, own->heard + 4 + slices, (slices + 1) * sizeof *own->slice_first);
    STRAKE_TRY(totals[1] > 0 ? fail_crowded(own, (int64_t)totals[1], error) : STRAKE_OK);
    own->run.count = kept[0];
    set_ranges(own);
    STRAKE_TRY(note_lost(own, kept[0], kept[1], error));
    strake_sph_weigh(own);
    if (totals[0] > rows || kept[1] > kept[0]) { /* as the device finds, too (cl/cells.cl) */
        STRAKE_TRY(strake_sph_grow_words(own, strake_sph_words_for(own, totals[0]), error));
        STRAKE_TRY(fill_near(own, ANY_ROWS, error));
    }
    STRAKE_TRY(set_passes(own, error));
cleanup:
    return status;
}

/* Most likely they have room: the device goes on with them while the host hears of the order. */
strake_status strake_sph_make_lists(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event come = NULL;
    const cl_uint rows = rows_there(own);
    STRAKE_TRY(count_near(own, error));
    STRAKE_TRY(tell(own, &come, error));
    STRAKE_TRY(fill_near(own, rows, error));
    STRAKE_TRY(look_and_fill(own, rows, &come, error));
cleanup:
    strake_cl_release_event(own->session->cl, &come);
    return status;
}

/* Who is alone has lists where they have room, and goes on; the host hears of it with the steps that follow. */
static strake_status go_ahead(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(count_near(own, error));
    STRAKE_TRY(ask_for_pairs(own, error));
    own->run.inner = (strake_range){0, own->run.count};
    STRAKE_TRY(fill_near(own, rows_there(own), error));
    STRAKE_TRY(set_passes(own, error));
    STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_ORDER, error));
    own->is_order_ahead = true;
    own->clock.since = 0;
    own->clock.state = SPH_RUNS; /* as far as is known */
cleanup:
    return status;
}

strake_status strake_sph_end_order(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event come = NULL;
    STRAKE_TRY(tell(own, &come, error));
    STRAKE_TRY(look_and_fill(own, 0, &come, error));
    own->clock.state = SPH_NEEDS_ORDER;
    STRAKE_TRY(strake_sph_write_clock(own, error));
    STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_ORDER, error));
    STRAKE_TRY(strake_sph_read_clock(own, error));
cleanup:
    strake_cl_release_event(own->session->cl, &come);
    return status;
}

/* What is recorded from now on belongs to a new order, or no longer. */
static void mark_rare(strake_sph_device *own, bool is_rare)
{
    strake_sph_turn_rare(&own->run, is_rare);
    if (own->session->record != NULL) {
        own->session->record->is_rare = is_rare;
    }
}

strake_status strake_sph_reorder(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_mark(own, own->run.clock.steps);
    own->has_outer = false;
    mark_rare(own, true);
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_WAIT, "a new order of the device");
    STRAKE_TRY(enter(own, error));
    STRAKE_TRY(sort(own, error));
    own->run.clock.rebuilds++;
    if (strake_sph_keeps_clock(own)) {
        STRAKE_TRY(go_ahead(own, error));
    } else {
        STRAKE_TRY(strake_sph_make_lists(own, error));
        own->run.clock.since = 0;
        own->run.clock.is_ordered = true;
    }
cleanup:
    (void)strake_sph_turn(&own->run, STRAKE_SPAN_WAIT, NULL);
    mark_rare(own, false);
    return status;
}
