/**
 * @file wall.h
 * States with a direction, such as the momentum through a wall: ghosts beyond a no_flux wall mirror the cells inside,
 * and a state that its problem declares odd across the axis (strake_field.is_odd) has the other sign there.
 */
#ifndef STRAKE_PROBLEM_WALL_H
#define STRAKE_PROBLEM_WALL_H

#include "case/case.h"

/**
 * Adds the input of a state to a graph. @return what stages read of it: its values, with the other sign beyond the
 * walls across which the problem declares it odd; strake_graph_state() takes it, too
 */
int strake_wall_state(const strake_case *which, strake_graph *graph, int field);

#endif
