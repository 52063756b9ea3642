/* What a user is told while stripes are made: which stream, and which settings have no effect. */
#include <stdio.h>
#include <string.h>

#include "case/settings.h"
#include "engine/balance.h"
#include "solver/solver_impl.h"

void strake_notices_threads(const strake_solver *solver)
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

void strake_notices_effects(const strake_solver *solver)
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

void strake_notices_settings(const strake_solver *solver)
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
