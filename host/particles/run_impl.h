/** @file run_impl.h What a run of particles on the processor consists of. */
#ifndef STRAKE_PARTICLES_RUN_IMPL_H
#define STRAKE_PARTICLES_RUN_IMPL_H

#include "particles/movers.h"
#include "particles/run_common.h"

typedef struct strake_sph_cpu {
    strake_sph_run run;
    strake_sph_way way;
    int threads;
    const strake_sph_rows *rows;
    const strake_sph_pair_rows *pair;
    strake_sph_numbers numbers;
    strake_sph_parts parts; /**< parts.now, cell and kind are those of the image */
    strake_sph_image image;
    strake_sph_list list;
    strake_sph_movers movers;
    int64_t room; /**< of list.entry, in rows of lanes */
    int64_t *order, *start, *spare_number;
    int32_t *member;
    uint8_t *spare_kind;
    void *spare;     /**< one array of the working precision */
    double bound[2]; /**< on dt, by the last passes */
    int64_t edge
        [2]; /**< groups with members of the first slice end here, those with members of the last one begin */
    unsigned char *share; /**< [slice] strake_sph_share */
} strake_sph_cpu;

/** Room for so many particles; what is there stays. @return STRAKE_ERR_MEMORY */
strake_status strake_sph_reserve(strake_sph_cpu *run, int64_t count, strake_error *error);

/** Puts all particles in their cells and these in order, with lists; those that left the box go. */
strake_status strake_sph_order(strake_sph_cpu *run, strake_error *error);

/** What follows from particles that are in order: where cells begin, who has forces, lists. */
strake_status strake_sph_link(strake_sph_cpu *run, strake_error *error);

#endif
