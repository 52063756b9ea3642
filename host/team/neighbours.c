/*
 * Who waits for whom between two sweeps. A role may start the next one when every role whose slabs it
 * reads, or that reads its slabs, has finished this one: then its own operands are there and nobody
 * still reads what it is about to overwrite (states have two buffers). There is no global barrier; devices
 * wait for the borders of CPU workers only (strips.c).
 */
#include <stdlib.h>
#include <string.h>

#include "team/team.h"

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

void strake_neighbours_bordered(strake_role *role, int64_t steps)
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
