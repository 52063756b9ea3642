/**
 * @file cl_stripe.h
 * A stripe of slabs on an OpenCL device, driven by one host thread. It lives in the device's memory, or
 * streams through it in blocks (cl_blocks.h) where that is too small.
 *
 * A resident stripe: between two sweeps of one or several steps its border slabs go to the host arrays
 * and its ghost slabs come from there; ghosts whose source it owns itself are copied on the device.
 *
 * For sweeps of several steps the window is deeper: each step computes as many slabs beyond the stripe
 * as the steps after it need, and at the domain's edges ghosts are extended anew in every step.
 */
#ifndef STRAKE_CL_STRIPE_H
#define STRAKE_CL_STRIPE_H

#include "opencl/cl_blocks.h"
#include "opencl/cl_fault.h"
#include "opencl/cl_describe.h"
#include "opencl/cl_resident.h"

/** How a stripe works; zero means the default everywhere. */
typedef struct strake_cl_stripe_options {
    strake_cl_tuning tuning;
    strake_cl_overlap overlap;
    strake_cl_wait_kind wait;
    strake_cl_costs costs; /**< of a resident stripe's exchange */
    bool pins;             /**< host arrays may be pinned for it: no other device does */
    uint64_t memory;       /**< bytes of device memory; 0: what the device has */
    int64_t blocks; /**< stream through the device in so many blocks; 0: only where it must */
    int streams;
    int steps;             /**< asked for per sweep: those of a stripe that streams alone */
    bool one_way;          /**< slabs wander down: it must fit in the device's memory */
    bool movable;          /**< slabs may change their owner while it runs */
    int64_t horizon;       /**< steps between two stops for output; 0: unknown */
    strake_cl_known known; /**< of streaming, from tuning */
    double limit;          /**< seconds of a wait after which the device counts as hung; 0: none */
} strake_cl_stripe_options;

typedef struct strake_cl_stripe strake_cl_stripe;

/**
 * Builds kernels and allocates device memory for stripe @p self of @p stripes.
 * @param[in] graph, host_layout, stripe  borrowed until destroy; host_layout is that of the whole grid
 * @param[in] steps  most steps per sweep; a stripe that is the whole grid and streams may choose more
 * @return STRAKE_ERR_USAGE if not even a block fits in what options->memory allows, or it would stream
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

/** Most steps of a sweep. */
int strake_cl_stripe_steps(const strake_cl_stripe *stripe);

/** The memory of the stripe and how it streams through the device, sizes.steps = 0 if it does not. */
void strake_cl_stripe_describe(const strake_cl_stripe *stripe, strake_cl_blocks_report *out);

/** What the stripe exchanges with others; zeros if it streams. */
void strake_cl_stripe_describe_exchange(const strake_cl_stripe *stripe,
                                        strake_cl_exchange_report *out);

/** The kernels of the stripe, at most a launch of its own slabs or of one block. */
void strake_cl_stripe_describe_kernels(const strake_cl_stripe *stripe, strake_cl_description *out);

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
 * waiting. Of the host arrays a resident stripe writes its border slabs of the next states, nothing else.
 * @param[in] steps  1 to strake_cl_stripe_steps()
 * @param[in] array  host arrays of the current states and static inputs, by value
 * @param[in] next   host arrays of the next states, by output value
 */
strake_status strake_cl_stripe_sweep(strake_cl_stripe *stripe, int steps, void *const *array,
                                     void *const *next, strake_error *error);

/**
 * Makes the array before the last sweep current again (it was a trial for timing): the states before
 * it after a single step, undefined ones after several.
 */
strake_status strake_cl_stripe_undo(strake_cl_stripe *stripe, int steps, strake_error *error);

/** Waits until everything enqueued is done and lets go of the host arrays' pages until the next sweep. */
strake_status strake_cl_stripe_unpin(strake_cl_stripe *stripe, strake_error *error);

/**
 * Waits until the border slabs of the sweep are in the host arrays of the next states, and the stripe
 * reads nothing more of the arrays before.
 */
strake_status strake_cl_stripe_publish(strake_cl_stripe *stripe, strake_error *error);

/** Takes the ghost slabs of the new states from the host arrays and enqueues their upload. */
strake_status strake_cl_stripe_fetch(strake_cl_stripe *stripe, void *const *array,
                                     strake_error *error);

/** Waits until everything enqueued is done. */
strake_status strake_cl_stripe_finish(strake_cl_stripe *stripe, strake_error *error);

/**
 * Whether every value of the states was finite when strake_cl_stripe_look() was called last; waits for
 * that, not for what was enqueued since. True if it was not called since the last answer. A stripe that
 * streams has looked at the states after every sweep up to that call.
 */
strake_status strake_cl_stripe_look(strake_cl_stripe *stripe, strake_error *error);
strake_status strake_cl_stripe_is_finite(strake_cl_stripe *stripe, bool *finite,
                                         strake_error *error);

/**
 * Moving slabs between stripes, between two runs of the team. First every stripe gives: it downloads
 * into the host arrays of the current states what it will not own any more and what others will need
 * of it as ghosts. Then every stripe takes: it uploads what it gains and plans its exchange anew.
 * has_room: whether it can own these slabs without being made anew.
 */
bool strake_cl_stripe_has_room(const strake_cl_stripe *stripe, strake_range own);
strake_status strake_cl_stripe_give(strake_cl_stripe *stripe, const strake_range *stripes_then,
                                    int stripes, int self, void *const *array, strake_error *error);
strake_status strake_cl_stripe_take(strake_cl_stripe *stripe, const strake_range *stripes_then,
                                    int stripes, int self, void *const *array, strake_error *error);

/**
 * Seconds per step that the device worked, from timers on the device around some of the sweeps since
 * the last call; 0 where it has none or none is done.
 */
double strake_cl_stripe_busy(strake_cl_stripe *stripe);

/**
 * Test switch: from now on the stripe's device fails in the way of @p fault (cl_fault.h). With
 * SLOW every step's kernels are launched @p factor times.
 */
strake_status strake_cl_stripe_break(strake_cl_stripe *stripe, strake_cl_fault fault, int factor,
                                     strake_error *error);

/**
 * Between two sweeps: records the commands of those that follow, until it is called again with NULL or
 * the stripe is destroyed; strake_cl_record_end() then reads the times. Waits; queues are replaced by
 * ones with timers and back.
 * @param[in,out] record  borrowed until then
 */
strake_status strake_cl_stripe_record(strake_cl_stripe *stripe, strake_cl_record *record,
                                      strake_error *error);

/** Whether nothing has been written before and after the arrays; waits. Clears @p intact otherwise. */
strake_status strake_cl_stripe_check(strake_cl_stripe *stripe, bool *intact, strake_error *error);

/** strake_cl_window_time() of its slabs; none for a stripe that streams. */
strake_status strake_cl_stripe_time(strake_cl_stripe *stripe, strake_cl_time *out, int *count,
                                    strake_error *error);

/** True if no other stripe exchanges with it: steps may be enqueued ahead without publish and fetch. */
bool strake_cl_stripe_is_alone(const strake_cl_stripe *stripe);

#endif
