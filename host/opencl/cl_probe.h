/** @file cl_probe.h Rates of a device that cl_sizes.h asks for. */
#ifndef STRAKE_CL_PROBE_H
#define STRAKE_CL_PROBE_H

#include "opencl/cl_sizes.h"
#include "opencl/cl_window.h"

/** Slabs of a window that is large enough to measure on, and fits. */
int64_t strake_cl_probe_slabs(const strake_cl_demand *demand);

/**
 * Measures transfers of memory, pinned or not, in either direction and time steps, on a window of at least one
 * slab, whose arrays are overwritten with ones. Takes well under a second on a GPU.
 */
strake_status strake_cl_probe(strake_cl_window *window, bool pinned, strake_cl_rates *out,
                              strake_error *error);

#endif
