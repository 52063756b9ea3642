#include "opencl/cl_exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "engine/graph.h"
#include "base/clock.h"
#include "model/rounds.h"

/* Whether slabs of a state are exchanged after a sweep. */
static bool travels(const strake_cl_exchange *x, int state)
{
    return strake_ghosts_travel(x->window->kernels->graph, x->window->state[state].input);
}

/* States of which slabs are exchanged. */
static int count_states(const strake_cl_exchange *x)
{
    return strake_ghosts_count(x->window->kernels->graph);
}

static int last_state(const strake_cl_exchange *x)
{
    int last = -1;
    for (int k = 0; k < x->window->states; k++) {
        last = travels(x, k) ? k : last;
    }
    return last;
}

/* That of the next transfers. */
static cl_command_queue queue_of(const strake_cl_exchange *x)
{
    return x->beside ? x->queue : x->window->queue;
}

/* Ghost slabs from @p g on that lie one after the other in the window and in the host arrays. */
static int run_of(const strake_cl_exchange *x, int g)
{
    int run = 1;
    while (g + run < x->ghosts && x->ghost[g + run].slab == x->ghost[g].slab + run &&
           x->ghost[g + run].source == x->ghost[g].source + run) {
        run++;
    }
    return run;
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
        /* Slabs beyond a pole are made of those before it, which are there as well. */
        if ((source < own.first || source >= own.end) &&
            !strake_ghost_is_turned(host->boundary[0], host->n[0], g)) {
            x->ghost[x->ghosts].slab = g;
            x->ghost[x->ghosts].source = source;
            x->ghosts++;
        }
    }
    x->runs = 0;
    for (int g = 0; g < x->ghosts; g += run_of(x, g)) {
        x->runs++;
    }
    return STRAKE_OK;
}

strake_status strake_cl_exchange_create(strake_cl_exchange *x, strake_cl_window *window,
                                        const strake_layout *host, bool overlaps, bool pins,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const strake_cl_kernels *kernels = window->kernels;
    x->window = window;
    x->host = host;
    x->queue = window->queue;
    x->pins = (strake_cl_pins){
        .cl = kernels->cl, .device = kernels->device, .context = kernels->context, .allowed = pins};
    if (overlaps) {
        x->queue =
            kernels->cl->clCreateCommandQueue(kernels->context, kernels->device->device, 0, &code);
        STRAKE_CL("clCreateCommandQueue", code, error, kernels->device);
        x->overlaps = true;
        x->beside = true;
    }
cleanup:
    return status;
}

/* Some slabs of the states that travel as they lie in the window. @param[in] first  slab of the grid */
static strake_cl_pieces pieces_of(const strake_cl_exchange *x, int64_t first, int64_t slabs)
{
    return (strake_cl_pieces){.offset = strake_cl_window_offset(x->window, first - x->base),
                              .apart = x->window->together.apart,
                              .bytes = (size_t)slabs * strake_cl_window_slab_bytes(x->window),
                              .count = x->window->together.states};
}

/* Copies packed slabs to or from the host arrays. @return what follows them where they are packed */
static char *copy_packed(const strake_cl_exchange *x, char *packed, void *const *array, bool out,
                         int64_t first, int64_t slabs)
{
    const size_t bytes = (size_t)slabs * strake_cl_window_slab_bytes(x->window);
    for (int k = 0; k < x->window->states; k++) {
        const strake_cl_state *const state = &x->window->state[k];
        if (travels(x, k)) {
            char *const host = (char *)array[out ? state->output : state->input] +
                               strake_layout_offset(x->host, first);
            memcpy(out ? host : packed, out ? packed : host, bytes);
            packed += bytes;
        }
    }
    return packed;
}

/* Memory for packed slabs, if all of them are to travel so. */
static strake_status plan_packed(strake_cl_exchange *x, strake_error *error)
{
    const int states = x->overlaps ? 0 : x->window->together.states;
    const double slab = (double)strake_cl_window_slab_bytes(x->window) * states;
    int64_t slabs = x->ghosts, most = 0;
    free(x->packed);
    x->packed = NULL;
    for (int b = 0; b < x->borders; b++) {
        const int64_t count = x->border[b].end - x->border[b].first;
        slabs += count;
        most = count > most ? count : most;
    }
    for (int g = 0, run = 0; g < x->ghosts; g += run) {
        run = run_of(x, g);
        most = run > most ? run : most;
    }
    if (slabs == 0 || !strake_exchange_packs(states, (double)most * slab)) {
        return STRAKE_OK;
    }
    x->packed_bytes = ((size_t)slabs * (size_t)slab + STRAKE_CL_PIN_PAGE - 1) / STRAKE_CL_PIN_PAGE *
                      STRAKE_CL_PIN_PAGE;
    x->packed = aligned_alloc(STRAKE_CL_PIN_PAGE, x->packed_bytes);
    return x->packed != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for borders on their way");
}

strake_status strake_cl_exchange_plan(strake_cl_exchange *x, const strake_range *stripe,
                                      int stripes, int self, int64_t base, const int64_t depth[2],
                                      const int64_t theirs[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    x->base = base;
    strake_cl_exchange_unpin(x);
    STRAKE_TRY(find_ghosts(x, stripe[self], depth, error));
    x->borders =
        strake_partition_border(stripe, stripes, self, x->host->n[0], x->host->boundary[0],
                                (int)theirs[0], (int)theirs[1], STRAKE_CL_MOST_BORDERS, x->border);
    STRAKE_TRY(plan_packed(x, error));
cleanup:
    return status;
}

void strake_cl_exchange_release(strake_cl_exchange *x)
{
    if (x->window == NULL || x->queue == NULL) {
        return;
    }
    (void)x->window->kernels->cl->clFinish(x->queue);
    strake_cl_release_event(x->window->kernels->cl, &x->mark);
    strake_cl_release_event(x->window->kernels->cl, &x->sent);
    strake_cl_release_event(x->window->kernels->cl, &x->arrived);
    strake_cl_pins_release(&x->pins);
    if (x->overlaps) {
        (void)x->window->kernels->cl->clReleaseCommandQueue(x->queue);
    }
    free(x->ghost);
    free(x->packed);
    memset(x, 0, sizeof *x);
}

/* Ends a timed exchange; the oldest sample makes room. */
static void add_sample(strake_cl_exchange *x)
{
    const int at = x->samples++ % STRAKE_CL_SAMPLES;
    x->down[at] = x->so_far;
    x->up[at] = strake_clock_seconds() - x->began;
    x->timed = false;
}

static double median(const double *value, int count)
{
    double sorted[STRAKE_CL_SAMPLES];
    memcpy(sorted, value, sizeof sorted);
    return count > 0 ? strake_median(sorted, count) : (double)NAN;
}

void strake_cl_exchange_describe(const strake_cl_exchange *x, strake_cl_exchange_report *out)
{
    const int states = count_states(x);
    const int messages = x->packed != NULL ? 1 : states;
    const double slab = (double)strake_cl_window_slab_bytes(x->window) * states;
    const int count = x->samples < STRAKE_CL_SAMPLES ? x->samples : STRAKE_CL_SAMPLES;
    *out = (strake_cl_exchange_report){.messages_down = x->borders * messages,
                                       .messages_up = x->runs * messages,
                                       .bytes_up = x->ghosts * slab,
                                       .numbers = x->window->kernels->graph->reductions,
                                       .overlaps = x->overlaps,
                                       .beside = x->beside,
                                       .samples = x->samples};
    for (int b = 0; b < x->borders; b++) {
        out->bytes_down += (double)(x->border[b].end - x->border[b].first) * slab;
    }
    out->down = median(x->down, count);
    out->up = median(x->up, count);
}

/* The pins with what may have changed since they were made. */
static const strake_cl_pins *pins_of(strake_cl_exchange *x)
{
    x->pins.record = x->window->kernels->record;
    return &x->pins;
}

/*
 * The same for several pieces, which one command copies from or to host memory, whichever is not NULL: it must be pinned
 * as a whole or not at all.
 */
static strake_status cl_pins_pieces(const strake_cl_pins *pins, cl_command_queue queue,
                                    cl_mem buffer, const strake_cl_pieces *p, const void *from,
                                    void *to, cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = pins->cl;
    const bool up = from != NULL;
    const size_t there[3] = {p->offset, 0, 0}, here[3] = {0, 0, 0};
    const size_t region[3] = {p->bytes, (size_t)p->count, 1};
    cl_event own = NULL;
    cl_event *const event = done != NULL ? done : pins->record != NULL ? &own : NULL;
    const cl_int code =
        up ? cl->clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, there, here, region, p->apart, 0,
                                          p->bytes, 0, from, 0, NULL, event)
           : cl->clEnqueueReadBufferRect(queue, buffer, CL_FALSE, there, here, region, p->apart, 0,
                                         p->bytes, 0, to, 0, NULL, event);
    STRAKE_CL(up ? "clEnqueueWriteBufferRect" : "clEnqueueReadBufferRect", code, error,
              pins->device);
    strake_cl_record_add(pins->record, up ? STRAKE_CL_UP : STRAKE_CL_DOWN, "",
                         (double)p->bytes * p->count, event != NULL ? *event : NULL);
cleanup:
    strake_cl_release_event(cl, &own);
    return status;
}

/* The borders of the states that lie together, one after the other. */
static strake_status send_packed(strake_cl_exchange *x, int parity, void *const *next,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *to = x->packed;
    for (int b = 0; b < x->borders; b++) {
        const strake_cl_pieces pieces =
            pieces_of(x, x->border[b].first, x->border[b].end - x->border[b].first);
        STRAKE_TRY(cl_pins_pieces(pins_of(x), queue_of(x), x->window->together.all[parity], &pieces,
                                  NULL, to, b + 1 == x->borders ? &x->sent : NULL, error));
        to += pieces.bytes * (size_t)pieces.count;
    }
    x->next = next;
cleanup:
    return status;
}

strake_status strake_cl_exchange_mark(strake_cl_exchange *x, cl_event done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *const kernels = x->window->kernels;
    if (x->beside && x->borders > 0 && last_state(x) >= 0) {
        strake_cl_release_event(kernels->cl, &x->mark);
        if (done != NULL && kernels->cl->clRetainEvent(done) == CL_SUCCESS) {
            x->mark = done;
            return STRAKE_OK;
        }
        STRAKE_CL("clEnqueueMarkerWithWaitList",
                  kernels->cl->clEnqueueMarkerWithWaitList(x->window->queue, 0, NULL, &x->mark),
                  error, kernels->device);
    }
cleanup:
    return status;
}

strake_status strake_cl_exchange_send(strake_cl_exchange *x, int parity, void *const *next,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    const int last = last_state(x);
    if (last < 0 || x->borders == 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(x->packed != NULL ? send_packed(x, parity, next, error) : STRAKE_OK);
    /* The mark is in this queue, or in one that was flushed where the two changed roles. */
    if (x->mark != NULL) {
        STRAKE_CL("clFlush", kernels->cl->clFlush(x->window->queue), error, kernels->device);
        STRAKE_TRY(strake_cl_come_after(kernels->cl, kernels->device, x->queue, x->mark, error));
        strake_cl_release_event(kernels->cl, &x->mark);
    }
    for (int k = 0; k < x->window->states && x->packed == NULL; k++) {
        const strake_cl_state *state = &x->window->state[k];
        char *host = next[state->output];
        for (int b = 0; b < x->borders && travels(x, k); b++) {
            const bool is_last = k == last && b + 1 == x->borders;
            const strake_range border = x->border[b];
            STRAKE_TRY(strake_cl_pins_read(
                pins_of(x), queue_of(x), state->buffer[parity],
                strake_cl_window_offset(x->window, border.first - x->base),
                (size_t)(border.end - border.first) * strake_cl_window_slab_bytes(x->window),
                host + strake_layout_offset(x->host, border.first), is_last ? &x->sent : NULL,
                error));
        }
    }
    STRAKE_CL("clFlush", kernels->cl->clFlush(queue_of(x)), error, kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_exchange_publish(strake_cl_exchange *x, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    /* A timed wait is for the transfer alone: how long the others took says nothing about it. */
    strake_cl_waiter own = {.kind = x->waiter.kind};
    if (x->sent != NULL) { /* it comes after the ghost slabs in the queue */
        STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, x->timed ? &own : &x->waiter,
                                  &x->sent, error));
        char *from = x->packed;
        for (int b = 0; b < x->borders && x->next != NULL; b++) {
            from = copy_packed(x, from, x->next, true, x->border[b].first,
                               x->border[b].end - x->border[b].first);
        }
        x->next = NULL;
        x->so_far = x->timed ? strake_clock_seconds() - x->began : 0.0;
    } else {
        STRAKE_TRY(strake_cl_wait(kernels->cl, kernels->device, &x->reader, &x->arrived, error));
    }
cleanup:
    return status;
}

/* The ghosts of the states that lie together, behind the borders. */
static strake_status fetch_packed(strake_cl_exchange *x, void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *from = x->packed;
    for (int b = 0; b < x->borders; b++) {
        const strake_cl_pieces pieces =
            pieces_of(x, x->border[b].first, x->border[b].end - x->border[b].first);
        from += pieces.bytes * (size_t)pieces.count;
    }
    for (int g = 0, run = 0; g < x->ghosts; g += run) {
        run = run_of(x, g);
        const strake_cl_pieces pieces = pieces_of(x, x->ghost[g].slab, run);
        char *const end = copy_packed(x, from, array, false, x->ghost[g].source, run);
        STRAKE_TRY(cl_pins_pieces(
            pins_of(x), queue_of(x), x->window->together.all[x->window->parity], &pieces, from,
            NULL, g + run == x->ghosts && x->borders == 0 ? &x->arrived : NULL, error));
        from = end;
    }
cleanup:
    return status;
}

strake_status strake_cl_exchange_fetch(strake_cl_exchange *x, bool whole, void *const *array,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    const size_t slab = strake_cl_window_slab_bytes(x->window);
    const bool is_packed = x->packed != NULL && !whole;
    const int last = whole ? x->window->states - 1 : last_state(x);
    if (x->ghosts == 0 || last < 0) {
        x->timed = false;
        return STRAKE_OK;
    }
    x->began = x->timed ? strake_clock_seconds() : 0.0;
    strake_cl_release_event(x->window->kernels->cl, &x->arrived);
    STRAKE_TRY(is_packed ? fetch_packed(x, array, error) : STRAKE_OK);
    for (int k = 0; k < x->window->states && !is_packed; k++) {
        const strake_cl_state *state = &x->window->state[k];
        const char *host = array[state->input];
        for (int g = 0; g < x->ghosts && (whole || travels(x, k));) {
            const int run = run_of(x, g);
            const bool is_last = k == last && g + run == x->ghosts;
            STRAKE_TRY(strake_cl_pins_write(
                pins_of(x), queue_of(x), state->buffer[x->window->parity],
                strake_cl_window_offset(x->window, x->ghost[g].slab - x->base), (size_t)run * slab,
                host + strake_layout_offset(x->host, x->ghost[g].source),
                is_last ? &x->arrived : NULL, error));
            g += run;
        }
    }
    STRAKE_CL("clFlush", kernels->cl->clFlush(queue_of(x)), error, kernels->device);
    if (x->timed) {
        STRAKE_CL("clFinish", kernels->cl->clFinish(queue_of(x)), error, kernels->device);
        add_sample(x);
    }
cleanup:
    return status;
}

/* Whether a ghost is another rank's slab: what mirrors a slab beyond the domain's ends is none. */
static bool is_of_others(const strake_cl_exchange *x, int g, strake_range own)
{
    const int64_t slab = x->ghost[g].slab, source = x->ghost[g].source;
    return (source < own.first || source >= own.end) &&
           (slab == source || x->host->boundary[0] == STRAKE_PERIODIC);
}

strake_status strake_cl_exchange_return(const strake_cl_exchange *x, strake_range own,
                                        void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_kernels *kernels = x->window->kernels;
    const size_t slab = strake_cl_window_slab_bytes(x->window);
    for (int k = 0; k < x->window->states; k++) {
        const strake_cl_state *state = &x->window->state[k];
        const bool is_here = strake_ghosts_advance(kernels->graph, state->input);
        char *host = array[state->input];
        for (int g = 0, run = 1; g < x->ghosts && is_here; g += run) {
            const int most = run_of(x, g);
            for (run = 0; run < most && is_of_others(x, g + run, own); run++) {
            }
            if (run == 0) {
                run = 1;
                continue;
            }
            STRAKE_CL("clEnqueueReadBuffer",
                      kernels->cl->clEnqueueReadBuffer(
                          x->window->queue, state->buffer[x->window->parity], CL_FALSE,
                          strake_cl_window_offset(x->window, x->ghost[g].slab - x->base),
                          (size_t)run * slab,
                          host + strake_layout_offset(x->host, x->ghost[g].source), 0, NULL, NULL),
                      error, kernels->device);
        }
    }
cleanup:
    return status;
}

enum { MOST_PIECES = 4 * STRAKE_CL_MOST_BORDERS /* of an array that are pinned */ };

/* Pages [first, end) of a host array. */
typedef struct pages {
    size_t first, end;
} pages;

static int by_place(const void *a, const void *b)
{
    const pages *one = a;
    const pages *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

static pages pages_of(const strake_cl_exchange *x, int64_t first, int64_t end)
{
    return (pages){strake_layout_offset(x->host, first) / STRAKE_CL_PIN_PAGE,
                   (strake_layout_offset(x->host, end) + STRAKE_CL_PIN_PAGE - 1) /
                       STRAKE_CL_PIN_PAGE};
}

/* What the exchange touches of an array, without overlaps. @return their number */
static int find_pages(const strake_cl_exchange *x, pages out[MOST_PIECES])
{
    int count = 0, merged = 0;
    for (int b = 0; b < x->borders; b++) {
        out[count++] = pages_of(x, x->border[b].first, x->border[b].end);
    }
    for (int g = 0; g < x->ghosts && count < MOST_PIECES;) {
        const int run = run_of(x, g);
        out[count++] = pages_of(x, x->ghost[g].source, x->ghost[g].source + run);
        g += run;
    }
    qsort(out, (size_t)count, sizeof *out, by_place);
    for (int k = 1; k < count; k++) {
        if (out[k].first > out[merged].end) {
            out[++merged] = out[k];
        } else if (out[k].end > out[merged].end) {
            out[merged].end = out[k].end;
        }
    }
    return count > 0 ? merged + 1 : 0;
}

/* Pins what is exchanged, once for every plan. */
static void pin_arrays(strake_cl_exchange *x, void *const *array, void *const *next)
{
    pages piece[MOST_PIECES];
    if (x->pinned) {
        return;
    }
    if (x->packed != NULL) {
        /* Nobody else's: what forbids to pin the host arrays does not concern it. */
        const bool allowed = x->pins.allowed;
        x->pins.allowed = true;
        strake_cl_pins_add(&x->pins, x->packed, x->packed_bytes);
        x->pins.allowed = allowed;
        x->pinned = true;
        return;
    }
    const int pieces = find_pages(x, piece);
    for (int k = 0; k < x->window->states; k++) {
        if (!travels(x, k)) {
            continue;
        }
        char *const both[2] = {array[x->window->state[k].input], next[x->window->state[k].output]};
        for (int p = 0; p < 2 * pieces; p++) {
            const pages *which = &piece[p / 2];
            strake_cl_pins_add(&x->pins, both[p % 2] + which->first * STRAKE_CL_PIN_PAGE,
                               (which->end - which->first) * STRAKE_CL_PIN_PAGE);
        }
    }
    x->pinned = true;
}

strake_status strake_cl_exchange_begin(strake_cl_exchange *x, void *const *array, void *const *next,
                                       strake_error *error)
{
    const strake_cl_kernels *kernels = x->window->kernels;
    cl_int state = CL_QUEUED;
    pin_arrays(x, array, next);
    if (x->arrived == NULL || !x->overlaps ||
        (kernels->cl->clGetEventInfo(x->arrived, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                     &state, NULL) == CL_SUCCESS &&
         state == CL_COMPLETE)) {
        return STRAKE_OK;
    }
    return strake_cl_come_after(kernels->cl, kernels->device, x->window->queue, x->arrived, error);
}
