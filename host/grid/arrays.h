/** @file arrays.h Host arrays of a solver: one for each input, two for each state. */
#ifndef STRAKE_ARRAYS_H
#define STRAKE_ARRAYS_H

#include "grid/grid.h"

/** Allocates all arrays. @return STRAKE_ERR_MEMORY, also as strake_memory_check() */
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

/** Tells for every state which array the next one goes to, after arrays have changed. */
void strake_arrays_pair(strake_grid *grid);

/** Bytes that a rank's slabs of an array may take beside their own, at either end: of huge pages. 0 without ranks */
double strake_arrays_beside(const strake_grid *grid);

void strake_arrays_release(strake_grid *grid);

#endif
