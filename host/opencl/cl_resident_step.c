/* The last step of a sweep, whose border slabs others wait for: by one launch with all others, or before them. */
#include "base/clock.h"
#include "opencl/cl_reduce.h"
#include "opencl/cl_resident_impl.h"

/* One exchange of so many has nothing beside it and is timed by the host, after the trials. */
enum { TIMED_EXCHANGES = 64, UNTIMED_SWEEPS = 16 };

strake_status strake_cl_resident_choose(strake_cl_resident *s, strake_error *error)
{
    strake_cl_exchange *const x = &s->exchange;
    const strake_status status =
        strake_cl_active_begin(&s->active, &s->window, &s->waiter, &s->window.listing, error);
    s->timing = s->all_sweeps >= UNTIMED_SWEEPS &&
                (s->all_sweeps - UNTIMED_SWEEPS) % TIMED_EXCHANGES == 0 &&
                !strake_cl_exchange_is_empty(x);
    s->all_sweeps++;
    /* Tiles in a list have one launch: nothing is left to run beside the transfers. */
    x->beside = x->overlaps && s->window.listing == NULL;
    s->edges_first = x->beside && x->borders > 0 && !s->timing && !s->weighing;
    return status;
}

/* What the sweep reduces; a clock on the device does so itself. */
static strake_status bring_down(strake_cl_resident *s, strake_error *error)
{
    const strake_status status =
        s->clock.runs ? STRAKE_OK : strake_cl_reduce_begin(&s->window, error);
    return status == STRAKE_OK && !s->clock.runs ? strake_cl_reduce_read(&s->window, error)
                                                 : status;
}

/* All slabs at once, then the transfers, the reduced number before the borders. */
static strake_status step_whole(strake_cl_resident *s, void *const *after, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_window_step(&s->window, s->range.first - s->base, s->range.end - s->base,
                                     &s->ghosts, error));
    s->window.listing = NULL;
    STRAKE_TRY(s->timing || s->weighing ? strake_cl_wait_queue(s->kernels->cl, s->kernels->device,
                                                               &s->through, s->queue, error)
                                        : STRAKE_OK);
    s->busy += s->weighing ? strake_clock_seconds() - s->began : 0.0;
    if (s->timing) {
        strake_cl_exchange_time(&s->exchange);
    }
    STRAKE_TRY(bring_down(s, error));
    STRAKE_TRY(strake_cl_exchange_mark(&s->exchange, NULL, error));
    STRAKE_TRY(strake_cl_exchange_send(&s->exchange, 1 - s->window.parity, after, error));
cleanup:
    return status;
}

/*
 * The slabs that are computed with a border, before the others. Where all meet on the time step nobody is waiting for the
 * border alone: half of the stripe goes along, since a launch of few slabs leaves most of a device idle.
 */
static strake_range find_edge(const strake_cl_resident *s, int b)
{
    const strake_cl_exchange *const x = &s->exchange;
    const int64_t first = s->range.first, end = s->range.end;
    const int64_t slabs = s->kernels->graph->reductions > 0 ? (end - first) / (2 * x->borders) : 0;
    strake_range edge = x->border[b];
    if (edge.end - edge.first < slabs && edge.first == first) {
        edge.end = first + slabs;
    } else if (edge.end - edge.first < slabs && edge.end == end) {
        edge.first = end - slabs;
    }
    return (strake_range){edge.first - s->base, edge.end - s->base};
}

/*
 * The slabs with borders. With a second queue: the first border in the one, any others at the same time in the other one,
 * which comes after both then, so that what else it is given is in nobody's way: a GPU hands out all groups of a launch that
 * has begun before those of a later one, and the ghosts of a border are such a one. @param[out] edges  of all of them; owned
 * by the caller, NULL where there is one queue
 */
static strake_status step_edges(strake_cl_resident *s, cl_event *edges, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = &s->window;
    const strake_cl_kernels *const k = s->kernels;
    const int borders = s->exchange.borders;
    cl_event here = NULL;
    STRAKE_TRY(strake_cl_aside_mark(k->cl, k->device, s->queue, s->aside, &here, error));
    for (int b = 0; b < borders; b++) {
        const strake_range edge = find_edge(s, b);
        STRAKE_TRY(strake_cl_window_step(w, edge.first, edge.end, &s->ghosts, error));
        if (b == 0 && s->aside != NULL) {
            STRAKE_TRY(
                strake_cl_aside_turn(k->cl, k->device, &s->queue, &s->aside, &here, edges, error));
            w->queue = s->queue;
            w->beside = *edges;
        }
    }
    if (borders > 1 && s->aside != NULL) {
        STRAKE_TRY(strake_cl_come_after(k->cl, k->device, s->queue, *edges, error));
        strake_cl_release_event(k->cl, edges);
        w->beside = NULL;
        STRAKE_TRY(strake_cl_mark(k->cl, k->device, s->queue, edges, error));
    }
cleanup:
    strake_cl_release_event(k->cl, &here);
    return status;
}

/*
 * Those first, the others while borders travel, where there are two queues and one border also at the same time. These are
 * launched before the transfers are asked for, which takes long.
 */
static strake_status step_edges_first(strake_cl_resident *s, void *const *after,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = &s->window;
    const strake_cl_kernels *const k = s->kernels;
    const int borders = s->exchange.borders;
    int64_t done = s->range.first - s->base;
    cl_event edges = NULL;
    STRAKE_TRY(step_edges(s, &edges, error));
    STRAKE_TRY(strake_cl_exchange_mark(&s->exchange, edges, error));
    for (int b = 0; b <= borders; b++) {
        const strake_range edge = b < borders ? find_edge(s, b) : (strake_range){0, 0};
        const int64_t end = b < borders ? edge.first : s->range.end - s->base;
        STRAKE_TRY(done < end ? strake_cl_window_step(w, done, end, &s->ghosts, error) : STRAKE_OK);
        done = b < borders ? edge.end : done;
    }
    STRAKE_TRY(edges != NULL ? strake_cl_come_after(k->cl, k->device, s->queue, edges, error)
                             : STRAKE_OK);
    STRAKE_TRY(bring_down(s, error));
    STRAKE_TRY(strake_cl_exchange_send(&s->exchange, 1 - w->parity, after, error));
cleanup:
    w->beside = NULL;
    strake_cl_release_event(k->cl, &edges);
    return status;
}

strake_status strake_cl_resident_last_step(strake_cl_resident *s, void *const *after,
                                           strake_error *error)
{
    return s->edges_first ? step_edges_first(s, after, error) : step_whole(s, after, error);
}

bool strake_cl_resident_is_beside(const strake_cl_resident *s)
{
    return s->edges_first;
}
