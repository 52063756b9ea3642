/** @file mpdata.h What the files of the MPDATA problems share. */
#ifndef STRAKE_MPDATA_H
#define STRAKE_MPDATA_H

#include "case/case.h"
#include "engine/problem.h"
#include "problem/mpdata_points.h"
#include "problem/rows.h"

STRAKE_MPDATA_POINTS(STRAKE_POINT_DECLARE)

/** Choices of the keys, in the order of their words. */
enum { STRAKE_MPDATA_GAUGE_NONE, STRAKE_MPDATA_GAUGE_INFINITE };
enum { STRAKE_MPDATA_SIGN_ANY, STRAKE_MPDATA_SIGN_NONNEGATIVE };
enum { STRAKE_MPDATA_VELOCITIES_LIMITED, STRAKE_MPDATA_VELOCITIES_UNLIMITED };
enum { STRAKE_MPDATA_BOUNDS_ACCUMULATED, STRAKE_MPDATA_BOUNDS_INITIAL };
enum { STRAKE_MPDATA_UNSTABLE_REFUSE, STRAKE_MPDATA_UNSTABLE_ALLOW };
enum { STRAKE_MPDATA_H_FIXED, STRAKE_MPDATA_H_CHANGING };

/** The options of a case. */
typedef struct strake_mpdata_scheme {
    int iterations;
    bool nonoscillatory, gauge, nonnegative, third_order, unlimited;
    bool
        initial_bounds; /**< those of later iterations have the initial field and the current one */
    bool may_be_unstable; /**< what is beyond the bound of stability is not refused */
    bool divergent;       /**< the flow is: its divergence is among what is corrected */
    bool changes;         /**< h becomes h_next in a step */
    bool sources, inflow; /**< whoever uses the library gives such fields later */
} strake_mpdata_scheme;

strake_mpdata_scheme strake_mpdata_scheme_of(const strake_case *which);

/**
 * What leaves a cell in one step over its content; the negative of the smallest content. What diffusion and, where the
 * time step follows, decay make of a cell's own part in it: it may not change its sign.
 */
enum { STRAKE_MPDATA_OUTFLOW, STRAKE_MPDATA_LEAST_H, STRAKE_MPDATA_DIFFUSION };

/** These extremes, for strake_problem.survey. */
void strake_mpdata_survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                          void *const *array, const double *number,
                          strake_extreme extreme[STRAKE_MAX_EXTREMES]);

/** Refuses what a time step that follows from the flow (time.courant) does not go with. */
strake_status strake_mpdata_check_pace(const strake_case *which, strake_error *error);

/** Refuses numbers for what flows through walls and poles. */
strake_status strake_mpdata_check_edges(const strake_case *which, strake_error *error);

/** Where the fields of a problem stand: the tracers first, @c u of them, velocities from u on, h, h_next. */
typedef struct strake_mpdata_fields {
    int dims;
    int u, h, h_next;
    int source, inflow, reference; /**< the first one of each: one per tracer */
    int inside, narrowing;
} strake_mpdata_fields;

strake_mpdata_fields strake_mpdata_fields_of(const strake_problem *problem);

/** The axis of dimension @p d of @p dims, the slowest first: axis 1 exists in three dimensions, axis 0 in two. */
static inline int strake_mpdata_axis(int dims, int d)
{
    return dims == 3 ? d : d == dims - 1 ? 2 : 0;
}

/** Decay [1/s] and diffusivity [m2/s] of a tracer. */
double strake_mpdata_decay(const strake_case *which, int tracer);
double strake_mpdata_diffusivity(const strake_case *which, int tracer);

/**
 * The square of the equator's length over that of a row's latitude: by so much more do cells of the row exchange with
 * those beside them in it. @param[in] i, m  slab and line; that which counts the rows matters
 */
double strake_mpdata_narrowing(const strake_case *which, int64_t i, int64_t m);

/** A diffusivity times dt, with time.courant 1 s, over the square of the spacing along direction @p d. */
double strake_mpdata_diffusion_number(const strake_case *which, double diffusivity, int d);

/** What a tracer has beside the flow; values of the graph, -1 where there is none. */
typedef struct strake_mpdata_tracer {
    int source, inflow;
    bool has_source; /**< or decay */
    double decay, diffusivity;
    int diffusion[STRAKE_AXES]; /**< per direction: strake_mpdata_diffusion_number() of the step */
    const strake_formula *reaction; /**< rate of change; NULL: none */
    int whole_step;                 /**< of that: the time step */
    int half_step;                  /**< half of the time step, ... */
    int keep,
        fade; /**< ... what decay leaves in it, before and after; all -1 without source and decay */
} strake_mpdata_tracer;

/** What all tracers have in common there: h is that of the beginning of a step. */
typedef struct strake_mpdata_cells {
    int inside;
    int face_h[STRAKE_AXES], h_reciprocal; /**< faces as mpdata_sphere() leaves them */
} strake_mpdata_cells;

/** What is measured of each tracer, for strake_problem.evaluate and weight. */
enum { STRAKE_MPDATA_MEASURES = 6 };

/** The stages of a step, for strake_problem.build. */
strake_status strake_mpdata_build(const strake_case *which, const bool *constant,
                                  const double *number, strake_graph *graph, strake_error *error);

#endif
