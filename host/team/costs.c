#include "team/costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/advise.h"

/* Stored models by index of the device list. */
struct strake_solver_models {
    int count;
    bool *known;
    strake_device_model *model;
};

strake_status strake_solver_load_models(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!solver->which->tuned || solver->list.count == 0) {
        return STRAKE_OK;
    }
    strake_solver_models *m = calloc(1, sizeof *m);
    STRAKE_CHECK(m != NULL, error, STRAKE_ERR_MEMORY, "out of memory for models");
    solver->models = m;
    m->known = calloc((size_t)solver->list.count, sizeof *m->known);
    m->model = calloc((size_t)solver->list.count, sizeof *m->model);
    STRAKE_CHECK(m->known != NULL && m->model != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for models");
    m->count = solver->list.count;
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        if (part->device != NULL && !m->known[part->number]) {
            m->known[part->number] =
                strake_model_load(solver->cache, part->device, &m->model[part->number]);
        }
    }
cleanup:
    return status;
}

void strake_solver_free_models(strake_solver *solver)
{
    if (solver->models != NULL) {
        free(solver->models->known);
        free(solver->models->model);
        free(solver->models);
        solver->models = NULL;
    }
}

const strake_device_model *strake_solver_model(const strake_solver *solver, const strake_part *part)
{
    const strake_solver_models *m = solver->models;
    return m != NULL && part->device != NULL && m->known[part->number] ? &m->model[part->number]
                                                                       : NULL;
}

/* Sides on which somebody else's slabs lie. */
static int sides_of(const strake_solver *solver, const strake_part *part)
{
    const int64_t n = solver->layout.n[0];
    const bool is_periodic = solver->layout.boundary[0] == STRAKE_PERIODIC;
    if (part->range.first == 0 && part->range.end == n) {
        return 0;
    }
    return (part->range.first > 0 || is_periodic ? 1 : 0) +
           (part->range.end < n || is_periodic ? 1 : 0);
}

/* Stripes on the same device, which share its link. */
static int active_on(const strake_solver *solver, const strake_part *part)
{
    int active = 0;
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *other = &solver->part[e];
        active += strake_part_shares_device(other, part) && strake_part_has_slabs(other) ? 1 : 0;
    }
    return active;
}

static strake_exchange_case case_of(const strake_solver *solver, const strake_part *part,
                                    const strake_device_model *model)
{
    strake_exchange_case c = strake_exchange_case_of(&solver->graph, &solver->layout,
                                                     part->range.end - part->range.first,
                                                     sides_of(solver, part), model->bandwidth);
    c.slab_seconds = part->slab_seconds > 0.0 ? part->slab_seconds : c.slab_seconds;
    return c;
}

int strake_solver_model_steps(const strake_solver *solver)
{
    double seconds[STRAKE_CHOOSE_STEPS] = {0.0};
    const int most = solver->sweep < STRAKE_CHOOSE_STEPS ? solver->sweep : STRAKE_CHOOSE_STEPS;
    int devices = 0, best = 1;
    for (int e = 0; e < solver->parts; e++) {
        const strake_part *part = &solver->part[e];
        const strake_device_model *model = strake_solver_model(solver, part);
        if (part->device == NULL || sides_of(solver, part) == 0 || !strake_part_has_slabs(part)) {
            continue;
        }
        if (model == NULL || !isfinite(model->bandwidth)) {
            return 0;
        }
        /* Sweeps of all lengths up to `most`; the slowest device counts. */
        const strake_exchange_case c = case_of(solver, part, model);
        const strake_advice advice = strake_advise(model, &c, 1, most, active_on(solver, part));
        for (int k = 1; k <= most; k++) {
            const double again = 0.5 * (k - 1) * (double)c.reach * c.sides * c.slab_seconds;
            const bool fits = k == 1 || (k - 1) * c.reach + c.halo[0] < c.slabs;
            const double own = fits ? advice.added[k - 1] / k + again : (double)INFINITY;
            seconds[k - 1] = fmax(seconds[k - 1], own);
        }
        devices++;
    }
    for (int k = 2; k <= most; k++) {
        best = seconds[k - 1] < seconds[best - 1] ? k : best;
    }
    return devices > 0 ? best : 0;
}

strake_cl_costs strake_solver_costs(const strake_solver *solver, const strake_part *part)
{
    const strake_device_model *model = strake_solver_model(solver, part);
    if (model == NULL || !isfinite(model->bandwidth) || sides_of(solver, part) == 0) {
        return (strake_cl_costs){.known = false};
    }
    const strake_exchange_case c = case_of(solver, part, model);
    const strake_exchange_size size = strake_exchange_size_of(&c, solver->at_once);
    const int active = active_on(solver, part);
    return (strake_cl_costs){
        .known = true,
        .ranges = c.sides,
        .exchange = strake_model_exchange(model, false, size.bytes_down, size.messages,
                                          size.bytes_up, size.messages, active),
        .beside = strake_model_exchange(model, true, size.bytes_down, size.messages, size.bytes_up,
                                        size.messages, active),
        .factor = fmin(model->overlap.up, model->overlap.down),
        .slab = c.slab_seconds,
        .launch = model->launch,
        .barrier = model->barrier};
}

void strake_solver_describe_model(const strake_solver *solver, const strake_part *part,
                                  strake_placement *out)
{
    const strake_device_model *model = strake_solver_model(solver, part);
    strake_placement_exchange *x = &out->borders;
    x->predicted_down = x->predicted_up = (double)NAN;
    if (model != NULL) {
        const int active = active_on(solver, part);
        x->predicted_down = strake_model_exchange(model, x->overlaps, x->bytes_down,
                                                  x->messages_down, 0.0, 0, active);
        x->predicted_up =
            strake_model_exchange(model, x->overlaps, 0.0, 0, x->bytes_up, x->messages_up, active);
        out->borders.chose_steps = solver->model_steps > 0;
        out->borders.chose_overlap =
            solver->which->overlap == 0 && strake_solver_costs(solver, part).known;
        (void)snprintf(out->borders.model, sizeof out->borders.model, "%s", model->date);
    }
}
