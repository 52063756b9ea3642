#include "opencl/cl_stripe.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOM = 4,            /* a movable stripe has room for a quarter of the grid on either side */
    UNKNOWN_HORIZON = 64 /* steps */
};

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

strake_status strake_cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
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
    STRAKE_TRY(
        strake_cl_kernels_build(&s->kernels, cl, device, graph, problem, &layout, run, error));
    need = strake_cl_window_bytes(&s->kernels, &layout, &largest);
    arrays = need / largest;
    s->need = need;
    s->memory = memory;
    streams = streams || need > memory || !strake_cl_device_may_hold(device, (double)largest);
    if (!streams && options->movable && !options->one_way && !is_whole) {
        resident.capacity = find_capacity(s, memory, &resident);
    }
    if (!streams && takes_lists(s, options)) {
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
    strake_cl_stripe_destroy(&s);
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

bool strake_cl_stripe_has_room(const strake_cl_stripe *s, strake_range range)
{
    uint64_t largest = 0;
    const bool streams = s->kernels.options.run.blocks > 0 ||
                         resident_bytes(s, range, &largest) > s->memory ||
                         !strake_cl_device_may_hold(s->kernels.device, (double)largest);
    return streams && strake_cl_blocks_has_room(s->blocks, range);
}

strake_status strake_cl_stripe_move(strake_cl_stripe *s, strake_range range, strake_error *error)
{
    uint64_t largest = 0;
    s->range = range;
    s->need = resident_bytes(s, range, &largest);
    return strake_cl_blocks_move(s->blocks, range, error);
}

void strake_cl_stripe_describe(const strake_cl_stripe *s, strake_cl_blocks_report *out)
{
    memset(out, 0, sizeof *out);
    out->memory = s->held + (s->resident != NULL ? strake_cl_resident_held(s->resident) : 0);
    if (s->blocks != NULL) {
        strake_cl_blocks_describe(s->blocks, out);
    }
    out->resident = s->need;
    out->limit = s->memory;
}

void strake_cl_stripe_describe_kernels(const strake_cl_stripe *s, strake_cl_description *out)
{
    strake_cl_blocks_report report;
    strake_cl_stripe_describe(s, &report);
    const int64_t cells[STRAKE_AXES] = {s->blocks != NULL ? report.sizes.slabs
                                                          : s->range.end - s->range.first,
                                        s->host->n[1], s->host->n[2]};
    strake_cl_kernels_describe(&s->kernels, cells, out);
}

void strake_cl_stripe_describe_exchange(const strake_cl_stripe *s, strake_cl_exchange_report *out)
{
    if (s->resident != NULL) {
        strake_cl_resident_describe(s->resident, out);
    } else {
        memset(out, 0, sizeof *out);
    }
}

void strake_cl_stripe_describe_activity(const strake_cl_stripe *s, strake_cl_activity *out)
{
    *out = (strake_cl_activity){.cells = -1.0};
    if (s->resident != NULL) {
        strake_cl_resident_describe_activity(s->resident, out);
    }
}

void strake_cl_stripe_destroy(strake_cl_stripe **stripe)
{
    strake_cl_stripe *s = *stripe;
    if (s == NULL) {
        return;
    }
    strake_cl_blocks_destroy(&s->blocks);
    strake_cl_resident_destroy(&s->resident);
    strake_cl_kernels_release(&s->kernels);
    free(s);
    *stripe = NULL;
}
