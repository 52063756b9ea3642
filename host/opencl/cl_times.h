/** @file cl_times.h How long each kernel of a step takes, by the device's own timers. */
#ifndef STRAKE_CL_TIMES_H
#define STRAKE_CL_TIMES_H

#include "opencl/cl_window.h"

/** One kernel of a step. */
typedef struct strake_cl_time {
    char name[2 * STRAKE_NAME_LENGTH];
    double seconds; /**< the fastest of a few launches */
} strake_cl_time;

#endif
