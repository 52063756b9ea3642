/** @file swarm.h Particles that tests of them begin with. */
#ifndef STRAKE_TESTS_SWARM_H
#define STRAKE_TESTS_SWARM_H

#include "particles/run.h"

/** Particles of a swarm, at most. */
enum { STRAKE_SWARM_MOST = 20000 };

/** Wendland's kernel of diameter 2.6 spacings, artificial viscosity, walls of one spacing's reach. */
strake_sph strake_swarm_fluid(int dims, double spacing, double density, double sound);

/** What differs between the cases that must give the same bits by any way. */
typedef struct strake_swarm_variant {
    int dims, rebuild; /**< less than 0: so many steps, without a skin */
    strake_sph_kernel kernel;
    strake_sph_viscosity viscosity;
    strake_sph_diffusion diffusion;
    strake_particle_kind wall;
    bool moves; /**< walls shift, sway and turn, and gravity turns and shakes */
    bool slips;
    int shepard;
} strake_swarm_variant;

/** A disordered block in a box, dropped beside a wall of particles and on a plane; in 3D the box is periodic along axis 1. */
typedef struct strake_swarm {
    strake_sph sph;
    double size[STRAKE_PARTICLE_AXES];
    bool is_round[STRAKE_PARTICLE_AXES];
    int64_t count;
    strake_sph_particle *all; /**< to be freed */
} strake_swarm;

strake_swarm strake_swarm_block(const strake_swarm_variant *which);

#endif
