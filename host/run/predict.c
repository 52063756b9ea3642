#include "run/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cost/model.h"
#include "opencl/cl_blocks.h"
#include "run/costs.h"

/* "tuned 2026-11-21, scatter 2 %" @return characters */
static size_t tell_source(const strake_pace *pace, const strake_part *part, char *why, size_t size)
{
    const strake_tuned_class *const class =
        strake_tuned_nearest(part->tuned.record, pace->domain->n);
    const int used = strake_number_print(
        why, size, "tuned %s%s, scatter %.0f %%%s", part->tuned.record->date,
        part->tuned.level == STRAKE_TUNED_VARIANT ? " for another variant of the problem" : "",
        class != NULL ? 100.0 * class->spread : NAN,
        class != NULL && class->disturbed > 0 ? ", DISTURBED" : "");
    return used > 0 && (size_t)used < size ? (size_t)used : size - 1;
}

static int count_gpus(const strake_pace *pace)
{
    int gpus = 0;
    for (int e = 0; e < pace->team->parts; e++) {
        const strake_part *part = &pace->team->part[e];
        gpus += strake_part_is_gpu(part) && !part->dropped ? 1 : 0;
    }
    return gpus;
}

/* A processor was tuned with all its threads; beside GPUs it leaves each a core. */
static bool find_threads(const strake_pace *pace, strake_team_part *cost, char *why, size_t size)
{
    const int all = strake_topology_threads(&pace->team->topology);
    if (pace->team->most_threads != all) {
        (void)snprintf(why, size, "unknown with %d threads: tuned rates are those of all %d",
                       pace->team->most_threads, all);
        return false;
    }
    if (!pace->team->threads_chosen) {
        const int left = all - count_gpus(pace);
        cost->beside = (double)all / (left > 1 ? left : 1);
    }
    return true;
}

/* Whether the whole grid stays in a device's memory: else it streams, at another rate. */
static bool fits(const strake_pace *pace, const strake_part *part)
{
    const uint64_t memory =
        strake_cl_usable_memory(part->device, (uint64_t)pace->which->run.device_memory);
    return pace->which->run.blocks == 0 && pace->domain->bytes < (double)memory;
}

/* Adds what an exchange costs a device; half of the grid stands for its stripe. */
static bool find_exchange(const strake_pace *pace, int e, strake_team_part *cost, char *why,
                          size_t size)
{
    const strake_device_model *model = strake_costs_model(pace->team, &pace->team->part[e]);
    const bool inside = e > 0 && e + 1 < pace->team->parts;
    const int sides = inside || pace->domain->ends == STRAKE_PERIODIC ? 2 : 1;
    const int most =
        pace->team->sweep < STRAKE_CHOOSE_STEPS ? pace->team->sweep : STRAKE_CHOOSE_STEPS;
    if (model == NULL || !isfinite(model->bandwidth)) {
        (void)snprintf(why, size, "; its transfers are unknown: `strake model` measures them");
        return false;
    }
    strake_exchange_case c =
        pace->domain->ops->exchange(pace->domain, pace->domain->slabs / 2, sides, model->bandwidth);
    c.slab_seconds = cost->slab;
    const strake_advice advice = strake_advise(model, &c, most, 1);
    cost->exchange = advice.per_step;
    (void)strake_number_print(
        why, size, "; exchange every %d step%s %s, %.3g us a step (model of %s, %.0f %% off)",
        advice.steps, advice.steps > 1 ? "s" : "",
        advice.overlap ? "beside kernels" : "after kernels", 1e6 * advice.per_step, model->date,
        100.0 * fmax(model->path[STRAKE_UP_PINNED].error, model->path[STRAKE_DOWN_PINNED].error));
    return true;
}

static bool find_part(const strake_pace *pace, int e, strake_team_part *cost, char *why,
                      size_t size)
{
    const strake_part *part = &pace->team->part[e];
    const int64_t *n = pace->domain->n;
    const double cells = (double)n[0] * (double)n[1] * (double)n[2];
    double cell = 0.0;
    *cost = (strake_team_part){.slab = (double)INFINITY, .beside = 1.0};
    if (part->dropped) {
        (void)snprintf(why, size, "it failed");
        return true;
    }
    if (!strake_tuned_line(&part->tuned, &pace->which->run, n, &cost->fixed, &cell)) {
        (void)snprintf(why, size,
                       "unknown: not tuned here for about this size and these keys "
                       "(`strake tune`)");
        return false;
    }
    cost->slab = cell * cells / (double)pace->domain->slabs;
    if (!part->ops->has_driver) {
        (void)tell_source(pace, part, why, size);
        return find_threads(pace, cost, why, size);
    }
    if (!fits(pace, part)) {
        (void)snprintf(why, size, "unknown: the grid streams through its memory");
        return false;
    }
    const size_t used = tell_source(pace, part, why, size);
    return find_exchange(pace, e, cost, why + used, size - used);
}

void strake_predict(const strake_pace *pace, double least_gain, strake_prediction *out)
{
    memset(out, 0, sizeof *out);
    out->complete = pace->domain->ranks == NULL && pace->team->is_tuned;
    for (int e = 0; e < pace->team->parts; e++) {
        out->known[e] = find_part(pace, e, &out->part[e], out->why[e], sizeof out->why[e]);
        out->complete = out->complete && out->known[e];
    }
    if (out->complete) {
        strake_team_plan_make(out->part, pace->team->parts, (double)pace->domain->slabs, least_gain,
                              &out->plan);
    }
}

void strake_predict_shares(const strake_pace *pace, const strake_prediction *p, double *weight)
{
    bool taken[STRAKE_MAX_PARTS];
    for (int e = 0; e < pace->team->parts; e++) {
        taken[e] = !pace->team->part[e].dropped;
    }
    (void)strake_team_seconds(p->part, pace->team->parts, taken, (double)pace->domain->slabs,
                              weight);
    for (int e = 0; e < pace->team->parts; e++) {
        weight[e] = taken[e] && weight[e] < 1.0 ? 1.0 : weight[e];
    }
}
