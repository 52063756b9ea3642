/*
 * In which order a worker of the CPU stripe computes its slabs: first those that its neighbours on devices
 * and on other ranks wait for, unless nothing is to overlap (run.overlap: off).
 *
 * A device may go on when the workers beside it have finished their borders (strake_role.bordered). These
 * are as wide as what either reads of the other: the worker's other slabs read none of the device's, so
 * that the device may write its next ones, and the device reads none of the worker's other ones.
 */
#include "solver/border.h"

enum {
    /* Slabs: with fewer a role's borders are not computed apart. Those beside devices of the team may be
       many, since such workers have fewer slabs (strake_workers_share). */
    INTERIOR_PER_BORDER = 4,
    INTERIOR_BESIDE = 1
};

strake_range strake_range_cut(strake_range a, strake_range b)
{
    strake_range both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
    both.end = both.end < both.first ? both.first : both.end;
    return both;
}

/* Widens the borders of a range by what lies beside slabs of a device, here or a period away. */
static void add_device(const strake_solver *solver, strake_range device, int64_t most,
                       strake_range range, strake_range out[2])
{
    const int64_t n = solver->layout.n[0];
    const int rounds = solver->layout.boundary[0] == STRAKE_PERIODIC ? 1 : 0;
    for (int round = -rounds; round <= rounds; round++) {
        const strake_range after = {device.end + round * n, device.end + round * n + most};
        const strake_range before = {device.first + round * n - most, device.first + round * n};
        const strake_range low = strake_range_cut(range, after);
        const strake_range high = strake_range_cut(range, before);
        if (low.first < low.end && low.end > out[0].end) {
            out[0].end = low.end;
        }
        if (high.first < high.end && high.first < out[1].first) {
            out[1].first = high.first;
        }
    }
}

static void find_beside(const strake_solver *solver, int steps, strake_range range,
                        strake_range out[2])
{
    int64_t depth[2];
    strake_border_depth(solver, steps, depth);
    const int64_t most = solver->one_way       ? depth[0] + depth[1]
                         : depth[0] > depth[1] ? depth[0]
                                               : depth[1];
    out[0] = (strake_range){range.first, range.first};
    out[1] = (strake_range){range.end, range.end};
    for (int e = 0; e < solver->entries; e++) {
        const strake_range device = solver->entry[e].range;
        if (solver->entry[e].place == STRAKE_PLACE_OPENCL && device.first < device.end) {
            add_device(solver, device, most, range, out);
        }
    }
}

static int64_t length(const strake_range border[2])
{
    return border[0].end - border[0].first + border[1].end - border[1].first;
}

bool strake_border_is_apart(const strake_solver *solver, strake_range range, bool apart[2])
{
    strake_range beside[2];
    find_beside(solver, solver->sweep, range, beside);
    const int64_t borders = length(beside);
    const bool is_apart = solver->which->overlap != STRAKE_CL_OVERLAP_OFF && borders > 0 &&
                          range.end - range.first >= (1 + INTERIOR_BESIDE) * borders;
    for (int side = 0; side < 2; side++) {
        apart[side] = is_apart && beside[side].first < beside[side].end;
    }
    return is_apart;
}

static void plan_parts(strake_role *role, const strake_range border[2], int least, bool apart)
{
    strake_range rest = role->range;
    const int64_t borders = length(border);
    role->parts = 0;
    role->border_parts = 0;
    if (!apart || borders == 0 || rest.end - rest.first < (1 + least) * borders) {
        role->part[role->parts++] = rest;
        role->border_parts = 1;
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (border[side].first < border[side].end) {
            role->part[role->parts++] = border[side];
        }
    }
    rest.first = border[0].end;
    rest.end = border[1].first;
    role->border_parts = role->parts;
    role->part[role->parts++] = rest;
}

void strake_border_mark(strake_solver *solver)
{
    const bool apart = solver->which->overlap != STRAKE_CL_OVERLAP_OFF;
    const int least = solver->border != NULL ? INTERIOR_PER_BORDER : INTERIOR_BESIDE;
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        strake_range border[2] = {{role->range.first, role->range.first},
                                  {role->range.end, role->range.end}};
        role->linked = false;
        if (role->range.first < role->range.end) {
            if (role->worker >= 0) {
                find_beside(solver, solver->at_once, role->range, border);
            }
            strake_border_cut(solver, role, border);
        }
        plan_parts(role, border, least, apart);
    }
}

/* Slabs [first, end) of the grid, stored `down` places lower. */
static bool run_moved(strake_solver *solver, strake_role *role, int parity, int steps,
                      strake_range range, int64_t down)
{
    void *next[STRAKE_MAX_VALUES];
    const strake_layout *l = &solver->layout;
    for (int v = 0; v < solver->graph.values; v++) {
        char *const array = solver->next[parity][v];
        next[v] = array != NULL ? array - down * l->slab * l->element_size : NULL;
    }
    return range.first >= range.end ||
           strake_pipeline_run(role->pipeline, steps, range.first, range.end, role->columns.first,
                               role->columns.end, solver->array[parity], next);
}

/* One part of a role: one way its slabs are those a little further up, round the end of the grid. */
static bool run_part(strake_solver *solver, strake_role *role, int parity, int steps,
                     strake_range part)
{
    const int64_t n = solver->layout.n[0];
    const int64_t down = strake_border_shift(solver, steps);
    const strake_range up = {part.first + down, part.end + down};
    const strake_range inside = {up.first < n ? up.first : n, up.end < n ? up.end : n};
    const strake_range beyond = {up.first > n ? up.first - n : 0, up.end > n ? up.end - n : 0};
    const bool finite = run_moved(solver, role, parity, steps, inside, down);
    return run_moved(solver, role, parity, steps, beyond, down - n) && finite;
}

bool strake_border_compute(strake_solver *solver, strake_role *role, int parity, int steps)
{
    bool finite = true;
    for (int k = 0; k < role->parts; k++) {
        const double begin = strake_solver_clock();
        finite = run_part(solver, role, parity, steps, role->part[k]) && finite;
        strake_recorder_add(solver, role, begin, k + 1 < role->parts ? "border rows" : "rows");
        if (k + 1 == role->border_parts && finite) {
            strake_neighbours_bordered(role, steps);
        }
    }
    return finite;
}
