#include <math.h>
#include <stdio.h>

#include "case/settings.h"
#include "grid/grid.h"
#include "grid/parts.h"
#include "tuned/kernels.h"

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

/*
 * A thread that waits for a GPU spins in most drivers; a device on the processors computes on so many of
 * them, unless it is limited to fewer, on all.
 */
static int cores(const strake_part *part, bool is_first)
{
    return strake_cl_device_is_gpu(part->device) ? 1
           : is_first                            ? (int)part->device->compute_units
                                                 : 0;
}

static strake_status make(strake_part *part, const strake_part_plan *plan, int worker,
                          strake_error *error)
{
    const strake_range own = plan->stripe[plan->self];
    const strake_grid *grid = strake_grid_of(part->domain);
    const int64_t cells[STRAKE_AXES] = {own.end - own.first, grid->layout.n[1], grid->layout.n[2]};
    strake_cl_stripe_options options = strake_tuned_kernels(plan->settings);
    strake_cl_stripe *stripe = NULL;
    (void)worker;
    options.pins = plan->is_only;
    options.one_way = plan->one_way;
    options.movable = plan->movable;
    options.overlap =
        plan->settings->overlap == 0 ? (strake_cl_overlap)plan->overlap : options.overlap;
    options.horizon = plan->horizon;
    options.known = strake_tuned_known(&part->tuned, cells, options.pins);
    options.limit = plan->limit;
    options.costs = plan->costs;
    const strake_status status = strake_cl_stripe_create(
        plan->cl, part->device, &grid->graph, grid->which->problem, &grid->layout, plan->stripe,
        plan->stripes, plan->self, plan->steps, &options, &stripe, error);
    part->body = stripe;
    return status;
}

static void unmake(strake_part *part)
{
    strake_cl_stripe *stripe = stripe_of(part);
    strake_cl_stripe_destroy(&stripe);
}

static int steps(const strake_part *part)
{
    return strake_cl_stripe_steps(stripe_of(part));
}

static strake_status load_inputs(strake_part *part, strake_error *error)
{
    return strake_cl_stripe_upload_static(stripe_of(part), arrays_of(part, 0), error);
}

static strake_status load_states(strake_part *part, strake_error *error)
{
    return strake_cl_stripe_upload_state(stripe_of(part), current(part), error);
}

static strake_status store(strake_part *part, int parity, strake_error *error)
{
    return strake_cl_stripe_download(stripe_of(part), arrays_of(part, parity), error);
}

static strake_status leg(strake_part *part, const strake_leg *leg, bool *finite,
                         strake_error *error)
{
    const strake_grid *grid = strake_grid_of(part->domain);
    *finite = true; /* nobody knows yet */
    return strake_cl_stripe_sweep(stripe_of(part), leg->steps, grid->array[leg->parity],
                                  grid->next[leg->parity], error);
}

static strake_status meet(strake_part *part, int leg, strake_error *error)
{
    (void)leg;
    return strake_cl_stripe_publish(stripe_of(part), error);
}

static strake_status fetch(strake_part *part, int leg, int parity, strake_error *error)
{
    (void)leg;
    return strake_cl_stripe_fetch(stripe_of(part), arrays_of(part, parity), error);
}

static strake_status undo(strake_part *part, int steps_done, strake_error *error)
{
    return strake_cl_stripe_undo(stripe_of(part), steps_done, error);
}

static strake_status finish(strake_part *part, strake_error *error)
{
    return strake_cl_stripe_finish(stripe_of(part), error);
}

static strake_status look(strake_part *part, strake_error *error)
{
    return strake_cl_stripe_look(stripe_of(part), error);
}

static strake_status is_finite(strake_part *part, bool *finite, strake_error *error)
{
    return strake_cl_stripe_is_finite(stripe_of(part), finite, error);
}

static bool is_alone(const strake_part *part)
{
    return strake_cl_stripe_is_alone(stripe_of(part));
}

static bool has_room(const strake_part *part, strake_range own)
{
    return strake_cl_stripe_has_room(stripe_of(part), own);
}

static strake_status give(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error)
{
    return strake_cl_stripe_give(stripe_of(part), then, stripes, self, current(part), error);
}

static strake_status take(strake_part *part, const strake_range *then, int stripes, int self,
                          strake_error *error)
{
    return strake_cl_stripe_take(stripe_of(part), then, stripes, self, current(part), error);
}

static double busy(strake_part *part)
{
    return strake_cl_stripe_busy(stripe_of(part));
}

static strake_status unpin(strake_part *part, strake_error *error)
{
    return strake_cl_stripe_unpin(stripe_of(part), error);
}

static strake_status check(strake_part *part, bool *intact, strake_error *error)
{
    return strake_cl_stripe_check(stripe_of(part), intact, error);
}

static strake_status record(strake_part *part, strake_cl_record *record, strake_error *error)
{
    return strake_cl_stripe_record(stripe_of(part), record, error);
}

static strake_status time_kernels(strake_part *part, strake_cl_time *out, int *count,
                                  strake_error *error)
{
    return strake_cl_stripe_time(stripe_of(part), out, count, error);
}

static strake_status fault(strake_part *part, strake_cl_fault fault, int factor,
                           strake_error *error)
{
    return strake_cl_stripe_break(stripe_of(part), fault, factor, error);
}

static void describe_blocks(const strake_cl_stripe *stripe, strake_placement *out)
{
    strake_cl_blocks_report report;
    strake_cl_stripe_describe(stripe, &report);
    out->device_memory = (double)report.memory;
    out->memory_resident = (double)report.resident;
    out->memory_limit = (double)report.limit;
    if (report.sizes.steps == 0) {
        return;
    }
    out->blocks = report.sizes.blocks;
    out->streams = report.sizes.streams;
    out->block_slabs = report.sizes.slabs;
    out->block_steps = report.sizes.steps;
    out->pinned = report.pinned;
    out->uploaded = report.uploaded;
    out->downloaded = report.downloaded;
    out->predicted = report.predicted;
    out->rate_up = report.rates.up;
    out->rate_down = report.rates.down;
    out->rate_cells = report.rates.cells;
}

static void describe_kernels(const strake_cl_stripe *stripe, strake_kernels *out)
{
    strake_cl_description d;
    strake_cl_stripe_describe_kernels(stripe, &d);
    const strake_case words = {.fusion = (int)d.used.fusion, .division = (int)d.used.refine};
    (void)strake_setting_text(&words, "run.fusion", out->fusion, sizeof out->fusion);
    (void)strake_setting_text(&words, "run.division", out->division, sizeof out->division);
    out->count = d.kernels;
    out->marching = d.marching;
    out->tiled = d.tiled;
    out->width = d.width;
    out->height = d.height;
    (void)strake_groups_print(d.kernels, d.group, out->groups);
    out->rows = d.rows;
    out->unroll = d.used.unroll;
    out->prefetch = d.used.prefetch;
    out->keep = d.used.keep;
    out->hold = d.used.hold;
    out->vector = d.used.vector;
    out->bytes_per_cell = d.bytes_per_cell;
    out->registers = d.registers;
    out->resident = d.resident;
    out->occupancy = d.occupancy;
    out->private_bytes = d.private_bytes;
    out->local_bytes = d.local_bytes;
}

static void describe_exchange(const strake_cl_stripe *stripe, strake_placement_exchange *out)
{
    strake_cl_exchange_report report;
    strake_cl_stripe_describe_exchange(stripe, &report);
    out->bytes_down = report.bytes_down;
    out->bytes_up = report.bytes_up;
    out->messages_down = report.messages_down;
    out->messages_up = report.messages_up;
    out->overlaps = report.overlaps;
    out->samples = report.samples;
    out->measured_down = report.samples > 0 ? report.down : (double)NAN;
    out->measured_up = report.samples > 0 ? report.up : (double)NAN;
}

static void describe(const strake_part *part, strake_placement *out)
{
    char option[64];
    const strake_cl_device *device = part->device;
    (void)snprintf(out->name, sizeof out->name, "%s", device->name);
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", device->vendor);
    (void)snprintf(out->driver, sizeof out->driver, "%s", device->driver);
    if (part->body != NULL) {
        describe_blocks(stripe_of(part), out);
        describe_kernels(stripe_of(part), &out->kernels);
        describe_exchange(stripe_of(part), &out->borders);
        out->kernels.limitable =
            strake_cl_register_options(device, 1, option, sizeof option) != NULL;
    }
}

const strake_part_ops strake_part_opencl = {.role = "stripe",
                                            .is_tried = true,
                                            .cores = cores,
                                            .make = make,
                                            .unmake = unmake,
                                            .steps = steps,
                                            .load_inputs = load_inputs,
                                            .load_states = load_states,
                                            .store = store,
                                            .leg = leg,
                                            .meet = meet,
                                            .fetch = fetch,
                                            .undo = undo,
                                            .finish = finish,
                                            .look = look,
                                            .is_finite = is_finite,
                                            .is_alone = is_alone,
                                            .has_room = has_room,
                                            .give = give,
                                            .take = take,
                                            .busy = busy,
                                            .unpin = unpin,
                                            .check = check,
                                            .record = record,
                                            .time = time_kernels,
                                            .fault = fault,
                                            .describe = describe};
