/** @file keep.h A second copy of a grid's states, and new arrays for them, when a device fails. */
#ifndef STRAKE_GRID_KEEP_H
#define STRAKE_GRID_KEEP_H

#include "grid/grid.h"

/** strake_domain_ops.keep and renew. @return STRAKE_ERR_MEMORY */
strake_status strake_grid_keep(strake_grid *grid, strake_error *error);
strake_status strake_grid_renew(strake_grid *grid, bool from_copy, strake_error *error);

/** Frees the copy. */
void strake_grid_forget(strake_grid *grid);

/** Whether the room around the states, which nobody needs, is still zero (canaries). */
bool strake_grid_is_intact(const strake_grid *grid);

#endif
