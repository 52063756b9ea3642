/**
 * @file border.h
 * The exchange of border slabs with the ranks before and after this one.
 *
 * A thread of its own sends a sweep's border slabs as soon as the roles that own them have computed
 * them, while the rest of the slabs is still being computed, and receives the neighbours' into the same
 * places of this rank's arrays: a rank is one more neighbour of the roles at its edges. Between ranks of
 * one machine these slabs are in memory of both (commons.h) and only a word travels.
 *
 * Both ways (algorithm A of Playne and Hawick 2011): each rank keeps its slabs; its first ones go down,
 * its last ones up. One way (algorithm B): a rank sends its first slabs down and receives the next
 * rank's; what it computes from slabs [i - lo, i + hi] it stores at i - lo, so that every slab of the
 * grid wanders down by `lo` places per step (strake_domain.shift) and nothing is ever sent up. Through common
 * memory words go both ways all the same: only so a rank learns that its slabs have been read.
 *
 * Where the state decides on the time step the least bound of all ranks is found in the same round: as soon as the
 * roles of this rank have brought theirs, beside the messages. A rank that fails brings -INFINITY, so that
 * all leave after the same sweep.
 */
#ifndef STRAKE_BORDER_H
#define STRAKE_BORDER_H

#include "run/group.h"

/** Plans the exchange for the placed team, after trials that did without. Collective. @return STRAKE_ERR_MEMORY, STRAKE_ERR_RANK */
strake_status strake_border_create(strake_rank_group *group, strake_error *error);
void strake_border_destroy(strake_rank_group *group);

/** Brings the ghosts of the current states up to date. Collective. */
strake_status strake_border_refresh(strake_rank_group *group, strake_error *error);

/** Seconds of that, of one of so many rounds: nobody computes, and what travels is what is there already. Collective. */
strake_status strake_border_time(strake_rank_group *group, int rounds, double *seconds,
                                 strake_error *error);

/** All ranks are about to make @p sweeps sweeps together, or fewer if their clock ends. */
void strake_border_expect(strake_rank_group *group, int64_t sweeps);

/** Tells the neighbours, or with a clock all ranks, that this one makes no further sweep. */
void strake_border_break(strake_rank_group *group);

/** Tells the team which slabs of other ranks lie next to this rank's (strake_outside.stripe). */
void strake_border_stripes(strake_rank_group *group);

/** Whether only the lines of slabs travel to ranks on other machines, without the ghosts beside them. */
bool strake_border_is_narrow(const strake_rank_group *group);

#endif
