/**
 * @file cl_stripe.h
 * A stripe of slabs on an OpenCL device, driven by one host thread. It lives in the device's memory, or
 * streams through it in blocks (cl_blocks.h) where that is too small; cl_resident.h says what it exchanges.
 */
#ifndef STRAKE_CL_STRIPE_H
#define STRAKE_CL_STRIPE_H

#include "opencl/cl_blocks.h"
#include "opencl/cl_resident.h"

/** How a stripe works. */
typedef struct strake_cl_stripe_options {
    const strake_settings *settings; /**< read now, but for run.dump_kernels */
    strake_cl_costs costs;           /**< of a resident stripe's exchange */
    bool pins;                       /**< host arrays may be pinned for it (cl_queue.h) */
    bool one_way;                    /**< slabs wander down: it must fit in the device's memory */
    bool movable;                    /**< slabs may change their owner while it runs */
    bool has_all;                    /**< the host arrays are those of the whole grid */
    int64_t horizon;                 /**< steps between two stops for output; 0: unknown */
    strake_cl_known known;           /**< of streaming, from tuning */
    strake_cl_wakes wakes;           /**< what makes cells active */
    strake_cl_batch *batch;          /**< to step with its members, if it can; NULL: alone */
    double limit; /**< seconds of a wait after which the device counts as hung; 0: none */
} strake_cl_stripe_options;

/** Either resident or streaming in blocks: the other one is NULL. */
typedef struct strake_cl_stripe {
    strake_cl_kernels kernels;
    const strake_layout *host;
    strake_range range; /**< of the grid; if it is resident, when it was made */
    int steps;          /**< most per sweep */
    uint64_t need;   /**< bytes that its arrays take if resident, without room for others' slabs */
    uint64_t memory; /**< bytes that they may take */
    uint64_t held;   /**< bytes that they take if it is resident */
    strake_cl_member *member;  /**< of a batch; NULL: it is alone ... */
    strake_cl_batch *alone_of; /**< ... of this one */
    strake_cl_resident *resident;
    strake_cl_blocks *blocks;
} strake_cl_stripe;

#endif
