/**
 * @file commons.h
 * Slabs beside the border between two ranks of one machine: the pages of the state arrays that hold them
 * are pages of a file in memory, mapped into the arrays of both in their places. What one rank computes,
 * or its device writes there, is at once where the other reads it; messages only say that it is there.
 */
#ifndef STRAKE_COMMONS_H
#define STRAKE_COMMONS_H

#include "run/group.h"

/**
 * Maps the slabs around this rank's own that both know, keeping what its own slabs hold, where the machine
 * lets it; what other ranks' slabs hold is undefined until they have said that they have done so, too.
 * No device may use the arrays meanwhile, nor keep their pages (strake_part_unpin). Collective.
 * @param[in]  neighbour  ranks before and after this one, -1: none
 * @param[in]  depth      slabs that a rank reads before and after its own
 * @param[out] common     whether the slabs between this rank and each of them are mapped
 * @return STRAKE_ERR_MEMORY, STRAKE_ERR_RANK
 */
strake_status strake_commons_map(strake_rank_group *group, const int neighbour[2],
                                 const int64_t depth[2], bool common[2], strake_error *error);

/** Undoes it: this rank's own slabs stay, in memory of its own. @return STRAKE_ERR_MEMORY */
strake_status strake_commons_unmap(strake_rank_group *group, strake_error *error);

/**
 * Whether slabs that other ranks read are computed first, and travel while the rest is. Not where ranks are on one machine,
 * so that nothing takes long between them, threads take turns on a processor, and sweeps of so many steps are short: two
 * more turns in each of them cost more.
 */
bool strake_commons_hide(const strake_rank_group *group, int steps);

#endif
