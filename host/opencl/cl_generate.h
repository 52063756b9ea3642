/**
 * @file cl_generate.h
 * OpenCL C from a stage graph: one kernel per stage number, calling the shared point functions.
 */
#ifndef STRAKE_CL_GENERATE_H
#define STRAKE_CL_GENERATE_H

#include "engine/graph.h"

enum { STRAKE_CL_KERNEL_OUTPUTS = 8, STRAKE_CL_KERNEL_ARRAYS = 16 };

/** What the host must know to launch one generated kernel. */
typedef struct strake_cl_kernel_plan {
    char name[2 * STRAKE_NAME_LENGTH]; /**< kernel function */
    int number;                        /**< stage number */
    bool is_static;                    /**< only static values: run once after an upload */
    int stages;
    int stage[STRAKE_CL_KERNEL_OUTPUTS]; /**< stage indices, all with the same extents */
    int inputs;
    int input[STRAKE_CL_KERNEL_ARRAYS]; /**< value indices of arrays read, in argument order */
} strake_cl_kernel_plan;

/**
 * Groups the live stages of a graph into kernels: consecutive stages with one number, equal extents
 * and no operand of each other at a non-zero offset. Argument order of every kernel: input arrays,
 * output arrays, constants (all constants of the graph, by value index), then
 * long slab, long pitch, long origin, int i0, i1, m0, m1, j0, j1.
 * @return number of kernels, at most @p most
 */
int strake_cl_plan_kernels(const strake_graph *graph, int most, strake_cl_kernel_plan *out);

/**
 * The complete program text: real.h, the problem's point header, ghost.cl and the kernels.
 * @param[in] point_header  name under cl/, for example "mpdata_point.h"
 * @return text to free(), or NULL when out of memory
 */
char *strake_cl_generate(const strake_graph *graph, const char *point_header, int kernels,
                         const strake_cl_kernel_plan *plan);

#endif
