/**
 * @file cl_lift.h
 * Inputs of a window that change: what they are next goes up beside the steps that still read what they were, through a
 * queue of its own into a second array of each, and then the two change roles. The first time that an input comes, and
 * where there is no memory for a second array, it is written where it is, after the steps.
 */
#ifndef STRAKE_CL_LIFT_H
#define STRAKE_CL_LIFT_H

#include "opencl/cl_queue.h"
#include "opencl/cl_window.h"

typedef struct strake_cl_lift {
    strake_cl_window *window;        /**< borrowed */
    cl_command_queue queue;          /**< NULL until an input comes again */
    cl_mem spare[STRAKE_MAX_VALUES]; /**< second arrays, by value */
    bool came[STRAKE_MAX_VALUES];    /**< inputs that are there */
    bool refused;                    /**< there is no memory for another array */
    uint64_t room, held;             /**< bytes that second arrays may take, and take */
    cl_event read;                   /**< no step reads the second arrays any more */
    cl_event arrived;                /**< the host's memory is not read any more */
    strake_cl_pins pins;             /**< of the host's arrays of such inputs */
    strake_cl_waiter waiter;
} strake_cl_lift;

/**
 * @param[in]  window  borrowed until release
 * @param[in]  pins    host memory may be pinned
 * @param[in]  memory  bytes that the window and this may take together
 * @param[out] lift    zeroed by the caller
 */
void strake_cl_lift_open(strake_cl_lift *lift, strake_cl_window *window, bool pins, uint64_t memory,
                         const strake_cl_waiter *waiter);
void strake_cl_lift_release(strake_cl_lift *lift);

/**
 * Enqueues the upload of some inputs.
 * @param[in]  host    layout of the host arrays, that of the whole grid
 * @param[in]  base    slab of the grid that is slab 0 of the window
 * @param[in]  array   host arrays, by value; NULL: not of those
 * @param[out] beside  they go up beside the steps, and those that are enqueued from now on wait for them
 */
strake_status strake_cl_lift_upload(strake_cl_lift *lift, const strake_layout *host, int64_t base,
                                    void *const *array, bool *beside, strake_error *error);

/** Waits until the host's memory is not read any more. */
strake_status strake_cl_lift_wait(strake_cl_lift *lift, strake_error *error);

#endif
