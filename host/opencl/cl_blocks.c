#include "opencl/cl_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/cl_pins.h"
#include "opencl/cl_probe.h"

typedef struct stream {
    cl_command_queue queue;
    strake_cl_window window;
    cl_event looked; /* the search for NaN and Inf is done */
} stream;

typedef struct block {
    strake_range own;      /* of the grid */
    strake_cl_pairs edges; /* ghosts beyond the domain's edges */
    cl_event done[2];      /* the download of the sweep of that generation */
} block;

struct strake_cl_blocks {
    const strake_cl_kernels *kernels;
    const strake_layout *host;
    strake_range range;
    strake_cl_sizes sizes;
    strake_cl_demand demand;
    strake_cl_rates rates;
    int64_t extra; /* slabs of a window before and after a block's own */
    int streams;   /* that exist, also while they are being made */
    stream stream[STRAKE_CL_MOST_STREAMS];
    block *block;
    int64_t start;  /* block that the next sweep begins with */
    int64_t turn;   /* streams take blocks in turn */
    int generation; /* of the last sweep's events */
    strake_cl_pins pins;
    strake_cl_waiter waiter;
    strake_cl_blocks_report report, before; /* now, and before the last sweep */
};

static const strake_cl *api(const strake_cl_blocks *b)
{
    return b->kernels->cl;
}

static bool is_periodic(const strake_cl_blocks *b)
{
    return b->host->boundary[0] == STRAKE_PERIODIC;
}

static int64_t at_least(int64_t x, int64_t limit)
{
    return x < limit ? limit : x;
}

static int64_t at_most(int64_t x, int64_t limit)
{
    return x > limit ? limit : x;
}

/* Layout of windows whose blocks have up to @p slabs slabs of their own. */
static strake_layout window_layout(const strake_cl_blocks *b, int64_t slabs, int64_t extra)
{
    const int64_t n[STRAKE_AXES] = {slabs + 2 * extra, b->host->n[1], b->host->n[2]};
    return strake_layout_make_deep(b->kernels->graph, b->host->steps, n, b->host->boundary);
}

static void fill_demand(strake_cl_blocks *b, const strake_cl_blocks_options *options)
{
    strake_cl_demand *d = &b->demand;
    const strake_graph *graph = b->kernels->graph;
    const strake_layout one = window_layout(b, 1, 0);
    uint64_t array = 0;
    const uint64_t all = strake_cl_window_bytes(b->kernels, &one, &array);
    const double slab = (double)(one.slab * one.element_size);
    d->slabs = b->range.end - b->range.first;
    d->reach = strake_layout_reach(b->host);
    d->ghosts = (int64_t)((double)array / slab) - 1;
    d->slab_bytes = slab;
    d->slab_cells = (double)one.n[1] * (double)one.n[2];
    d->arrays = (int)(all / array);
    for (int v = 0; v < graph->values; v++) {
        const bool is_state = graph->value[v].next >= 0;
        d->downloads += is_state ? 1 : 0;
        d->uploads += is_state || (graph->value[v].stage < 0 &&
                                   strake_cl_kernels_last_use(b->kernels, v) >= 0)
                          ? 1
                          : 0;
    }
    d->memory = options->memory;
    d->largest = b->kernels->device->max_allocation;
    d->steps = options->steps;
    d->blocks = options->blocks;
    d->streams = options->streams;
    d->horizon = options->horizon;
    d->follows = options->alone;
}

static strake_status new_stream(strake_cl_blocks *b, const strake_layout *layout,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    stream *s = &b->stream[b->streams++];
    s->queue =
        api(b)->clCreateCommandQueue(b->kernels->context, b->kernels->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, b->kernels->device);
    STRAKE_TRY(strake_cl_window_create(&s->window, b->kernels, layout, s->queue, error));
    STRAKE_TRY(strake_cl_window_forget(&s->window, error));
    /* Some drivers find out here that there is no memory. */
    STRAKE_CL("clFinish", api(b)->clFinish(s->queue), error, b->kernels->device);
cleanup:
    return status;
}

static void release_streams(strake_cl_blocks *b)
{
    for (int k = 0; k < b->streams; k++) {
        if (b->stream[k].queue != NULL) {
            (void)api(b)->clFinish(b->stream[k].queue);
        }
        if (b->stream[k].looked != NULL) {
            (void)api(b)->clReleaseEvent(b->stream[k].looked);
        }
        strake_cl_window_release(&b->stream[k].window);
        if (b->stream[k].queue != NULL) {
            (void)api(b)->clReleaseCommandQueue(b->stream[k].queue);
        }
        memset(&b->stream[k], 0, sizeof b->stream[k]);
    }
    b->streams = 0;
}

/* Rates of the link and of the kernels, on a window that is made for it. */
static strake_status measure(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs = strake_cl_probe_slabs(&b->demand);
    const strake_layout layout = window_layout(b, slabs, 0);
    STRAKE_TRY(new_stream(b, &layout, error));
    STRAKE_TRY(strake_cl_probe(&b->stream[0].window, &b->rates, error));
cleanup:
    release_streams(b);
    return status;
}

static strake_status choose(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_demand *d = &b->demand;
    const double least = strake_cl_sizes_least(d);
    const double mib = 1048576.0;
    STRAKE_CHECK(d->blocks <= d->slabs, error, STRAKE_ERR_USAGE,
                 "%s: run.blocks is %lld but the stripe has %lld rows (slabs of the slowest axis); "
                 "give at most as many blocks",
                 b->kernels->device->name, (long long)d->blocks, (long long)d->slabs);
    STRAKE_CHECK(
        least <= (double)d->memory && least / d->arrays <= (double)d->largest &&
            (b->rates.cells <= 0.0 || strake_cl_sizes_choose(d, &b->rates, &b->sizes)),
        error, STRAKE_ERR_USAGE,
        "%s: streaming the stripe in blocks needs at least %.3f MiB of device memory (%d stream%s, "
        "%d step%s per sweep, largest block of %lld row%s), and it may use %.3f MiB, %.3f MiB in "
        "one buffer; raise run.device_memory, lower run.streams or run.steps_per_sweep, or "
        "raise run.blocks",
        b->kernels->device->name, least / mib, d->streams > 0 ? d->streams : 1,
        d->streams > 1 ? "s" : "", d->steps > 0 ? d->steps : 1, d->steps > 1 ? "s" : "",
        (long long)(d->blocks > 0 ? strake_cl_sizes_slabs(d->slabs, d->blocks) : 1),
        d->blocks > 0 && d->blocks < d->slabs ? "s" : "", (double)d->memory / mib,
        (double)d->largest / mib);
cleanup:
    return status;
}

/* Adds a ghost slab of the grid to a list if the block's window has it and what it copies. */
static void add_edge(const strake_cl_blocks *b, const block *each, int64_t g, int64_t *to,
                     int64_t *from, int *count)
{
    const strake_layout *l = &b->stream[0].window.layout;
    const int64_t base = each->own.first - b->extra;
    const int64_t first = base - l->lo[0];
    const int64_t end = base + l->n[0] + l->hi[0];
    const int64_t source = strake_ghost_source(b->host->boundary[0], b->host->n[0], g);
    if (g >= first && g < end && source >= first && source < end) {
        to[*count] = g - base;
        from[(*count)++] = source - base;
    }
}

/* The ghosts of a block beyond the domain's edges; in a periodic domain uploads bring them. */
static strake_status plan_edges(strake_cl_blocks *b, block *each, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &b->stream[0].window.layout;
    const size_t most = (size_t)l->lo[0] + (size_t)l->hi[0] + 1;
    int count = 0;
    int64_t *to = calloc(2 * most, sizeof *to);
    STRAKE_CHECK(to != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning ghost slabs");
    for (int64_t k = 0; k < l->lo[0] && !is_periodic(b); k++) {
        add_edge(b, each, k - l->lo[0], to, to + most, &count);
    }
    for (int64_t k = 0; k < l->hi[0] && !is_periodic(b); k++) {
        add_edge(b, each, b->host->n[0] + k, to, to + most, &count);
    }
    STRAKE_TRY(
        strake_cl_window_pairs(&b->stream[0].window, count, to, to + most, &each->edges, error));
cleanup:
    free(to);
    return status;
}

static strake_status make_blocks(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs = b->range.end - b->range.first;
    const int64_t count = b->sizes.blocks;
    b->extra = (b->sizes.steps - 1) * b->demand.reach;
    const strake_layout layout = window_layout(b, b->sizes.slabs, b->extra);
    for (int k = 0; k < b->sizes.streams; k++) {
        STRAKE_TRY(new_stream(b, &layout, error));
    }
    b->block = calloc((size_t)count, sizeof *b->block);
    STRAKE_CHECK(b->block != NULL, error, STRAKE_ERR_MEMORY, "out of memory for blocks");
    for (int64_t k = 0; k < count; k++) {
        block *each = &b->block[k];
        each->own.first = b->range.first + slabs * k / count;
        each->own.end = b->range.first + slabs * (k + 1) / count;
        STRAKE_TRY(plan_edges(b, each, error));
    }
    b->report.sizes = b->sizes;
    b->report.rates = b->rates;
    b->report.memory =
        (uint64_t)b->sizes.streams * strake_cl_window_bytes(b->kernels, &layout, &(uint64_t){0});
cleanup:
    return status;
}

strake_status strake_cl_blocks_create(const strake_cl_kernels *kernels, const strake_layout *host,
                                      strake_range range, const strake_cl_blocks_options *options,
                                      strake_cl_blocks **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_blocks *b = calloc(1, sizeof *b);
    STRAKE_CHECK(b != NULL, error, STRAKE_ERR_MEMORY, "out of memory for blocks");
    b->kernels = kernels;
    b->host = host;
    b->range = range;
    b->waiter.kind = options->wait;
    b->pins.cl = kernels->cl;
    b->pins.device = kernels->device;
    b->pins.context = kernels->context;
    fill_demand(b, options);
    STRAKE_TRY(choose(b, error)); /* whether anything fits, before anything is allocated */
    STRAKE_TRY(measure(b, error));
    STRAKE_TRY(choose(b, error));
    STRAKE_TRY(make_blocks(b, error));
    *out = b;
    b = NULL;
cleanup:
    strake_cl_blocks_destroy(&b);
    return status;
}

static void release_events(strake_cl_blocks *b)
{
    for (int64_t k = 0; k < b->sizes.blocks && b->block != NULL; k++) {
        for (int g = 0; g < 2; g++) {
            if (b->block[k].done[g] != NULL) {
                (void)api(b)->clReleaseEvent(b->block[k].done[g]);
                b->block[k].done[g] = NULL;
            }
        }
    }
}

void strake_cl_blocks_destroy(strake_cl_blocks **blocks)
{
    strake_cl_blocks *b = *blocks;
    if (b == NULL) {
        return;
    }
    for (int k = 0; k < b->streams; k++) {
        if (b->stream[k].queue != NULL) {
            (void)api(b)->clFinish(b->stream[k].queue);
        }
    }
    release_events(b);
    for (int64_t k = 0; k < b->sizes.blocks && b->block != NULL; k++) {
        strake_cl_release_buffer(b->kernels, &b->block[k].edges.list);
    }
    free(b->block);
    release_streams(b);
    strake_cl_pins_release(&b->pins);
    free(b);
    *blocks = NULL;
}

static char *host_slab(const strake_cl_blocks *b, void *array, int64_t slab)
{
    return (char *)array + (slab + b->host->lo[0]) * (int64_t)b->demand.slab_bytes;
}

/*
 * Uploads slabs [first, end) of the grid into a window: runs of slabs that lie together in the host
 * array. With @p by_map slabs beyond the domain take their source's, else they lie in the host array.
 */
static strake_status upload(strake_cl_blocks *b, const stream *s, cl_mem array, void *host,
                            int64_t base, int64_t first, int64_t end, bool by_map,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_boundary boundary = b->host->boundary[0];
    const int64_t n = b->host->n[0];
    const size_t bytes = strake_cl_window_slab_bytes(&s->window);
    for (int64_t slab = first; slab < end;) {
        const int64_t source = by_map ? strake_ghost_source(boundary, n, slab) : slab;
        int64_t run = by_map ? 1 : end - slab;
        while (slab + run < end && strake_ghost_source(boundary, n, slab + run) == source + run) {
            run++;
        }
        STRAKE_TRY(strake_cl_pins_write(&b->pins, s->queue, array,
                                        strake_cl_window_offset(&s->window, slab - base),
                                        (size_t)run * bytes, host_slab(b, host, source), error));
        b->report.uploaded += (double)run * (double)bytes;
        slab += run;
    }
cleanup:
    return status;
}

/* The slabs that a step computes when @p later steps follow it in the sweep, of the grid. */
static strake_range computed(const strake_cl_blocks *b, const block *each, int later)
{
    const int64_t more = later * b->demand.reach;
    strake_range range = {each->own.first - more, each->own.end + more};
    if (!is_periodic(b)) {
        range.first = at_least(range.first, 0);
        range.end = at_most(range.end, b->host->n[0]);
    }
    return range;
}

static strake_status bring(strake_cl_blocks *b, stream *s, const block *each, int steps,
                           void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *w = &s->window;
    const strake_layout *l = &w->layout;
    const int64_t base = each->own.first - b->extra;
    const strake_range most = computed(b, each, steps - 1);
    const int64_t first = most.first - l->lo[0];
    const int64_t end = most.end + l->hi[0];
    for (int k = 0; k < w->states; k++) {
        const cl_mem current = w->state[k].buffer[w->parity];
        STRAKE_TRY(upload(b, s, current, array[w->state[k].input], base, first, end, true, error));
        STRAKE_TRY(strake_cl_window_fill(w, current, first - base, end - base, NULL, error));
    }
    for (int v = 0; v < b->kernels->graph->values; v++) {
        if (strake_cl_window_needs(w, v)) {
            STRAKE_TRY(upload(b, s, w->array[w->slot[v]], array[v], base, first, end,
                              is_periodic(b), error));
        }
    }
    STRAKE_TRY(strake_cl_window_static(w, most.first - base, most.end - base, error));
cleanup:
    return status;
}

static strake_status run_block(strake_cl_blocks *b, stream *s, block *each, int steps,
                               void *const *array, void *const *next, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *w = &s->window;
    const int64_t base = each->own.first - b->extra;
    const int64_t slabs = each->own.end - each->own.first;
    const size_t bytes = (size_t)slabs * strake_cl_window_slab_bytes(w);
    STRAKE_TRY(bring(b, s, each, steps, array, error));
    for (int later = steps - 1; later >= 0; later--) {
        const strake_range range = computed(b, each, later);
        STRAKE_TRY(strake_cl_window_step(w, range.first - base, range.end - base, error));
        for (int k = 0; k < w->states; k++) {
            STRAKE_TRY(strake_cl_window_fill(w, w->state[k].buffer[1 - w->parity],
                                             range.first - base, range.end - base,
                                             later > 0 ? &each->edges : NULL, error));
        }
        strake_cl_window_swap(w);
    }
    STRAKE_TRY(strake_cl_window_search(w, b->extra, b->extra + slabs, error));
    for (int k = 0; k < w->states; k++) {
        cl_event *done = k + 1 == w->states ? &each->done[b->generation] : NULL;
        STRAKE_TRY(strake_cl_pins_read(
            &b->pins, s->queue, w->state[k].buffer[w->parity], strake_cl_window_offset(w, b->extra),
            bytes, host_slab(b, next[w->state[k].output], each->own.first), done, error));
        b->report.downloaded += (double)bytes;
    }
    STRAKE_CL("clFlush", api(b)->clFlush(s->queue), error, b->kernels->device);
cleanup:
    return status;
}

static strake_status wait_for(strake_cl_blocks *b, int64_t k, strake_error *error)
{
    cl_event *event = &b->block[k].done[1 - b->generation];
    return *event == NULL ? STRAKE_OK
                          : strake_cl_wait(api(b), b->kernels->device, &b->waiter, event, error);
}

/*
 * Waits until the sweep before has written what block k reads. Whoever read what block k writes is
 * among those blocks, and done as well.
 */
static strake_status wait_around(strake_cl_blocks *b, int64_t k, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = b->sizes.blocks;
    const int64_t reach = b->extra + b->demand.reach;
    STRAKE_TRY(wait_for(b, k, error));
    for (int side = -1; side <= 1; side += 2) {
        int64_t left = reach;
        for (int64_t away = 1; away < count && left > 0; away++) {
            const int64_t other = k + side * away;
            if (!is_periodic(b) && (other < 0 || other >= count)) {
                break;
            }
            const int64_t wrapped = (other % count + count) % count;
            STRAKE_TRY(wait_for(b, wrapped, error));
            left -= b->block[wrapped].own.end - b->block[wrapped].own.first;
        }
    }
cleanup:
    return status;
}

static void pin_arrays(strake_cl_blocks *b, void *const *array, void *const *next)
{
    const strake_graph *graph = b->kernels->graph;
    const strake_cl_window *w = &b->stream[0].window;
    const size_t bytes = (size_t)(b->host->elements * b->host->element_size);
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0) {
            strake_cl_pins_add(&b->pins, array[v], bytes);
            strake_cl_pins_add(&b->pins, next[graph->value[v].next], bytes);
        } else if (strake_cl_window_needs(w, v)) {
            strake_cl_pins_add(&b->pins, array[v], bytes);
        }
    }
}

strake_status strake_cl_blocks_sweep(strake_cl_blocks *b, int steps, void *const *array,
                                     void *const *next, strake_error *error)
{
    strake_status status = STRAKE_OK;
    b->before = b->report;
    b->report.predicted += strake_cl_sizes_sweep(&b->demand, &b->rates, &b->sizes, steps);
    pin_arrays(b, array, next);
    b->generation = 1 - b->generation;
    for (int64_t i = 0; i < b->sizes.blocks; i++) {
        const int64_t k = (b->start + i) % b->sizes.blocks;
        STRAKE_TRY(wait_around(b, k, error));
        STRAKE_TRY(run_block(b, &b->stream[b->turn], &b->block[k], steps, array, next, error));
        b->turn = (b->turn + 1) % b->streams;
    }
    /* The last block is the neighbour of the first in a periodic domain: begin with the next one. */
    b->start = (b->start + 1) % b->sizes.blocks;
cleanup:
    return status;
}

strake_status strake_cl_blocks_finish(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(strake_cl_wait_queue(api(b), b->kernels->device, &b->waiter, b->stream[k].queue,
                                        error));
    }
    release_events(b);
cleanup:
    return status;
}

strake_status strake_cl_blocks_look(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < b->streams; k++) {
        stream *s = &b->stream[k];
        STRAKE_TRY(strake_cl_window_tell(&s->window, &s->looked, error));
        STRAKE_TRY(strake_cl_window_forget(&s->window, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_blocks_is_finite(strake_cl_blocks *b, bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *finite = true;
    for (int k = 0; k < b->streams; k++) {
        stream *s = &b->stream[k];
        if (s->looked != NULL) {
            STRAKE_TRY(strake_cl_wait(api(b), b->kernels->device, &b->waiter, &s->looked, error));
            *finite = *finite && s->window.non_finite == 0;
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_blocks_forget(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    b->report = b->before;
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(strake_cl_window_forget(&b->stream[k].window, error));
    }
cleanup:
    return status;
}

void strake_cl_blocks_describe(const strake_cl_blocks *b, strake_cl_blocks_report *out)
{
    *out = b->report;
    out->pinned = strake_cl_pins_complete(&b->pins);
}
