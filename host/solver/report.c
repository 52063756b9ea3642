/* What a solver tells of itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/settings.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "run/regroup.h"
#include "files/cache.h"
#include "run/choose.h"
#include "solver/solver_impl.h"
#include "run/costs.h"

/* Where the run.* keys that the user did not give get their values from: tuned results. */

static void find_for(const strake_solver *solver, strake_part *part)
{
    strake_tuned_key key;
    strake_tuned_key_make(solver->team.list.cl, part->device, solver->which->problem->name,
                          solver->which->precision, solver->domain->variant, &key);
    strake_tuned_find(solver->tuned, &key, &part->tuned);
}

/* Without tuned settings programs of devices are still read from the usual folder. */
static void tell_cache(const strake_solver *solver)
{
    bool devices = false;
    for (int e = 0; e < solver->team.parts; e++) {
        devices = devices || solver->team.part[e].ops->has_driver;
    }
    char *const folder = devices ? strake_cache_folder() : NULL;
    strake_cache_tell(folder, solver->team.notices.line, solver->team.notices.user);
    free(folder);
}

strake_status strake_solver_tune(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    solver->settings = solver->which->run;
    for (int e = 0; e < solver->team.parts; e++) {
        solver->team.part[e].tuned = (strake_tuned_use){.level = STRAKE_TUNED_OFF};
    }
    if (!solver->which->run.tuned || !solver->team.part[0].ops->is_tuned) {
        tell_cache(solver);
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_tuned_load(solver->cache, solver->team.notices.line,
                                 solver->team.notices.user, &solver->tuned, error));
    for (int e = 0; e < solver->team.parts; e++) {
        find_for(solver, &solver->team.part[e]);
    }
    /* Steps per sweep and threads bind the whole team: no one part's best is the team's. */
    if (solver->team.parts == 1) {
        strake_tuned_apply(&solver->team.part[0].tuned, solver->domain->n, &solver->settings);
    }
    if (!solver->team.threads_chosen && solver->settings.threads > 0 &&
        solver->settings.threads <= strake_threads_limit() &&
        strake_ranks_sharing(solver->domain->ranks) == 1) {
        solver->team.most_threads = solver->settings.threads;
        solver->team.threads = solver->team.most_threads;
        solver->team.threads_chosen = true;
    }
cleanup:
    return status;
}

/** What a part's settings come from. */
static void solver_describe_tuning(const strake_solver *solver, const strake_part *part,
                                   strake_part_report *out)
{
    int64_t n[STRAKE_AXES];
    const char *why = NULL;
    strake_domain_size(solver->domain, part->range, n);
    const strake_tuned_class *const class =
        strake_tuned_serving(&part->tuned, n, &solver->which->run, &why);
    (void)snprintf(out->tuned, sizeof out->tuned, "%s", strake_tuned_level_name(part->tuned.level));
    (void)snprintf(out->tuned_differs, sizeof out->tuned_differs, "%s",
                   why[0] != '\0' ? why : part->tuned.differs);
    if (class != NULL) {
        (void)snprintf(out->tuned_ended, sizeof out->tuned_ended, "%s",
                       strake_tuned_end_word(class->end));
        out->tuned_disturbed = class->disturbed > 0;
        (void)strake_tuned_search_text(class, out->tuned_search, sizeof out->tuned_search);
    }
    for (int axis = 0; class != NULL && axis < STRAKE_AXES; axis++) {
        out->tuned_for[axis] = class->n[axis];
    }
    for (int s = 0; class != NULL && s < class->settings; s++) {
        const size_t used = strlen(out->tuned_settings);
        if (strake_tuned_takes(&solver->which->run, class->setting[s].path)) {
            (void)snprintf(out->tuned_settings + used, sizeof out->tuned_settings - used, "%s%s=%s",
                           used > 0 ? " " : "", class->setting[s].path, class->setting[s].value);
        }
    }
}

/* Times of single kernels. */

strake_status strake_solver_time_kernels(strake_solver *solver, int most, strake_kernel_time *out,
                                         int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_time *const time = calloc(STRAKE_CL_MOST_KERNELS, sizeof *time);
    int found = 0;
    const bool ready = !strake_domain_lacks(solver->domain, STRAKE_LACKS_INPUTS);
    *count = 0;
    STRAKE_CHECK(time != NULL, error, STRAKE_ERR_MEMORY, "out of memory timing kernels");
    for (int e = 0; e < solver->team.parts && found == 0 && ready; e++) {
        STRAKE_TRY(strake_part_time(&solver->team.part[e], time, &found, error));
    }
    *count = found < most ? found : most;
    for (int k = 0; k < *count; k++) {
        (void)snprintf(out[k].name, sizeof out[k].name, "%s", time[k].name);
        out[k].seconds = time[k].seconds;
    }
cleanup:
    free(time);
    return status;
}

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
    solver_describe_tuning(solver, part, out);
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
