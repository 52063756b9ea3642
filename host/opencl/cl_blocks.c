/* Sweeps of blocks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "opencl/cl_blocks.h"
#include "opencl/cl_queue.h"
#include "opencl/cl_choose.h"
#include "opencl/cl_window.h"

enum { REPEATS = 3, ROW = 16, PAGE = 4096 };

static const double most_array = 128.0 * 1048576.0; /* bytes: enough to fill a large GPU */

static const size_t most_transfer = (size_t)64 << 20;

/** Slabs of a window that is large enough to measure on, and fits. */
static int64_t cl_probe_slabs(const strake_cl_demand *d)
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

/* Keeps the least of the times of repetitions; the first of these, number 0, does not count. */
static void keep_fastest(int repetition, double took, double *seconds)
{
    *seconds = repetition == 1 || (repetition > 1 && took < *seconds) ? took : *seconds;
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
        keep_fastest(k, took, seconds);
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
        keep_fastest(k, took, seconds);
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
        keep_fastest(k, middle - start, up);
        keep_fastest(k, strake_clock_seconds() - middle, down);
    }
cleanup:
    return status;
}

/**
 * Measures transfers of memory, pinned or not, in either direction and time steps, on a window of at least one
 * slab, whose arrays are overwritten with ones. Takes well under a second on a GPU.
 */
static strake_status cl_probe(strake_cl_window *w, bool pinned, strake_cl_rates *out,
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

enum {
    KEPT = 32, /* of so many parts of its memory, a driver keeps one */
    HALVINGS = 3
};

static const strake_cl *api(const strake_cl_blocks *b)
{
    return b->kernels->cl;
}

static bool is_periodic(const strake_cl_blocks *b)
{
    return b->host->boundary[0] == STRAKE_PERIODIC;
}

/* What the case or tuning says. */
static const strake_settings *settings_of(const strake_cl_blocks *b)
{
    return &b->kernels->options.run;
}

int strake_cl_blocks_best(const strake_cl_blocks *b, int most)
{
    strake_cl_demand demand = b->demand;
    strake_cl_sizes sizes, best = b->sizes;
    best.seconds = INFINITY;
    demand.streams = settings_of(b)->streams;
    for (demand.steps = 1; demand.steps <= most && demand.steps <= demand.horizon; demand.steps++) {
        if (strake_cl_sizes_choose(&demand, &b->rates, &sizes) && sizes.seconds < best.seconds) {
            best = sizes;
        }
    }
    return best.steps;
}

/* Layout of windows whose blocks have up to @p slabs slabs of their own. */
static strake_layout window_layout(const strake_cl_blocks *b, int64_t slabs, int64_t extra)
{
    const int64_t n[STRAKE_AXES] = {slabs + 2 * extra, b->host->n[1], b->host->n[2]};
    return strake_layout_make_deep(b->kernels->graph, b->host->steps, n, b->host->boundary);
}

static void fill_demand(strake_cl_blocks *b, const strake_cl_blocks_options *options,
                        uint64_t memory)
{
    strake_cl_demand *d = &b->demand;
    const strake_settings *run = settings_of(b);
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
    d->memory = memory;
    d->largest = b->kernels->device->max_allocation;
    d->steps = options->steps;
    d->blocks = run->blocks < d->slabs ? run->blocks : d->slabs;
    d->streams = run->streams;
    d->horizon = options->horizon;
    d->follows = graph->reductions == 0;
}

static strake_status new_stream(strake_cl_blocks *b, const strake_layout *layout,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    strake_cl_stream *s = &b->stream[b->streams++];
    s->queue =
        api(b)->clCreateCommandQueue(b->kernels->context, b->kernels->device->device, 0, &code);
    STRAKE_CL("clCreateCommandQueue", code, error, b->kernels->device);
    STRAKE_TRY(strake_cl_window_create(&s->window, b->kernels, layout, false, s->queue, error));
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
        strake_cl_release_event(api(b), &b->stream[k].looked);
        strake_cl_release_event(api(b), &b->stream[k].brought);
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
    const int64_t slabs = cl_probe_slabs(&b->demand);
    const strake_layout layout = window_layout(b, slabs, 0);
    STRAKE_TRY(new_stream(b, &layout, error));
    STRAKE_TRY(cl_probe(&b->stream[0].window, b->pins.allowed, &b->rates, error));
cleanup:
    release_streams(b);
    return status;
}

static bool fits(const strake_cl_demand *d)
{
    const double least = strake_cl_sizes_least(d);
    return least <= (double)d->memory && least / d->arrays <= (double)d->largest;
}

enum { CHANGES = 3 };

static void change(strake_cl_demand *d, int k)
{
    d->blocks = k == 0 ? d->slabs : d->blocks;
    d->streams = k == 1 ? 1 : d->streams;
    d->steps = k == 2 ? 1 : d->steps;
}

/* What to do: of the keys that were given, those of which one alone, or all together, make blocks fit. */
static const char *advise(const strake_cl_blocks *b, char *text, size_t size)
{
    static const char *const words[CHANGES] = {"raise run.blocks", "lower run.streams",
                                               "lower run.steps_per_sweep"};
    const strake_cl_demand *d = &b->demand;
    const bool given[CHANGES] = {d->blocks > 0 && d->blocks<d->slabs, d->streams> 1,
                                 settings_of(b)->steps_per_sweep > 0 && d->steps > 1};
    bool helps[CHANGES] = {false};
    bool any = false;
    size_t used = 0;
    strake_cl_demand all = *d;
    for (int k = 0; k < CHANGES; k++) {
        strake_cl_demand one = *d;
        if (given[k]) {
            change(&one, k);
            change(&all, k);
            helps[k] = fits(&one);
            any = any || helps[k];
        }
    }
    for (int k = 0; k < CHANGES; k++) {
        if (any ? helps[k] : given[k] && fits(&all)) {
            const char *const between = any ? " or " : " and ";
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? between : "",
                                     words[k]);
        }
    }
    (void)snprintf(text + used, size - used, "%s%s", used > 0 ? ", or " : "",
                   settings_of(b)->device_memory > 0
                       ? "raise run.device_memory"
                       : "run this case on another device or on fewer columns");
    return text;
}

static strake_status choose(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_demand *d = &b->demand;
    const int64_t slabs = d->blocks > 0 ? strake_cl_sizes_slabs(d->slabs, d->blocks) : 1;
    const int streams = d->streams > 0 ? d->streams : 1;
    const int steps = d->steps > 0 ? d->steps : 1;
    const double least = strake_cl_sizes_least(d);
    char need[STRAKE_CL_BYTES_TEXT], most[STRAKE_CL_BYTES_TEXT];
    char array[STRAKE_CL_BYTES_TEXT], largest[STRAKE_CL_BYTES_TEXT];
    char buffers[128] = "";
    char advice[256] = "";
    if (fits(d) && (b->rates.cells <= 0.0 || strake_cl_sizes_choose(d, &b->rates, &b->sizes))) {
        return STRAKE_OK;
    }
    if (least / d->arrays > (double)d->largest) {
        (void)snprintf(buffers, sizeof buffers, ", %s in one buffer of at most %s",
                       strake_cl_bytes_text(least / d->arrays, array),
                       strake_cl_bytes_text((double)d->largest, largest));
    }
    STRAKE_CHECK(
        false, error, STRAKE_ERR_USAGE,
        "%s: streaming the stripe needs at least %s of device memory (blocks of %lld %s%s, "
        "%d step%s a visit, %d stream%s)%s, and it may use %s; %s",
        b->kernels->device->name, strake_cl_bytes_text(least, need), (long long)slabs,
        b->host->n[1] > 1 ? "plane" : "row", slabs > 1 ? "s" : "", steps, steps > 1 ? "s" : "",
        streams, streams > 1 ? "s" : "", buffers, strake_cl_bytes_text((double)d->memory, most),
        advise(b, advice, sizeof advice));
cleanup:
    return status;
}

/* Adds a ghost slab of the grid to a list if the block's window has it and what it copies. */
static void add_edge(const strake_cl_blocks *b, const strake_cl_block *each, int64_t g, int64_t *to,
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
static strake_status plan_edges(strake_cl_blocks *b, strake_cl_block *each, strake_error *error)
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

/* Cuts the stripe. */
static strake_status cut_blocks(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs = b->range.end - b->range.first;
    const int64_t count = b->sizes.blocks;
    b->block = calloc((size_t)count + 1, sizeof *b->block); /* never of size 0 */
    STRAKE_CHECK(b->block != NULL, error, STRAKE_ERR_MEMORY, "out of memory for blocks");
    for (int64_t k = 0; k < count; k++) {
        strake_cl_block *each = &b->block[k];
        each->own.first = b->range.first + slabs * k / count;
        each->own.end = b->range.first + slabs * (k + 1) / count;
        STRAKE_TRY(plan_edges(b, each, error));
    }
    b->report.sizes = b->sizes;
cleanup:
    return status;
}

/* Waits for nothing and forgets all events of sweeps. */
static void release_events(strake_cl_blocks *b)
{
    for (int64_t k = 0; k < b->sizes.blocks && b->block != NULL; k++) {
        for (int g = 0; g < 2; g++) {
            strake_cl_release_event(api(b), &b->block[k].done[g]);
        }
    }
}

static void release_blocks(strake_cl_blocks *b)
{
    release_events(b);
    for (int64_t k = 0; k < b->sizes.blocks && b->block != NULL; k++) {
        strake_cl_release_buffer(b->kernels, &b->block[k].edges.list);
    }
    free(b->block);
    b->block = NULL;
}

static strake_status make_blocks(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    b->extra = (b->sizes.steps - 1) * b->demand.reach;
    b->most = b->sizes.slabs;
    const strake_layout layout = window_layout(b, b->most, b->extra);
    for (int k = 0; k < b->sizes.streams; k++) {
        STRAKE_TRY(new_stream(b, &layout, error));
    }
    STRAKE_TRY(cut_blocks(b, error));
    b->report.rates = b->rates;
    b->report.memory =
        (uint64_t)b->sizes.streams * strake_cl_window_bytes(b->kernels, &layout, &(uint64_t){0});
cleanup:
    return status;
}

/* As many blocks of some slabs as windows have room for, or as the case says. */
static int64_t count_blocks(const strake_cl_blocks *b, int64_t slabs)
{
    const int64_t asked = settings_of(b)->blocks;
    return asked > slabs ? slabs : asked > 0 ? asked : (slabs + b->most - 1) / b->most;
}

bool strake_cl_blocks_has_room(const strake_cl_blocks *b, strake_range range)
{
    const int64_t slabs = range.end - range.first;
    return b->movable && slabs > 0 && slabs < b->host->n[0] &&
           strake_cl_sizes_slabs(slabs, count_blocks(b, slabs)) <= b->most;
}

strake_status strake_cl_blocks_move(strake_cl_blocks *b, strake_range range, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs = range.end - range.first;
    STRAKE_TRY(strake_cl_blocks_finish(b, error));
    release_blocks(b);
    b->range = range;
    b->demand.slabs = slabs;
    b->sizes.blocks = count_blocks(b, slabs);
    b->sizes.slabs = strake_cl_sizes_slabs(slabs, b->sizes.blocks);
    b->start = 0;
    STRAKE_TRY(cut_blocks(b, error));
cleanup:
    return status;
}

static strake_status create(const strake_cl_kernels *kernels, const strake_layout *host,
                            strake_range range, const strake_cl_blocks_options *options,
                            uint64_t memory, strake_cl_blocks **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_blocks *b = calloc(1, sizeof *b);
    STRAKE_CHECK(b != NULL, error, STRAKE_ERR_MEMORY, "out of memory for blocks");
    b->kernels = kernels;
    b->host = host;
    b->range = range;
    b->alone = options->alone;
    b->movable = options->movable;
    b->waiter = (strake_cl_waiter){.kind = (strake_cl_wait_kind)settings_of(b)->wait,
                                   .limit = options->limit};
    b->pins.cl = kernels->cl;
    b->pins.device = kernels->device;
    b->pins.context = kernels->context;
    b->pins.allowed = options->pins;
    fill_demand(b, options, memory);
    STRAKE_TRY(choose(b, error)); /* whether anything fits, before anything is allocated */
    b->rates = options->known.rates;
    if (b->rates.cells <= 0.0) {
        STRAKE_TRY(measure(b, error));
    }
    b->demand.streams =
        settings_of(b)->streams > 0 ? settings_of(b)->streams : options->known.streams;
    if (settings_of(b)->streams == 0 && !strake_cl_sizes_choose(&b->demand, &b->rates, &b->sizes)) {
        b->demand.streams = 0;
    }
    STRAKE_TRY(choose(b, error));
    STRAKE_TRY(make_blocks(b, error));
    *out = b;
    b = NULL;
cleanup:
    strake_cl_blocks_destroy(&b);
    return status;
}

uint64_t strake_cl_usable_memory(const strake_cl_device *device, uint64_t asked)
{
    const uint64_t all = device->global_memory - device->global_memory / KEPT;
    return asked > 0 && asked < device->global_memory ? asked : all;
}

/* What the whole stripe would take. */
static uint64_t whole_bytes(const strake_cl_kernels *kernels, const strake_layout *host,
                            strake_range range)
{
    const int64_t n[STRAKE_AXES] = {range.end - range.first, host->n[1], host->n[2]};
    const strake_layout layout =
        strake_layout_make_deep(kernels->graph, host->steps, n, host->boundary);
    uint64_t array = 0;
    return strake_cl_window_bytes(kernels, &layout, &array);
}

strake_status strake_cl_blocks_create(const strake_cl_kernels *kernels, const strake_layout *host,
                                      strake_range range, const strake_cl_blocks_options *options,
                                      strake_cl_blocks **out, strake_error *error)
{
    const uint64_t cap = (uint64_t)kernels->options.run.device_memory;
    uint64_t memory = strake_cl_usable_memory(kernels->device, cap);
    const uint64_t whole = whole_bytes(kernels, host, range);
    strake_error less;
    strake_status status = create(kernels, host, range, options, memory, out, error);
    if (cap > 0) {
        return status;
    }
    /* Others may use the device too, and what it has is not what there is: less and less. */
    memory = whole < memory ? whole : memory;
    for (int k = 1; status == STRAKE_ERR_DEVICE && k <= HALVINGS; k++) {
        const strake_status next = create(kernels, host, range, options, memory >> k, out, &less);
        if (next == STRAKE_ERR_USAGE) {
            break; /* not even single slabs: the device's refusal stays the error */
        }
        status = next != STRAKE_OK ? strake_fail(error, next, "%s", less.text) : STRAKE_OK;
    }
    return status;
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
    release_blocks(b);
    release_streams(b);
    strake_cl_pins_release(&b->pins);
    free(b);
    *blocks = NULL;
}

static int64_t at_least(int64_t x, int64_t limit)
{
    return x < limit ? limit : x;
}

static int64_t at_most(int64_t x, int64_t limit)
{
    return x > limit ? limit : x;
}

static char *host_slab(const strake_cl_blocks *b, void *array, int64_t slab)
{
    return (char *)array + strake_layout_offset(b->host, slab);
}

/* Uploads slabs of the grid into the window of a block; @p by_map: see strake_cl_window_upload(). */
static strake_status upload(strake_cl_blocks *b, const strake_cl_stream *s, cl_mem array,
                            const void *from, int64_t base, strake_range slabs, bool by_map,
                            strake_error *error)
{
    b->report.uploaded +=
        (double)(slabs.end - slabs.first) * (double)strake_cl_window_slab_bytes(&s->window);
    return strake_cl_window_upload(&s->window, &b->pins, s->queue, array, b->host, from, base,
                                   slabs, by_map, error);
}

/* The slabs that a step computes when @p later steps follow it in the sweep, of the grid. */
static strake_range computed(const strake_cl_blocks *b, const strake_cl_block *each, int later)
{
    const int64_t more = later * b->demand.reach;
    strake_range range = {each->own.first - more, each->own.end + more};
    if (!is_periodic(b)) {
        range.first = at_least(range.first, 0);
        range.end = at_most(range.end, b->host->n[0]);
    }
    return range;
}

static strake_status bring(strake_cl_blocks *b, strake_cl_stream *s, const strake_cl_block *each,
                           int steps, void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *w = &s->window;
    const strake_layout *l = &w->layout;
    const int64_t base = each->own.first - b->extra;
    const strake_range most = computed(b, each, steps - 1);
    const strake_range slabs = {most.first - l->lo[0], most.end + l->hi[0]};
    for (int k = 0; k < w->states; k++) {
        const cl_mem current = w->state[k].buffer[w->parity];
        STRAKE_TRY(upload(b, s, current, array[w->state[k].input], base, slabs, true, error));
        STRAKE_TRY(strake_cl_window_fill(w, current, slabs.first - base, slabs.end - base,
                                         b->host->boundary[0] == STRAKE_POLAR ? &each->edges : NULL,
                                         error));
    }
    for (int v = 0; v < b->kernels->graph->values; v++) {
        if (strake_cl_window_needs(w, v)) {
            STRAKE_TRY(
                upload(b, s, w->array[w->slot[v]], array[v], base, slabs, is_periodic(b), error));
        }
    }
    strake_cl_release_event(api(b), &s->brought);
    STRAKE_CL("clEnqueueMarkerWithWaitList",
              api(b)->clEnqueueMarkerWithWaitList(s->queue, 0, NULL, &s->brought), error,
              b->kernels->device);
    STRAKE_TRY(strake_cl_window_static(w, most.first - base, most.end - base, error));
cleanup:
    return status;
}

/* Waits for what a stream's last block was brought down to, and adds it. */
static strake_status collect(strake_cl_blocks *b, strake_cl_stream *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_graph *graph = b->kernels->graph;
    double found[STRAKE_MAX_REDUCTIONS];
    if (!s->reduces) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_cl_reduce_end(&s->window, &b->waiter, found, error));
    for (int n = 0; n < graph->reductions; n++) {
        strake_reduced_add(graph->reduction[n].kind, &b->reduced[n], found[n]);
    }
    s->reduces = false;
cleanup:
    return status;
}

/* The numbers of the block before give way while this one's kernels run. */
static strake_status reduce(strake_cl_blocks *b, strake_cl_stream *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (b->kernels->graph->reductions == 0) {
        return STRAKE_OK;
    }
    STRAKE_CL("clFlush", api(b)->clFlush(s->queue), error, b->kernels->device);
    STRAKE_TRY(collect(b, s, error));
    STRAKE_TRY(strake_cl_reduce(&s->window, error));
    s->reduces = true;
cleanup:
    return status;
}

static strake_status run_block(strake_cl_blocks *b, strake_cl_stream *s, strake_cl_block *each,
                               int steps, const double *told, void *const *array, void *const *next,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *w = &s->window;
    const int given = strake_graph_given(b->kernels->graph);
    const int64_t base = each->own.first - b->extra;
    const int64_t slabs = each->own.end - each->own.first;
    const size_t bytes = (size_t)slabs * strake_cl_window_slab_bytes(w);
    STRAKE_TRY(bring(b, s, each, steps, array, error));
    for (int later = steps - 1; later >= 0; later--, told += given) {
        strake_graph_scalars(b->kernels->graph, told, w->scalar);
        const strake_range range = computed(b, each, later);
        STRAKE_TRY(strake_cl_window_step(w, range.first - base, range.end - base,
                                         later > 0 ? &each->edges : NULL, error));
        strake_cl_window_swap(w);
    }
    STRAKE_TRY(reduce(b, s, error));
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

static strake_status wait_for(strake_cl_blocks *b, int64_t k, int generation, strake_error *error)
{
    return strake_cl_wait(api(b), b->kernels->device, &b->waiter, &b->block[k].done[generation],
                          error);
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
    STRAKE_TRY(wait_for(b, k, 1 - b->generation, error));
    for (int side = -1; side <= 1; side += 2) {
        int64_t left = reach;
        for (int64_t away = 1; away < count && left > 0; away++) {
            const int64_t other = k + side * away;
            if (!is_periodic(b) && (other < 0 || other >= count)) {
                break;
            }
            const int64_t wrapped = (other % count + count) % count;
            STRAKE_TRY(wait_for(b, wrapped, 1 - b->generation, error));
            left -= b->block[wrapped].own.end - b->block[wrapped].own.first;
        }
    }
cleanup:
    return status;
}

/* Pins the slabs of an array that blocks read or write, now or one day; a rank has memory for no others. */
static void pin_array(strake_cl_blocks *b, void *array)
{
    const strake_layout *l = b->host;
    const int64_t around = b->movable ? l->n[0] : b->extra + b->demand.reach;
    const int64_t first = at_least(b->range.first - around, -(int64_t)l->lo[0]);
    const int64_t end = at_most(b->range.end + around, l->n[0] + l->hi[0]);
    char *const from = host_slab(b, array, first);
    char *const page = from - (size_t)(from - (char *)array) % STRAKE_CL_PIN_PAGE;
    strake_cl_pins_add(&b->pins, page, (size_t)(host_slab(b, array, end) - page));
}

static void pin_arrays(strake_cl_blocks *b, void *const *array, void *const *next)
{
    const strake_graph *graph = b->kernels->graph;
    const strake_cl_window *w = &b->stream[0].window;
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0) {
            pin_array(b, array[v]);
            pin_array(b, next[graph->value[v].next]);
        } else if (strake_cl_window_needs(w, v)) {
            pin_array(b, array[v]);
        }
    }
}

/*
 * The i-th block of a sweep. Alone: one by one, around a periodic domain beginning with another one each time. Beside
 * others: from both ends to the middle, so that neighbours can go on, and the ends begin the next sweep, while the
 * middle is still on its way.
 */
static int64_t turn_of(const strake_cl_blocks *b, int64_t i)
{
    const int64_t inward = i % 2 == 0 ? i / 2 : b->sizes.blocks - 1 - i / 2;
    return b->alone ? (b->start + i) % b->sizes.blocks : inward;
}

strake_status strake_cl_blocks_sweep(strake_cl_blocks *b, int steps, const double *told,
                                     void *const *array, void *const *next, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(collect(b, &b->stream[k], error)); /* of a trial, which no bound was read of */
        strake_cl_reduce_forget(&b->stream[k].window);
    }
    strake_reduced_begin(b->kernels->graph, b->reduced);
    b->before = b->report;
    b->report.predicted += strake_cl_sizes_sweep(&b->demand, &b->rates, &b->sizes, steps);
    pin_arrays(b, array, next);
    b->generation = 1 - b->generation;
    for (int64_t i = 0; i < b->sizes.blocks; i++) {
        const int64_t k = turn_of(b, i);
        STRAKE_TRY(wait_around(b, k, error));
        STRAKE_TRY(
            run_block(b, &b->stream[b->turn], &b->block[k], steps, told, array, next, error));
        b->turn = (b->turn + 1) % b->streams;
    }
    /* The last block is the neighbour of the first in a periodic domain: begin with the next one. */
    b->start = (b->start + 1) % b->sizes.blocks;
cleanup:
    return status;
}

strake_status strake_cl_blocks_bound(strake_cl_blocks *b, double *bound, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(collect(b, &b->stream[k], error));
    }
    *bound = b->kernels->graph->reductions > 0 ? b->reduced[0] : *bound;
cleanup:
    return status;
}

strake_status strake_cl_blocks_meet(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t around = b->extra + b->demand.reach;
    for (int64_t k = 0; k < b->sizes.blocks; k++) {
        const strake_cl_block *each = &b->block[k];
        if (each->own.first - around < b->range.first || each->own.end + around > b->range.end) {
            STRAKE_TRY(wait_for(b, k, b->generation, error));
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_blocks_let_go(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(
            strake_cl_wait(api(b), b->kernels->device, &b->waiter, &b->stream[k].brought, error));
    }
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
        strake_cl_stream *s = &b->stream[k];
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
        strake_cl_stream *s = &b->stream[k];
        if (s->looked != NULL) {
            STRAKE_TRY(strake_cl_wait(api(b), b->kernels->device, &b->waiter, &s->looked, error));
            *finite = *finite && s->window.non_finite == 0;
        }
    }
cleanup:
    return status;
}

strake_status strake_cl_blocks_restart(strake_cl_blocks *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool finite = true;
    STRAKE_TRY(strake_cl_blocks_finish(b, error));
    STRAKE_TRY(strake_cl_blocks_is_finite(b, &finite, error));
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(strake_cl_window_forget(&b->stream[k].window, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_blocks_check(strake_cl_blocks *b, bool *intact, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_blocks_finish(b, error));
    for (int k = 0; k < b->streams; k++) {
        STRAKE_TRY(strake_cl_window_check(&b->stream[k].window, intact, error));
    }
cleanup:
    return status;
}

/* Whether the driver pinned all memory that was added. */
static bool are_pinned(const strake_cl_pins *pins)
{
    for (int k = 0; k < pins->count; k++) {
        if (pins->pin[k].buffer == NULL) {
            return false;
        }
    }
    return pins->count > 0;
}

void strake_cl_blocks_describe(const strake_cl_blocks *b, strake_cl_blocks_report *out)
{
    *out = b->report;
    out->pinned = are_pinned(&b->pins);
}

strake_status strake_cl_blocks_record(strake_cl_blocks *b, strake_cl_record *record,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *k = b->kernels;
    STRAKE_TRY(strake_cl_blocks_finish(b, error));
    for (int s = 0; s < b->streams; s++) {
        STRAKE_TRY(strake_cl_record_renew(k->cl, k->device, k->context, record != NULL,
                                          &b->stream[s].queue, error));
        b->stream[s].window.queue = b->stream[s].queue;
    }
    STRAKE_TRY(record != NULL
                   ? strake_cl_record_begin(record, k->cl, k->device, b->stream[0].queue, error)
                   : STRAKE_OK);
    b->pins.record = record;
cleanup:
    return status;
}
