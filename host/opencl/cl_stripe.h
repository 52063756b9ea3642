/**
 * @file cl_stripe.h
 * A stripe of slabs on an OpenCL device, driven by one host thread. Between two sweeps of one or
 * several steps its border slabs go to the host arrays and its ghost slabs come from there; ghosts
 * whose source it owns itself are copied on the device.
 *
 * For sweeps of several steps the window is deeper: each step computes as many slabs beyond the stripe
 * as the steps after it need, and at the domain's edges ghosts are extended anew in every step.
 */
#ifndef STRAKE_CL_STRIPE_H
#define STRAKE_CL_STRIPE_H

#include "opencl/cl_exchange.h"

/** In the order of the words of run.overlap. */
typedef enum strake_cl_overlap {
    STRAKE_CL_OVERLAP_DEFAULT, /**< on GPUs, where the borders are few beside the interior */
    STRAKE_CL_OVERLAP_OFF,     /**< all slabs at once, then the transfers */
    STRAKE_CL_OVERLAP_ON       /**< border slabs first, transfers beside the interior */
} strake_cl_overlap;

/** How a stripe works; zero means the default everywhere. */
typedef struct strake_cl_stripe_options {
    strake_cl_tuning tuning;
    strake_cl_overlap overlap;
    strake_cl_wait_kind wait;
} strake_cl_stripe_options;

typedef struct strake_cl_stripe strake_cl_stripe;

/**
 * Builds kernels and allocates device memory for stripe @p self of @p stripes.
 * @param[in] graph, host_layout, stripe  borrowed until destroy; host_layout is that of the whole grid
 * @param[in] steps                       most steps per sweep
 * @return STRAKE_ERR_DEVICE (with what was asked for if memory ran out), STRAKE_ERR_MEMORY.
 */
strake_status strake_cl_stripe_create(const strake_cl *cl, const strake_cl_device *device,
                                      const strake_graph *graph, const strake_problem *problem,
                                      const strake_layout *host_layout, const strake_range *stripe,
                                      int stripes, int self, int steps,
                                      const strake_cl_stripe_options *options,
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

/**
 * Enqueues one sweep: all kernels, then or beside them the border slabs' reads; returns without
 * waiting.
 * @param[in] steps  1 to what the stripe was made for
 */
strake_status strake_cl_stripe_sweep(strake_cl_stripe *stripe, int steps, strake_error *error);

/**
 * Makes the array before the last sweep current again (it was a trial for timing): the states before
 * it after a single step, undefined ones after several.
 */
void strake_cl_stripe_undo(strake_cl_stripe *stripe, int steps);

/** Waits for the border slabs of the sweep and writes them into the host arrays (by state value). */
strake_status strake_cl_stripe_publish(strake_cl_stripe *stripe, void *const *array,
                                       strake_error *error);

/** Takes the ghost slabs of the new states from the host arrays and enqueues their upload. */
strake_status strake_cl_stripe_fetch(strake_cl_stripe *stripe, void *const *array,
                                     strake_error *error);

/** Waits until everything enqueued is done. */
strake_status strake_cl_stripe_finish(strake_cl_stripe *stripe, strake_error *error);

/**
 * Whether every value of the states was finite when strake_cl_stripe_look() was called last; waits for
 * that, not for what was enqueued since. True if it was not called since the last answer.
 */
strake_status strake_cl_stripe_look(strake_cl_stripe *stripe, strake_error *error);
strake_status strake_cl_stripe_is_finite(strake_cl_stripe *stripe, bool *finite,
                                         strake_error *error);

/** Whether nothing has been written before and after the arrays; waits. Clears @p intact otherwise. */
strake_status strake_cl_stripe_check(strake_cl_stripe *stripe, bool *intact, strake_error *error);

/** True if no other stripe exchanges with it: steps may be enqueued ahead without publish and fetch. */
bool strake_cl_stripe_is_alone(const strake_cl_stripe *stripe);

#endif
