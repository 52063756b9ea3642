/** @file sph_work.h What a step of particles computes and moves at least, for models. */
#ifndef STRAKE_PARTICLES_SPH_WORK_H
#define STRAKE_PARTICLES_SPH_WORK_H

#include "particles/sph.h"

/** Of a step, which has two passes over the forces. */
typedef struct strake_sph_work {
    int pair_flops;     /**< of a pair in a pass, divisions and roots among them */
    int pair_divisions; /**< these */
    double pair_bytes;  /**< of a pair in a pass: its entry of a list */
    int particle_flops; /**< of a particle in a step, but for its pairs */
    /** that it takes from memory and brings there, if neighbours are found in caches */
    double particle_bytes;
} strake_sph_work;

strake_sph_work strake_sph_count_work(const strake_sph *sph, strake_precision precision);

#endif
