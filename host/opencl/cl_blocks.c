/* Sweeps of blocks. */
#include "opencl/cl_blocks_impl.h"
#include "opencl/cl_reduce.h"

static const strake_cl *api(const strake_cl_blocks *b)
{
    return b->kernels->cl;
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

/*
 * Uploads slabs [first, end) of the grid into a window: runs of slabs that lie together in the host
 * array. With @p by_map slabs beyond the domain take their source's, else they lie in the host array.
 */
static strake_status upload(strake_cl_blocks *b, const strake_cl_stream *s, cl_mem array,
                            void *host, int64_t base, int64_t first, int64_t end, bool by_map,
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
        STRAKE_TRY(strake_cl_pins_write(
            &b->pins, s->queue, array, strake_cl_window_offset(&s->window, slab - base),
            (size_t)run * bytes, host_slab(b, host, source), NULL, error));
        b->report.uploaded += (double)run * (double)bytes;
        slab += run;
    }
cleanup:
    return status;
}

/* The slabs that a step computes when @p later steps follow it in the sweep, of the grid. */
static strake_range computed(const strake_cl_blocks *b, const strake_cl_block *each, int later)
{
    const int64_t more = later * b->demand.reach;
    strake_range range = {each->own.first - more, each->own.end + more};
    if (!strake_cl_blocks_is_periodic(b)) {
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
    const int64_t first = most.first - l->lo[0];
    const int64_t end = most.end + l->hi[0];
    for (int k = 0; k < w->states; k++) {
        const cl_mem current = w->state[k].buffer[w->parity];
        STRAKE_TRY(upload(b, s, current, array[w->state[k].input], base, first, end, true, error));
        STRAKE_TRY(strake_cl_window_fill(w, current, first - base, end - base,
                                         b->host->boundary[0] == STRAKE_POLAR ? &each->edges : NULL,
                                         error));
    }
    for (int v = 0; v < b->kernels->graph->values; v++) {
        if (strake_cl_window_needs(w, v)) {
            STRAKE_TRY(upload(b, s, w->array[w->slot[v]], array[v], base, first, end,
                              strake_cl_blocks_is_periodic(b), error));
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
    STRAKE_TRY(strake_cl_reduce_begin(&s->window, error));
    STRAKE_TRY(strake_cl_reduce_read(&s->window, error));
    s->reduces = true;
cleanup:
    return status;
}

static strake_status run_block(strake_cl_blocks *b, strake_cl_stream *s, strake_cl_block *each,
                               int steps, void *const *array, void *const *next,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *w = &s->window;
    const int64_t base = each->own.first - b->extra;
    const int64_t slabs = each->own.end - each->own.first;
    const size_t bytes = (size_t)slabs * strake_cl_window_slab_bytes(w);
    STRAKE_TRY(bring(b, s, each, steps, array, error));
    for (int later = steps - 1; later >= 0; later--) {
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
    cl_event *event = &b->block[k].done[generation];
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
    STRAKE_TRY(wait_for(b, k, 1 - b->generation, error));
    for (int side = -1; side <= 1; side += 2) {
        int64_t left = reach;
        for (int64_t away = 1; away < count && left > 0; away++) {
            const int64_t other = k + side * away;
            if (!strake_cl_blocks_is_periodic(b) && (other < 0 || other >= count)) {
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
        STRAKE_TRY(collect(b, &b->stream[k], error)); /* of a trial, for which nobody asked */
        strake_cl_reduce_forget(&b->stream[k].window);
        strake_graph_scalars(b->kernels->graph, told, b->stream[k].window.scalar);
    }
    strake_reduced_begin(b->kernels->graph, b->reduced);
    b->before = b->report;
    b->report.predicted += strake_cl_sizes_sweep(&b->demand, &b->rates, &b->sizes, steps);
    pin_arrays(b, array, next);
    b->generation = 1 - b->generation;
    for (int64_t i = 0; i < b->sizes.blocks; i++) {
        const int64_t k = turn_of(b, i);
        STRAKE_TRY(wait_around(b, k, error));
        STRAKE_TRY(run_block(b, &b->stream[b->turn], &b->block[k], steps, array, next, error));
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
        if (b->stream[k].brought != NULL) {
            STRAKE_TRY(strake_cl_wait(api(b), b->kernels->device, &b->waiter, &b->stream[k].brought,
                                      error));
        }
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
    strake_cl_blocks_release_events(b);
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

strake_status strake_cl_blocks_undo(strake_cl_blocks *b, strake_error *error)
{
    b->report = b->before;
    return strake_cl_blocks_restart(b, error);
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

void strake_cl_blocks_describe(const strake_cl_blocks *b, strake_cl_blocks_report *out)
{
    *out = b->report;
    out->pinned = strake_cl_pins_complete(&b->pins);
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

void strake_cl_blocks_unpin(strake_cl_blocks *b)
{
    strake_cl_pins_release(&b->pins);
}
