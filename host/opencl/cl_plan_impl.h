/** @file cl_plan_impl.h What the parts of the planner (cl_plan.c) do: cl_terms.c, cl_tiles.c. */
#ifndef STRAKE_CL_PLAN_IMPL_H
#define STRAKE_CL_PLAN_IMPL_H

#include "opencl/cl_plan.h"

/**
 * Fills in what a work-item of a kernel evaluates (terms, arrays, operations; of a tiled kernel all), given name,
 * stages, is_static, marches, tiled and flat.
 * @param[in] stored         per value: it must be written to an array if this kernel computes it
 * @param[in] inline_static  compute cheap static values instead of loading them
 * @return false where the kernel exceeds a limit; terms are then one more than there may be, if it is theirs
 */
bool strake_cl_plan_terms(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, bool inline_static, strake_cl_kernel_plan *plan);

/** What is left to fill in then: lags, reach, what is kept. It makes no kernel cheaper. */
void strake_cl_plan_complete(const strake_graph *graph, const strake_cl_options *options,
                             strake_cl_kernel_plan *plan);

/**
 * Phases, terms, local arrays and estimates of a tiled kernel whose outputs are known.
 * @param[in] stored  per value: it is written to an array
 * @param[in] member  per value: this kernel computes it
 * @return false where the kernel exceeds a limit, or the local memory
 */
bool strake_cl_plan_tiles(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, const bool *member, strake_cl_kernel_plan *plan);

#endif
