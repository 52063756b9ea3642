/**
 * @file cl_stripe.h
 * A stripe of slabs on an OpenCL device, driven by one host thread. It lives in the device's memory, or
 * streams through it in blocks (cl_blocks.h) where that is too small; cl_resident.h says what it exchanges.
 */
#ifndef STRAKE_CL_STRIPE_H
#define STRAKE_CL_STRIPE_H

#include "opencl/cl_blocks.h"
#include "opencl/cl_describe.h"
#include "opencl/cl_resident.h"

/** How a stripe works. */
typedef struct strake_cl_stripe_options {
    const strake_settings *settings; /**< read now, but for run.dump_kernels */
    strake_cl_costs costs;           /**< of a resident stripe's exchange */
    bool pins;                       /**< host arrays may be pinned for it (cl_pins.h) */
    bool one_way;                    /**< slabs wander down: it must fit in the device's memory */
    bool movable;                    /**< slabs may change their owner while it runs */
    bool has_all;                    /**< the host arrays are those of the whole grid */
    int64_t horizon;                 /**< steps between two stops for output; 0: unknown */
    strake_cl_known known;           /**< of streaming, from tuning */
    strake_cl_wakes wakes;           /**< what makes cells active */
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
    strake_cl_resident *resident;
    strake_cl_blocks *blocks;
} strake_cl_stripe;

/**
 * Builds kernels and allocates device memory for stripe @p self of @p stripes.
 * @param[in] graph, host_layout, stripe  borrowed until destroy; host_layout is that of the whole grid
 * @param[in] steps  most steps per sweep; a stripe that is the whole grid and streams may choose more
 * @return STRAKE_ERR_USAGE if not even a block fits in what run.device_memory allows, or it would stream
 *         where slabs wander, STRAKE_ERR_DEVICE
 *         (with what was asked for if memory ran out), STRAKE_ERR_MEMORY.
 */
strake_status strake_cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
                                      const strake_graph *graph, const strake_problem *problem,
                                      const strake_layout *host_layout, const strake_range *stripe,
                                      int stripes, int self, int steps,
                                      const strake_cl_stripe_options *options,
                                      strake_cl_stripe **out, strake_error *error);
void strake_cl_stripe_destroy(strake_cl_stripe **stripe);

/** Whether one that streams could have these slabs as it is, and would still have to stream. */
bool strake_cl_stripe_has_room(const strake_cl_stripe *stripe, strake_range range);

/** Gives one that streams these slabs, for which it has room. */
strake_status strake_cl_stripe_move(strake_cl_stripe *stripe, strake_range range,
                                    strake_error *error);

/** The memory of the stripe and how it streams through the device, sizes.steps = 0 if it does not. */
void strake_cl_stripe_describe(const strake_cl_stripe *stripe, strake_cl_blocks_report *out);

/** What the stripe exchanges with others; zeros if it streams. */
void strake_cl_stripe_describe_exchange(const strake_cl_stripe *stripe,
                                        strake_cl_exchange_report *out);

/** What it computes of its cells. */
void strake_cl_stripe_describe_activity(const strake_cl_stripe *stripe, strake_cl_activity *out);

/** The kernels of the stripe, at most a launch of its own slabs or of one block. */
void strake_cl_stripe_describe_kernels(const strake_cl_stripe *stripe, strake_cl_description *out);

#endif
