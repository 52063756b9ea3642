/**
 * @file probes.h
 * What the probes of a scene measure of its fluid: pressure and velocity at a point, by weights of the kernel that are right for
 * fields which are linear there, also at a wall; and how high the water stands.
 *
 * Particles are added one by one, in the order of their numbers: then the bits do not depend on who computed them.
 */
#ifndef STRAKE_SCENE_PROBES_H
#define STRAKE_SCENE_PROBES_H

#include "scene/scene.h"

/** A measurement at one time; zero-initialise, and free with strake_probes_free() in any case. */
typedef struct strake_probes {
    const strake_case *which;
    const strake_scene *scene;
    struct strake_probe_sum *sum; /**< of each probe */
} strake_probes;

/** @param[in] which, scene  borrowed @return STRAKE_ERR_MEMORY */
strake_status strake_probes_begin(strake_probes *probes, const strake_case *which,
                                  const strake_scene *scene, strake_error *error);

/** Adds a particle of the fluid. @param[in] x, v  by direction, in the case [m, m/s]; y is 0 in 2D */
void strake_probes_add(strake_probes *probes, const double x[STRAKE_SCENE_DIRECTIONS],
                       const double v[STRAKE_SCENE_DIRECTIONS], double density, double pressure);

/** @param[out] out  one number per column of the probes, in their order; NaN where there is no fluid */
void strake_probes_end(const strake_probes *probes, double *out);

void strake_probes_free(strake_probes *probes);

/** Refuses probes outside of the scene's box. @return STRAKE_ERR_USAGE */
strake_status strake_probes_check(const strake_case *which,
                                  const double low[STRAKE_SCENE_DIRECTIONS],
                                  const double high[STRAKE_SCENE_DIRECTIONS], strake_error *error);

#endif
