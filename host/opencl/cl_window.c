#include "opencl/cl_window.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph.h"
#include "model/rounds.h"
#include "opencl/cl_reduce.h"

strake_status strake_cl_aside_open(const strake_cl *cl, const strake_cl_device *device,
                                   cl_context context, bool timers, cl_command_queue *aside,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    if (*aside == NULL && strake_cl_device_is_gpu(device) && !strake_cl_device_is_pocl(device)) {
        *aside = cl->clCreateCommandQueue(context, device->device,
                                          timers ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
        STRAKE_CL("clCreateCommandQueue", code, error, device);
    }
cleanup:
    return status;
}

strake_status strake_cl_aside_mark(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue queue, cl_command_queue aside, cl_event *here,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (aside != NULL) {
        STRAKE_CL("clEnqueueMarkerWithWaitList",
                  cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, here), error, device);
    }
cleanup:
    return status;
}

strake_status strake_cl_aside_turn(const strake_cl *cl, const strake_cl_device *device,
                                   cl_command_queue *queue, cl_command_queue *aside, cl_event *here,
                                   cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_mark(cl, device, *queue, done, error));
    strake_cl_aside_swap(queue, aside);
    STRAKE_TRY(*here != NULL ? strake_cl_come_after(cl, device, *queue, *here, error) : STRAKE_OK);
cleanup:
    strake_cl_release_event(cl, here);
    return status;
}

void strake_cl_aside_swap(cl_command_queue *queue, cl_command_queue *aside)
{
    const cl_command_queue before = *queue;
    if (*aside != NULL) {
        *queue = *aside;
        *aside = before;
    }
}

/* Twice in a row the high word of a quiet NaN in double; once a quiet NaN in single. */
static const cl_uint pattern = 0x7FFADEADU;

strake_status strake_cl_guard_fill(const strake_cl_filler *filler, cl_command_queue queue,
                                   cl_mem buffer, size_t bytes, size_t guard, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t offset[2] = {0, bytes - guard};
    for (int end = 0; end < 2; end++) {
        STRAKE_TRY(strake_cl_fill(filler, queue, buffer, &pattern, sizeof pattern, offset[end],
                                  guard, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_guard_check(const strake_cl *cl, const strake_cl_device *device,
                                    cl_command_queue queue, cl_mem buffer, size_t bytes,
                                    size_t guard, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t offset[2] = {0, bytes - guard};
    cl_uint *const found = malloc(guard);
    STRAKE_CHECK(found != NULL, error, STRAKE_ERR_MEMORY, "out of memory checking canaries");
    for (int end = 0; end < 2; end++) {
        STRAKE_CL("clEnqueueReadBuffer",
                  cl->clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset[end], guard, found, 0,
                                          NULL, NULL),
                  error, device);
        for (size_t k = 0; k < guard / sizeof *found; k++) {
            *intact = *intact && found[k] == pattern;
        }
    }
cleanup:
    free(found);
    return status;
}

/* Slabs of canaries at either end of every array. */
enum { GUARD = 1 };

/* Where a part of a buffer may begin: no device asks for more (CL_DEVICE_MEM_BASE_ADDR_ALIGN). */
enum { PART = 4096 };

size_t strake_cl_window_slab_bytes(const strake_cl_window *w)
{
    return (size_t)(w->layout.slab * w->layout.element_size);
}

size_t strake_cl_window_offset(const strake_cl_window *w, int64_t slab)
{
    return strake_layout_offset(&w->layout, w->lead + slab);
}

strake_status strake_cl_new_buffer(const strake_cl_kernels *kernels, size_t bytes,
                                   cl_mem_flags flags, cl_mem *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_device *device = kernels->device;
    *out = kernels->cl->clCreateBuffer(kernels->context, flags, bytes, NULL, &code);
    STRAKE_CHECK(
        code == CL_SUCCESS || bytes <= device->max_allocation, error, STRAKE_ERR_DEVICE,
        "%s: an array of this stripe needs %.1f MiB but the device allows %.1f MiB for one "
        "buffer; give the device fewer rows with --split",
        device->name, (double)bytes / 1048576.0, (double)device->max_allocation / 1048576.0);
    STRAKE_CL("clCreateBuffer", code, error, device);
cleanup:
    return status;
}

void strake_cl_release_buffer(const strake_cl_kernels *kernels, cl_mem *buffer)
{
    if (*buffer != NULL) {
        strake_cl_kernels_forget(kernels);
        (void)kernels->cl->clReleaseMemObject(*buffer);
        *buffer = NULL;
    }
}

/* Slabs before and after the layout's that some kernel touches, for whatever range it runs on. */
static void find_margins(const strake_cl_kernels *kernels, const strake_layout *layout,
                         int64_t *lead, int64_t *tail)
{
    *lead = 0;
    *tail = 0;
    for (int k = 0; k < kernels->kernels; k++) {
        const int64_t before = kernels->plan[k].reach[0] - layout->lo[0] + 1;
        const int64_t after = kernels->plan[k].reach[1] - layout->hi[0] + 1;
        *lead = before > *lead ? before : *lead;
        *tail = after > *tail ? after : *tail;
    }
    *lead += GUARD;
    *tail += GUARD;
}

static uint64_t array_bytes(const strake_layout *layout, int64_t lead, int64_t tail)
{
    return (uint64_t)((layout->elements + (lead + tail) * layout->slab) * layout->element_size);
}

size_t strake_cl_window_array_bytes(const strake_cl_window *w)
{
    return (size_t)array_bytes(&w->layout, w->lead, w->tail);
}

/*
 * Gives every value that kernels read its array. Intermediates share one once the kernel of the last
 * reader has run: steps of several kernels have one in-order queue (cl_resident.c, open_queues()).
 * @return number of arrays
 */
int strake_cl_window_slots(const strake_cl_kernels *kernels, int slot[STRAKE_MAX_VALUES])
{
    const strake_graph *graph = kernels->graph;
    int arrays = 0;
    int free_list[STRAKE_MAX_VALUES];
    int free_count = 0;
    int free_at[STRAKE_MAX_VALUES]; /* kernel after which the value's array is free */
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        free_at[v] = -1;
        slot[v] = -1;
        if (strake_cl_kernels_last_use(kernels, v) >= 0 && value->stage < 0 && value->next < 0) {
            slot[v] = arrays++;
        }
    }
    for (int k = 0; k < kernels->kernels; k++) {
        for (int v = 0; v < graph->values; v++) {
            if (free_at[v] >= 0 && free_at[v] < k) {
                free_list[free_count++] = slot[v];
                free_at[v] = -1;
            }
        }
        for (int j = 0; j < kernels->plan[k].outputs; j++) {
            const int v = kernels->plan[k].output[j];
            const strake_value *value = &graph->value[v];
            if (value->is_output || kernels->plan[k].only_reduced[j]) {
                continue;
            }
            slot[v] = !value->is_static && free_count > 0 ? free_list[--free_count] : arrays++;
            free_at[v] = value->is_static ? -1 : strake_cl_kernels_last_use(kernels, v);
        }
    }
    return arrays;
}

uint64_t strake_cl_window_bytes(const strake_cl_kernels *kernels, const strake_layout *layout,
                                uint64_t *largest)
{
    int slot[STRAKE_MAX_VALUES];
    int64_t lead = 0;
    int64_t tail = 0;
    uint64_t arrays = (uint64_t)strake_cl_window_slots(kernels, slot);
    for (int v = 0; v < kernels->graph->values; v++) {
        arrays += kernels->graph->value[v].next >= 0 ? 2 : 0;
    }
    find_margins(kernels, layout, &lead, &tail);
    *largest = array_bytes(layout, lead, tail);
    return arrays * *largest;
}

/* Zeros, so that what lies beyond the layout is defined. */
static strake_status fill_array(strake_cl_window *w, cl_mem array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_int zero = 0;
    const size_t bytes = strake_cl_window_array_bytes(w);
    STRAKE_TRY(
        strake_cl_fill(&w->kernels->filler, w->queue, array, &zero, sizeof zero, 0, bytes, error));
    STRAKE_TRY(strake_cl_guard_fill(&w->kernels->filler, w->queue, array, bytes,
                                    GUARD * strake_cl_window_slab_bytes(w), error));
cleanup:
    return status;
}

strake_status strake_cl_window_new_array(strake_cl_window *w, cl_mem *out, strake_error *error)
{
    const strake_status status = strake_cl_new_buffer(w->kernels, strake_cl_window_array_bytes(w),
                                                      CL_MEM_READ_WRITE, out, error);
    return status == STRAKE_OK ? fill_array(w, *out, error) : status;
}

/* Room for the states that travel, where borders of single steps are packed. */
static strake_status join(strake_cl_window *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_together *const t = &w->together;
    const int states = strake_ghosts_count(w->kernels->graph);
    t->apart = (strake_cl_window_array_bytes(w) + PART - 1) / PART * PART;
    const size_t bytes = (size_t)states * t->apart;
    const int halo = w->layout.lo[0] > w->layout.hi[0] ? w->layout.lo[0] : w->layout.hi[0];
    const double border = (double)(states * halo) * (double)strake_cl_window_slab_bytes(w);
    if (!strake_exchange_packs(states, border) || bytes > w->kernels->device->max_allocation) {
        return STRAKE_OK;
    }
    for (int p = 0; p < 2; p++) {
        STRAKE_TRY(strake_cl_new_buffer(w->kernels, bytes, CL_MEM_READ_WRITE, &t->all[p], error));
    }
    t->states = states;
cleanup:
    return status;
}

/* Both arrays of a state; the @p place-th of those that lie together, or none of them. */
static strake_status new_state(strake_cl_window *w, strake_cl_state *state, int place,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_together *const t = &w->together;
    const cl_buffer_region part = {(size_t)place * t->apart, strake_cl_window_array_bytes(w)};
    for (int p = 0; p < 2; p++) {
        cl_int code = CL_SUCCESS;
        if (place < 0) {
            STRAKE_TRY(strake_cl_window_new_array(w, &state->buffer[p], error));
            continue;
        }
        state->buffer[p] = w->kernels->cl->clCreateSubBuffer(
            t->all[p], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &code);
        STRAKE_CL("clCreateSubBuffer", code, error, w->kernels->device);
        STRAKE_TRY(fill_array(w, state->buffer[p], error));
    }
cleanup:
    return status;
}

static strake_status check_array(const strake_cl_window *w, cl_mem array, bool *intact,
                                 strake_error *error)
{
    return strake_cl_guard_check(w->kernels->cl, w->kernels->device, w->queue, array,
                                 strake_cl_window_array_bytes(w),
                                 GUARD * strake_cl_window_slab_bytes(w), intact, error);
}

strake_status strake_cl_window_check(const strake_cl_window *w, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < w->arrays; k++) {
        STRAKE_TRY(check_array(w, w->array[k], intact, error));
    }
    for (int k = 0; k < w->states; k++) {
        STRAKE_TRY(check_array(w, w->state[k].buffer[0], intact, error));
        STRAKE_TRY(check_array(w, w->state[k].buffer[1], intact, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_window_create(strake_cl_window *w, const strake_cl_kernels *kernels,
                                      const strake_layout *layout, bool joins,
                                      cl_command_queue queue, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_graph *graph = kernels->graph;
    int together = 0;
    w->kernels = kernels;
    w->queue = queue;
    w->layout = *layout;
    STRAKE_CHECK(kernels->options.pitch == 0 || kernels->options.pitch == layout->pitch, error,
                 STRAKE_ERR_STATE, "kernels for rows of %lld elements meet rows of %lld",
                 (long long)kernels->options.pitch, (long long)layout->pitch);
    find_margins(kernels, layout, &w->lead, &w->tail);
    w->origin = layout->origin + w->lead * layout->slab;
    STRAKE_TRY(joins ? join(w, error) : STRAKE_OK);
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next < 0) {
            continue;
        }
        STRAKE_CHECK(w->states < STRAKE_MAX_FIELDS_PER_STEP, error, STRAKE_ERR_STATE,
                     "too many state fields in one problem");
        strake_cl_state *state = &w->state[w->states++];
        state->input = v;
        state->output = graph->value[v].next;
        const bool joined = w->together.states > 0 && strake_ghosts_travel(graph, v);
        STRAKE_TRY(new_state(w, state, joined ? together : -1, error));
        together += joined ? 1 : 0;
    }
    w->arrays = strake_cl_window_slots(kernels, w->slot);
    for (int k = 0; k < w->arrays; k++) {
        STRAKE_TRY(strake_cl_window_new_array(w, &w->array[k], error));
    }
    STRAKE_TRY(strake_cl_new_buffer(kernels, sizeof(cl_int), CL_MEM_READ_WRITE, &w->found, error));
    STRAKE_TRY(strake_cl_reduce_create(w, error));
cleanup:
    return status;
}

void strake_cl_window_release(strake_cl_window *w)
{
    strake_cl_reduce_release(w);
    for (int k = 0; k < w->arrays; k++) {
        strake_cl_release_buffer(w->kernels, &w->array[k]);
    }
    for (int k = 0; k < w->states; k++) {
        strake_cl_release_buffer(w->kernels, &w->state[k].buffer[0]);
        strake_cl_release_buffer(w->kernels, &w->state[k].buffer[1]);
    }
    if (w->kernels != NULL) {
        strake_cl_release_buffer(w->kernels, &w->together.all[0]);
        strake_cl_release_buffer(w->kernels, &w->together.all[1]);
        strake_cl_release_buffer(w->kernels, &w->found);
    }
}

strake_status strake_cl_window_pairs(const strake_cl_window *w, int count, const int64_t *to,
                                     const int64_t *from, strake_cl_pairs *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t first = strake_cl_window_place(w, 0);
    const size_t bytes = (size_t)(2 * count) * sizeof(cl_int);
    cl_int *list = NULL;
    out->count = count;
    if (count == 0) {
        return STRAKE_OK;
    }
    list = malloc(bytes);
    STRAKE_CHECK(list != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning ghost slabs");
    for (int k = 0; k < count; k++) {
        list[2 * k] = (cl_int)(to[k] + first);
        list[2 * k + 1] = (cl_int)(from[k] + first);
    }
    if (out->room < count) {
        strake_cl_release_buffer(w->kernels, &out->list);
        out->room = 0;
        STRAKE_TRY(strake_cl_new_buffer(w->kernels, bytes, CL_MEM_READ_ONLY, &out->list, error));
        out->room = count;
    }
    STRAKE_CL("clEnqueueWriteBuffer",
              w->kernels->cl->clEnqueueWriteBuffer(w->queue, out->list, CL_TRUE, 0, bytes, list, 0,
                                                   NULL, NULL),
              error, w->kernels->device);
cleanup:
    free(list);
    return status;
}

bool strake_cl_window_needs(const strake_cl_window *w, int value)
{
    return w->slot[value] >= 0 && w->kernels->graph->value[value].stage < 0;
}
