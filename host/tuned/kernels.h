/** @file kernels.h From run.* keys to the parameters of a device's kernels. */
#ifndef STRAKE_TUNED_KERNELS_H
#define STRAKE_TUNED_KERNELS_H

#include "case/settings.h"
#include "opencl/cl_stripe.h"

/** How a device's stripe works, as settings say; the folder for kernels is borrowed from them. */
strake_cl_stripe_options strake_tuned_kernels(const strake_settings *settings);

#endif
