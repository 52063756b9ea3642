/** @file cl_launch.h Arguments and launches of compiled kernels. */
#ifndef STRAKE_CL_LAUNCH_H
#define STRAKE_CL_LAUNCH_H

#include "opencl/cl_kernels.h"

/** Arguments of a kernel, set in order; the first failure is kept in @c code. */
typedef struct strake_cl_arguments {
    const strake_cl *cl;
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
    cl_event *event;          /**< set by the launch; NULL: not asked for */
    strake_cl_passed *passed; /**< what the kernel has already; NULL: that is not known */
} strake_cl_arguments;

strake_cl_arguments strake_cl_arguments_begin(const strake_cl *cl, cl_kernel kernel);
void strake_cl_pass(strake_cl_arguments *a, size_t bytes, const void *value);
void strake_cl_pass_buffer(strake_cl_arguments *a, cl_mem buffer);
void strake_cl_pass_long(strake_cl_arguments *a, int64_t value);
void strake_cl_pass_int(strake_cl_arguments *a, int64_t value);
void strake_cl_pass_real(strake_cl_arguments *a, strake_precision precision, double value);

/** Enqueues x * y * z work-items or more: whole groups of width * height. */
strake_status strake_cl_launch(const strake_cl_kernels *kernels, cl_command_queue queue,
                               const char *name, const strake_cl_arguments *a, size_t width,
                               size_t height, size_t x, size_t y, size_t z, strake_error *error);

#endif
