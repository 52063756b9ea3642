/** @file changes.h Inputs that change with time (case/source.h: series, shapes that turn round); only for host/grid/. */
#ifndef STRAKE_GRID_CHANGES_H
#define STRAKE_GRID_CHANGES_H

#include "grid/grid.h"

/** Least number of steps from one change to the next; 0: nothing changes. */
int64_t strake_changes_least(const strake_case *which);

/** Steps from the domain's step on, @p most at most, for which all inputs are as they are in that one. */
int64_t strake_changes_steady(const strake_grid *grid, int64_t most);

/** Fills those anew that are not those of the domain's step. @return as strake_inputs_refill() */
strake_status strake_changes_pass(strake_grid *grid, strake_error *error);

#endif
