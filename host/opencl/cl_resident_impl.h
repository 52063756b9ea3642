/** @file cl_resident_impl.h Inside of a resident stripe; only for cl_resident*.c. */
#ifndef STRAKE_CL_RESIDENT_IMPL_H
#define STRAKE_CL_RESIDENT_IMPL_H

#include "opencl/cl_active.h"
#include "opencl/cl_window.h"
#include "opencl/cl_clock.h"
#include "opencl/cl_ghosts.h"
#include "opencl/cl_lift.h"
#include "opencl/cl_resident.h"

struct strake_cl_resident {
    const strake_cl_kernels *kernels;
    strake_cl_window window;
    strake_cl_exchange exchange;
    strake_cl_lift lift; /* inputs that change */
    /* those of others' slabs that advance themselves; NULL: there are none */
    strake_cl_ghosts *others;
    cl_command_queue queue;
    cl_command_queue aside; /* for slabs that nobody waits for (cl_aside.h); NULL: none */
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
};

/** Everything that follows from which slabs are whose. */
strake_status strake_cl_resident_plan(strake_cl_resident *s, const strake_range *stripe,
                                      int stripes, int self, strake_error *error);

/** Enqueues what follows a sweep whose states are current: its reductions, the clock, a look. */
strake_status strake_cl_resident_reduce(strake_cl_resident *s, strake_error *error);

/** Slabs that a sweep needs before those that it computes; one way, that its window wanders. */
int64_t strake_cl_resident_depth_before(const strake_layout *host, int steps);

/** Ghosts after a stripe that is exchanged one way. */
int64_t strake_cl_resident_depth_one_way(const strake_layout *host, int steps);

/** Puts the window's slab 0 at another place of the grid; nothing is moved. */
void strake_cl_resident_set_base(strake_cl_resident *s, int64_t base);

/** Enqueues advancing slabs of others, of the states that do not travel. */
strake_status strake_cl_resident_advance(strake_cl_resident *s, strake_error *error);

/** One way, before a sweep: what it computes belongs to places further down, so the window goes up. */
strake_status strake_cl_resident_wander(strake_cl_resident *s, int steps, strake_error *error);

#endif
