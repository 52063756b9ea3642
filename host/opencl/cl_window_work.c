/* What is done with the slabs of a window: kernels, ghosts, the search for NaN and Inf. */
#include "opencl/cl_window.h"

#include "opencl/cl_plan.h"
#include "opencl/cl_groups.h"
#include "opencl/cl_reduce.h"

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
    STRAKE_TRY(strake_cl_reduce_pass(w, plan, &cut, &a, error));
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live) {
            strake_cl_pass_real(&a, graph->precision, strake_graph_number(graph, v, w->scalar));
        }
    }
    if (graph->scalars > 0) {
        strake_cl_pass_buffer(&a, w->told);
    }
    if (kernels->options.hears && !plan->is_static) {
        strake_cl_reduce_pass_left(w, &a);
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
    status = strake_cl_launch_plan(kernels, w->queue, k, &a, &cut, error);
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

void strake_cl_window_swap(strake_cl_window *w)
{
    w->parity = 1 - w->parity;
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
    if (w->listing != NULL && w->listing->slabs.first == first && w->listing->slabs.end == end) {
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
