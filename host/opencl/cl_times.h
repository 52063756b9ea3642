/** @file cl_times.h How long each kernel of a step takes, by the device's own timers. */
#ifndef STRAKE_CL_TIMES_H
#define STRAKE_CL_TIMES_H

#include "opencl/cl_window.h"

/** One kernel of a step. */
typedef struct strake_cl_time {
    char name[2 * STRAKE_NAME_LENGTH];
    double seconds; /**< the fastest of a few launches */
} strake_cl_time;

/**
 * Runs the kernels of a step on slabs [first, end) a few times, on a queue of its own with timers, once
 * the window's queue is empty. A trial: the current states stay, the next ones are overwritten.
 * @param[out] out   STRAKE_CL_MOST_KERNELS entries, in the order of the launches
 * @param[out] count 0 where the device has no timers
 * @return STRAKE_ERR_DEVICE
 */
strake_status strake_cl_window_time(strake_cl_window *window, int64_t first, int64_t end,
                                    strake_cl_time *out, int *count, strake_error *error);

#endif
