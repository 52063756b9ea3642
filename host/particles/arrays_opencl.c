/* The arrays of a device that has particles, more room for them, and what is in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "particles/device.h"
#include "particles/run_opencl.h"

strake_status strake_sph_new_buffer(strake_sph_device *own, size_t bytes, cl_mem *out,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_device *const device = own->session->device;
    const int64_t most = own->settings.device_memory;
    const double needed = own->bytes + (double)bytes;
    *out = NULL;
    if (most > 0 && needed > (double)most) {
        return strake_sph_refuse(own, needed, error);
    }
    *out = own->session->cl->clCreateBuffer(own->session->context, CL_MEM_READ_WRITE, bytes, NULL,
                                            &code);
    STRAKE_CHECK(
        code == CL_SUCCESS || bytes <= device->max_allocation, error, STRAKE_ERR_DEVICE,
        "%s: an array of these particles needs %lld MiB but the device allows %lld MiB for "
        "one buffer; give it fewer particles",
        device->name, (long long)(bytes >> 20), (long long)(device->max_allocation >> 20));
    STRAKE_CL("clCreateBuffer", code, error, device);
    own->bytes += (double)bytes;
cleanup:
    return status;
}

/* Whoever asked has the event, which replaces the one of an earlier command. */
static void hand_over(const strake_cl *cl, cl_event event, cl_event *done)
{
    if (done != NULL) {
        strake_cl_release_event(cl, done);
        *done = event;
    } else {
        strake_cl_release_event(cl, &event);
    }
}

strake_status strake_sph_upload_to(strake_sph_device *own, cl_command_queue queue, cl_mem buffer,
                                   size_t offset, size_t bytes, const void *from, cl_event *done,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    const bool is_asked = done != NULL || own->session->record != NULL;
    cl_event event = NULL;
    STRAKE_CL("clEnqueueWriteBuffer",
              cl->clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, bytes, from, 0, NULL,
                                       is_asked ? &event : NULL),
              error, own->session->device);
    strake_cl_record_add(own->session->record, STRAKE_CL_UP, "", (double)bytes, event);
    hand_over(cl, event, done);
cleanup:
    return status;
}

strake_status strake_sph_download_from(strake_sph_device *own, cl_command_queue queue, bool waits,
                                       cl_mem buffer, size_t offset, size_t bytes, void *to,
                                       cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    const bool is_asked = done != NULL || own->session->record != NULL;
    cl_event event = NULL;
    STRAKE_CL("clEnqueueReadBuffer",
              cl->clEnqueueReadBuffer(queue, buffer, waits ? CL_TRUE : CL_FALSE, offset, bytes, to,
                                      0, NULL, is_asked ? &event : NULL),
              error, own->session->device);
    strake_cl_record_add(own->session->record, STRAKE_CL_DOWN, "", (double)bytes, event);
    hand_over(cl, event, done);
cleanup:
    return status;
}

strake_status strake_sph_wait(strake_sph_device *own, strake_sph_wait_for what,
                              cl_command_queue queue, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    strake_cl_waiter waiter = own->waiter;
    waiter.expected = own->expected[what];
    STRAKE_CL("clFlush", cl->clFlush(queue), error, own->session->device);
    STRAKE_TRY(strake_cl_wait(cl, own->session->device, &waiter, event, error));
    own->expected[what] = waiter.expected;
cleanup:
    return status;
}

/* Not by a call that blocks, which would wait for ever for a device that hangs. */
strake_status strake_sph_write(strake_sph_device *own, cl_mem buffer, size_t bytes,
                               const void *from, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_sph_upload_to(own, own->queue, buffer, 0, bytes, from, NULL, error));
    STRAKE_TRY(strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter,
                                    own->queue, error));
cleanup:
    return status;
}

strake_status strake_sph_copy(strake_sph_device *own, cl_mem from, cl_mem to, size_t bytes,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    STRAKE_CL("clEnqueueCopyBuffer",
              cl->clEnqueueCopyBuffer(own->queue, from, to, 0, 0, bytes, 0, NULL, NULL), error,
              own->session->device);
    STRAKE_TRY(strake_cl_wait_queue(cl, own->session->device, &own->waiter, own->queue, error));
cleanup:
    return status;
}

strake_status strake_sph_read(strake_sph_device *own, cl_mem buffer, size_t offset, size_t bytes,
                              void *to, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *const cl = own->session->cl;
    STRAKE_TRY(strake_cl_wait_queue(cl, own->session->device, &own->waiter, own->queue, error));
    status =
        strake_sph_download_from(own, own->queue, true, buffer, offset, bytes, to, NULL, error);
cleanup:
    return status;
}

strake_status strake_sph_grow_words(strake_sph_device *own, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (bytes > own->words_bytes) {
        strake_cl_release_buffer(own->session, &own->words);
        own->bytes -= (double)own->words_bytes;
        own->words_bytes = 0;
        STRAKE_TRY(strake_sph_new_buffer(own, bytes, &own->words, error));
        own->words_bytes = bytes;
    }
cleanup:
    return status;
}

/* An array of the device, and what it has room for. */
typedef struct sized {
    cl_mem *buffer;
    size_t bytes;
    bool stays; /* what is in it, when there is more room */
} sized;

/* Of whole groups, whatever their size. */
static size_t whole_groups(const strake_sph_device *own, int64_t room)
{
    return ((size_t)room / own->largest + 1) * own->largest;
}

size_t strake_sph_force_bytes(const strake_sph_device *own, int64_t room)
{
    return 4 * whole_groups(own, room) * (size_t)own->run.element;
}

/* What has a length of particles. */
static int list_arrays(strake_sph_device *own, int64_t room, sized *out)
{
    const size_t count = whole_groups(own, room);
    const size_t real = (size_t)own->run.element;
    const size_t groups = count / STRAKE_SPH_SIDE_BY_SIDE + 4; /* a pass may go in stretches */
    const bool spreads = strake_sph_has_volumes(own->run.sph);
    const size_t rows = (size_t)strake_sph_list_rows((int64_t)count);
    const size_t cells = (size_t)own->run.cells.count + 2, most = rows > cells ? rows : cells;
    const int now = own->now, then = 1 - now;
    const sized all[] = {
        {&own->x[now], 4 * count * real, true},
        {&own->v[now], 4 * count * real, true},
        {&own->cell, count * sizeof(cl_int), true},
        {&own->key, count * sizeof(cl_uint), true},
        {&own->x[then], 4 * count * real, false},
        {&own->v[then], 4 * count * real, false},
        {&own->most, 2 * STRAKE_SPH_BOUNDS * groups * real, false},
        {&own->sums, (most / STRAKE_SPH_SIDE_BY_SIDE + 1) * sizeof(cl_uint), false},
        {&own->rest, 3 * count * real, false},
        {&own->first, rows * sizeof(cl_uint), false},
        {&own->counts, count * sizeof(cl_uint), false},
        {&own->volume[now], spreads ? count * real : real, false},
        {&own->volume[then], spreads ? count * real : real, false},
        {&own->force, strake_sph_force_bytes(own, room), false}};
    const int arrays = (int)(sizeof all / sizeof *all) - (own->transfers != NULL ? 0 : 1);
    own->most_groups = (int64_t)groups;
    memcpy(out, all, (size_t)arrays * sizeof *all);
    return arrays;
}

enum {
    MOST_ARRAYS = 16,
    SEEN_WORDS = 64 /* what a look finds takes less */
};

/* Bytes of words in which an order takes four numbers of each particle. */
static size_t words_of_order(int64_t room)
{
    return (4 * (size_t)room + 1) * sizeof(cl_uint);
}

strake_status strake_sph_make_room(strake_sph_device *own, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_first = own->key == NULL;
    const int64_t room = is_first ? own->run.room : strake_sph_more_room(count);
    sized before[MOST_ARRAYS], all[MOST_ARRAYS];
    int arrays = 0;
    if (!is_first && count <= own->run.room) {
        return STRAKE_OK;
    }
    (void)list_arrays(own, own->run.room, before);
    arrays = list_arrays(own, room, all);
    for (int k = 0; k < arrays; k++) {
        cl_mem old = *all[k].buffer;
        *all[k].buffer = NULL;
        own->bytes -= old != NULL ? (double)before[k].bytes : 0.0;
        if (!all[k].stays) {
            strake_cl_release_buffer(own->session, &old);
        }
        status = strake_sph_new_buffer(own, all[k].bytes, all[k].buffer, error);
        if (status == STRAKE_OK && old != NULL && own->run.count > 0) {
            status = strake_sph_copy(own, old, *all[k].buffer, before[k].bytes, error);
        }
        strake_cl_release_buffer(own->session, &old);
        STRAKE_TRY(status);
    }
    own->run.room = room;
    STRAKE_TRY(strake_sph_grow_words(own, words_of_order(room), error));
cleanup:
    return status;
}

/* What has a length of cells or slices, or none that changes. @return number of arrays */
static int list_fixed(strake_sph_device *own, sized *out)
{
    const size_t slices = (size_t)own->run.cells.n[0];
    const sized all[] = {
        {&own->constants, STRAKE_SPH_CONSTANTS, false},
        {&own->clock_there, sizeof own->clock, false},
        {&own->totals, STRAKE_SPH_TOTALS * sizeof(cl_uint), false},
        {&own->start, ((size_t)own->run.cells.count + 2) * sizeof(cl_uint), false},
        {&own->share, slices, false},
        {&own->told, (size_t)strake_sph_told((int64_t)slices) * sizeof(cl_uint), false},
        {&own->in_slice, slices * sizeof(cl_uint), false}};
    memcpy(out, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

strake_status strake_sph_make_arrays(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t slices = (size_t)own->run.cells.n[0];
    sized all[MOST_ARRAYS];
    const int arrays = list_fixed(own, all);
    for (int k = 0; k < arrays; k++) {
        STRAKE_TRY(strake_sph_new_buffer(own, all[k].bytes, all[k].buffer, error));
    }
    own->shares = malloc(slices);
    own->shares_there = malloc(slices);
    own->in_slices = malloc(slices * sizeof *own->in_slices);
    own->slice_first = calloc(slices + 1, sizeof *own->slice_first);
    own->seen_bytes = ((SEEN_WORDS + (size_t)strake_sph_told((int64_t)slices)) * sizeof(cl_uint) +
                       STRAKE_CL_PIN_PAGE - 1) /
                      STRAKE_CL_PIN_PAGE * STRAKE_CL_PIN_PAGE;
    own->seen = aligned_alloc(STRAKE_CL_PIN_PAGE, own->seen_bytes);
    STRAKE_CHECK(own->shares != NULL && own->shares_there != NULL && own->in_slices != NULL &&
                     own->slice_first != NULL && own->seen != NULL,
                 error, STRAKE_ERR_MEMORY, "no memory for %lld slices", (long long)slices);
    own->heard = (cl_uint *)own->seen + SEEN_WORDS;
    (void)strake_cl_pins_add(&own->pins, own->seen, own->seen_bytes);
    STRAKE_TRY(strake_sph_make_room(own, own->run.room, error));
cleanup:
    return status;
}

/* Bytes of all arrays with room for so many particles, and for lists that take so much. */
static double count_bytes(strake_sph_device *own, int64_t room, double lists)
{
    sized all[MOST_ARRAYS] = {{0}}; /* gcc 13 does not see that the lists fill it */
    double bytes = fmax(lists, (double)words_of_order(room));
    for (int pass = 0; pass < 2; pass++) {
        const int arrays = pass == 0 ? list_fixed(own, all) : list_arrays(own, room, all);
        for (int k = 0; k < arrays; k++) {
            bytes += (double)all[k].bytes;
        }
    }
    return bytes;
}

/* [bytes] Of an entry of lists. */
static double entry_of(const strake_sph_device *own)
{
    const double word = sizeof(cl_uint);
    return own->settings.lists == STRAKE_SPH_WIDE ? word : 0.5 * word;
}

/* Entries of lists for a particle with so many neighbours; 0: as many as in a lattice. */
static double entries_for(const strake_sph *sph, double pairs)
{
    /* Lists are of whole rows, as long as the longest of 32 side by side. */
    static const double uneven = 1.25, pi = 3.14159265358979;
    const double away = strake_sph_reach(sph) / sph->spacing;
    const double lattice = sph->dims == 2 ? pi * away * away : 4.0 / 3.0 * pi * away * away * away;
    return uneven * (pairs > 0.0 ? pairs : lattice);
}

/* Tells what all arrays need, not the first that does not fit. */
strake_status strake_sph_refuse(strake_sph_device *own, double needed, strake_error *error)
{
    const int64_t room = own->run.room;
    const double least = fmax(needed, count_bytes(own, room, 0.0));
    const double lists = entry_of(own) * entries_for(own->run.sph, 0.0) * (double)room;
    return strake_fail(error,
                       /* Beside others, who can do its work, it is left out once they step. */
                       own->run.count > 0 ? STRAKE_ERR_DEVICE : STRAKE_ERR_USAGE,
                       "%s: %lld particles need %.0f bytes at least, with their lists about %.0f, "
                       "and run.device_memory allows %lld; raise run.device_memory, or give the "
                       "device fewer of them",
                       own->session->device->name, (long long)room, least,
                       fmax(least, count_bytes(own, room, lists)),
                       (long long)own->settings.device_memory);
}

double strake_sph_device_needs(const strake_sph *sph, const strake_cells *cells,
                               strake_precision precision, const strake_cl_device *device,
                               const strake_settings *settings, bool is_shared, int64_t room,
                               double near)
{
    const double real = strake_precision_size(precision);
    strake_error ignored;
    /* Nothing is made of it: sizes follow from these alone. It is filled often, wherever memory may bound shares. */
    _Static_assert(sizeof(strake_sph_device) < 32768,
                   "a session of megabytes belongs behind a pointer");
    strake_sph_device own = {.run = {.sph = sph, .cells = *cells, .element = (int)real},
                             .precision = precision};
    if (strake_sph_choose(&own, device, settings, &ignored) != STRAKE_OK) {
        return (double)INFINITY;
    }
    is_shared = is_shared || !device->has_double;
    own.transfers = is_shared ? (cl_command_queue)&own : NULL;
    const double out = is_shared ? 2.0 * (double)strake_sph_more_room(STRAKE_SPH_FIRST_OUT) *
                                       (double)strake_sph_record_bytes((int)real)
                                 : 0.0;
    return count_bytes(&own, room, near * entry_of(&own)) + out +
           (is_shared ? (double)strake_sph_found_room(&own) : 0.0);
}

double strake_sph_device_room(const strake_sph *sph, const strake_cells *cells,
                              strake_precision precision, const strake_cl_device *device,
                              const strake_settings *settings, double pairs, double bytes)
{
    const double near = entries_for(sph, pairs);
    int64_t fits = 0, most = INT64_C(1) << STRAKE_SPH_PLACE_BITS;
    while (most - fits > 1) {
        const int64_t count = fits + (most - fits) / 2;
        const double needs =
            strake_sph_device_needs(sph, cells, precision, device, settings, true,
                                    strake_sph_more_room(count), near * (double)count);
        fits = needs <= bytes ? count : fits;
        most = needs <= bytes ? most : count;
    }
    return (double)fits;
}

/* --- particles ----------------------------------------------------------------------------------- */

/* One array of three of an image's and one more, as a device has them. */
#define INTERLEAVE(type)                                                                           \
    for (int64_t p = 0; p < count; p++) {                                                          \
        ((type *)out)[4 * p] = ((const type *)axis[0])[p];                                         \
        ((type *)out)[4 * p + 1] = ((const type *)axis[1])[p];                                     \
        ((type *)out)[4 * p + 2] = ((const type *)axis[2])[p];                                     \
        ((type *)out)[4 * p + 3] = ((const type *)last)[p];                                        \
    }

void strake_sph_interleave(void *out, int element, int64_t count, void *const axis[3],
                           const void *last)
{
    if (element == (int)sizeof(float)) {
        INTERLEAVE(float)
    } else {
        INTERLEAVE(double)
    }
}

#define SEPARATE(type)                                                                             \
    for (int64_t p = 0; p < count; p++) {                                                          \
        const type *const its = (const type *)wide + numbers * p;                                  \
        ((type *)axis[0])[p] = its[0];                                                             \
        ((type *)axis[1])[p] = its[1];                                                             \
        ((type *)axis[2])[p] = its[2];                                                             \
        if (last != NULL) {                                                                        \
            ((type *)last)[p] = its[3];                                                            \
        }                                                                                          \
    }

/* Four numbers of each particle, of which three are of the image's axes and one may be another's. */
strake_status strake_sph_read_wide(strake_sph_device *own, cl_mem from, int64_t count, int numbers,
                                   void *const axis[3], void *last, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int element = own->run.element;
    const size_t bytes = (size_t)count * (size_t)numbers * (size_t)element;
    void *const wide = malloc(bytes + 1);
    STRAKE_CHECK(wide != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld particles",
                 (long long)count);
    STRAKE_TRY(strake_sph_read(own, from, 0, bytes, wide, error));
    if (element == (int)sizeof(float)) {
        SEPARATE(float)
    } else {
        SEPARATE(double)
    }
cleanup:
    free(wide);
    return status;
}

strake_status strake_sph_read_particles(strake_sph_device *own, cl_mem x, cl_mem v, cl_mem cell,
                                        cl_mem key, strake_sph_image *image, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = image->count;
    void *const *const value = image->state.value;
    cl_uint *const keys = malloc(((size_t)count + 1) * sizeof *keys);
    STRAKE_CHECK(keys != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld particles",
                 (long long)count);
    STRAKE_TRY(strake_sph_read_wide(own, x, count, 4, &value[STRAKE_SPH_X0], value[STRAKE_SPH_RHO],
                                    error));
    STRAKE_TRY(strake_sph_read_wide(own, v, count, 4, &value[STRAKE_SPH_V0], NULL, error));
    STRAKE_TRY(strake_sph_read(own, cell, 0, (size_t)count * sizeof(cl_int), image->cell, error));
    STRAKE_TRY(strake_sph_read(own, key, 0, (size_t)count * sizeof *keys, keys, error));
    for (int64_t p = 0; p < count; p++) {
        image->number[p] = strake_sph_number_of(keys[p]);
        image->kind[p] = (uint8_t)(keys[p] >> STRAKE_SPH_PLACE_BITS);
    }
cleanup:
    free(keys);
    return status;
}
