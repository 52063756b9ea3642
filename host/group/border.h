/**
 * @file border.h
 * The exchange of border slabs with the ranks before and after this one; only for host/solver/.
 *
 * A thread of its own sends a sweep's border slabs as soon as the roles that own them have computed
 * them, while the rest of the slabs is still being computed, and receives the neighbours' into the same
 * places of this rank's arrays: a rank is one more neighbour of the roles at its edges. Between ranks of
 * one machine these slabs are in memory of both (commons.h) and only a word travels.
 *
 * Both ways (algorithm A of Playne and Hawick 2011): each rank keeps its slabs; its first ones go down,
 * its last ones up. One way (algorithm B): a rank sends its first slabs down and receives the next
 * rank's; what it computes from slabs [i - lo, i + hi] it stores at i - lo, so that every slab of the
 * grid wanders down by `lo` places per step (solver->shift) and nothing is ever sent up. Through common
 * memory words go both ways all the same: only so a rank learns that its slabs have been read.
 */
#ifndef STRAKE_BORDER_H
#define STRAKE_BORDER_H

#include <stdatomic.h>

#include "solver/solver_impl.h"

/** Slabs that a stripe reads before and after its own in a sweep of so many steps, both ways. */
void strake_border_depth(const strake_solver *solver, int steps, int64_t depth[2]);

/** Fewest slabs that every rank must own. */
int64_t strake_border_least(const strake_solver *solver, int steps);

/** Plans the exchange for the placed team, after trials that did without. Collective. @return STRAKE_ERR_MEMORY, STRAKE_ERR_RANK */
strake_status strake_border_create(strake_solver *solver, strake_error *error);
void strake_border_destroy(strake_solver *solver);

/** Finds the border slabs of every role, after roles or slabs have changed (strips.c). */
void strake_strips_mark(strake_solver *solver);

/** Widens the borders of a role by what other ranks read, and finds whether it is linked to them. */
void strake_border_cut(const strake_solver *solver, strake_role *role, strake_range out[2]);

/** What both have in common. */
strake_range strake_range_cut(strake_range a, strake_range b);

/**
 * Whether a worker with these slabs computes those beside devices apart, and on which sides; each costs
 * it the slabs around them once more.
 */
bool strake_strips_is_apart(const strake_solver *solver, strake_range range, bool apart[2]);

/** Brings the ghosts of the current states up to date. Collective. */
strake_status strake_border_refresh(strake_solver *solver, strake_error *error);

/** Starts and ends the exchange of one run of the team; @p stop is the run's. */
strake_status strake_border_start(strake_solver *solver, int64_t steps, int64_t sweep,
                                  _Atomic int64_t *stop, strake_error *error);
strake_status strake_border_join(strake_solver *solver, strake_error *error);

/**
 * Waits until the ghosts of @p steps steps of this run are there; at once where no run exchanges.
 * @return false once @p stop is less
 */
bool strake_border_wait(strake_solver *solver, int64_t steps, const _Atomic int64_t *stop);

/** Lets who waits for it look at the run's stop again. */
void strake_border_wake(strake_solver *solver);

/** Tells the neighbours that this rank makes no further sweep. */
void strake_border_break(strake_solver *solver);

/** Other ranks' slabs next to this rank's, as further stripes. @return their number, at most 2 */
int strake_border_stripes(const strake_solver *solver, strake_range out[2]);

/** Slabs that a sweep of so many steps moves down; 0 both ways. */
int64_t strake_border_shift(const strake_solver *solver, int64_t steps);

/**
 * A role's sweep, the strips that others wait for first (strips.c); a device's is enqueued.
 * @param[out] finite  false where a NaN or Inf was seen
 */
strake_status strake_strips_compute(strake_solver *solver, strake_role *role, int parity, int steps,
                                    bool *finite, strake_error *error);

#endif
