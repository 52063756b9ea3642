/** @file ghosts.h Slabs of others in the host's arrays: what does not travel of them (engine/ghosts.h). */
#ifndef STRAKE_GRID_GHOSTS_H
#define STRAKE_GRID_GHOSTS_H

#include "cpu/pipeline.h"
#include "grid/grid.h"

/** Steps that pipelines on the host's arrays are made for: what a sweep has, or more. */
int strake_grid_passes(const strake_grid *grid, const strake_part_plan *plan);

/** What one thread needs for it; NULL where nothing is kept or nobody else has slabs. @return STRAKE_ERR_MEMORY */
strake_status strake_grid_ghosts(const strake_grid *grid, const strake_part_plan *plan,
                                 strake_pipeline **out, strake_error *error);

/** Advances the kept states of a leg's slabs and columns. */
void strake_grid_advance(const strake_grid *grid, strake_pipeline *ghosts, const strake_leg *leg);

#endif
