/** @file cl_blocks_impl.h Inside of strake_cl_blocks; only for cl_blocks*.c. */
#ifndef STRAKE_CL_BLOCKS_IMPL_H
#define STRAKE_CL_BLOCKS_IMPL_H

#include "opencl/cl_blocks.h"
#include "opencl/cl_pins.h"

/** An in-order queue and what it works on. */
typedef struct strake_cl_stream {
    cl_command_queue queue;
    strake_cl_window window;
    cl_event looked;  /**< the search for NaN and Inf is done */
    cl_event brought; /**< what its last block reads in the host arrays is on the device */
    bool reduces;     /**< what its last block is brought down to is on its way */
} strake_cl_stream;

typedef struct strake_cl_block {
    strake_range own;      /**< of the grid */
    strake_cl_pairs edges; /**< ghosts beyond the domain's edges */
    cl_event done[2];      /**< the download in the sweep of that generation */
} strake_cl_block;

struct strake_cl_blocks {
    const strake_cl_kernels *kernels;
    const strake_layout *host;
    strake_range range;
    strake_cl_sizes sizes;
    strake_cl_demand demand;
    strake_cl_rates rates;
    bool alone;    /**< no other stripe */
    bool movable;  /**< slabs may change their owner */
    int64_t most;  /**< own slabs of a block that a window has room for */
    int64_t extra; /**< slabs of a window before and after a block's own */
    int streams;   /**< that exist, also while they are being made */
    strake_cl_stream stream[STRAKE_CL_MOST_STREAMS];
    strake_cl_block *block;
    int64_t start;                         /**< block that the next sweep begins with */
    int64_t turn;                          /**< streams take blocks in turn */
    int generation;                        /**< of the last sweep's events */
    double reduced[STRAKE_MAX_REDUCTIONS]; /**< of the present sweep's blocks that are read */
    strake_cl_pins pins;
    strake_cl_waiter waiter;
    strake_cl_blocks_report report, before; /**< now, and before the last sweep */
};

static inline bool strake_cl_blocks_is_periodic(const strake_cl_blocks *blocks)
{
    return blocks->host->boundary[0] == STRAKE_PERIODIC;
}

#endif
