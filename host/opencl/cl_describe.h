/** @file cl_describe.h Which kernels a stripe runs and what they take of the device, for reports. */
#ifndef STRAKE_CL_DESCRIBE_H
#define STRAKE_CL_DESCRIBE_H

#include "opencl/cl_kernels.h"

/** Kernels of every step, with the defaults that were in effect. Sizes are those of the largest kernel. */
typedef struct strake_cl_description {
    int count;         /**< of every step; 0: there are none */
    int marching;      /**< that march along rows */
    int tiled;         /**< whose groups compute tiles; the others give every work-item a cell */
    bool of_particles; /**< a work-item has particles; traffic is not counted */
    bool limitable;    /**< the compiler can be told a limit on registers */
    double bytes_per_cell; /**< that they load and store, with nothing found in caches twice */
    strake_settings used;  /**< in effect, with defaults; no texts but groups */
    int registers;         /**< per work-item; 0: the driver does not tell */
    int64_t resident;      /**< groups of that kernel in a compute unit, by registers; 0: unknown */
    double occupancy;      /**< share of the work-items that a unit holds at most */
    int64_t private_bytes; /**< per work-item, as the driver tells it */
    int64_t local_bytes;   /**< per group, as the driver tells it */
} strake_cl_description;

/** @param[in] cells  per axis that a launch computes */
void strake_cl_kernels_describe(const strake_cl_kernels *kernels, const int64_t cells[STRAKE_AXES],
                                strake_cl_description *out);

#endif
