/**
 * @file reference.h
 * `serial`: the naive reference. Array by array, one thread, no vectors, no blocking: what the MPDATA
 * paper calls the serial version. It tests the scheduling of everything else.
 */
#ifndef STRAKE_REFERENCE_H
#define STRAKE_REFERENCE_H

#include "engine/layout.h"

typedef struct strake_reference strake_reference;

/** Allocates one full array per intermediate value. @p graph and @p layout are borrowed. */
strake_status strake_reference_create(const strake_graph *graph, const strake_layout *layout,
                                      strake_reference **out, strake_error *error);
void strake_reference_destroy(strake_reference **reference);

/**
 * One step of the whole grid; @p array and @p next as in strake_pipeline_run(), @p scalar and @p reduced as
 * in strake_pipeline_begin() and end (NULL where the graph has none). Fills the ghosts of the states in
 * @p array.
 */
void strake_reference_run(strake_reference *reference, const double *scalar, void *const *array,
                          void *const *next, double *reduced);

#endif
