/**
 * @file ahead.h
 * Levels of series that come next are looked for while steps are computed, by a thread: of .npy files it tells the
 * system which parts will be read, so that they are in its memory when the level begins, which takes none of this
 * process; of others (NetCDF) it reads the level itself, once, and keeps it while it counts. A level that the thread
 * still reads when it begins is waited for. What comes of it does not matter for results: what is not there, or fails,
 * is read when its level begins. Only for host/grid/.
 */
#ifndef STRAKE_GRID_AHEAD_H
#define STRAKE_GRID_AHEAD_H

#include "case/source.h"
#include "grid/grid.h"

/** Asks for the levels after those of the grid's moment, of this rank's slabs, unless that was done before. */
void strake_ahead_ask(strake_grid *grid);

/** Offers what was read of the levels of a field to a reader of some slabs, which is closed before the next ask. */
void strake_ahead_offer(const strake_grid *grid, int field, strake_range slabs,
                        strake_source_reader *reader);

/** Ends it; before the grid is released. */
void strake_ahead_end(strake_grid *grid);

#endif
