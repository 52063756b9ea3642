#include "opencl/cl_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "opencl/cl_fill.h"
#include "opencl/cl_pins.h"

enum { REPEATS = 3, ROW = 16, PAGE = 4096 };
static const double most_array = 128.0 * 1048576.0; /* bytes: enough to fill a large GPU */
static const size_t most_transfer = (size_t)64 << 20;

int64_t strake_cl_probe_slabs(const strake_cl_demand *d)
{
    double bytes = (double)d->memory / d->arrays;
    bytes = bytes > (double)d->largest ? (double)d->largest : bytes;
    bytes = bytes > most_array ? most_array : bytes;
    int64_t slabs = (int64_t)(bytes / d->slab_bytes) - d->ghosts;
    slabs = slabs > d->slabs ? d->slabs : slabs;
    return slabs > 1 ? slabs : 1;
}

static strake_status fill(strake_cl_window *w, cl_mem array, strake_error *error)
{
    const double one = 1.0;
    const float one_single = 1.0F;
    const bool is_double = w->layout.element_size == (int)sizeof one;
    return strake_cl_fill(&w->kernels->filler, w->queue, array,
                          is_double ? (const void *)&one : (const void *)&one_single,
                          (size_t)w->layout.element_size, 0, strake_cl_window_array_bytes(w),
                          error);
}

static strake_status finish(strake_cl_window *w, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CL("clFinish", w->kernels->cl->clFinish(w->queue), error, w->kernels->device);
cleanup:
    return status;
}

/* Seconds of a step of so many slabs: the fastest of a few rows of steps, the first of which is left out. */
static strake_status probe_steps(strake_cl_window *w, int64_t slabs, int steps, double *seconds,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    *seconds = 0.0;
    for (int k = 0; k <= REPEATS; k++) {
        const double start = strake_clock_seconds();
        for (int i = 0; i < steps; i++) {
            STRAKE_TRY(strake_cl_window_step(w, 0, slabs, NULL, error));
        }
        STRAKE_TRY(finish(w, error));
        const double took = (strake_clock_seconds() - start) / steps;
        *seconds = k == 1 || (k > 1 && took < *seconds) ? took : *seconds;
    }
cleanup:
    return status;
}

/* What a transfer of one slab takes, of a row of them, without waiting. */
static strake_status probe_transfer(strake_cl_window *w, const strake_cl_pins *pins, void *memory,
                                    size_t bytes, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_mem array = w->state[0].buffer[0];
    *seconds = 0.0;
    for (int k = 0; k <= REPEATS; k++) {
        const double start = strake_clock_seconds();
        for (int i = 0; i < ROW; i++) {
            STRAKE_TRY(strake_cl_pins_write(pins, w->queue, array, 0, bytes, memory, NULL, error));
        }
        STRAKE_TRY(finish(w, error));
        const double took = (strake_clock_seconds() - start) / ROW;
        *seconds = k == 1 || (k > 1 && took < *seconds) ? took : *seconds;
    }
cleanup:
    return status;
}

static double at_least_zero(double x)
{
    return x > 0.0 ? x : 0.0;
}

static strake_status probe_link(strake_cl_window *w, const strake_cl_pins *pins, void *memory,
                                size_t bytes, double *up, double *down, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const cl_mem array = w->state[0].buffer[0];
    *up = 0.0;
    *down = 0.0;
    for (int k = 0; k <= REPEATS; k++) {
        const double start = strake_clock_seconds();
        STRAKE_TRY(strake_cl_pins_write(pins, w->queue, array, 0, bytes, memory, NULL, error));
        STRAKE_TRY(finish(w, error));
        const double middle = strake_clock_seconds();
        STRAKE_TRY(strake_cl_pins_read(pins, w->queue, array, 0, bytes, memory, NULL, error));
        STRAKE_TRY(finish(w, error));
        const double end = strake_clock_seconds();
        *up = k == 1 || (k > 1 && middle - start < *up) ? middle - start : *up;
        *down = k == 1 || (k > 1 && end - middle < *down) ? end - middle : *down;
    }
cleanup:
    return status;
}

strake_status strake_cl_probe(strake_cl_window *w, bool pinned, strake_cl_rates *out,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &w->layout;
    const size_t array = strake_cl_window_array_bytes(w);
    const size_t bytes = array < most_transfer ? array : most_transfer;
    const double cells = (double)l->n[0] * (double)l->n[1] * (double)l->n[2];
    strake_cl_pins pins = {.cl = w->kernels->cl,
                           .device = w->kernels->device,
                           .context = w->kernels->context,
                           .allowed = pinned};
    double up = 0.0;
    double down = 0.0;
    double step = 0.0;
    double start = 0.0;
    double transfer = 0.0;
    const size_t slab = strake_cl_window_slab_bytes(w);
    const size_t little = slab < bytes ? slab : bytes;
    void *memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    STRAKE_CHECK(memory != NULL, error, STRAKE_ERR_MEMORY, "out of memory measuring transfers");
    memset(memory, 0, bytes);
    strake_cl_pins_add(&pins, memory, bytes);
    STRAKE_TRY(probe_link(w, &pins, memory, bytes, &up, &down, error));
    STRAKE_TRY(probe_transfer(w, &pins, memory, little, &transfer, error));
    for (int k = 0; k < w->states; k++) {
        STRAKE_TRY(fill(w, w->state[k].buffer[0], error));
        STRAKE_TRY(fill(w, w->state[k].buffer[1], error));
    }
    for (int k = 0; k < w->arrays; k++) {
        STRAKE_TRY(fill(w, w->array[k], error));
    }
    STRAKE_TRY(probe_steps(w, w->layout.n[0], 1, &step, error));
    /* What a step and its ghosts take however few slabs there are: of a row of them, without waiting. */
    STRAKE_TRY(probe_steps(w, 1, ROW, &start, error));
    out->up = (double)bytes / up;
    out->down = (double)bytes / down;
    out->cells = cells / step;
    out->per_transfer = at_least_zero(transfer - (double)little / out->up);
    out->per_step = at_least_zero(start - cells / (double)l->n[0] / out->cells);
cleanup:
    strake_cl_pins_release(&pins);
    free(memory);
    return status;
}
