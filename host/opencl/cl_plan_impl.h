/**
 * @file cl_plan_impl.h
 * What the parts of the planner share (cl_terms.c, cl_lags.c) and the writer of marching kernels asks.
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

/** Lags, depths, reach and estimates of a marching kernel whose terms are known. */
void strake_cl_schedule(const strake_graph *graph, const strake_cl_options *options,
                        strake_cl_kernel_plan *plan);

#endif
