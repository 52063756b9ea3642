/**
 * @file cl_choose.h
 * How a stripe that exceeds a device's memory is cut: blocks of slabs, time steps per visit of a block,
 * streams that overlap uploads, kernels and downloads. Pure arithmetic on measured rates.
 *
 * A block of B slabs that advances k steps takes
 *   upload    (B + 2 (k - 1) r + g) s a / R_up          slabs of the widest step and its ghosts
 *   compute   sum over j < k of (B + 2 j r) c / R_cells each step r slabs less on either side
 *   download  B s d / R_down
 * and every transfer and step somewhat more, whatever its size, since commands must be started; where r is the reach of a step, g the ghost slabs of one, s the bytes of a slab of one array, c its
 * cells, a arrays go up and d come down. With S streams a block takes as long as the slowest of the
 * three and of their sum over S, and somewhat longer where two of these four are alike: the sixth root
 * of the sum of their sixth powers. A sweep over N blocks also fills and drains once, unless sweeps
 * follow each other without a pause.
 *
 * Slabs around a block are uploaded again, not copied from the block before: they are 2 (k - 1) r + g of
 * B, and with the k that this model chooses the link is not what limits.
 */
#ifndef STRAKE_OPENCL_CL_CHOOSE_H
#define STRAKE_OPENCL_CL_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "opencl/cl_plan.h"

/*
 * Tiles and pieces into which marching kernels cut a stripe.
 */

enum {
    STRAKE_CL_LEAST_ROWS =
        6 /**< of a piece: of fewer, those that are computed again would dominate */
};

/** Work-items (axis 2) or lines (axis 1) of a group that store nothing. */
static inline size_t strake_cl_count_sides(const strake_cl_kernel_plan *plan, int axis)
{
    return (size_t)plan->side[axis][0] + (size_t)plan->side[axis][1];
}

/** Tiles of @p extent cells of axis 1 or 2, for groups of @p size work-items, less those at their ends. */
int64_t strake_cl_count_tiles(const strake_cl_kernel_plan *plan, int axis, int64_t extent,
                              size_t size);

/**
 * In how many pieces units compute planes the soonest where each holds one group at a time: the busiest one has all planes
 * of a piece, and those that are computed again before and behind it, as often as groups follow each other.
 * @param      tiles  of a plane
 * @param[out] most   planes that the busiest unit computes
 */
int64_t strake_cl_count_pieces(const strake_cl_kernel_plan *plan, int64_t units, int64_t planes,
                               int64_t tiles, int64_t *most);

enum { STRAKE_CL_MOST_STREAMS = 8 };

/** What is to be cut. */
typedef struct strake_cl_demand {
    int64_t slabs;     /**< of the stripe */
    int64_t reach;     /**< slabs that a step computes beyond the next one's, on either side */
    int64_t ghosts;    /**< slabs beyond a window's own: halo of a step and margins, both sides */
    double slab_bytes; /**< of one array */
    double slab_cells;
    int arrays;       /**< of a window */
    int uploads;      /**< arrays that go up: states and static inputs */
    int downloads;    /**< arrays that come down: states */
    uint64_t memory;  /**< bytes for all windows together */
    uint64_t largest; /**< bytes of one array */
    int steps;        /**< per visit: exactly these; 0: chosen */
    int64_t blocks;   /**< exactly these; 0: chosen */
    int streams;      /**< exactly these; 0: chosen */
    int64_t horizon;  /**< steps between two stops for output, at least 1 */
    bool
        follows; /**< sweeps follow each other without a pause, since no bound of dt is waited for */
} strake_cl_demand;

/** Bytes and cells per second; a cell counts once per step. Seconds that any transfer or step takes more. */
typedef struct strake_cl_rates {
    double up, down, cells;
    double per_transfer, per_step;
} strake_cl_rates;

/** What is known of a device beforehand. */
typedef struct strake_cl_known {
    strake_cl_rates rates; /**< cells 0: not known, to be measured */
    int streams;           /**< worth trying first; 0: not known */
} strake_cl_known;

typedef struct strake_cl_sizes {
    int steps;
    int64_t blocks;
    int streams;
    int64_t slabs;  /**< of the largest block */
    double seconds; /**< predicted, per step over the horizon */
} strake_cl_sizes;

/** Slabs of the largest of equal blocks. */
static inline int64_t strake_cl_sizes_slabs(int64_t slabs, int64_t blocks)
{
    return (slabs + blocks - 1) / blocks;
}

/** Bytes of one array of a window for blocks of @p slabs that advance @p steps steps. */
static inline double strake_cl_sizes_array(const strake_cl_demand *d, int64_t slabs, int steps)
{
    return (double)(slabs + 2 * (steps - 1) * d->reach + d->ghosts) * d->slab_bytes;
}

/** Predicted seconds of a sweep of @p steps steps with these blocks and streams. */
double strake_cl_sizes_sweep(const strake_cl_demand *demand, const strake_cl_rates *rates,
                             const strake_cl_sizes *sizes, int steps);

/** The fastest sizes that fit. @return false where none fits, not even single slabs. */
bool strake_cl_sizes_choose(const strake_cl_demand *demand, const strake_cl_rates *rates,
                            strake_cl_sizes *out);

/** Least bytes of device memory that any allowed sizes need. */
static inline double strake_cl_sizes_least(const strake_cl_demand *d)
{
    const int64_t slabs = d->blocks > 0 ? strake_cl_sizes_slabs(d->slabs, d->blocks) : 1;
    return strake_cl_sizes_array(d, slabs, d->steps > 0 ? d->steps : 1) * d->arrays *
           (d->streams > 0 ? d->streams : 1);
}

#endif
