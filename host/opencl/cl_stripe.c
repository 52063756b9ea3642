#include "opencl/cl_stripe.h"

#include <stdlib.h>

enum {
    INTERIOR_PER_BORDER = 8
}; /* slabs: fewer, and what the borders' own launches cost is more */

struct strake_cl_stripe {
    strake_cl_kernels kernels;
    strake_cl_window window;
    strake_cl_exchange exchange;
    cl_command_queue queue;
    const strake_layout *host;
    strake_range range;     /* of the grid */
    strake_range own;       /* the same in slabs of the window */
    int64_t reach;          /* slabs that a step of a sweep needs beyond the next one's */
    strake_cl_pairs edges;  /* ghosts beyond the domain's edges */
    strake_cl_pairs ghosts; /* all ghosts that copy a slab of this stripe */
    strake_cl_waiter waiter;
    cl_event looked; /* the search for NaN and Inf is done */
};

/* Slabs that the window computes before and after the stripe in a sweep of several steps. */
static void find_depth(const strake_layout *host, strake_range range, int steps, int64_t reach,
                       int64_t extra[2])
{
    const bool is_periodic = host->boundary[0] == STRAKE_PERIODIC;
    const bool is_whole = range.first == 0 && range.end == host->n[0];
    const int64_t most = is_whole ? 0 : (steps - 1) * reach;
    extra[0] = is_periodic || range.first > most ? most : range.first;
    extra[1] = is_periodic || host->n[0] - range.end > most ? most : host->n[0] - range.end;
}

/*
 * Which ghosts the stripe fills itself: within a sweep those beyond the domain's edges, after it all
 * whose source it owns.
 */
static strake_status plan_ghosts(strake_cl_stripe *s, const int64_t depth[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *host = s->host;
    const int64_t base = s->range.first - s->own.first;
    const bool is_whole = s->range.first == 0 && s->range.end == host->n[0];
    const bool has_edges = is_whole || host->boundary[0] != STRAKE_PERIODIC;
    const size_t most = (size_t)(depth[0] + depth[1]) + 1;
    int edges = 0;
    int ghosts = 0;
    int64_t *list = calloc(4 * most, sizeof *list);
    int64_t *edge_to = list;
    int64_t *edge_from = list + most;
    int64_t *ghost_to = list + 2 * most;
    int64_t *ghost_from = list + 3 * most;
    STRAKE_CHECK(list != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning ghost slabs");
    for (int64_t g = s->range.first - depth[0]; g < s->range.end + depth[1]; g++) {
        if (g >= s->range.first && g < s->range.end) {
            continue;
        }
        const int64_t source = strake_ghost_source(host->boundary[0], host->n[0], g);
        const int64_t from = source - base;
        if (has_edges && (g < 0 || g >= host->n[0]) && from >= 0 && from < s->window.layout.n[0]) {
            edge_to[edges] = g - base;
            edge_from[edges++] = from;
        }
        if (source >= s->range.first && source < s->range.end) {
            ghost_to[ghosts] = g - base;
            ghost_from[ghosts++] = from;
        }
    }
    STRAKE_TRY(strake_cl_window_pairs(&s->window, edges, edge_to, edge_from, &s->edges, error));
    STRAKE_TRY(strake_cl_window_pairs(&s->window, ghosts, ghost_to, ghost_from, &s->ghosts, error));
cleanup:
    free(list);
    return status;
}

static bool overlaps(const strake_cl_stripe *s, strake_cl_overlap asked, const int64_t depth[2])
{
    const int64_t slabs = s->range.end - s->range.first;
    return asked == STRAKE_CL_OVERLAP_ON ||
           (asked == STRAKE_CL_OVERLAP_DEFAULT && strake_cl_device_is_gpu(s->kernels.device) &&
            slabs > INTERIOR_PER_BORDER * (depth[0] + depth[1]));
}

strake_status strake_cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
                                      const strake_graph *graph, const strake_problem *problem,
                                      const strake_layout *host_layout, const strake_range *stripe,
                                      int stripes, int self, int steps,
                                      const strake_cl_stripe_options *options,
                                      strake_cl_stripe **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_range range = stripe[self];
    const int64_t reach = strake_layout_reach(host_layout);
    int64_t extra[2] = {0, 0};
    find_depth(host_layout, range, steps, reach, extra);
    const int64_t n[STRAKE_AXES] = {extra[0] + range.end - range.first + extra[1],
                                    host_layout->n[1], host_layout->n[2]};
    const strake_layout layout =
        strake_layout_make_deep(graph, host_layout->steps, n, host_layout->boundary);
    const int64_t depth[2] = {extra[0] + layout.lo[0], extra[1] + layout.hi[0]};
    const int64_t again = (steps - 1) * reach;
    const int64_t theirs[2] = {again + layout.lo[0], again + layout.hi[0]};
    strake_cl_stripe *s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a device stripe");
    s->host = host_layout;
    s->range = range;
    s->reach = reach;
    s->waiter.kind = options->wait;
    s->exchange.waiter.kind = options->wait;
    s->own.first = extra[0];
    s->own.end = extra[0] + range.end - range.first;
    STRAKE_TRY(strake_cl_kernels_build(&s->kernels, cl, device, graph, problem, &layout,
                                       &options->tuning, error));
    s->queue = cl->clCreateCommandQueue(s->kernels.context, device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, device);
    STRAKE_TRY(strake_cl_window_create(&s->window, &s->kernels, &layout, s->queue, error));
    STRAKE_TRY(plan_ghosts(s, depth, error));
    STRAKE_TRY(strake_cl_exchange_create(&s->exchange, &s->window, host_layout, stripe, stripes,
                                         self, range.first - s->own.first, depth, theirs,
                                         overlaps(s, options->overlap, depth), error));
    *out = s;
    s = NULL;
cleanup:
    strake_cl_stripe_destroy(&s);
    return status;
}

void strake_cl_stripe_destroy(strake_cl_stripe **stripe)
{
    strake_cl_stripe *s = *stripe;
    if (s == NULL) {
        return;
    }
    if (s->queue != NULL) {
        (void)s->kernels.cl->clFinish(s->queue);
    }
    if (s->looked != NULL) {
        (void)s->kernels.cl->clReleaseEvent(s->looked);
    }
    strake_cl_exchange_release(&s->exchange);
    strake_cl_release_buffer(&s->kernels, &s->edges.list);
    strake_cl_release_buffer(&s->kernels, &s->ghosts.list);
    strake_cl_window_release(&s->window);
    if (s->queue != NULL) {
        (void)s->kernels.cl->clReleaseCommandQueue(s->queue);
    }
    strake_cl_kernels_release(&s->kernels);
    free(s);
    *stripe = NULL;
}

/*
 * Uploads slabs [-lo, n + hi) of the window from a host array: runs of slabs that lie together there.
 * With @p by_map slabs beyond the domain take their source's, else they lie in the host array.
 */
static strake_status upload(strake_cl_stripe *s, cl_mem array, const void *host, bool by_map,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->window.layout;
    const size_t bytes = strake_cl_window_slab_bytes(&s->window);
    const int64_t base = s->range.first - s->own.first;
    const int64_t end = l->n[0] + l->hi[0];
    int64_t slab = -(int64_t)l->lo[0];
    while (slab < end) {
        int64_t source = slab + base;
        int64_t run = end - slab;
        if (by_map) {
            const strake_boundary boundary = s->host->boundary[0];
            const int64_t n = s->host->n[0];
            source = strake_ghost_source(boundary, n, slab + base);
            run = 1;
            while (slab + run < end &&
                   strake_ghost_source(boundary, n, slab + run + base) == source + run) {
                run++;
            }
        }
        STRAKE_CL("clEnqueueWriteBuffer",
                  s->kernels.cl->clEnqueueWriteBuffer(
                      s->queue, array, CL_FALSE, strake_cl_window_offset(&s->window, slab),
                      (size_t)run * bytes,
                      (const char *)host + strake_cl_exchange_host_offset(&s->exchange, source), 0,
                      NULL, NULL),
                  error, s->kernels.device);
        slab += run;
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_upload_static(strake_cl_stripe *s, void *const *array,
                                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int v = 0; v < s->kernels.graph->values; v++) {
        if (strake_cl_window_needs(&s->window, v)) {
            STRAKE_TRY(upload(s, s->window.array[s->window.slot[v]], array[v],
                              s->host->boundary[0] == STRAKE_PERIODIC, error));
        }
    }
    STRAKE_TRY(strake_cl_window_static(&s->window, 0, s->window.layout.n[0], error));
    STRAKE_TRY(strake_cl_stripe_finish(s, error));
cleanup:
    return status;
}

strake_status strake_cl_stripe_upload_state(strake_cl_stripe *s, void *const *array,
                                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->window.layout;
    for (int k = 0; k < s->window.states; k++) {
        const cl_mem current = s->window.state[k].buffer[s->window.parity];
        STRAKE_TRY(upload(s, current, array[s->window.state[k].input], true, error));
        STRAKE_TRY(strake_cl_window_fill(&s->window, current, -(int64_t)l->lo[0],
                                         l->n[0] + l->hi[0], NULL, error));
    }
    STRAKE_TRY(strake_cl_stripe_finish(s, error));
cleanup:
    return status;
}

strake_status strake_cl_stripe_download(strake_cl_stripe *s, void *const *array,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < s->window.states; k++) {
        const strake_cl_state *state = &s->window.state[k];
        char *host = array[state->input];
        STRAKE_CL("clEnqueueReadBuffer",
                  s->kernels.cl->clEnqueueReadBuffer(
                      s->queue, state->buffer[s->window.parity], CL_TRUE,
                      strake_cl_window_offset(&s->window, s->own.first),
                      (size_t)(s->own.end - s->own.first) * strake_cl_window_slab_bytes(&s->window),
                      host + strake_cl_exchange_host_offset(&s->exchange, s->range.first), 0, NULL,
                      NULL),
                  error, s->kernels.device);
    }
cleanup:
    return status;
}

/* One step for slabs [first, end) and the ghosts that depend on them alone. */
static strake_status step(strake_cl_stripe *s, int64_t first, int64_t end,
                          const strake_cl_pairs *pairs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_window_step(&s->window, first, end, error));
    for (int k = 0; k < s->window.states; k++) {
        STRAKE_TRY(strake_cl_window_fill(
            &s->window, s->window.state[k].buffer[1 - s->window.parity], first, end, pairs, error));
    }
cleanup:
    return status;
}

/* The last step of a sweep: border slabs first where transfers overlap. */
static strake_status last_step(strake_cl_stripe *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_exchange *x = &s->exchange;
    const int next = 1 - s->window.parity;
    const int64_t base = s->range.first - s->own.first;
    int64_t done = s->own.first;
    if (!x->overlaps) {
        STRAKE_TRY(step(s, s->own.first, s->own.end, &s->ghosts, error));
        return strake_cl_exchange_send(&s->exchange, next, error);
    }
    for (int b = 0; b < x->borders; b++) {
        STRAKE_TRY(step(s, x->border[b].first - base, x->border[b].end - base, NULL, error));
    }
    STRAKE_TRY(strake_cl_exchange_send(&s->exchange, next, error));
    for (int b = 0; b <= x->borders; b++) {
        const int64_t end = b < x->borders ? x->border[b].first - base : s->own.end;
        if (done < end || b == x->borders) {
            STRAKE_TRY(step(s, done, end, b == x->borders ? &s->ghosts : NULL, error));
        }
        done = b < x->borders ? x->border[b].end - base : done;
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_sweep(strake_cl_stripe *s, int steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs = s->window.layout.n[0];
    STRAKE_TRY(strake_cl_exchange_join(&s->exchange, error));
    for (int k = steps - 1; k > 0; k--) {
        const int64_t first = s->own.first - k * s->reach;
        const int64_t end = s->own.end + k * s->reach;
        STRAKE_TRY(step(s, first > 0 ? first : 0, end < slabs ? end : slabs, &s->edges, error));
        strake_cl_window_swap(&s->window);
    }
    STRAKE_TRY(last_step(s, error));
    strake_cl_window_swap(&s->window);
    STRAKE_CL("clFlush", s->kernels.cl->clFlush(s->queue), error, s->kernels.device);
cleanup:
    return status;
}

void strake_cl_stripe_undo(strake_cl_stripe *s, int steps)
{
    if (steps % 2 != 0) {
        strake_cl_window_swap(&s->window);
    }
}

strake_status strake_cl_stripe_publish(strake_cl_stripe *s, void *const *array, strake_error *error)
{
    return strake_cl_exchange_publish(&s->exchange, array, error);
}

strake_status strake_cl_stripe_fetch(strake_cl_stripe *s, void *const *array, strake_error *error)
{
    return strake_cl_exchange_fetch(&s->exchange, array, error);
}

strake_status strake_cl_stripe_finish(strake_cl_stripe *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_wait_queue(s->kernels.cl, s->kernels.device, &s->waiter, s->queue, error));
    if (s->exchange.overlaps) {
        STRAKE_CL("clFinish", s->kernels.cl->clFinish(s->exchange.queue), error, s->kernels.device);
    }
cleanup:
    return status;
}

strake_status strake_cl_stripe_look(strake_cl_stripe *s, strake_error *error)
{
    return strake_cl_window_look(&s->window, s->own.first, s->own.end, &s->looked, error);
}

strake_status strake_cl_stripe_is_finite(strake_cl_stripe *s, bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *finite = true;
    if (s->looked != NULL) {
        STRAKE_TRY(strake_cl_wait(s->kernels.cl, s->kernels.device, &s->waiter, &s->looked, error));
        *finite = s->window.non_finite == 0;
    }
cleanup:
    return status;
}

bool strake_cl_stripe_is_alone(const strake_cl_stripe *s)
{
    return strake_cl_exchange_is_empty(&s->exchange);
}

strake_status strake_cl_stripe_check(strake_cl_stripe *s, bool *intact, strake_error *error)
{
    const strake_status status = strake_cl_stripe_finish(s, error);
    return status == STRAKE_OK ? strake_cl_window_check(&s->window, intact, error) : status;
}
