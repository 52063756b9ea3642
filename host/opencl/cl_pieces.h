/**
 * @file cl_pieces.h
 * Tiles and pieces into which marching kernels cut a stripe.
 */
#ifndef STRAKE_OPENCL_CL_PIECES_H
#define STRAKE_OPENCL_CL_PIECES_H

#include "opencl/cl_plan.h"

enum {
    STRAKE_CL_LEAST_ROWS =
        6 /**< of a piece: of fewer, those that are computed again would dominate */
};

/** Work-items (axis 2) or lines (axis 1) of a group that store nothing. */
size_t strake_cl_count_sides(const strake_cl_kernel_plan *plan, int axis);

/** Tiles of @p extent cells of axis 1 or 2, for groups of @p size work-items, less those at their ends. */
int64_t strake_cl_count_tiles(const strake_cl_kernel_plan *plan, int axis, int64_t extent,
                              size_t size);

/**
 * In how many pieces units compute planes the soonest where each holds one group at a time: the busiest one has all planes
 * of a piece, and those that are computed again before and behind it, as often as groups follow each other.
 * @param      tiles  of a plane
 * @param[out] most   planes that the busiest unit computes
 */
int64_t strake_cl_count_pieces(const strake_cl_kernel_plan *plan, int64_t units, int64_t planes,
                               int64_t tiles, int64_t *most);

#endif
