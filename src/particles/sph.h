/**
 * @file sph.h
 * Weakly compressible smoothed particle hydrodynamics (Monaghan 1994) on particles in cells: what a case fixes of it,
 * the arrays, and a step: predictor, corrector, two passes over the forces (Herault et al. 2010, section 3).
 *
 *   F(n) from the state n; half a step with it; F(n + 1/2) from there; x += (v + F dt/2) dt, v += F dt, rho += F dt.
 *
 * The next dt = cfl min(sqrt(h/|a|), h/c) over all particles and both passes. Positions are relative to the lower corner
 * of the cell in which the last sorting found the particle, in the working precision: precision does not depend on
 * where it is, and a pair's distance is (x_i - x_j) - (steps between the cells) side.
 *
 * Units: metres, seconds, kilograms (in two dimensions per metre of depth).
 */
#ifndef STRAKE_PARTICLES_SPH_H
#define STRAKE_PARTICLES_SPH_H

#include "engine/point.h"
#include "particles/cells.h"

#include "cl/sine.h"
#include "cl/sph_double.h"

#include "cl/sph_motion.h"

typedef enum strake_particle_kind {
    STRAKE_PARTICLE_FLUID,
    STRAKE_PARTICLE_DYNAMIC, /**< of a wall: its density follows that of the fluid */
    STRAKE_PARTICLE_WALL     /**< of a wall: repels, and is no more */
} strake_particle_kind;

typedef enum strake_sph_kernel { STRAKE_SPH_WENDLAND, STRAKE_SPH_CUBIC } strake_sph_kernel;
typedef enum strake_sph_viscosity {
    STRAKE_SPH_ARTIFICIAL,
    STRAKE_SPH_LAMINAR
} strake_sph_viscosity;
typedef enum strake_sph_diffusion {
    STRAKE_SPH_PLAIN,    /**< none */
    STRAKE_SPH_MOLTENI,  /**< Molteni and Colagrossi 2009 */
    STRAKE_SPH_FOURTAKAS /**< without what water at rest has, Fourtakas et al. 2019 */
} strake_sph_diffusion;

enum { STRAKE_SPH_MOST_PLANES = 12 };

/** A plane wall: the fluid is where normal . x > offset. */
typedef struct strake_sph_plane {
    double normal[STRAKE_PARTICLE_AXES], offset;
} strake_sph_plane;

/** One particle, absolute, in double precision. */
typedef struct strake_sph_particle {
    int64_t number;
    strake_particle_kind kind;
    double x[STRAKE_PARTICLE_AXES], v[STRAKE_PARTICLE_AXES], density, pressure;
} strake_sph_particle;

/** What a case says of the fluid and its scheme. */
typedef struct strake_sph {
    int dims;
    strake_sph_kernel kernel;
    strake_sph_viscosity viscosity;
    strake_sph_diffusion diffusion;
    double spacing;                       /**< dp between particles at the start [m] */
    double smoothing;                     /**< h [m]; influence ends at 2h */
    double density;                       /**< rho0, at rest [kg/m3] */
    double sound;                         /**< c0 [m/s] */
    double alpha;                         /**< of artificial viscosity [-] */
    double nu;                            /**< laminar viscosity [m2/s] */
    double delta;                         /**< of density diffusion [-] */
    double gravity[STRAKE_PARTICLE_AXES]; /**< [m/s2] */
    double cfl;                           /**< part of the bounds on dt that is taken */
    double repulsion;                     /**< D of walls [m2/s2] */
    double reach;                         /**< r0 of walls [m] */
    double skin;                          /**< by which lists reach further than 2h, over 2h */
    int rebuild;  /**< most steps with one order; 0: as long as the skin lasts */
    bool is_fast; /**< devices may round quotients and roots of pairs as they like, and contract */
    bool has_walls; /**< there are particles that repel, or may be */
    int shepard;    /**< steps between filters of densities; 0: none */
    bool slips;     /**< dynamic walls have no share in viscosity */
    /** given motions of walls, whose numbers are theirs, and of gravity; NULL: none */
    const sph_motions *motions;
    const double *series; /**< of these: pairs of a time [s] and a value */
    /** these walls' particles at the start, for runs that begin with none */
    const strake_sph_particle *carried;
    int64_t carries;
    int planes;
    strake_sph_plane plane[STRAKE_SPH_MOST_PLANES];
} strake_sph;

double strake_sph_mass(const strake_sph *sph);      /**< of a particle: rho0 dp^dims [kg] */
double strake_sph_stiffness(const strake_sph *sph); /**< B = rho0 c0^2/7 [Pa] */
double
strake_sph_slope(const strake_sph *sph); /**< factor of the slope F of the kernel, negative */

/** What laminar viscosity lets a time step be at most [s]; INFINITY: there is none. */
double strake_sph_viscous_bound(const strake_sph *sph);
double strake_sph_reach(const strake_sph *sph); /**< of lists: 2h and the skin [m] */

/**
 * How far each may move until lists are made anew [m]: half of the skin, so that no neighbour is missed. Without a skin
 * some are, until sph->rebuild steps are over; then it is half a cell, beyond which particles would leave those around.
 */
double strake_sph_slack(const strake_sph *sph);
double strake_sph_pressure(const strake_sph *sph, double density); /**< Tait's law [Pa] */

/** How far a place is from the axis that a motion turns about, or, where it does not, from its point [m]. */
double strake_sph_arm(const sph_motion *motion, const double x[STRAKE_PARTICLE_AXES]);

/** The kernel at a distance [m], in double precision. */
double strake_sph_weight(const strake_sph *sph, double distance);

/** What passes read and write: one array of the working precision each. */
typedef enum strake_sph_array {
    STRAKE_SPH_X0, /**< position in the cell along the axes [m] */
    STRAKE_SPH_X1,
    STRAKE_SPH_X2,
    STRAKE_SPH_V0, /**< velocity [m/s] */
    STRAKE_SPH_V1,
    STRAKE_SPH_V2,
    STRAKE_SPH_RHO, /**< density [kg/m3] */
    STRAKE_SPH_STATES
} strake_sph_array;

/** A state of all particles, in the order of the cells. */
typedef struct strake_sph_state {
    void *value[STRAKE_SPH_STATES];
} strake_sph_state;

#endif
