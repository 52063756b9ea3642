#include "opencl/cl_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "opencl/cl_generate.h"

enum {
    DEFAULT_WIDTH = 64, /* of point kernels */
    DEFAULT_HEIGHT = 4,
    DEFAULT_MARCH_WIDTH = 128,
    DEFAULT_TILE_WIDTH = 32, /* of marching kernels in three dimensions */
    DEFAULT_TILE_HEIGHT = 8,
    MARCH_CELLS_PER_UNIT = 4000,   /* of a stripe, from which marching kernels pay */
    NARROW_CELLS_PER_UNIT = 16000, /* below that, more groups of half the width */
    MARCH_ROWS_MOST = 192,    /* of tall stripes: groups that take longer than others even out */
    MARCH_ROWS_LEAST = 6,     /* fewer rows per group: the rows computed again would dominate */
    MARCH_GROUPS_PER_UNIT = 8 /* assumed where neither device nor compiler tells */
};

static size_t at_most(size_t x, size_t limit)
{
    return x > limit ? limit : x;
}

int strake_cl_kernels_last_use(const strake_cl_kernels *kernels, int value)
{
    int last = -1;
    for (int k = 0; k < kernels->kernels; k++) {
        for (int i = 0; i < kernels->plan[k].inputs; i++) {
            last = kernels->plan[k].input[i] == value ? k : last;
        }
    }
    return last;
}

static strake_status new_kernel(strake_cl_kernels *s, const char *name, cl_kernel *out,
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
static strake_status dump_program(const strake_cl_kernels *s, const strake_problem *problem,
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

static void release_kernel(const strake_cl *cl, cl_kernel *kernel)
{
    if (*kernel != NULL) {
        (void)cl->clReleaseKernel(*kernel);
        *kernel = NULL;
    }
}

static void release_program(strake_cl_kernels *s)
{
    for (int k = 0; k < s->kernels; k++) {
        release_kernel(s->cl, &s->kernel[k]);
    }
    if (s->program != NULL) {
        (void)s->cl->clReleaseProgram(s->program);
        s->program = NULL;
    }
    s->kernels = 0;
}

/* Work-items of a marching group that store nothing, along an axis. */
static size_t sides(const strake_cl_kernel_plan *plan, int axis)
{
    return (size_t)(plan->side[axis][0] + plan->side[axis][1]);
}

/* Width and height of the groups of marching kernel k: a lower limit takes lines first. */
static void march_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    size[0] = at_most(s->march_width, s->limit[k]);
    size[1] = at_most(s->march_height, s->limit[k] / size[0]);
}

/* Whether marching kernel k can run with what the device has. */
static bool fits(const strake_cl_kernels *s, int k)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    size_t size[2];
    march_size(s, k, size);
    return !plan->marches ||
           (size[0] > sides(plan, 2) && size[1] > sides(plan, 1) &&
            strake_cl_local_bytes(s->graph, &s->options, plan) <= s->device->local_memory);
}

/* Plans and builds the program; @p good is false where a kernel exceeds the device. */
static strake_status build_program(strake_cl_kernels *s, const strake_problem *problem, bool *good,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    char limit[64];
    release_program(s);
    s->kernels =
        strake_cl_plan_kernels(s->graph, &s->options, s->flat, STRAKE_CL_MOST_KERNELS, s->plan);
    *good = s->kernels > 0;
    if (!*good) {
        s->kernels = 0;
        return STRAKE_OK;
    }
    text = strake_cl_generate(s->graph, &s->options, problem->cl_source, s->kernels, s->plan);
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "out of memory generating kernels");
    STRAKE_TRY(dump_program(s, problem, text, error));
    for (int k = 0; k < s->kernels && *good; k++) {
        s->limit[k] = s->device->max_work_group;
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
                  s->cl->clGetKernelWorkGroupInfo(s->kernel[k], s->device->device,
                                                  CL_KERNEL_WORK_GROUP_SIZE, sizeof s->limit[k],
                                                  &s->limit[k], NULL),
                  error, s->device);
        *good = *good && fits(s, k);
        size_t size[2];
        march_size(s, k, size);
        s->resident[k] = strake_cl_resident_groups(s->cl, s->device, s->program, s->plan[k].name,
                                                   size[0] * size[1]);
        s->resident[k] = s->resident[k] > 0 ? s->resident[k] : MARCH_GROUPS_PER_UNIT;
    }
cleanup:
    free(text);
    return status;
}

/* Sizes of the work-groups: what was asked for, within the device's limit. */
static void choose_groups(strake_cl_kernels *s, const strake_layout *layout,
                          const strake_cl_tuning *tuning)
{
    static const strake_cl_tuning none = {.width = 0};
    const strake_cl_tuning *t = tuning != NULL ? tuning : &none;
    const size_t limit = s->device->max_work_group;
    const int64_t cells = layout->n[0] * layout->n[1] * layout->n[2];
    const int64_t units = s->device->compute_units > 0 ? (int64_t)s->device->compute_units : 1;
    /* Shorter types leave room for wider groups; small stripes need more groups. */
    const size_t wide = s->graph->precision == STRAKE_SINGLE ? (size_t)2 * DEFAULT_MARCH_WIDTH
                                                             : (size_t)DEFAULT_MARCH_WIDTH;
    const size_t march_width =
        cells / units < NARROW_CELLS_PER_UNIT ? (size_t)DEFAULT_MARCH_WIDTH / 2 : wide;
    const size_t width = t->width > 0 ? (size_t)t->width : DEFAULT_WIDTH;
    size_t height = t->height > 0 ? (size_t)t->height : DEFAULT_HEIGHT;
    s->width = at_most(width, limit);
    while (s->width * height > limit && height > 1) {
        height /= 2;
    }
    s->height = height;
    s->march_width = at_most(t->width > 0 ? (size_t)t->width : march_width, limit);
    s->march_height = s->flat ? 1 : t->height > 0 ? (size_t)t->height : DEFAULT_TILE_HEIGHT;
    s->march_rows = t->rows;
    s->registers = t->registers;
    s->options = t->options;
    s->options.stride = 32;
    while ((size_t)s->options.stride < s->march_width) {
        s->options.stride *= 2;
    }
    s->options.lines = (int)s->march_height;
    if (s->options.fusion == STRAKE_CL_FUSION_DEFAULT) {
        /* Marching groups need rows to march along: small stripes have too few for every unit. */
        s->options.fusion =
            strake_cl_device_is_gpu(s->device) && cells / units >= MARCH_CELLS_PER_UNIT
                ? STRAKE_CL_FUSION_STREAM
                : STRAKE_CL_FUSION_PLAIN;
    }
    if (s->options.refine == STRAKE_CL_REFINE_DEFAULT) {
        s->options.refine =
            strake_cl_device_is_gpu(s->device) ? STRAKE_CL_REFINE_ON : STRAKE_CL_REFINE_OFF;
    }
    /* Half of what 32 bits count: room for the slabs beyond the layout's. */
    s->options.large = layout->elements > INT32_MAX;
    s->options = strake_cl_options_complete(&s->options);
}

strake_status strake_cl_kernels_build(strake_cl_kernels *s, const strake_cl *cl,
                                      const strake_cl_device *device, const strake_graph *graph,
                                      const strake_problem *problem, const strake_layout *layout,
                                      const strake_cl_tuning *tuning, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    bool good = false;
    s->cl = cl;
    s->device = device;
    s->graph = graph;
    s->flat = layout->n[1] == 1 && layout->lo[1] + layout->hi[1] == 0;
    choose_groups(s, layout, tuning);
    s->context = cl->clCreateContext(NULL, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    STRAKE_TRY(build_program(s, problem, &good, error));
    /* Smaller groups need less local memory; without any, point kernels remain. */
    while (!good && s->options.fusion == STRAKE_CL_FUSION_STREAM && s->options.stride > 32) {
        s->options.stride /= 2;
        s->march_width = at_most(s->march_width, (size_t)s->options.stride);
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    while (!good && s->options.fusion > STRAKE_CL_FUSION_NONE) {
        s->options.fusion--;
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    STRAKE_CHECK(good, error, STRAKE_ERR_STATE, "%s: its stage graph is too large for a kernel",
                 problem->name);
    STRAKE_TRY(new_kernel(s, "ghost_columns", &s->columns, error));
    STRAKE_TRY(new_kernel(s, "ghost_lines", &s->lines, error));
    STRAKE_TRY(new_kernel(s, "ghost_slabs", &s->slabs, error));
    STRAKE_TRY(new_kernel(s, "ghost_cells", &s->cells, error));
    STRAKE_TRY(new_kernel(s, "find_non_finite", &s->non_finite, error));
cleanup:
    return status;
}

void strake_cl_kernels_release(strake_cl_kernels *s)
{
    if (s->cl == NULL) {
        return;
    }
    release_kernel(s->cl, &s->columns);
    release_kernel(s->cl, &s->lines);
    release_kernel(s->cl, &s->slabs);
    release_kernel(s->cl, &s->cells);
    release_kernel(s->cl, &s->non_finite);
    release_program(s);
    if (s->context != NULL) {
        (void)s->cl->clReleaseContext(s->context);
        s->context = NULL;
    }
}

strake_status strake_cl_kernels_shorten(strake_cl_kernels *s, const strake_problem *problem,
                                        const strake_cl_tuning *tuning, uint64_t elements,
                                        strake_error *error)
{
    const strake_cl *cl = s->cl;
    const strake_cl_device *device = s->device;
    const strake_graph *graph = s->graph;
    const strake_layout small = {.n = {1, s->flat ? 1 : 2, 1}, .elements = (int64_t)elements};
    if (!s->options.large || elements > INT32_MAX) {
        return STRAKE_OK;
    }
    strake_cl_kernels_release(s);
    memset(s, 0, sizeof *s);
    return strake_cl_kernels_build(s, cl, device, graph, problem, &small, tuning, error);
}

strake_cl_arguments strake_cl_arguments_begin(const strake_cl *cl, cl_kernel kernel)
{
    const strake_cl_arguments a = {.cl = cl, .kernel = kernel, .code = CL_SUCCESS};
    return a;
}

void strake_cl_pass(strake_cl_arguments *a, size_t bytes, const void *value)
{
    if (a->code == CL_SUCCESS) {
        a->code = a->cl->clSetKernelArg(a->kernel, a->next, bytes, value);
    }
    a->next++;
}

void strake_cl_pass_long(strake_cl_arguments *a, int64_t value)
{
    const cl_long number = value;
    strake_cl_pass(a, sizeof number, &number);
}

void strake_cl_pass_int(strake_cl_arguments *a, int64_t value)
{
    const cl_int number = (cl_int)value;
    strake_cl_pass(a, sizeof number, &number);
}

void strake_cl_pass_real(strake_cl_arguments *a, strake_precision precision, double value)
{
    const float narrow = (float)value;
    if (precision == STRAKE_SINGLE) {
        strake_cl_pass(a, sizeof narrow, &narrow);
    } else {
        strake_cl_pass(a, sizeof value, &value);
    }
}

strake_status strake_cl_launch(const strake_cl_kernels *s, cl_command_queue queue, const char *name,
                               const strake_cl_arguments *a, size_t width, size_t height, size_t x,
                               size_t y, size_t z, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t local[3] = {width > 0 ? width : 1, height > 0 ? height : 1, 1};
    const size_t global[3] = {(x + local[0] - 1) / local[0] * local[0],
                              (y + local[1] - 1) / local[1] * local[1], z};
    STRAKE_CL(name, a->code, error, s->device);
    STRAKE_CL(
        name,
        s->cl->clEnqueueNDRangeKernel(queue, a->kernel, 3, NULL, global, local, 0, NULL, a->event),
        error, s->device);
cleanup:
    return status;
}

/*
 * Rows per group of a marching kernel: all groups run at once, since a second wave would cost as much
 * as the first however few groups it has. Tall stripes have many waves.
 */
static int64_t rows_per_group(const strake_cl_kernels *s, int k, int64_t rows, int64_t tiles)
{
    if (s->march_rows > 0) {
        return s->march_rows;
    }
    const int64_t pieces = (int64_t)s->device->compute_units * s->resident[k] / tiles;
    const int64_t least = pieces > 0 ? (rows + pieces - 1) / pieces : rows;
    if (least >= 3 * MARCH_ROWS_MOST) {
        return MARCH_ROWS_MOST;
    }
    return least < MARCH_ROWS_LEAST ? MARCH_ROWS_LEAST : least;
}

/* Pieces of @p extent cells that groups of @p size work-items store, less those at their ends. */
static int64_t count_tiles(const strake_cl_kernel_plan *plan, int axis, int64_t extent, size_t size)
{
    const int64_t columns = (int64_t)(size - sides(plan, axis)) * (axis == 2 ? plan->vector : 1);
    return (extent + columns - 1) / columns;
}

static strake_status launch_march(const strake_cl_kernels *s, cl_command_queue queue, int k,
                                  strake_cl_arguments *a, const int64_t extent[STRAKE_AXES],
                                  strake_error *error)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    size_t size[2];
    march_size(s, k, size);
    const int64_t lead = strake_cl_lead(plan) - plan->lo[2];
    const int64_t across = count_tiles(plan, 2, extent[2] + lead, size[0]);
    const int64_t lines = plan->flat ? 1 : count_tiles(plan, 1, extent[1], size[1]);
    const int64_t rows = rows_per_group(s, k, extent[0], across * lines);
    const size_t pieces = (size_t)((extent[0] + rows - 1) / rows);
    strake_cl_pass_int(a, rows);
    return strake_cl_launch(s, queue, plan->name, a, size[0], size[1], (size_t)across * size[0],
                            plan->flat ? pieces : (size_t)lines * size[1], plan->flat ? 1 : pieces,
                            error);
}

strake_status strake_cl_launch_plan(const strake_cl_kernels *s, cl_command_queue queue, int k,
                                    strake_cl_arguments *a, const int64_t extent[STRAKE_AXES],
                                    strake_error *error)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    if (plan->marches) {
        return launch_march(s, queue, k, a, extent, error);
    }
    const size_t width = at_most(s->width, s->limit[k]);
    size_t height = s->height;
    while (width * height > s->limit[k] && height > 1) {
        height /= 2;
    }
    return strake_cl_launch(s, queue, plan->name, a, width, height, (size_t)extent[2],
                            (size_t)extent[0], (size_t)extent[1], error);
}
