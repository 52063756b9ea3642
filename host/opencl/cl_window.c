/* Arrays of slabs on a device, what kernels do with them, and what their values are reduced to. */
#include "opencl/cl_window.h"

#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "engine/graph.h"
#include "model/rounds.h"
#include "opencl/cl_plan.h"

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

/* A buffer is released: what kernels were passed is to be passed again. */
static void cl_kernels_forget(const strake_cl_kernels *s)
{
    if (s->passed != NULL) {
        memset(s->passed, 0, (size_t)s->kernels * sizeof *s->passed);
    }
    if (s->tiles != NULL) {
        cl_kernels_forget(s->tiles);
    }
}

strake_status strake_cl_new_zeros(const strake_cl_window *w, size_t bytes, cl_mem *out,
                                  strake_error *error)
{
    const cl_int zero = 0;
    strake_status status = strake_cl_new_buffer(w->kernels, bytes, CL_MEM_READ_WRITE, out, error);
    if (status == STRAKE_OK) {
        status = strake_cl_fill(&w->kernels->filler, w->queue, *out, &zero, sizeof zero, 0, bytes,
                                error);
    }
    return status;
}

void strake_cl_release_buffer(const strake_cl_kernels *kernels, cl_mem *buffer)
{
    if (*buffer != NULL) {
        cl_kernels_forget(kernels);
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

enum {
    MOST_ITEMS = 1024,
    FIRST_ROOM = 1024, /* groups */
    MOST_LEFT =
        1024, /* groups, each of which reads a number of each: beyond that a launch is faster */
    MOST_READ = 1024, /* numbers that the host takes as they are: likewise */
    READ_BYTES = MOST_READ * sizeof(double)
};

/* Makes the kernel and buffers of a graph's reductions. @return STRAKE_ERR_DEVICE */
static strake_status create_reductions(strake_cl_window *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_kernels *kernels = w->kernels;
    const size_t size = (size_t)w->layout.element_size;
    if (kernels->graph->reductions == 0) {
        return STRAKE_OK;
    }
    w->reducer = kernels->cl->clCreateKernel(kernels->program, "reduce_groups", &code);
    STRAKE_CL("reduce_groups", code, error, kernels->device);
    for (int n = 0; n < kernels->graph->reductions; n++) {
        strake_cl_reduced *const r = &w->reduced[n];
        STRAKE_TRY(strake_cl_new_buffer(kernels, size, CL_MEM_READ_WRITE, &r->least, error));
        for (int turn = 0; turn < 2; turn++) {
            STRAKE_TRY(strake_cl_new_buffer(kernels, FIRST_ROOM * size, CL_MEM_READ_WRITE,
                                            &r->partial[turn], error));
            r->room[turn] = FIRST_ROOM;
        }
        r->number = aligned_alloc(STRAKE_CL_PIN_PAGE, READ_BYTES);
        STRAKE_CHECK(r->number != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory for what is brought down");
        /* A read into any other memory keeps the thread that asks for it. */
        r->pins = (strake_cl_pins){.cl = kernels->cl,
                                   .device = kernels->device,
                                   .context = kernels->context,
                                   .allowed = true};
        strake_cl_pins_add(&r->pins, r->number, READ_BYTES);
    }
cleanup:
    return status;
}

static void release_reductions(strake_cl_window *w)
{
    const strake_cl_kernels *kernels = w->kernels;
    if (w->reducer != NULL) {
        (void)kernels->cl->clReleaseKernel(w->reducer);
        w->reducer = NULL;
    }
    for (int n = 0; n < STRAKE_MAX_REDUCTIONS && kernels != NULL; n++) {
        strake_cl_release_buffer(kernels, &w->reduced[n].partial[0]);
        strake_cl_release_buffer(kernels, &w->reduced[n].partial[1]);
        strake_cl_release_buffer(kernels, &w->reduced[n].least);
        strake_cl_release_event(kernels->cl, &w->reduced[n].is_read);
        strake_cl_pins_release(&w->reduced[n].pins);
        free(w->reduced[n].number);
        w->reduced[n].number = NULL;
    }
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
    w->members = w->is_member ? 0 : kernels->options.members;
    w->apart = (strake_cl_window_array_bytes(w) + PART - 1) / PART * PART;
    STRAKE_TRY(joins ? join(w, error) : STRAKE_OK);
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next < 0) {
            continue;
        }
        STRAKE_CHECK(
            w->states < STRAKE_MAX_FIELDS_PER_STEP, error, STRAKE_ERR_STATE,
            "the case has more than %d state fields, which is the most on an OpenCL device; "
            "name fewer in output.fields, or run it on processors (--on cpu)",
            STRAKE_MAX_FIELDS_PER_STEP);
        strake_cl_state *state = &w->state[w->states++];
        state->input = v;
        state->output = graph->value[v].next;
        if (w->members > 0) {
            STRAKE_TRY(strake_cl_new_buffer(kernels, 2 * (size_t)w->members * w->apart,
                                            CL_MEM_READ_WRITE, &state->buffer[0], error));
            continue;
        }
        const bool joined = w->together.states > 0 && strake_ghosts_travel(graph, v);
        STRAKE_TRY(new_state(w, state, joined ? together : -1, error));
        together += joined ? 1 : 0;
    }
    w->arrays = strake_cl_window_slots(kernels, w->slot);
    for (int k = 0; k < w->arrays; k++) {
        STRAKE_TRY(w->members > 0 ? strake_cl_new_buffer(kernels, (size_t)w->members * w->apart,
                                                         CL_MEM_READ_WRITE, &w->array[k], error)
                                  : strake_cl_window_new_array(w, &w->array[k], error));
    }
    STRAKE_TRY(strake_cl_new_buffer(kernels, sizeof(cl_int), CL_MEM_READ_WRITE, &w->found, error));
    STRAKE_TRY(!w->is_member ? create_reductions(w, error) : STRAKE_OK);
cleanup:
    return status;
}

void strake_cl_window_release(strake_cl_window *w)
{
    release_reductions(w);
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

/* Array of a value in the running step: states by parity, everything else fixed. */
static cl_mem array_of(const strake_cl_window *w, int value)
{
    for (int k = 0; k < w->states; k++) {
        if (w->state[k].input == value) {
            return w->state[k].buffer[w->parity];
        }
        if (w->state[k].output == value) {
            return w->state[k].buffer[w->members > 0 ? 0 : 1 - w->parity];
        }
    }
    return w->array[w->slot[value]];
}

static const strake_cl_pairs no_pairs = {.count = 0};

/* Room for so many more groups; the numbers of earlier launches go along, once these are done. */
static strake_status grow(strake_cl_window *w, strake_cl_reduced *r, int64_t more,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    const size_t size = (size_t)w->layout.element_size;
    cl_mem *const partial = &r->partial[r->turn];
    cl_mem larger = NULL;
    if (r->groups + more <= r->room[r->turn]) {
        return STRAKE_OK;
    }
    r->room[r->turn] = 2 * (r->groups + more);
    STRAKE_TRY(strake_cl_new_buffer(kernels, (size_t)r->room[r->turn] * size, CL_MEM_READ_WRITE,
                                    &larger, error));
    if (r->groups > 0) {
        STRAKE_CL("clEnqueueCopyBuffer",
                  kernels->cl->clEnqueueCopyBuffer(
                      w->queue, *partial, larger, 0, 0, (size_t)r->groups * size,
                      w->beside != NULL ? 1 : 0, w->beside != NULL ? &w->beside : NULL, NULL),
                  error, kernels->device);
    }
    /* Commands that were enqueued keep it for as long as they need it. */
    strake_cl_release_buffer(kernels, partial);
    *partial = larger;
    larger = NULL;
cleanup:
    strake_cl_release_buffer(kernels, &larger);
    return status;
}

/* Passes where a launch of a kernel leaves the numbers of its groups, behind earlier ones. */
static strake_status pass_reduced(strake_cl_window *w, const strake_cl_kernel_plan *plan,
                                  const strake_cl_cut *cut, strake_cl_arguments *a,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t groups = (int64_t)(cut->groups[0] * cut->groups[1] * cut->groups[2]);
    for (int i = 0; i < plan->reductions; i++) {
        strake_cl_reduced *const r = &w->reduced[plan->reduction[i]];
        STRAKE_TRY(grow(w, r, groups, error));
        strake_cl_pass_buffer(a, r->partial[r->turn]);
        strake_cl_pass_int(a, r->groups);
        r->groups += groups;
    }
    if (plan->reductions > 0) {
        strake_cl_pass(a, cut->size[0] * cut->size[1] * (size_t)w->layout.element_size, NULL);
    }
cleanup:
    return status;
}

/* Passes these to such a launch, none where there are none, and the halves of the clock (cl/clock.cl). */
static void pass_left(strake_cl_window *w, strake_cl_arguments *a)
{
    strake_cl_reduced *const r = &w->reduced[0];
    strake_cl_pass_buffer(a, w->clock);
    strake_cl_pass_int(a, w->clock_turn);
    strake_cl_pass_buffer(a, r->partial[1 - r->turn]);
    strake_cl_pass_int(a, r->left);
    w->clock_turn = r->left > 0 ? 1 - w->clock_turn : w->clock_turn;
    r->left = 0;
}

/* Passes which members of a batch a launch computes, their constants, and how their arrays lie. */
static void pass_members(const strake_cl_window *w, strake_cl_arguments *a)
{
    if (w->members > 0) {
        strake_cl_pass_buffer(a, w->member);
        strake_cl_pass_buffer(a, w->numbers);
        strake_cl_pass_int(a, w->kernels->graph->values);
        strake_cl_pass_long(a, (int64_t)w->apart / w->layout.element_size);
        strake_cl_pass_buffer(a, w->order);
        strake_cl_pass_int(a, w->first);
    }
}

static strake_status run_kernel(strake_cl_window *w, const strake_cl_kernels *kernels, int k,
                                int64_t first, int64_t end, const strake_cl_pairs *pairs,
                                strake_error *error)
{
    const strake_graph *graph = kernels->graph;
    const strake_cl_kernel_plan *plan = &kernels->plan[k];
    const strake_layout *l = &w->layout;
    const int64_t cells[STRAKE_AXES] = {end - first, l->n[1], l->n[2]};
    int64_t extent[STRAKE_AXES];
    strake_status status = STRAKE_OK;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->kernel[k]);
    a.event = w->timer != NULL ? &w->timer[k] : NULL;
    a.passed = &kernels->passed[k];
    for (int i = 0; i < plan->inputs; i++) {
        const cl_mem array = array_of(w, plan->input[i]);
        strake_cl_pass_buffer(&a, array);
    }
    for (int i = 0; i < plan->outputs; i++) {
        if (!plan->only_reduced[i]) {
            const cl_mem array = array_of(w, plan->output[i]);
            strake_cl_pass_buffer(&a, array);
        }
    }
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        extent[axis] = cells[axis] + plan->lo[axis] + plan->hi[axis];
    }
    strake_cl_cut cut = strake_cl_groups_cut(kernels, k, extent);
    if (kernels->listed) {
        cut.groups[0] = (size_t)w->listing->groups;
        cut.groups[1] = 1;
    }
    if (w->members > 0) {
        cut.groups[2] = (size_t)w->launched;
    }
    STRAKE_TRY(pass_reduced(w, plan, &cut, &a, error));
    for (int v = 0; v < graph->values && w->members == 0; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live) {
            strake_cl_pass_real(&a, graph->precision, strake_graph_number(graph, v, w->scalar));
        }
    }
    if (graph->scalars > 0) {
        strake_cl_pass_buffer(&a, w->told);
    }
    if (kernels->options.hears && !plan->is_static) {
        pass_left(w, &a);
    }
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        strake_cl_pass_int(&a, cells[axis]);
    }
    if (strake_cl_plan_fills(graph, plan)) {
        strake_cl_pass_int(&a, strake_cl_window_place(w, first));
        strake_cl_pass_int(&a, l->lo[2]);
        strake_cl_pass_int(&a, l->hi[2]);
        strake_cl_pass_int(&a,
                           l->boundary[0] == STRAKE_POLAR ? STRAKE_POLAR : (int64_t)l->boundary[2]);
        strake_cl_pass_buffer(&a, pairs->list);
        strake_cl_pass_int(&a, pairs->count);
    }
    if (kernels->listed) {
        strake_cl_pass_buffer(&a, w->listing->state);
        strake_cl_pass_buffer(&a, w->listing->lists);
        strake_cl_pass_int(&a, w->listing->room);
        strake_cl_pass_int(&a, w->listing->across);
    }
    if (plan->marches) {
        strake_cl_pass_int(&a, cut.rows);
    }
    pass_members(w, &a);
    status = strake_cl_launch(kernels, w->queue, plan->name, &a, cut.size[0], cut.size[1],
                              cut.groups[0] * cut.size[0], cut.groups[1] * cut.size[1],
                              cut.groups[2], error);
cleanup:
    return status;
}

static strake_status run_kernels(strake_cl_window *w, bool is_static, int64_t first, int64_t end,
                                 const strake_cl_pairs *pairs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < w->kernels->kernels && first < end; k++) {
        if (w->kernels->plan[k].is_static == is_static) {
            STRAKE_TRY(run_kernel(w, w->kernels, k, first, end, pairs, error));
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

/* The first arguments of kernels on slabs [first, end) of an array: from column @p column on, lines of axis 1. */
static strake_cl_arguments begin(const strake_cl_window *w, cl_kernel kernel, cl_mem array,
                                 int64_t first, int64_t end, int column)
{
    const strake_layout *l = &w->layout;
    strake_cl_arguments a = strake_cl_arguments_begin(w->kernels->cl, kernel);
    strake_cl_pass_buffer(&a, array);
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab + column);
    strake_cl_pass_int(&a, end - first);
    strake_cl_pass_int(&a, l->n[1]);
    return a;
}

/*
 * Launches one of the kernels of cl/state.cl over so many work-items. Groups are the same whatever groups the
 * problem's kernels have, so that compilers that compile for a size of groups do so once.
 */
static strake_status launch_common(const strake_cl_window *w, const char *name,
                                   const strake_cl_arguments *a, size_t x, size_t y, size_t z,
                                   strake_error *error)
{
    const size_t limit = w->kernels->device->max_work_group;
    return strake_cl_launch(w->kernels, w->queue, name, a, limit < 64 ? 1 : 64, limit < 256 ? 1 : 4,
                            x, y, z, error);
}

static strake_status fill_columns(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                  strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const strake_layout *l = &w->layout;
    const size_t limit = kernels->device->max_work_group;
    const int64_t slabs = end - first;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->columns);
    /* A few columns and many lines: tall groups, of lines that follow each other in memory. */
    const bool flat = l->n[1] == 1; /* then a slab is a line */
    const int64_t lines = flat ? slabs : l->n[1], planes = flat ? 1 : slabs;
    strake_cl_pass_buffer(&a, array);
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, flat ? l->slab : l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab);
    strake_cl_pass_int(&a, lines);
    strake_cl_pass_int(&a, l->n[2]);
    strake_cl_pass_int(&a, l->lo[2]);
    strake_cl_pass_int(&a, l->hi[2]);
    strake_cl_pass_int(&a, (int64_t)l->boundary[2]);
    return strake_cl_launch(kernels, w->queue, "ghost_columns", &a, limit < 8 ? 1 : 8,
                            limit < 64 ? 1 : 8, (size_t)l->lo[2] + (size_t)l->hi[2], (size_t)lines,
                            (size_t)planes, error);
}

static strake_status fill_lines(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const strake_layout *l = &w->layout;
    strake_cl_arguments a = begin(w, kernels->lines, array, first, end, -l->lo[2]);
    strake_cl_pass_int(&a, l->lo[1]);
    strake_cl_pass_int(&a, l->hi[1]);
    strake_cl_pass_int(&a, (int64_t)l->boundary[1]);
    strake_cl_pass_int(&a, l->n[2]);
    strake_cl_pass_int(&a, l->lo[2]);
    return launch_common(w, "ghost_lines", &a, (size_t)l->pitch,
                         (size_t)l->lo[1] + (size_t)l->hi[1], (size_t)(end - first), error);
}

/* Those of the pairs whose source is one of slabs [first, end). */
static strake_status fill_slabs(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                const strake_cl_pairs *pairs, strake_error *error)
{
    const strake_cl_kernels *kernels = w->kernels;
    const int64_t slab = w->layout.slab;
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, kernels->slabs);
    strake_cl_pass_buffer(&a, array);
    strake_cl_pass_long(&a, slab);
    strake_cl_pass_long(&a, w->layout.start);
    strake_cl_pass_buffer(&a, pairs->list);
    strake_cl_pass_int(&a, pairs->count);
    strake_cl_pass_int(&a, strake_cl_window_place(w, first));
    strake_cl_pass_int(&a, strake_cl_window_place(w, end));
    strake_cl_pass_int(&a, (int64_t)w->layout.boundary[0]);
    strake_cl_pass_int(&a, w->layout.n[2]);
    strake_cl_pass_int(&a, w->layout.lo[2]);
    return launch_common(w, "ghost_slabs", &a, (size_t)slab, (size_t)pairs->count, 1, error);
}

/* Whether one launch fills them: on a GPU that costs less than three, and on processors a third more than these. */
static bool has_shell(const strake_cl_window *w)
{
    const strake_cl_kernels *const k = w->kernels;
    const strake_layout *const l = &w->layout;
    return (strake_cl_device_is_gpu(k->device) || k->options.run.fusion == STRAKE_CL_FUSION_TILE) &&
           !k->flat && l->lo[1] + l->hi[1] + l->lo[2] + l->hi[2] > 0;
}

/* All ghosts of three dimensions by one launch. */
static strake_status fill_shell(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                                const strake_cl_pairs *pairs, int64_t from, int64_t to,
                                strake_error *error)
{
    enum { ITEMS = 128 };
    const strake_layout *l = &w->layout;
    const cl_int lo[2] = {l->lo[1], l->lo[2]}, hi[2] = {l->hi[1], l->hi[2]};
    const cl_int boundary[2] = {(cl_int)l->boundary[1], (cl_int)l->boundary[2]};
    const int64_t line = l->n[2] + lo[1] + hi[1], ends = lo[0] + hi[0];
    const int64_t slabs = end > first ? end - first : 0;
    const int64_t each = l->n[1] * (lo[1] + hi[1]) + ends * line;
    const int64_t rows = each > 0 ? ((l->n[1] + ends) * line + each - 1) / each : 1;
    const int64_t launched = slabs + pairs->count * rows;
    const size_t most = w->kernels->device->max_work_group;
    strake_cl_arguments a = strake_cl_arguments_begin(w->kernels->cl, w->kernels->shell);
    if (each * launched == 0) {
        return STRAKE_OK;
    }
    strake_cl_pass_buffer(&a, array);
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab);
    strake_cl_pass_long(&a, w->origin - strake_cl_window_place(w, 0) * l->slab);
    strake_cl_pass_int(&a, slabs);
    strake_cl_pass_int(&a, rows);
    strake_cl_pass_int(&a, l->n[1]);
    strake_cl_pass_int(&a, l->n[2]);
    strake_cl_pass(&a, sizeof lo, lo);
    strake_cl_pass(&a, sizeof hi, hi);
    strake_cl_pass(&a, sizeof boundary, boundary);
    strake_cl_pass_buffer(&a, pairs->list);
    strake_cl_pass_int(&a, strake_cl_window_place(w, from));
    strake_cl_pass_int(&a, strake_cl_window_place(w, to));
    return strake_cl_launch(w->kernels, w->queue, "ghost_shell", &a, most < ITEMS ? most : ITEMS, 1,
                            (size_t)each, (size_t)launched, 1, error);
}

/* Of slabs [first, end) axis by axis, then the pairs with a source in [from, to). */
static strake_status fill_axes(strake_cl_window *w, cl_mem array, int64_t first, int64_t end,
                               const strake_cl_pairs *pairs, int64_t from, int64_t to,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &w->layout;
    if (has_shell(w)) {
        return fill_shell(w, array, first, end, pairs, from, to, error);
    }
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

strake_status strake_cl_window_upload(const strake_cl_window *w, const strake_cl_pins *pins,
                                      cl_command_queue queue, cl_mem array,
                                      const strake_layout *host, const void *from, int64_t base,
                                      strake_range slabs, bool by_map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_boundary boundary = host->boundary[0];
    const int64_t n = host->n[0];
    for (int64_t slab = slabs.first, run = 0; slab < slabs.end; slab += run) {
        const int64_t source = by_map ? strake_ghost_source(boundary, n, slab) : slab;
        run = by_map ? 1 : slabs.end - slab;
        while (slab + run < slabs.end &&
               strake_ghost_source(boundary, n, slab + run) == source + run) {
            run++;
        }
        STRAKE_TRY(strake_cl_pins_write(pins, queue, array, strake_cl_window_offset(w, slab - base),
                                        (size_t)run * strake_cl_window_slab_bytes(w),
                                        (const char *)from + strake_layout_offset(host, source),
                                        NULL, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_window_step(strake_cl_window *w, int64_t first, int64_t end,
                                    const strake_cl_pairs *pairs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_pairs *list = pairs != NULL ? pairs : &no_pairs;
    if (w->members == 0 && w->listing != NULL && w->listing->slabs.first == first &&
        w->listing->slabs.end == end) {
        return run_kernel(w, w->kernels->tiles, 0, first, end, list, error);
    }
    STRAKE_TRY(run_kernels(w, false, first, end, list, error));
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
        strake_cl_arguments a = begin(w, kernels->non_finite, array, first, end, 0);
        strake_cl_pass_int(&a, l->n[2]);
        strake_cl_pass_buffer(&a, w->found);
        STRAKE_TRY(launch_common(w, "find_non_finite", &a, (size_t)l->n[2], (size_t)(end - first),
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

void strake_cl_reduce_forget(strake_cl_window *w)
{
    for (int n = 0; n < w->kernels->graph->reductions; n++) {
        w->reduced[n].groups = 0;
    }
}

size_t strake_cl_reduce_pass_numbers(strake_cl_window *w, int n, strake_cl_arguments *a)
{
    strake_cl_reduced *const r = &w->reduced[n];
    const strake_reduced_kind kind = w->kernels->graph->reduction[n].kind;
    const int64_t all = r->left > 0 ? r->left : r->groups;
    const int64_t count = w->members > 0 ? all / w->launched : all;
    size_t items = 1;
    while (items < MOST_ITEMS && items < (size_t)count &&
           2 * items <= w->kernels->device->max_work_group) {
        items *= 2;
    }
    strake_cl_pass_buffer(a, r->partial[r->left > 0 ? 1 - r->turn : r->turn]);
    strake_cl_pass_int(a, count);
    strake_cl_pass_real(a, w->kernels->graph->precision, strake_reduced_start(kind));
    strake_cl_pass_int(a, kind == STRAKE_MAXIMUM);
    strake_cl_pass(a, items * (size_t)w->layout.element_size, NULL);
    r->groups = 0;
    r->left = 0;
    return items;
}

bool strake_cl_reduce_leave(strake_cl_window *w)
{
    strake_cl_reduced *const r = &w->reduced[0];
    if (r->groups > MOST_LEFT) {
        return false;
    }
    r->left = r->groups;
    r->turn = 1 - r->turn;
    strake_cl_reduce_forget(w);
    return true;
}

strake_status strake_cl_reduce(strake_cl_window *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    for (int n = 0; n < kernels->graph->reductions; n++) {
        strake_cl_reduced *const r = &w->reduced[n];
        r->reads = r->groups <= MOST_READ ? r->groups : 1;
        if (r->groups <= MOST_READ) {
            continue;
        }
        strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, w->reducer);
        const size_t items = strake_cl_reduce_pass_numbers(w, n, &a);
        strake_cl_pass_buffer(&a, r->least);
        STRAKE_TRY(
            strake_cl_launch(kernels, w->queue, "reduce_groups", &a, items, 1, items, 1, 1, error));
    }
    for (int n = 0; n < kernels->graph->reductions; n++) {
        strake_cl_reduced *const r = &w->reduced[n];
        strake_cl_release_event(kernels->cl, &r->is_read);
        r->pins.record = kernels->record;
        STRAKE_TRY(r->reads > 0
                       ? strake_cl_pins_read(&r->pins, w->queue,
                                             r->groups > 0 ? r->partial[r->turn] : r->least, 0,
                                             (size_t)r->reads * (size_t)w->layout.element_size,
                                             r->number, &r->is_read, error)
                       : STRAKE_OK);
        r->groups = 0;
    }
cleanup:
    return status;
}

strake_status strake_cl_reduce_end(strake_cl_window *w, strake_cl_waiter *waiter, double *reduced,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    for (int n = 0; n < kernels->graph->reductions; n++) {
        strake_cl_reduced *const r = &w->reduced[n];
        const strake_reduced_kind kind = kernels->graph->reduction[n].kind;
        STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, waiter, &r->is_read, error));
        reduced[n] = strake_reduced_start(kind);
        for (int64_t k = 0; k < r->reads; k++) {
            strake_reduced_add(kind, &reduced[n],
                               strake_element_get(r->number, w->layout.element_size, k));
        }
    }
cleanup:
    return status;
}
