/**
 * @file cl_clock.h
 * A clock on a device that computes a problem alone (cl/clock.cl): the time step of a sweep is found and
 * read there, so that sweeps are enqueued ahead and nobody waits for one. Those beyond the end do nothing: how
 * many were done the clock tells.
 */
#ifndef STRAKE_CL_CLOCK_H
#define STRAKE_CL_CLOCK_H

#include "engine/clock.h"
#include "opencl/cl_window.h"

typedef struct strake_cl_clock {
    cl_kernel kernel;   /**< advance_clock */
    cl_mem clock, told; /**< two strake_clock; reals: whether to go on, all scalars */
    bool is_heard;      /**< by the kernels of all sweeps */
    bool runs;          /**< sweeps take their scalars from it */
    int64_t sweeps;     /**< enqueued since it was started */
    strake_clock given; /**< when it was started */
    strake_clock seen;  /**< as it was when the last strake_cl_clock_look() was done */
} strake_cl_clock;

/** Whether the device can have one. */
bool strake_cl_clock_is_possible(const strake_cl_kernels *kernels);

void strake_cl_clock_release(strake_cl_clock *c, const strake_cl_kernels *kernels);

/** Enqueues setting it; the window's steps then take their scalars from it. @return STRAKE_ERR_DEVICE */
strake_status strake_cl_clock_start(strake_cl_clock *c, strake_cl_window *window,
                                    const strake_clock *clock, strake_error *error);

/** Advances it after a sweep, by what that reduced: by a launch, or in the next sweep's. */
strake_status strake_cl_clock_advance(strake_cl_clock *c, strake_cl_window *window,
                                      strake_error *error);

/** Enqueues reading it; what was enqueued before is done then, too. @param[out] event  NULL: not asked for */
strake_status strake_cl_clock_look(strake_cl_clock *c, strake_cl_window *window, cl_event *event,
                                   strake_error *error);

/** The host tells the scalars again. */
void strake_cl_clock_stop(strake_cl_clock *c, strake_cl_window *window);

#endif
