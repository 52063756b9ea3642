/** @file kernels.h From run.* keys to the parameters of a device's kernels. */
#ifndef STRAKE_TUNED_KERNELS_H
#define STRAKE_TUNED_KERNELS_H

#include "case/case.h"
#include "opencl/cl_stripe.h"

/** How a device's stripe works, as a case with all its settings says. */
strake_cl_stripe_options strake_tuned_kernels(const strake_case *which);

#endif
