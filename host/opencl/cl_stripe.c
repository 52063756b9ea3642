#include "opencl/cl_stripe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "opencl/cl_generate.h"
#include "opencl/cl_guard.h"

enum {
    MAX_KERNELS = STRAKE_CL_MOST_KERNELS,
    MAX_BORDERS = 16,
    GUARD = 1,          /* slabs of canaries at either end of every array */
    DEFAULT_WIDTH = 64, /* of point kernels */
    DEFAULT_HEIGHT = 4,
    DEFAULT_MARCH_WIDTH = 128,
    MARCH_ROWS_LEAST = 6,     /* fewer rows per group: the rows computed again would dominate */
    MARCH_GROUPS_PER_UNIT = 8 /* assumed where neither device nor compiler tells */
};

/* One pinned buffer, mapped for its whole life. */
typedef struct pinned {
    cl_mem buffer;
    char *data;
} pinned;

/* The exchange of one state: border slabs out, ghost slabs in. */
typedef struct state {
    int input, output; /* value indices */
    cl_mem buffer[2];  /* current: buffer[parity] */
    pinned out, in;
} state;

/* A ghost slab whose source belongs to another stripe. */
typedef struct ghost {
    int64_t local;  /* slab of this stripe's layout, < 0 or >= n */
    int64_t source; /* slab of the grid */
} ghost;

struct strake_cl_stripe {
    const strake_cl *cl;
    const strake_cl_device *device;
    const strake_graph *graph;
    const strake_layout *host;
    strake_layout layout; /* of this stripe */
    strake_range range;
    bool alone;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    int64_t lead, tail; /* slabs of every buffer beyond the layout's, read but never used */
    int64_t origin;     /* of cell [0,0,0] in a buffer */
    bool flat;          /* axis 1 has one cell */
    strake_cl_options options;
    int kernels;
    strake_cl_kernel_plan plan[MAX_KERNELS];
    cl_kernel kernel[MAX_KERNELS];
    size_t kernel_limit[MAX_KERNELS]; /* work-items per group */
    int resident[MAX_KERNELS];        /* marching groups per compute unit */
    cl_kernel columns, lines, slabs, cells, non_finite;
    size_t width, height; /* of point kernels */
    size_t march_width;
    int march_rows; /* 0: from the stripe's size */
    int registers;  /* 0: the compiler's choice */
    cl_mem buffer
        [STRAKE_MAX_VALUES]; /* static inputs and intermediates; shared where lifetimes allow */
    bool owns[STRAKE_MAX_VALUES]; /* whether buffer[v] is released through v */
    int states;
    state state[STRAKE_MAX_FIELDS_PER_STEP];
    int parity; /* states live in buffer[parity] */
    int borders;
    strake_range border[MAX_BORDERS];
    int ghosts;
    ghost *ghost;
    int own_ghosts; /* pairs (to, from) in own_pairs, slabs counted from the start of the buffer */
    cl_mem own_pairs;
    cl_mem found;
};

static size_t slab_bytes(const strake_cl_stripe *s)
{
    return (size_t)(s->layout.slab * s->layout.element_size);
}

/* Byte offset of a slab in a buffer of this stripe, and in an array of the host. */
static size_t device_offset(const strake_cl_stripe *s, int64_t slab)
{
    return (size_t)(slab + s->lead + s->layout.lo[0]) * slab_bytes(s);
}

/* Bytes of one array on the device. */
static size_t array_bytes(const strake_cl_stripe *s)
{
    return (size_t)s->layout.elements * (size_t)s->layout.element_size +
           (size_t)(s->lead + s->tail) * slab_bytes(s);
}

static size_t host_offset(const strake_cl_stripe *s, int64_t slab)
{
    return (size_t)(slab + s->host->lo[0]) * slab_bytes(s);
}

static strake_status new_buffer(strake_cl_stripe *s, size_t bytes, cl_mem_flags flags, cl_mem *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    STRAKE_CHECK(
        bytes <= s->device->max_allocation, error, STRAKE_ERR_DEVICE,
        "%s: an array of this stripe needs %.1f MiB but the device allows %.1f MiB for one "
        "buffer; give the device fewer rows with --split",
        s->device->name, (double)bytes / 1048576.0, (double)s->device->max_allocation / 1048576.0);
    *out = s->cl->clCreateBuffer(s->context, flags, bytes, NULL, &code);
    STRAKE_CL("clCreateBuffer", code, error, s->device);
cleanup:
    return status;
}

static strake_status new_pinned(strake_cl_stripe *s, size_t bytes, pinned *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    if (bytes == 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(
        new_buffer(s, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, &out->buffer, error));
    out->data = s->cl->clEnqueueMapBuffer(
        s->queue, out->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    STRAKE_CL("clEnqueueMapBuffer", code, error, s->device);
cleanup:
    return status;
}

/* An array of the stripe. Zeros, so that what lies beyond the layout is defined. */
static strake_status new_array(strake_cl_stripe *s, cl_mem *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_int zero = 0;
    STRAKE_TRY(new_buffer(s, array_bytes(s), CL_MEM_READ_WRITE, out, error));
    STRAKE_CL("clEnqueueFillBuffer",
              s->cl->clEnqueueFillBuffer(s->queue, *out, &zero, sizeof zero, 0, array_bytes(s), 0,
                                         NULL, NULL),
              error, s->device);
    STRAKE_TRY(strake_cl_guard_fill(s->cl, s->device, s->queue, *out, array_bytes(s),
                                    GUARD * slab_bytes(s), error));
cleanup:
    return status;
}

/* Last kernel that reads a value. */
static int last_use(const strake_cl_stripe *s, int value)
{
    int last = -1;
    for (int k = 0; k < s->kernels; k++) {
        for (int i = 0; i < s->plan[k].inputs; i++) {
            last = s->plan[k].input[i] == value ? k : last;
        }
    }
    return last;
}

/* Intermediates share buffers once the kernel of their last reader has run (one in-order queue). */
static strake_status allocate_values(strake_cl_stripe *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_graph *graph = s->graph;
    cl_mem free_list[STRAKE_MAX_VALUES];
    int free_count = 0;
    int free_at[STRAKE_MAX_VALUES]; /* kernel after which the value's buffer is free */
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        free_at[v] = -1;
        if (last_use(s, v) >= 0 && value->stage < 0 && value->next < 0) {
            STRAKE_TRY(new_array(s, &s->buffer[v], error));
            s->owns[v] = true;
        }
    }
    for (int k = 0; k < s->kernels; k++) {
        for (int v = 0; v < graph->values; v++) {
            if (free_at[v] >= 0 && free_at[v] < k) {
                free_list[free_count++] = s->buffer[v];
                free_at[v] = -1;
            }
        }
        for (int j = 0; j < s->plan[k].outputs; j++) {
            const int v = s->plan[k].output[j];
            const strake_value *value = &graph->value[v];
            if (value->is_output) {
                continue;
            }
            if (!value->is_static && free_count > 0) {
                s->buffer[v] = free_list[--free_count];
            } else {
                STRAKE_TRY(new_array(s, &s->buffer[v], error));
                s->owns[v] = true;
            }
            if (!value->is_static) {
                free_at[v] = last_use(s, v);
            }
        }
    }
cleanup:
    return status;
}

static strake_status allocate_states(strake_cl_stripe *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t border_slabs = 0;
    for (int b = 0; b < s->borders; b++) {
        border_slabs += s->border[b].end - s->border[b].first;
    }
    for (int v = 0; v < s->graph->values; v++) {
        if (s->graph->value[v].next < 0) {
            continue;
        }
        STRAKE_CHECK(s->states < STRAKE_MAX_FIELDS_PER_STEP, error, STRAKE_ERR_STATE,
                     "too many state fields in one problem");
        state *st = &s->state[s->states++];
        st->input = v;
        st->output = s->graph->value[v].next;
        for (int p = 0; p < 2; p++) {
            STRAKE_TRY(new_array(s, &st->buffer[p], error));
        }
        STRAKE_TRY(new_pinned(s, (size_t)border_slabs * slab_bytes(s), &st->out, error));
        STRAKE_TRY(new_pinned(s, (size_t)s->ghosts * slab_bytes(s), &st->in, error));
    }
cleanup:
    return status;
}

/* Which ghost slabs come from the host and which from this stripe itself. */
static strake_status plan_exchange(strake_cl_stripe *s, const strake_range *stripe, int stripes,
                                   int self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_layout *l = &s->layout;
    const int64_t grid = s->host->n[0];
    const size_t most = (size_t)l->lo[0] + (size_t)l->hi[0];
    int *pairs = calloc(2 * most + 2, sizeof *pairs);
    s->ghost = calloc(most + 1, sizeof *s->ghost);
    STRAKE_CHECK(pairs != NULL && s->ghost != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory planning the exchange");
    for (int64_t k = -l->lo[0]; k < l->n[0] + l->hi[0]; k++) {
        if (k >= 0 && k < l->n[0]) {
            continue;
        }
        const int64_t source = strake_ghost_source(s->host->boundary[0], grid, s->range.first + k);
        if (source >= s->range.first && source < s->range.end) {
            pairs[2 * s->own_ghosts] = (int)(k + l->lo[0] + s->lead);
            pairs[2 * s->own_ghosts + 1] = (int)(source - s->range.first + l->lo[0] + s->lead);
            s->own_ghosts++;
        } else {
            s->ghost[s->ghosts].local = k;
            s->ghost[s->ghosts].source = source;
            s->ghosts++;
        }
    }
    s->borders = strake_partition_border(stripe, stripes, self, grid, s->host->boundary[0],
                                         l->lo[0], l->hi[0], MAX_BORDERS, s->border);
    s->alone = s->ghosts == 0 && s->borders == 0;
    if (s->own_ghosts > 0) {
        const size_t bytes = (size_t)(2 * s->own_ghosts) * sizeof *pairs;
        STRAKE_TRY(new_buffer(s, bytes, CL_MEM_READ_ONLY, &s->own_pairs, error));
        code = s->cl->clEnqueueWriteBuffer(s->queue, s->own_pairs, CL_TRUE, 0, bytes, pairs, 0,
                                           NULL, NULL);
        STRAKE_CL("clEnqueueWriteBuffer", code, error, s->device);
    }
cleanup:
    free(pairs);
    return status;
}

static strake_status new_kernel(strake_cl_stripe *s, const char *name, cl_kernel *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    *out = s->cl->clCreateKernel(s->program, name, &code);
    STRAKE_CL(name, code, error, s->device);
cleanup:
    return status;
}

/* Writes a program to $STRAKE_DUMP_KERNELS/NAME_PRECISION_HASH.cl, if that is set. */
static strake_status dump_program(const strake_cl_stripe *s, const strake_problem *problem,
                                  const char *text, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *folder = getenv("STRAKE_DUMP_KERNELS");
    char *path = NULL;
    FILE *file = NULL;
    if (folder == NULL || folder[0] == '\0') {
        return STRAKE_OK;
    }
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, text, strlen(text));
    if (asprintf(&path, "%s/%s_%s_%016llx.cl", folder, problem->name,
                 s->graph->precision == STRAKE_DOUBLE ? "double" : "single",
                 (unsigned long long)hash) < 0) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory dumping kernels");
    }
    file = fopen(path, "w");
    STRAKE_CHECK(file != NULL && fputs(text, file) >= 0, error, STRAKE_ERR_IO,
                 "%s: cannot be written (%s); STRAKE_DUMP_KERNELS must name an existing folder",
                 path, strerror(errno));
cleanup:
    if (file != NULL) {
        (void)fclose(file);
    }
    free(path);
    return status;
}

static void release_kernels(strake_cl_stripe *s)
{
    for (int k = 0; k < s->kernels; k++) {
        if (s->kernel[k] != NULL) {
            (void)s->cl->clReleaseKernel(s->kernel[k]);
            s->kernel[k] = NULL;
        }
    }
    if (s->program != NULL) {
        (void)s->cl->clReleaseProgram(s->program);
        s->program = NULL;
    }
    s->kernels = 0;
}

/* Whether marching kernel k can run with what the device has. */
static bool fits(const strake_cl_stripe *s, int k)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    const size_t least = (size_t)(plan->side[0] + plan->side[1]) + 1;
    return !plan->marches ||
           (s->kernel_limit[k] >= least && s->march_width >= least &&
            strake_cl_local_bytes(s->graph, &s->options, plan) <= s->device->local_memory);
}

static size_t at_most(size_t x, size_t limit)
{
    return x > limit ? limit : x;
}

/* Plans and builds the program; @p good is false where a kernel exceeds the device. */
static strake_status build_program(strake_cl_stripe *s, const strake_problem *problem, bool *good,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    char limit[64];
    release_kernels(s);
    s->kernels = strake_cl_plan_kernels(s->graph, &s->options, s->flat, MAX_KERNELS, s->plan);
    *good = s->kernels > 0;
    if (!*good) {
        s->kernels = 0;
        return STRAKE_OK;
    }
    text = strake_cl_generate(s->graph, &s->options, problem->cl_source, s->kernels, s->plan);
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "out of memory generating kernels");
    STRAKE_TRY(dump_program(s, problem, text, error));
    for (int k = 0; k < s->kernels && *good; k++) {
        s->kernel_limit[k] = s->device->max_work_group;
        *good = fits(s, k);
    }
    if (!*good) {
        goto cleanup;
    }
    STRAKE_TRY(strake_cl_program_build(
        s->cl, s->device, s->context, text, s->graph->precision,
        strake_cl_register_options(s->device, s->registers, limit, sizeof limit), &s->program,
        error));
    for (int k = 0; k < s->kernels; k++) {
        STRAKE_TRY(new_kernel(s, s->plan[k].name, &s->kernel[k], error));
        STRAKE_CL("clGetKernelWorkGroupInfo",
                  s->cl->clGetKernelWorkGroupInfo(
                      s->kernel[k], s->device->device, CL_KERNEL_WORK_GROUP_SIZE,
                      sizeof s->kernel_limit[k], &s->kernel_limit[k], NULL),
                  error, s->device);
        *good = *good && fits(s, k);
        s->resident[k] = strake_cl_resident_groups(s->cl, s->device, s->program, s->plan[k].name,
                                                   at_most(s->march_width, s->kernel_limit[k]));
        s->resident[k] = s->resident[k] > 0 ? s->resident[k] : MARCH_GROUPS_PER_UNIT;
    }
cleanup:
    free(text);
    return status;
}

static strake_status build_kernels(strake_cl_stripe *s, const strake_problem *problem,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool good = false;
    STRAKE_TRY(build_program(s, problem, &good, error));
    /* Smaller groups need less local memory; without any, point kernels remain. */
    while (!good && s->options.fusion == STRAKE_CL_FUSION_STREAM && s->options.stride > 32) {
        s->options.stride /= 2;
        s->march_width =
            s->march_width < (size_t)s->options.stride ? s->march_width : (size_t)s->options.stride;
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    while (!good && s->options.fusion > STRAKE_CL_FUSION_NONE) {
        s->options.fusion--;
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    STRAKE_CHECK(good, error, STRAKE_ERR_STATE, "%s: its stage graph is too large for a kernel",
                 problem->name);
    for (int k = 0; k < s->kernels; k++) {
        const int64_t before = s->plan[k].reach[0] - s->layout.lo[0] + 1;
        const int64_t after = s->plan[k].reach[1] - s->layout.hi[0] + 1;
        s->lead = before > s->lead ? before : s->lead;
        s->tail = after > s->tail ? after : s->tail;
    }
    s->lead += GUARD;
    s->tail += GUARD;
    s->origin = s->layout.origin + s->lead * s->layout.slab;
    STRAKE_TRY(new_kernel(s, "ghost_columns", &s->columns, error));
    STRAKE_TRY(new_kernel(s, "ghost_lines", &s->lines, error));
    STRAKE_TRY(new_kernel(s, "ghost_slabs", &s->slabs, error));
    STRAKE_TRY(new_kernel(s, "ghost_cells", &s->cells, error));
    STRAKE_TRY(new_kernel(s, "find_non_finite", &s->non_finite, error));
cleanup:
    return status;
}

/* Sizes of the work-groups: what was asked for, within the device's limit. */
static void choose_groups(strake_cl_stripe *s, const strake_cl_tuning *tuning)
{
    static const strake_cl_tuning none = {
        {STRAKE_CL_FUSION_DEFAULT, 0, 0, 0, 0, 0, false}, 0, 0, 0, 0};
    const strake_cl_tuning *t = tuning != NULL ? tuning : &none;
    const size_t limit = s->device->max_work_group;
    const size_t width = t->width > 0 ? (size_t)t->width : DEFAULT_WIDTH;
    size_t height = t->height > 0 ? (size_t)t->height : DEFAULT_HEIGHT;
    s->width = at_most(width, limit);
    while (s->width * height > limit && height > 1) {
        height /= 2;
    }
    s->height = height;
    s->march_width = at_most(t->width > 0 ? (size_t)t->width : DEFAULT_MARCH_WIDTH, limit);
    s->march_rows = t->rows;
    s->registers = t->registers;
    s->options = t->options;
    s->options.stride = 32;
    while ((size_t)s->options.stride < s->march_width) {
        s->options.stride *= 2;
    }
    if (s->options.fusion == STRAKE_CL_FUSION_DEFAULT) {
        s->options.fusion =
            strake_cl_device_is_gpu(s->device) ? STRAKE_CL_FUSION_STREAM : STRAKE_CL_FUSION_PLAIN;
    }
    /* Half of what 32 bits count: room for the slabs beyond the layout's. */
    s->options.large = s->layout.elements > INT32_MAX;
    s->options = strake_cl_options_complete(&s->options);
}

strake_status strake_cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
                                      const strake_graph *graph, const strake_problem *problem,
                                      const strake_layout *host_layout, const strake_range *stripe,
                                      int stripes, int self, const strake_cl_tuning *tuning,
                                      strake_cl_stripe **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const int64_t n[STRAKE_AXES] = {stripe[self].end - stripe[self].first, host_layout->n[1],
                                    host_layout->n[2]};
    strake_cl_stripe *s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a device stripe");
    s->cl = cl;
    s->device = device;
    s->graph = graph;
    s->host = host_layout;
    s->range = stripe[self];
    s->layout = strake_layout_make_deep(graph, host_layout->steps, n, host_layout->boundary);
    s->origin = s->layout.origin;
    s->flat = s->layout.n[1] == 1 && s->layout.lo[1] + s->layout.hi[1] == 0;
    choose_groups(s, tuning);
    s->context = cl->clCreateContext(NULL, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    s->queue = cl->clCreateCommandQueue(s->context, device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(build_kernels(s, problem, error));
    STRAKE_TRY(plan_exchange(s, stripe, stripes, self, error));
    STRAKE_TRY(allocate_states(s, error));
    STRAKE_TRY(allocate_values(s, error));
    STRAKE_TRY(new_buffer(s, sizeof(cl_int), CL_MEM_READ_WRITE, &s->found, error));
    *out = s;
    s = NULL;
cleanup:
    strake_cl_stripe_destroy(&s);
    return status;
}

static void release(const strake_cl *cl, cl_mem buffer)
{
    if (buffer != NULL) {
        (void)cl->clReleaseMemObject(buffer);
    }
}

static void release_pinned(strake_cl_stripe *s, pinned *p)
{
    if (p->data != NULL) {
        (void)s->cl->clEnqueueUnmapMemObject(s->queue, p->buffer, p->data, 0, NULL, NULL);
        (void)s->cl->clFinish(s->queue);
    }
    release(s->cl, p->buffer);
}

static void release_kernel(const strake_cl *cl, cl_kernel kernel)
{
    if (kernel != NULL) {
        (void)cl->clReleaseKernel(kernel);
    }
}

void strake_cl_stripe_destroy(strake_cl_stripe **stripe)
{
    strake_cl_stripe *s = *stripe;
    if (s == NULL) {
        return;
    }
    if (s->queue != NULL) {
        (void)s->cl->clFinish(s->queue);
    }
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        release(s->cl, s->owns[v] ? s->buffer[v] : NULL);
    }
    for (int k = 0; k < s->states; k++) {
        release(s->cl, s->state[k].buffer[0]);
        release(s->cl, s->state[k].buffer[1]);
        release_pinned(s, &s->state[k].out);
        release_pinned(s, &s->state[k].in);
    }
    release(s->cl, s->own_pairs);
    release(s->cl, s->found);
    release_kernel(s->cl, s->columns);
    release_kernel(s->cl, s->lines);
    release_kernel(s->cl, s->slabs);
    release_kernel(s->cl, s->cells);
    release_kernel(s->cl, s->non_finite);
    release_kernels(s);
    if (s->queue != NULL) {
        (void)s->cl->clReleaseCommandQueue(s->queue);
    }
    if (s->context != NULL) {
        (void)s->cl->clReleaseContext(s->context);
    }
    free(s->ghost);
    free(s);
    *stripe = NULL;
}

/* Arguments are set in order; the first failure is kept. */
typedef struct arguments {
    const strake_cl *cl;
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
} arguments;

static void pass(arguments *a, size_t bytes, const void *value)
{
    if (a->code == CL_SUCCESS) {
        a->code = a->cl->clSetKernelArg(a->kernel, a->next, bytes, value);
    }
    a->next++;
}

static void pass_long(arguments *a, int64_t value)
{
    const cl_long number = value;
    pass(a, sizeof number, &number);
}

static void pass_int(arguments *a, int64_t value)
{
    const cl_int number = (cl_int)value;
    pass(a, sizeof number, &number);
}

static void pass_real(arguments *a, strake_precision precision, double value)
{
    const float narrow = (float)value;
    if (precision == STRAKE_SINGLE) {
        pass(a, sizeof narrow, &narrow);
    } else {
        pass(a, sizeof value, &value);
    }
}

static strake_status launch_groups(strake_cl_stripe *s, const char *name, const arguments *a,
                                   size_t width, size_t height, size_t x, size_t y, size_t z,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t local[3] = {width > 0 ? width : 1, height > 0 ? height : 1, 1};
    const size_t global[3] = {(x + local[0] - 1) / local[0] * local[0],
                              (y + local[1] - 1) / local[1] * local[1], z};
    STRAKE_CL(name, a->code, error, s->device);
    STRAKE_CL(
        name,
        s->cl->clEnqueueNDRangeKernel(s->queue, a->kernel, 3, NULL, global, local, 0, NULL, NULL),
        error, s->device);
cleanup:
    return status;
}

static strake_status launch(strake_cl_stripe *s, const char *name, const arguments *a, size_t x,
                            size_t y, size_t z, strake_error *error)
{
    return launch_groups(s, name, a, s->width, s->height, x, y, z, error);
}

/* Buffer of a value in the running step: states by parity, everything else fixed. */
static cl_mem buffer_of(const strake_cl_stripe *s, int value)
{
    for (int k = 0; k < s->states; k++) {
        if (s->state[k].input == value) {
            return s->state[k].buffer[s->parity];
        }
        if (s->state[k].output == value) {
            return s->state[k].buffer[1 - s->parity];
        }
    }
    return s->buffer[value];
}

/*
 * Rows per group of a marching kernel: all groups run at once, since a second wave would cost as much
 * as the first however few groups it has.
 */
static int64_t rows_per_group(const strake_cl_stripe *s, int k, int64_t rows, int64_t tiles)
{
    if (s->march_rows > 0) {
        return s->march_rows;
    }
    const int64_t pieces = (int64_t)s->device->compute_units * s->resident[k] / tiles;
    const int64_t least = pieces > 0 ? (rows + pieces - 1) / pieces : rows;
    return least < MARCH_ROWS_LEAST ? MARCH_ROWS_LEAST : least;
}

static strake_status run_kernel(strake_cl_stripe *s, int k, strake_error *error)
{
    const strake_graph *graph = s->graph;
    const strake_cl_kernel_plan *plan = &s->plan[k];
    const strake_layout *l = &s->layout;
    int64_t extent[STRAKE_AXES];
    arguments a = {s->cl, s->kernel[k], 0, CL_SUCCESS};
    for (int i = 0; i < plan->inputs; i++) {
        const cl_mem buffer = buffer_of(s, plan->input[i]);
        pass(&a, sizeof buffer, &buffer);
    }
    for (int i = 0; i < plan->outputs; i++) {
        const cl_mem buffer = buffer_of(s, plan->output[i]);
        pass(&a, sizeof buffer, &buffer);
    }
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live) {
            pass_real(&a, graph->precision, graph->value[v].constant);
        }
    }
    pass_long(&a, l->slab);
    pass_long(&a, l->pitch);
    pass_long(&a, s->origin);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        pass_int(&a, l->n[axis]);
        extent[axis] = l->n[axis] + plan->lo[axis] + plan->hi[axis];
    }
    if (plan->marches) {
        const size_t width = at_most(s->march_width, s->kernel_limit[k]);
        const int64_t columns = (int64_t)width - plan->side[0] - plan->side[1];
        const int64_t tiles = (extent[2] + columns - 1) / columns;
        const int64_t rows = rows_per_group(s, k, extent[0], tiles);
        pass_int(&a, rows);
        return launch_groups(s, plan->name, &a, width, 1, (size_t)tiles * width,
                             (size_t)((extent[0] + rows - 1) / rows), 1, error);
    }
    const size_t width = at_most(s->width, s->kernel_limit[k]);
    size_t height = s->height;
    while (width * height > s->kernel_limit[k] && height > 1) {
        height /= 2;
    }
    return launch_groups(s, plan->name, &a, width, height, (size_t)extent[2], (size_t)extent[0],
                         (size_t)extent[1], error);
}

/* In two dimensions all ghosts at once. */
static strake_status fill_ghost_cells(strake_cl_stripe *s, cl_mem buffer, strake_error *error)
{
    const strake_layout *l = &s->layout;
    const int64_t sides = l->lo[2] + l->hi[2];
    const int64_t cells = l->n[0] * sides + s->own_ghosts * (l->n[2] + sides);
    const cl_mem pairs = s->own_ghosts > 0 ? s->own_pairs : NULL;
    arguments a = {s->cl, s->cells, 0, CL_SUCCESS};
    if (cells == 0) {
        return STRAKE_OK;
    }
    pass(&a, sizeof buffer, &buffer);
    pass_long(&a, l->slab);
    pass_long(&a, s->origin);
    pass_int(&a, l->n[0]);
    pass_int(&a, l->n[2]);
    pass_int(&a, l->lo[2]);
    pass_int(&a, l->hi[2]);
    pass_int(&a, (int64_t)l->boundary[2]);
    pass(&a, sizeof pairs, &pairs);
    pass_int(&a, s->own_ghosts);
    return launch_groups(s, "ghost_cells", &a, at_most(64, s->device->max_work_group), 1,
                         (size_t)cells, 1, 1, error);
}

/* Lateral ghosts of the own slabs, then the ghost slabs this stripe owns the source of. */
static strake_status fill_ghosts(strake_cl_stripe *s, cl_mem buffer, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->layout;
    if (s->flat) {
        return fill_ghost_cells(s, buffer, error);
    }
    if (l->lo[2] + l->hi[2] > 0) {
        arguments a = {s->cl, s->columns, 0, CL_SUCCESS};
        pass(&a, sizeof buffer, &buffer);
        pass_long(&a, l->slab);
        pass_long(&a, l->pitch);
        pass_long(&a, s->origin);
        pass_int(&a, l->n[0]);
        pass_int(&a, l->n[1]);
        pass_int(&a, l->n[2]);
        pass_int(&a, l->lo[2]);
        pass_int(&a, l->hi[2]);
        pass_int(&a, (int64_t)l->boundary[2]);
        /* A few columns and many rows: tall groups. */
        const size_t limit = s->device->max_work_group;
        STRAKE_TRY(launch_groups(s, "ghost_columns", &a, limit < 8 ? 1 : 8, limit < 64 ? 1 : 8,
                                 (size_t)(l->lo[2] + l->hi[2]), (size_t)l->n[0], (size_t)l->n[1],
                                 error));
    }
    if (l->lo[1] + l->hi[1] > 0) {
        arguments a = {s->cl, s->lines, 0, CL_SUCCESS};
        pass(&a, sizeof buffer, &buffer);
        pass_long(&a, l->slab);
        pass_long(&a, l->pitch);
        pass_long(&a, s->origin - s->origin % l->pitch);
        pass_int(&a, l->n[0]);
        pass_int(&a, l->n[1]);
        pass_int(&a, l->lo[1]);
        pass_int(&a, l->hi[1]);
        pass_int(&a, (int64_t)l->boundary[1]);
        STRAKE_TRY(launch(s, "ghost_lines", &a, (size_t)l->pitch, (size_t)(l->lo[1] + l->hi[1]),
                          (size_t)l->n[0], error));
    }
    if (s->own_ghosts > 0) {
        arguments a = {s->cl, s->slabs, 0, CL_SUCCESS};
        pass(&a, sizeof buffer, &buffer);
        pass_long(&a, l->slab);
        pass(&a, sizeof s->own_pairs, &s->own_pairs);
        pass_int(&a, s->own_ghosts);
        STRAKE_TRY(launch(s, "ghost_slabs", &a, (size_t)l->slab, (size_t)s->own_ghosts, 1, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_upload_static(strake_cl_stripe *s, void *const *array,
                                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = (size_t)(s->layout.elements * s->layout.element_size);
    for (int v = 0; v < s->graph->values; v++) {
        const strake_value *value = &s->graph->value[v];
        if (!s->owns[v] || value->stage >= 0) {
            continue;
        }
        const char *from =
            (const char *)array[v] + host_offset(s, s->range.first - s->layout.lo[0]);
        STRAKE_CL("clEnqueueWriteBuffer",
                  s->cl->clEnqueueWriteBuffer(s->queue, s->buffer[v], CL_TRUE,
                                              device_offset(s, -s->layout.lo[0]), bytes, from, 0,
                                              NULL, NULL),
                  error, s->device);
    }
    for (int k = 0; k < s->kernels; k++) {
        if (s->plan[k].is_static) {
            STRAKE_TRY(run_kernel(s, k, error));
        }
    }
    STRAKE_TRY(strake_cl_stripe_finish(s, error));
cleanup:
    return status;
}

strake_status strake_cl_stripe_upload_state(strake_cl_stripe *s, void *const *array,
                                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < s->states; k++) {
        const state *st = &s->state[k];
        const char *host = array[st->input];
        STRAKE_CL("clEnqueueWriteBuffer",
                  s->cl->clEnqueueWriteBuffer(s->queue, st->buffer[s->parity], CL_TRUE,
                                              device_offset(s, 0),
                                              (size_t)s->layout.n[0] * slab_bytes(s),
                                              host + host_offset(s, s->range.first), 0, NULL, NULL),
                  error, s->device);
        STRAKE_TRY(fill_ghosts(s, st->buffer[s->parity], error));
    }
    STRAKE_TRY(strake_cl_stripe_fetch(s, array, error));
    STRAKE_TRY(strake_cl_stripe_finish(s, error));
cleanup:
    return status;
}

strake_status strake_cl_stripe_download(strake_cl_stripe *s, void *const *array,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < s->states; k++) {
        const state *st = &s->state[k];
        char *host = array[st->input];
        STRAKE_CL("clEnqueueReadBuffer",
                  s->cl->clEnqueueReadBuffer(s->queue, st->buffer[s->parity], CL_TRUE,
                                             device_offset(s, 0),
                                             (size_t)s->layout.n[0] * slab_bytes(s),
                                             host + host_offset(s, s->range.first), 0, NULL, NULL),
                  error, s->device);
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_step(strake_cl_stripe *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < s->kernels; k++) {
        if (!s->plan[k].is_static) {
            STRAKE_TRY(run_kernel(s, k, error));
        }
    }
    for (int k = 0; k < s->states; k++) {
        const state *st = &s->state[k];
        const cl_mem next = st->buffer[1 - s->parity];
        size_t at = 0;
        STRAKE_TRY(fill_ghosts(s, next, error));
        for (int b = 0; b < s->borders; b++) {
            const size_t bytes = (size_t)(s->border[b].end - s->border[b].first) * slab_bytes(s);
            STRAKE_CL(
                "clEnqueueReadBuffer",
                s->cl->clEnqueueReadBuffer(s->queue, next, CL_FALSE,
                                           device_offset(s, s->border[b].first - s->range.first),
                                           bytes, st->out.data + at, 0, NULL, NULL),
                error, s->device);
            at += bytes;
        }
    }
    s->parity = 1 - s->parity;
    STRAKE_CL("clFlush", s->cl->clFlush(s->queue), error, s->device);
cleanup:
    return status;
}

void strake_cl_stripe_undo(strake_cl_stripe *s)
{
    s->parity = 1 - s->parity;
}

strake_status strake_cl_stripe_publish(strake_cl_stripe *s, void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_stripe_finish(s, error));
    for (int k = 0; k < s->states; k++) {
        const state *st = &s->state[k];
        char *host = array[st->input];
        size_t at = 0;
        for (int b = 0; b < s->borders; b++) {
            const size_t bytes = (size_t)(s->border[b].end - s->border[b].first) * slab_bytes(s);
            memcpy(host + host_offset(s, s->border[b].first), st->out.data + at, bytes);
            at += bytes;
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_fetch(strake_cl_stripe *s, void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < s->states && s->ghosts > 0; k++) {
        const state *st = &s->state[k];
        const char *host = array[st->input];
        int g = 0;
        while (g < s->ghosts) {
            /* Runs of neighbouring ghost slabs travel together. */
            int run = 0;
            do {
                memcpy(st->in.data + (size_t)(g + run) * slab_bytes(s),
                       host + host_offset(s, s->ghost[g + run].source), slab_bytes(s));
                run++;
            } while (g + run < s->ghosts &&
                     s->ghost[g + run].local == s->ghost[g + run - 1].local + 1);
            STRAKE_CL("clEnqueueWriteBuffer",
                      s->cl->clEnqueueWriteBuffer(
                          s->queue, st->buffer[s->parity], CL_FALSE,
                          device_offset(s, s->ghost[g].local), (size_t)run * slab_bytes(s),
                          st->in.data + (size_t)g * slab_bytes(s), 0, NULL, NULL),
                      error, s->device);
            g += run;
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_finish(strake_cl_stripe *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFinish", s->cl->clFinish(s->queue), error, s->device);
cleanup:
    return status;
}

strake_status strake_cl_stripe_is_finite(strake_cl_stripe *s, bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->layout;
    cl_int found = 0;
    STRAKE_CL("clEnqueueWriteBuffer",
              s->cl->clEnqueueWriteBuffer(s->queue, s->found, CL_TRUE, 0, sizeof found, &found, 0,
                                          NULL, NULL),
              error, s->device);
    for (int k = 0; k < s->states; k++) {
        const cl_mem buffer = s->state[k].buffer[s->parity];
        arguments a = {s->cl, s->non_finite, 0, CL_SUCCESS};
        pass(&a, sizeof buffer, &buffer);
        pass_long(&a, l->slab);
        pass_long(&a, l->pitch);
        pass_long(&a, s->origin);
        pass_int(&a, l->n[0]);
        pass_int(&a, l->n[1]);
        pass_int(&a, l->n[2]);
        pass(&a, sizeof s->found, &s->found);
        STRAKE_TRY(launch(s, "find_non_finite", &a, (size_t)l->n[2], (size_t)l->n[0],
                          (size_t)l->n[1], error));
    }
    STRAKE_CL("clEnqueueReadBuffer",
              s->cl->clEnqueueReadBuffer(s->queue, s->found, CL_TRUE, 0, sizeof found, &found, 0,
                                         NULL, NULL),
              error, s->device);
    *finite = found == 0;
cleanup:
    return status;
}

bool strake_cl_stripe_is_alone(const strake_cl_stripe *s)
{
    return s->alone;
}

strake_status strake_cl_stripe_check(strake_cl_stripe *s, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t guard = GUARD * slab_bytes(s);
    for (int v = 0; v < s->graph->values; v++) {
        if (s->owns[v]) {
            STRAKE_TRY(strake_cl_guard_check(s->cl, s->device, s->queue, s->buffer[v],
                                             array_bytes(s), guard, intact, error));
        }
    }
    for (int k = 0; k < s->states; k++) {
        for (int p = 0; p < 2; p++) {
            STRAKE_TRY(strake_cl_guard_check(s->cl, s->device, s->queue, s->state[k].buffer[p],
                                             array_bytes(s), guard, intact, error));
        }
    }
cleanup:
    return status;
}
