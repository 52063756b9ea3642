/**
 * @file run.h
 * Particles with all that a step needs, on the threads of this process.
 */
#ifndef STRAKE_PARTICLES_RUN_H
#define STRAKE_PARTICLES_RUN_H

#include "particles/sph.h"

typedef struct strake_sph_run strake_sph_run; /**< particles with all that a step needs */

/** One particle, absolute, in double precision. */
typedef struct strake_sph_particle {
    int64_t number;
    strake_particle_kind kind;
    double x[STRAKE_PARTICLE_AXES], v[STRAKE_PARTICLE_AXES], density, pressure;
} strake_sph_particle;

/** How passes find neighbours: by candidates of the ranges each time, or from lists. The bits are the same. */
typedef enum strake_sph_way { STRAKE_SPH_REFERENCE, STRAKE_SPH_LISTS } strake_sph_way;

/**
 * @param[in] sph       borrowed until strake_sph_close()
 * @param[in] size      of the box from 0 on [m]; axes 0 and 2 in two dimensions
 * @param[in] particle  copied; numbers are unique, positions in the box
 * @param[in] threads   for STRAKE_SPH_LISTS
 */
strake_status strake_sph_open(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                              const bool is_round[STRAKE_PARTICLE_AXES], strake_precision precision,
                              strake_sph_way way, int threads, strake_isa isa, int64_t count,
                              const strake_sph_particle *particle, strake_sph_run **out,
                              strake_error *error);
void strake_sph_close(strake_sph_run **run);

/**
 * Advances by so many steps or up to a time, whichever is first; the last step ends at that time.
 * @return STRAKE_ERR_NUMERIC naming the particle that has NaN or Inf, or is too fast for the skin
 */
strake_status strake_sph_step(strake_sph_run *run, int64_t steps, double until,
                              strake_error *error);

int64_t strake_sph_count(const strake_sph_run *run);
int64_t strake_sph_steps(const strake_sph_run *run);
int64_t strake_sph_lost(const strake_sph_run *run);     /**< that left the box */
int64_t strake_sph_rebuilds(const strake_sph_run *run); /**< of the order */
double strake_sph_pairs(const strake_sph_run *run);     /**< summed over, in lists, so far */
double strake_sph_time(const strake_sph_run *run);      /**< [s] */
double strake_sph_dt(const strake_sph_run *run);        /**< of the next step [s] */

/** Particle @p k in the order of the cells. */
strake_sph_particle strake_sph_get(const strake_sph_run *run, int64_t k);

/** FNV-1a of the states in order of numbers. */
uint64_t strake_sph_hash(const strake_sph_run *run);

#endif
