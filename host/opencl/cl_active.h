/**
 * @file cl_active.h
 * Which cells of a device are computed, of a problem that says what makes a cell active (engine/activity.h): the
 * tiles within reach of one. Every STRAKE_CL_ACTIVE_LOOK sweeps the device looks at its tiles and lists those
 * that are on until the next look (cl/active.cl); steps are then computed by groups that take their tiles from the
 * list (strake_cl_kernels.tiles). As there, a tile is left out only after two looks, between which all of it was
 * computed. Nothing waits for a look: how many tiles there are the host learns now and then, and launches some
 * groups more; too few take several tiles each.
 *
 * Where more than a part of the tiles is on, all cells are computed by the usual kernels, and two looks some
 * time later tell whether that is still so. Slabs of others are not seen: tiles from which they are within reach are
 * always on.
 */
#ifndef STRAKE_CL_ACTIVE_H
#define STRAKE_CL_ACTIVE_H

#include "cl/active.h"
#include "opencl/cl_queue.h"
#include "opencl/cl_window.h"

enum { STRAKE_CL_ACTIVE_LOOK = 4 /* sweeps */, STRAKE_CL_MOST_WAKES = 2 };

/** What makes cells active; count 0: all are computed. */
typedef struct strake_cl_wakes {
    int count;
    int value[STRAKE_CL_MOST_WAKES]; /**< inputs, states: active is where one is above 0 */
    int spread;                      /**< of the problem */
} strake_cl_wakes;

/** What reports tell. */
typedef struct strake_cl_activity {
    double cells;    /**< active when it last looked; -1: it never did */
    double tiles;    /**< that are computed */
    double updates;  /**< active cells times sweeps */
    double computed; /**< computed ones times sweeps */
} strake_cl_activity;

/** Zero-initialise. */
typedef struct strake_cl_active {
    strake_cl_wakes wakes; /**< count 0: there is nothing here */
    strake_cl_listing listing;
    int64_t down, tiles; /**< tiles of a column of them, and all */
    int64_t reach[2];
    bool open[2];          /**< whether others' slabs are before the first one and after the last */
    cl_kernel kernel;      /**< look_at_tiles */
    cl_mem marked, listed; /**< by tile: the last look that did so */
    int64_t age;           /**< sweeps since the look at all tiles; -1: the device does not look */
    int64_t wait;          /**< sweeps until it does */
    int64_t since;         /**< sweeps since a look */
    bool is_new;           /**< since then the host has not heard of the list */
    bool is_always;        /**< they always do: all tiles in them are as fast as all cells */
    bool is_on;            /**< steps take their tiles from the list */
    strake_cl_pins pins;
    strake_tiles *known; /**< as it was read, in a page of the host */
    cl_event is_read;
} strake_cl_active;

/** Makes kernel and buffers, where the window's kernels have tiles. @return STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY */
strake_status strake_cl_active_create(strake_cl_active *active, const strake_cl_window *window,
                                      const strake_cl_wakes *wakes, strake_error *error);
void strake_cl_active_release(strake_cl_active *active, const strake_cl_kernels *kernels);

/** States are new, or sweeps were undone: all is active. */
void strake_cl_active_reset(strake_cl_active *active);

/** The device has other slabs of the window now. @param[in] open  see strake_cl_active.open */
void strake_cl_active_place(strake_cl_active *active, const strake_cl_window *window,
                            strake_range slabs, const bool open[2]);

/** Enqueues adding the tiles within reach of inputs that are new. */
strake_status strake_cl_active_wake(strake_cl_active *active, const strake_cl_window *window,
                                    strake_error *error);

/** Before a sweep: what it computes. @param[out] listing  NULL: all cells */
strake_status strake_cl_active_begin(strake_cl_active *active, const strake_cl_window *window,
                                     strake_cl_waiter *waiter, const strake_cl_listing **listing,
                                     strake_error *error);

/** After a sweep, whose states are current: enqueues a look where it is time. */
strake_status strake_cl_active_end(strake_cl_active *active, const strake_cl_window *window,
                                   strake_error *error);

/** The last sweeps that were enqueued did nothing, nor did their looks. */
void strake_cl_active_rewind(strake_cl_active *active, int64_t sweeps);

/** Waits for the device, unless there is nothing to tell. */
void strake_cl_active_describe(const strake_cl_active *active, const strake_cl_window *window,
                               strake_cl_activity *out);

/**
 * Finds the cells of each of its slabs that a sweep computes now; waits for the device. @param[out] work  [slab], from
 * its first one on @return false where all are, or it is not known: nothing is written
 */
bool strake_cl_active_weigh(const strake_cl_active *active, const strake_cl_window *window,
                            double *work);

#endif
