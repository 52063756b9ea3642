/*
 * Who waits for whom between two sweeps. A role may start the next one when every role whose slabs it
 * reads, or that reads its slabs, has finished this one: then its own operands are there and nobody
 * still reads what it is about to overwrite (states have two buffers). There is no global barrier; devices
 * wait for the borders of CPU workers only (strips.c).
 */
#include <stdlib.h>
#include <string.h>

#include "group/border.h"

static bool reads_slabs(const strake_solver *solver, strake_range reader, strake_range owner)
{
    const strake_layout *l = &solver->layout;
    int64_t depth[2];
    strake_border_depth(solver, solver->at_once, depth);
    const int64_t before = solver->one_way ? 0 : depth[0];
    const int64_t after = solver->one_way ? depth[0] + depth[1] : depth[1];
    for (int64_t k = reader.first - before; k < reader.end + after; k++) {
        if (k == reader.first) {
            k = reader.end;
            if (after == 0) {
                break;
            }
        }
        const int64_t source = strake_ghost_source(l->boundary[0], l->n[0], k);
        if (source >= owner.first && source < owner.end) {
            return true;
        }
    }
    return false;
}

/* Columns around its own that a role reads, on either side, and as many to both of a periodic grid. */
static bool reads_columns(const strake_solver *solver, strake_range reader, strake_range owner)
{
    const strake_layout *l = &solver->layout;
    const int64_t n = l->n[2];
    const int64_t most = l->lo[2] > l->hi[2] ? l->lo[2] : l->hi[2];
    const int64_t first = reader.first - most * solver->at_once;
    const int64_t end = reader.end + most * solver->at_once;
    const bool inside = first < owner.end && end > owner.first;
    return inside ||
           (l->boundary[2] == STRAKE_PERIODIC && (first + n < owner.end || end - n > owner.first));
}

static bool reads(const strake_solver *solver, const strake_role *reader, const strake_role *owner)
{
    const bool same = reader->range.first == owner->range.first && reader->part == owner->part;
    return (same || reads_slabs(solver, reader->range, owner->range)) &&
           reads_columns(solver, reader->columns, owner->columns);
}

static bool has_cells(const strake_role *role)
{
    return role->range.first < role->range.end && role->columns.first < role->columns.end;
}

/* Finds how many neighbours lie between the first role and every other. @return the most; -1: apart */
static int find_distances(strake_solver *solver)
{
    bool grows = true;
    int most = -1;
    for (int r = 0; r < solver->roles; r++) {
        solver->role[r].distance = r == 0 ? 0 : -1;
    }
    while (grows) {
        grows = false;
        most++;
        for (int r = 0; r < solver->roles; r++) {
            const strake_role *role = &solver->role[r];
            for (int k = 0; k < role->neighbours && role->distance == most; k++) {
                strake_role *other = &solver->role[role->neighbour[k]];
                grows = grows || other->distance < 0;
                other->distance = other->distance < 0 ? most + 1 : other->distance;
            }
        }
    }
    for (int r = 0; r < solver->roles; r++) {
        most = has_cells(&solver->role[r]) && solver->role[r].distance < 0 ? -1 : most;
    }
    return most;
}

strake_status strake_neighbours_find(strake_solver *solver, strake_error *error)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        role->neighbour = calloc((size_t)solver->roles, sizeof *role->neighbour);
        if (role->neighbour == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the team");
        }
        for (int other = 0; other < solver->roles && has_cells(role); other++) {
            const strake_role *its = &solver->role[other];
            if (other != r && has_cells(its) &&
                (reads(solver, role, its) || reads(solver, its, role))) {
                role->neighbour[role->neighbours++] = other;
            }
        }
    }
    solver->span = find_distances(solver);
    strake_strips_mark(solver);
    return STRAKE_OK;
}

void strake_neighbours_start(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_bell_ring(&solver->role[r].bordered, 0);
        strake_bell_ring(&solver->role[r].done, 0);
    }
}

void strake_neighbours_done(strake_role *role, int64_t steps)
{
    strake_bell_ring(&role->bordered, steps);
    strake_bell_ring(&role->done, steps);
}

void strake_neighbours_bordered(strake_role *role, int64_t steps)
{
    const int64_t before = atomic_load_explicit(&role->done.reached, memory_order_relaxed);
    strake_bell_ring(&role->bordered, before + steps);
}

void strake_neighbours_wake(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_bell_wake(&solver->role[r].bordered);
        strake_bell_wake(&solver->role[r].done);
    }
    strake_border_wake(solver);
}

bool strake_neighbours_wait(strake_solver *solver, const strake_role *role, int64_t steps,
                            const _Atomic int64_t *stop)
{
    for (int k = 0; k < role->neighbours; k++) {
        strake_role *const other = &solver->role[role->neighbour[k]];
        const bool borders_do = role->worker < 0 && other->worker >= 0;
        if (!strake_bell_wait(borders_do ? &other->bordered : &other->done, steps, stop,
                              solver->is_crowded)) {
            return false;
        }
    }
    if (role->linked && !strake_border_wait(solver, steps, stop)) {
        return false;
    }
    return atomic_load_explicit(stop, memory_order_relaxed) >= steps;
}
