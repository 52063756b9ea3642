#include "run/costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cost/model.h"

/* Stored models by index of the device list. */
struct strake_models {
    int count;
    bool *known;
    strake_device_model *model;
};

strake_status strake_costs_load(strake_team *team, const char *cache, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!team->which->run.tuned || team->list.count == 0) {
        return STRAKE_OK;
    }
    strake_models *m = calloc(1, sizeof *m);
    STRAKE_CHECK(m != NULL, error, STRAKE_ERR_MEMORY, "out of memory for models");
    team->models = m;
    m->known = calloc((size_t)team->list.count, sizeof *m->known);
    m->model = calloc((size_t)team->list.count, sizeof *m->model);
    STRAKE_CHECK(m->known != NULL && m->model != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for models");
    m->count = team->list.count;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *part = &team->part[e];
        if (part->ops->has_driver && !m->known[part->number]) {
            m->known[part->number] =
                strake_model_load(cache, part->device, &m->model[part->number]);
        }
    }
cleanup:
    return status;
}

void strake_costs_free(strake_team *team)
{
    if (team->models != NULL) {
        free(team->models->known);
        free(team->models->model);
        free(team->models);
        team->models = NULL;
    }
}

const strake_device_model *strake_costs_model(const strake_team *team, const strake_part *part)
{
    const strake_models *m = team->models;
    return m != NULL && part->ops->has_driver && m->known[part->number] ? &m->model[part->number]
                                                                        : NULL;
}

/* Sides on which somebody else's slabs lie. */
static int sides_of(const strake_team *team, const strake_part *part)
{
    const int64_t n = team->domain->slabs;
    const bool is_periodic = team->domain->ends == STRAKE_PERIODIC;
    if (part->range.first == 0 && part->range.end == n) {
        return 0;
    }
    return (part->range.first > 0 || is_periodic ? 1 : 0) +
           (part->range.end < n || is_periodic ? 1 : 0);
}

/* Stripes on the same device, which share its link. */
static int active_on(const strake_team *team, const strake_part *part)
{
    int active = 0;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *other = &team->part[e];
        active += strake_part_shares_device(other, part) && strake_part_has_slabs(other) ? 1 : 0;
    }
    return active;
}

static strake_exchange_case case_of(const strake_team *team, const strake_part *part,
                                    const strake_device_model *model)
{
    strake_exchange_case c = team->domain->ops->exchange(
        team->domain, part->range.end - part->range.first, sides_of(team, part), model->bandwidth);
    c.slab_seconds = part->slab_seconds > 0.0 ? part->slab_seconds : c.slab_seconds;
    return c;
}

int strake_costs_steps(const strake_team *team)
{
    double seconds[STRAKE_CHOOSE_STEPS] = {0.0};
    const int most = team->sweep < STRAKE_CHOOSE_STEPS ? team->sweep : STRAKE_CHOOSE_STEPS;
    int devices = 0, best = 1;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *part = &team->part[e];
        const strake_device_model *model = strake_costs_model(team, part);
        if (!part->ops->has_driver || sides_of(team, part) == 0 || !strake_part_has_slabs(part)) {
            continue;
        }
        if (model == NULL || !isfinite(model->bandwidth)) {
            return 0;
        }
        /* Sweeps of all lengths up to `most`; the slowest device counts. */
        const strake_exchange_case c = case_of(team, part, model);
        const strake_advice advice = strake_advise(model, &c, most, active_on(team, part));
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

strake_cl_costs strake_costs_of(const strake_team *team, const strake_part *part)
{
    const strake_device_model *model = strake_costs_model(team, part);
    if (model == NULL || !isfinite(model->bandwidth) || sides_of(team, part) == 0) {
        return (strake_cl_costs){.known = false};
    }
    const strake_exchange_case c = case_of(team, part, model);
    const strake_exchange_size size = strake_exchange_size_of(&c, team->at_once);
    const int active = active_on(team, part);
    return (strake_cl_costs){
        .known = true,
        .ranges = c.sides,
        .exchange = strake_model_exchange(model, false, size.bytes_down, size.messages,
                                          size.bytes_up, size.messages, active),
        .beside = strake_model_exchange(model, true, size.bytes_down, size.apart, size.bytes_up,
                                        size.apart, active),
        .factor = fmin(model->overlap.up, model->overlap.down),
        .slab = c.slab_seconds,
        .launch = model->launch,
        .barrier = model->barrier};
}

void strake_costs_describe(const strake_team *team, const strake_part *part,
                           strake_part_report *out)
{
    const strake_device_model *model = strake_costs_model(team, part);
    strake_part_exchange *x = &out->borders;
    x->predicted_down = x->predicted_up = (double)NAN;
    out->dealings.predicted_moving = (double)NAN;
    if (model != NULL) {
        const strake_part_dealings *const d = &out->dealings;
        out->dealings.predicted_moving =
            d->steps > 0.0
                ? strake_model_passes(model, d->pageable > 0.0, d->exchanges, d->sent,
                                      d->messages_sent, d->received, d->messages_received)
                : (double)NAN;
        const int active = active_on(team, part);
        const strake_cl_exchange_report *const is = &x->done;
        x->predicted_down = strake_model_exchange(model, is->beside, is->bytes_down,
                                                  is->messages_down, 0.0, 0, active) +
                            strake_model_reduce(model, is->numbers);
        x->predicted_up =
            strake_model_exchange(model, is->beside, 0.0, 0, is->bytes_up, is->messages_up, active);
        out->borders.chose_steps = team->model_steps > 0;
        out->borders.chose_overlap =
            team->which->run.overlap == 0 && strake_costs_of(team, part).known;
        (void)snprintf(out->borders.model, sizeof out->borders.model, "%s", model->date);
    }
}
