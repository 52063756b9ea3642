/**
 * @file cl_blocks.h
 * A stripe that its device's memory cannot hold, streamed through it in blocks of slabs. The states
 * stay in the host arrays: in a sweep every block is uploaded with the slabs around it and its static
 * inputs, advances several time steps, each on fewer slabs around it, and its own slabs go down into the
 * other host arrays. To the rest of the team it is like a worker of the CPU: it reads the host arrays
 * of one parity and writes those of the other.
 *
 * Streams, each an in-order queue with a window of its own, take the blocks in turn, so that the upload
 * of one, the kernels of another and the download of a third overlap.
 */
#ifndef STRAKE_CL_BLOCKS_H
#define STRAKE_CL_BLOCKS_H

#include "opencl/cl_choose.h"
#include "opencl/cl_queue.h"
#include "opencl/cl_window.h"

/** What is given, beside the settings that the kernels were built with; zero means the default. */
typedef struct strake_cl_blocks_options {
    int steps;       /**< per visit of a block; 0: chosen by the model */
    int64_t horizon; /**< steps between two stops for output, at least 1 */
    bool alone;      /**< no other stripe */
    bool movable; /**< slabs may change their owner; the host arrays are those of the whole grid */
    bool pins;    /**< host arrays may be pinned (cl_queue.h) */
    strake_cl_known known; /**< instead of measuring; its streams give way where memory is short */
    double limit;          /**< seconds of a wait after which the device counts as hung */
} strake_cl_blocks_options;

/** What was chosen and what was done so far. */
typedef struct strake_cl_blocks_report {
    strake_cl_sizes sizes;       /**< steps = 0: the stripe does not stream */
    bool pinned;                 /**< the driver pinned the host arrays */
    uint64_t memory;             /**< bytes of device memory in use */
    uint64_t resident;           /**< bytes that the whole stripe would take */
    uint64_t limit;              /**< bytes that it may take */
    double uploaded, downloaded; /**< bytes */
    double predicted;            /**< seconds of the sweeps so far */
    strake_cl_rates rates;       /**< measured when the stripe was made, or known before */
} strake_cl_blocks_report;

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

typedef struct strake_cl_blocks {
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
} strake_cl_blocks;

/** Bytes that arrays may take: @p asked, or what the device has, less what drivers keep for themselves. */
uint64_t strake_cl_usable_memory(const strake_cl_device *device, uint64_t asked);

/**
 * Measures the device unless it is known, chooses the sizes and allocates the windows.
 * @param[in] kernels, host  borrowed until destroy; host is the layout of the host arrays, the whole grid
 * @param[in] range          slabs of the stripe
 * @return STRAKE_ERR_USAGE if not even single slabs fit, STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY
 */
strake_status strake_cl_blocks_create(const strake_cl_kernels *kernels, const strake_layout *host,
                                      strake_range range, const strake_cl_blocks_options *options,
                                      strake_cl_blocks **out, strake_error *error);
void strake_cl_blocks_destroy(strake_cl_blocks **blocks);

/** Steps of a visit, at most @p most, with which this stripe would be fastest, by what was measured of its device. */
int strake_cl_blocks_best(const strake_cl_blocks *blocks, int most);

/** Whether the stripe could have these slabs in blocks that fit in its windows. */
bool strake_cl_blocks_has_room(const strake_cl_blocks *blocks, strake_range range);

/** From now on the stripe has these slabs, for which it has room. Finishes. */
strake_status strake_cl_blocks_move(strake_cl_blocks *blocks, strake_range range,
                                    strake_error *error);

/**
 * Enqueues one sweep; returns before it is done, but may wait for parts of the sweep before.
 * @param[in] steps  1 to the number chosen at the start; 1 of a graph with reductions
 * @param[in] told   of an adaptive problem's clock: strake_clock_tell()
 * @param[in] array  host arrays by value: current states, static inputs
 * @param[in] next   host arrays of the next states, by output value
 */
strake_status strake_cl_blocks_sweep(strake_cl_blocks *blocks, int steps, const double *told,
                                     void *const *array, void *const *next, strake_error *error);

/** Waits for the bound on the next time step [s] that the sweep's blocks allow. */
strake_status strake_cl_blocks_bound(strake_cl_blocks *blocks, double *bound, strake_error *error);

/**
 * Waits until what others read of the sweep is in the host arrays, and nothing reads their slabs of before: the rest
 * may still be on its way, and is waited for where the next sweep needs it.
 */
strake_status strake_cl_blocks_meet(strake_cl_blocks *blocks, strake_error *error);

/** Waits until all inputs that the sweep reads in the host arrays are on the device: they may change then. */
strake_status strake_cl_blocks_let_go(strake_cl_blocks *blocks, strake_error *error);

/** Waits until everything enqueued is done: the next states are in the host arrays. */
strake_status strake_cl_blocks_finish(strake_cl_blocks *blocks, strake_error *error);

/**
 * Looks for NaN and Inf in the states after every sweep since the last look, without waiting; is_finite
 * waits for that (true if there was no look since the last answer).
 */
strake_status strake_cl_blocks_look(strake_cl_blocks *blocks, strake_error *error);
strake_status strake_cl_blocks_is_finite(strake_cl_blocks *blocks, bool *finite,
                                         strake_error *error);

/** The host arrays hold other states: nothing found in earlier ones counts. Finishes. */
strake_status strake_cl_blocks_restart(strake_cl_blocks *blocks, strake_error *error);

/** The last sweep was a trial: it does not count in the report, nor does what was found. Finishes. */
static inline strake_status strake_cl_blocks_undo(strake_cl_blocks *b, strake_error *error)
{
    b->report = b->before;
    return strake_cl_blocks_restart(b, error);
}

/** Records what every queue does from now on, or no longer (NULL). Finishes. */
strake_status strake_cl_blocks_record(strake_cl_blocks *blocks, strake_cl_record *record,
                                      strake_error *error);

/** Whether the canaries around every array of every stream live. Finishes. Clears @p intact otherwise. */
strake_status strake_cl_blocks_check(strake_cl_blocks *blocks, bool *intact, strake_error *error);

void strake_cl_blocks_describe(const strake_cl_blocks *blocks, strake_cl_blocks_report *out);

#endif
