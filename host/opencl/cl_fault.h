/**
 * @file cl_fault.h
 * Devices that fail on purpose, for tests: one that refuses work, one that is gone, one that hangs, one
 * that is slow. What waits and recovers cannot tell them from real failures.
 */
#ifndef STRAKE_CL_FAULT_H
#define STRAKE_CL_FAULT_H

#include "opencl/cl_kernels.h"

/** In the order of the words of $STRAKE_INJECT. */
typedef enum strake_cl_fault {
    STRAKE_CL_FAULT_FAIL, /**< kernels and reads fail: CL_OUT_OF_RESOURCES, as after a bad access */
    STRAKE_CL_FAULT_LOST, /**< every call fails with CL_DEVICE_NOT_AVAILABLE */
    STRAKE_CL_FAULT_HANG, /**< commands are taken and never done */
    STRAKE_CL_FAULT_SLOW  /**< steps take several times as long */
} strake_cl_fault;

/**
 * Entry points that fail: those of @p real, but for the ones that FAIL or LOST break.
 * @param[out] out  may not be @p real
 */
void strake_cl_fault_replace(const strake_cl *real, strake_cl_fault fault, strake_cl *out);

/**
 * Makes everything enqueued from now on wait for an event that never comes. The queue cannot be
 * finished or released any more.
 */
strake_status strake_cl_fault_stall(const strake_cl_kernels *kernels, cl_command_queue queue,
                                    strake_error *error);

#endif
