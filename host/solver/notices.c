/* What a user is told while stripes are made: which stream, and which settings have no effect. */
#include <stdio.h>
#include <string.h>

#include "case/settings.h"
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

/* Appends the keys of a list that the case gives. @return their number */
static int list_given(const strake_case *which, const char *const *path, char *text, size_t size)
{
    int given = 0;
    text[0] = '\0';
    for (; *path != NULL; path++) {
        const bool is_given =
            strake_setting_is_given(which, *path) ||
            (which->device_memory > 0 && strcmp(*path, "run.device_memory") == 0) ||
            (which->dump_kernels != NULL && strcmp(*path, "run.dump_kernels") == 0) ||
            (which->shares != NULL && strcmp(*path, "run.shares") == 0);
        if (is_given) {
            const size_t used = strlen(text);
            (void)snprintf(text + used, size - used, "%s%s", given > 0 ? ", " : "", *path);
            given++;
        }
    }
    return given;
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
        strake_placement is = {0};
        if (part->device == NULL || part->body == NULL) {
            continue;
        }
        strake_part_describe(part, &is);
        t.streaming += is.blocks > 0 ? 1 : 0;
        t.resident += is.blocks > 0 ? 0 : 1;
        t.marching += is.kernels.marching > 0 ? 1 : 0;
        t.tiled += is.kernels.tiled > 0 ? 1 : 0;
        t.kernels = is.kernels.count > t.kernels ? is.kernels.count : t.kernels;
        t.sized += is.kernels.count - is.kernels.tiled;
        t.limitable += is.kernels.limitable ? 1 : 0;
    }
    return t;
}

static void tell_given(const strake_solver *solver, const char *const *path, const char *why)
{
    char text[512];
    const int given = list_given(solver->which, path, text, sizeof text);
    if (given > 0) {
        strake_tell(&solver->team.notices, "%s %s no effect: %s", text, given > 1 ? "have" : "has",
                    why);
    }
}

/* Sizes for more kernels than there are. */
static void tell_groups(const strake_solver *solver, int kernels)
{
    strake_group group[STRAKE_MOST_GROUPS];
    const int sizes = strake_groups_read(solver->which->groups, group);
    if (sizes > kernels) {
        strake_tell(&solver->team.notices,
                    "run.groups has sizes for %d kernels, but a step has %d: the last %d "
                    "%s no effect",
                    sizes, kernels, sizes - kernels, sizes - kernels > 1 ? "have" : "has");
    }
}

void strake_notices_effects(const strake_solver *solver)
{
    static const char *const groups[] = {"run.groups", NULL};
    static const char *const streams[] = {"run.streams", NULL};
    static const char *const steps[] = {"run.steps_per_sweep", NULL};
    static const char *const registers[] = {"run.registers", NULL};
    static const char *const marching[] = {"run.keep", "run.unroll", "run.vector", NULL};
    static const char *const either[] = {"run.group_rows", "run.hold", "run.prefetch", NULL};
    const traits t = find_traits(solver);
    if (solver->pace.kind == STRAKE_WHERE_AUTO || t.resident + t.streaming == 0) {
        return;
    }
    if (t.streaming == 0) {
        tell_given(solver, streams,
                   "the stripe fits in the device memory; run.blocks, or a cap "
                   "run.device_memory, makes it stream");
    }
    if (solver->team.roles == 1 && t.resident == 1 && solver->grid.domain.ranks == NULL) {
        tell_given(solver, steps,
                   "the stripe of a lone device lies in its memory, so that "
                   "there is nothing to exchange");
    }
    if (t.sized > 0) {
        tell_groups(solver, t.kernels);
    } else {
        tell_given(solver, groups,
                   "groups of tiled kernels are of run.group_width x run.group_height work-items");
    }
    if (t.limitable == 0) {
        tell_given(solver, registers, "this device's compiler cannot be told a limit");
    }
    const int fusion = solver->which->fusion;
    if (t.marching == 0) {
        tell_given(solver, marching,
                   fusion == STRAKE_CL_FUSION_STREAM
                       ? "no kernel marches along rows"
                       : "no kernel marches along rows (run.fusion: stream)");
    }
    if (t.marching + t.tiled == 0) {
        if (fusion == STRAKE_CL_FUSION_TILE) {
            strake_tell(
                &solver->team.notices,
                solver->which->n[1] > 1
                    ? "run.fusion: tile has no effect: tiles are for two dimensions, point kernels "
                      "run; stream is for three"
                    : "run.fusion: tile has no effect: tiles of run.group_width x run.group_rows "
                      "cells with run.group_width x run.group_height work-items do not fit this "
                      "device, or would load and compute more than the point kernels that run; "
                      "the defaults are 32 x 16 cells and 512 work-items");
            return;
        }
        tell_given(solver, either,
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

void strake_notices_settings(const strake_solver *solver)
{
    static const char *const devices[] = {
        "run.group_width", "run.group_height", "run.groups", "run.group_rows", "run.device_memory",
        "run.blocks",      "run.streams",      "run.wait",   "run.fusion",     "run.division",
        "run.hold",        "run.keep",         "run.unroll", "run.prefetch",   "run.registers",
        "run.vector",      "run.dump_kernels", NULL};
    static const char *const exchanging[] = {"run.overlap", NULL};
    static const char *const ranks[] = {"run.shares", "run.exchange", "run.patience", NULL};
    static const char *const processors[] = {"run.threads", "run.teams", "run.instruction_set",
                                             "run.block_columns", NULL};
    char text[512];
    bool has_device = false;
    bool has_processor = false;
    for (int e = 0; e < solver->team.parts; e++) {
        has_device = has_device || solver->team.part[e].device != NULL;
        has_processor = has_processor || solver->team.part[e].ops->has_workers;
    }
    if (has_processor && solver->which->teams > solver->team.topology.cpus) {
        strake_tell(&solver->team.notices,
                    "run.teams: %d, but this process may use %d processor%s: so many "
                    "teams are made",
                    solver->which->teams, solver->team.topology.cpus,
                    solver->team.topology.cpus > 1 ? "s" : "");
    }
    int given =
        solver->grid.domain.ranks != NULL ? 0 : list_given(solver->which, ranks, text, sizeof text);
    if (given > 0) {
        strake_tell(&solver->team.notices, "%s %s no effect: no other rank takes part", text,
                    given > 1 ? "have" : "has");
    }
    if (solver->pace.kind == STRAKE_WHERE_AUTO) {
        return; /* the settings are for whatever is chosen */
    }
    given = has_device ? 0 : list_given(solver->which, devices, text, sizeof text);
    if (given > 0) {
        strake_tell(&solver->team.notices, "%s %s no effect: no OpenCL device takes part", text,
                    given > 1 ? "have" : "has");
    }
    given = has_device || solver->grid.domain.ranks != NULL
                ? 0
                : list_given(solver->which, exchanging, text, sizeof text);
    if (given > 0) {
        strake_tell(&solver->team.notices,
                    "%s has no effect: no OpenCL device and no other rank takes part", text);
    }
    given = has_processor ? 0 : list_given(solver->which, processors, text, sizeof text);
    if (given > 0) {
        strake_tell(&solver->team.notices, "%s %s no effect: no `cpu` stripe takes part", text,
                    given > 1 ? "have" : "has");
    }
}
