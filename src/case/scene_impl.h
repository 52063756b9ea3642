/** @file scene_impl.h What the readers of scenes share, inside src/case/. */
#ifndef STRAKE_CASE_SCENE_IMPL_H
#define STRAKE_CASE_SCENE_IMPL_H

#include "case/case.h"

/** [x, y, z], in 2D [x, z], by direction. */
strake_status strake_scene_read_vector(const strake_case *which, const strake_node *node,
                                       const char *unit, double *out, strake_error *error);

/**
 * A motion, or a list of some that are added; its laws are by direction, of gravity from time 0 on and of bodies from where
 * they are then. @param[out] out  its series are among which->scene.series
 */
strake_status strake_scene_read_motion(strake_case *which, const strake_node *node, bool is_gravity,
                                       sph_motion *out, strake_error *error);

/** The list of probes into which->scene; NULL: there is none. Without diagnostics they are measured as outputs are written. */
strake_status strake_scene_read_probes(const strake_node *list, strake_case *which,
                                       strake_error *error);

#endif
