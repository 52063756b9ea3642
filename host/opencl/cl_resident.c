#include "opencl/cl_resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/graph.h"
#include "model/rounds.h"

/*
 * Ghosts of others' slabs in a window that advance themselves (engine/graph.h): kernels of the stages that takes, on
 * the arrays of the window.
 */
struct strake_cl_ghosts {
    const strake_cl_window *of;
    strake_graph graph;
    strake_cl_kernels kernels;
    strake_cl_window window; /* with arrays of the other, but for what only these kernels make */
    bool is_own[STRAKE_MAX_VALUES]; /* of its arrays */
};

/* Where the other window has a value now; NULL: nowhere. */
static cl_mem borrowed(const strake_cl_window *of, int value)
{
    for (int k = 0; k < of->states; k++) {
        if (of->state[k].input == value) {
            return of->state[k].buffer[of->parity];
        }
    }
    return of->kernels->graph->value[value].stage < 0 && of->slot[value] >= 0
               ? of->array[of->slot[value]]
               : NULL;
}

/* The present roles of the other's arrays. */
static void follow(strake_cl_ghosts *g)
{
    strake_cl_window *const w = &g->window;
    w->queue = g->of->queue;
    w->parity = g->of->parity;
    memcpy(w->scalar, g->of->scalar, sizeof w->scalar);
    g->kernels.record = g->of->kernels->record;
    for (int v = 0; v < g->graph.values; v++) {
        if (w->slot[v] >= 0 && !g->is_own[w->slot[v]]) {
            w->array[w->slot[v]] = borrowed(g->of, v);
        }
    }
}

static strake_status share(strake_cl_ghosts *g, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = &g->window;
    const strake_cl_window *const of = g->of;
    *w = (strake_cl_window){.kernels = &g->kernels,
                            .queue = of->queue,
                            .layout = of->layout,
                            .lead = of->lead,
                            .tail = of->tail,
                            .origin = of->origin};
    for (int k = 0; k < of->states; k++) {
        if (g->graph.value[of->state[k].input].next >= 0) {
            w->state[w->states++] = of->state[k];
        }
    }
    w->arrays = strake_cl_window_slots(&g->kernels, w->slot);
    for (int v = 0; v < g->graph.values; v++) {
        if (w->slot[v] >= 0 && g->graph.value[v].stage >= 0 && !g->is_own[w->slot[v]]) {
            g->is_own[w->slot[v]] = true;
            STRAKE_TRY(strake_cl_new_buffer(&g->kernels, strake_cl_window_array_bytes(w),
                                            CL_MEM_READ_WRITE, &w->array[w->slot[v]], error));
        }
    }
cleanup:
    return status;
}

static void destroy_ghosts(strake_cl_ghosts **ghosts)
{
    strake_cl_ghosts *const g = *ghosts;
    if (g == NULL) {
        return;
    }
    for (int k = 0; k < g->window.arrays; k++) {
        if (g->is_own[k]) {
            strake_cl_release_buffer(&g->kernels, &g->window.array[k]);
        }
    }
    strake_cl_kernels_release(&g->kernels);
    free(g);
    *ghosts = NULL;
}

/*
 * @param[in]  window   with its kernels, borrowed until destroy
 * @param[in]  problem  of the graph that these were made for
 * @param[out] out      NULL where the graph keeps no states
 * @return STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY
 */
static strake_status create_ghosts(const strake_cl_window *window, const strake_problem *problem,
                                   strake_cl_ghosts **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const of = window->kernels;
    const strake_settings settings = {.fusion = STRAKE_CL_FUSION_PLAIN,
                                      .dump_kernels = of->options.run.dump_kernels};
    strake_cl_ghosts *g = NULL;
    *out = NULL;
    if (!strake_ghosts_are_kept(of->graph)) {
        return STRAKE_OK;
    }
    g = calloc(1, sizeof *g);
    STRAKE_CHECK(g != NULL, error, STRAKE_ERR_MEMORY, "out of memory for ghost slabs");
    g->of = window;
    STRAKE_TRY(strake_ghosts_graph(of->graph, &g->graph, error));
    g->kernels.shared = of->context;
    STRAKE_TRY(strake_cl_kernels_build(&g->kernels, of->cl, of->device, &g->graph, problem,
                                       &window->layout, &settings, error));
    STRAKE_TRY(share(g, error));
    *out = g;
    g = NULL;
cleanup:
    destroy_ghosts(&g);
    return status;
}

/* Once static inputs are there. */
static strake_status prepare_ghosts(strake_cl_ghosts *g, strake_error *error)
{
    const strake_layout *const l = &g->of->layout;
    follow(g);
    return strake_cl_window_static(&g->window, -(int64_t)l->lo[0], l->n[0] + l->hi[0], error);
}

/* Enqueues advancing the current states of slabs [first, end), as the window's next step does its own. */
static strake_status step_ghosts(strake_cl_ghosts *g, int64_t first, int64_t end,
                                 strake_error *error)
{
    follow(g);
    return strake_cl_window_step(&g->window, first, end, NULL, error);
}

/* The last step of a sweep, whose border slabs others wait for: by one launch with all others, or before them. */

/* One exchange of so many has nothing beside it and is timed by the host, after the trials. */
enum { TIMED_EXCHANGES = 64, UNTIMED_SWEEPS = 16 };

/* Whether no other stripe reads this one's slabs, and this one reads no others. */
static bool cl_exchange_is_empty(const strake_cl_exchange *x)
{
    return x->ghosts == 0 && x->borders == 0;
}

/* Decides how the last step of the sweep is computed, before that is enqueued: once for each sweep. */
static strake_status choose_step(strake_cl_resident *s, strake_error *error)
{
    strake_cl_exchange *const x = &s->exchange;
    const strake_status status =
        strake_cl_active_begin(&s->active, &s->window, &s->waiter, &s->window.listing, error);
    s->timing = s->all_sweeps >= UNTIMED_SWEEPS &&
                (s->all_sweeps - UNTIMED_SWEEPS) % TIMED_EXCHANGES == 0 && !cl_exchange_is_empty(x);
    s->all_sweeps++;
    /* Tiles in a list have one launch: nothing is left to run beside the transfers. */
    x->beside = x->overlaps && s->window.listing == NULL;
    s->edges_first = x->beside && x->borders > 0 && !s->timing && !s->weighing;
    return status;
}

/* What the sweep reduces; a clock on the device does so itself. */
static strake_status reduce(strake_cl_resident *s, strake_error *error)
{
    return s->clock.runs ? STRAKE_OK : strake_cl_reduce(&s->window, error);
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
        s->exchange.timed = true;
        s->exchange.so_far = 0.0;
        s->exchange.began = strake_clock_seconds();
    }
    STRAKE_TRY(reduce(s, error));
    STRAKE_TRY(strake_cl_exchange_mark(&s->exchange, NULL, error));
    STRAKE_TRY(strake_cl_exchange_send(&s->exchange, 1 - s->window.parity, after, error));
cleanup:
    return status;
}

/*
 * The slabs that are computed with a border, before the others. Where all meet on the time step no stripe waits for the
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
 * which comes after both then, so that its other commands delay neither border: a GPU hands out all groups of a launch that
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
    STRAKE_TRY(reduce(s, error));
    STRAKE_TRY(strake_cl_exchange_send(&s->exchange, 1 - w->parity, after, error));
cleanup:
    w->beside = NULL;
    strake_cl_release_event(k->cl, &edges);
    return status;
}

enum {
    INTERIOR_PER_BORDER = 8, /* slabs: fewer, and what the borders' own launches cost is more */
    WEIGHED_SWEEPS = 64,     /* the kernels of one of so many are timed, of the second one first, */
    WEIGHED_RUNS = 8,        /* and of one of so many runs that have no second one */
    FLUSHED_SWEEPS = 8,      /* of a device that keeps the clock */
    /* Room to wander: a part of the stripe, but for so many sweeps. */
    ROOM_PART = 4,
    LEAST_SWEEPS = 4
};

/* Slabs that the window computes before and after slabs of the stripe in a sweep of several steps. */
static void find_extra(const strake_layout *host, strake_range range, bool is_whole, int steps,
                       int64_t extra[2])
{
    const bool is_periodic = host->boundary[0] == STRAKE_PERIODIC;
    const int64_t most = is_whole ? 0 : (steps - 1) * strake_layout_reach(host);
    extra[0] = is_periodic || range.first > most ? most : range.first;
    extra[1] = is_periodic || host->n[0] - range.end > most ? most : host->n[0] - range.end;
}

static bool is_whole(const strake_layout *host, strake_range range)
{
    return range.first == 0 && range.end == host->n[0];
}

/* Slabs that a sweep needs before those that it computes; one way, that its window wanders. */
static int64_t depth_before(const strake_layout *host, int steps)
{
    return host->lo[0] + (steps - 1) * strake_layout_reach(host);
}

/* Ghosts after a stripe that is exchanged one way. */
static int64_t depth_one_way(const strake_layout *host, int steps)
{
    return depth_before(host, steps) + host->hi[0] + (steps - 1) * strake_layout_reach(host);
}

/* Slabs at the end of the window through which it wanders. */
static int64_t find_room(const strake_layout *host, const strake_cl_resident_options *options)
{
    const int64_t least = LEAST_SWEEPS * depth_before(host, options->steps);
    const int64_t part = (options->capacity.end - options->capacity.first) / ROOM_PART;
    return !options->one_way ? 0 : part > least ? part : least;
}

strake_layout strake_cl_resident_layout(const strake_graph *graph, const strake_layout *host,
                                        strake_range own, const strake_cl_resident_options *options)
{
    int64_t extra[2];
    find_extra(host, options->capacity, is_whole(host, own), options->steps, extra);
    const int64_t n[STRAKE_AXES] = {extra[0] + options->capacity.end - options->capacity.first +
                                        extra[1] + find_room(host, options),
                                    host->n[1], host->n[2]};
    return strake_layout_make_deep(graph, host->steps, n, host->boundary);
}

/*
 * Which ghosts the stripe fills itself: within a sweep those beyond the domain's edges, after it all
 * whose source it owns; before it those beyond poles that are made of others' slabs.
 */
static strake_status plan_ghosts(strake_cl_resident *s, const int64_t depth[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *host = s->host;
    const int64_t base = s->base;
    const bool has_edges = is_whole(host, s->range) || host->boundary[0] != STRAKE_PERIODIC;
    const size_t most = (size_t)(depth[0] + depth[1]) + 1;
    int edges = 0;
    int ghosts = 0;
    int turned = 0;
    int64_t *list = calloc(6 * most, sizeof *list);
    STRAKE_CHECK(list != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning ghost slabs");
    for (int64_t g = s->range.first - depth[0]; g < s->range.end + depth[1]; g++) {
        if (g >= s->range.first && g < s->range.end) {
            continue;
        }
        const int64_t source = strake_ghost_source(host->boundary[0], host->n[0], g);
        const int64_t from = source - base;
        if (has_edges && (g < 0 || g >= host->n[0]) && from >= 0 && from < s->window.layout.n[0]) {
            list[edges] = g - base;
            list[most + (size_t)edges++] = from;
        }
        if (source >= s->range.first && source < s->range.end) {
            list[2 * most + (size_t)ghosts] = g - base;
            list[3 * most + (size_t)ghosts++] = from;
        } else if (strake_ghost_is_turned(host->boundary[0], host->n[0], g)) {
            list[4 * most + (size_t)turned] = g - base;
            list[5 * most + (size_t)turned++] = from;
        }
    }
    STRAKE_TRY(strake_cl_window_pairs(&s->window, edges, list, list + most, &s->edges, error));
    STRAKE_TRY(strake_cl_window_pairs(&s->window, ghosts, list + 2 * most, list + 3 * most,
                                      &s->ghosts, error));
    STRAKE_TRY(strake_cl_window_pairs(&s->window, turned, list + 4 * most, list + 5 * most,
                                      &s->turned, error));
cleanup:
    free(list);
    return status;
}

/* Whether transfers run beside the kernels of the slabs that no other stripe waits for. @param[in] border  bytes of one */
static bool resident_overlaps(const strake_cl_resident *s,
                              const strake_cl_resident_options *options, int64_t slabs,
                              int64_t borders, double border)
{
    const strake_cl_costs *costs = &options->costs;
    const int asked = s->kernels->options.run.overlap;
    if (asked != STRAKE_CL_OVERLAP_DEFAULT) {
        return asked == STRAKE_CL_OVERLAP_ON;
    }
    /* Where all meet on the time step in every sweep, small borders are one transfer behind a single launch. */
    if (s->kernels->graph->reductions > 0 &&
        strake_exchange_packs(strake_ghosts_count(s->kernels->graph), border)) {
        return false;
    }
    if (costs->known) {
        const strake_overlap_case c = {
            .exchange = costs->exchange,
            .beside = costs->beside,
            .factor = costs->factor,
            .interior = (double)(slabs > borders ? slabs - borders : 0) * costs->slab,
            .extra = costs->ranges * s->kernels->kernels * costs->launch + costs->barrier};
        return strake_overlap_pays(&c);
    }
    return strake_cl_device_is_gpu(s->kernels->device) && slabs > INTERIOR_PER_BORDER * borders;
}

/* Kernels that leave something to each other have one queue: what they leave shares memory. */
static strake_status open_queues(strake_cl_resident *s, bool beside, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const k = s->kernels;
    cl_int code = CL_SUCCESS;
    int kernels = 0;
    for (int i = 0; i < k->kernels; i++) {
        kernels += k->plan[i].is_static ? 0 : 1;
    }
    s->queue = k->cl->clCreateCommandQueue(k->context, k->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, k->device);
    STRAKE_TRY(beside && kernels == 1
                   ? strake_cl_aside_open(k->cl, k->device, k->context, false, &s->aside, error)
                   : STRAKE_OK);
cleanup:
    return status;
}

/* Everything that follows from which slabs are whose. */
static strake_status plan(strake_cl_resident *s, const strake_range *stripe, int stripes, int self,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t again = (s->steps - 1) * s->reach;
    const int *lo = s->window.layout.lo;
    const int *hi = s->window.layout.hi;
    s->range = stripe[self];
    s->known = 0.0;
    s->short_runs = s->has_run ? 1 : 0; /* trials are none, and are over then */
    find_extra(s->host, s->range, is_whole(s->host, s->range), s->steps, s->extra);
    int64_t depth[2] = {s->extra[0] + lo[0], s->extra[1] + hi[0]};
    int64_t theirs[2] = {again + lo[0], again + hi[0]};
    if (s->one_way) {
        depth[0] = theirs[0] = 0;
        depth[1] = theirs[1] = depth_one_way(s->host, s->steps);
    }
    /* One way no ghost copies a slab of its own stripe: other ranks have enough of them in between. */
    STRAKE_TRY(plan_ghosts(s, s->one_way ? (const int64_t[]){0, 0} : depth, error));
    STRAKE_TRY(strake_cl_exchange_plan(&s->exchange, stripe, stripes, self, s->base, depth, theirs,
                                       error));
    strake_cl_active_place(&s->active, &s->window,
                           (strake_range){s->range.first - s->base, s->range.end - s->base},
                           (const bool[]){s->range.first > 0, s->range.end < s->host->n[0]});
cleanup:
    return status;
}

strake_status strake_cl_resident_create(const strake_cl_kernels *kernels, const strake_layout *host,
                                        const strake_range *stripe, int stripes, int self,
                                        const strake_cl_resident_options *options,
                                        strake_cl_resident **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = kernels->cl;
    const strake_range own = stripe[self];
    const bool whole = is_whole(host, own);
    const strake_layout layout = strake_cl_resident_layout(kernels->graph, host, own, options);
    const int64_t borders =
        layout.lo[0] + layout.hi[0] + 2 * (options->steps - 1) * strake_layout_reach(host);
    const int halo = layout.lo[0] > layout.hi[0] ? layout.lo[0] : layout.hi[0];
    const double slab = (double)strake_ghosts_count(kernels->graph) * (double)layout.slab *
                        (double)layout.element_size;
    int64_t extra[2];
    bool beside = false;
    strake_cl_resident *s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a device stripe");
    find_extra(host, options->capacity, whole, options->steps, extra);
    s->kernels = kernels;
    s->host = host;
    s->steps = options->steps;
    s->reach = strake_layout_reach(host);
    s->one_way = options->one_way;
    s->capacity = options->capacity;
    s->member = options->member;
    s->window.is_member = s->member != NULL;
    s->base = options->capacity.first - extra[0];
    s->waiter = (strake_cl_waiter){.kind = (strake_cl_wait_kind)kernels->options.run.wait,
                                   .limit = options->limit};
    s->reader = s->before = s->through = s->waiter;
    s->exchange.waiter = s->waiter;
    s->exchange.reader = s->waiter;
    beside = !whole && resident_overlaps(s, options, own.end - own.first, borders, halo * slab);
    STRAKE_TRY(open_queues(s, beside, error));
    STRAKE_TRY(
        strake_cl_window_create(&s->window, kernels, &layout, !whole && !beside, s->queue, error));
    STRAKE_TRY(strake_cl_active_create(&s->active, &s->window, &options->wakes, error));
    STRAKE_TRY(
        strake_cl_exchange_create(&s->exchange, &s->window, host, beside, options->pins, error));
    strake_cl_lift_open(&s->lift, &s->window, options->pins, options->memory, &s->waiter);
    STRAKE_TRY(plan(s, stripe, stripes, self, error));
    if (!whole) {
        STRAKE_TRY(create_ghosts(&s->window, options->problem, &s->others, error));
    }
    /* Some drivers compile at the first launch: a trial step at set-up launches everything but this. */
    STRAKE_TRY(strake_cl_resident_look(s, error));
    /* Some drivers find out here that there is no memory. */
    STRAKE_CL("clFinish", cl->clFinish(s->queue), error, kernels->device);
    strake_cl_release_event(s->kernels->cl, &s->looked);
    *out = s;
    s = NULL;
cleanup:
    strake_cl_resident_destroy(&s);
    return status;
}

static void cl_clock_release(strake_cl_clock *c, const strake_cl_kernels *kernels)
{
    if (c->kernel != NULL) {
        (void)kernels->cl->clReleaseKernel(c->kernel);
        c->kernel = NULL;
    }
    strake_cl_release_buffer(kernels, &c->clock);
    strake_cl_release_buffer(kernels, &c->told);
}

void strake_cl_resident_destroy(strake_cl_resident **resident)
{
    strake_cl_resident *s = *resident;
    if (s == NULL) {
        return;
    }
    cl_command_queue *const queue[] = {&s->queue, &s->aside};
    for (int k = 0; k < 2; k++) {
        if (*queue[k] != NULL) {
            (void)s->kernels->cl->clFinish(*queue[k]);
        }
    }
    cl_clock_release(&s->clock, s->kernels);
    strake_cl_active_release(&s->active, s->kernels);
    strake_cl_release_event(s->kernels->cl, &s->looked);
    strake_cl_lift_release(&s->lift);
    strake_cl_exchange_release(&s->exchange);
    destroy_ghosts(&s->others);
    strake_cl_release_buffer(s->kernels, &s->edges.list);
    strake_cl_release_buffer(s->kernels, &s->ghosts.list);
    strake_cl_release_buffer(s->kernels, &s->turned.list);
    strake_cl_window_release(&s->window);
    for (int k = 0; k < 2; k++) {
        if (*queue[k] != NULL) {
            (void)s->kernels->cl->clReleaseCommandQueue(*queue[k]);
        }
    }
    free(s);
    *resident = NULL;
}

/* Enqueues advancing slabs of others, of the states that do not travel. */
static strake_status advance(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_exchange *x = &s->exchange;
    for (int g = 0, run = 0; g < x->ghosts && s->others != NULL; g += run) {
        const int64_t first = x->ghost[g].slab - s->base;
        run = 1;
        while (g + run < x->ghosts && x->ghost[g + run].slab - s->base == first + run) {
            run++;
        }
        STRAKE_TRY(step_ghosts(s->others, first, first + run, error));
    }
cleanup:
    return status;
}

/* Puts the window's slab 0 at another place of the grid; nothing is moved. */
static void set_base(strake_cl_resident *s, int64_t base)
{
    s->base = base;
    s->exchange.base = base;
}

/* Copies own slabs and ghosts to the beginning of the window. */
static strake_status return_home(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs = s->range.end - s->range.first + depth_one_way(s->host, s->steps);
    for (int k = 0; k < s->window.states; k++) {
        const cl_mem *buffer = s->window.state[k].buffer;
        STRAKE_CL("clEnqueueCopyBuffer",
                  s->kernels->cl->clEnqueueCopyBuffer(
                      s->queue, buffer[s->window.parity], buffer[1 - s->window.parity],
                      strake_cl_window_offset(&s->window, s->range.first - s->base),
                      strake_cl_window_offset(&s->window, 0),
                      (size_t)slabs * strake_cl_window_slab_bytes(&s->window), 0, NULL, NULL),
                  error, s->kernels->device);
    }
    strake_cl_window_swap(&s->window);
    set_base(s, s->range.first);
cleanup:
    return status;
}

/* One way: what the sweep computes belongs to places further down, so the window goes up. */
static strake_status wander(strake_cl_resident *s, int steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->window.layout;
    const int64_t down = depth_before(s->host, steps);
    const int64_t end = s->range.end - s->base + down + depth_one_way(s->host, s->steps);
    if (end > l->n[0] + l->hi[0]) {
        STRAKE_TRY(return_home(s, error));
    }
    set_base(s, s->base - down);
cleanup:
    return status;
}

/*
 * Whether the kernels of this sweep are timed by the host, with nothing before, between or beside them: markers are told of
 * late where kernels follow at once (NVIDIA's driver), so that a device that has work ahead would seem to work half of the time.
 */
static strake_status weigh(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t at = s->sweeps++;
    const bool is_alone = s->short_runs == 1 || s->short_runs % WEIGHED_RUNS == 2;
    s->weighing =
        !cl_exchange_is_empty(&s->exchange) && (at % WEIGHED_SWEEPS == 1 || (at == 0 && is_alone));
    if (s->weighing) {
        STRAKE_TRY(
            strake_cl_wait_queue(s->kernels->cl, s->kernels->device, &s->before, s->queue, error));
        s->began = strake_clock_seconds();
    }
    if (at == 1) { /* the first one had more to do */
        s->busy = 0.0;
        s->busy_steps = 0;
    }
cleanup:
    return status;
}

/* Has the batch make the sweeps that were asked for of a member, and waits until at most so many are left. */
static strake_status make_sweeps(strake_cl_resident *s, int64_t left, strake_error *error)
{
    const int64_t asked = s->asked;
    s->asked = 0;
    return strake_cl_member_run(s->member, asked, left, &s->clock.seen, &s->window, error);
}

strake_status strake_cl_resident_sweep(strake_cl_resident *s, int steps, const double *told,
                                       void *const *array, void *const *next, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (s->member != NULL) {
        s->asked += steps;
        return STRAKE_OK;
    }
    int64_t own_first = 0, own_end = 0;
    const int given = strake_graph_given(s->kernels->graph);
    strake_cl_reduce_forget(&s->window);
    STRAKE_TRY(strake_cl_exchange_begin(&s->exchange, array, next, error));
    for (int k = 0; k < s->window.states && s->turned.count > 0; k++) {
        STRAKE_TRY(strake_cl_window_fill(&s->window, s->window.state[k].buffer[s->window.parity], 0,
                                         0, &s->turned, error));
    }
    STRAKE_TRY(s->one_way ? wander(s, steps, error) : STRAKE_OK);
    own_first = s->range.first - s->base;
    own_end = s->range.end - s->base;
    STRAKE_TRY(weigh(s, error));
    for (int k = steps - 1; k > 0; k--, told += given) {
        strake_graph_scalars(s->kernels->graph, told, s->window.scalar);
        const int64_t before = k * s->reach < s->extra[0] ? k * s->reach : s->extra[0];
        const int64_t after = k * s->reach < s->extra[1] ? k * s->reach : s->extra[1];
        STRAKE_TRY(strake_cl_window_step(&s->window, own_first - before, own_end + after, &s->edges,
                                         error));
        strake_cl_window_swap(&s->window);
    }
    strake_graph_scalars(s->kernels->graph, told, s->window.scalar);
    STRAKE_TRY(choose_step(s, error));
    s->busy_steps += s->weighing ? steps : 0;
    STRAKE_TRY(s->edges_first ? step_edges_first(s, next, error) : step_whole(s, next, error));
    STRAKE_TRY(advance(s, error)); /* after all that others wait for */
    strake_cl_window_swap(&s->window);
    /* A look does nothing after a sweep that did nothing: the clock goes on afterwards. */
    STRAKE_TRY(strake_cl_active_end(&s->active, &s->window, error));
    STRAKE_TRY(s->clock.runs ? strake_cl_clock_advance(&s->clock, &s->window, error) : STRAKE_OK);
    /* A device with a clock of its own gets several sweeps at once: the host waits for none of them. */
    if (!s->clock.runs || s->clock.sweeps % FLUSHED_SWEEPS == 0) {
        STRAKE_CL("clFlush", s->kernels->cl->clFlush(s->queue), error, s->kernels->device);
    }
cleanup:
    return status;
}

double strake_cl_resident_busy(strake_cl_resident *s)
{
    s->has_run = true;
    s->short_runs = s->sweeps > 1 ? 0 : s->short_runs + 1;
    s->known = s->busy_steps > 0   ? s->busy / (double)s->busy_steps
               : s->short_runs > 0 ? s->known
                                   : 0.0;
    s->busy = 0.0;
    s->busy_steps = 0;
    s->sweeps = 0;
    return s->known;
}

void strake_cl_resident_undo(strake_cl_resident *s, int steps)
{
    strake_cl_active_reset(&s->active);
    s->sweeps = 0;
    if (steps % 2 != 0) {
        strake_cl_window_swap(&s->window);
    }
    if (s->one_way) {
        set_base(s, s->base + depth_before(s->host, steps));
    }
}

strake_status strake_cl_resident_look(strake_cl_resident *s, strake_error *error)
{
    const strake_status status = s->member != NULL ? make_sweeps(s, STRAKE_CL_BATCH_ROUND, error)
                                 : s->clock.runs
                                     ? strake_cl_clock_look(&s->clock, &s->window, NULL, error)
                                     : STRAKE_OK;
    if (status != STRAKE_OK || s->member != NULL) {
        return status;
    }
    return strake_cl_window_look(&s->window, s->range.first - s->base, s->range.end - s->base,
                                 &s->looked, error);
}

strake_status strake_cl_resident_is_finite(strake_cl_resident *s, bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool looks = s->looked != NULL || s->member != NULL;
    *finite = true;
    STRAKE_TRY(strake_cl_wait(s->kernels->cl, s->kernels->device, &s->waiter, &s->looked, error));
    *finite = !looks || s->window.non_finite == 0;
cleanup:
    return status;
}

bool strake_cl_resident_has_room(const strake_cl_resident *s, strake_range own)
{
    return own.first < own.end && own.first >= s->capacity.first && own.end <= s->capacity.end &&
           is_whole(s->host, own) == is_whole(s->host, s->range);
}

strake_status strake_cl_resident_record(strake_cl_resident *s, strake_cl_record *record,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *k = s->kernels;
    const bool timers = record != NULL;
    STRAKE_TRY(strake_cl_resident_finish(s, error));
    STRAKE_TRY(strake_cl_record_renew(k->cl, k->device, k->context, timers, &s->queue, error));
    s->window.queue = s->queue;
    STRAKE_TRY(s->aside != NULL
                   ? strake_cl_record_renew(k->cl, k->device, k->context, timers, &s->aside, error)
                   : STRAKE_OK);
    if (s->exchange.overlaps) {
        STRAKE_TRY(strake_cl_record_renew(k->cl, k->device, k->context, timers, &s->exchange.queue,
                                          error));
    } else {
        s->exchange.queue = s->queue;
    }
    STRAKE_TRY(s->lift.queue != NULL ? strake_cl_record_renew(k->cl, k->device, k->context, timers,
                                                              &s->lift.queue, error)
                                     : STRAKE_OK);
    STRAKE_TRY(timers ? strake_cl_record_begin(record, k->cl, k->device, s->queue, error)
                      : STRAKE_OK);
cleanup:
    return status;
}

/* Uploads slabs of the grid from a host array; @p by_map: see strake_cl_window_upload(). */
static strake_status upload(strake_cl_resident *s, cl_command_queue queue, cl_mem array,
                            const void *from, strake_range slabs, bool by_map, strake_error *error)
{
    return strake_cl_window_upload(&s->window, &s->lift.pins, queue, array, s->host, from, s->base,
                                   slabs, by_map, error);
}

/*
 * Waits for what a member's own queue has: a driver may tell of kernels only after those that other queues were given before
 * (README.md), but of a transfer behind them at once.
 */
static strake_status finish_member(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const k = s->kernels;
    cl_event read = NULL;
    STRAKE_TRY(make_sweeps(s, 0, error));
    if (s->is_used) {
        cl_int unused = 0;
        STRAKE_CL("clEnqueueReadBuffer",
                  k->cl->clEnqueueReadBuffer(s->queue, s->window.found, CL_FALSE, 0, sizeof unused,
                                             &unused, 0, NULL, &read),
                  error, k->device);
        STRAKE_CL("clFlush", k->cl->clFlush(s->queue), error, k->device);
        STRAKE_TRY(strake_cl_wait(k->cl, k->device, &s->waiter, &read, error));
        s->is_used = false;
    }
cleanup:
    return status;
}

strake_status strake_cl_resident_finish(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = s->kernels->cl;
    if (s->member != NULL) {
        return finish_member(s, error);
    }
    STRAKE_TRY(strake_cl_lift_wait(&s->lift, error));
    STRAKE_TRY(strake_cl_wait_queue(cl, s->kernels->device, &s->waiter, s->queue, error));
    if (s->exchange.overlaps) {
        STRAKE_TRY(strake_cl_wait_queue(cl, s->kernels->device, &s->exchange.waiter,
                                        s->exchange.queue, error));
    }
cleanup:
    return status;
}

/* Inputs of a member become those of its steps, once those that were asked for before are made. */
static strake_status put_inputs(strake_cl_resident *s, void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(make_sweeps(s, 0, error));
    STRAKE_TRY(strake_cl_member_put_inputs(s->member, &s->window, array, error));
    STRAKE_TRY(strake_cl_resident_finish(s, error));
    STRAKE_TRY(strake_cl_member_static(s->member, error));
cleanup:
    return status;
}

strake_status strake_cl_resident_upload_static(strake_cl_resident *s, void *const *array,
                                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool beside = false;
    s->is_used = true;
    STRAKE_TRY(strake_cl_lift_upload(&s->lift, s->host, s->base, array, &beside, error));
    STRAKE_TRY(s->member != NULL
                   ? put_inputs(s, array, error)
                   : strake_cl_window_static(&s->window, 0, s->window.layout.n[0], error));
    STRAKE_TRY(s->others != NULL ? prepare_ghosts(s->others, error) : STRAKE_OK);
    STRAKE_TRY(strake_cl_active_wake(&s->active, &s->window, error));
    STRAKE_TRY(beside ? STRAKE_OK : strake_cl_resident_finish(s, error));
    STRAKE_CL("clFlush", s->kernels->cl->clFlush(s->queue), error, s->kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_resident_upload_state(strake_cl_resident *s, void *const *array,
                                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->window.layout;
    const int64_t first = s->one_way ? s->range.first - s->base : -(int64_t)l->lo[0];
    const int64_t end =
        s->one_way ? s->range.end - s->base + depth_one_way(s->host, s->steps) : l->n[0] + l->hi[0];
    STRAKE_TRY(strake_cl_resident_finish(s, error)); /* older ghosts may still be on their way */
    strake_cl_active_reset(&s->active);
    s->is_used = true;
    for (int k = 0; k < s->window.states; k++) {
        const cl_mem current = s->window.state[k].buffer[s->window.parity];
        STRAKE_TRY(upload(s, s->queue, current, array[s->window.state[k].input],
                          (strake_range){s->base + first, s->base + end}, true, error));
        STRAKE_TRY(strake_cl_window_fill(&s->window, current, first, end,
                                         s->host->boundary[0] == STRAKE_POLAR ? &s->ghosts : NULL,
                                         error));
    }
    STRAKE_TRY(s->member != NULL ? strake_cl_member_put_states(s->member, &s->window, error)
                                 : STRAKE_OK);
    STRAKE_TRY(strake_cl_resident_finish(s, error));
    if (s->member != NULL) {
        strake_cl_member_wake(s->member);
    }
cleanup:
    return status;
}

/* Downloads slabs [first, end) of the grid, which the stripe owns. */
static strake_status download(strake_cl_resident *s, int64_t first, int64_t end, void *const *array,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event done = NULL;
    STRAKE_TRY(s->member != NULL ? strake_cl_resident_finish(s, error) : STRAKE_OK);
    for (int k = 0; k < s->window.states && first < end; k++) {
        const strake_cl_state *state = &s->window.state[k];
        char *host = array[state->input];
        size_t offset = 0;
        const cl_mem from = s->member != NULL ? strake_cl_member_state(s->member, k, &offset)
                                              : state->buffer[s->window.parity];
        STRAKE_CL("clEnqueueReadBuffer",
                  s->kernels->cl->clEnqueueReadBuffer(
                      s->queue, from, CL_FALSE,
                      offset + strake_cl_window_offset(&s->window, first - s->base),
                      (size_t)(end - first) * strake_cl_window_slab_bytes(&s->window),
                      host + strake_layout_offset(s->exchange.host, first), 0, NULL, &done),
                  error, s->kernels->device);
        STRAKE_CL("clFlush", s->kernels->cl->clFlush(s->queue), error, s->kernels->device);
        STRAKE_TRY(strake_cl_wait(s->kernels->cl, s->kernels->device, &s->reader, &done, error));
    }
cleanup:
    strake_cl_release_event(s->kernels->cl, &done);
    return status;
}

strake_status strake_cl_resident_download(strake_cl_resident *s, void *const *array,
                                          strake_error *error)
{
    return download(s, s->range.first, s->range.end, array, error);
}

strake_status strake_cl_resident_return(strake_cl_resident *s, strake_range own, void *const *array,
                                        strake_error *error)
{
    const strake_status status = strake_cl_exchange_return(&s->exchange, own, array, error);
    return status == STRAKE_OK ? strake_cl_resident_finish(s, error) : status;
}

strake_status strake_cl_resident_give(strake_cl_resident *s, const strake_range *stripe,
                                      int stripes, int self, void *const *array,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range border[STRAKE_CL_MOST_BORDERS];
    const strake_range old = s->range;
    const strake_range own = stripe[self];
    const int64_t again = (s->steps - 1) * s->reach;
    const int64_t left_end = own.first < old.end ? own.first : old.end;
    const int64_t right_first = own.end > old.first ? own.end : old.first;
    const int borders = strake_partition_border(
        stripe, stripes, self, s->host->n[0], s->host->boundary[0],
        (int)(again + s->window.layout.lo[0]), (int)(again + s->window.layout.hi[0]),
        STRAKE_CL_MOST_BORDERS, border);
    STRAKE_TRY(strake_cl_resident_finish(s, error));
    STRAKE_TRY(download(s, old.first, left_end, array, error));
    STRAKE_TRY(download(s, right_first, old.end, array, error));
    for (int b = 0; b < borders; b++) {
        const int64_t first = border[b].first > old.first ? border[b].first : old.first;
        const int64_t end = border[b].end < old.end ? border[b].end : old.end;
        STRAKE_TRY(download(s, first, end, array, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_resident_take(strake_cl_resident *s, const strake_range *stripe,
                                      int stripes, int self, void *const *array,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_range old = s->range;
    const strake_range own = stripe[self];
    const strake_range gained[2] = {{own.first, old.first < own.end ? old.first : own.end},
                                    {old.end > own.first ? old.end : own.first, own.end}};
    STRAKE_TRY(plan(s, stripe, stripes, self, error));
    for (int k = 0; k < s->window.states; k++) {
        const cl_mem current = s->window.state[k].buffer[s->window.parity];
        for (int side = 0; side < 2; side++) {
            STRAKE_TRY(upload(s, s->queue, current, array[s->window.state[k].input], gained[side],
                              false, error));
        }
        STRAKE_TRY(strake_cl_window_fill(&s->window, current, 0, 0, &s->ghosts, error));
    }
    STRAKE_TRY(strake_cl_exchange_fetch(&s->exchange, true, array, error));
    STRAKE_TRY(strake_cl_resident_finish(s, error));
cleanup:
    return status;
}
