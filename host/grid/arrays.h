/** @file arrays.h Host arrays of a solver: one for each input, two for each state. */
#ifndef STRAKE_ARRAYS_H
#define STRAKE_ARRAYS_H

#include "cpu/pipeline.h"
#include "grid/grid.h"

/* Slabs of others in the host's arrays: what does not travel of them (engine/graph.h). */

/** Steps that pipelines on the host's arrays are made for: what a sweep has, or more. */
int strake_grid_passes(const strake_grid *grid, const strake_part_plan *plan);

/** What one thread needs for it; NULL where nothing is kept or nobody else has slabs. @return STRAKE_ERR_MEMORY */
strake_status strake_grid_ghosts(const strake_grid *grid, const strake_part_plan *plan,
                                 strake_pipeline **out, strake_error *error);

/** Advances the kept states of a leg's slabs and columns. */
void strake_grid_advance(const strake_grid *grid, strake_pipeline *ghosts, const strake_leg *leg);

/* Whether there is memory for a grid: in the machine, and in the control group of the process. */

/** What the control group leaves this process now: before any rank of the machine has arrays, and after drivers. */
void strake_memory_look(strake_grid *grid);

/** Whether the machine has memory for one more array of the whole grid, once the parts are made. */
bool strake_memory_has_one(const strake_grid *grid);

/** Gives devices of the team whose memory is the processors' what the arrays leave of the group's. */
void strake_memory_share(const strake_grid *grid, strake_cl_list *devices);

/* A second copy of a grid's states, and new arrays for them, when a device fails. */

/** strake_domain_ops.keep and renew. @return STRAKE_ERR_MEMORY */
strake_status strake_grid_keep(strake_grid *grid, strake_error *error);
strake_status strake_grid_renew(strake_grid *grid, bool from_copy, strake_error *error);

/** Frees the copy. */
void strake_grid_forget(strake_grid *grid);

/** Whether the room around the states, which nobody needs, is still zero (canaries). */
bool strake_grid_is_intact(const strake_grid *grid);

/** Allocates all arrays. @return STRAKE_ERR_MEMORY, also as memory_check() */
strake_status strake_arrays_allocate(strake_grid *grid, strake_error *error);

/**
 * Moves the slabs of the CPU stripe to the nodes of the workers that have them now, where workers are
 * bound to teams. To be called while no device has a stripe: its driver could hold the pages.
 */
void strake_arrays_settle(strake_grid *grid);

/** Whether a value of the graph has an array: an input or state that something is computed from, and no constant. */
bool strake_arrays_has(const strake_value *value);

/** Number of arrays of the size of the grid, with so many for each state. */
int strake_arrays_count(const strake_graph *graph, int for_state);

/** A zeroed array of the grid, its slabs on the nodes of the threads that will work on them. */
strake_status strake_arrays_new(strake_grid *grid, const char *name, void **out,
                                strake_error *error);

/** Frees such an array and sets the pointer to NULL; NULL is accepted. */
void strake_arrays_free(const strake_grid *grid, void **array);

/** Gives back the memory of slabs that this rank no longer has, after its share or window has changed. */
void strake_arrays_trim(const strake_grid *grid);
void strake_arrays_release(strake_grid *grid);

#endif
