/** @file cl_exchange_impl.h What host/opencl/cl_exchange*.c have in common. */
#ifndef STRAKE_CL_EXCHANGE_IMPL_H
#define STRAKE_CL_EXCHANGE_IMPL_H

#include "opencl/cl_exchange.h"

/** Whether slabs of a state are exchanged after a sweep. */
bool strake_cl_exchange_travels(const strake_cl_exchange *x, int state);

/** Ghost slabs from @p g on that lie one after the other in the window and in the host arrays. */
int strake_cl_exchange_run_of(const strake_cl_exchange *x, int g);

#endif
