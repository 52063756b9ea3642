/*
 * Who waits for whom between two sweeps. A role may start the next one when every role whose slabs it
 * reads, or that reads its slabs, has finished this one: then its own operands are there and nobody
 * still reads what it is about to overwrite (states have two buffers). There is no global barrier.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "solver/border.h"

enum { SPINS = 2000 }; /* before the processor is given away: a few microseconds */

/* Slabs that a role computes: a worker's share of the CPU stripe, or a device's stripe. */
static strake_range slabs_of(const strake_solver *solver, const strake_role *role)
{
    return role->pipeline != NULL ? role->range : solver->entry[role->entry].range;
}

static bool reads(const strake_solver *solver, strake_range reader, strake_range owner)
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

strake_status strake_neighbours_find(strake_solver *solver, strake_error *error)
{
    for (int r = 0; r < solver->roles; r++) {
        strake_role *role = &solver->role[r];
        const strake_range own = slabs_of(solver, role);
        role->neighbour = calloc((size_t)solver->roles, sizeof *role->neighbour);
        if (role->neighbour == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the team");
        }
        for (int other = 0; other < solver->roles && own.first < own.end; other++) {
            const strake_range its = slabs_of(solver, &solver->role[other]);
            if (other != r && its.first < its.end &&
                (reads(solver, own, its) || reads(solver, its, own))) {
                role->neighbour[role->neighbours++] = other;
            }
        }
    }
    strake_border_mark(solver);
    return STRAKE_OK;
}

void strake_neighbours_start(strake_solver *solver)
{
    for (int r = 0; r < solver->roles; r++) {
        atomic_store_explicit(&solver->role[r].done, 0, memory_order_relaxed);
    }
}

void strake_neighbours_done(strake_role *role, int64_t steps)
{
    atomic_store_explicit(&role->border_done, steps, memory_order_release);
    atomic_store_explicit(&role->done, steps, memory_order_release);
}

void strake_neighbours_bordered(strake_role *role, int64_t steps)
{
    const int64_t before = atomic_load_explicit(&role->done, memory_order_relaxed);
    atomic_store_explicit(&role->border_done, before + steps, memory_order_release);
}

static void relax(int spin)
{
    if (spin >= SPINS) {
        (void)sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits for the neighbours' slabs of other ranks. @return false once the run stops */
static bool wait_for_ranks(const strake_solver *solver, int64_t steps, const _Atomic int64_t *stop)
{
    for (int spin = 0; strake_border_done(solver) < steps; spin += spin < SPINS ? 1 : 0) {
        if (atomic_load_explicit(stop, memory_order_relaxed) < steps) {
            return false;
        }
        relax(spin);
    }
    return true;
}

bool strake_neighbours_wait(const strake_solver *solver, const strake_role *role, int64_t steps,
                            const _Atomic int64_t *stop)
{
    for (int k = 0; k < role->neighbours; k++) {
        const strake_role *other = &solver->role[role->neighbour[k]];
        for (int spin = 0; atomic_load_explicit(&other->done, memory_order_acquire) < steps;
             spin += spin < SPINS ? 1 : 0) {
            if (atomic_load_explicit(stop, memory_order_relaxed) < steps) {
                return false;
            }
            relax(spin);
        }
    }
    if (role->linked && !wait_for_ranks(solver, steps, stop)) {
        return false;
    }
    return atomic_load_explicit(stop, memory_order_relaxed) >= steps;
}
