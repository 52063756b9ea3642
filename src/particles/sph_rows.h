/**
 * @file sph_rows.h
 * The loops over pairs and particles that sph_pair_rows.c and sph_state_rows.c have for each instruction set and precision.
 */
#ifndef STRAKE_PARTICLES_SPH_ROWS_H
#define STRAKE_PARTICLES_SPH_ROWS_H

#include "particles/sph.h"

/** Particles that stand side by side in lists; the middle of the 27 steps between cells. */
enum { STRAKE_SPH_LANES = 16, STRAKE_SPH_PLACE_BITS = 27, STRAKE_SPH_NO_STEP = 13 };
enum { STRAKE_SPH_CONSTANTS = 4096, STRAKE_SPH_LEFT = -1 };

/**
 * Neighbours: entry k of lane l of group g is entry[(first[g] + k) LANES + l], the neighbour's place in its lower
 * STRAKE_SPH_PLACE_BITS bits and above them the number of the step between the cells. Lanes whose neighbours have ended
 * name themselves, which adds nothing. First fluid and dynamic ones, then those that repel.
 */
typedef struct strake_sph_list {
    int64_t *first; /**< per group and one more */
    int32_t *near;  /**< entries of a group that are fluid or dynamic */
    uint32_t *entry;
    double pairs; /**< of all groups, without what fills lanes up */
} strake_sph_list;

/** Numbers of a pass, from strake_sph. */
typedef struct strake_sph_numbers {
    double per_diameter, slope, viscous, eta, stiffness, sound, density, gravity[3];
    double mass, repulsion, reach, diffusion, at_rest[3];
    double list;        /**< what lists reach [m] */
    double step[3][32]; /**< along each axis, of a step between cells by its number [m] */
    strake_sph_kernel kernel;
    strake_sph_viscosity viscosity;
    strake_sph_diffusion diffusion_kind;
    bool slips;
    int dims, planes;
    double plane[STRAKE_SPH_MOST_PLANES][4]; /**< normal, offset from the cell grid's corner */
} strake_sph_numbers;

/** Everything of a part's particles, in the order of the cells; arrays of the working precision are void. */
typedef struct strake_sph_parts {
    int64_t count;
    const strake_cells *cells;
    const int64_t *start; /**< of cells */
    const int32_t *cell;
    const uint8_t *kind;
    int64_t members; /**< particles with forces, fluid and dynamic ones, and their places */
    const int32_t *member;
    strake_sph_state now, half;
    void *push;     /**< p/rho^2 of the state that a pass reads [m5/(kg s2)] */
    void *sound;    /**< [m/s] */
    void *volume;   /**< m/rho of fluid, else 0 */
    void *force[4]; /**< acceleration [m/s2] and change of density [kg/(m3 s)] */
    /** Lists without a skin: candidates are whoever was within 2h where all were then. NULL: all are */
    const void *rest[3];
} strake_sph_parts;

/** Loops over pairs. */
typedef struct strake_sph_pair_rows {
    /** Forces on groups [first, end) of lanes; list NULL: by candidates. @return the greatest |a|^2 */
    double (*pass)(const strake_sph_parts *parts, const strake_sph_numbers *numbers,
                   const strake_sph_state *state, const strake_sph_list *list, int64_t first,
                   int64_t end);
    /** Densities of the fluid of groups, filtered, into @p density; others stay as they are there. */
    void (*filter)(const strake_sph_parts *parts, const strake_sph_numbers *numbers,
                   const strake_sph_list *list, int64_t first, int64_t end, void *density);
    /** Lists of groups; with entry NULL it only counts. @return pairs */
    int64_t (*list)(const strake_sph_parts *parts, const strake_sph_numbers *numbers,
                    strake_sph_list *list, int64_t first, int64_t end);
    /** What kernels of a device are given (cl/sph_pair.h: sph_constants). @return its bytes, at most
     * STRAKE_SPH_CONSTANTS */
    size_t (*constants)(const strake_sph_numbers *numbers, const strake_cells *cells, void *out);
} strake_sph_pair_rows;

/** Loops over particles [first, end). */
typedef struct strake_sph_rows {
    /** Pressure and speed of sound of a state; @return the greatest sound */
    double (*prepare)(const strake_sph_parts *parts, const strake_sph_numbers *numbers,
                      const strake_sph_state *from, int64_t first, int64_t end);
    /** Half a step from now with the forces there; or a whole one, into now, with those of half. */
    void (*predict)(const strake_sph_parts *parts, const strake_sph_numbers *numbers, double dt,
                    int64_t first, int64_t end);
    void (*correct)(const strake_sph_parts *parts, const strake_sph_numbers *numbers, double dt,
                    int64_t first, int64_t end);
    /** The farthest squared way from @p rest, and the greatest squared speed. */
    void (*reach)(const strake_sph_parts *parts, const void *const rest[3], int64_t first,
                  int64_t end, double *way, double *speed);
    /**
     * Moves particles to the cells that they are in; those that have left the box to the nearest one, of which @p cell is
     * then STRAKE_SPH_LEFT less its number.
     */
    void (*enter)(const strake_sph_parts *parts, int32_t *cell, int64_t first, int64_t end);
    /** The first particle whose state has NaN or Inf; @p end: none. */
    int64_t (*find_bad)(const strake_sph_parts *parts, int64_t first, int64_t end);
} strake_sph_rows;

const strake_sph_rows *strake_sph_rows_of(strake_precision precision, strake_isa isa);
const strake_sph_pair_rows *strake_sph_pair_rows_of(strake_precision precision, strake_isa isa);

#endif
