/** @file kernels.h From run.* keys to the parameters of a device's kernels. */
#ifndef STRAKE_TUNED_KERNELS_H
#define STRAKE_TUNED_KERNELS_H

#include "case/case.h"
#include "opencl/cl_stripe.h"

/** Parameters of a device's kernels as a case with all its settings has them. */
strake_cl_tuning strake_tuned_kernels(const strake_case *which);

#endif
