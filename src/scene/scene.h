/**
 * @file scene.h
 * A scene of particles, made from a case: the fluid's numbers and all particles on their places, the same on every
 * machine.
 *
 * The axes of particles (particles/cells.h) are the case's directions in another order: axis 0 is the one that is
 * cut into slices. Positions of particles count from the lower corner of the domain, which is the scene's box and the
 * walls around it.
 */
#ifndef STRAKE_SCENE_H
#define STRAKE_SCENE_H

#include "case/case.h"
#include "particles/sph.h"

enum { STRAKE_PARTICLE_KINDS = STRAKE_PARTICLE_WALL + 1 };

typedef struct strake_scene {
    strake_sph sph;
    double size[STRAKE_PARTICLE_AXES];    /**< of the domain along the axes, from 0 on [m] */
    bool is_round[STRAKE_PARTICLE_AXES];  /**< periodic */
    int direction[STRAKE_PARTICLE_AXES];  /**< of each axis: 0 is the case's x, 1 y, 2 z */
    double origin[STRAKE_PARTICLE_AXES];  /**< where the axes begin, by axis [m] */
    double height;                        /**< H, of the fluid at the start, against gravity [m] */
    int64_t count;                        /**< of particles */
    int64_t kinds[STRAKE_PARTICLE_KINDS]; /**< how many of each kind */
    strake_sph_particle *particle;        /**< by number, which is from 0 on */
    sph_motions *motions;                 /**< those of sph; their series are the case's */
    strake_sph_particle *carried;         /**< those of sph */
    double fastest;                       /**< speed of walls at any time, at most [m/s] */
    int rounds; /**< lengths of the box, of fluid and of obstacles that are no whole number of spacings, ... */
    char rounded[160]; /**< ... and what became of the first one */
} strake_scene;

/**
 * Places the particles of a case; strake_scene_close() in any case. Fluid comes first, then walls, then obstacles, each
 * in the order of the case, and in each x is slowest.
 * @return STRAKE_ERR_USAGE (no fluid; things outside of the box; too many; time steps that cannot work), STRAKE_ERR_MEMORY
 */
strake_status strake_scene_make(const strake_case *which, strake_scene *out, strake_error *error);

void strake_scene_close(strake_scene *scene);

/** Hash of what decides how fast its particles are, beside how many there are. */
uint64_t strake_scene_variant(const strake_scene *scene);

/** The bounds on time steps at the start [s]; INFINITY where there is none. */
typedef struct strake_scene_steps {
    double sound, gravity; /**< cfl h/c0, cfl sqrt(h/g) */
    double viscosity;      /**< of laminar viscosity, h^2/(16 nu) */
} strake_scene_steps;
strake_scene_steps strake_scene_find_steps(const strake_scene *scene);

/** Particles by kind, the domain, h, B, c0 and limits of dt, line by line: what `strake check` and a run's start say. */
void strake_scene_describe(const strake_case *which, const strake_scene *scene,
                           void (*line)(void *user, const char *text), void *user);

/** A position, by axis, as the case has it: [x, y, z] [m]; y is 0 in 2D. */
void strake_scene_position(const strake_scene *scene, const double x[STRAKE_PARTICLE_AXES],
                           double out[STRAKE_SCENE_DIRECTIONS]);

/** A vector, by axis, along the case's directions. */
void strake_scene_vector(const strake_scene *scene, const double v[STRAKE_PARTICLE_AXES],
                         double out[STRAKE_SCENE_DIRECTIONS]);

/** A kind in one word: "fluid", "dynamic", "wall". */
const char *strake_scene_kind_word(strake_particle_kind kind);

/** Components along the directions that the scene has, of three: as users see vectors. */
void strake_scene_list_vector(const strake_scene *scene,
                              const double by_direction[STRAKE_SCENE_DIRECTIONS], double *out);

#endif
