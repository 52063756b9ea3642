/** @file grid.h What a case leaves out of its grid, from the files of its fields. */
#ifndef STRAKE_CASE_GRID_H
#define STRAKE_CASE_GRID_H

#include "case/case.h"
#include "case/tree.h"

/**
 * Takes numbers of cells that the case leaves out from the first field that is a grid of a map, else from the first
 * state field given by a file; spacings and the place of the grid from grids of maps, which must all lie there.
 * @return STRAKE_ERR_USAGE, _MEMORY
 */
strake_status strake_grid_complete(strake_node *root, strake_case *which, strake_error *error);

#endif
