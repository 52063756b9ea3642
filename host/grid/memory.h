/** @file memory.h Whether there is memory for a grid: in the machine, and in the control group of the process. */
#ifndef STRAKE_MEMORY_H
#define STRAKE_MEMORY_H

#include "grid/grid.h"

/** What the control group leaves this process now: before any rank of the machine has arrays, and after drivers. */
void strake_memory_look(strake_grid *grid);

/** Whether all arrays have room. They are allocated one by one and touched later. @return STRAKE_ERR_MEMORY */
strake_status strake_memory_check(const strake_grid *grid, strake_error *error);

/** Whether another array of each state would have, once the parts are made. */
bool strake_memory_has_room(const strake_grid *grid);

/** Whether one more array of the whole grid would. */
bool strake_memory_has_one(const strake_grid *grid);

/** Gives devices of the team whose memory is the processors' what the arrays leave of the group's. */
void strake_memory_share(const strake_grid *grid, strake_cl_list *devices);

#endif
