/** @file signs.h Fields of which a problem takes nothing negative (strake_problem.nonnegative); only for host/grid/. */
#ifndef STRAKE_GRID_SIGNS_H
#define STRAKE_GRID_SIGNS_H

#include "grid/grid.h"

/** Refuses them where they are negative: inputs that are new, and states before the first step. Collective. */
strake_status strake_signs_check(const strake_grid *grid, strake_error *error);

/**
 * The same of dense slabs [first, end) that somebody gives. Of states what roundings leave below 0 is let through: they
 * come back from models and checkpoints.
 */
strake_status strake_signs_check_given(const strake_grid *grid, int field, int64_t first,
                                       int64_t end, const void *data, strake_error *error);

#endif
