/* Opening a solver: where it runs, its fields, its parts; and closing it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "case/settings.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "engine/balance.h"
#include "grid/grid.h"
#include "run/border.h"
#include "run/exchange.h"
#include "run/regroup.h"
#include "run/within.h"
#include "run/choose.h"
#include "run/rescue.h"
#include "particles/domain.h"
#include "solver/solver_impl.h"
#include "run/costs.h"

/*
 * Opening a solver, and `auto` of a domain whose steps cannot be tried and taken back: every part that may take it makes some
 * steps alone, then all together, in a solver of its own, and the fastest has it. For others host/run/choose.c chooses.
 */

enum { MOST_STEPS = 256 };

/* Parts together must make a step shorter by this factor than the fastest one alone. */
static const double least_gain = 1.03;

/* Steps that decide take so long [s]. */
static const double enough = 0.1;

static bool solver_is_lone(const strake_case *which);
static strake_status solver_open(const strake_case *which, const strake_options *options,
                                 strake_ranks *ranks, strake_cl_batch *batch, strake_solver **out,
                                 strake_error *error);

/* Seconds per step of a solver that has begun: pieces twice as long as the last one, until one suffices. */
static strake_status time_steps(strake_solver *solver, double *seconds, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double took = 0.0;
    STRAKE_TRY(strake_step(solver, 1, error));
    for (int64_t steps = 1; took < enough && steps <= MOST_STEPS; steps *= 2) {
        const double begin = strake_solver_step_seconds(solver);
        const int64_t before = strake_step_count(solver);
        STRAKE_TRY(strake_step(solver, steps, error));
        took = strake_solver_step_seconds(solver) - begin;
        const int64_t done = strake_step_count(solver) - before;
        if (done == 0) {
            break; /* the case has ended */
        }
        *seconds = took / (double)done;
    }
cleanup:
    return status;
}

/* A place, and what was measured there. */
typedef struct place {
    char name[24];
    bool is_team;
    double seconds; /* of a step; INFINITY: it cannot */
} place;

/* Seconds of a step there; one that cannot take it is told, and left out. */
static strake_status time_place(const strake_case *which, const strake_options *options,
                                const strake_notices *notices, place *p, strake_error *error)
{
    strake_options alone = *options;
    strake_solver *other = NULL;
    alone.where = p->name;
    alone.notice = NULL;
    alone.progress = NULL;
    p->seconds = (double)INFINITY;
    strake_status status = solver_open(which, &alone, NULL, NULL, &other, error);
    if (status == STRAKE_OK) {
        status = time_steps(other, &p->seconds, error);
    }
    strake_close(&other);
    if (status != STRAKE_OK) {
        p->seconds = (double)INFINITY;
        strake_tell(notices, "auto: %s is left out: %s", p->name, error->text);
    }
    return status;
}

enum { MOST_PLACES = STRAKE_MAX_PARTS + 2 };

static void add_place(place *all, int *count, const char *name, bool is_team)
{
    (void)snprintf(all[*count].name, sizeof all->name, "%s", name);
    all[(*count)++].is_team = is_team;
}

/* The processors and every GPU, of equal ones the first; then GPUs together, and all. @return how many */
static int lone_find_places(const strake_cl_list *list, place out[MOST_PLACES])
{
    const int gpus = strake_cl_list_gpus(list);
    int count = 0;
    add_place(out, &count, "cpu", false);
    for (int d = 0; d < gpus && count < STRAKE_MAX_PARTS; d++) {
        char name[sizeof out->name];
        bool is_new = true;
        for (int k = 0; k < d; k++) {
            is_new = is_new && strcmp(list->device[k].name, list->device[d].name) != 0;
        }
        (void)snprintf(name, sizeof name, "ocl:%d", d);
        if (is_new) {
            add_place(out, &count, name, false);
        }
    }
    if (gpus > 1) {
        add_place(out, &count, "gpu", true);
    }
    if (gpus > 0) {
        add_place(out, &count, "hybrid", true);
    }
    return count;
}

/* Measures all places. @param[out] best  the fastest of them */
static strake_status choose(const strake_case *which, const strake_options *options, int places,
                            place *all, int *best, strake_error *error)
{
    const strake_notices notices = {options->notice, options->user};
    strake_status status = STRAKE_OK;
    *best = -1;
    for (int k = 0; k < places; k++) {
        status = time_place(which, options, &notices, &all[k], error);
        const double price = all[k].is_team ? least_gain : 1.0;
        if (status == STRAKE_OK && (*best < 0 || price * all[k].seconds < all[*best].seconds)) {
            *best = k;
        }
    }
    if (*best < 0) {
        return status; /* with the last one's reason */
    }
    strake_tell(&notices, "auto: %s, about %.3g ms a step", all[*best].name,
                1e3 * all[*best].seconds);
    return STRAKE_OK;
}

strake_status strake_open_on(const strake_case *which, const strake_options *options,
                             strake_ranks *ranks, strake_cl_batch *batch, strake_solver **out,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_list list = {0};
    place *all = NULL; /* some threads that open a solver have little stack */
    int places = 1, best = -1;
    const double begin = strake_clock_seconds();
    strake_options chosen = options != NULL ? *options : (strake_options){0};
    const char *const where = chosen.where != NULL ? chosen.where : which->run.on;
    if (solver_is_lone(which) && ranks == NULL && (where == NULL || strcmp(where, "auto") == 0)) {
        all = calloc(MOST_PLACES, sizeof *all);
        STRAKE_CHECK(all != NULL, error, STRAKE_ERR_MEMORY, "out of memory opening a solver");
        STRAKE_TRY(strake_cl_list_open(&list, error));
        strake_cl_list_tell(&list, false, chosen.notice, chosen.user);
        places = lone_find_places(&list, all);
    }
    if (places > 1) {
        STRAKE_TRY(choose(which, &chosen, places, all, &best, error));
        chosen.where = all[best].name;
    }
    STRAKE_TRY(solver_open(which, options != NULL || places > 1 ? &chosen : NULL, ranks, batch, out,
                           error));
    for (int k = 0; k < places && places > 1; k++) {
        const bool has = isfinite(all[k].seconds);
        strake_tell_choice_of(&(*out)->pace, all[k].name, has ? all[k].seconds : 0.0, false,
                              !has             ? "it failed"
                              : all[k].is_team ? "measured together"
                                               : "measured alone");
    }
    if (places > 1) {
        strake_tell_choice_of(&(*out)->pace, all[best].name, all[best].seconds, true,
                              "the fastest");
        (*out)->setup_seconds = strake_clock_seconds() - begin; /* with these trials */
    }
cleanup:
    free(all);
    strake_cl_list_free(&list);
    return status;
}

strake_status strake_open(const strake_case *which, const strake_options *options,
                          strake_solver **out, strake_error *error)
{
    /* Before anything that takes some of the stack itself. */
    const strake_status status =
        strake_threads_need(STRAKE_STACK_OF_CALLER, "opening a solver", error);
    return status == STRAKE_OK ? strake_open_on(which, options, NULL, NULL, out, error) : status;
}

/* What a user is told while stripes are made: which stream, and which settings have no effect. */

/** Tells where the CPU stripe has fewer threads than were asked for, once it is placed. */
static void notices_threads(const strake_solver *solver)
{
    for (int e = 0; e < solver->team.parts && solver->team.threads_chosen; e++) {
        const strake_part *part = &solver->team.part[e];
        const int64_t slabs = part->range.end - part->range.first;
        if (part->ops->has_workers && slabs > 0 &&
            solver->team.threads < solver->team.most_threads) {
            strake_tell(&solver->team.notices,
                        "threads: %d, but the %lld %s of the CPU stripe are work for %d: "
                        "so many run",
                        solver->team.most_threads, (long long)slabs,
                        solver->which->problem->dims == 3 ? "planes" : "rows",
                        solver->team.threads);
        }
    }
}

/* What takes part, once slabs are placed without parts that have none; without kernels and blocks. */
static unsigned find_present(const strake_solver *solver, bool is_placed)
{
    unsigned present = STRAKE_FOR_TEAM;
    const bool is_within = strake_is_within(&solver->group);
    present |= solver->domain->ranks != NULL ? STRAKE_FOR_RANKS : 0U;
    present |= solver->domain->ranks != NULL && !is_within ? STRAKE_FOR_BORDERS : 0U;
    present |= solver->team.roles > 1 && !is_within ? STRAKE_FOR_SEVERAL : 0U;
    present |= solver->which->run.balance - 1 == STRAKE_BALANCE_SLICE ? STRAKE_FOR_SLICES : 0U;
    for (int e = 0; e < solver->team.parts; e++) {
        const strake_part *const part = &solver->team.part[e];
        if (!is_placed || strake_part_has_slabs(part)) {
            present |= part->ops->settings;
        }
    }
    return present;
}

static const unsigned kernels_of = STRAKE_FOR_MARCHING | STRAKE_FOR_TILED | STRAKE_FOR_UNTILED |
                                   STRAKE_FOR_KERNELS | STRAKE_FOR_PARTICLES;

static const unsigned of_particles = STRAKE_FOR_PARTICLES | STRAKE_FOR_SWARMS;

/*
 * Tells which of the given keys have no effect, since nothing that they apply to is @p present: of those that
 * apply to all of @p must and to nothing beyond @p may (strake_setting_for; the tuner does not count).
 */
static void tell_idle(const strake_solver *solver, unsigned present, unsigned must, unsigned may,
                      const char *why)
{
    char text[512] = "";
    int given = 0;
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        const unsigned all = at->applies & ~(unsigned)STRAKE_FOR_TUNER;
        /* What a key is for particles does not matter to grids. */
        const unsigned applies =
            (present & of_particles) == 0 && (all & ~of_particles) != 0 ? all & ~of_particles : all;
        if ((applies & present) == 0 && (must & ~applies) == 0 && (applies & ~may) == 0 &&
            strake_setting_is_given(&solver->which->run, at)) {
            const size_t used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, "%s%s", given > 0 ? ", " : "",
                           at->path);
            given++;
        }
    }
    if (given > 0) {
        strake_tell(&solver->team.notices, "%s %s no effect: %s", text, given > 1 ? "have" : "has",
                    why);
    }
}

/* What the device stripes turned out to be. */
typedef struct traits {
    int resident, streaming; /* stripes */
    int marching, tiled;     /* stripes of such kernels */
    int kernels;             /* of a step, the most */
    int sized;               /* of these, whose groups can have sizes of their own */
    int limitable;           /* stripes whose compiler can be told a limit on registers */
} traits;

static traits find_traits(const strake_solver *solver)
{
    traits t = {0};
    for (int e = 0; e < solver->team.parts; e++) {
        const strake_part *part = &solver->team.part[e];
        strake_part_report is = {0};
        if (!part->ops->has_driver || part->body == NULL) {
            continue;
        }
        strake_part_describe(part, &is);
        t.streaming += is.memory.sizes.blocks > 0 ? 1 : 0;
        t.resident += is.memory.sizes.blocks > 0 ? 0 : 1;
        t.marching += is.kernels.marching > 0 ? 1 : 0;
        t.tiled += is.kernels.tiled > 0 ? 1 : 0;
        t.kernels = is.kernels.count > t.kernels ? is.kernels.count : t.kernels;
        t.sized += is.kernels.count - is.kernels.tiled;
        t.limitable += is.kernels.limitable ? 1 : 0;
    }
    return t;
}

/* Sizes for more kernels than there are. */
static void tell_groups(const strake_solver *solver, int kernels)
{
    strake_group group[STRAKE_MOST_GROUPS];
    const int sizes = strake_groups_read(solver->which->run.groups, group);
    if (sizes > kernels) {
        strake_tell(&solver->team.notices,
                    "run.groups has sizes for %d kernels, but a step has %d: the last %d "
                    "%s no effect",
                    sizes, kernels, sizes - kernels, sizes - kernels > 1 ? "have" : "has");
    }
}

/* Whether a kernel's groups are smaller than they are asked for. Marching kernels and tiled ones have rules of their own. */
static bool are_clipped(const char *asked, const char *taken)
{
    strake_group want[STRAKE_MOST_GROUPS], have[STRAKE_MOST_GROUPS];
    const int wanted = strake_groups_read(asked, want), had = strake_groups_read(taken, have);
    bool are = false;
    for (int k = 0; k < wanted && k < had; k++) {
        are = are || want[k].width > have[k].width || want[k].height > have[k].height;
    }
    return are;
}

/* Numbers that are given and not taken as they are, because the kernels or their device do not allow them. */
static void tell_changed(const strake_solver *solver, unsigned present)
{
    const strake_settings *const given = &solver->which->run;
    for (int e = 0; e < solver->team.parts; e++) {
        const strake_part *const part = &solver->team.part[e];
        strake_part_report is = {0};
        if (!part->ops->has_driver || part->body == NULL || !strake_part_has_slabs(part)) {
            continue;
        }
        strake_part_describe(part, &is);
        for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
            char asked[STRAKE_GROUPS_TEXT], taken[STRAKE_GROUPS_TEXT];
            const bool is_number = at->kind == STRAKE_SETTING_NUMBER ||
                                   at->kind == STRAKE_SETTING_EVEN ||
                                   at->kind == STRAKE_SETTING_WIDTH;
            const bool are_groups = at->kind == STRAKE_SETTING_GROUPS && is.kernels.marching == 0 &&
                                    is.kernels.tiled == 0 && !is.kernels.of_particles;
            if (!(is_number || are_groups) || (at->applies & kernels_of & present) == 0 ||
                !strake_setting_is_given(given, at)) {
                continue;
            }
            (void)strake_setting_text(given, at, asked, sizeof asked);
            (void)strake_setting_text(&is.kernels.used, at, taken, sizeof taken);
            if (are_groups ? are_clipped(asked, taken) : strcmp(asked, taken) != 0) {
                strake_tell(&solver->team.notices,
                            "%s is %s, but %s is taken on %s: its kernels or its driver allow no "
                            "more, or need a multiple",
                            at->path, asked, taken, part->name);
            }
        }
    }
}

/* Kernels of particles are of one kind. */
static void tell_particles(const strake_solver *solver, unsigned present, const traits *t)
{
    present |= t->limitable > 0 ? STRAKE_FOR_LIMITS : 0U;
    tell_changed(solver, present);
    tell_idle(solver, present, STRAKE_FOR_LIMITS, STRAKE_FOR_LIMITS,
              "this device's compiler cannot be told a limit");
    tell_groups(solver, t->kernels);
}

/** Tells which of the given settings the parts that were made do not use. */
static void notices_effects(const strake_solver *solver)
{
    enum {
        EXCHANGING = STRAKE_FOR_CPU | STRAKE_FOR_BORDERS | STRAKE_FOR_SEVERAL | STRAKE_FOR_BLOCKS,
        FUSED = STRAKE_FOR_MARCHING | STRAKE_FOR_TILED
    };
    const traits t = find_traits(solver);
    unsigned present = find_present(solver, true);
    if (solver->pace.kind == STRAKE_WHERE_AUTO || t.resident + t.streaming == 0) {
        return;
    }
    if ((present & STRAKE_FOR_PARTICLES) != 0) {
        tell_particles(solver, present, &t);
        return;
    }
    present |= t.streaming > 0 ? STRAKE_FOR_BLOCKS : 0U;
    present |= t.marching > 0 ? STRAKE_FOR_MARCHING : 0U;
    present |= t.tiled > 0 ? STRAKE_FOR_TILED : 0U;
    present |= t.sized > 0 ? STRAKE_FOR_UNTILED : 0U;
    present |= t.limitable > 0 ? STRAKE_FOR_LIMITS : 0U;
    tell_changed(solver, present);
    tell_idle(solver, present, STRAKE_FOR_BLOCKS, STRAKE_FOR_BLOCKS,
              "the stripe fits in the device memory; run.blocks, or a cap run.device_memory, makes "
              "it stream");
    tell_idle(solver, present, EXCHANGING, EXCHANGING,
              "the stripe of a lone device lies in its memory, so that there is nothing to "
              "exchange");
    tell_idle(solver, present, STRAKE_FOR_UNTILED, STRAKE_FOR_UNTILED,
              "groups of tiled kernels are of run.group_width x run.group_height work-items");
    if (t.sized > 0) {
        tell_groups(solver, t.kernels);
    }
    tell_idle(solver, present, STRAKE_FOR_LIMITS, STRAKE_FOR_LIMITS,
              "this device's compiler cannot be told a limit");
    const int fusion = solver->which->run.fusion;
    tell_idle(solver, present, STRAKE_FOR_MARCHING, STRAKE_FOR_MARCHING,
              fusion == STRAKE_CL_FUSION_STREAM
                  ? "no kernel marches along rows"
                  : "no kernel marches along rows (run.fusion: stream)");
    if (t.marching + t.tiled == 0) {
        if (fusion == STRAKE_CL_FUSION_TILE) {
            strake_tell(
                &solver->team.notices,
                solver->which->n[1] > 1
                    ? "run.fusion: tile has no effect: tiles of run.group_width x run.group_height "
                      "x run.group_rows cells do not fit this device, or would load and compute "
                      "more than the point kernels that run; 8 x 8 x 4 are a beginning"
                    : "run.fusion: tile has no effect: tiles of run.group_width x run.group_rows "
                      "cells with run.group_width x run.group_height work-items do not fit this "
                      "device, or would load and compute more than the point kernels that run; "
                      "the defaults are 32 x 16 cells and 512 work-items");
            return;
        }
        tell_idle(solver, present, FUSED, FUSED,
                  fusion == STRAKE_CL_FUSION_STREAM
                      ? "no kernel marches along rows or computes tiles"
                      : "no kernel marches along rows or computes tiles (run.fusion: stream, "
                        "tile)");
        if (fusion == STRAKE_CL_FUSION_STREAM) {
            strake_tell(&solver->team.notices,
                        "run.fusion: stream has no effect: marching kernels do not fit "
                        "this device or do not pay, plain ones run");
        }
    }
}

/* Keys of the problem without effect, what is doubtful in them, and what its files made necessary. */
static void tell_keys(const strake_solver *solver)
{
    const strake_case *const which = solver->which;
    for (int k = 0; k < which->axes.notes; k++) {
        strake_tell(&solver->team.notices, "%s", which->axes.note[k]);
    }
    const strake_problem *const problem = which->problem;
    const char *const doubt = problem->warn != NULL ? problem->warn(which) : NULL;
    if (doubt != NULL) {
        strake_tell(&solver->team.notices, STRAKE_NOTICE_WARNING "%s", doubt);
    }
    for (int k = 0; k < problem->keys && problem->idle != NULL; k++) {
        const char *const why = which->given[k] ? problem->idle(which, k) : NULL;
        if (why != NULL) {
            strake_tell(&solver->team.notices, "%s has no effect: %s", problem->key[k].path, why);
        }
    }
}

/** Tells which keys of the case have no effect, once WHERE is resolved. */
static void notices_settings(const strake_solver *solver)
{
    tell_keys(solver);
    const unsigned present = find_present(solver, false);
    tell_idle(solver, present, STRAKE_FOR_SLICES, STRAKE_FOR_SLICES,
              "it is for run.balance: slice");
    const int cpus = solver->team.topology.cpus;
    const int teams = solver->which->run.teams;
    if ((present & STRAKE_FOR_CPU) != 0 && teams > cpus) {
        strake_tell(&solver->team.notices,
                    "run.teams: %d, but this process may use %d processor%s: so many teams are "
                    "made",
                    teams, cpus, cpus > 1 ? "s" : "");
    }
    if ((present & STRAKE_FOR_RANKS) == 0) {
        tell_idle(solver, present, 0,
                  STRAKE_FOR_RANKS | ((present & of_particles) == 0 ? STRAKE_FOR_BORDERS : 0U),
                  "no other rank takes part");
    }
    if ((present & of_particles) != 0) {
        const bool has_device = (present & STRAKE_FOR_PARTICLES) != 0;
        tell_idle(solver, present | (has_device ? STRAKE_FOR_LIMITS : 0U), 0,
                  ~(unsigned)(STRAKE_FOR_RANKS | STRAKE_FOR_SLICES),
                  has_device ? "particles do not use it" : "particles on the CPU do not use it");
        return;
    }
    if (solver->pace.kind == STRAKE_WHERE_AUTO) {
        return; /* the settings are for whatever is chosen */
    }
    tell_idle(solver, present, STRAKE_FOR_PARTICLES, of_particles, "it is for particles");
    if ((present & STRAKE_FOR_OPENCL) == 0) {
        tell_idle(solver, present, 0, STRAKE_FOR_DEVICES, "no OpenCL device takes part");
    }
    tell_idle(solver, present, STRAKE_FOR_OPENCL | STRAKE_FOR_BORDERS,
              STRAKE_FOR_OPENCL | STRAKE_FOR_BORDERS,
              "no OpenCL device and no other rank takes part");
    tell_idle(solver, present, STRAKE_FOR_CPU, STRAKE_FOR_CPU | STRAKE_FOR_SWARMS,
              "no `cpu` stripe takes part");
}

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
        STRAKE_TRY(strake_ranks_pick(solver->domain->ranks, "--on", where, own_where,
                                     sizeof own_where, error));
        where = own_where;
    }
    if (split != NULL) {
        STRAKE_TRY(strake_ranks_pick(solver->domain->ranks, "--split", split, own_split,
                                     sizeof own_split, error));
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
    notices_effects(solver);
    notices_threads(solver);
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
    notices_settings(solver);
    STRAKE_TRY(begin_domain(solver, error));
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
        *complete = *complete && strake_solver_field(solver, f).has_values;
    }
cleanup:
    return status;
}

/* What a case is of: the one place where it is asked. */
static const strake_domain_kind *kind_of(const strake_case *which)
{
    return which->problem->has_particles ? &strake_particles_kind : &strake_grid_kind;
}

/** Whether one part of one process computes all of a case. */
static bool solver_is_lone(const strake_case *which)
{
    return kind_of(which)->cpu->meets_within;
}

/** strake_open_on() where it is known who computes, or the team finds it. */
static strake_status solver_open(const strake_case *which, const strake_options *options,
                                 strake_ranks *ranks, strake_cl_batch *batch, strake_solver **out,
                                 strake_error *error)
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
    solver->domain->stages = 1;
    solver->team.which = which;
    solver->team.domain = solver->domain;
    solver->team.batch = batch;
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
    if (solver->team.batch == NULL) {
        strake_cl_list_free(&solver->team.list);
    }
    strake_tuned_free(&solver->tuned);
    strake_costs_free(&solver->team);
    free(solver->cache);
    free(solver);
}
