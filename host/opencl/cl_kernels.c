#include "opencl/cl_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/cl_plan.h"
#include "opencl/cl_generate.h"
#include "opencl/cl_groups.h"

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

void strake_cl_kernels_forget(const strake_cl_kernels *s)
{
    if (s->passed != NULL) {
        memset(s->passed, 0, (size_t)s->kernels * sizeof *s->passed);
    }
    if (s->tiles != NULL) {
        strake_cl_kernels_forget(s->tiles);
    }
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
    strake_cl_groups_fix(s);
    s->options.hears = s->device->has_double && strake_cl_plan_hears(s->graph, s->kernels, s->plan);
    s->passed = calloc((size_t)s->kernels, sizeof *s->passed);
    STRAKE_CHECK(s->passed != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning kernels");
    text = strake_cl_generate(s->graph, &s->options, problem->cl_source, s->kernels, s->plan);
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "out of memory generating kernels");
    STRAKE_TRY(strake_cl_program_dump(s->options.run.dump_kernels, problem->name,
                                      s->graph->precision, text, error));
    for (int k = 0; k < s->kernels && *good; k++) {
        *good = strake_cl_groups_fit(s, k);
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
        s->limit[k] =
            strake_cl_group_limit(s->device, s->limit[k], strake_cl_groups_compiled(s, k));
        *good = *good && strake_cl_groups_fit(s, k);
    }
cleanup:
    free(text);
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
    STRAKE_TRY(new_kernel(s, s->common, "ghost_columns", &s->columns, error));
    STRAKE_TRY(new_kernel(s, s->common, "ghost_lines", &s->lines, error));
    STRAKE_TRY(new_kernel(s, s->common, "ghost_slabs", &s->slabs, error));
    STRAKE_TRY(new_kernel(s, s->common, "ghost_shell", &s->shell, error));
    STRAKE_TRY(new_kernel(s, s->common, "find_non_finite", &s->non_finite, error));
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
    if (!s->listed) {
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
