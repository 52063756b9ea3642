#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/settings.h"
#include "grid/active.h"
#include "grid/arrays.h"
#include "grid/parts.h"
#include "opencl/cl_stripe.h"

enum {
    ROOM = 4,            /* a movable stripe has room for a quarter of the grid on either side */
    UNKNOWN_HORIZON = 64 /* steps */
};

static void cl_stripe_destroy(strake_cl_stripe **stripe);

static strake_status make_blocks(strake_cl_stripe *s, int steps,
                                 const strake_cl_stripe_options *options, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_whole = s->range.first == 0 && s->range.end == s->host->n[0];
    const strake_settings *const run = options->settings;
    /* Nobody knows the next time step before all blocks have been reduced. */
    const bool is_single = s->kernels.graph->reductions > 0;
    const strake_cl_blocks_options chosen = {.steps = is_single  ? 1
                                                      : is_whole ? run->steps_per_sweep
                                                                 : steps,
                                             .horizon = options->horizon > 0 ? options->horizon
                                                                             : UNKNOWN_HORIZON,
                                             .alone = is_whole,
                                             .movable = options->movable && options->has_all,
                                             .pins = options->pins,
                                             .known = options->known,
                                             .limit = options->limit};
    strake_cl_blocks_report report;
    STRAKE_TRY(strake_cl_blocks_create(&s->kernels, s->host, s->range, &chosen, &s->blocks, error));
    strake_cl_blocks_describe(s->blocks, &report);
    s->steps = report.sizes.steps;
cleanup:
    return status;
}

/* Slabs that a movable stripe may own one day, as far as they fit in the memory. */
static strake_range find_capacity(const strake_cl_stripe *s, uint64_t memory,
                                  strake_cl_resident_options *options)
{
    uint64_t largest = 0;
    for (int64_t room = s->host->n[0] / ROOM; room > 0; room /= 2) {
        const strake_range wider = {s->range.first - room, s->range.end + room};
        options->capacity.first = wider.first > 0 ? wider.first : 0;
        options->capacity.end = wider.end < s->host->n[0] ? wider.end : s->host->n[0];
        const strake_layout layout =
            strake_cl_resident_layout(s->kernels.graph, s->host, s->range, options);
        if (strake_cl_window_bytes(&s->kernels, &layout, &largest) <= memory / 2 &&
            strake_cl_device_may_hold(s->kernels.device, (double)largest)) {
            return options->capacity;
        }
    }
    return s->range;
}

/*
 * Whether steps may be computed in tiles of a list: where the usual kernels are point kernels their compiler would
 * take longer for a kernel of tiles than that gains, unless somebody asks for tiles.
 */
static bool takes_lists(const strake_cl_stripe *s, const strake_cl_stripe_options *options)
{
    return options->wakes.count > 0 && !options->one_way &&
           (strake_cl_device_is_gpu(s->kernels.device) ||
            options->settings->fusion == STRAKE_CL_FUSION_TILE);
}

/* @param[in] may  whether it can step with others, as far as the team goes */
static strake_status join_batch(strake_cl_stripe *s, const strake_cl *cl,
                                const strake_cl_device *device, const strake_graph *graph,
                                const strake_problem *problem, const strake_layout *layout,
                                const strake_cl_stripe_options *options, bool may,
                                strake_error *error)
{
    const strake_cl_joining joining = {
        .cl = cl,
        .device = device,
        .graph = graph,
        .problem = problem,
        .layout = layout,
        .settings = options->settings,
        .memory = strake_cl_usable_memory(device, (uint64_t)options->settings->device_memory),
        .wakes = &options->wakes,
        .limit = options->limit,
        .is_alone = !may || options->settings->blocks > 0};
    const strake_status status =
        strake_cl_batch_join(options->batch, &joining, &s->kernels, &s->member, error);
    s->alone_of = status == STRAKE_OK && s->member == NULL ? options->batch : NULL;
    return status;
}

/**
 * Builds kernels and allocates device memory for stripe @p self of @p stripes.
 * @param[in] graph, host_layout, stripe  borrowed until destroy; host_layout is that of the whole grid
 * @param[in] steps  most steps per sweep; a stripe that is the whole grid and streams may choose more
 * @return STRAKE_ERR_USAGE if not even a block fits in what run.device_memory allows, or it would stream
 *         where slabs wander, STRAKE_ERR_DEVICE
 *         (with what was asked for if memory ran out), STRAKE_ERR_MEMORY.
 */
static strake_status cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
                                      const strake_graph *graph, const strake_problem *problem,
                                      const strake_layout *host_layout, const strake_range *stripe,
                                      int stripes, int self, int steps,
                                      const strake_cl_stripe_options *options,
                                      strake_cl_stripe **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_range range = stripe[self];
    const bool is_whole = range.first == 0 && range.end == host_layout->n[0];
    const strake_settings *const run = options->settings;
    const uint64_t memory = strake_cl_usable_memory(device, (uint64_t)run->device_memory);
    uint64_t largest = 1;
    uint64_t need = 0;
    uint64_t arrays = 1;
    bool streams = run->blocks > 0;
    strake_cl_resident_options resident = {.steps = steps,
                                           .capacity = range,
                                           .one_way = options->one_way,
                                           .pins = options->pins,
                                           .memory = memory,
                                           .limit = options->limit,
                                           .costs = options->costs,
                                           .problem = problem,
                                           .wakes = options->wakes};
    const strake_layout layout = strake_cl_resident_layout(graph, host_layout, range, &resident);
    strake_cl_stripe *s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a device stripe");
    s->host = host_layout;
    s->range = range;
    s->steps = steps;
    STRAKE_TRY(options->batch != NULL ? join_batch(s, cl, device, graph, problem, &layout, options,
                                                   is_whole && steps == 1, error)
                                      : STRAKE_OK);
    resident.member = s->member;
    resident.pins = resident.pins && s->member == NULL;
    STRAKE_TRY(s->member != NULL ? STRAKE_OK
                                 : strake_cl_kernels_build(&s->kernels, cl, device, graph, problem,
                                                           &layout, run, error));
    need = strake_cl_window_bytes(&s->kernels, &layout, &largest);
    arrays = need / largest;
    s->need = need;
    s->memory = memory;
    streams = streams || need > memory || !strake_cl_device_may_hold(device, (double)largest);
    if (!streams && options->movable && !options->one_way && !is_whole) {
        resident.capacity = find_capacity(s, memory, &resident);
    }
    if (!streams && s->member == NULL && takes_lists(s, options)) {
        STRAKE_TRY(strake_cl_kernels_list(&s->kernels, problem, &layout, run, error));
    }
    if (!streams) {
        status = strake_cl_resident_create(&s->kernels, host_layout, stripe, stripes, self,
                                           &resident, &s->resident, error);
        if (status == STRAKE_ERR_DEVICE &&
            resident.capacity.end - resident.capacity.first > range.end - range.first) {
            resident.capacity = range; /* better no room for more slabs than to stream */
            status = strake_cl_resident_create(&s->kernels, host_layout, stripe, stripes, self,
                                               &resident, &s->resident, error);
        }
        streams = status == STRAKE_ERR_DEVICE;
        const strake_layout held = strake_cl_resident_layout(graph, host_layout, range, &resident);
        s->held = strake_cl_window_bytes(&s->kernels, &held, &largest);
    }
    STRAKE_CHECK(
        !streams || !options->one_way, error, STRAKE_ERR_USAGE,
        "run.exchange: one_way: stripes must fit in their device's memory, and one of %lld "
        "rows or planes would stream through %s; use both, more ranks or a smaller grid",
        (long long)(range.end - range.first), device->name);
    if (streams) {
        /* Of a window's share, each array has one. */
        const uint64_t elements = memory / arrays / (uint64_t)layout.element_size;
        STRAKE_TRY(strake_cl_kernels_shorten(&s->kernels, problem, &layout, run, elements, error));
        status = make_blocks(s, steps, options, error);
    }
    STRAKE_TRY(status);
    *out = s;
    s = NULL;
cleanup:
    cl_stripe_destroy(&s);
    return status;
}

/* Bytes that some slabs would take if they were resident. */
static uint64_t resident_bytes(const strake_cl_stripe *s, strake_range range, uint64_t *largest)
{
    const strake_cl_resident_options resident = {.steps = s->steps, .capacity = range};
    const strake_layout layout =
        strake_cl_resident_layout(s->kernels.graph, s->host, range, &resident);
    return strake_cl_window_bytes(&s->kernels, &layout, largest);
}

/** Whether one that streams could have these slabs as it is, and would still have to stream. */
static bool cl_stripe_has_room(const strake_cl_stripe *s, strake_range range)
{
    uint64_t largest = 0;
    const bool streams = s->kernels.options.run.blocks > 0 ||
                         resident_bytes(s, range, &largest) > s->memory ||
                         !strake_cl_device_may_hold(s->kernels.device, (double)largest);
    return streams && strake_cl_blocks_has_room(s->blocks, range);
}

/** Gives one that streams these slabs, for which it has room. */
static strake_status cl_stripe_move(strake_cl_stripe *s, strake_range range, strake_error *error)
{
    uint64_t largest = 0;
    s->range = range;
    s->need = resident_bytes(s, range, &largest);
    return strake_cl_blocks_move(s->blocks, range, error);
}

/** The memory of the stripe and how it streams through the device, sizes.steps = 0 if it does not. */
static void cl_stripe_describe(const strake_cl_stripe *s, strake_cl_blocks_report *out)
{
    memset(out, 0, sizeof *out);
    out->memory = s->held + (s->resident != NULL ? s->resident->lift.held : 0);
    if (s->blocks != NULL) {
        strake_cl_blocks_describe(s->blocks, out);
    }
    out->resident = s->need;
    out->limit = s->memory;
}

/** The kernels of the stripe, at most a launch of its own slabs or of one block. */
static void cl_stripe_describe_kernels(const strake_cl_stripe *s, strake_cl_description *out)
{
    strake_cl_blocks_report report;
    cl_stripe_describe(s, &report);
    const int64_t cells[STRAKE_AXES] = {s->blocks != NULL ? report.sizes.slabs
                                                          : s->range.end - s->range.first,
                                        s->host->n[1], s->host->n[2]};
    strake_cl_kernels_describe(
        s->member != NULL ? strake_cl_member_kernels(s->member) : &s->kernels, cells, out);
}

/** What the stripe exchanges with others; zeros if it streams. */
static void cl_stripe_describe_exchange(const strake_cl_stripe *s, strake_cl_exchange_report *out)
{
    if (s->resident != NULL) {
        strake_cl_exchange_describe(&s->resident->exchange, out);
    } else {
        memset(out, 0, sizeof *out);
    }
}

/** What it computes of its cells. */
static void cl_stripe_describe_activity(const strake_cl_stripe *s, strake_cl_activity *out)
{
    *out = (strake_cl_activity){.cells = -1.0};
    if (s->resident != NULL) {
        strake_cl_active_describe(&s->resident->active, &s->resident->window, out);
    }
}

static void cl_stripe_destroy(strake_cl_stripe **stripe)
{
    strake_cl_stripe *s = *stripe;
    if (s == NULL) {
        return;
    }
    strake_cl_blocks_destroy(&s->blocks);
    strake_cl_resident_destroy(&s->resident);
    strake_cl_kernels_release(&s->kernels);
    strake_cl_batch_leave(&s->member);
    if (s->alone_of != NULL) {
        strake_cl_batch_leave_alone(s->alone_of);
    }
    free(s);
    *stripe = NULL;
}

static const strake_part_ops resident, member, blocks;

static strake_cl_stripe *stripe_of(const strake_part *part)
{
    return part->body;
}

/* The host's arrays, with the states of a parity. */
static void *const *arrays_of(const strake_part *part, int parity)
{
    return strake_grid_of(part->domain)->array[parity];
}

static void *const *current(const strake_part *part)
{
    return arrays_of(part, part->domain->parity);
}

static strake_status make(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error)
{
    const strake_range own = plan->stripe[plan->self];
    const strake_grid *grid = strake_grid_of(part->domain);
    const int64_t cells[STRAKE_AXES] = {own.end - own.first, grid->layout.n[1], grid->layout.n[2]};
    strake_settings settings = *plan->settings;
    strake_cl_stripe_options options = {.settings = &settings};
    strake_cl_stripe *stripe = NULL;
    (void)worker;
    options.pins = !plan->is_shared;
    options.one_way = plan->one_way;
    options.movable = plan->movable;
    options.has_all = part->domain->ranks == NULL;
    settings.overlap = settings.overlap == 0 ? plan->overlap : settings.overlap;
    options.horizon = plan->horizon;
    options.known = strake_tuned_known(&part->tuned, cells, options.pins);
    options.limit = plan->limit;
    options.batch = plan->batch;
    options.costs = plan->costs;
    options.wakes.count = strake_grid_find_wakes(grid, STRAKE_CL_MOST_WAKES, options.wakes.value);
    options.wakes.spread = grid->which->problem->spread;
    strake_status status = cl_stripe_create(
        plan->cl, part->device, &grid->graph, grid->which->problem, &grid->layout, plan->stripe,
        plan->stripes, plan->self, plan->steps, &options, &stripe, error);
    part->body = stripe;
    if (stripe != NULL) {
        part->ops = stripe->blocks != NULL ? &blocks : stripe->member != NULL ? &member : &resident;
        part->leaves_out = stripe->kernels.tiles != NULL;
        part->most_steps = stripe->steps;
    }
    if (status == STRAKE_OK && stripe->blocks != NULL) {
        strake_pipeline *ghosts = NULL;
        status = strake_grid_ghosts(grid, plan, &ghosts, error);
        part->ghosts = ghosts;
    }
    return status;
}

static void unmake(strake_part *part)
{
    strake_cl_stripe *stripe = stripe_of(part);
    strake_pipeline *ghosts = part->ghosts;
    cl_stripe_destroy(&stripe);
    strake_pipeline_destroy(&ghosts);
    part->ghosts = NULL;
    part->ops = &strake_part_opencl;
}

/* --- one that lies in its device's memory --------------------------------------------------------- */

static strake_cl_resident *resident_of(const strake_part *part)
{
    return stripe_of(part)->resident;
}

/* The inputs that it lacks. */
static strake_status load_inputs(const strake_part *part, strake_error *error)
{
    const strake_grid *const grid = strake_grid_of(part->domain);
    void *array[STRAKE_MAX_VALUES] = {NULL};
    for (int f = 0; f < grid->which->problem->fields; f++) {
        const int value = grid->value_of[f];
        array[value] = grid->field[f].state == STRAKE_FIELD_READY ? grid->array[0][value] : NULL;
    }
    return strake_cl_resident_upload_static(resident_of(part), array, error);
}

static strake_status resident_let_go(strake_part *part, strake_error *error)
{
    return strake_cl_lift_wait(&resident_of(part)->lift, error);
}

static strake_status resident_load(strake_part *part, unsigned what, strake_error *error)
{
    const strake_status status =
        (what & STRAKE_LACKS_INPUTS) != 0 ? load_inputs(part, error) : STRAKE_OK;
    return status == STRAKE_OK && (what & STRAKE_LACKS_STATES) != 0
               ? strake_cl_resident_upload_state(resident_of(part), current(part), error)
               : status;
}

/* Of other ranks' slabs the host has only what travels: nobody here brings the rest but who reads them. */
static strake_status return_others(const strake_part *part, int parity, strake_error *error)
{
    return part->domain->ranks != NULL && part->domain->kept != 0
               ? strake_cl_resident_return(resident_of(part), part->domain->own,
                                           arrays_of(part, parity), error)
               : STRAKE_OK;
}

static strake_status resident_store(strake_part *part, int parity, strake_error *error)
{
    const strake_status status = return_others(part, parity, error);
    return status == STRAKE_OK
               ? strake_cl_resident_download(resident_of(part), arrays_of(part, parity), error)
               : status;
}

static strake_status resident_leg(strake_part *part, strake_leg *leg, bool *finite,
                                  strake_error *error)
{
    const strake_grid *grid = strake_grid_of(part->domain);
    *finite = true; /* nobody knows yet */
    const strake_status status =
        strake_cl_resident_sweep(resident_of(part), leg->steps, leg->told, grid->array[leg->parity],
                                 grid->next[leg->parity], error);
    part->takes_early = resident_of(part)->edges_first;
    return status;
}

static strake_status resident_meet(strake_part *part, int leg, strake_error *error)
{
    (void)leg;
    return strake_cl_exchange_publish(&resident_of(part)->exchange, error);
}

static strake_status resident_bound(strake_part *part, double *bound, strake_error *error)
{
    return strake_cl_resident_bound(resident_of(part), bound, error);
}

static strake_status resident_start_clock(strake_part *part, const strake_clock *clock, bool *keeps,
                                          strake_error *error)
{
    part->clock_is_over = false;
    return strake_cl_resident_start_clock(resident_of(part), clock, keeps, error);
}

static strake_status resident_stop_clock(strake_part *part, strake_clock *clock,
                                         strake_error *error)
{
    return strake_cl_resident_stop_clock(resident_of(part), clock, error);
}

static strake_status resident_fetch(strake_part *part, int leg, int parity, strake_error *error)
{
    (void)leg;
    return strake_cl_exchange_fetch(&resident_of(part)->exchange, false, arrays_of(part, parity),
                                    error);
}

static strake_status resident_undo(strake_part *part, int steps_done, strake_error *error)
{
    (void)error;
    strake_cl_resident_undo(resident_of(part), steps_done);
    return STRAKE_OK;
}

static strake_status resident_finish(strake_part *part, bool unpins, strake_error *error)
{
    const strake_status status = strake_cl_resident_finish(resident_of(part), error);
    if (status == STRAKE_OK && unpins) {
        strake_cl_resident_unpin(resident_of(part));
    }
    return status;
}

static strake_status resident_look(strake_part *part, bool is_last, bool *finite,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_resident *const own = resident_of(part);
    STRAKE_TRY(strake_cl_resident_is_finite(own, finite, error));
    STRAKE_TRY(*finite ? strake_cl_resident_look(own, error) : STRAKE_OK);
    STRAKE_TRY(is_last && own->member != NULL ? strake_cl_resident_finish(own, error) : STRAKE_OK);
    /* Of a member it is known already what its batch has found. */
    STRAKE_TRY(*finite && (is_last || own->member != NULL)
                   ? strake_cl_resident_is_finite(own, finite, error)
                   : STRAKE_OK);
    part->clock_is_over = own->clock.runs && own->clock.seen.is_over != 0;
cleanup:
    return status;
}

static bool resident_weigh(const strake_part *part, double *work)
{
    return strake_cl_active_weigh(&resident_of(part)->active, &resident_of(part)->window, work);
}

static bool resident_has_room(const strake_part *part, strake_range own)
{
    return strake_cl_resident_has_room(resident_of(part), own);
}

static strake_status resident_give(strake_part *part, const strake_range *then, int stripes,
                                   int self, strake_error *error)
{
    const strake_status status = return_others(part, part->domain->parity, error);
    return status == STRAKE_OK ? strake_cl_resident_give(resident_of(part), then, stripes, self,
                                                         current(part), error)
                               : status;
}

static strake_status resident_take(strake_part *part, const strake_range *then, int stripes,
                                   int self, strake_error *error)
{
    return strake_cl_resident_take(resident_of(part), then, stripes, self, current(part), error);
}

static double resident_busy(strake_part *part)
{
    return strake_cl_resident_busy(resident_of(part));
}

static strake_status resident_check(strake_part *part, bool *intact, strake_error *error)
{
    const strake_status status = strake_cl_resident_finish(resident_of(part), error);
    *intact = *intact && strake_grid_is_intact(strake_grid_of(part->domain));
    return status == STRAKE_OK ? strake_cl_window_check(&resident_of(part)->window, intact, error)
                               : status;
}

static strake_status resident_record(strake_part *part, strake_cl_record *record,
                                     strake_error *error)
{
    strake_cl_kernels *kernels = &stripe_of(part)->kernels;
    kernels->record = NULL;
    const strake_status status = strake_cl_resident_record(resident_of(part), record, error);
    kernels->record = status == STRAKE_OK ? record : NULL;
    if (kernels->tiles != NULL) {
        kernels->tiles->record = kernels->record;
    }
    return status;
}

static strake_status resident_time(strake_part *part, strake_cl_time *out, int *count,
                                   strake_error *error)
{
    return strake_cl_resident_time(resident_of(part), out, count, error);
}

/* --- one that streams through it: it reads the host arrays whenever it needs them ------------------ */

static strake_cl_blocks *blocks_of(const strake_part *part)
{
    return stripe_of(part)->blocks;
}

static strake_status blocks_let_go(strake_part *part, strake_error *error)
{
    return strake_cl_blocks_let_go(blocks_of(part), error);
}

/* Inputs stay in the host arrays. */
static strake_status blocks_load(strake_part *part, unsigned what, strake_error *error)
{
    return (what & STRAKE_LACKS_STATES) != 0 ? strake_cl_blocks_restart(blocks_of(part), error)
                                             : STRAKE_OK;
}

static strake_status blocks_store(strake_part *part, int parity, strake_error *error)
{
    (void)parity;
    return strake_cl_blocks_finish(blocks_of(part), error);
}

static strake_status blocks_leg(strake_part *part, strake_leg *leg, bool *finite,
                                strake_error *error)
{
    const strake_grid *grid = strake_grid_of(part->domain);
    *finite = true; /* nobody knows yet */
    return strake_cl_blocks_sweep(blocks_of(part), leg->steps, leg->told, grid->array[leg->parity],
                                  grid->next[leg->parity], error);
}

static void blocks_advance(strake_part *part, const strake_leg *leg)
{
    strake_grid_advance(strake_grid_of(part->domain), part->ghosts, leg);
}

static strake_status blocks_bound(strake_part *part, double *bound, strake_error *error)
{
    return strake_cl_blocks_bound(blocks_of(part), bound, error);
}

static strake_status blocks_meet(strake_part *part, int leg, strake_error *error)
{
    (void)leg;
    return strake_cl_blocks_meet(blocks_of(part), error);
}

static strake_status blocks_undo(strake_part *part, int steps_done, strake_error *error)
{
    (void)steps_done;
    return strake_cl_blocks_undo(blocks_of(part), error);
}

static int blocks_visit(const strake_part *part, int most)
{
    return strake_cl_blocks_best(blocks_of(part), most);
}

static strake_status blocks_finish(strake_part *part, bool unpins, strake_error *error)
{
    const strake_status status = strake_cl_blocks_finish(blocks_of(part), error);
    if (status == STRAKE_OK && unpins) {
        strake_cl_pins_release(&blocks_of(part)->pins);
    }
    return status;
}

static strake_status blocks_look(strake_part *part, bool is_last, bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_blocks *const own = blocks_of(part);
    STRAKE_TRY(strake_cl_blocks_is_finite(own, finite, error));
    STRAKE_TRY(*finite ? strake_cl_blocks_look(own, error) : STRAKE_OK);
    STRAKE_TRY(*finite && is_last ? strake_cl_blocks_is_finite(own, finite, error) : STRAKE_OK);
cleanup:
    return status;
}

static bool blocks_has_room(const strake_part *part, strake_range own)
{
    return cl_stripe_has_room(stripe_of(part), own);
}

/* All states are in the host arrays. */
static strake_status blocks_give(strake_part *part, const strake_range *then, int stripes, int self,
                                 strake_error *error)
{
    (void)then, (void)stripes, (void)self;
    return strake_cl_blocks_finish(blocks_of(part), error);
}

static strake_status blocks_take(strake_part *part, const strake_range *then, int stripes, int self,
                                 strake_error *error)
{
    (void)stripes;
    return cl_stripe_move(stripe_of(part), then[self], error);
}

static strake_status blocks_check(strake_part *part, bool *intact, strake_error *error)
{
    *intact = *intact && strake_grid_is_intact(strake_grid_of(part->domain));
    return strake_cl_blocks_check(blocks_of(part), intact, error);
}

static strake_status blocks_record(strake_part *part, strake_cl_record *record, strake_error *error)
{
    strake_cl_kernels *kernels = &stripe_of(part)->kernels;
    kernels->record = NULL;
    const strake_status status = strake_cl_blocks_record(blocks_of(part), record, error);
    kernels->record = status == STRAKE_OK ? record : NULL;
    return status;
}

/* --- what both have in common --------------------------------------------------------------------- */

static void describe_activity(const strake_part *part, strake_part_report *out)
{
    strake_cl_activity activity;
    cl_stripe_describe_activity(stripe_of(part), &activity);
    out->active = activity.cells;
    out->patches = activity.tiles;
    out->active_updates = activity.updates;
    out->computed = activity.computed;
}

static void describe(const strake_part *part, strake_part_report *out)
{
    strake_part_describe_device(part, strake_grid_of(part->domain)->which->precision, out);
    if (part->body != NULL) {
        cl_stripe_describe(stripe_of(part), &out->memory);
        cl_stripe_describe_kernels(stripe_of(part), &out->kernels);
        cl_stripe_describe_exchange(stripe_of(part), &out->borders.done);
        describe_activity(part, out);
        out->kernels.used.blocks = (int)out->memory.sizes.blocks;
        out->kernels.used.streams = out->memory.sizes.streams;
    }
}

/* Of every table: before it is made nobody knows which of the two it will be. */
#define OPENCL_PART                                                                                \
    .word = "ocl", .role = "stripe", .settings = STRAKE_FOR_OPENCL | STRAKE_FOR_KERNELS,           \
    .has_driver = true, .is_whole = true, .is_tuned = true, .make = make, .unmake = unmake,        \
    .describe = describe

static bool never_has_room(const strake_part *part, strake_range own)
{
    (void)part, (void)own;
    return false;
}

const strake_part_ops strake_part_opencl = {OPENCL_PART, .is_tried = true,
                                            .has_room = never_has_room};

/* One of a batch: alone on its grid, and made for one run. */
static const strake_part_ops member = {OPENCL_PART,
                                       .load = resident_load,
                                       .let_go = resident_let_go,
                                       .store = resident_store,
                                       .leg = resident_leg,
                                       .start_clock = resident_start_clock,
                                       .stop_clock = resident_stop_clock,
                                       .undo = resident_undo,
                                       .finish = resident_finish,
                                       .look = resident_look,
                                       .has_room = never_has_room,
                                       .check = resident_check};

static const strake_part_ops resident = {OPENCL_PART,
                                         .is_tried = true,
                                         .load = resident_load,
                                         .let_go = resident_let_go,
                                         .store = resident_store,
                                         .leg = resident_leg,
                                         .meet = resident_meet,
                                         .bound = resident_bound,
                                         .start_clock = resident_start_clock,
                                         .stop_clock = resident_stop_clock,
                                         .fetch = resident_fetch,
                                         .undo = resident_undo,
                                         .finish = resident_finish,
                                         .look = resident_look,
                                         .weigh = resident_weigh,
                                         .has_room = resident_has_room,
                                         .give = resident_give,
                                         .take = resident_take,
                                         .busy = resident_busy,
                                         .check = resident_check,
                                         .record = resident_record,
                                         .time = resident_time};

static const strake_part_ops blocks = {OPENCL_PART,
                                       .is_tried = true,
                                       .visit = blocks_visit,
                                       .load = blocks_load,
                                       .let_go = blocks_let_go,
                                       .store = blocks_store,
                                       .leg = blocks_leg,
                                       .meet = blocks_meet,
                                       .advance = blocks_advance,
                                       .bound = blocks_bound,
                                       .undo = blocks_undo,
                                       .finish = blocks_finish,
                                       .look = blocks_look,
                                       .has_room = blocks_has_room,
                                       .give = blocks_give,
                                       .take = blocks_take,
                                       .check = blocks_check,
                                       .record = blocks_record};
