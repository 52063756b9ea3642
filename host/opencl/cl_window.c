#include "opencl/cl_window.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/cl_facts.h"
#include "opencl/cl_groups.h"
#include "opencl/cl_guard.h"

/* Slabs of canaries at either end of every array. */
enum { GUARD = 1 };

size_t strake_cl_window_slab_bytes(const strake_cl_window *w)
{
    return (size_t)(w->layout.slab * w->layout.element_size);
}

/* Number of a slab in every array. */
static int64_t array_slab(const strake_cl_window *w, int64_t slab)
{
    return slab + w->lead + w->layout.lo[0];
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

/*
 * Gives every value that kernels read its array. Intermediates share one once the kernel of the last
 * reader has run (one in-order queue).
 * @return number of arrays
 */
static int assign_arrays(const strake_cl_kernels *kernels, int slot[STRAKE_MAX_VALUES])
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
            if (value->is_output) {
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
    uint64_t arrays = (uint64_t)assign_arrays(kernels, slot);
    for (int v = 0; v < kernels->graph->values; v++) {
        arrays += kernels->graph->value[v].next >= 0 ? 2 : 0;
    }
    find_margins(kernels, layout, &lead, &tail);
    *largest = array_bytes(layout, lead, tail);
    return arrays * *largest;
}

/* Zeros, so that what lies beyond the layout is defined. */
static strake_status new_array(strake_cl_window *w, cl_mem *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_int zero = 0;
    const size_t bytes = (size_t)array_bytes(&w->layout, w->lead, w->tail);
    STRAKE_TRY(strake_cl_new_buffer(w->kernels, bytes, CL_MEM_READ_WRITE, out, error));
    STRAKE_TRY(
        strake_cl_fill(&w->kernels->filler, w->queue, *out, &zero, sizeof zero, 0, bytes, error));
    STRAKE_TRY(strake_cl_guard_fill(&w->kernels->filler, w->queue, *out, bytes,
                                    GUARD * strake_cl_window_slab_bytes(w), error));
cleanup:
    return status;
}

static strake_status check_array(const strake_cl_window *w, cl_mem array, bool *intact,
                                 strake_error *error)
{
    return strake_cl_guard_check(w->kernels->cl, w->kernels->device, w->queue, array,
                                 (size_t)array_bytes(&w->layout, w->lead, w->tail),
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
                                      const strake_layout *layout, cl_command_queue queue,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_graph *graph = kernels->graph;
    w->kernels = kernels;
    w->queue = queue;
    w->layout = *layout;
    STRAKE_CHECK(kernels->options.pitch == 0 || kernels->options.pitch == layout->pitch, error,
                 STRAKE_ERR_STATE, "kernels for rows of %lld elements meet rows of %lld",
                 (long long)kernels->options.pitch, (long long)layout->pitch);
    find_margins(kernels, layout, &w->lead, &w->tail);
    w->origin = layout->origin + w->lead * layout->slab;
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next < 0) {
            continue;
        }
        STRAKE_CHECK(w->states < STRAKE_MAX_FIELDS_PER_STEP, error, STRAKE_ERR_STATE,
                     "too many state fields in one problem");
        strake_cl_state *state = &w->state[w->states++];
        state->input = v;
        state->output = graph->value[v].next;
        for (int p = 0; p < 2; p++) {
            STRAKE_TRY(new_array(w, &state->buffer[p], error));
        }
    }
    w->arrays = assign_arrays(kernels, w->slot);
    for (int k = 0; k < w->arrays; k++) {
        STRAKE_TRY(new_array(w, &w->array[k], error));
    }
    STRAKE_TRY(strake_cl_new_buffer(kernels, sizeof(cl_int), CL_MEM_READ_WRITE, &w->found, error));
cleanup:
    return status;
}

void strake_cl_window_release(strake_cl_window *w)
{
    for (int k = 0; k < w->arrays; k++) {
        strake_cl_release_buffer(w->kernels, &w->array[k]);
    }
    for (int k = 0; k < w->states; k++) {
        strake_cl_release_buffer(w->kernels, &w->state[k].buffer[0]);
        strake_cl_release_buffer(w->kernels, &w->state[k].buffer[1]);
    }
    if (w->kernels != NULL) {
        strake_cl_release_buffer(w->kernels, &w->found);
    }
}

size_t strake_cl_window_array_bytes(const strake_cl_window *w)
{
    return (size_t)array_bytes(&w->layout, w->lead, w->tail);
}

strake_status strake_cl_window_pairs(const strake_cl_window *w, int count, const int64_t *to,
                                     const int64_t *from, strake_cl_pairs *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t first = array_slab(w, 0);
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

/* Array of a value in the running step: states by parity, everything else fixed. */
static cl_mem array_of(const strake_cl_window *w, int value)
{
    for (int k = 0; k < w->states; k++) {
        if (w->state[k].input == value) {
            return w->state[k].buffer[w->parity];
        }
        if (w->state[k].output == value) {
            return w->state[k].buffer[1 - w->parity];
        }
    }
    return w->array[w->slot[value]];
}

static const strake_cl_pairs no_pairs = {.count = 0};

static strake_status run_kernel(strake_cl_window *w, int k, int64_t first, int64_t end,
                                const strake_cl_pairs *pairs, strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const strake_graph *graph = kernels->graph;
    const strake_cl_kernel_plan *plan = &kernels->plan[k];
    const strake_layout *l = &w->layout;
    const int64_t cells[STRAKE_AXES] = {end - first, l->n[1], l->n[2]};
    int64_t extent[STRAKE_AXES];
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->kernel[k]);
    a.event = w->timer != NULL ? &w->timer[k] : NULL;
    for (int i = 0; i < plan->inputs; i++) {
        const cl_mem array = array_of(w, plan->input[i]);
        strake_cl_pass(&a, sizeof array, &array);
    }
    for (int i = 0; i < plan->outputs; i++) {
        const cl_mem array = array_of(w, plan->output[i]);
        strake_cl_pass(&a, sizeof array, &array);
    }
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live) {
            strake_cl_pass_real(&a, graph->precision, graph->value[v].constant);
        }
    }
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        strake_cl_pass_int(&a, cells[axis]);
        extent[axis] = cells[axis] + plan->lo[axis] + plan->hi[axis];
    }
    if (strake_cl_plan_fills(graph, plan)) {
        strake_cl_pass_int(&a, array_slab(w, first));
        strake_cl_pass_int(&a, l->lo[2]);
        strake_cl_pass_int(&a, l->hi[2]);
        strake_cl_pass_int(&a, (int64_t)l->boundary[2]);
        strake_cl_pass(&a, sizeof pairs->list, &pairs->list);
        strake_cl_pass_int(&a, pairs->count);
    }
    return strake_cl_launch_plan(kernels, w->queue, k, &a, extent, error);
}

static strake_status run_kernels(strake_cl_window *w, bool is_static, int64_t first, int64_t end,
                                 const strake_cl_pairs *pairs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < w->kernels->kernels && first < end; k++) {
        if (w->kernels->plan[k].is_static == is_static) {
            STRAKE_TRY(run_kernel(w, k, first, end, pairs, error));
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_window_static(strake_cl_window *w, int64_t first, int64_t end,
                                      strake_error *error)
{
    return run_kernels(w, true, first, end, &no_pairs, error);
}

void strake_cl_window_swap(strake_cl_window *w)
{
    w->parity = 1 - w->parity;
}

static strake_status fill_columns(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                  strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const strake_layout *l = &w->layout;
    const size_t limit = kernels->device->max_work_group;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->columns);
    strake_cl_pass(&a, sizeof array, &array);
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab);
    strake_cl_pass_int(&a, end - first);
    strake_cl_pass_int(&a, l->n[1]);
    strake_cl_pass_int(&a, l->n[2]);
    strake_cl_pass_int(&a, l->lo[2]);
    strake_cl_pass_int(&a, l->hi[2]);
    strake_cl_pass_int(&a, (int64_t)l->boundary[2]);
    /* A few columns and many rows: tall groups. */
    return strake_cl_launch(kernels, w->queue, "ghost_columns", &a, limit < 8 ? 1 : 8,
                            limit < 64 ? 1 : 8, (size_t)l->lo[2] + (size_t)l->hi[2],
                            (size_t)(end - first), (size_t)l->n[1], error);
}

static strake_status fill_lines(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const strake_layout *l = &w->layout;
    const int64_t origin = w->origin + first * l->slab;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->lines);
    strake_cl_pass(&a, sizeof array, &array);
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, origin - l->lo[2]);
    strake_cl_pass_int(&a, end - first);
    strake_cl_pass_int(&a, l->n[1]);
    strake_cl_pass_int(&a, l->lo[1]);
    strake_cl_pass_int(&a, l->hi[1]);
    strake_cl_pass_int(&a, (int64_t)l->boundary[1]);
    return strake_cl_launch(kernels, w->queue, "ghost_lines", &a, kernels->width, kernels->height,
                            (size_t)l->pitch, (size_t)l->lo[1] + (size_t)l->hi[1],
                            (size_t)(end - first), error);
}

/* Those of the pairs whose source is one of slabs [first, end). */
static strake_status fill_slabs(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                const strake_cl_pairs *pairs, strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const int64_t slab = w->layout.slab;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->slabs);
    strake_cl_pass(&a, sizeof array, &array);
    strake_cl_pass_long(&a, slab);
    strake_cl_pass_long(&a, w->layout.start);
    strake_cl_pass(&a, sizeof pairs->list, &pairs->list);
    strake_cl_pass_int(&a, pairs->count);
    strake_cl_pass_int(&a, array_slab(w, first));
    strake_cl_pass_int(&a, array_slab(w, end));
    return strake_cl_launch(kernels, w->queue, "ghost_slabs", &a, kernels->width, kernels->height,
                            (size_t)slab, (size_t)pairs->count, 1, error);
}

/* Of slabs [first, end) axis by axis, then the pairs with a source in [from, to). */
static strake_status fill_axes(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                               const strake_cl_pairs *pairs, int64_t from, int64_t to,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &w->layout;
    if (l->lo[2] + l->hi[2] > 0 && first < end) {
        STRAKE_TRY(fill_columns(w, array, first, end, error));
    }
    if (l->lo[1] + l->hi[1] > 0 && first < end) {
        STRAKE_TRY(fill_lines(w, array, first, end, error));
    }
    if (pairs->count > 0) {
        STRAKE_TRY(fill_slabs(w, array, from, to, pairs, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_window_fill(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                    const strake_cl_pairs *pairs, strake_error *error)
{
    return fill_axes(w, array, first, end, pairs != NULL ? pairs : &no_pairs,
                     -w->layout.lo[0] - w->lead, INT32_MAX / 2, error);
}

strake_status strake_cl_window_step(strake_cl_window *w, int64_t first, int64_t end,
                                    const strake_cl_pairs *pairs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_pairs *list = pairs != NULL ? pairs : &no_pairs;
    for (int k = 0; k <= w->kernels->repeats; k++) {
        STRAKE_TRY(run_kernels(w, false, first, end, list, error));
    }
    for (int k = 0; k < w->states && !w->kernels->flat; k++) {
        STRAKE_TRY(
            fill_axes(w, w->state[k].buffer[1 - w->parity], first, end, list, first, end, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_window_forget(strake_cl_window *w, strake_error *error)
{
    static const cl_int none = 0; /* read when the command runs */
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    STRAKE_CL("clEnqueueWriteBuffer",
              kernels->cl->clEnqueueWriteBuffer(w->queue, w->found, CL_FALSE, 0, sizeof none, &none,
                                                0, NULL, NULL),
              error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_window_search(strake_cl_window *w, int64_t first, int64_t end,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    const strake_layout *l = &w->layout;
    for (int k = 0; k < w->states; k++) {
        const cl_mem array = w->state[k].buffer[w->parity];
        strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->non_finite);
        strake_cl_pass(&a, sizeof array, &array);
        strake_cl_pass_long(&a, l->slab);
        strake_cl_pass_long(&a, l->pitch);
        strake_cl_pass_long(&a, w->origin + first * l->slab);
        strake_cl_pass_int(&a, end - first);
        strake_cl_pass_int(&a, l->n[1]);
        strake_cl_pass_int(&a, l->n[2]);
        strake_cl_pass(&a, sizeof w->found, &w->found);
        STRAKE_TRY(strake_cl_launch(kernels, w->queue, "find_non_finite", &a, kernels->width,
                                    kernels->height, (size_t)l->n[2], (size_t)(end - first),
                                    (size_t)l->n[1], error));
    }
cleanup:
    return status;
}

strake_status strake_cl_window_tell(strake_cl_window *w, cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    STRAKE_CL("clEnqueueReadBuffer",
              kernels->cl->clEnqueueReadBuffer(w->queue, w->found, CL_FALSE, 0,
                                               sizeof w->non_finite, &w->non_finite, 0, NULL,
                                               event),
              error, kernels->device);
    STRAKE_CL("clFlush", kernels->cl->clFlush(w->queue), error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_window_look(strake_cl_window *w, int64_t first, int64_t end,
                                    cl_event *event, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_window_forget(w, error));
    STRAKE_TRY(strake_cl_window_search(w, first, end, error));
    STRAKE_TRY(strake_cl_window_tell(w, event, error));
cleanup:
    return status;
}
