/* The kernels of particles on a device: how settings shape them, their program, their launches and their times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "case/settings.h"
#include "particles/crew.h"
#include "particles/device.h"
#include "particles/run_opencl.h"

/* The arrays of a device that has particles, more room for them, and what is in them. */

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

static strake_status sph_copy(strake_sph_device *own, cl_mem from, cl_mem to, size_t bytes,
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
typedef struct arrays_opencl_sized {
    cl_mem *buffer;
    size_t bytes;
    bool stays; /* what is in it, when there is more room */
} arrays_opencl_sized;

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
static int list_arrays(strake_sph_device *own, int64_t room, arrays_opencl_sized *out)
{
    const size_t count = whole_groups(own, room);
    const size_t real = (size_t)own->run.element;
    const size_t groups = count / STRAKE_SPH_SIDE_BY_SIDE + 4; /* a pass may go in stretches */
    const bool spreads = strake_sph_has_volumes(own->run.sph);
    const size_t rows = (size_t)strake_sph_list_rows((int64_t)count);
    const size_t cells = (size_t)own->run.cells.count + 2, most = rows > cells ? rows : cells;
    const int now = own->now, then = 1 - now;
    const arrays_opencl_sized all[] = {
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
    arrays_opencl_sized before[MOST_ARRAYS], all[MOST_ARRAYS];
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
            status = sph_copy(own, old, *all[k].buffer, before[k].bytes, error);
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
static int list_fixed(strake_sph_device *own, arrays_opencl_sized *out)
{
    const size_t slices = (size_t)own->run.cells.n[0];
    const arrays_opencl_sized all[] = {
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
    arrays_opencl_sized all[MOST_ARRAYS];
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
    arrays_opencl_sized all[MOST_ARRAYS] = {{0}}; /* gcc 13 does not see that the lists fill it */
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
