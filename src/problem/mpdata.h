/** @file mpdata.h What the files of the MPDATA problems share. */
#ifndef STRAKE_MPDATA_H
#define STRAKE_MPDATA_H

#include "case/case.h"
#include "engine/problem.h"
#include "problem/mpdata_points.h"
#include "problem/rows.h"

STRAKE_MPDATA_POINTS(STRAKE_POINT_DECLARE)

/** The options of a case. */
typedef struct strake_mpdata_scheme {
    int iterations;
    bool nonoscillatory, gauge, nonnegative, third_order, unlimited;
    bool divergent; /**< the flow is: its divergence is among what is corrected */
    bool changes;   /**< h becomes h_next in a step */
} strake_mpdata_scheme;

strake_mpdata_scheme strake_mpdata_scheme_of(const strake_case *which);

/** Where the fields of a problem stand: the tracers first, @c u of them, velocities from u on, h, h_next. */
typedef struct strake_mpdata_fields {
    int dims;
    int u, h, h_next;
} strake_mpdata_fields;

strake_mpdata_fields strake_mpdata_fields_of(const strake_problem *problem);

/** The axis of dimension @p d of @p dims, the slowest first: axis 1 exists in three dimensions, axis 0 in two. */
static inline int strake_mpdata_axis(int dims, int d)
{
    return dims == 3 ? d : d == dims - 1 ? 2 : 0;
}

/** The stages of a step, for strake_problem.build. */
strake_status strake_mpdata_build(const strake_case *which, const bool *constant,
                                  const double *number, strake_graph *graph, strake_error *error);

#endif
