#include "opencl/cl_reduce.h"

#include <stdlib.h>

#include "base/element.h"

enum {
    MOST_ITEMS = 1024,
    FIRST_ROOM = 1024, /* groups */
    MOST_LEFT =
        1024, /* groups, each of which reads a number of each: beyond that a launch is faster */
    MOST_READ = 1024, /* numbers that the host takes as they are: likewise */
    READ_BYTES = MOST_READ * sizeof(double)
};

strake_status strake_cl_reduce_create(strake_cl_window *w, strake_error *error)
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

void strake_cl_reduce_release(strake_cl_window *w)
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

void strake_cl_reduce_forget(strake_cl_window *w)
{
    for (int n = 0; n < w->kernels->graph->reductions; n++) {
        w->reduced[n].groups = 0;
    }
}

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

strake_status strake_cl_reduce_pass(strake_cl_window *w, const strake_cl_kernel_plan *plan,
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

size_t strake_cl_reduce_pass_numbers(strake_cl_window *w, int n, strake_cl_arguments *a)
{
    strake_cl_reduced *const r = &w->reduced[n];
    const strake_reduced_kind kind = w->kernels->graph->reduction[n].kind;
    const int64_t count = r->left > 0 ? r->left : r->groups;
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

void strake_cl_reduce_pass_left(strake_cl_window *w, strake_cl_arguments *a)
{
    strake_cl_reduced *const r = &w->reduced[0];
    strake_cl_pass_buffer(a, w->clock);
    strake_cl_pass_int(a, w->clock_turn);
    strake_cl_pass_buffer(a, r->partial[1 - r->turn]);
    strake_cl_pass_int(a, r->left);
    w->clock_turn = r->left > 0 ? 1 - w->clock_turn : w->clock_turn;
    r->left = 0;
}

strake_status strake_cl_reduce_begin(strake_cl_window *w, strake_error *error)
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
cleanup:
    return status;
}

strake_status strake_cl_reduce_read(strake_cl_window *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = w->kernels;
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
        STRAKE_TRY(r->is_read != NULL
                       ? strake_cl_wait(kernels->cl, kernels->device, waiter, &r->is_read, error)
                       : STRAKE_OK);
        reduced[n] = strake_reduced_start(kind);
        for (int64_t k = 0; k < r->reads; k++) {
            strake_reduced_add(kind, &reduced[n],
                               strake_element_get(r->number, w->layout.element_size, k));
        }
    }
cleanup:
    return status;
}
