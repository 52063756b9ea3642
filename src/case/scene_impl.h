/** @file scene_impl.h What the readers of scenes share, inside src/case/. */
#ifndef STRAKE_CASE_SCENE_IMPL_H
#define STRAKE_CASE_SCENE_IMPL_H

#include "case/case.h"

/** [x, y, z], in 2D [x, z], by direction. */
strake_status strake_scene_read_vector(const strake_case *which, const strake_node *node,
                                       const char *unit, double *out, strake_error *error);

/** The list of probes into which->scene; NULL: there is none. Without diagnostics they are measured as outputs are written. */
strake_status strake_scene_read_probes(const strake_node *list, strake_case *which,
                                       strake_error *error);

#endif
