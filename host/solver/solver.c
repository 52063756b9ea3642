#include "group/border.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/number.h"
#include "cpu/pipeline.h"
#include "cpu/threads.h"
#include "group/shares.h"
#include "grid/arrays.h"
#include "pace/choose.h"
#include "group/regroup.h"
#include "grid/inputs.h"
#include "solver/remote_impl.h"
#include "solver/inject.h"
#include "pace/rescue.h"
#include "team/costs.h"

/*
 * By default: measured on Zen 5, where more steps gain nothing for MPDATA. One step where the rings of
 * all threads would take more than a twentieth of the fields' memory (unless that is little anyway).
 */
enum { STEPS_PER_SWEEP = 2, RINGS_OF_FIELDS = 20, LITTLE_MEMORY = 8 * 1024 * 1024 };

double strake_solver_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void strake_solver_notice(const strake_solver *solver, const char *format, ...)
{
    char line[1024];
    if (solver->notice != NULL) {
        va_list list;
        va_start(list, format);
        (void)strake_number_vprint(line, sizeof line, format, list);
        va_end(list);
        solver->notice(solver->user, line);
    }
}

static strake_status check_given(const strake_solver *solver, strake_error *error)
{
    const strake_problem *problem = solver->which->problem;
    for (int f = 0; f < problem->fields; f++) {
        if (!solver->given[f]) {
            return strake_fail(
                error, STRAKE_ERR_STATE,
                "field %s has no values (yet, or after a failed step); give it in the "
                "case or with strake_set_field()",
                problem->field[f].name);
        }
    }
    return STRAKE_OK;
}

/* Steps per sweep: as asked, else the default; no more than the graph allows. */
static int choose_sweep(const strake_solver *solver)
{
    const int asked = solver->settings.steps_per_sweep;
    const int wanted = asked > 0 ? asked : STEPS_PER_SWEEP;
    const int most = strake_pipeline_most_steps(&solver->graph);
    if (asked == 0 && solver->parts == 1 && solver->part[0].ops->has_workers) {
        if (solver->which->n[1] > 1) {
            return 1; /* blocks of lines are for one step, and bring more than a second one */
        }
        const strake_layout layout = strake_layout_make_deep(
            &solver->graph, wanted, solver->which->n, solver->which->boundary);
        const int64_t rings =
            strake_pipeline_bytes(&solver->graph, &layout, solver->settings.block_columns) *
            solver->most_threads;
        const int64_t fields = layout.elements / strake_ranks_count(solver->ranks) *
                               layout.element_size * strake_arrays_count(&solver->graph, 2);
        if (rings > LITTLE_MEMORY && rings > fields / RINGS_OF_FIELDS) {
            return 1;
        }
    }
    return wanted < most ? wanted : most;
}

static strake_status choose_instructions(strake_solver *solver, strake_error *error)
{
    const strake_isa asked = (strake_isa)solver->settings.instruction_set;
    const strake_isa best = strake_isa_best();
    const bool is_given = solver->which->instruction_set != 0;
    solver->isa = asked == STRAKE_ISA_SCALAR ? best : asked; /* the word in its place is auto */
    if (!strake_isa_is_there(solver->isa) && !is_given) {
        solver->isa = best; /* tuned on a similar processor */
    }
    if (!strake_isa_is_there(solver->isa)) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: run.instruction_set: %s, which this processor does not have or this "
            "program was not built for; its best is %s: use that, or auto",
            solver->which->file, strake_isa_name(asked), strake_isa_name(best));
    }
    return STRAKE_OK;
}

static strake_status build_graph(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *which = solver->which;
    const strake_problem *problem = which->problem;
    STRAKE_TRY(strake_case_graph(which, solver->number, &solver->graph, error));
    for (int f = 0; f < problem->fields; f++) {
        solver->value_of[f] = strake_graph_find(&solver->graph, problem->field[f].name);
        STRAKE_CHECK(solver->value_of[f] >= 0, error, STRAKE_ERR_STATE,
                     "problem %s: its graph has no input %s", problem->name,
                     problem->field[f].name);
        const strake_value *value = &solver->graph.value[solver->value_of[f]];
        solver->constant[f] = value->is_constant || !value->is_live;
        solver->given[f] = solver->constant[f];
        solver->number[f] = value->is_constant ? value->constant : solver->number[f];
        STRAKE_CHECK(!solver->constant[f] || isfinite(solver->number[f]), error, STRAKE_ERR_USAGE,
                     "%s: field %s: %g is not finite in this precision", which->file,
                     problem->field[f].name, solver->number[f]);
    }
    STRAKE_TRY(strake_solver_tune(solver, error));
    STRAKE_TRY(strake_solver_load_models(solver, error));
cleanup:
    return status;
}

/* Where to run: everything that can be wrong with it is found here, before any field is needed. */
static strake_status resolve(strake_solver *solver, const strake_options *options,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *where = options->where != NULL ? options->where : solver->which->on;
    const char *split = options->split != NULL ? options->split : solver->which->split;
    char own_where[512], own_split[512];
    if (where != NULL) {
        STRAKE_TRY(strake_shares_pick(solver, "--on", where, own_where, sizeof own_where, error));
        where = own_where;
    }
    if (split != NULL) {
        STRAKE_TRY(
            strake_shares_pick(solver, "--split", split, own_split, sizeof own_split, error));
        split = own_split;
    }
    STRAKE_TRY(strake_where_resolve(solver, where != NULL ? where : "auto", &solver->kind, error));
    if (split != NULL) {
        STRAKE_TRY(strake_where_weights(solver, split, solver->weight, error));
        solver->has_weights = true;
    } else if (solver->parts == 1) {
        solver->weight[0] = 1.0;
        solver->has_weights = true;
    }
    STRAKE_TRY(strake_inject_read(solver, error));
cleanup:
    return status;
}

/* Some drivers compile at the first launch: that belongs to the set-up, not to the steps. */
static strake_status start_up(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_team_upload(solver, error));
    STRAKE_TRY(solver->part[0].ops->is_tried ? strake_team_try(solver, 1, error) : STRAKE_OK);
cleanup:
    return status;
}

/* Says where fewer steps at once are possible than were asked for. */
static void tell_sweep(const strake_solver *solver)
{
    const int asked = solver->which->steps_per_sweep;
    const bool has_ranks = solver->ranks != NULL;
    bool is_bound = has_ranks;
    for (int r = 0; r < solver->roles; r++) {
        is_bound = is_bound || solver->part[solver->role[r].part].ops->bounds_steps;
    }
    if (is_bound && asked > solver->at_once) {
        strake_solver_notice(solver, "run.steps_per_sweep: %d; %s no more than %d", asked,
                             has_ranks ? "the ranks take" : "the CPU takes", solver->at_once);
    }
}

static strake_status place_parts(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (solver->has_weights) {
        strake_rescue_weights(solver, solver->weight);
        STRAKE_TRY(strake_team_place(solver, solver->weight, error));
    } else {
        STRAKE_TRY(strake_balance(solver, solver->kind, error));
    }
    STRAKE_TRY(start_up(solver, error));
cleanup:
    return status;
}

/* Stripes, kernels and the split, once every field is there; measuring needs real fields. */
static strake_status place(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error cause = {STRAKE_OK, ""};
    STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_inputs_prepare(solver, error), error));
    if (solver->ranks != NULL) {
        STRAKE_TRY(strake_shares_place(solver, error));
        STRAKE_TRY(strake_ranks_agree(solver->ranks, start_up(solver, error), error));
        STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_regroup_begin(solver, error), error));
    } else {
        /* Every failure drops a device, or ends this. */
        while (place_parts(solver, &cause) != STRAKE_OK) {
            STRAKE_TRY(strake_rescue_setup(solver, &cause, error));
        }
    }
    solver->placed = true;
    strake_rebalance_begin(solver);
    STRAKE_TRY(strake_keep(solver, error));
    strake_notices_streams(solver);
    strake_notices_effects(solver);
    strake_notices_threads(solver);
    tell_sweep(solver);
cleanup:
    return status;
}

/* The same steps per sweep on all ranks: they fix how arrays lie in memory, and slabs travel as they lie. */
static strake_status agree_on_sweep(strake_solver *solver, strake_error *error)
{
    double least = -(double)choose_sweep(solver);
    const strake_status status = strake_ranks_most(solver->ranks, &least, 1, error);
    solver->sweep = (int)-least;
    return status;
}

/* Where this rank runs, what it computes, and with which settings. */
static strake_status find_places(strake_solver *solver, const strake_options *options,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (options->cache != NULL) {
        solver->cache = strdup(options->cache);
        STRAKE_CHECK(solver->cache != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory opening a solver");
    }
    STRAKE_TRY(strake_workers_choose(solver, options, error));
    STRAKE_TRY(resolve(solver, options, error));
    strake_notices_settings(solver);
    STRAKE_TRY(build_graph(solver, error));
cleanup:
    return status;
}

/* Arrays and initial fields. */
static strake_status make_fields(strake_solver *solver, bool *complete, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *which = solver->which;
    solver->layout =
        strake_layout_make_deep(&solver->graph, solver->sweep, which->n, which->boundary);
    STRAKE_TRY(strake_shares_begin(solver, error));
    STRAKE_TRY(choose_instructions(solver, error));
    STRAKE_TRY(strake_threads_start(solver->most_threads, error));
    STRAKE_TRY(strake_arrays_allocate(solver, error));
    STRAKE_TRY(strake_inputs_fill(solver, error));
    *complete = true;
    for (int f = 0; f < which->problem->fields; f++) {
        *complete = *complete && solver->given[f];
    }
cleanup:
    return status;
}

strake_status strake_open(const strake_case *which, const strake_options *options,
                          strake_solver **out, strake_error *error)
{
    return strake_open_on(which, options, NULL, out, error);
}

strake_status strake_open_on(const strake_case *which, const strake_options *options,
                             strake_ranks *ranks, strake_solver **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_options defaults = {0};
    const double start = strake_solver_clock();
    bool complete = false;
    strake_solver *solver = calloc(1, sizeof *solver);
    STRAKE_CHECK(solver != NULL, error, STRAKE_ERR_MEMORY, "out of memory opening a solver");
    options = options != NULL ? options : &defaults;
    solver->which = which;
    solver->ranks = ranks;
    solver->notice = options->notice;
    solver->user = options->user;
    STRAKE_TRY(strake_ranks_agree(ranks, find_places(solver, options, error), error));
    STRAKE_TRY(agree_on_sweep(solver, error));
    STRAKE_TRY(strake_ranks_agree(ranks, make_fields(solver, &complete, error), error));
    if (complete) {
        STRAKE_TRY(place(solver, error));
    }
    solver->setup_seconds = strake_solver_clock() - start;
    *out = solver;
    solver = NULL;
cleanup:
    strake_close(&solver);
    return status;
}

void strake_close(strake_solver **which)
{
    strake_solver *solver = which != NULL ? *which : NULL;
    if (solver == NULL) {
        return;
    }
    strake_border_destroy(solver);
    strake_team_release(solver);
    strake_keep_release(solver);
    strake_arrays_release(solver);
    strake_regroup_end(solver);
    free(solver->log.decision);
    strake_level_release(&solver->level);
    free(solver->owned);
    free(solver->remote.placement);
    free(solver->remote.parcel);
    strake_cl_list_free(&solver->list);
    strake_tuned_free(&solver->tuned);
    strake_solver_free_models(solver);
    free(solver->cache);
    free(solver);
    *which = NULL;
}

/*
 * Adds the roles' times of the last run to their parts; CPU workers count as one. Where a device's
 * own timers tell what it worked, the rest of its thread's time is idle.
 */
static void account(strake_solver *solver, int64_t steps, double seconds)
{
    solver->step_seconds += seconds;
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        strake_part *part = &solver->part[role->part];
        const double share = part->ops->has_workers ? (double)solver->threads : 1.0;
        part->busy = strake_part_busy(part);
        if (part->busy > 0.0) {
            const double worked = part->busy * (double)steps;
            const double rest = seconds - worked - role->exchange;
            part->compute += worked;
            part->exchange += role->exchange;
            part->idle += rest > 0.0 ? rest : 0.0;
            continue;
        }
        part->compute += role->compute / share;
        part->exchange += role->exchange / share;
        part->idle += role->idle / share;
    }
}

/* One piece of a run: what may be done before rows move or the copy of the states is renewed. */
static strake_status run_piece(strake_solver *solver, int64_t left, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t steps = left, wanted = left;
    const bool renews = solver->kept.valid; /* else it is part of the set-up */
    double start = strake_solver_clock(), elapsed = 0.0;
    STRAKE_TRY(strake_keep(solver, error));
    solver->step_seconds += renews ? strake_solver_clock() - start : 0.0;
    STRAKE_TRY(strake_team_upload(solver, error));
    start = strake_solver_clock();
    steps = strake_keep_piece(solver, strake_rebalance_piece(solver, left));
    wanted = steps;
    status = strake_team_run(solver, steps == left, &steps, error);
    elapsed = strake_solver_clock() - start;
    account(solver, steps, elapsed);
    strake_regroup_observe(solver, steps);
    solver->devices_hold = status == STRAKE_OK;
    STRAKE_TRY(status);
    solver->step_count += steps;
    for (int e = 0; e < solver->parts; e++) {
        const strake_range own = solver->part[e].range;
        solver->part[e].updates += (double)(own.end - own.first) * (double)steps;
    }
    STRAKE_TRY(strake_rebalance(solver, steps, elapsed, steps < wanted, error));
    solver->step_seconds += strake_solver_clock() - start - elapsed;
cleanup:
    return status;
}

/* Runs up to a step. Where a device fails the rest goes on, from earlier states. */
static strake_status run_to(strake_solver *solver, int64_t step, strake_error *error)
{
    strake_status status = STRAKE_OK;
    while (solver->step_count < step) {
        strake_error cause = {STRAKE_OK, ""};
        if (run_piece(solver, step - solver->step_count, &cause) != STRAKE_OK) {
            const double start = strake_solver_clock();
            STRAKE_TRY(strake_rescue(solver, &cause, error));
            solver->step_seconds += strake_solver_clock() - start;
        }
    }
cleanup:
    return status;
}

/* After a failure that nothing could be done about the states are undefined. */
static strake_status lose_states(strake_solver *solver, const strake_error *cause,
                                 strake_error *error)
{
    for (int f = 0; f < solver->which->problem->fields; f++) {
        if (solver->which->problem->field[f].is_state) {
            solver->given[f] = false;
            solver->slabs_given[f] = 0;
        }
    }
    strake_keep_forget(solver);
    return strake_fail(error, cause->status, "%s: %s", solver->which->file, cause->text);
}

/* Runs steps with all ranks, which now and then look at how slabs are shared among them. */
static strake_status run_together(strake_solver *solver, int64_t steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t end = solver->step_count + steps;
    while (solver->step_count < end) {
        const double start = strake_solver_clock();
        solver->checked = solver->step_count;
        const int64_t piece = strake_regroup_piece(solver, end - solver->step_count);
        status = run_to(solver, solver->step_count + piece, error);
        if (status != STRAKE_OK) {
            strake_border_break(solver);
        }
        STRAKE_TRY(strake_ranks_agree(solver->ranks, status, error));
        const double elapsed = strake_solver_clock() - start;
        STRAKE_TRY(strake_regroup(solver, piece, elapsed, error));
        solver->step_seconds += strake_solver_clock() - start - elapsed;
    }
cleanup:
    return status;
}

strake_status strake_step(strake_solver *solver, int64_t steps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error cause = {STRAKE_OK, ""};
    STRAKE_CHECK(steps >= 0, error, STRAKE_ERR_USAGE, "strake_step: %lld steps; expected 0 or more",
                 (long long)steps);
    STRAKE_CHECK(!solver->is_broken, error, STRAKE_ERR_STATE,
                 "strake_step: a device of this solver failed for good; open another one");
    STRAKE_TRY(check_given(solver, error));
    if (!solver->placed) {
        STRAKE_TRY(place(solver, error));
    } else if (!solver->prepared) {
        STRAKE_TRY(strake_ranks_agree(solver->ranks, strake_inputs_prepare(solver, error), error));
    }
    if (solver->ghosts_stale) {
        STRAKE_TRY(strake_border_refresh(solver, error));
        solver->ghosts_stale = false;
    }
    if (run_together(solver, steps, &cause) != STRAKE_OK) {
        status = lose_states(solver, &cause, error);
    }
cleanup:
    return status;
}

strake_status strake_solver_gather(strake_solver *solver, strake_error *error)
{
    strake_error cause = {STRAKE_OK, ""};
    const int64_t step = solver->step_count;
    while (strake_team_gather(solver, &cause) != STRAKE_OK) {
        if (strake_rescue(solver, &cause, &cause) != STRAKE_OK ||
            run_to(solver, step, &cause) != STRAKE_OK) {
            return lose_states(solver, &cause, error);
        }
    }
    return STRAKE_OK;
}

int64_t strake_step_count(const strake_solver *solver)
{
    return solver->step_count;
}

size_t strake_element_size(const strake_solver *solver)
{
    return (size_t)solver->layout.element_size;
}

static void describe(const strake_solver *solver, const strake_part *part, strake_placement *out)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->id, sizeof out->id, "%s", part->name);
    (void)snprintf(out->role, sizeof out->role, "%s", part->ops->role);
    out->threads = 1;
    out->bit_exact = part->device == NULL || part->device->bit_exact[solver->which->precision] == 1;
    out->borders.measured_down = out->borders.measured_up = (double)NAN;
    strake_part_describe(part, out);
    if (part->ops->has_workers) {
        const bool binds = strake_topology_binds(&solver->topology, solver->threads);
        out->threads = solver->threads;
        out->levelled = solver->level.changes;
        out->teams = binds ? solver->topology.teams : 0;
        (void)snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
                       strake_isa_name(solver->isa));
    }
    if (part->device == NULL) {
        (void)snprintf(out->driver, sizeof out->driver, "%s", out->instruction_set);
    }
    strake_solver_describe_tuning(solver, part, out);
    strake_solver_describe_model(solver, part, out);
    out->first = part->range.first;
    out->end = part->range.end;
    out->sweep = solver->at_once;
    out->dropped_at = part->dropped ? part->dropped_at : -1;
    (void)snprintf(out->why_dropped, sizeof out->why_dropped, "%s", part->why);
    out->compute = part->compute;
    out->exchange = part->exchange;
    out->idle = part->idle;
    out->updates = part->updates;
}

int strake_solver_placements(const strake_solver *solver, strake_placement *out, int most)
{
    if (solver->remote.placement != NULL) {
        for (int k = 0; k < solver->remote.placements && k < most && out != NULL; k++) {
            out[k] = solver->remote.placement[k];
        }
        return solver->remote.placements;
    }
    for (int e = 0; e < solver->parts && e < most && out != NULL; e++) {
        describe(solver, &solver->part[e], &out[e]);
    }
    return solver->parts;
}

int strake_solver_steps_at_once(const strake_solver *solver)
{
    return solver->at_once > 1 ? solver->at_once : 1;
}

int strake_solver_choices(const strake_solver *solver, const strake_choice **out)
{
    *out = solver->choice;
    return solver->choices;
}

strake_status strake_solver_predict(strake_solver *solver, strake_forecast *out,
                                    strake_error *error)
{
    if (!solver->placed || !solver->part[0].ops->is_tried) {
        return strake_fail(error, STRAKE_ERR_STATE, "there is no team to be timed");
    }
    return strake_time_often(solver, out, error);
}

int strake_solver_decisions(const strake_solver *solver, const strake_decision **out)
{
    *out = solver->log.decision;
    return solver->log.count;
}

double strake_solver_setup_seconds(const strake_solver *solver)
{
    return solver->setup_seconds;
}

double strake_solver_step_seconds(const strake_solver *solver)
{
    return solver->step_seconds;
}

int strake_solver_bytes_per_cell(const strake_solver *solver)
{
    return strake_graph_bytes(&solver->graph);
}

int strake_solver_flops_per_cell(const strake_solver *solver)
{
    const strake_ops ops = strake_graph_ops(&solver->graph);
    return ops.adds + ops.muls + ops.divs;
}

int strake_solver_divisions_per_cell(const strake_solver *solver)
{
    return strake_graph_ops(&solver->graph).divs;
}

int strake_solver_arrays(const strake_solver *solver)
{
    int arrays = 0;
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        arrays += solver->array[0][v] != NULL ? 1 : 0;
        arrays += solver->array[1][v] != solver->array[0][v] ? 1 : 0;
    }
    return arrays;
}

strake_status strake_solver_hash(strake_solver *solver, uint64_t *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const uint64_t graph = strake_graph_hash(&solver->graph);
    uint64_t hash = strake_fnv1a(strake_case_hash(solver->which), &graph, sizeof graph);
    for (int f = 0; f < solver->which->problem->fields && !solver->is_hashed; f++) {
        if (!solver->which->problem->field[f].is_state && !solver->constant[f]) {
            STRAKE_TRY(strake_fields_hash(solver, f, &hash, error));
        }
    }
    solver->hash = solver->is_hashed ? solver->hash : hash;
    solver->is_hashed = true;
    *out = solver->hash;
cleanup:
    return status;
}

void strake_solver_set_step_count(strake_solver *solver, int64_t steps)
{
    solver->step_count = steps;
    strake_keep_forget(solver);
}
