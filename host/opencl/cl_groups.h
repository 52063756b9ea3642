/**
 * @file cl_groups.h
 * How large work-groups are, how many rows they march along, and the launches that follow from it.
 */
#ifndef STRAKE_CL_GROUPS_H
#define STRAKE_CL_GROUPS_H

#include "opencl/cl_launch.h"

/** Sizes of groups and the generator's options: what was asked for, within the device's limits. */
void strake_cl_groups_choose(strake_cl_kernels *kernels, const strake_layout *layout,
                             const strake_settings *settings);

/**
 * The size of tiles and of their groups: a tile is as wide as the group that was asked for, and in three dimensions as
 * high; it has group_rows rows or planes. @param[in] flat  axis 1 has one cell
 * @param[in] widest, most  limits of its columns and its work-items
 */
void strake_cl_groups_tile(strake_cl_options *options, const strake_settings *settings, bool flat,
                           size_t widest, size_t most);

/** Work-items of a group of kernel @p k along columns, and along rows (along lines of a marching one). */
void strake_cl_groups_size(const strake_cl_kernels *kernels, int k, size_t size[2]);

/** Most registers per work-item that the compiler is told; 0: its choice. */
int strake_cl_groups_registers(const strake_cl_kernels *kernels);

/**
 * Groups of kernel @p k that the registers of a compute unit hold at once (32 bits each, given to 32
 * work-items in steps of 8); 0 where the device does not tell how many it has.
 * @param[out] share  of the 2048 work-items that a unit of a large GPU holds at most
 */
int64_t strake_cl_groups_resident(const strake_cl_kernels *kernels, int k, int registers,
                                  double *share);

/** How a launch of a kernel is cut. */
typedef struct strake_cl_cut {
    size_t size[2];   /**< work-items of a group, along dimensions 0 and 1 */
    size_t groups[3]; /**< along dimensions */
    int64_t rows;     /**< that a marching group goes along; else 0 */
} strake_cl_cut;

/** @param[in] extent  cells per axis that kernel @p k computes, the outputs' extents included */
strake_cl_cut strake_cl_groups_cut(const strake_cl_kernels *kernels, int k,
                                   const int64_t extent[STRAKE_AXES]);

/* What choosing sizes of groups (cl_choose.c) and using them share. */

enum {
    STRAKE_CL_MANY_REGISTERS = 132 /**< of a work-item: beyond this number a compiler would spill */
};

static inline size_t strake_cl_at_most(size_t x, size_t limit)
{
    return x > limit ? limit : x;
}

/** Whether the numbers of one row of kernel @p k need registers, too. */
bool strake_cl_groups_is_heavy(const strake_cl_kernels *kernels, int k);

/** Registers that a work-item of kernel @p k needs, as compilers have been seen to need them: 32 bits each. */
int strake_cl_groups_need(const strake_cl_kernels *kernels, int k);

#endif
