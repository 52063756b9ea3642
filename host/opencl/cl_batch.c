#include "opencl/cl_batch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/hash.h"
#include "cl/member.h"
#include "engine/activity.h"
#include "opencl/cl_generate.h"

enum {
    LOOK_ITEMS = 128, /* of a group that looks at tiles */
    LEAST_GROUPS = 4, /* for a member, more than the host knows that it has tiles, ... */
    SPARE = 4,        /* ... and one for so many of them */
    MOST_KINDS = 15   /* of members, behind the first one */
};

struct strake_cl_member {
    strake_cl_batch *batch;
    int place;
    bool is_taken;  /* by a solver */
    bool is_going;  /* in the round that runs */
    bool is_woken;  /* all of its tiles are to be looked at */
    int64_t left;   /* sweeps that were asked for and are not made */
    int given;      /* of them in the round that runs */
    int64_t wanted; /* the thread that waits goes on when so many are left */
    bool has_clock;
    strake_clock clock;
    strake_member now; /* as the device has it after the last round */
    strake_status status;
    strake_error error;
    pthread_cond_t done;
};

struct strake_cl_batch {
    pthread_mutex_t lock;      /* of all but what launches need */
    pthread_mutex_t launching; /* of kernels and window */
    pthread_cond_t asked, left;
    pthread_t thread;
    int most;
    bool is_making, is_made, is_closing;
    pthread_mutex_t listing; /* of the devices */
    strake_cl_list devices;
    bool has_devices;
    strake_cl_batch *next; /* of another kind */
    int kinds;             /* behind the first one */
    bool is_alone;         /* whether somebody who steps alone does so */
    uint64_t bytes;        /* of the arrays of all members */
    int places;            /* of members that there is room for; 0: it is not made */
    strake_graph graph;    /* of the first member */
    strake_layout layout;
    uint64_t text; /* hash of the program */
    strake_cl_kernels kernels;
    strake_cl_window window;
    strake_cl_pairs ghosts;
    bool has_clock;
    cl_command_queue queue, aside; /* of rounds, and of what members need before their steps */
    strake_cl_waiter waiter, aside_waiter;
    cl_mem clocks, told, order_here;
    cl_kernel start, advance, search, look;
    /* Which tiles of each member are computed (cl_active.h), where a problem says so. */
    strake_cl_wakes wakes;
    strake_cl_listing tiles;
    cl_mem marked, listed;
    int64_t reach[2];
    strake_tiles *known;
    strake_cl_member *member; /* [places] */
    /* Of all members, as they are written and read in a round. */
    strake_member *state;
    strake_clock *clock;
    double *numbers; /* elements of the working precision */
    cl_int *order;   /* the members of the round ... */
    int going;       /* ... so many */
};

/* --- kernels and arrays ---------------------------------------------------------------------------- */

static void release(strake_cl_batch *b)
{
    const strake_cl *const cl = b->kernels.cl;
    cl_kernel *const kernel[] = {&b->start, &b->advance, &b->search, &b->look};
    cl_mem *const buffer[] = {
        &b->order_here,  &b->clocks,      &b->told,        &b->window.member, &b->window.numbers,
        &b->ghosts.list, &b->tiles.state, &b->tiles.lists, &b->marked,        &b->listed};
    cl_command_queue *const queue[] = {&b->queue, &b->aside};
    if (cl == NULL) {
        return;
    }
    for (int k = 0; k < 2; k++) {
        if (*queue[k] != NULL) {
            (void)cl->clFinish(*queue[k]);
        }
    }
    for (size_t k = 0; k < sizeof kernel / sizeof kernel[0]; k++) {
        if (*kernel[k] != NULL) {
            (void)cl->clReleaseKernel(*kernel[k]);
            *kernel[k] = NULL;
        }
    }
    for (size_t k = 0; k < sizeof buffer / sizeof buffer[0]; k++) {
        strake_cl_release_buffer(&b->kernels, buffer[k]);
    }
    strake_cl_window_release(&b->window);
    for (int k = 0; k < 2; k++) {
        if (*queue[k] != NULL) {
            (void)cl->clReleaseCommandQueue(*queue[k]);
            *queue[k] = NULL;
        }
    }
    strake_cl_kernels_release(&b->kernels);
    for (int m = 0; m < b->places; m++) {
        (void)pthread_cond_destroy(&b->member[m].done);
    }
    free(b->member);
    free(b->state);
    free(b->clock);
    free(b->numbers);
    free(b->order);
    b->order = NULL;
    free(b->known);
    b->known = NULL;
    b->member = NULL;
    b->state = NULL;
    b->clock = NULL;
    b->numbers = NULL;
    b->places = 0;
}

/* All ghost slabs of a grid copy slabs of its own. */
static strake_status plan_ghosts(strake_cl_batch *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *const l = &b->layout;
    const size_t most = (size_t)(l->lo[0] + l->hi[0]) + 1;
    int count = 0;
    int64_t *const list = calloc(2 * most, sizeof *list);
    STRAKE_CHECK(list != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning ghost slabs");
    for (int64_t g = -(int64_t)l->lo[0]; g < l->n[0] + l->hi[0]; g++) {
        if (g < 0 || g >= l->n[0]) {
            list[count] = g;
            list[most + (size_t)count++] = strake_ghost_source(l->boundary[0], l->n[0], g);
        }
    }
    STRAKE_TRY(strake_cl_window_pairs(&b->window, count, list, list + most, &b->ghosts, error));
cleanup:
    free(list);
    return status;
}

/* Members that there is room for. */
static int count_places(strake_cl_batch *b, uint64_t memory)
{
    const strake_cl_device *const device = b->kernels.device;
    uint64_t largest = 1;
    const uint64_t each = strake_cl_window_bytes(&b->kernels, &b->layout, &largest);
    uint64_t places = memory / (2 * each + 1); /* a member's window has as much again */
    if (!strake_cl_device_is_gpu(device)) {
        const uint64_t held = device->max_allocation / (2 * largest + 2 * 4096);
        places = places < held ? places : held;
    }
    places = places < (uint64_t)b->most ? places : (uint64_t)b->most;
    b->bytes = places * 2 * each;
    return (int)places;
}

static strake_status make_kernel(strake_cl_batch *b, const char *name, cl_kernel *out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    *out = b->kernels.cl->clCreateKernel(b->kernels.program, name, &code);
    STRAKE_CL(name, code, error, b->kernels.device);
cleanup:
    return status;
}

static int64_t tiles_along(int64_t cells, int size)
{
    return (cells + size - 1) / size;
}

/* Lists of tiles of all members. */
static strake_status make_tiles(strake_cl_batch *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int *const tile = b->kernels.options.tile;
    const size_t members = (size_t)b->places;
    strake_cl_listing *const l = &b->tiles;
    l->slabs = (strake_range){0, b->layout.n[0]};
    l->across = tiles_along(b->layout.n[2], tile[0]);
    l->room = l->across * tiles_along(b->layout.n[0], tile[1]);
    strake_activity_reach(&b->graph, b->wakes.spread, STRAKE_CL_ACTIVE_LOOK, b->reach);
    const size_t lists = members * (size_t)l->room * sizeof(cl_int);
    STRAKE_TRY(strake_cl_new_zeros(&b->window, members * sizeof(strake_tiles), &l->state, error));
    STRAKE_TRY(strake_cl_new_zeros(&b->window, 2 * lists, &l->lists, error));
    STRAKE_TRY(strake_cl_new_zeros(&b->window, lists, &b->marked, error));
    STRAKE_TRY(strake_cl_new_zeros(&b->window, lists, &b->listed, error));
    STRAKE_TRY(make_kernel(b, "look_at_tiles", &b->look, error));
    b->window.listing = l;
cleanup:
    return status;
}

static strake_status make_arrays(strake_cl_batch *b, int places, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const k = &b->kernels;
    cl_int code = CL_SUCCESS;
    const size_t size = (size_t)b->layout.element_size, members = (size_t)places;
    b->queue = k->cl->clCreateCommandQueue(k->context, k->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, k->device);
    b->aside = k->cl->clCreateCommandQueue(k->context, k->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, k->device);
    STRAKE_TRY(strake_cl_window_create(&b->window, k, &b->layout, false, b->queue, error));
    STRAKE_TRY(strake_cl_new_buffer(k, members * sizeof(strake_member), CL_MEM_READ_WRITE,
                                    &b->window.member, error));
    STRAKE_TRY(strake_cl_new_buffer(k, members * (size_t)b->graph.values * size, CL_MEM_READ_ONLY,
                                    &b->window.numbers, error));
    if (b->has_clock) {
        STRAKE_TRY(strake_cl_new_buffer(k, members * sizeof(strake_clock), CL_MEM_READ_WRITE,
                                        &b->clocks, error));
        STRAKE_TRY(strake_cl_new_buffer(k, members * (size_t)(b->graph.scalars + 1) * size,
                                        CL_MEM_READ_WRITE, &b->told, error));
        b->window.told = b->told;
    }
    STRAKE_TRY(
        strake_cl_new_buffer(k, members * sizeof(cl_int), CL_MEM_READ_ONLY, &b->order_here, error));
    STRAKE_TRY(plan_ghosts(b, error));
    STRAKE_TRY(make_kernel(b, "start_members", &b->start, error));
    STRAKE_TRY(make_kernel(b, "advance_members", &b->advance, error));
    STRAKE_TRY(make_kernel(b, "search_members", &b->search, error));
    STRAKE_TRY(b->kernels.listed ? make_tiles(b, error) : STRAKE_OK);
cleanup:
    return status;
}

static strake_status make_places(strake_cl_batch *b, int places, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t members = (size_t)places;
    b->member = calloc(members, sizeof *b->member);
    b->state = calloc(members, sizeof *b->state);
    b->clock = calloc(members, sizeof *b->clock);
    b->numbers = calloc(members * (size_t)b->graph.values, sizeof *b->numbers);
    b->known = calloc(members, sizeof *b->known);
    b->order = calloc(members, sizeof *b->order);
    STRAKE_CHECK(b->order != NULL && b->known != NULL && b->member != NULL && b->state != NULL &&
                     b->clock != NULL && b->numbers != NULL,
                 error, STRAKE_ERR_MEMORY, "out of memory for the members of a batch");
    for (int m = 0; m < places; m++) {
        b->member[m].batch = b;
        b->member[m].place = m;
        STRAKE_CHECK(pthread_cond_init(&b->member[m].done, NULL) == 0, error, STRAKE_ERR_MEMORY,
                     "out of memory for the members of a batch");
        b->places = m + 1;
    }
cleanup:
    return status;
}

static uint64_t hash_program(const strake_cl_kernels *k, const strake_graph *graph,
                             const strake_problem *problem)
{
    char *const text = strake_cl_generate(graph, &k->options, problem, k->kernels, k->plan);
    const uint64_t hash =
        text != NULL ? strake_fnv1a(STRAKE_FNV_SEED, text, strlen(text)) | 1 : 0; /* 0: none */
    free(text);
    return hash;
}

static strake_status build(strake_cl_batch *b, const strake_cl_joining *joining, bool listed,
                           strake_error *error)
{
    const strake_settings *const asked = joining->settings;
    strake_settings settings = *asked;
    strake_layout tall = b->layout;
    tall.n[0] *= b->most;
    if (listed && asked->fusion != STRAKE_CL_FUSION_TILE) {
        settings.fusion = STRAKE_CL_FUSION_TILE;
        settings.group_width = settings.group_height = settings.group_rows = 0;
        settings.registers = settings.prefetch = 0;
        settings.groups[0] = '\0';
    }
    b->kernels.members = b->most;
    b->kernels.listed = listed;
    return strake_cl_kernels_build(&b->kernels, joining->cl, joining->device, &b->graph,
                                   joining->problem, &tall, &settings, error);
}

/*
 * Kernels are those of one grid with as many cells, cut into members, or those of tiles in lists. @param[out] good  false where its graph, its device or
 * its memory is for no batch
 */
static strake_status make(strake_cl_batch *b, const strake_cl_joining *joining, bool *good,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernel_plan *const first = &b->kernels.plan[0];
    int places = 0;
    b->waiter = (strake_cl_waiter){.kind = (strake_cl_wait_kind)joining->settings->wait,
                                   .limit = joining->limit};
    b->aside_waiter = b->waiter;
    STRAKE_TRY(build(b, joining, b->wakes.count > 0, error));
    if (b->kernels.listed &&
        (b->kernels.kernels > 1 || !first->tiled || first->lo[0] + first->lo[2] > 0)) {
        strake_cl_kernels_release(&b->kernels);
        memset(&b->kernels, 0, sizeof b->kernels);
        STRAKE_TRY(build(b, joining, false, error));
    }
    places = count_places(b, joining->memory);
    b->has_clock = strake_cl_plan_has_clock(&b->graph);
    *good = places > 1 && b->kernels.flat && (!b->has_clock || joining->device->has_double) &&
            (b->has_clock || b->graph.reductions + b->graph.scalars == 0);
    if (*good) {
        b->kernels.options.members = places;
        b->text = hash_program(&b->kernels, &b->graph, joining->problem);
        STRAKE_TRY(make_places(b, places, error));
        STRAKE_TRY(make_arrays(b, places, error));
    }
cleanup:
    return status;
}

/* --- members ---------------------------------------------------------------------------------------- */

/* Whether kernels that were made for one graph compute another one: all but its numbers is the same. */
static bool is_like(const strake_cl_batch *b, const strake_cl_joining *joining)
{
    const strake_graph *const graph = joining->graph;
    const strake_layout *const layout = joining->layout;
    const strake_layout *const own = &b->layout;
    bool is = b->kernels.device->device == joining->device->device && own->pitch == layout->pitch &&
              own->slab == layout->slab && own->origin == layout->origin &&
              own->element_size == layout->element_size && graph->values == b->graph.values &&
              graph->stages == b->graph.stages && graph->scalars == b->graph.scalars &&
              graph->reductions == b->graph.reductions && graph->precision == b->graph.precision &&
              graph->origin == b->graph.origin;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        is = is && own->n[axis] == layout->n[axis] && own->lo[axis] == layout->lo[axis] &&
             own->hi[axis] == layout->hi[axis] && own->boundary[axis] == layout->boundary[axis];
    }
    for (int s = 0; is && s < graph->stages; s++) {
        is = graph->stage[s].point == b->graph.stage[s].point &&
             graph->stage[s].reads == b->graph.stage[s].reads &&
             graph->stage[s].output == b->graph.stage[s].output;
    }
    return is && hash_program(&b->kernels, graph, joining->problem) == b->text;
}

/* Waits for a place. */
static strake_cl_member *take_place(strake_cl_batch *b)
{
    for (;;) {
        for (int m = 0; m < b->places; m++) {
            if (!b->member[m].is_taken) {
                b->member[m].is_taken = true;
                return &b->member[m];
            }
        }
        (void)pthread_cond_wait(&b->left, &b->lock);
    }
}

/* Waits until at most so many sweeps that were asked for are left to be made. */
static strake_status wait_until(strake_cl_member *member, int64_t left, strake_error *error)
{
    strake_cl_batch *const b = member->batch;
    (void)pthread_mutex_lock(&b->lock);
    member->wanted = left;
    while (member->left > left && member->status == STRAKE_OK) {
        (void)pthread_cond_wait(&member->done, &b->lock);
    }
    const strake_status status = member->status;
    if (status != STRAKE_OK && error != NULL) {
        *error = member->error;
    }
    (void)pthread_mutex_unlock(&b->lock);
    return status;
}

/*
 * Its constants, for kernels of its steps: those that follow from a time step which changes are others from step to step.
 * Nothing that reads the old ones may be left to be made.
 */
static strake_status upload_numbers(strake_cl_member *member, const strake_graph *graph,
                                    bool is_new, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_batch *const b = member->batch;
    const strake_cl_kernels *const k = &b->kernels;
    const int size = b->layout.element_size;
    const size_t bytes = (size_t)graph->values * (size_t)size;
    char *const row = (char *)b->numbers + (size_t)member->place * bytes;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *const value = &graph->value[v];
        char *const known = row + (size_t)v * (size_t)size;
        double element = 0.0;
        strake_element_set(&element, size, 0,
                           value->is_constant && !value->is_scalar ? value->constant : 0.0);
        is_new = is_new || memcmp(&element, known, (size_t)size) != 0;
        memcpy(known, &element, (size_t)size);
    }
    if (!is_new) {
        return STRAKE_OK;
    }
    STRAKE_TRY(wait_until(member, 0, error));
    STRAKE_CL("clEnqueueWriteBuffer",
              k->cl->clEnqueueWriteBuffer(b->aside, b->window.numbers, CL_TRUE,
                                          (size_t)member->place * bytes, bytes, row, 0, NULL, NULL),
              error, k->device);
cleanup:
    return status;
}

/*
 * Makes it for the first of its members, unless another one has. One that cannot be made is no error: who would join it is
 * alone then, and tells what is wrong. @return whether there is something to join
 */
static bool make_once(strake_cl_batch *b, const strake_cl_joining *joining)
{
    bool good = true;
    (void)pthread_mutex_lock(&b->lock);
    while (b->is_making) {
        (void)pthread_cond_wait(&b->left, &b->lock);
    }
    if (!b->is_made) {
        strake_error ignored;
        b->is_making = true;
        (void)pthread_mutex_unlock(&b->lock);
        b->graph = *joining->graph;
        b->layout = *joining->layout;
        b->wakes = *joining->wakes;
        good = make(b, joining, &good, &ignored) == STRAKE_OK && good;
        (void)pthread_mutex_lock(&b->lock);
        b->is_making = false;
        b->is_made = true;
        if (!good) {
            release(b);
        }
        (void)pthread_cond_broadcast(&b->left);
    }
    good = b->places > 0;
    (void)pthread_mutex_unlock(&b->lock);
    return good;
}

/* Those who step alone do so one after the other: drivers have no room for hundreds of contexts. */
static void wait_to_be_alone(strake_cl_batch *b)
{
    (void)pthread_mutex_lock(&b->lock);
    while (b->is_alone) {
        (void)pthread_cond_wait(&b->left, &b->lock);
    }
    b->is_alone = true;
    (void)pthread_mutex_unlock(&b->lock);
}

void strake_cl_batch_leave_alone(strake_cl_batch *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->is_alone = false;
    (void)pthread_cond_broadcast(&b->left);
    (void)pthread_mutex_unlock(&b->lock);
}

/* The one for members with other kernels or another shape; NULL: there are too many of them, or it cannot be made. */
static strake_cl_batch *next_kind(strake_cl_batch *first, strake_cl_batch *b)
{
    strake_error ignored;
    (void)pthread_mutex_lock(&first->lock);
    if (b->next == NULL && first->kinds < MOST_KINDS &&
        strake_cl_batch_create(first->most, &b->next, &ignored) == STRAKE_OK) {
        first->kinds++;
    }
    strake_cl_batch *const next = b->next;
    (void)pthread_mutex_unlock(&first->lock);
    return next;
}

strake_status strake_cl_batch_join(strake_cl_batch *first, const strake_cl_joining *joining,
                                   strake_cl_kernels *kernels, strake_cl_member **out,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_member *member = NULL;
    strake_cl_joining rest = *joining; /* with the memory that those before have left */
    bool is_there = !joining->is_alone;
    *out = NULL;
    for (strake_cl_batch *b = first; is_there && b != NULL && member == NULL;
         b = next_kind(first, b)) {
        is_there =
            make_once(b, &rest); /* if not, another one would not have room or kernels, too */
        rest.memory -= b->bytes < rest.memory ? b->bytes : rest.memory;
        if (is_there && is_like(b, joining)) {
            (void)pthread_mutex_lock(&b->lock);
            member = take_place(b);
            (void)pthread_mutex_unlock(&b->lock);
            member->now = (strake_member){.left = 0};
            member->left = 0;
            member->is_woken = true;
            member->has_clock = false;
            member->status = STRAKE_OK;
            STRAKE_TRY(upload_numbers(member, joining->graph, true, error));
            STRAKE_TRY(strake_cl_kernels_share(kernels, &b->kernels, joining->graph, error));
        }
    }
    if (member == NULL) {
        wait_to_be_alone(first);
    }
    *out = member;
    member = NULL;
cleanup:
    strake_cl_batch_leave(&member);
    return status;
}

void strake_cl_batch_leave(strake_cl_member **member)
{
    if (*member != NULL) {
        strake_cl_batch *const b = (*member)->batch;
        (void)pthread_mutex_lock(&b->lock);
        (*member)->wanted = INT64_MAX; /* the round that runs is the last one */
        while ((*member)->is_going) {
            (void)pthread_cond_wait(&(*member)->done, &b->lock);
        }
        (*member)->left = 0;
        (*member)->is_taken = false;
        (void)pthread_cond_broadcast(&b->left); /* others wait for other things, too */
        (void)pthread_mutex_unlock(&b->lock);
        *member = NULL;
    }
}

static strake_status put(const strake_cl_member *member, const strake_cl_window *window,
                         cl_mem from, cl_mem to, int64_t n, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const k = &member->batch->kernels;
    STRAKE_CL("clEnqueueCopyBuffer",
              k->cl->clEnqueueCopyBuffer(window->queue, from, to, 0,
                                         (size_t)n * member->batch->window.apart,
                                         strake_cl_window_array_bytes(window), 0, NULL, NULL),
              error, k->device);
cleanup:
    return status;
}

strake_status strake_cl_member_put_states(strake_cl_member *member, const strake_cl_window *window,
                                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < window->states; k++) {
        for (int p = 0; p < 2; p++) {
            STRAKE_TRY(put(member, window, window->state[k].buffer[window->parity],
                           member->batch->window.state[k].buffer[0], 2 * member->place + p, error));
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_member_put_inputs(strake_cl_member *member, const strake_cl_window *window,
                                          void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int v = 0; v < window->kernels->graph->values; v++) {
        if (strake_cl_window_needs(window, v) && array[v] != NULL) {
            const int slot = window->slot[v];
            STRAKE_TRY(put(member, window, window->array[slot], member->batch->window.array[slot],
                           member->place, error));
        }
    }
cleanup:
    return status;
}

cl_mem strake_cl_member_state(const strake_cl_member *member, int k, size_t *offset)
{
    const strake_cl_window *const w = &member->batch->window;
    *offset = (size_t)(2 * member->place + member->now.parity) * w->apart;
    return w->state[k].buffer[0];
}

strake_status strake_cl_member_static(strake_cl_member *member, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_batch *const b = member->batch;
    strake_cl_window *const w = &b->window;
    (void)pthread_mutex_lock(&b->launching);
    w->queue = b->aside;
    w->first = member->place;
    w->order = NULL;
    w->launched = 1;
    status = strake_cl_window_static(w, 0, w->layout.n[0], error);
    w->queue = b->queue;
    member->is_woken = true;
    if (status == STRAKE_OK) {
        status = strake_cl_wait_queue(b->kernels.cl, b->kernels.device, &b->aside_waiter, b->aside,
                                      error);
    }
    (void)pthread_mutex_unlock(&b->launching);
    return status;
}

void strake_cl_member_wake(strake_cl_member *member)
{
    member->is_woken = true;
}

void strake_cl_member_set_clock(strake_cl_member *member, const strake_clock *clock)
{
    (void)pthread_mutex_lock(&member->batch->lock);
    member->has_clock = clock != NULL;
    if (clock != NULL) {
        member->clock = *clock;
    }
    (void)pthread_mutex_unlock(&member->batch->lock);
}

strake_status strake_cl_member_run(strake_cl_member *member, int64_t sweeps, int64_t left,
                                   strake_clock *clock, strake_cl_window *window,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_batch *const b = member->batch;
    STRAKE_TRY(sweeps > 0 ? upload_numbers(member, window->kernels->graph, false, error)
                          : STRAKE_OK);
    (void)pthread_mutex_lock(&b->lock);
    if (member->has_clock ? !member->clock.is_over : !b->has_clock) {
        member->left += sweeps;
    }
    if (sweeps > 0) {
        (void)pthread_cond_signal(&b->asked);
    }
    (void)pthread_mutex_unlock(&b->lock);
    STRAKE_TRY(wait_until(member, left, error));
cleanup:
    (void)pthread_mutex_lock(&b->lock);
    *clock = member->clock;
    window->non_finite = member->now.non_finite;
    window->parity = member->now.parity;
    (void)pthread_mutex_unlock(&b->lock);
    return status;
}

const strake_cl_kernels *strake_cl_member_kernels(const strake_cl_member *member)
{
    return &member->batch->kernels;
}

/* --- rounds ----------------------------------------------------------------------------------------- */

/* The members that have asked, as the device is to have them. @return sweeps of the round; 0: none has asked */
static int64_t begin_round(strake_cl_batch *b)
{
    int64_t most = 0, tiles = 0;
    b->going = 0;
    for (int m = 0; m < b->places; m++) {
        strake_cl_member *const member = &b->member[m];
        const strake_tiles *const known = &b->known[m];
        const int64_t left =
            member->left < STRAKE_CL_BATCH_ROUND ? member->left : STRAKE_CL_BATCH_ROUND;
        member->is_going = left > 0 && member->status == STRAKE_OK;
        b->state[m] = member->now;
        member->given = member->is_going ? (int)left : 0;
        b->state[m].left = member->given;
        b->state[m].what = member->is_woken ? STRAKE_TILES_FRESH : STRAKE_TILES_LISTED;
        if (member->is_going) {
            const int64_t own = known->tiles[known->look % STRAKE_TILES_TURNS];
            b->order[b->going++] = m;
            b->state[m].non_finite = 0;
            b->clock[m] = member->clock;
            most = left > most ? left : most;
            tiles = own > tiles ? own : tiles;
        }
    }
    tiles += tiles / SPARE + LEAST_GROUPS;
    b->tiles.groups = tiles < b->tiles.room ? tiles : b->tiles.room;
    return most;
}

/* Arguments of both kernels that keep the clocks. */
static strake_cl_arguments begin_clocks(const strake_cl_batch *b, cl_kernel kernel, bool counts)
{
    strake_cl_arguments a = strake_cl_arguments_begin(b->kernels.cl, kernel);
    strake_cl_pass_buffer(&a, b->window.member);
    strake_cl_pass_buffer(&a, b->order_here);
    if (counts) {
        strake_cl_pass_int(&a, b->going);
    }
    if (b->has_clock) {
        strake_cl_pass_buffer(&a, b->window.numbers);
        strake_cl_pass_int(&a, b->graph.values);
        strake_cl_pass_buffer(&a, b->clocks);
        strake_cl_pass_buffer(&a, b->told);
    }
    return a;
}

/* A work-item for each member. */
static strake_status launch_each(strake_cl_batch *b, const char *name, const strake_cl_arguments *a,
                                 strake_error *error)
{
    const size_t most = b->kernels.device->max_work_group, items = most < 64 ? most : 64;
    return strake_cl_launch(&b->kernels, b->queue, name, a, items, 1, (size_t)b->going, 1, 1,
                            error);
}

static strake_status advance(strake_cl_batch *b, strake_error *error)
{
    strake_cl_arguments a = begin_clocks(b, b->advance, !b->has_clock);
    if (!b->has_clock) {
        return launch_each(b, "advance_members", &a, error);
    }
    const size_t items = strake_cl_reduce_pass_numbers(&b->window, 0, &a);
    strake_cl_reduce_forget(&b->window);
    return strake_cl_launch(&b->kernels, b->queue, "advance_members", &a, items, 1,
                            items * (size_t)b->going, 1, 1, error);
}

/* Looks which tiles of the members are to be computed in the sweeps up to the next look. */
static strake_status look(strake_cl_batch *b, strake_error *error)
{
    const strake_cl_window *const w = &b->window;
    const size_t most = b->kernels.device->max_work_group;
    const size_t items = most < LOOK_ITEMS ? most : LOOK_ITEMS;
    const int *const tile = b->kernels.options.tile;
    cl_mem array[STRAKE_CL_MOST_WAKES] = {NULL};
    int parities[STRAKE_CL_MOST_WAKES] = {1, 1};
    for (int k = 0, count = 0; k < b->wakes.count; k++) {
        const int value = b->wakes.value[k];
        array[count] = w->slot[value] >= 0 ? w->array[w->slot[value]] : NULL;
        for (int s = 0; s < w->states; s++) {
            if (w->state[s].input == value) {
                array[count] = w->state[s].buffer[0];
                parities[count] = 2;
            }
        }
        count += array[count] != NULL ? 1 : 0;
    }
    strake_cl_arguments a = strake_cl_arguments_begin(b->kernels.cl, b->look);
    strake_cl_pass_buffer(&a, w->member);
    strake_cl_pass_buffer(&a, b->order_here);
    strake_cl_pass_buffer(&a, b->tiles.state);
    strake_cl_pass_buffer(&a, b->marked);
    strake_cl_pass_buffer(&a, b->listed);
    strake_cl_pass_buffer(&a, b->tiles.lists);
    strake_cl_pass_int(&a, b->tiles.room);
    for (int k = 0; k < STRAKE_CL_MOST_WAKES; k++) {
        strake_cl_pass_buffer(&a, array[k]);
        strake_cl_pass_int(&a, parities[k]);
    }
    strake_cl_pass_long(&a, (int64_t)w->apart / w->layout.element_size);
    strake_cl_pass_long(&a, w->layout.slab);
    strake_cl_pass_long(&a, w->origin);
    strake_cl_pass_int(&a, w->layout.n[0]);
    strake_cl_pass_int(&a, w->layout.n[2]);
    strake_cl_pass_int(&a, tile[1]);
    strake_cl_pass_int(&a, tile[0]);
    strake_cl_pass_int(&a, b->reach[0]);
    strake_cl_pass_int(&a, b->reach[1]);
    strake_cl_pass_int(&a, STRAKE_CL_ACTIVE_LOOK);
    return strake_cl_launch(&b->kernels, b->queue, "look_at_tiles", &a, items, 1,
                            items * (size_t)b->tiles.groups, 1, (size_t)b->going, error);
}

static strake_status search(strake_cl_batch *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_window *const w = &b->window;
    const size_t most = b->kernels.device->max_work_group;
    for (int k = 0; k < w->states; k++) {
        strake_cl_arguments a = strake_cl_arguments_begin(b->kernels.cl, b->search);
        strake_cl_pass_buffer(&a, w->member);
        strake_cl_pass_buffer(&a, b->order_here);
        strake_cl_pass_buffer(&a, w->state[k].buffer[0]);
        strake_cl_pass_long(&a, (int64_t)w->apart / w->layout.element_size);
        strake_cl_pass_long(&a, w->layout.slab);
        strake_cl_pass_long(&a, w->origin);
        strake_cl_pass_int(&a, w->layout.n[0]);
        strake_cl_pass_int(&a, w->layout.n[2]);
        STRAKE_TRY(strake_cl_launch(&b->kernels, b->queue, "search_members", &a, most < 64 ? 1 : 64,
                                    most < 256 ? 1 : 4, (size_t)w->layout.n[2],
                                    (size_t)w->layout.n[0], (size_t)b->going, error));
    }
cleanup:
    return status;
}

/* Enqueue transfers, before and after the sweeps of a round. @param[out] done  NULL: not asked for */
static strake_status write_to(strake_cl_batch *b, cl_mem to, size_t bytes, const void *from,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL(
        "clEnqueueWriteBuffer",
        b->kernels.cl->clEnqueueWriteBuffer(b->queue, to, CL_FALSE, 0, bytes, from, 0, NULL, NULL),
        error, b->kernels.device);
cleanup:
    return status;
}

static strake_status read_from(strake_cl_batch *b, cl_mem from, size_t bytes, void *to,
                               cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL(
        "clEnqueueReadBuffer",
        b->kernels.cl->clEnqueueReadBuffer(b->queue, from, CL_FALSE, 0, bytes, to, 0, NULL, done),
        error, b->kernels.device);
cleanup:
    return status;
}

/* Enqueues the sweeps of a round and reading what came of it. */
static strake_status launch_round(strake_cl_batch *b, int64_t sweeps, cl_event *read,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = &b->window;
    const size_t members = (size_t)b->places, going = (size_t)b->going;
    w->first = 0;
    w->order = b->order_here;
    w->launched = b->going;
    const strake_cl_arguments a = begin_clocks(b, b->start, true);
    STRAKE_TRY(write_to(b, w->member, members * sizeof *b->state, b->state, error));
    STRAKE_TRY(write_to(b, b->order_here, going * sizeof *b->order, b->order, error));
    STRAKE_TRY(b->has_clock ? write_to(b, b->clocks, members * sizeof *b->clock, b->clock, error)
                            : STRAKE_OK);
    STRAKE_TRY(launch_each(b, "start_members", &a, error));
    strake_cl_reduce_forget(w);
    for (int64_t sweep = 0; sweep < sweeps; sweep++) {
        STRAKE_TRY(b->kernels.listed && sweep % STRAKE_CL_ACTIVE_LOOK == 0 ? look(b, error)
                                                                           : STRAKE_OK);
        STRAKE_TRY(strake_cl_window_step(w, 0, w->layout.n[0], &b->ghosts, error));
        STRAKE_TRY(advance(b, error));
    }
    STRAKE_TRY(search(b, error));
    STRAKE_TRY(b->kernels.listed
                   ? read_from(b, b->tiles.state, members * sizeof *b->known, b->known, NULL, error)
                   : STRAKE_OK);
    STRAKE_TRY(b->has_clock
                   ? read_from(b, b->clocks, members * sizeof *b->clock, b->clock, NULL, error)
                   : STRAKE_OK);
    STRAKE_TRY(read_from(b, w->member, members * sizeof *b->state, b->state, read, error));
    STRAKE_CL("clFlush", b->kernels.cl->clFlush(b->queue), error, b->kernels.device);
cleanup:
    return status;
}

static void end_round(strake_cl_batch *b, strake_status status, const strake_error *error)
{
    for (int m = 0; m < b->places; m++) {
        strake_cl_member *const member = &b->member[m];
        if (!member->is_going) {
            continue;
        }
        member->is_going = false;
        member->status = status;
        if (status == STRAKE_OK) {
            const int64_t done = member->given - b->state[m].left;
            member->now = b->state[m];
            member->clock = b->clock[m];
            member->is_woken = false;
            /* Beyond the end of its clock nothing is left to be made. */
            member->left = b->state[m].left > 0 ? 0 : member->left - done;
        } else {
            member->error = *error;
        }
        if (status != STRAKE_OK || member->left <= member->wanted) {
            (void)pthread_cond_signal(&member->done);
        }
    }
}

static void *make_rounds(void *user)
{
    strake_cl_batch *const b = user;
    (void)pthread_mutex_lock(&b->lock);
    for (;;) {
        strake_error error = {.text = ""};
        cl_event read = NULL;
        int64_t sweeps = 0;
        while (!b->is_closing && (sweeps = begin_round(b)) == 0) {
            (void)pthread_cond_wait(&b->asked, &b->lock);
        }
        if (b->is_closing) {
            break;
        }
        (void)pthread_mutex_unlock(&b->lock);
        (void)pthread_mutex_lock(&b->launching);
        strake_status status = launch_round(b, sweeps, &read, &error);
        (void)pthread_mutex_unlock(&b->launching);
        if (status == STRAKE_OK) {
            status = strake_cl_wait(b->kernels.cl, b->kernels.device, &b->waiter, &read, &error);
        }
        (void)pthread_mutex_lock(&b->lock);
        end_round(b, status, &error);
    }
    (void)pthread_mutex_unlock(&b->lock);
    return NULL;
}

strake_status strake_cl_batch_devices(strake_cl_batch *b, strake_cl_list *list, strake_error *error)
{
    strake_status status = STRAKE_OK;
    (void)pthread_mutex_lock(&b->listing);
    if (!b->has_devices) {
        status = strake_cl_list_open(&b->devices, error);
        b->has_devices = status == STRAKE_OK;
    }
    *list = b->devices;
    return status;
}

void strake_cl_batch_devices_end(strake_cl_batch *b)
{
    (void)pthread_mutex_unlock(&b->listing);
}

/* --- the batch -------------------------------------------------------------------------------------- */

strake_status strake_cl_batch_create(int most, strake_cl_batch **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_batch *b = calloc(1, sizeof *b);
    STRAKE_CHECK(b != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a batch");
    b->most = most;
    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_mutex_init(&b->launching, NULL);
    (void)pthread_mutex_init(&b->listing, NULL);
    (void)pthread_cond_init(&b->asked, NULL);
    (void)pthread_cond_init(&b->left, NULL);
    STRAKE_CHECK(pthread_create(&b->thread, NULL, make_rounds, b) == 0, error, STRAKE_ERR_STATE,
                 "cannot start a thread for a batch");
    *out = b;
    b = NULL;
cleanup:
    free(b);
    return status;
}

void strake_cl_batch_destroy(strake_cl_batch **batch)
{
    strake_cl_batch *const b = *batch;
    if (b == NULL) {
        return;
    }
    strake_cl_batch_destroy(&b->next);
    (void)pthread_mutex_lock(&b->lock);
    b->is_closing = true;
    (void)pthread_cond_signal(&b->asked);
    (void)pthread_mutex_unlock(&b->lock);
    (void)pthread_join(b->thread, NULL);
    release(b);
    (void)pthread_cond_destroy(&b->asked);
    (void)pthread_cond_destroy(&b->left);
    (void)pthread_mutex_destroy(&b->lock);
    (void)pthread_mutex_destroy(&b->launching);
    (void)pthread_mutex_destroy(&b->listing);
    strake_cl_list_free(&b->devices);
    free(b);
    *batch = NULL;
}
