/** @file active.h Which cells of a grid are computed (engine/activity.h), by what its fields hold. */
#ifndef STRAKE_GRID_ACTIVE_H
#define STRAKE_GRID_ACTIVE_H

#include "grid/grid.h"
#include "run/part.h"

/** Once the grid is laid out: nothing is left out unless the problem says what makes a cell active. */
void strake_grid_open_activity(strake_grid *grid);
void strake_grid_close_activity(strake_grid *grid);

/** Inputs, or states, are new: of their arrays as they are now. */
void strake_grid_wake_inputs(strake_grid *grid);
void strake_grid_wake_all(strake_grid *grid);

/** Slabs come to, or leave, a part whose slabs are looked at: of these only current states are known, or nobody looks. */
void strake_grid_wake_moved(strake_grid *grid, strake_range before, strake_range then);

/**
 * Lists what a leg computes. @return false if that is all. Without memory for the list, too: a cell that is
 * computed needlessly stays as it is.
 */
bool strake_grid_list_spans(const strake_grid *grid, const strake_leg *leg, strake_spans *spans);

/** After a leg whose spans were listed. */
void strake_grid_look(strake_grid *grid, const strake_leg *leg, const strake_spans *spans);

/** Values of the graph that make cells active, for devices. @return their number; 0: all cells are computed, or more than @p most */
int strake_grid_find_wakes(const strake_grid *grid, int most, int *value);

/** What was active of some slabs, and what all CPU stripes that there were have done. */
void strake_grid_describe_activity(const strake_grid *grid, strake_range slabs,
                                   strake_part_report *out);

/** strake_domain_ops.weigh */
void strake_grid_weigh(strake_domain *domain);

#endif
