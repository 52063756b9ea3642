/**
 * @file cl_exchange.h
 * What a stripe's window exchanges with the host between two sweeps: border slabs out, ghost slabs in,
 * straight to and from the host arrays, whose slabs there are pinned, and, where transfers overlap with
 * kernels, on a queue of their own. Only slabs of several states that are small (strake_exchange_packs()) go through
 * pinned memory of the exchange's own, to be one transfer for each border and direction.
 *
 * Of states whose ghosts advance themselves (cl_resident.c) nothing is exchanged but where slabs have changed
 * their owner.
 *
 * The border slabs are written into the arrays of the next states while the sweep runs, so those of the sweep before
 * must have been read: a stripe that has published a sweep has uploaded what that sweep began with.
 */
#ifndef STRAKE_CL_EXCHANGE_H
#define STRAKE_CL_EXCHANGE_H

#include "opencl/cl_queue.h"
#include "opencl/cl_window.h"

enum { STRAKE_CL_MOST_BORDERS = 16, STRAKE_CL_SAMPLES = 64 };

/** A ghost slab whose source belongs to another stripe. */
typedef struct strake_cl_ghost {
    int64_t slab;   /**< as the grid counts, on beyond its ends */
    int64_t source; /**< of the grid */
} strake_cl_ghost;

typedef struct strake_cl_exchange {
    strake_cl_window *window;
    const strake_layout *host; /**< of the host arrays, the whole grid */
    int64_t base;           /**< slab of the grid that is slab 0 of the window, which may wander */
    cl_command_queue queue; /**< of the transfers; the window's own where nothing overlaps */
    bool overlaps;          /**< the queue is not the window's */
    bool beside; /**< the next transfers take that queue; set by the owner, where it overlaps */
    int borders;
    strake_range border[STRAKE_CL_MOST_BORDERS]; /**< slabs of the grid that others read */
    int ghosts;
    strake_cl_ghost *ghost;
    strake_cl_pins pins; /**< of what the host arrays exchange with it */
    bool pinned;         /**< they are, for the present plan */
    char *packed;        /**< a packed plan's borders, then its runs of ghosts; NULL: it is not */
    size_t packed_bytes; /**< whole pages */
    void *const *next;   /**< host arrays that await what was sent packed, or NULL */
    cl_event mark;       /**< the border slabs are computed; NULL: in order */
    cl_event sent;       /**< the border slabs are in the host arrays */
    cl_event arrived;    /**< the ghost slabs are in the window */
    strake_cl_waiter waiter; /**< for what is sent */
    strake_cl_waiter reader; /**< for what has arrived */
    int runs;                /**< of neighbouring ghost slabs */
    /**
     * This one is timed, as its owner says while the window's queue is empty: from @c began [s] to the end of publish,
     * which takes @c so_far [s], and from the beginning of fetch until the ghost slabs have arrived.
     */
    bool timed;
    double began, so_far;
    int samples;
    double down[STRAKE_CL_SAMPLES], up[STRAKE_CL_SAMPLES]; /**< [s] of the latest timed halves */
} strake_cl_exchange;

/** What a stripe exchanges, and how long that takes with nothing beside it. */
typedef struct strake_cl_exchange_report {
    double bytes_down, bytes_up; /**< of one exchange */
    int messages_down, messages_up;
    int numbers;     /**< that the step is reduced to, those of groups read before the borders */
    bool overlaps;   /**< transfers run beside kernels, ... */
    bool beside;     /**< ... and did so lately: not where few tiles are computed */
    int samples;     /**< timed exchanges of a run */
    double down, up; /**< their medians, without waiting for other stripes; NaN: there are none */
} strake_cl_exchange_report;

/**
 * @param[in]  window, host  borrowed until release; host is the layout of the host arrays
 * @param[in]  overlaps      transfers get a queue of their own
 * @param[in]  pins          host memory may be pinned (cl_queue.h)
 * @param[out] x             zeroed by the caller; to be released also after a failure
 */
strake_status strake_cl_exchange_create(strake_cl_exchange *x, strake_cl_window *window,
                                        const strake_layout *host, bool overlaps, bool pins,
                                        strake_error *error);

/**
 * Plans the exchange, at the start and whenever slabs have changed their owner.
 * @param[in] stripe  all stripes, of which @p self is this one; not kept
 * @param[in] base    slab of the grid that is slab 0 of the window
 * @param[in] depth   slabs beyond its own that the window holds current, before and after
 * @param[in] theirs  the same of any other stripe, at most
 */
strake_status strake_cl_exchange_plan(strake_cl_exchange *x, const strake_range *stripe,
                                      int stripes, int self, int64_t base, const int64_t depth[2],
                                      const int64_t theirs[2], strake_error *error);
void strake_cl_exchange_release(strake_cl_exchange *x);

void strake_cl_exchange_describe(const strake_cl_exchange *x, strake_cl_exchange_report *out);

/** Lets go of all pins until the next call; no transfer may be under way. */
static inline void strake_cl_exchange_unpin(strake_cl_exchange *x)
{
    strake_cl_pins_release(&x->pins);
    x->pinned = false;
}

/**
 * The border slabs are what the window's queue holds so far: reading them follows that, and nothing enqueued later.
 * @param[in] done  tells that they are there, by another queue that has been flushed; NULL: a marker will
 */
strake_status strake_cl_exchange_mark(strake_cl_exchange *x, cl_event done, strake_error *error);

/**
 * Enqueues reading the border slabs of the states of @p parity, which strake_cl_exchange_mark() was told of,
 * into the host arrays of the next states (by output value), borrowed until publish.
 */
strake_status strake_cl_exchange_send(strake_cl_exchange *x, int parity, void *const *next,
                                      strake_error *error);

/**
 * Waits until the border slabs are in the host arrays, and the slabs that the last fetch took from there
 * in the window.
 */
strake_status strake_cl_exchange_publish(strake_cl_exchange *x, strake_error *error);

/**
 * Enqueues the upload of the ghost slabs of the current states from the host arrays (by state value).
 * @param[in] whole  also of states that do not travel after a sweep
 */
strake_status strake_cl_exchange_fetch(strake_cl_exchange *x, bool whole, void *const *array,
                                       strake_error *error);

/** Enqueues the download of the ghost slabs that advance themselves and are other ranks'. @param[in] own  of this rank */
strake_status strake_cl_exchange_return(const strake_cl_exchange *x, strake_range own,
                                        void *const *array, strake_error *error);

/**
 * Before a sweep: pins what is exchanged, once for every plan, and makes the window's queue wait for the ghost slabs, if
 * these are not there yet.
 * @param[in] array  host arrays of the current states, by value; borrowed until the next plan or release
 * @param[in] next   host arrays of the next states, by output value; likewise
 */
strake_status strake_cl_exchange_begin(strake_cl_exchange *x, void *const *array, void *const *next,
                                       strake_error *error);

#endif
