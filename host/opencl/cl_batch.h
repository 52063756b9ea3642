/**
 * @file cl_batch.h
 * A batch: small two-dimensional grids of one shape, its members, that step in common launches on a device. Each member
 * is a stripe that is a whole grid (cl_resident.h) of a solver of its own, which a thread of its own drives; it has its
 * own states, inputs, constants, clock, end and search for NaN, and the same bytes as alone.
 *
 * The arrays of all members lie one after the other in one buffer for each input and state. A member's window has arrays of
 * its own, through which its thread uploads and fills what is then copied there. (Sub-buffers would spare these: on an H200
 * a launch takes 1.5 us longer for each member that has some.) Steps are made by the batch's thread: it
 * goes through rounds of launches for all members that have asked for some, and members that have come to their end
 * compute nothing meanwhile. A member that leaves makes room for the next one.
 */
#ifndef STRAKE_CL_BATCH_H
#define STRAKE_CL_BATCH_H

#include "engine/clock.h"
#include "opencl/cl_active.h"
#include "opencl/cl_window.h"

/**
 * Most sweeps of a round: members that come in between wait for its end, and so many are asked for ahead, so that a member
 * takes part in each round. As many as a run makes between two looks for NaN and Inf.
 */
enum { STRAKE_CL_BATCH_ROUND = 64 };

typedef struct strake_cl_batch strake_cl_batch;
typedef struct strake_cl_member strake_cl_member;

/**
 * An empty batch for up to @p most members, whose memory the first one to join decides.
 * @return STRAKE_ERR_MEMORY, STRAKE_ERR_STATE without a thread
 */
strake_status strake_cl_batch_create(int most, strake_cl_batch **out, strake_error *error);

/** Frees it; all members have left. */
void strake_cl_batch_destroy(strake_cl_batch **batch);

/** Who wants to step with others: as of strake_cl_kernels_build(). */
typedef struct strake_cl_joining {
    const strake_cl *cl;
    const strake_cl_device *device;
    const strake_graph *graph; /**< borrowed until it leaves */
    const strake_problem *problem;
    const strake_layout *layout;
    const strake_settings *settings;
    uint64_t memory; /**< bytes of the device that the arrays of all members may take */
    const strake_cl_wakes *wakes; /**< what makes cells active */
    double limit;  /**< seconds of a wait after which the device counts as hung; 0: none */
    bool is_alone; /**< it can step with no others */
} strake_cl_joining;

/**
 * Adds a member, where need be once another one has left. The first one of its kind (kernels, shape) has kernels and arrays
 * made.
 * @param[out] kernels  zeroed by the caller: those of the member's window (strake_cl_kernels_share()), to be released
 * @param[out] out      NULL where it can step with no others: three dimensions, too little memory, too many kinds; then it
 *                      is alone, and nobody else is until strake_cl_batch_leave_alone()
 * @return STRAKE_ERR_DEVICE
 */
strake_status strake_cl_batch_join(strake_cl_batch *batch, const strake_cl_joining *joining,
                                   strake_cl_kernels *kernels, strake_cl_member **out,
                                   strake_error *error);
void strake_cl_batch_leave_alone(strake_cl_batch *batch);
void strake_cl_batch_leave(strake_cl_member **member);

/**
 * Enqueues copying what a member's window has into the arrays of the batch: the current states, of which both arrays are the
 * same then, or those inputs that are not NULL in @p array [value].
 */
strake_status strake_cl_member_put_states(strake_cl_member *member, const strake_cl_window *window,
                                          strake_error *error);
strake_status strake_cl_member_put_inputs(strake_cl_member *member, const strake_cl_window *window,
                                          void *const *array, strake_error *error);

/** Where the batch has the current array of state @p k. @param[out] offset  [bytes] */
cl_mem strake_cl_member_state(const strake_cl_member *member, int k, size_t *offset);

/** Makes what follows from static inputs alone, once these are uploaded; waits. */
strake_status strake_cl_member_static(strake_cl_member *member, strake_error *error);

/** States or inputs of a member are new: any of its cells may be active. */
void strake_cl_member_wake(strake_cl_member *member);

/** Its clock, from which sweeps take their time steps, between two runs; NULL: it has none, and makes no sweeps where it needs one. */
void strake_cl_member_set_clock(strake_cl_member *member, const strake_clock *clock);

/**
 * Asks for sweeps of one step, up to the end of the clock, and waits until at most @p left of all that were asked for are
 * left to be made.
 * @param[out]    clock   as it is after those that are made
 * @param[in,out] window  the member's: whose arrays are current, and whether a NaN or Inf was found
 * @return STRAKE_ERR_DEVICE
 */
strake_status strake_cl_member_run(strake_cl_member *member, int64_t sweeps, int64_t left,
                                   strake_clock *clock, strake_cl_window *window,
                                   strake_error *error);

/** The kernels of all members, to describe them. */
const strake_cl_kernels *strake_cl_member_kernels(const strake_cl_member *member);

/**
 * The devices here, the same list for all members; what is found out of a device is kept. One member at a time has it, until
 * strake_cl_batch_devices_end(), which is called after a failure, too. @param[out] list  a copy that is not to be freed
 * @return as strake_cl_list_open()
 */
strake_status strake_cl_batch_devices(strake_cl_batch *batch, strake_cl_list *list,
                                      strake_error *error);
void strake_cl_batch_devices_end(strake_cl_batch *batch);

#endif
