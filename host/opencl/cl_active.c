#include "opencl/cl_active.h"

#include <stdlib.h>
#include <string.h>

#include "engine/activity.h"
#include "opencl/cl_kernels.h"

enum {
    LOOK_ITEMS = 128,  /* of a group */
    UNIT_GROUPS = 16,  /* per compute unit, of a look at all tiles */
    READ_LOOKS = 16,   /* one of so many is told to the host */
    LEAST_GROUPS = 16, /* more than the host knows that there are tiles, ... */
    SPARE = 4,         /* ... and one for so many of them */
    MOST_PART = 2,     /* one tile of so many: beyond that all cells are faster */
    WAIT_SWEEPS = 256  /* until the next look at all tiles then */
};

static bool is_there(const strake_cl_active *a)
{
    return a->wakes.count > 0;
}

static int64_t tiles_along(int64_t cells, int size)
{
    return (cells + size - 1) / size;
}

strake_status strake_cl_active_create(strake_cl_active *a, const strake_cl_window *w,
                                      const strake_cl_wakes *wakes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_kernels *kernels = w->kernels;
    strake_cl_listing *const l = &a->listing;
    if (kernels->tiles == NULL || wakes->count == 0) {
        return STRAKE_OK;
    }
    const int *const tile = kernels->tiles->options.tile;
    l->across = tiles_along(w->layout.n[2], tile[0]);
    l->room = l->across * tiles_along(w->layout.n[0], tile[1]);
    strake_activity_reach(kernels->graph, wakes->spread, STRAKE_CL_ACTIVE_LOOK, a->reach);
    STRAKE_TRY(strake_cl_new_zeros(w, sizeof *a->known, &l->state, error));
    STRAKE_TRY(strake_cl_new_zeros(w, 2 * (size_t)l->room * sizeof(cl_int), &l->lists, error));
    STRAKE_TRY(strake_cl_new_zeros(w, (size_t)l->room * sizeof(cl_int), &a->marked, error));
    STRAKE_TRY(strake_cl_new_zeros(w, (size_t)l->room * sizeof(cl_int), &a->listed, error));
    a->known = aligned_alloc(STRAKE_CL_PIN_PAGE, STRAKE_CL_PIN_PAGE);
    STRAKE_CHECK(a->known != NULL, error, STRAKE_ERR_MEMORY, "out of memory for lists of tiles");
    memset(a->known, 0, STRAKE_CL_PIN_PAGE);
    a->pins = (strake_cl_pins){
        .cl = kernels->cl, .device = kernels->device, .context = kernels->context, .allowed = true};
    strake_cl_pins_add(&a->pins, a->known, STRAKE_CL_PIN_PAGE);
    a->kernel = kernels->cl->clCreateKernel(kernels->tiles->program, "look_at_tiles", &code);
    STRAKE_CL("look_at_tiles", code, error, kernels->device);
    /* Of two kernels of tiles a processor's compiler is spared one. */
    a->is_always = kernels->kernels == 1 && kernels->plan[0].tiled &&
                   !strake_cl_device_is_gpu(kernels->device);
    a->wakes = *wakes;
cleanup:
    return status;
}

void strake_cl_active_release(strake_cl_active *a, const strake_cl_kernels *kernels)
{
    if (a->kernel != NULL) {
        (void)kernels->cl->clReleaseKernel(a->kernel);
        a->kernel = NULL;
    }
    strake_cl_release_event(kernels->cl, &a->is_read);
    strake_cl_release_buffer(kernels, &a->listing.state);
    strake_cl_release_buffer(kernels, &a->listing.lists);
    strake_cl_release_buffer(kernels, &a->marked);
    strake_cl_release_buffer(kernels, &a->listed);
    strake_cl_pins_release(&a->pins);
    free(a->known);
    a->known = NULL;
}

void strake_cl_active_reset(strake_cl_active *a)
{
    a->age = -1;
    a->wait = 0;
    a->is_new = true;
    a->is_on = false;
    if (a->is_read != NULL) {
        strake_cl_release_event(a->pins.cl, &a->is_read);
    }
}

void strake_cl_active_place(strake_cl_active *a, const strake_cl_window *w, strake_range slabs,
                            const bool open[2])
{
    if (!is_there(a)) {
        return;
    }
    a->listing.slabs = slabs;
    a->down = tiles_along(slabs.end - slabs.first, w->kernels->tiles->options.tile[1]);
    a->tiles = a->down * a->listing.across;
    a->open[0] = open[0];
    a->open[1] = open[1];
    strake_cl_active_reset(a);
}

/* Current arrays of what makes cells active; those of states only where @p states. */
static int find_arrays(const strake_cl_active *a, const strake_cl_window *w, bool states,
                       cl_mem array[STRAKE_CL_MOST_WAKES])
{
    int count = 0;
    for (int k = 0; k < a->wakes.count; k++) {
        const int value = a->wakes.value[k];
        cl_mem found = w->slot[value] >= 0 ? w->array[w->slot[value]] : NULL;
        for (int s = 0; s < w->states && states; s++) {
            found = w->state[s].input == value ? w->state[s].buffer[w->parity] : found;
        }
        if (found != NULL) {
            array[count++] = found;
        }
    }
    return count;
}

/* Enough to keep the device busy, however many tiles there are. */
static int64_t most_groups(const strake_cl_active *a, const strake_cl_device *device)
{
    const int64_t units = device->compute_units > 0 ? device->compute_units : 1;
    return units * UNIT_GROUPS < a->tiles ? units * UNIT_GROUPS : a->tiles;
}

/* Enqueues a look; @p what: see cl/active.h. */
static strake_status look(strake_cl_active *a, const strake_cl_window *w, int what,
                          strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const strake_cl_listing *const l = &a->listing;
    const int *const tile = kernels->tiles->options.tile;
    const int64_t groups =
        what == STRAKE_TILES_LISTED && a->is_on ? l->groups : most_groups(a, kernels->device);
    const size_t items =
        kernels->device->max_work_group < LOOK_ITEMS ? kernels->device->max_work_group : LOOK_ITEMS;
    cl_mem array[STRAKE_CL_MOST_WAKES] = {NULL};
    if (find_arrays(a, w, what != STRAKE_TILES_INPUTS, array) == 0) {
        return STRAKE_OK;
    }
    strake_cl_arguments args = strake_cl_arguments_begin(kernels->cl, a->kernel);
    strake_cl_pass_buffer(&args, l->state);
    strake_cl_pass_buffer(&args, a->marked);
    strake_cl_pass_buffer(&args, a->listed);
    strake_cl_pass_buffer(&args, l->lists);
    strake_cl_pass_int(&args, l->room);
    strake_cl_pass_buffer(&args, w->told);
    for (int k = 0; k < STRAKE_CL_MOST_WAKES; k++) {
        strake_cl_pass_buffer(&args, array[k]);
    }
    strake_cl_pass_long(&args, w->layout.slab);
    strake_cl_pass_long(&args, w->origin + l->slabs.first * w->layout.slab);
    strake_cl_pass_int(&args, l->slabs.end - l->slabs.first);
    strake_cl_pass_int(&args, w->layout.n[2]);
    strake_cl_pass_int(&args, tile[1]);
    strake_cl_pass_int(&args, tile[0]);
    strake_cl_pass_int(&args, a->reach[0]);
    strake_cl_pass_int(&args, a->reach[1]);
    strake_cl_pass_int(&args, a->open[0] ? a->reach[0] : 0);
    strake_cl_pass_int(&args, a->open[1] ? a->reach[0] : 0);
    strake_cl_pass_int(&args, what);
    strake_cl_pass_int(&args, a->since);
    strake_cl_pass_int(&args, a->is_on ? 1 : 0);
    return strake_cl_launch(kernels, w->queue, "look_at_tiles", &args, items, 1,
                            items * (size_t)groups, 1, 1, error);
}

strake_status strake_cl_active_wake(strake_cl_active *a, const strake_cl_window *w,
                                    strake_error *error)
{
    return is_there(a) && a->age >= 0 ? look(a, w, STRAKE_TILES_INPUTS, error) : STRAKE_OK;
}

/* By what was read: whether steps take their tiles from the list, and how many groups do. */
static void judge(strake_cl_active *a)
{
    const int64_t tiles = a->known->tiles[a->known->look % STRAKE_TILES_TURNS];
    const int64_t groups = tiles + tiles / SPARE + LEAST_GROUPS;
    a->is_new = false;
    a->is_on = a->is_always || tiles * MOST_PART <= a->tiles;
    a->listing.groups = groups < a->tiles ? groups : a->tiles;
    if (!a->is_on) {
        a->age = -1;
        a->wait = WAIT_SWEEPS;
    }
}

/* Hears what was read, if it is there; of a new list before the next sweep. */
static strake_status hear(strake_cl_active *a, const strake_cl_window *w, strake_cl_waiter *waiter,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = w->kernels->cl;
    cl_int state = CL_QUEUED;
    if (a->is_new && a->age >= STRAKE_CL_ACTIVE_LOOK) {
        STRAKE_CL("clFlush", cl->clFlush(w->queue), error, w->kernels->device);
        STRAKE_TRY(strake_cl_wait(cl, w->kernels->device, waiter, &a->is_read, error));
        judge(a);
    } else if (cl->clGetEventInfo(a->is_read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                  &state, NULL) == CL_SUCCESS &&
               state == CL_COMPLETE) {
        strake_cl_release_event(cl, &a->is_read);
        if (a->age >= STRAKE_CL_ACTIVE_LOOK) {
            judge(a);
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_active_begin(strake_cl_active *a, const strake_cl_window *w,
                                     strake_cl_waiter *waiter, const strake_cl_listing **listing,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    *listing = NULL;
    if (is_there(a) && a->is_read != NULL) {
        STRAKE_TRY(hear(a, w, waiter, error));
    }
    if (is_there(a) && a->is_always && a->age < 0) {
        STRAKE_TRY(look(a, w, STRAKE_TILES_ALL, error));
        a->age = 0;
        a->since = 0;
        a->is_on = true;
        a->listing.groups = most_groups(a, w->kernels->device);
    }
    if (is_there(a) && a->is_on) {
        *listing = &a->listing;
    }
cleanup:
    return status;
}

strake_status strake_cl_active_end(strake_cl_active *a, const strake_cl_window *w,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!is_there(a)) {
        return STRAKE_OK;
    }
    a->since++;
    a->age = a->age >= 0 ? a->age + 1 : a->wait-- > 0 ? -1 : 0;
    if (a->age < 0 || a->age % STRAKE_CL_ACTIVE_LOOK != 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(look(a, w, a->age == 0 ? STRAKE_TILES_ALL : STRAKE_TILES_LISTED, error));
    a->since = 0;
    if ((a->age / STRAKE_CL_ACTIVE_LOOK) % READ_LOOKS == 1 && a->is_read == NULL) {
        a->pins.record = w->kernels->record;
        STRAKE_TRY(strake_cl_pins_read(&a->pins, w->queue, a->listing.state, 0, sizeof *a->known,
                                       a->known, &a->is_read, error));
    }
cleanup:
    return status;
}

void strake_cl_active_rewind(strake_cl_active *a, int64_t sweeps)
{
    if (!is_there(a) || sweeps == 0) {
        return;
    }
    a->since = a->since > sweeps ? a->since - sweeps : 0;
    if (a->age >= sweeps + STRAKE_CL_ACTIVE_LOOK) {
        a->age -= sweeps;
    } else {
        /* The list was not there before, or only enqueued. */
        strake_cl_active_reset(a);
    }
}

/* Reads what the device knows of its tiles; waits. @return false: it cannot, or has not looked yet */
static bool read_tiles(const strake_cl_active *a, const strake_cl_window *w, strake_tiles *now)
{
    return w->kernels->cl->clEnqueueReadBuffer(w->queue, a->listing.state, CL_TRUE, 0, sizeof *now,
                                               now, 0, NULL, NULL) == CL_SUCCESS &&
           now->look != 0;
}

void strake_cl_active_describe(const strake_cl_active *a, const strake_cl_window *w,
                               strake_cl_activity *out)
{
    strake_tiles now;
    *out = (strake_cl_activity){.cells = -1.0};
    if (!is_there(a) || !read_tiles(a, w, &now)) {
        return;
    }
    const int *const tile = w->kernels->tiles->options.tile;
    const double all =
        (double)(a->listing.slabs.end - a->listing.slabs.first) * (double)w->layout.n[2];
    const double sweeps = (double)a->since;
    out->cells = (double)now.cells[now.look % STRAKE_TILES_TURNS];
    out->tiles = (double)(a->is_on ? now.tiles[now.look % STRAKE_TILES_TURNS] : a->tiles);
    const double some = out->tiles * tile[0] * tile[1];
    out->updates = (double)now.updates + out->cells * sweeps;
    out->computed = (double)now.computed + (some < all ? some : all) * sweeps;
}

/* The tiles in the list, of the last look that the device has done. @return their number, -1: it cannot be read */
static int64_t read_list(const strake_cl_active *a, const strake_cl_window *w, int **out)
{
    const strake_cl *cl = w->kernels->cl;
    strake_tiles now;
    *out = NULL;
    if (!read_tiles(a, w, &now)) {
        return -1;
    }
    const int64_t count = now.tiles[now.look % STRAKE_TILES_TURNS];
    const size_t from = (size_t)(now.look & 1) * (size_t)a->listing.room * sizeof **out;
    *out = malloc((size_t)(count + 1) * sizeof **out);
    if (*out == NULL || (count > 0 && cl->clEnqueueReadBuffer(w->queue, a->listing.lists, CL_TRUE,
                                                              from, (size_t)count * sizeof **out,
                                                              *out, 0, NULL, NULL) != CL_SUCCESS)) {
        return -1;
    }
    return count;
}

bool strake_cl_active_weigh(const strake_cl_active *a, const strake_cl_window *w, double *work)
{
    if (!is_there(a) || !a->is_on || a->age < STRAKE_CL_ACTIVE_LOOK) {
        return false;
    }
    int *list = NULL;
    const int64_t count = read_list(a, w, &list);
    const int64_t slabs = a->listing.slabs.end - a->listing.slabs.first;
    const int64_t columns = w->layout.n[2];
    const int *const tile = w->kernels->tiles->options.tile;
    for (int64_t slab = 0; slab < slabs && count >= 0; slab++) {
        work[slab] = 0.0;
    }
    for (int64_t k = 0; k < count; k++) {
        const int64_t row = list[k] / a->listing.across * tile[1];
        const int64_t column = list[k] % a->listing.across * tile[0];
        const int64_t width = columns - column < tile[0] ? columns - column : tile[0];
        for (int64_t slab = row; slab < row + tile[1] && slab < slabs; slab++) {
            work[slab] += (double)width;
        }
    }
    free(list);
    return count >= 0;
}
