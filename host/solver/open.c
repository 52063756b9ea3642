/* Opening a solver: where it runs, its fields, its parts; and closing it. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "case/where.h"
#include "cpu/pipeline.h"
#include "cpu/threads.h"
#include "grid/grid.h"
#include "group/border.h"
#include "group/exchange.h"
#include "group/regroup.h"
#include "group/shares.h"
#include "group/within.h"
#include "pace/rescue.h"
#include "particles/domain.h"
#include "solver/solver_impl.h"
#include "team/costs.h"

/* Steps per sweep: as asked, else what the domain finds best; no more than it can. */
static int choose_sweep(const strake_solver *solver)
{
    const bool is_lone = solver->team.parts == 1 && solver->team.part[0].ops->has_workers;
    return solver->kind->sweep != NULL
               ? solver->kind->sweep(solver->domain, &solver->settings,
                                     is_lone ? solver->team.most_threads : 0)
               : 1;
}

static strake_status choose_instructions(strake_solver *solver, strake_error *error)
{
    const strake_isa asked = (strake_isa)solver->settings.instruction_set;
    const strake_isa best = strake_isa_best();
    const bool is_given = solver->which->run.instruction_set != 0;
    solver->team.isa =
        asked == STRAKE_ISA_SCALAR ? best : asked; /* the word in its place is auto */
    if (!strake_isa_is_there(solver->team.isa) && !is_given) {
        solver->team.isa = best; /* tuned on a similar processor */
    }
    if (!strake_isa_is_there(solver->team.isa)) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: run.instruction_set: %s, which this processor does not have or this "
            "program was not built for; its best is %s: use that, or auto",
            solver->which->file, strake_isa_name(asked), strake_isa_name(best));
    }
    return STRAKE_OK;
}

static strake_status begin_domain(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(solver->kind->begin(solver->domain, error));
    STRAKE_TRY(strake_solver_tune(solver, error));
    solver->team.asked = solver->settings.steps_per_sweep;
    solver->team.is_tuned = solver->tuned != NULL;
    STRAKE_TRY(strake_costs_load(&solver->team, solver->cache, error));
cleanup:
    return status;
}

/* Where to run: everything that can be wrong with it is found here, before any field is needed. */
static strake_status resolve(strake_solver *solver, const strake_options *options,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *where = options->where != NULL ? options->where : solver->which->run.on;
    const char *split = options->split != NULL ? options->split : solver->which->run.split;
    char own_where[512], own_split[512];
    if (where != NULL) {
        STRAKE_TRY(
            strake_shares_pick(&solver->group, "--on", where, own_where, sizeof own_where, error));
        where = own_where;
    }
    if (split != NULL) {
        STRAKE_TRY(strake_shares_pick(&solver->group, "--split", split, own_split, sizeof own_split,
                                      error));
        split = own_split;
    }
    where = where != NULL ? where : "auto";
    STRAKE_TRY(strake_where_resolve(solver, where, &solver->pace.kind, error));
    if (solver->pace.kind == STRAKE_WHERE_AUTO && solver->kind->cpu->meets_within) {
        solver->pace.kind =
            STRAKE_WHERE_LIST; /* of several ranks; nothing is tried: all take part */
    }
    if (split != NULL) {
        STRAKE_TRY(strake_where_weights(solver, split, solver->pace.weight, error));
        solver->team.has_weights = true;
    } else if (solver->team.parts == 1) {
        solver->pace.weight[0] = 1.0;
        solver->team.has_weights = true;
    }
cleanup:
    return status;
}

/* Some drivers compile at the first launch: that belongs to the set-up, not to the steps. */
static strake_status start_up(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_team_upload(&solver->team, error));
    STRAKE_TRY(solver->team.part[0].ops->is_tried ? strake_team_try(&solver->team, 1, error)
                                                  : STRAKE_OK);
cleanup:
    return status;
}

/* Says where fewer steps at once are possible than were asked for. */
static void tell_sweep(const strake_solver *solver)
{
    const int asked = solver->which->run.steps_per_sweep;
    const bool has_ranks = solver->domain->ranks != NULL;
    bool is_bound = has_ranks;
    for (int r = 0; r < solver->team.roles; r++) {
        is_bound = is_bound || solver->team.part[solver->team.role[r].part].ops->bounds_steps;
    }
    if (is_bound && asked > solver->team.at_once) {
        strake_tell(&solver->team.notices, "run.steps_per_sweep: %d; %s no more than %d", asked,
                    has_ranks ? "the ranks take" : "the CPU takes", solver->team.at_once);
    }
}

static strake_status place_parts(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (solver->team.has_weights) {
        strake_rescue_weights(&solver->pace, solver->pace.weight);
        STRAKE_TRY(strake_team_place(&solver->team, solver->pace.weight, error));
    } else {
        STRAKE_TRY(strake_balance(&solver->pace, error));
    }
    STRAKE_TRY(start_up(solver, error));
cleanup:
    return status;
}

static strake_status prepare(strake_solver *solver, strake_error *error)
{
    return solver->kind->prepare != NULL ? solver->kind->prepare(solver->domain, error) : STRAKE_OK;
}

strake_status strake_solver_place(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error cause = {STRAKE_OK, ""};
    STRAKE_TRY(strake_ranks_agree(solver->domain->ranks, prepare(solver, error), error));
    if (solver->domain->ranks != NULL) {
        STRAKE_TRY(strake_is_within(&solver->group) ? strake_within_place(&solver->group, error)
                                                    : strake_shares_place(&solver->group, error));
        STRAKE_TRY(strake_ranks_agree(solver->domain->ranks, start_up(solver, error), error));
        STRAKE_TRY(strake_ranks_agree(solver->domain->ranks,
                                      strake_regroup_begin(&solver->group, error), error));
    } else {
        /* Every failure drops a device, or ends this. */
        while (place_parts(solver, &cause) != STRAKE_OK) {
            STRAKE_TRY(strake_rescue_setup(&solver->pace, &cause, error));
        }
    }
    solver->placed = true;
    strake_rebalance_begin(&solver->pace);
    STRAKE_TRY(strake_keep(&solver->pace, error));
    strake_notices_streams(&solver->team);
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
    const strake_status status = strake_ranks_most(solver->domain->ranks, &least, 1, error);
    solver->team.sweep = (int)-least;
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
    STRAKE_TRY(strake_threads_need(STRAKE_STACK_OF_CALLER, "opening a solver", error));
    STRAKE_TRY(strake_workers_choose(&solver->team, options->threads, error));
    STRAKE_TRY(resolve(solver, options, error));
    strake_notices_settings(solver);
    STRAKE_TRY(begin_domain(solver, error));
    if (solver->kind->look != NULL) {
        solver->kind->look(solver->domain);
    }
cleanup:
    return status;
}

/* Most steps that a sweep of this domain can have. */
static int most_steps(strake_solver *solver)
{
    const int asked = solver->settings.steps_per_sweep;
    solver->settings.steps_per_sweep = STRAKE_MOST_AT_ONCE; /* a copy would take much of a stack */
    const int most = solver->kind->sweep(solver->domain, &solver->settings, 0);
    solver->settings.steps_per_sweep = asked;
    return most;
}

/*
 * Steps for which arrays have ghosts. Devices extend ghosts anew in every step, so that deep ones cost them and do
 * nothing: what workers beside them read further out they put together (cpu/pipeline.h). Slabs of ranks travel as they lie.
 */
static int ghost_steps(const strake_team *team, int most)
{
    enum { BESIDE_DEVICES = 2 };
    bool has_devices = false;
    for (int e = 0; e < team->parts; e++) {
        has_devices = has_devices || team->part[e].ops->has_driver;
    }
    return has_devices && team->domain->ranks == NULL && most > BESIDE_DEVICES ? BESIDE_DEVICES
                                                                               : most;
}

/*
 * Most steps that a sweep may get: more than usual of several ranks, where figures of them may choose, and where
 * stripes stream through devices, beside others. The columns that workers compute again for these are few of the grid's.
 */
static strake_status lay_out(strake_solver *solver, strake_error *error)
{
    enum { COLUMNS_PER_GHOST = 8 };
    strake_status status = STRAKE_OK;
    strake_team *const team = &solver->team;
    const strake_domain *const d = solver->domain;
    const bool has_ranks = d->ranks != NULL && solver->kind->sweep != NULL;
    const int depth = has_ranks
                          ? strake_exchange_deepest(&solver->group, team->sweep, most_steps(solver))
                          : team->sweep;
    const int ghosts = ghost_steps(team, depth);
    team->deepest = depth;
    STRAKE_TRY(solver->kind->lay_out(solver->domain, ghosts, error));
    if (d->ranks == NULL && solver->kind->sweep != NULL && team->asked == 0 && !d->is_adaptive &&
        strake_team_may_stream(team)) {
        const int64_t columns = (d->beside[0] + d->beside[1]) / ghosts;
        const int64_t room = 1 + d->columns / COLUMNS_PER_GHOST / (columns > 0 ? columns : 1);
        const int most = most_steps(solver);
        team->deepest = room > depth ? (int)(room < most ? room : most) : depth;
    }
cleanup:
    return status;
}

/* Arrays and initial fields. */
static strake_status make_fields(strake_solver *solver, bool *complete, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *which = solver->which;
    STRAKE_TRY(lay_out(solver, error));
    STRAKE_TRY(strake_shares_begin(&solver->group, error));
    STRAKE_TRY(choose_instructions(solver, error));
    STRAKE_TRY(strake_threads_start(solver->team.most_threads, error));
    STRAKE_TRY(solver->kind->make(solver->domain, &solver->team.list, error));
    *complete = true;
    for (int f = 0; f < which->problem->fields; f++) {
        *complete = *complete && solver->kind->has_values(solver->domain, f);
    }
cleanup:
    return status;
}

/* What a case is of: the one place where it is asked. */
static const strake_domain_kind *kind_of(const strake_case *which)
{
    return which->problem->has_particles ? &strake_particles_kind : &strake_grid_kind;
}

bool strake_solver_is_lone(const strake_case *which)
{
    return kind_of(which)->cpu->meets_within;
}

strake_status strake_solver_open(const strake_case *which, const strake_options *options,
                                 strake_ranks *ranks, strake_solver **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_options defaults = {0};
    const double start = strake_clock_seconds();
    bool complete = false;
    strake_solver *solver = calloc(1, sizeof *solver);
    STRAKE_CHECK(solver != NULL, error, STRAKE_ERR_MEMORY, "out of memory opening a solver");
    options = options != NULL ? options : &defaults;
    solver->process = strake_threads_process();
    solver->which = which;
    solver->kind = kind_of(which);
    solver->domain = solver->kind->create(which, &solver->team);
    STRAKE_CHECK(solver->domain != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory opening a solver");
    solver->domain->ranks = ranks;
    solver->team.which = which;
    solver->team.domain = solver->domain;
    solver->team.notices = (strake_notices){options->notice, options->user};
    strake_cl_watch_begin(&solver->team.watch, options->compiling, options->user);
    solver->progress = ranks == NULL ? options->progress : NULL;
    solver->progress_user = options->user;
    solver->pace.which = which;
    solver->pace.team = &solver->team;
    solver->pace.domain = solver->domain;
    solver->group.which = which;
    solver->group.ranks = ranks;
    solver->group.domain = solver->domain;
    solver->group.team = &solver->team;
    solver->group.pace = &solver->pace;
    STRAKE_TRY(strake_ranks_agree(ranks, find_places(solver, options, error), error));
    STRAKE_TRY(strake_exchange_load(&solver->group, solver->cache, error));
    STRAKE_TRY(agree_on_sweep(solver, error));
    STRAKE_TRY(strake_ranks_agree(ranks, make_fields(solver, &complete, error), error));
    if (complete && solver->domain->steady > 0) { /* what is prepared has the first step's length */
        STRAKE_TRY(strake_ranks_agree(ranks, solver->kind->change(solver->domain, error), error));
    }
    if (complete) {
        STRAKE_TRY(strake_solver_place(solver, error));
    }
    solver->setup_seconds = strake_clock_seconds() - start;
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
    *which = NULL;
    if (solver->process != strake_threads_process()) {
        return; /* fork()'s copy: waiting for its threads, or asking its drivers, would never end */
    }
    strake_border_destroy(&solver->group);
    strake_team_release(&solver->team);
    strake_regroup_end(&solver->group);
    if (solver->domain != NULL) {
        solver->kind->close(&solver->domain);
    }
    strake_rebalance_end(&solver->pace);
    strake_level_release(&solver->team.level);
    free(solver->group.owned);
    strake_exchange_free(&solver->group);
    free(solver->remote.report);
    free(solver->remote.parcel);
    strake_cl_list_free(&solver->team.list);
    strake_tuned_free(&solver->tuned);
    strake_costs_free(&solver->team);
    free(solver->cache);
    free(solver);
}
