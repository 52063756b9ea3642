/**
 * @file ghosts.h
 * States whose next value in a cell follows from what is in that cell alone (strake_value.is_kept). Who has ghosts
 * of all states advances those itself, to the same bits as their owner: of the border slabs only the other
 * states need travel after a sweep. Of a kept state that nobody reads in other slabs there is nothing to advance.
 */
#ifndef STRAKE_ENGINE_GHOSTS_H
#define STRAKE_ENGINE_GHOSTS_H

#include "engine/graph.h"

/** Whether ghosts of any state advance themselves. */
bool strake_ghosts_are_kept(const strake_graph *graph);

/** Whether a value is a state that travels from slab to slab's reader after every sweep. */
bool strake_ghosts_travel(const strake_graph *graph, int value);

/** Number of the states that travel. */
int strake_ghosts_count(const strake_graph *graph);

/** Whether a value is a kept state with ghosts that somebody reads. */
bool strake_ghosts_advance(const strake_graph *graph, int value);

/**
 * The stages that advance kept states, with the values of @p graph: the others are inputs that do not change.
 * @return STRAKE_ERR_STATE where a kept state follows from other cells, too (a mistake in a problem's table)
 */
strake_status strake_ghosts_graph(const strake_graph *graph, strake_graph *out,
                                  strake_error *error);

#endif
