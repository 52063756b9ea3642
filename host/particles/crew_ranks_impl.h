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

/** Bytes of a particle on its way. */
size_t strake_sph_row_bytes(const strake_sph_image *image);
void strake_sph_row_pack(const strake_sph_image *image, int64_t k, char *row);
void strake_sph_row_unpack(const char *row, strake_sph_image *image, int64_t k);

/** The slice beside a rank's range on a side, -1: none. */
int64_t strake_sph_far_beside(const strake_sph_far *far, strake_range own, int side);
/** The rank that has a slice. */
int strake_sph_far_owner(const strake_sph_far *far, const strake_range *owned, int64_t slice);

/** Particles change hands: the members have left theirs. @param[out] lost  by all other ranks. Collective */
strake_status strake_sph_far_order(strake_sph_far *far, double own_lost, double *lost,
                                   strake_error *error);

/** Those who left the box, once members know them: all ranks do then. Collective */
strake_status strake_sph_far_tell_leavers(strake_sph_far *far, strake_error *error);

#endif
