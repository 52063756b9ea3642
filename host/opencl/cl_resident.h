/**
 * @file cl_resident.h
 * A stripe whose arrays stay on the device: a window of slabs and its exchange. Between two sweeps of
 * one or several steps border slabs go to the host arrays and ghost slabs come from there; ghosts
 * whose source the stripe owns itself are copied on the device.
 *
 * For sweeps of several steps the window is deeper: each step computes as many slabs beyond the stripe
 * as the steps after it need, and at the domain's edges ghosts are extended anew in every step. A
 * movable stripe's window has room for more slabs, so that others can give it some while it runs.
 *
 * One way (host/run/border.h) a sweep stores in a place what it computes from the places above it, and
 * all ghosts lie after the stripe. In the window nothing moves: the window wanders up the places instead,
 * through some room at its end, and now and then all slabs are copied back to its beginning.
 */
#ifndef STRAKE_CL_RESIDENT_H
#define STRAKE_CL_RESIDENT_H

#include "engine/clock.h"
#include "opencl/cl_active.h"
#include "opencl/cl_batch.h"
#include "opencl/cl_exchange.h"
#include "opencl/cl_lift.h"

/** In the order of the words of run.overlap. */
typedef enum strake_cl_overlap {
    STRAKE_CL_OVERLAP_DEFAULT, /**< as costs say; else on GPUs, where borders are few beside the interior */
    STRAKE_CL_OVERLAP_OFF, /**< all slabs at once, then the transfers */
    STRAKE_CL_OVERLAP_ON   /**< border slabs first, transfers beside the interior */
} strake_cl_overlap;

/** What an exchange of the stripe costs, where models of the device are known (host/model). */
typedef struct strake_cl_costs {
    bool known;
    int ranges;      /**< of border slabs that are computed apart where transfers overlap */
    double exchange; /**< [s] after the kernels */
    double beside;   /**< [s] on a queue of its own, with nothing hidden */
    double factor;   /**< share of a copy that hides behind a kernel */
    double slab;     /**< [s] that a slab takes at least to compute */
    double launch;   /**< [s] of a further launch */
    double barrier;  /**< [s] of a queue that follows another */
} strake_cl_costs;

typedef struct strake_cl_resident_options {
    int steps;             /**< most per sweep */
    strake_range capacity; /**< slabs that the stripe may own one day, its own included */
    bool one_way;          /**< slabs wander down: ghosts are those after the stripe (see below) */
    bool pins;             /**< host arrays may be pinned for it (cl_queue.h) */
    uint64_t memory;       /**< bytes of the device that it may take */
    double limit;          /**< seconds of a wait after which the device counts as hung */
    strake_cl_costs costs;
    const strake_problem *problem; /**< of the kernels */
    strake_cl_wakes wakes;         /**< what makes cells active */
    strake_cl_member *member;      /**< of a batch, which makes its steps; NULL: it is alone */
} strake_cl_resident_options;

/**
 * A clock on a device that computes a problem alone (cl/clock.cl): the time step of a sweep is found and read there, so
 * that sweeps are enqueued ahead and none is waited for. Those beyond the end do nothing: the clock says how many were
 * done.
 */
typedef struct strake_cl_clock {
    cl_kernel kernel;   /**< advance_clock */
    cl_mem clock, told; /**< two strake_clock; reals: whether to go on, all scalars */
    bool is_heard;      /**< by the kernels of all sweeps */
    bool runs;          /**< sweeps take their scalars from it */
    int64_t sweeps;     /**< enqueued since it was started */
    strake_clock given; /**< when it was started */
    strake_clock seen;  /**< as it was when the last strake_cl_clock_look() was done */
} strake_cl_clock;

/** Ghosts of others' slabs that advance themselves (engine/graph.h), by kernels of their own. */
typedef struct strake_cl_ghosts strake_cl_ghosts;

/** Members that others read: exchange, lift, active, clock, window, edges_first; the rest is for cl_resident.c. */
typedef struct strake_cl_resident {
    const strake_cl_kernels *kernels;
    strake_cl_window window;
    strake_cl_exchange exchange;
    strake_cl_lift lift; /* inputs that change */
    /* those of others' slabs that advance themselves; NULL: there are none */
    strake_cl_ghosts *others;
    cl_command_queue queue;
    cl_command_queue aside; /* for slabs that no one waits for, or NULL: strake_cl_aside_open() */
    const strake_layout *host;
    int steps;              /* most per sweep */
    int64_t reach;          /* slabs that a step of a sweep needs beyond the next one's */
    strake_range capacity;  /* of the grid */
    int64_t base;           /* slab of the grid that is slab 0 of the window */
    strake_range range;     /* of the grid: own slabs */
    bool one_way;           /* the window wanders */
    int64_t extra[2];       /* slabs computed before and after them in the first step of a sweep */
    strake_cl_pairs edges;  /* ghosts beyond the domain's edges */
    strake_cl_pairs ghosts; /* all ghosts that copy a slab of this stripe */
    /* those beyond poles that copy other stripes' slabs, from their ghosts here */
    strake_cl_pairs turned;
    strake_cl_waiter waiter;
    strake_cl_waiter reader;          /* for states on their way to the host arrays */
    strake_cl_waiter before, through; /* for what comes before timed kernels, and for these */
    cl_event looked;                  /* the search for NaN and Inf is done */
    strake_cl_active active;          /* which tiles are computed */
    strake_cl_member *member;         /* borrowed; NULL: it is none of a batch */
    int64_t asked;                    /* sweeps that the batch has not been asked for yet */
    bool is_used;                     /* the queue of a member has something */
    strake_cl_clock clock; /* where the host does not tell the time step of every sweep */
    bool edges_first; /* the last step of the sweep that is enqueued computes border slabs first */
    bool has_run;
    int64_t short_runs; /* of one sweep each, since there was another one or other shares */
    int64_t sweeps;     /* of the present run */
    int64_t all_sweeps; /* since it was made */
    bool timing;        /* the exchange of the sweep that is enqueued is timed, */
    bool weighing;      /* or its kernels are, since: */
    double began;
    double known;       /* seconds of a step as they were timed last; 0: not with these shares */
    double busy;        /* seconds of the kernels of timed sweeps */
    int64_t busy_steps; /* and their steps */
} strake_cl_resident;

/** Layout of the window of a stripe: its own slabs or capacity, and those that sweeps compute around. */
strake_layout strake_cl_resident_layout(const strake_graph *graph, const strake_layout *host,
                                        strake_range own,
                                        const strake_cl_resident_options *options);

/**
 * Allocates the window.
 * @param[in] kernels, host  borrowed until destroy; host is the layout of the host arrays, the whole grid
 * @param[in] stripe         all stripes, of which @p self is this one; not kept
 * @return STRAKE_ERR_DEVICE (saying what was asked for if memory ran out), STRAKE_ERR_MEMORY
 */
strake_status strake_cl_resident_create(const strake_cl_kernels *kernels, const strake_layout *host,
                                        const strake_range *stripe, int stripes, int self,
                                        const strake_cl_resident_options *options,
                                        strake_cl_resident **out, strake_error *error);
void strake_cl_resident_destroy(strake_cl_resident **resident);

/*
 * What strake_part_ops (run/part.h) asks of a part; array[v] and next[v]: host arrays by value and output
 * value. undo: the states before the last sweep are current again, after several steps undefined ones. return: slabs
 * of others, of the states that do not travel, go back to the host arrays, which may be behind; waits.
 */
strake_status strake_cl_resident_upload_static(strake_cl_resident *r, void *const *array,
                                               strake_error *error);
strake_status strake_cl_resident_upload_state(strake_cl_resident *r, void *const *array,
                                              strake_error *error);
strake_status strake_cl_resident_download(strake_cl_resident *r, void *const *array,
                                          strake_error *error);
strake_status strake_cl_resident_sweep(strake_cl_resident *r, int steps, const double *told,
                                       void *const *array, void *const *next, strake_error *error);

static inline strake_status strake_cl_resident_bound(strake_cl_resident *s, double *bound,
                                                     strake_error *error)
{
    double reduced[STRAKE_MAX_REDUCTIONS];
    const strake_status status = strake_cl_reduce_end(&s->window, &s->waiter, reduced, error);
    *bound = status == STRAKE_OK && s->kernels->graph->reductions > 0 ? reduced[0] : *bound;
    return status;
}

strake_status strake_cl_resident_return(strake_cl_resident *r, strake_range own, void *const *array,
                                        strake_error *error);
void strake_cl_resident_undo(strake_cl_resident *r, int steps);

static inline void strake_cl_resident_unpin(strake_cl_resident *s)
{
    strake_cl_exchange_unpin(&s->exchange);
    strake_cl_pins_release(&s->lift.pins);
}

strake_status strake_cl_resident_finish(strake_cl_resident *r, strake_error *error);
strake_status strake_cl_resident_look(strake_cl_resident *r, strake_error *error);
strake_status strake_cl_resident_is_finite(strake_cl_resident *r, bool *finite,
                                           strake_error *error);
bool strake_cl_resident_has_room(const strake_cl_resident *r, strake_range own);
strake_status strake_cl_resident_give(strake_cl_resident *r, const strake_range *stripe,
                                      int stripes, int self, void *const *array,
                                      strake_error *error);
strake_status strake_cl_resident_take(strake_cl_resident *r, const strake_range *stripe,
                                      int stripes, int self, void *const *array,
                                      strake_error *error);
double strake_cl_resident_busy(strake_cl_resident *r);
strake_status strake_cl_resident_time(strake_cl_resident *r, strake_cl_time *out, int *count,
                                      strake_error *error);
strake_status strake_cl_resident_record(strake_cl_resident *r, strake_cl_record *record,
                                        strake_error *error);

/*
 * The device's clock (cl_clock.c): @p keeps tells whether it has one, and then it is set and the steps take their scalars
 * from it, until it is stopped. strake_cl_clock_advance() follows a sweep: it advances the clock by what that reduced, by
 * a launch or in the next sweep's. strake_cl_clock_look() enqueues reading it; what was enqueued before is done once
 * @p event, if that is asked for, is complete.
 */
strake_status strake_cl_resident_start_clock(strake_cl_resident *r, const strake_clock *clock,
                                             bool *keeps, strake_error *error);
strake_status strake_cl_resident_stop_clock(strake_cl_resident *r, strake_clock *clock,
                                            strake_error *error);
strake_status strake_cl_clock_advance(strake_cl_clock *c, strake_cl_window *window,
                                      strake_error *error);
strake_status strake_cl_clock_look(strake_cl_clock *c, strake_cl_window *window, cl_event *event,
                                   strake_error *error);

#endif
