/*
 * In which order a worker of the CPU stripe computes its slabs: first those that its neighbours on devices
 * and on other ranks wait for, unless nothing is to overlap (run.overlap: off).
 *
 * A device may go on when the workers beside it have finished their borders (strake_role.bordered). These
 * are as wide as what either reads of the other: the worker's other slabs read none of the device's, so
 * that the device may write its next ones, and the device reads none of the worker's other ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/recorder.h"
#include "run/team.h"

/*
 * Who waits for whom between two sweeps. A role may start the next one when every role whose slabs it
 * reads, or that reads its slabs, has finished this one: then its own operands are there and nobody
 * still reads what it is about to overwrite (states have two buffers). There is no global barrier; devices
 * wait for the borders of CPU workers only (strips.c).
 */

static bool reads_slabs(const strake_team *team, strake_range reader, strake_range owner)
{
    const strake_domain *d = team->domain;
    int64_t depth[2];
    strake_domain_reads(d, team->at_once, depth);
    for (int64_t k = reader.first - depth[0]; k < reader.end + depth[1]; k++) {
        if (k == reader.first) {
            k = reader.end;
            if (depth[1] == 0) {
                break;
            }
        }
        const int64_t source = strake_ghost_source(d->ends, d->slabs, k);
        if (source >= owner.first && source < owner.end) {
            return true;
        }
    }
    return false;
}

/* Columns around its own that a role reads, on either side, and as many to both of a periodic grid. */
static bool reads_columns(const strake_team *team, strake_range reader, strake_range owner)
{
    const strake_domain *d = team->domain;
    const int64_t n = d->columns;
    const int64_t most = d->beside[0] > d->beside[1] ? d->beside[0] : d->beside[1];
    const int64_t first = reader.first - most * team->at_once;
    const int64_t end = reader.end + most * team->at_once;
    const bool inside = first < owner.end && end > owner.first;
    return inside || (d->is_round && (first + n < owner.end || end - n > owner.first));
}

static bool reads(const strake_team *team, const strake_role *reader, const strake_role *owner)
{
    const bool same = reader->range.first == owner->range.first && reader->part == owner->part;
    return (same || reads_slabs(team, reader->range, owner->range)) &&
           reads_columns(team, reader->columns, owner->columns);
}

static bool has_cells(const strake_role *role)
{
    return role->range.first < role->range.end && role->columns.first < role->columns.end;
}

/* Finds how many neighbours lie between the first role and every other. @return the most; -1: apart */
static int find_distances(strake_team *team)
{
    bool grows = true;
    int most = -1;
    for (int r = 0; r < team->roles; r++) {
        team->role[r].distance = r == 0 ? 0 : -1;
    }
    while (grows) {
        grows = false;
        most++;
        for (int r = 0; r < team->roles; r++) {
            const strake_role *role = &team->role[r];
            for (int k = 0; k < role->neighbours && role->distance == most; k++) {
                strake_role *other = &team->role[role->neighbour[k]];
                grows = grows || other->distance < 0;
                other->distance = other->distance < 0 ? most + 1 : other->distance;
            }
        }
    }
    for (int r = 0; r < team->roles; r++) {
        most = has_cells(&team->role[r]) && team->role[r].distance < 0 ? -1 : most;
    }
    return most;
}

strake_status strake_neighbours_find(strake_team *team, strake_error *error)
{
    for (int r = 0; r < team->roles; r++) {
        strake_role *role = &team->role[r];
        role->neighbour = calloc((size_t)team->roles, sizeof *role->neighbour);
        if (role->neighbour == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the team");
        }
        for (int other = 0; other < team->roles && has_cells(role); other++) {
            const strake_role *its = &team->role[other];
            if (other != r && has_cells(its) &&
                (reads(team, role, its) || reads(team, its, role))) {
                role->neighbour[role->neighbours++] = other;
            }
        }
    }
    team->span = find_distances(team);
    return STRAKE_OK;
}

void strake_neighbours_start(strake_team *team)
{
    for (int r = 0; r < team->roles; r++) {
        strake_bell_ring(&team->role[r].bordered, 0);
        strake_bell_ring(&team->role[r].done, 0);
    }
}

void strake_neighbours_done(strake_role *role, int64_t steps)
{
    /* Who waits for the borders sees that all is done. */
    strake_bell_ring(&role->done, steps);
    strake_bell_ring(&role->bordered, steps);
}

/** Says that a role has finished its border strips, @p steps steps after its last ones. */
static void neighbours_bordered(strake_role *role, int64_t steps)
{
    const int64_t before = atomic_load_explicit(&role->done.reached, memory_order_relaxed);
    strake_bell_ring(&role->bordered, before + steps);
}

void strake_neighbours_wake(strake_team *team)
{
    for (int r = 0; r < team->roles; r++) {
        strake_bell_wake(&team->role[r].bordered);
        strake_bell_wake(&team->role[r].done);
    }
    strake_meeting_wake(&team->meeting);
    if (team->outside.arrived != NULL) {
        strake_bell_wake(team->outside.arrived);
    }
}

bool strake_neighbours_wait(strake_team *team, const strake_role *role, int64_t steps,
                            const _Atomic int64_t *stop)
{
    for (int k = 0; k < role->neighbours; k++) {
        strake_role *const other = &team->role[role->neighbour[k]];
        const bool borders_do = role->worker < 0 && other->worker >= 0;
        if (!strake_bell_wait(borders_do ? &other->bordered : &other->done, steps, stop,
                              team->is_crowded)) {
            return false;
        }
    }
    if (role->linked && team->outside.is_running &&
        !strake_bell_wait(team->outside.arrived, steps, stop,
                          team->is_crowded || team->outside.is_crowded)) {
        return false;
    }
    return atomic_load_explicit(stop, memory_order_relaxed) >= steps;
}

enum {
    /* Slabs: with fewer a role's borders are not computed apart. Those beside devices of the team may be
       many, since such workers have fewer slabs (strake_workers_share). */
    INTERIOR_PER_BORDER = 4,
    INTERIOR_BESIDE = 1
};

/* Widens the borders of a range by what lies beside slabs of a device, here or a period away. */
static void add_device(const strake_team *team, strake_range device, int64_t most,
                       strake_range range, strake_range out[2])
{
    const int64_t n = team->domain->slabs;
    const int rounds = team->domain->ends == STRAKE_PERIODIC ? 1 : 0;
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

static void find_beside(const strake_team *team, int steps, strake_range range, strake_range out[2])
{
    int64_t depth[2];
    strake_domain_reads(team->domain, steps, depth);
    const int64_t most = depth[0] > depth[1] ? depth[0] : depth[1];
    out[0] = (strake_range){range.first, range.first};
    out[1] = (strake_range){range.end, range.end};
    for (int e = 0; e < team->parts; e++) {
        const strake_range device = team->part[e].range;
        if (team->part[e].ops->has_driver && device.first < device.end) {
            add_device(team, device, most, range, out);
        }
    }
}

static int64_t length(const strake_range border[2])
{
    return border[0].end - border[0].first + border[1].end - border[1].first;
}

bool strake_strips_are_apart(const strake_team *team, strake_range range, bool apart[2])
{
    strake_range beside[2];
    find_beside(team, strake_team_most_at_once(team), range, beside);
    const int64_t borders = length(beside);
    const bool is_apart = team->which->run.overlap != STRAKE_CL_OVERLAP_OFF && borders > 0 &&
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

/* Whether a role reads slabs of other ranks; it does not where all of them lie within this rank's. */
static bool reads_others(const strake_team *team, strake_range range)
{
    int64_t depth[2];
    const strake_range own = team->domain->own;
    strake_domain_reads(team->domain, team->at_once, depth);
    return range.first - depth[0] < own.first || range.end + depth[1] > own.end;
}

/* Widens the borders of a role by what other ranks read, and finds whether it is linked to them. */
static void cut_outside(const strake_team *team, strake_role *role, strake_range out[2])
{
    const strake_range range = role->range;
    const bool widens = team->outside.hides || length(out) > 0;
    role->linked = team->outside.is_linked && reads_others(team, range);
    for (int side = 0; side < 2 && team->outside.is_linked; side++) {
        const strake_range both = strake_range_cut(range, team->outside.sent[side]);
        role->linked = role->linked || both.first < both.end;
        if (!widens) {
            continue;
        }
        if (side == 0 && both.first < both.end && both.end > out[0].end) {
            out[0].end = both.end;
        } else if (side == 1 && both.first < both.end && both.first < out[1].first) {
            out[1].first = both.first;
        }
    }
}

/* Whether all states of a slab are in the host arrays after every sweep, since its owner works there. */
static bool is_complete(const strake_team *team, int64_t slab)
{
    for (int e = 0; e < team->parts; e++) {
        const strake_part *part = &team->part[e];
        if (slab >= part->range.first && slab < part->range.end) {
            return part->ops->advance != NULL;
        }
    }
    return false;
}

/* The slabs on a side of its part that a role reads and whose owners bring only what travels of them. */
static void add_ghosts(const strake_team *team, int64_t first, int64_t end, strake_role *role)
{
    const strake_domain *d = team->domain;
    for (int64_t g = first; g < end; g++) {
        const int64_t slab = strake_ghost_source(d->ends, d->slabs, g);
        strake_range *const last = role->ghosts > 0 ? &role->ghost[role->ghosts - 1] : NULL;
        if (is_complete(team, slab)) {
            continue;
        }
        if (last != NULL && slab == last->end) {
            last->end++;
        } else if (role->ghosts < STRAKE_MOST_GHOSTS) {
            role->ghost[role->ghosts++] = (strake_range){slab, slab + 1};
        }
    }
}

/* Those in the host arrays: the roles at either end of a part advance them for all of its roles. */
static void find_ghosts(const strake_team *team, strake_role *role)
{
    const strake_part *part = &team->part[role->part];
    int64_t depth[2];
    role->ghosts = 0;
    if (team->domain->kept == 0 || part->ops->advance == NULL) {
        return;
    }
    strake_domain_reads(team->domain, team->at_once, depth);
    if (role->range.first == part->range.first) {
        add_ghosts(team, part->range.first - depth[0], part->range.first, role);
    }
    if (role->range.end == part->range.end) {
        add_ghosts(team, part->range.end, part->range.end + depth[1], role);
    }
}

void strake_strips_mark(strake_team *team)
{
    const bool apart = team->which->run.overlap != STRAKE_CL_OVERLAP_OFF;
    const int least = team->outside.is_linked ? INTERIOR_PER_BORDER : INTERIOR_BESIDE;
    for (int r = 0; r < team->roles; r++) {
        strake_role *role = &team->role[r];
        strake_range border[2] = {{role->range.first, role->range.first},
                                  {role->range.end, role->range.end}};
        role->linked = false;
        role->ghosts = 0;
        if (role->range.first < role->range.end) {
            find_ghosts(team, role);
            if (role->worker >= 0) {
                find_beside(team, team->at_once, role->range, border);
            }
            cut_outside(team, role, border);
        }
        plan_strips(role, border, least, apart && role->worker >= 0);
        role->border_strips = role->worker >= 0 ? role->border_strips : 0;
    }
}

strake_status strake_strips_compute(strake_team *team, strake_role *role, int parity, int steps,
                                    bool *finite, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_part *part = &team->part[role->part];
    strake_leg leg = {.worker = role->worker >= 0 ? role->worker : 0,
                      .steps = steps,
                      .columns = role->columns,
                      .all = role->range,
                      .sweep = role->sweep,
                      .down = strake_domain_shift(team->domain, steps),
                      .parity = parity,
                      .told = role->told,
                      .bound = INFINITY};
    *finite = true;
    role->bound = INFINITY;
    for (int k = 0; k < role->strips && status == STRAKE_OK; k++) {
        const double begin = strake_clock_seconds();
        bool strip_finite = true;
        leg.slabs = role->strip[k];
        status = part->ops->leg(part, &leg, &strip_finite, error);
        *finite = *finite && strip_finite;
        role->bound = leg.bound < role->bound ? leg.bound : role->bound;
        if (role->worker >= 0) {
            strake_recorder_add(team, role, begin, k + 1 < role->strips ? "border rows" : "rows");
        }
        /* Where this was all of it strake_neighbours_done() comes at once, and says so too. */
        const bool has_more = k + 1 < role->strips || role->ghosts > 0;
        if (k + 1 == role->border_strips && has_more && *finite && status == STRAKE_OK) {
            neighbours_bordered(role, steps);
        }
    }
    /* Last: nobody waits for them, and their owners write nothing before all have met. */
    for (int k = 0; k < role->ghosts && status == STRAKE_OK; k++) {
        leg.slabs = role->ghost[k];
        part->ops->advance(part, &leg);
    }
    return status;
}
