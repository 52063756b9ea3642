/** @file crew_ranks_impl.h What members that stand for other ranks consist of; only for host/particles/crew_ranks*.c. */
#ifndef STRAKE_PARTICLES_CREW_RANKS_IMPL_H
#define STRAKE_PARTICLES_CREW_RANKS_IMPL_H

#include "particles/crew_ranks.h"

struct strake_sph_far {
    strake_ranks *ranks;
    strake_sph_crew *crew;
    int count, self;           /* ranks */
    strake_sph_member *member; /* those before and those after: the crew's last ones */
    strake_range *owned;       /* slices of every rank, now ... */
    strake_range *next;        /* ... and from the next order on */
    int64_t ghosts[2];         /* particles of the slices before and after this rank's ... */
    int64_t edges[2];          /* ... and of its first and its last one */
    int64_t taken;             /* events of the crew that were taken part in */
    int64_t sent[STRAKE_MAX_PARTS + STRAKE_SPH_FAR]; /* leavers of members that others know */
    strake_sph_leaver *leaver;                       /* of other ranks */
    int64_t leavers;
    bool has_lost;    /* some left the box at the last order, and not all ranks know which */
    int64_t *counted; /* [ranks + 1][ranks + 1] of an order: particles for each rank, lost ones */
    pthread_t thread;
    bool has_told; /* other ranks know that this one goes no further */
    int failures;  /* of ranks, so far: what was sent in vain is of another tag than what follows */
    strake_status status;
    strake_error error;
};

#endif
