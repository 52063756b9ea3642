#include "pace/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "model/advise.h"
#include "opencl/cl_blocks.h"
#include "grid/arrays.h"
#include "team/costs.h"

/* "tuned 2026-11-21, scatter 2 %" @return characters */
static size_t tell_source(const strake_solver *solver, const strake_part *part, char *why,
                          size_t size)
{
    const strake_tuned_class *const class =
        strake_tuned_nearest(part->tuned.record, solver->layout.n);
    const int used = strake_number_print(
        why, size, "tuned %s%s, scatter %.0f %%%s", part->tuned.record->date,
        part->tuned.level == STRAKE_TUNED_VARIANT ? " for another variant of the problem" : "",
        class != NULL ? 100.0 * class->spread : NAN,
        class != NULL && class->disturbed > 0 ? ", DISTURBED" : "");
    return used > 0 && (size_t)used < size ? (size_t)used : size - 1;
}

static int count_gpus(const strake_solver *solver)
{
    int gpus = 0;
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        gpus +=
            part->device != NULL && !part->dropped && strake_cl_device_is_gpu(part->device) ? 1 : 0;
    }
    return gpus;
}

/* A processor was tuned with all its threads; beside GPUs it leaves each a core. */
static bool find_threads(const strake_solver *solver, strake_team_part *cost, char *why,
                         size_t size)
{
    const int all = strake_topology_threads(&solver->topology);
    if (solver->most_threads != all) {
        (void)snprintf(why, size, "unknown with %d threads: tuned rates are those of all %d",
                       solver->most_threads, all);
        return false;
    }
    if (!solver->threads_chosen) {
        const int left = all - count_gpus(solver);
        cost->beside = (double)all / (left > 1 ? left : 1);
    }
    return true;
}

/* Whether the whole grid stays in a device's memory: else it streams, at another rate. */
static bool fits(const strake_solver *solver, const strake_part *part)
{
    const double bytes = (double)solver->layout.elements * solver->layout.element_size *
                         strake_arrays_count(&solver->graph, 2);
    const uint64_t memory =
        strake_cl_usable_memory(part->device, (uint64_t)solver->which->device_memory);
    return solver->which->blocks == 0 && bytes < (double)memory;
}

/* Adds what an exchange costs a device; half of the grid stands for its stripe. */
static bool find_exchange(const strake_solver *solver, int e, strake_team_part *cost, char *why,
                          size_t size)
{
    const strake_device_model *model = strake_solver_model(solver, &solver->part[e]);
    const bool inside = e > 0 && e + 1 < solver->parts;
    const int sides = inside || solver->layout.boundary[0] == STRAKE_PERIODIC ? 2 : 1;
    const int most = solver->sweep < STRAKE_CHOOSE_STEPS ? solver->sweep : STRAKE_CHOOSE_STEPS;
    if (model == NULL || !isfinite(model->bandwidth)) {
        (void)snprintf(why, size, "; its transfers are unknown: `strake model` measures them");
        return false;
    }
    strake_exchange_case c = strake_exchange_case_of(
        &solver->graph, &solver->layout, solver->layout.n[0] / 2, sides, model->bandwidth);
    c.slab_seconds = cost->slab;
    const strake_advice advice = strake_advise(model, &c, 1, most, 1);
    cost->exchange = advice.per_step;
    (void)strake_number_print(
        why, size, "; exchange every %d step%s %s, %.3g us a step (model of %s, %.0f %% off)",
        advice.steps, advice.steps > 1 ? "s" : "",
        advice.overlap ? "beside kernels" : "after kernels", 1e6 * advice.per_step, model->date,
        100.0 * fmax(model->path[STRAKE_UP_PINNED].error, model->path[STRAKE_DOWN_PINNED].error));
    return true;
}

static bool find_part(const strake_solver *solver, int e, strake_team_part *cost, char *why,
                      size_t size)
{
    const strake_part *part = &solver->part[e];
    const strake_layout *l = &solver->layout;
    double cell = 0.0;
    *cost = (strake_team_part){.slab = (double)INFINITY, .beside = 1.0};
    if (part->dropped) {
        (void)snprintf(why, size, "it failed");
        return true;
    }
    if (!strake_tuned_line(&part->tuned, solver->which, l->n, &cost->fixed, &cell)) {
        (void)snprintf(why, size,
                       "unknown: not tuned here for about this size and these keys "
                       "(`strake tune`)");
        return false;
    }
    cost->slab = cell * (double)l->n[1] * (double)l->n[2];
    if (part->device == NULL) {
        (void)tell_source(solver, part, why, size);
        return find_threads(solver, cost, why, size);
    }
    if (!fits(solver, part)) {
        (void)snprintf(why, size, "unknown: the grid streams through its memory");
        return false;
    }
    const size_t used = tell_source(solver, part, why, size);
    return find_exchange(solver, e, cost, why + used, size - used);
}

void strake_predict(const strake_solver *solver, double least_gain, strake_prediction *out)
{
    memset(out, 0, sizeof *out);
    out->complete = solver->ranks == NULL && solver->tuned != NULL;
    for (int e = 0; e < solver->parts; e++) {
        out->known[e] = find_part(solver, e, &out->part[e], out->why[e], sizeof out->why[e]);
        out->complete = out->complete && out->known[e];
    }
    if (out->complete) {
        strake_team_plan_make(out->part, solver->parts, (double)solver->layout.n[0], least_gain,
                              &out->plan);
    }
}

void strake_predict_shares(const strake_solver *solver, const strake_prediction *p, double *weight)
{
    bool taken[STRAKE_MAX_PLACEMENTS];
    for (int e = 0; e < solver->parts; e++) {
        taken[e] = !solver->part[e].dropped;
    }
    (void)strake_team_seconds(p->part, solver->parts, taken, (double)solver->layout.n[0], weight);
    for (int e = 0; e < solver->parts; e++) {
        weight[e] = taken[e] && weight[e] < 1.0 ? 1.0 : weight[e];
    }
}
