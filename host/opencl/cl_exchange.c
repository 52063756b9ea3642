#include "opencl/cl_exchange.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t strake_cl_exchange_host_offset(const strake_cl_exchange *x, int64_t slab)
{
    return (size_t)(slab + x->host->lo[0]) * strake_cl_window_slab_bytes(x->window);
}

static strake_status new_pinned(const strake_cl_exchange *x, int64_t slabs, strake_cl_pinned *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_kernels *kernels = x->window->kernels;
    const size_t bytes = (size_t)slabs * strake_cl_window_slab_bytes(x->window);
    if (bytes == 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_cl_new_buffer(kernels, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                    &out->buffer, error));
    out->data = kernels->cl->clEnqueueMapBuffer(
        x->queue, out->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    STRAKE_CL("clEnqueueMapBuffer", code, error, kernels->device);
cleanup:
    return status;
}

static void release_pinned(const strake_cl_exchange *x, strake_cl_pinned *p)
{
    const strake_cl *cl = x->window->kernels->cl;
    if (p->data != NULL) {
        (void)cl->clEnqueueUnmapMemObject(x->queue, p->buffer, p->data, 0, NULL, NULL);
        (void)cl->clFinish(x->queue);
        p->data = NULL;
    }
    strake_cl_release_buffer(x->window->kernels, &p->buffer);
    p->slabs = 0;
}

/* Ghost slabs whose source is not this stripe's own. */
static strake_status find_ghosts(strake_cl_exchange *x, strake_range own, const int64_t depth[2],
                                 strake_error *error)
{
    const strake_layout *host = x->host;
    free(x->ghost);
    x->ghosts = 0;
    x->ghost = calloc((size_t)(depth[0] + depth[1]) + 1, sizeof *x->ghost);
    if (x->ghost == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory planning the exchange");
    }
    for (int64_t g = own.first - depth[0]; g < own.end + depth[1]; g++) {
        const int64_t source = strake_ghost_source(host->boundary[0], host->n[0], g);
        if (source < own.first || source >= own.end) {
            x->ghost[x->ghosts].slab = g - x->base;
            x->ghost[x->ghosts].source = source;
            x->ghosts++;
        }
    }
    x->runs = 0;
    for (int g = 0; g < x->ghosts; g++) {
        x->runs += g == 0 || x->ghost[g].slab != x->ghost[g - 1].slab + 1 ? 1 : 0;
    }
    return STRAKE_OK;
}

/* Staging memory for at least so many slabs. */
static strake_status need_pinned(strake_cl_exchange *x, int64_t slabs, strake_cl_pinned *p,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (p->slabs < slabs) {
        release_pinned(x, p);
        STRAKE_TRY(new_pinned(x, slabs, p, error));
        p->slabs = slabs;
    }
cleanup:
    return status;
}

strake_status strake_cl_exchange_create(strake_cl_exchange *x, strake_cl_window *window,
                                        const strake_layout *host, bool overlaps,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_kernels *kernels = window->kernels;
    x->window = window;
    x->host = host;
    x->queue = window->queue;
    if (overlaps) {
        x->queue =
            kernels->cl->clCreateCommandQueue(kernels->context, kernels->device->device, 0, &code);
        STRAKE_CL("clCreateCommandQueue", code, error, kernels->device);
        x->overlaps = true;
    }
cleanup:
    return status;
}

strake_status strake_cl_exchange_plan(strake_cl_exchange *x, const strake_range *stripe,
                                      int stripes, int self, int64_t base, const int64_t depth[2],
                                      const int64_t theirs[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t slabs = 0;
    x->base = base;
    STRAKE_TRY(find_ghosts(x, stripe[self], depth, error));
    x->borders =
        strake_partition_border(stripe, stripes, self, x->host->n[0], x->host->boundary[0],
                                (int)theirs[0], (int)theirs[1], STRAKE_CL_MOST_BORDERS, x->border);
    for (int b = 0; b < x->borders; b++) {
        slabs += x->border[b].end - x->border[b].first;
    }
    for (int k = 0; k < x->window->states; k++) {
        STRAKE_TRY(need_pinned(x, slabs, &x->out[k], error));
        STRAKE_TRY(need_pinned(x, x->ghosts, &x->in[k], error));
    }
cleanup:
    return status;
}

static void release_event(const strake_cl_exchange *x, cl_event *event)
{
    if (*event != NULL) {
        (void)x->window->kernels->cl->clReleaseEvent(*event);
        *event = NULL;
    }
}

void strake_cl_exchange_release(strake_cl_exchange *x)
{
    if (x->window == NULL || x->queue == NULL) {
        return;
    }
    (void)x->window->kernels->cl->clFinish(x->queue);
    release_event(x, &x->sent);
    release_event(x, &x->arrived);
    for (int k = 0; k < STRAKE_MAX_FIELDS_PER_STEP; k++) {
        release_pinned(x, &x->out[k]);
        release_pinned(x, &x->in[k]);
    }
    if (x->overlaps) {
        (void)x->window->kernels->cl->clReleaseCommandQueue(x->queue);
    }
    free(x->ghost);
    memset(x, 0, sizeof *x);
}

bool strake_cl_exchange_is_empty(const strake_cl_exchange *x)
{
    return x->ghosts == 0 && x->borders == 0;
}

/* Makes one queue wait for what another holds now. */
static strake_status follow(const strake_cl_exchange *x, cl_command_queue queue,
                            cl_command_queue leader, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    const strake_cl *cl = x->window->kernels->cl;
    const strake_cl_device *device = x->window->kernels->device;
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              cl->clEnqueueMarkerWithWaitList(leader, 0, NULL, &event), error, device);
    STRAKE_CL("clFlush", cl->clFlush(leader), error, device);
    STRAKE_CL("clEnqueueBarrierWithWaitList",
              cl->clEnqueueBarrierWithWaitList(queue, 1, &event, NULL), error, device);
cleanup:
    release_event(x, &event);
    return status;
}

void strake_cl_exchange_time(strake_cl_exchange *x)
{
    x->timed = true;
    x->so_far = 0.0;
    x->began = now();
}

/* Ends a timed exchange; the oldest sample makes room. */
static void add_sample(strake_cl_exchange *x)
{
    x->sample[x->samples++ % STRAKE_CL_SAMPLES] = x->so_far + now() - x->began;
    x->timed = false;
}

static int ascending(const void *a, const void *b)
{
    const double one = *(const double *)a;
    const double other = *(const double *)b;
    return (one > other) - (one < other);
}

void strake_cl_exchange_describe(const strake_cl_exchange *x, strake_cl_exchange_report *out)
{
    const double slab = (double)strake_cl_window_slab_bytes(x->window) * x->window->states;
    const int count = x->samples < STRAKE_CL_SAMPLES ? x->samples : STRAKE_CL_SAMPLES;
    double sorted[STRAKE_CL_SAMPLES] = {0.0};
    *out = (strake_cl_exchange_report){.messages_down = x->borders * x->window->states,
                                       .messages_up = x->runs * x->window->states,
                                       .bytes_up = x->ghosts * slab,
                                       .overlaps = x->overlaps,
                                       .samples = x->samples};
    for (int b = 0; b < x->borders; b++) {
        out->bytes_down += (double)(x->border[b].end - x->border[b].first) * slab;
    }
    memcpy(sorted, x->sample, sizeof sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    out->seconds = count > 0 ? 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]) : 0.0;
}

/* Where the event of a transfer goes: the last one's is waited for, others' are only recorded. */
static cl_event *event_of(strake_cl_exchange *x, bool is_last, cl_event *last)
{
    if (is_last) {
        return last;
    }
    return x->window->kernels->record != NULL ? &x->recorded : NULL;
}

static void record(strake_cl_exchange *x, strake_cl_command_kind kind, size_t bytes,
                   const cl_event *event)
{
    if (event != NULL) {
        strake_cl_record_add(x->window->kernels->record, kind, "", (double)bytes, *event);
    }
    release_event(x, &x->recorded);
}

strake_status strake_cl_exchange_send(strake_cl_exchange *x, int parity, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    if (x->borders == 0) {
        return STRAKE_OK;
    }
    if (x->overlaps) {
        STRAKE_TRY(follow(x, x->queue, x->window->queue, error));
    }
    for (int k = 0; k < x->window->states; k++) {
        size_t at = 0;
        for (int b = 0; b < x->borders; b++) {
            const bool is_last = k + 1 == x->window->states && b + 1 == x->borders;
            const strake_range border = x->border[b];
            const size_t bytes =
                (size_t)(border.end - border.first) * strake_cl_window_slab_bytes(x->window);
            cl_event *const event = event_of(x, is_last, &x->sent);
            STRAKE_CL("clEnqueueReadBuffer",
                      kernels->cl->clEnqueueReadBuffer(
                          x->queue, x->window->state[k].buffer[parity], CL_FALSE,
                          strake_cl_window_offset(x->window, border.first - x->base), bytes,
                          x->out[k].data + at, 0, NULL, event),
                      error, kernels->device);
            record(x, STRAKE_CL_DOWN, bytes, event);
            at += bytes;
        }
    }
    STRAKE_CL("clFlush", kernels->cl->clFlush(x->queue), error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_exchange_publish(strake_cl_exchange *x, void *const *array,
                                         strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    if (x->sent == NULL) {
        return STRAKE_OK;
    }
    /* A timed wait is for the transfer alone: how long the others took says nothing about it. */
    strake_cl_waiter own = {.kind = x->waiter.kind};
    STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, x->timed ? &own : &x->waiter, &x->sent,
                              error));
    for (int k = 0; k < x->window->states; k++) {
        char *host = array[x->window->state[k].input];
        size_t at = 0;
        for (int b = 0; b < x->borders; b++) {
            const strake_range border = x->border[b];
            const size_t bytes =
                (size_t)(border.end - border.first) * strake_cl_window_slab_bytes(x->window);
            memcpy(host + strake_cl_exchange_host_offset(x, border.first), x->out[k].data + at,
                   bytes);
            at += bytes;
        }
    }
    x->so_far = x->timed ? now() - x->began : 0.0;
cleanup:
    return status;
}

strake_status strake_cl_exchange_fetch(strake_cl_exchange *x, void *const *array,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    const size_t slab = strake_cl_window_slab_bytes(x->window);
    if (x->ghosts == 0) {
        x->timed = false;
        return STRAKE_OK;
    }
    x->began = x->timed ? now() : 0.0;
    if (x->arrived != NULL) { /* its staging memory is still being read, perhaps */
        STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, &x->reader, &x->arrived, error));
    }
    for (int k = 0; k < x->window->states; k++) {
        const strake_cl_state *state = &x->window->state[k];
        const char *host = array[state->input];
        int g = 0;
        while (g < x->ghosts) {
            /* Runs of neighbouring ghost slabs travel together. */
            int run = 0;
            do {
                memcpy(x->in[k].data + (size_t)(g + run) * slab,
                       host + strake_cl_exchange_host_offset(x, x->ghost[g + run].source), slab);
                run++;
            } while (g + run < x->ghosts &&
                     x->ghost[g + run].slab == x->ghost[g + run - 1].slab + 1);
            const bool is_last = k + 1 == x->window->states && g + run == x->ghosts;
            cl_event *const event = event_of(x, is_last, &x->arrived);
            STRAKE_CL("clEnqueueWriteBuffer",
                      kernels->cl->clEnqueueWriteBuffer(
                          x->queue, state->buffer[x->window->parity], CL_FALSE,
                          strake_cl_window_offset(x->window, x->ghost[g].slab), (size_t)run * slab,
                          x->in[k].data + (size_t)g * slab, 0, NULL, event),
                      error, kernels->device);
            record(x, STRAKE_CL_UP, (size_t)run * slab, event);
            g += run;
        }
    }
    STRAKE_CL("clFlush", kernels->cl->clFlush(x->queue), error, kernels->device);
    if (x->timed) {
        STRAKE_CL("clFinish", kernels->cl->clFinish(x->queue), error, kernels->device);
        add_sample(x);
    }
cleanup:
    return status;
}

strake_status strake_cl_exchange_join(strake_cl_exchange *x, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    if (x->arrived == NULL || !x->overlaps) {
        return STRAKE_OK;
    }
    STRAKE_CL("clEnqueueBarrierWithWaitList",
              kernels->cl->clEnqueueBarrierWithWaitList(x->window->queue, 1, &x->arrived, NULL),
              error, kernels->device);
cleanup:
    return status;
}
