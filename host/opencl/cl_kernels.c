/* Sizes of work-groups, compiled kernels of a plan, and what reports say of them. */
#include "opencl/cl_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/cl_choose.h"
#include "opencl/cl_generate.h"
#include "opencl/cl_plan.h"

static void plan(strake_cl_kernels *s);

/* Whether the kernel has this argument already; notes it. */
static bool has(strake_cl_passed *passed, cl_uint at, size_t bytes, const void *value)
{
    uint64_t word = 0;
    if (passed == NULL || at >= STRAKE_CL_MOST_ARGUMENTS ||
        (value != NULL && bytes > sizeof word)) {
        return false;
    }
    if (value != NULL) {
        memcpy(&word, value, bytes);
    }
    const bool same = passed->bytes[at] == bytes && passed->value[at] == word;
    passed->bytes[at] = bytes;
    passed->value[at] = word;
    return same;
}

void strake_cl_pass(strake_cl_arguments *a, size_t bytes, const void *value)
{
    if (a->code == CL_SUCCESS && !has(a->passed, a->next, bytes, value)) {
        a->code = a->cl->clSetKernelArg(a->kernel, a->next, bytes, value);
        if (a->code != CL_SUCCESS && a->passed != NULL) {
            memset(a->passed, 0, sizeof *a->passed);
        }
    }
    a->next++;
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
    cl_event recorded = NULL;
    cl_event *const event = a->event == NULL && s->record != NULL ? &recorded : a->event;
    STRAKE_CL(name, a->code, error, s->device);
    STRAKE_CL(
        name,
        s->cl->clEnqueueNDRangeKernel(queue, a->kernel, 3, NULL, global, local, 0, NULL, event),
        error, s->device);
    if (s->record != NULL) {
        strake_cl_record_add(s->record, STRAKE_CL_KERNEL, name,
                             (double)global[0] * (double)global[1] * (double)global[2], *event);
    }
cleanup:
    strake_cl_release_event(s->cl, &recorded);
    return status;
}

enum {
    MARCH_ROWS_MOST = 192, /* of tall stripes: groups that take longer than others even out */
    MARCH_ROWS_WAVES = 64, /* with so many and more, two waves of groups even out better than one */
    MARCH_GROUPS_PER_UNIT = 8, /* assumed where the device does not tell */
    FEW_REGISTERS = 96,        /* up to here a compiler is left alone */
    MARCH_REGISTERS = 128,     /* limit in between: it fills the registers of a unit */
    HEAVY_OPS = 500,       /* per cell in double: the numbers of one row need registers, too, ... */
    HEAVY_REGISTERS = 168, /* ... up to this limit, and of one row at a time */
};

/* What was asked for kernel k alone; zeros: nothing. */
static strake_group own_size(const strake_cl_kernels *s, int k)
{
    int place = 0;
    for (int before = 0; before < k; before++) {
        place += s->plan[before].is_static ? 0 : 1;
    }
    return s->plan[k].is_static || place >= STRAKE_MOST_GROUPS ? (strake_group){0, 0}
                                                               : s->group[place];
}

/*
 * Width and height of the groups of marching kernel k: a lower limit takes lines first. A size of its
 * own is within what the program was generated for, and not all halo.
 */
static void march_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    const strake_group own = own_size(s, k);
    if (s->plan[k].items[0] > 0) {
        size[0] = (size_t)s->plan[k].items[0];
        size[1] = (size_t)s->plan[k].items[1];
        return;
    }
    const bool holds = (size_t)own.width > strake_cl_count_sides(&s->plan[k], 2) &&
                       (s->flat || (size_t)(own.height * s->plan[k].lines) >
                                       strake_cl_count_sides(&s->plan[k], 1));
    size[0] = strake_cl_at_most(
        holds ? strake_cl_at_most((size_t)own.width, s->march_width) : s->march_width, s->limit[k]);
    size[1] =
        strake_cl_at_most(holds && !s->flat ? strake_cl_at_most((size_t)own.height, s->march_height)
                                            : s->march_height,
                          s->limit[k] / size[0]);
}

/*
 * Fixes what marching kernels in three dimensions are compiled for. Drivers reckon with 256 work-items where nothing
 * tells more, of which too many would store nothing.
 */
static void fix_groups(strake_cl_kernels *s)
{
    for (int k = 0; k < s->kernels && !s->flat; k++) {
        size_t size[2];
        if (s->plan[k].marches) {
            march_size(s, k, size);
            s->plan[k].items[0] = (int)size[0];
            s->plan[k].items[1] = (int)size[1];
        }
    }
}

/* Work-items of the groups that kernel @p k is compiled for; 0: of any. */
static size_t compiled_items(const strake_cl_kernels *s, int k)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    return plan->tiled ? (size_t)s->options.items : (size_t)plan->items[0] * (size_t)plan->items[1];
}

/* Whether kernel k can run with what the device has. */
static bool groups_fit(const strake_cl_kernels *s, int k)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    size_t size[2];
    march_size(s, k, size);
    if (plan->tiled
            ? (size_t)s->options.items > s->limit[k]
            : size[0] * size[1] > s->limit[k] || size[0] <= strake_cl_count_sides(plan, 2) ||
                  size[1] * (size_t)plan->lines <= strake_cl_count_sides(plan, 1)) {
        return !plan->tiled && !plan->marches;
    }
    return strake_cl_local_bytes(s->graph, &s->options, plan) <= s->device->local_memory;
}

/*
 * Registers of a work-item of a marching kernel, as compilers need them: 32 bits each, about three
 * quarters of the values that are kept at some time of a row. In between, a limit makes a compiler use
 * all that the number of groups leaves; the build log would tell, but drivers that find a program in
 * their cache are silent, and the same run must choose the same groups.
 */
bool strake_cl_groups_is_heavy(const strake_cl_kernels *s, int k)
{
    return s->plan[k].marches && s->plan[k].ops > HEAVY_OPS && s->graph->precision == STRAKE_DOUBLE;
}

int strake_cl_groups_need(const strake_cl_kernels *s, int k)
{
    if (strake_cl_groups_is_heavy(s, k)) {
        return HEAVY_REGISTERS;
    }
    const int words = s->plan[k].held * strake_precision_size(s->graph->precision) / 4;
    const int estimate = (words * 3 / 4 + 7) / 8 * 8;
    return estimate > FEW_REGISTERS && estimate <= STRAKE_CL_MANY_REGISTERS ? MARCH_REGISTERS
                                                                            : estimate;
}

int strake_cl_groups_registers(const strake_cl_kernels *s)
{
    int most = 0;
    for (int k = 0; k < s->kernels && s->options.run.registers == 0; k++) {
        if (s->plan[k].marches) {
            const int registers = strake_cl_groups_need(s, k);
            most = registers > most ? registers : most;
        }
    }
    return s->options.run.registers > 0                         ? s->options.run.registers
           : most == MARCH_REGISTERS || most == HEAVY_REGISTERS ? most
                                                                : 0;
}

/* Width and height of the groups of point kernel k. */
static void point_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    const strake_group own = own_size(s, k);
    size[0] = strake_cl_at_most(own.width > 0 ? (size_t)own.width : s->width, s->limit[k]);
    size[1] = own.height > 0 ? (size_t)own.height : s->height;
    while (size[0] * size[1] > s->limit[k] && size[1] > 1) {
        size[1] /= 2;
    }
}

/* The same of tiled kernels, whose groups are compiled in. */
static void tile_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    (void)k;
    size[0] = (size_t)s->options.items;
    size[1] = 1;
}

void strake_cl_groups_size(const strake_cl_kernels *s, int k, size_t size[2])
{
    (s->plan[k].marches ? march_size : s->plan[k].tiled ? tile_size : point_size)(s, k, size);
}

int64_t strake_cl_groups_resident(const strake_cl_kernels *s, int k, int registers, double *share)
{
    enum { WARP = 32, STEP = 8, MOST_ITEMS = 2048 };
    size_t size[2];
    strake_cl_groups_size(s, k, size);
    const int64_t all = strake_cl_unit_registers(s->cl, s->device);
    const int64_t items = ((int64_t)(size[0] * size[1]) + WARP - 1) / WARP * WARP;
    const int64_t used = registers > 0 ? (registers + STEP - 1) / STEP * STEP : 1;
    const int64_t most = MOST_ITEMS / items;
    const int64_t groups = all / (used * items) < most ? all / (used * items) : most;
    *share = (double)(groups * items) / MOST_ITEMS;
    return groups;
}

/* Groups of a marching kernel that a compute unit holds at once, by what the plan says of registers. */
static int64_t resident_groups(const strake_cl_kernels *s, int k)
{
    const int estimate = strake_cl_groups_need(s, k);
    const int used = s->options.run.registers > 0 && s->options.run.registers < estimate
                         ? s->options.run.registers
                         : estimate;
    double share = 0.0;
    if (strake_cl_unit_registers(s->cl, s->device) == 0) {
        return MARCH_GROUPS_PER_UNIT;
    }
    const int64_t groups = strake_cl_groups_resident(s, k, used, &share);
    return groups > 0 ? groups : 1;
}

/*
 * Rows per group of a marching kernel: all groups run at once where they are short, since a second
 * wave would cost as much as the first however few groups it has; otherwise in two waves, which even
 * out what groups differ by. Tall stripes have many waves.
 */
static int64_t rows_per_group(const strake_cl_kernels *s, int k, int64_t rows, int64_t tiles)
{
    if (s->options.run.group_rows > 0) {
        return s->options.run.group_rows;
    }
    const int64_t resident = resident_groups(s, k);
    const int64_t groups = (int64_t)s->device->compute_units * resident;
    const int64_t pieces = groups / tiles;
    const int64_t least = pieces > 0 ? (rows + pieces - 1) / pieces : rows;
    int64_t most = 0;
    /* A step in one kernel computes many planes again before its first. */
    if (s->options.one && resident == 1) {
        const int64_t best = strake_cl_count_pieces(&s->plan[k], groups, rows, tiles, &most);
        return (rows + best - 1) / best;
    }
    if (least >= 3 * MARCH_ROWS_MOST) {
        return MARCH_ROWS_MOST;
    }
    if (least >= MARCH_ROWS_WAVES) {
        return (least + 1) / 2;
    }
    return least < STRAKE_CL_LEAST_ROWS ? STRAKE_CL_LEAST_ROWS : least;
}

static void cut_march(const strake_cl_kernels *s, int k, const int64_t extent[STRAKE_AXES],
                      strake_cl_cut *c)
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    march_size(s, k, c->size);
    const int64_t lead = strake_cl_lead(plan) - plan->lo[2];
    const int64_t across = strake_cl_count_tiles(plan, 2, extent[2] + lead, c->size[0]);
    const int64_t lines = plan->flat ? 1 : strake_cl_count_tiles(plan, 1, extent[1], c->size[1]);
    const int64_t members = s->options.members > 0 ? s->options.members : 1;
    c->rows = rows_per_group(s, k, extent[0], across * lines * members);
    const int64_t pieces = (extent[0] + c->rows - 1) / c->rows;
    c->groups[0] = (size_t)across;
    c->groups[1] = (size_t)(plan->flat ? pieces : lines);
    c->groups[2] = plan->flat ? 1 : (size_t)pieces;
}

strake_cl_cut strake_cl_groups_cut(const strake_cl_kernels *s, int k,
                                   const int64_t extent[STRAKE_AXES])
{
    const strake_cl_kernel_plan *plan = &s->plan[k];
    strake_cl_cut c = {.rows = 0};
    if (plan->marches) {
        cut_march(s, k, extent, &c);
        return c;
    }
    strake_cl_groups_size(s, k, c.size);
    const int *const tile = s->options.tile;
    const int64_t size[2] = {plan->tiled ? tile[0] : (int64_t)c.size[0],
                             plan->tiled ? tile[1] : (int64_t)c.size[1]};
    const size_t slabs = (size_t)((extent[0] + size[1] - 1) / size[1]);
    c.groups[0] = (size_t)((extent[2] + size[0] - 1) / size[0]);
    c.groups[1] =
        plan->tiled && !plan->flat ? (size_t)((extent[1] + tile[2] - 1) / tile[2]) : slabs;
    c.groups[2] = !plan->tiled ? (size_t)extent[1] : plan->flat ? 1 : slabs;
    return c;
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

static strake_status new_kernel(strake_cl_kernels *s, cl_program program, const char *name,
                                cl_kernel *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    *out = s->cl->clCreateKernel(program, name, &code);
    STRAKE_CL(name, code, error, s->device);
cleanup:
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
    free(s->passed);
    s->passed = NULL;
}

/* Plans. In three dimensions, where no tile fits, point kernels are planned for themselves: not at what launches of tiles cost. */
static void plan(strake_cl_kernels *s)
{
    bool any = s->flat || s->options.run.fusion != STRAKE_CL_FUSION_TILE;
    s->kernels =
        strake_cl_plan_kernels(s->graph, &s->options, s->flat, STRAKE_CL_MOST_KERNELS, s->plan);
    for (int k = 0; k < s->kernels; k++) {
        any = any || s->plan[k].tiled;
    }
    if (!any) {
        s->options.run.fusion = STRAKE_CL_FUSION_PLAIN;
        s->kernels =
            strake_cl_plan_kernels(s->graph, &s->options, s->flat, STRAKE_CL_MOST_KERNELS, s->plan);
    }
}

/* Plans and builds the program; @p good is false where a kernel exceeds the device. */
static strake_status build_program(strake_cl_kernels *s, const strake_problem *problem, bool *good,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    char limit[64];
    release_program(s);
    plan(s);
    *good = s->kernels > 0;
    if (!*good) {
        s->kernels = 0;
        return STRAKE_OK;
    }
    for (int k = 0; k < s->kernels; k++) {
        s->limit[k] = s->device->max_work_group;
    }
    fix_groups(s);
    s->options.hears = s->options.members == 0 && s->device->has_double &&
                       strake_cl_plan_hears(s->graph, s->kernels, s->plan);
    s->passed = calloc((size_t)s->kernels, sizeof *s->passed);
    STRAKE_CHECK(s->passed != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning kernels");
    text = strake_cl_generate(s->graph, &s->options, problem, s->kernels, s->plan);
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "out of memory generating kernels");
    STRAKE_TRY(strake_cl_program_dump(s->options.run.dump_kernels, problem->name,
                                      s->graph->precision, text, error));
    for (int k = 0; k < s->kernels && *good; k++) {
        *good = groups_fit(s, k);
    }
    if (!*good) {
        goto cleanup;
    }
    STRAKE_TRY(strake_cl_program_build(
        s->cl, s->device, s->context, text, s->graph->precision,
        strake_cl_register_options(s->device, strake_cl_groups_registers(s), limit, sizeof limit),
        &s->program, error));
    for (int k = 0; k < s->kernels; k++) {
        STRAKE_TRY(new_kernel(s, s->program, s->plan[k].name, &s->kernel[k], error));
        STRAKE_CL("clGetKernelWorkGroupInfo",
                  s->cl->clGetKernelWorkGroupInfo(s->kernel[k], s->device->device,
                                                  CL_KERNEL_WORK_GROUP_SIZE, sizeof s->limit[k],
                                                  &s->limit[k], NULL),
                  error, s->device);
        s->limit[k] = strake_cl_group_limit(s->device, s->limit[k], compiled_items(s, k));
        *good = *good && groups_fit(s, k);
    }
cleanup:
    free(text);
    return status;
}

/* Kernel objects carry arguments: each thread has its own. */
static strake_status make_common(strake_cl_kernels *s, cl_program common, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(new_kernel(s, common, "ghost_columns", &s->columns, error));
    STRAKE_TRY(new_kernel(s, common, "ghost_lines", &s->lines, error));
    STRAKE_TRY(new_kernel(s, common, "ghost_slabs", &s->slabs, error));
    STRAKE_TRY(new_kernel(s, common, "ghost_shell", &s->shell, error));
    STRAKE_TRY(new_kernel(s, common, "find_non_finite", &s->non_finite, error));
cleanup:
    return status;
}

/* What all problems have in common, compiled once for a precision. */
static strake_status build_common(strake_cl_kernels *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const text = strake_cl_generate_common();
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "out of memory generating kernels");
    STRAKE_TRY(strake_cl_program_build(s->cl, s->device, s->context, text, s->graph->precision,
                                       NULL, &s->common, error));
    STRAKE_TRY(make_common(s, s->common, error));
cleanup:
    free(text);
    return status;
}

strake_status strake_cl_kernels_build(strake_cl_kernels *s, const strake_cl *cl,
                                      const strake_cl_device *device, const strake_graph *graph,
                                      const strake_problem *problem, const strake_layout *layout,
                                      const strake_settings *settings, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    bool good = false;
    s->cl = cl;
    s->device = device;
    s->graph = graph;
    s->flat = layout->n[1] == 1 && layout->lo[1] + layout->hi[1] == 0;
    strake_cl_groups_choose(s, layout, settings);
    s->context = s->shared != NULL
                     ? s->shared
                     : cl->clCreateContext(NULL, 1, &device->device, NULL, NULL, &code);
    STRAKE_CL("clCreateContext", code, error, device);
    if (!s->listed || s->members > 0) {
        STRAKE_TRY(strake_cl_filler_build(&s->filler, cl, device, s->context, error));
        STRAKE_TRY(build_common(s, error));
    }
    STRAKE_TRY(build_program(s, problem, &good, error));
    /* Smaller groups need less local memory; without any, point kernels remain. */
    while (!good && s->options.run.fusion == STRAKE_CL_FUSION_STREAM && s->options.stride > 32) {
        s->options.stride /= 2;
        if (s->march_width > (size_t)s->options.stride) {
            s->march_width = (size_t)s->options.stride;
        }
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    while (!good && s->options.run.fusion == STRAKE_CL_FUSION_STREAM && !s->flat &&
           s->options.lines > 4) {
        s->options.one = false;
        s->options.lines /= 2;
        s->march_height = (size_t)s->options.lines;
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    while (!good && s->options.run.fusion == STRAKE_CL_FUSION_TILE && s->options.items > 32) {
        s->options.items /= 2;
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    while (!good && s->options.run.fusion > STRAKE_CL_FUSION_NONE) {
        s->options.run.fusion = s->options.run.fusion == STRAKE_CL_FUSION_TILE
                                    ? STRAKE_CL_FUSION_PLAIN
                                    : s->options.run.fusion - 1;
        STRAKE_TRY(build_program(s, problem, &good, error));
    }
    STRAKE_CHECK(good, error, STRAKE_ERR_STATE, "%s: its stage graph is too large for a kernel",
                 problem->name);
cleanup:
    return status;
}

strake_status strake_cl_kernels_share(strake_cl_kernels *s, const strake_cl_kernels *of,
                                      const strake_graph *graph, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *s = (strake_cl_kernels){.cl = of->cl,
                             .device = of->device,
                             .graph = graph,
                             .shared = of->context,
                             .context = of->context,
                             .filler = {.cl = of->cl, .device = of->device},
                             .options = of->options,
                             .flat = of->flat,
                             .kernels = of->kernels};
    memcpy(s->plan, of->plan, sizeof s->plan);
    STRAKE_TRY(new_kernel(s, of->filler.program, "strake_fill", &s->filler.kernel, error));
    STRAKE_TRY(make_common(s, of->common, error));
cleanup:
    return status;
}

void strake_cl_kernels_release(strake_cl_kernels *s)
{
    if (s->cl == NULL) {
        return;
    }
    if (s->tiles != NULL) {
        strake_cl_kernels_release(s->tiles);
        free(s->tiles);
        s->tiles = NULL;
    }
    release_kernel(s->cl, &s->columns);
    release_kernel(s->cl, &s->lines);
    release_kernel(s->cl, &s->slabs);
    release_kernel(s->cl, &s->shell);
    release_kernel(s->cl, &s->non_finite);
    if (s->common != NULL) {
        (void)s->cl->clReleaseProgram(s->common);
        s->common = NULL;
    }
    release_program(s);
    strake_cl_filler_release(&s->filler);
    if (s->context != NULL && s->shared == NULL) {
        (void)s->cl->clReleaseContext(s->context);
    }
    s->context = NULL;
}

strake_status strake_cl_kernels_list(strake_cl_kernels *s, const strake_problem *problem,
                                     const strake_layout *layout, const strake_settings *asked,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_settings settings = *asked;
    strake_cl_kernels *t = calloc(1, sizeof *t);
    STRAKE_CHECK(t != NULL, error, STRAKE_ERR_MEMORY, "out of memory for kernels of tiles");
    if (asked->fusion != STRAKE_CL_FUSION_TILE) {
        settings.fusion = STRAKE_CL_FUSION_TILE;
        settings.group_width = settings.group_height = settings.group_rows = 0;
        settings.registers = settings.prefetch = 0;
        settings.groups[0] = '\0';
    }
    t->shared = s->context;
    t->listed = true;
    STRAKE_TRY(
        strake_cl_kernels_build(t, s->cl, s->device, s->graph, problem, layout, &settings, error));
    if (t->kernels == 1 && t->plan[0].tiled && t->plan[0].lo[0] + t->plan[0].lo[2] == 0) {
        s->tiles = t;
        t = NULL;
    }
cleanup:
    if (t != NULL) {
        strake_cl_kernels_release(t);
        free(t);
    }
    return status;
}

strake_status strake_cl_kernels_shorten(strake_cl_kernels *s, const strake_problem *problem,
                                        const strake_layout *layout,
                                        const strake_settings *settings, uint64_t elements,
                                        strake_error *error)
{
    const strake_cl *cl = s->cl;
    const strake_cl_device *device = s->device;
    const strake_graph *graph = s->graph;
    strake_layout small = *layout;
    small.elements = (int64_t)elements;
    if (!s->options.large || elements > INT32_MAX) {
        return STRAKE_OK;
    }
    strake_cl_kernels_release(s);
    memset(s, 0, sizeof *s);
    return strake_cl_kernels_build(s, cl, device, graph, problem, &small, settings, error);
}

/* What the driver tells about a kernel; 0 where it does not. */
static int64_t ask(const strake_cl_kernels *s, int k, cl_kernel_work_group_info what)
{
    cl_ulong bytes = 0;
    const cl_int code = s->cl->clGetKernelWorkGroupInfo(s->kernel[k], s->device->device, what,
                                                        sizeof bytes, &bytes, NULL);
    return code == CL_SUCCESS ? (int64_t)bytes : 0;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void strake_cl_kernels_describe(const strake_cl_kernels *s, const int64_t cells[STRAKE_AXES],
                                strake_cl_description *out)
{
    strake_settings *const used = &out->used;
    strake_group group[STRAKE_MOST_GROUPS];
    int64_t rows = 0;
    char option[64];
    memset(out, 0, sizeof *out);
    *used = s->options.run;
    strake_settings_detach(used);
    out->limitable = strake_cl_register_options(s->device, 1, option, sizeof option) != NULL;
    for (int k = 0; k < s->kernels; k++) {
        const strake_cl_kernel_plan *plan = &s->plan[k];
        int64_t extent[STRAKE_AXES];
        if (plan->is_static) {
            continue;
        }
        for (int axis = 0; axis < STRAKE_AXES; axis++) {
            extent[axis] = cells[axis] + plan->lo[axis] + plan->hi[axis];
        }
        if (out->count < STRAKE_MOST_GROUPS) {
            size_t size[2];
            strake_cl_groups_size(s, k, size);
            group[out->count] = (strake_group){(int)size[0], (int)size[1]};
        }
        out->count++;
        out->marching += plan->marches ? 1 : 0;
        out->tiled += plan->tiled ? 1 : 0;
        out->bytes_per_cell += (double)strake_precision_size(s->graph->precision) *
                               (plan->inputs + strake_cl_plan_arrays_written(plan));
        rows = plan->marches ? larger(rows, strake_cl_groups_cut(s, k, extent).rows) : rows;
        const int registers = strake_cl_registers(s->cl, s->device, s->program, plan->name);
        if (registers > out->registers) {
            out->registers = registers;
            out->resident = strake_cl_groups_resident(s, k, registers, &out->occupancy);
        }
        out->private_bytes = larger(out->private_bytes, ask(s, k, CL_KERNEL_PRIVATE_MEM_SIZE));
        out->local_bytes = larger(out->local_bytes, ask(s, k, CL_KERNEL_LOCAL_MEM_SIZE));
    }
    const bool marches = out->marching > 0;
    if (!marches && out->tiled == 0 && used->fusion > STRAKE_CL_FUSION_PLAIN) {
        used->fusion = STRAKE_CL_FUSION_PLAIN; /* no such kernel was cheaper, or fitted */
    }
    used->group_width = (int)(marches ? s->march_width : s->width);
    used->group_height = (int)(marches ? s->march_height : s->height);
    if (out->tiled > 0) {
        used->group_width = s->options.tile[0];
        used->group_height = s->flat ? s->options.items / s->options.tile[0] : s->options.tile[2];
        rows = s->options.tile[1];
    }
    used->group_rows = (int)rows;
    (void)strake_groups_print(out->count, group, used->groups);
}
