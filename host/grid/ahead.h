/**
 * @file ahead.h
 * Levels of series that come next are asked for while steps are computed: a thread tells the system which parts of
 * files will be read, so that they are in its memory when the level begins. It copies nothing and takes no memory of
 * this process; what comes of it is not looked at, nor does it matter for results. Only for host/grid/.
 */
#ifndef STRAKE_GRID_AHEAD_H
#define STRAKE_GRID_AHEAD_H

#include "grid/grid.h"

/** Asks for the levels after those of the grid's moment, of this rank's slabs, unless that was done before. */
void strake_ahead_ask(strake_grid *grid);

/** Ends it; before the grid is released. */
void strake_ahead_end(strake_grid *grid);

#endif
