/* What a solver tells of itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cpu/pipeline.h"
#include "group/regroup.h"
#include "pace/choose.h"
#include "solver/solver_impl.h"
#include "team/costs.h"

static void describe(const strake_solver *solver, const strake_part *part, strake_part_report *out)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->id, sizeof out->id, "%s", part->name);
    (void)snprintf(out->role, sizeof out->role, "%s", part->ops->role);
    out->threads = 1;
    out->bit_exact = true;
    out->active = -1.0;
    strake_part_describe(part, out);
    if (part->ops->has_workers) {
        const bool binds = strake_topology_binds(&solver->team.topology, solver->team.threads);
        out->threads = solver->team.threads;
        out->levelled = solver->team.level.changes;
        out->teams = binds ? solver->team.topology.teams : 0;
        (void)snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
                       strake_isa_name(solver->team.isa));
    }
    if (out->driver[0] == '\0') {
        (void)snprintf(out->driver, sizeof out->driver, "%s", out->instruction_set);
    }
    strake_solver_describe_tuning(solver, part, out);
    strake_costs_describe(&solver->team, part, out);
    out->first = part->range.first;
    out->end = part->range.end;
    out->sweep = solver->team.at_once;
    out->rank_bytes = solver->team.outside.bytes;
    out->rank_messages = solver->team.outside.messages;
    out->dropped_at = part->dropped ? part->dropped_at : -1;
    (void)snprintf(out->why_dropped, sizeof out->why_dropped, "%s", part->why);
    out->compute = part->compute;
    out->exchange = part->exchange;
    out->idle = part->idle;
    out->waited = part->waited;
    out->woken = part->woken;
    out->updates = part->updates;
    const strake_domain_report domain = strake_solver_describe(solver);
    out->items = domain.items / (double)domain.slabs;
    (void)snprintf(out->rate, sizeof out->rate, "%s", domain.rate);
    out->rate_unit = domain.rate_unit;
}

/*
 * Whoever has less work than another waits for that: what it exchanges hides behind work, so that waits beyond these are
 * what does not.
 */
static void predict_waiting(strake_part_report *part, int parts, double steps)
{
    double most = 0.0;
    for (int k = 0; k < parts; k++) {
        most = fmax(most, part[k].compute / steps);
    }
    for (int k = 0; k < parts; k++) {
        part[k].dealings.predicted_waiting =
            part[k].dealings.steps > 0.0 ? most - part[k].compute / steps : (double)NAN;
    }
}

int strake_solver_parts(const strake_solver *solver, strake_part_report *out, int most)
{
    const bool is_remote = solver->remote.report != NULL; /* those of all ranks */
    const int all = is_remote ? solver->remote.reports : solver->team.parts;
    const int parts = all < most ? all : most;
    for (int k = 0; k < parts && out != NULL; k++) {
        if (is_remote) {
            out[k] = solver->remote.report[k];
        } else {
            describe(solver, &solver->team.part[k], &out[k]);
        }
    }
    if (out != NULL) {
        predict_waiting(out, parts, (double)(solver->domain->step - solver->first_step));
    }
    return all;
}

int strake_solver_steps_at_once(const strake_solver *solver)
{
    return solver->team.at_once > 1 ? solver->team.at_once : 1;
}

int strake_solver_choices(const strake_solver *solver, const strake_choice **out)
{
    *out = solver->pace.choice;
    return solver->pace.choices;
}

strake_status strake_solver_predict(strake_solver *solver, strake_forecast *out,
                                    strake_error *error)
{
    if (!solver->placed || !solver->team.part[0].ops->is_tried) {
        return strake_fail(error, STRAKE_ERR_STATE, "there is no team to be timed");
    }
    return strake_time_often(&solver->pace, out, error);
}

int strake_solver_decisions(const strake_solver *solver, const strake_decision **out)
{
    *out = solver->pace.log.decision;
    return solver->pace.log.count;
}

double strake_solver_setup_seconds(const strake_solver *solver)
{
    return solver->setup_seconds;
}

double strake_solver_step_seconds(const strake_solver *solver)
{
    return solver->pace.step_seconds;
}

int64_t strake_solver_first_step(const strake_solver *solver)
{
    return solver->first_step;
}

const strake_case *strake_solver_case(const strake_solver *solver)
{
    return solver->which;
}

strake_domain_report strake_solver_describe(const strake_solver *solver)
{
    strake_domain_report out;
    solver->kind->describe(solver->domain, &out);
    return out;
}

int strake_solver_bytes_per_cell(const strake_solver *solver)
{
    return strake_solver_describe(solver).bytes;
}

int strake_solver_flops_per_cell(const strake_solver *solver)
{
    return strake_solver_describe(solver).flops;
}

int strake_solver_divisions_per_cell(const strake_solver *solver)
{
    return strake_solver_describe(solver).divisions;
}

int strake_solver_arrays(const strake_solver *solver)
{
    return strake_solver_describe(solver).arrays;
}

int strake_solver_policy(const strake_solver *solver, double *slab_seconds)
{
    *slab_seconds = strake_rebalance_cost(&solver->pace);
    return (int)strake_rebalance_policy(solver->which, solver->team.has_weights);
}

int strake_solver_rank_decisions(const strake_solver *solver, const strake_decision **out)
{
    *out = solver->group.log.decision;
    return solver->group.log.count;
}

const strake_rank_exchange *strake_solver_exchange(const strake_solver *solver)
{
    return solver->domain->ranks != NULL ? &solver->group.exchange : NULL;
}

int strake_solver_rank_policy(const strake_solver *solver, double *slab_seconds, int64_t *least)
{
    return strake_regroup_policy(&solver->group, slab_seconds, least);
}
