/**
 * @file cl_groups_impl.h
 * What choosing sizes of groups (cl_choose.c) and using them (cl_groups.c) share.
 */
#ifndef STRAKE_OPENCL_CL_GROUPS_IMPL_H
#define STRAKE_OPENCL_CL_GROUPS_IMPL_H

#include "opencl/cl_groups.h"

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
