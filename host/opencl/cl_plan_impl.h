/**
 * @file cl_plan_impl.h
 * What the parts of the planner share (cl_terms.c, cl_lags.c, cl_tiles.c) and the writers of marching and
 * tiled kernels ask.
 */
#ifndef STRAKE_CL_PLAN_IMPL_H
#define STRAKE_CL_PLAN_IMPL_H

#include "opencl/cl_plan.h"

/** Whether a term belongs to a column of the work-item itself. */
bool strake_cl_term_is_own(const strake_cl_kernel_plan *plan, const strake_cl_term *term);

/** Whether a term is an own one of an output: it goes to memory. */
bool strake_cl_term_is_stored(const strake_cl_kernel_plan *plan, const strake_cl_term *term);

/** Work-items from here to the one whose column a term belongs to, along axis 1 or 2. */
int strake_cl_items_away(const strake_cl_kernel_plan *plan, const strake_cl_term *term, int axis);

/** The own term of the work-item that an exchanged term comes from. */
int strake_cl_find_owner(const strake_cl_kernel_plan *plan, const strake_cl_term *term);

/** Operations of one evaluation, a division and a choice counted as several. */
int strake_cl_stage_ops(const strake_stage *stage);

/** Adds a value to a kernel's inputs, once. @return false where there is no room */
bool strake_cl_add_input(strake_cl_kernel_plan *plan, int value);

/** Cells that arrays have before and after the stripe's along an axis: the most that any value needs. */
void strake_cl_find_reach(const strake_graph *graph, int axis, int *lo, int *hi);

/**
 * Phases, terms, local arrays and estimates of a tiled kernel whose outputs are known.
 * @param[in] stored  per value: it is written to an array
 * @param[in] member  per value: this kernel computes it
 * @return false where the kernel exceeds a limit, or the local memory
 */
bool strake_cl_plan_tiles(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, const bool *member, strake_cl_kernel_plan *plan);

/** Cells of a phase along an axis, the tile's included. */
int strake_cl_phase_extent(const strake_cl_options *options, const strake_cl_phase *phase,
                           int axis);

/** Cells before the tile along an axis for which there is room in local memory. */
int strake_cl_tile_lead(const strake_cl_kernel_plan *plan, int axis);

/** Lags, depths, reach and estimates of a marching kernel whose terms are known. */
void strake_cl_schedule(const strake_graph *graph, const strake_cl_options *options,
                        strake_cl_kernel_plan *plan);

#endif
