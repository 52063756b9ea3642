/**
 * @file crew_ranks.h
 * Other ranks as two more members of a crew: one stands for all slices before this rank's, one for all after. They come to
 * meetings, bring forces and leave particles as members with runs do; a thread does it for them, with messages:
 *
 * - a meeting: one all-reduce of what all ranks said,
 * - a pass: the forces on the outermost slices, to and from the ranks beside, as soon as they are in their boxes,
 * - a new order: particles that ranks need of each other, and who left the box.
 *
 * A rank that fails tells it those beside it instead of the next forces, and all in the next meeting.
 */
#ifndef STRAKE_PARTICLES_CREW_RANKS_H
#define STRAKE_PARTICLES_CREW_RANKS_H

#include "mpi/ranks.h"
#include "particles/crew.h"

enum { STRAKE_SPH_FAR = 2 /* members that stand for other ranks */ };

typedef struct strake_sph_far strake_sph_far;

/**
 * The last members of a crew stand for other ranks from now on.
 * @param[in] ranks  borrowed @param[in] owned  slices of each rank: some of every one
 * @return STRAKE_ERR_MEMORY
 */
strake_status strake_sph_far_open(strake_sph_crew *crew, strake_ranks *ranks,
                                  const strake_range *owned, strake_sph_far **out,
                                  strake_error *error);
void strake_sph_far_close(strake_sph_far **far);

/** Slices of each rank from the next order on; the same call on all ranks before the same step. */
void strake_sph_far_share(strake_sph_far *far, const strake_range *owned);

/** The members have these particles in order: how many of each slice. Before steps, after they were put. */
void strake_sph_far_count(strake_sph_far *far, const strake_sph_image *all);

/** Begins before the members step, and ends when they have. @return STRAKE_ERR_RANK where another one failed */
strake_status strake_sph_far_start(strake_sph_far *far, bool is_crowded, strake_error *error);
strake_status strake_sph_far_join(strake_sph_far *far, strake_error *error);

/** Between steps: this rank takes none any more, while others do; unless they know. */
void strake_sph_far_leave(strake_sph_far *far);

/** Particles of other ranks that left the box, until strake_sph_far_forget_leavers(). @return how many */
int64_t strake_sph_far_leavers(const strake_sph_far *far, const strake_sph_leaver **leaver);
void strake_sph_far_forget_leavers(strake_sph_far *far);

/**
 * Particles by number: rank 0 gets those of all ranks' present slices; and gives all of them to all. Collective.
 * @param[in,out] all  row k is particle k; of one that left the cell is -1
 */
strake_status strake_sph_far_gather(strake_sph_far *far, strake_sph_image *all,
                                    strake_error *error);
strake_status strake_sph_far_spread(strake_sph_far *far, strake_sph_image *all,
                                    strake_error *error);

#endif
