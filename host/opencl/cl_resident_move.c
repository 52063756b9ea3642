/*
 * Slabs of a resident stripe on their way: between host arrays and window as a whole, to and from other
 * stripes, and one way through the window.
 */
#include "opencl/cl_resident_impl.h"

/*
 * Uploads slabs [first, end) of the window from a host array by a queue: runs of slabs that lie together there.
 * With @p by_map slabs beyond the domain take their source's, else they lie in the host array.
 */
static strake_status upload(strake_cl_resident *s, cl_command_queue queue, cl_mem array,
                            const void *host, bool by_map, int64_t first, int64_t end,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t bytes = strake_cl_window_slab_bytes(&s->window);
    int64_t slab = first;
    while (slab < end) {
        int64_t source = slab + s->base;
        int64_t run = end - slab;
        if (by_map) {
            const strake_boundary boundary = s->host->boundary[0];
            const int64_t n = s->host->n[0];
            source = strake_ghost_source(boundary, n, slab + s->base);
            run = 1;
            while (slab + run < end &&
                   strake_ghost_source(boundary, n, slab + run + s->base) == source + run) {
                run++;
            }
        }
        STRAKE_TRY(strake_cl_pins_write(
            &s->lift.pins, queue, array, strake_cl_window_offset(&s->window, slab),
            (size_t)run * bytes,
            (const char *)host + strake_layout_offset(s->exchange.host, source), NULL, error));
        slab += run;
    }
cleanup:
    return status;
}

/* Pins the slabs of an input that the window has: its first upload need not be fast, those beside steps are. */
static void pin_input(strake_cl_resident *s, void *array)
{
    const strake_layout *const l = &s->window.layout, *const host = s->host;
    const int64_t before = s->base - l->lo[0], after = s->base + l->n[0] + l->hi[0];
    const int64_t first = before > -host->lo[0] ? before : -(int64_t)host->lo[0];
    const int64_t end = after < host->n[0] + host->hi[0] ? after : host->n[0] + host->hi[0];
    const size_t from = strake_layout_offset(host, first);
    const size_t page = from / STRAKE_CL_PIN_PAGE * STRAKE_CL_PIN_PAGE;
    strake_cl_pins_add(&s->lift.pins, (char *)array + page, strake_layout_offset(host, end) - page);
}

strake_status strake_cl_resident_upload_static(strake_cl_resident *s, void *const *array,
                                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->window.layout;
    bool beside = false;
    STRAKE_TRY(strake_cl_lift_begin(&s->lift, array, &beside, error));
    for (int v = 0; v < s->kernels->graph->values; v++) {
        if (!strake_cl_window_needs(&s->window, v) || array[v] == NULL) {
            continue;
        }
        if (beside) {
            pin_input(s, array[v]);
        }
        STRAKE_TRY(upload(s, beside ? s->lift.queue : s->queue,
                          beside ? s->lift.spare[v] : s->window.array[s->window.slot[v]], array[v],
                          s->host->boundary[0] == STRAKE_PERIODIC, -(int64_t)l->lo[0],
                          l->n[0] + l->hi[0], error));
    }
    STRAKE_TRY(beside ? strake_cl_lift_end(&s->lift, array, error) : STRAKE_OK);
    STRAKE_TRY(strake_cl_window_static(&s->window, 0, l->n[0], error));
    STRAKE_TRY(s->others != NULL ? strake_cl_ghosts_prepare(s->others, error) : STRAKE_OK);
    STRAKE_TRY(strake_cl_active_wake(&s->active, &s->window, error));
    STRAKE_TRY(beside ? STRAKE_OK : strake_cl_resident_finish(s, error));
    STRAKE_CL("clFlush", s->kernels->cl->clFlush(s->queue), error, s->kernels->device);
cleanup:
    return status;
}

strake_status strake_cl_resident_let_go(strake_cl_resident *s, strake_error *error)
{
    return strake_cl_lift_wait(&s->lift, error);
}

uint64_t strake_cl_resident_held(const strake_cl_resident *s)
{
    return s->lift.held;
}

void strake_cl_resident_unpin(strake_cl_resident *s)
{
    strake_cl_exchange_unpin(&s->exchange);
    strake_cl_pins_release(&s->lift.pins);
}

strake_status strake_cl_resident_finish(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = s->kernels->cl;
    STRAKE_TRY(strake_cl_lift_wait(&s->lift, error));
    STRAKE_TRY(strake_cl_wait_queue(cl, s->kernels->device, &s->waiter, s->queue, error));
    if (s->exchange.overlaps) {
        STRAKE_TRY(strake_cl_wait_queue(cl, s->kernels->device, &s->exchange.waiter,
                                        s->exchange.queue, error));
    }
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
        s->one_way ? s->range.end - s->base + strake_cl_resident_depth_one_way(s->host, s->steps)
                   : l->n[0] + l->hi[0];
    STRAKE_TRY(strake_cl_resident_finish(s, error)); /* older ghosts may still be on their way */
    strake_cl_active_reset(&s->active);
    for (int k = 0; k < s->window.states; k++) {
        const cl_mem current = s->window.state[k].buffer[s->window.parity];
        STRAKE_TRY(
            upload(s, s->queue, current, array[s->window.state[k].input], true, first, end, error));
        STRAKE_TRY(strake_cl_window_fill(&s->window, current, first, end,
                                         s->host->boundary[0] == STRAKE_POLAR ? &s->ghosts : NULL,
                                         error));
    }
    STRAKE_TRY(strake_cl_resident_finish(s, error));
cleanup:
    return status;
}

/* Downloads slabs [first, end) of the grid, which the stripe owns. */
static strake_status download(strake_cl_resident *s, int64_t first, int64_t end, void *const *array,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event done = NULL;
    for (int k = 0; k < s->window.states && first < end; k++) {
        const strake_cl_state *state = &s->window.state[k];
        char *host = array[state->input];
        STRAKE_CL("clEnqueueReadBuffer",
                  s->kernels->cl->clEnqueueReadBuffer(
                      s->queue, state->buffer[s->window.parity], CL_FALSE,
                      strake_cl_window_offset(&s->window, first - s->base),
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

strake_status strake_cl_resident_advance(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_exchange *x = &s->exchange;
    for (int g = 0, run = 0; g < x->ghosts && s->others != NULL; g += run) {
        const int64_t first = x->ghost[g].slab - s->base;
        run = 1;
        while (g + run < x->ghosts && x->ghost[g + run].slab - s->base == first + run) {
            run++;
        }
        STRAKE_TRY(strake_cl_ghosts_step(s->others, first, first + run, error));
    }
cleanup:
    return status;
}

strake_status strake_cl_resident_return(strake_cl_resident *s, strake_range own, void *const *array,
                                        strake_error *error)
{
    const strake_status status = strake_cl_exchange_return(&s->exchange, own, array, error);
    return status == STRAKE_OK ? strake_cl_resident_finish(s, error) : status;
}

void strake_cl_resident_set_base(strake_cl_resident *s, int64_t base)
{
    s->base = base;
    s->exchange.base = base;
}

/* Copies own slabs and ghosts to the beginning of the window. */
static strake_status return_home(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t slabs =
        s->range.end - s->range.first + strake_cl_resident_depth_one_way(s->host, s->steps);
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
    strake_cl_resident_set_base(s, s->range.first);
cleanup:
    return status;
}

/* One way: what the sweep computes belongs to places further down, so the window goes up. */
strake_status strake_cl_resident_wander(strake_cl_resident *s, int steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *l = &s->window.layout;
    const int64_t down = strake_cl_resident_depth_before(s->host, steps);
    const int64_t end =
        s->range.end - s->base + down + strake_cl_resident_depth_one_way(s->host, s->steps);
    if (end > l->n[0] + l->hi[0]) {
        STRAKE_TRY(return_home(s, error));
    }
    strake_cl_resident_set_base(s, s->base - down);
cleanup:
    return status;
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
    STRAKE_TRY(strake_cl_resident_plan(s, stripe, stripes, self, error));
    for (int k = 0; k < s->window.states; k++) {
        const cl_mem current = s->window.state[k].buffer[s->window.parity];
        for (int side = 0; side < 2; side++) {
            STRAKE_TRY(upload(s, s->queue, current, array[s->window.state[k].input], false,
                              gained[side].first - s->base, gained[side].end - s->base, error));
        }
        STRAKE_TRY(strake_cl_window_fill(&s->window, current, 0, 0, &s->ghosts, error));
    }
    STRAKE_TRY(strake_cl_exchange_fetch(&s->exchange, true, array, error));
    STRAKE_TRY(strake_cl_resident_finish(s, error));
cleanup:
    return status;
}

bool strake_cl_resident_weigh(const strake_cl_resident *s, double *work)
{
    return strake_cl_active_weigh(&s->active, &s->window, work);
}
