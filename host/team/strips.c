/*
 * In which order a worker of the CPU stripe computes its slabs: first those that its neighbours on devices
 * and on other ranks wait for, unless nothing is to overlap (run.overlap: off).
 *
 * A device may go on when the workers beside it have finished their borders (strake_role.bordered). These
 * are as wide as what either reads of the other: the worker's other slabs read none of the device's, so
 * that the device may write its next ones, and the device reads none of the worker's other ones.
 */
#include "group/border.h"

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
    for (int e = 0; e < solver->parts; e++) {
        const strake_range device = solver->part[e].range;
        if (solver->part[e].device != NULL && device.first < device.end) {
            add_device(solver, device, most, range, out);
        }
    }
}

static int64_t length(const strake_range border[2])
{
    return border[0].end - border[0].first + border[1].end - border[1].first;
}

bool strake_strips_is_apart(const strake_solver *solver, strake_range range, bool apart[2])
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

static void plan_strips(strake_role *role, const strake_range border[2], int least, bool apart)
{
    strake_range rest = role->range;
    const int64_t borders = length(border);
    role->strips = 0;
    role->border_strips = 0;
    if (!apart || borders == 0 || rest.end - rest.first < (1 + least) * borders) {
        role->strip[role->strips++] = rest;
        role->border_strips = 1;
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (border[side].first < border[side].end) {
            role->strip[role->strips++] = border[side];
        }
    }
    rest.first = border[0].end;
    rest.end = border[1].first;
    role->border_strips = role->strips;
    role->strip[role->strips++] = rest;
}

void strake_strips_mark(strake_solver *solver)
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
        plan_strips(role, border, least, apart && role->worker >= 0);
        role->border_strips = role->worker >= 0 ? role->border_strips : 0;
    }
}

strake_status strake_strips_compute(strake_solver *solver, strake_role *role, int parity, int steps,
                                    bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_part *part = &solver->part[role->part];
    strake_leg leg = {.worker = role->worker >= 0 ? role->worker : 0,
                      .steps = steps,
                      .columns = role->columns,
                      .down = strake_border_shift(solver, steps),
                      .array = solver->array[parity],
                      .next = solver->next[parity]};
    *finite = true;
    for (int k = 0; k < role->strips && status == STRAKE_OK; k++) {
        const double begin = strake_solver_clock();
        bool strip_finite = true;
        leg.slabs = role->strip[k];
        status = part->ops->leg(part, &leg, &strip_finite, error);
        *finite = *finite && strip_finite;
        if (role->worker >= 0) {
            strake_recorder_add(solver, role, begin, k + 1 < role->strips ? "border rows" : "rows");
        }
        if (k + 1 == role->border_strips && *finite && status == STRAKE_OK) {
            strake_neighbours_bordered(role, steps);
        }
    }
    return status;
}
