/** @file parts.h The parts of a grid: who can compute its slabs. */
#ifndef STRAKE_GRID_PARTS_H
#define STRAKE_GRID_PARTS_H

#include "run/part.h"

extern const strake_part_ops
    strake_part_serial; /**< the naive reference, which others are compared with */
extern const strake_part_ops
    strake_part_cpu; /**< threads of the processor with a row pipeline each */
extern const strake_part_ops
    strake_part_opencl; /**< a device: resident, or in blocks (cl_stripe.h) */

#endif
