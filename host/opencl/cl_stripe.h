/**
 * @file cl_stripe.h
 * A stripe of slabs on an OpenCL device: buffers, kernels, one in-order queue, pinned staging.
 * One host thread drives it. Between two steps its border slabs go to the host array and its ghost
 * slabs come from there; ghosts whose source it owns itself are copied on the device.
 */
#ifndef STRAKE_CL_STRIPE_H
#define STRAKE_CL_STRIPE_H

#include "engine/partition.h"
#include "engine/problem.h"
#include "opencl/cl_device.h"
#include "opencl/cl_plan.h"

enum { STRAKE_MAX_FIELDS_PER_STEP = 8 };

/** Parameters of the kernels; zero means the default. */
typedef struct strake_cl_tuning {
    strake_cl_options options; /**< what is generated; options.stride is derived from @c width */
    int width;                 /**< work-group size along columns */
    int height;                /**< work-group size along rows, of point kernels */
    int rows;                  /**< rows per group of marching kernels */
    int registers;             /**< most registers per work-item, where the compiler can be told */
} strake_cl_tuning;

typedef struct strake_cl_stripe strake_cl_stripe;

/**
 * Builds kernels and allocates device memory for stripe @p self of @p stripes.
 * @param[in] graph, host_layout  borrowed until destroy; host_layout is that of the whole grid
 * @param[in] tuning              NULL: defaults
 * @return STRAKE_ERR_DEVICE (with what was asked for if memory ran out), STRAKE_ERR_MEMORY.
 */
strake_status strake_cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
                                      const strake_graph *graph, const strake_problem *problem,
                                      const strake_layout *host_layout, const strake_range *stripe,
                                      int stripes, int self, const strake_cl_tuning *tuning,
                                      strake_cl_stripe **out, strake_error *error);
void strake_cl_stripe_destroy(strake_cl_stripe **stripe);

/** Uploads static inputs (with ghosts) and runs the static stages. array[v]: host arrays by value index. */
strake_status strake_cl_stripe_upload_static(strake_cl_stripe *stripe, void *const *array,
                                             strake_error *error);

/** Uploads the current states (own slabs and ghosts) from the host arrays. */
strake_status strake_cl_stripe_upload_state(strake_cl_stripe *stripe, void *const *array,
                                            strake_error *error);

/** Downloads the own slabs of the current states into the host arrays; waits. */
strake_status strake_cl_stripe_download(strake_cl_stripe *stripe, void *const *array,
                                        strake_error *error);

/** Enqueues one step: all kernels, then the border slabs' reads; returns without waiting. */
strake_status strake_cl_stripe_step(strake_cl_stripe *stripe, strake_error *error);

/** Makes the states before the last step current again (the step was a trial for timing). */
void strake_cl_stripe_undo(strake_cl_stripe *stripe);

/** Waits for the step and writes the border slabs into the host arrays (by output value's state). */
strake_status strake_cl_stripe_publish(strake_cl_stripe *stripe, void *const *array,
                                       strake_error *error);

/** Takes the ghost slabs of the new states from the host arrays and enqueues their upload. */
strake_status strake_cl_stripe_fetch(strake_cl_stripe *stripe, void *const *array,
                                     strake_error *error);

/** Waits until the queue is empty. */
strake_status strake_cl_stripe_finish(strake_cl_stripe *stripe, strake_error *error);

/** Whether every value of the current states is finite; waits. */
strake_status strake_cl_stripe_is_finite(strake_cl_stripe *stripe, bool *finite,
                                         strake_error *error);

/** Whether nothing has been written before and after the arrays; waits. Clears @p intact otherwise. */
strake_status strake_cl_stripe_check(strake_cl_stripe *stripe, bool *intact, strake_error *error);

/** True if no other stripe exchanges with it: steps may be enqueued ahead without publish and fetch. */
bool strake_cl_stripe_is_alone(const strake_cl_stripe *stripe);

#endif
