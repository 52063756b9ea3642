#include "opencl/cl_reduce.h"

#include "base/element.h"
#include "opencl/cl_launch.h"

enum { ITEMS = 256, GROUPS_PER_UNIT = 4, MOST_GROUPS = 1024 };

static size_t items_of(const strake_cl_kernels *kernels)
{
    size_t items = ITEMS;
    while (items > 1 && items > kernels->device->max_work_group) {
        items /= 2;
    }
    return items;
}

/* Groups, each with some cells for every work-item. */
static size_t groups_of(const strake_cl_window *w, int64_t slabs)
{
    const size_t cells = (size_t)(slabs * w->layout.n[1] * w->layout.n[2]);
    const size_t wanted = cells / (4 * items_of(w->kernels)) + 1;
    size_t most = GROUPS_PER_UNIT * (size_t)w->kernels->device->compute_units;
    most = most < MOST_GROUPS ? most : MOST_GROUPS;
    return wanted < most ? wanted : most;
}

strake_status strake_cl_reduce_create(strake_cl_window *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_kernels *kernels = w->kernels;
    const size_t size = (size_t)w->layout.element_size;
    static const char *const name[] = {"reduce_cells", "reduce_groups"};
    if (kernels->graph->reductions == 0) {
        return STRAKE_OK;
    }
    for (int k = 0; k < 2; k++) {
        w->reducer[k] = kernels->cl->clCreateKernel(kernels->program, name[k], &code);
        STRAKE_CL(name[k], code, error, kernels->device);
    }
    STRAKE_TRY(
        strake_cl_new_buffer(kernels, MOST_GROUPS * size, CL_MEM_READ_WRITE, &w->partial, error));
    for (int n = 0; n < kernels->graph->reductions; n++) {
        STRAKE_TRY(strake_cl_new_buffer(kernels, size, CL_MEM_READ_WRITE, &w->least[n], error));
    }
cleanup:
    return status;
}

void strake_cl_reduce_release(strake_cl_window *w)
{
    const strake_cl_kernels *kernels = w->kernels;
    for (int k = 0; k < 2 && kernels != NULL; k++) {
        if (w->reducer[k] != NULL) {
            (void)kernels->cl->clReleaseKernel(w->reducer[k]);
            w->reducer[k] = NULL;
        }
    }
    for (int n = 0; n < STRAKE_MAX_REDUCTIONS && kernels != NULL; n++) {
        strake_cl_release_buffer(kernels, &w->least[n]);
        strake_cl_release_event(kernels->cl, &w->reduced[n]);
    }
    if (kernels != NULL) {
        strake_cl_release_buffer(kernels, &w->partial);
    }
}

static strake_status reduce(strake_cl_window *w, int n, int64_t first, int64_t end,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
    const strake_layout *l = &w->layout;
    const strake_reduced *what = &kernels->graph->reduction[n];
    const strake_precision precision = kernels->graph->precision;
    const double start = strake_reduced_start(what->kind);
    const size_t items = items_of(kernels), groups = groups_of(w, end - first);
    const cl_mem array = w->array[w->slot[what->value]];
    strake_cl_arguments a = strake_cl_arguments_begin(kernels->cl, w->reducer[0]);
    strake_cl_pass(&a, sizeof array, &array);
    strake_cl_pass_long(&a, l->slab);
    strake_cl_pass_long(&a, l->pitch);
    strake_cl_pass_long(&a, w->origin + first * l->slab);
    strake_cl_pass_int(&a, end - first);
    strake_cl_pass_int(&a, l->n[1]);
    strake_cl_pass_int(&a, l->n[2]);
    strake_cl_pass_real(&a, precision, start);
    strake_cl_pass_int(&a, what->kind == STRAKE_MAXIMUM);
    strake_cl_pass(&a, sizeof w->partial, &w->partial);
    STRAKE_TRY(strake_cl_launch(kernels, w->queue, "reduce_cells", &a, items, 1, items * groups, 1,
                                1, error));
    a = strake_cl_arguments_begin(kernels->cl, w->reducer[1]);
    strake_cl_pass(&a, sizeof w->partial, &w->partial);
    strake_cl_pass_int(&a, (int64_t)groups);
    strake_cl_pass_real(&a, precision, start);
    strake_cl_pass_int(&a, what->kind == STRAKE_MAXIMUM);
    strake_cl_pass(&a, sizeof w->least[n], &w->least[n]);
    STRAKE_TRY(
        strake_cl_launch(kernels, w->queue, "reduce_groups", &a, items, 1, items, 1, 1, error));
    strake_cl_release_event(kernels->cl, &w->reduced[n]);
    STRAKE_CL("clEnqueueReadBuffer",
              kernels->cl->clEnqueueReadBuffer(w->queue, w->least[n], CL_FALSE, 0,
                                               (size_t)l->element_size, &w->number[n], 0, NULL,
                                               &w->reduced[n]),
              error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_reduce_begin(strake_cl_window *w, int64_t first, int64_t end,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int n = 0; n < w->kernels->graph->reductions; n++) {
        STRAKE_TRY(reduce(w, n, first, end, error));
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
        STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, waiter, &w->reduced[n], error));
        reduced[n] = strake_element_get(&w->number[n], w->layout.element_size, 0);
    }
cleanup:
    return status;
}
