/* What a case of MPDATA says, in numbers. */
#include <math.h>

#include "case/source.h"
#include "problem/mpdata.h"

strake_mpdata_fields strake_mpdata_fields_of(const strake_problem *problem)
{
    const int dims = problem->dims;
    int tracers = 0;
    while (problem->field[tracers].is_state) {
        tracers++;
    }
    const int source = tracers + dims + 2;
    return (strake_mpdata_fields){.dims = dims,
                                  .u = tracers,
                                  .h = tracers + dims,
                                  .h_next = tracers + dims + 1,
                                  .source = source,
                                  .inflow = source + tracers,
                                  .reference = source + 2 * tracers,
                                  .inside = source + 3 * tracers,
                                  .narrowing = source + 3 * tracers + 1};
}

strake_mpdata_scheme strake_mpdata_scheme_of(const strake_case *which)
{
    const strake_mpdata_scheme options = {
        .iterations = (int)strake_case_value(which, "scheme.iterations"),
        .nonoscillatory = strake_case_value(which, "scheme.nonoscillatory") > 0.0,
        .gauge = (int)strake_case_value(which, "scheme.gauge") == STRAKE_MPDATA_GAUGE_INFINITE,
        .nonnegative =
            (int)strake_case_value(which, "scheme.sign") == STRAKE_MPDATA_SIGN_NONNEGATIVE,
        .third_order = strake_case_value(which, "scheme.third_order") > 0.0,
        .unlimited = (int)strake_case_value(which, "scheme.velocities") ==
                     STRAKE_MPDATA_VELOCITIES_UNLIMITED,
        .initial_bounds =
            (int)strake_case_value(which, "scheme.bounds") == STRAKE_MPDATA_BOUNDS_INITIAL,
        .may_be_unstable =
            (int)strake_case_value(which, "scheme.unstable") == STRAKE_MPDATA_UNSTABLE_ALLOW,
        .divergent = strake_case_value(which, "scheme.divergent") > 0.0,
        .changes = (int)strake_case_value(which, "scheme.h") == STRAKE_MPDATA_H_CHANGING,
        .sources = strake_case_value(which, "scheme.sources") > 0.0,
        .inflow = strake_case_value(which, "scheme.inflow") > 0.0,
    };
    return options;
}

/* An item of a list that is empty or has one for every tracer. */
static double item_of(const strake_case *which, const char *path, int tracer)
{
    const int key = strake_case_key(which, path);
    return tracer < (int)which->value[key] ? which->list[key][tracer] : 0.0;
}

double strake_mpdata_decay(const strake_case *which, int tracer)
{
    return item_of(which, "parameters.decay", tracer);
}

double strake_mpdata_diffusivity(const strake_case *which, int tracer)
{
    return item_of(which, "parameters.diffusivity", tracer);
}

double strake_mpdata_diffusion_number(const strake_case *which, double diffusivity, int d)
{
    const double spacing = which->spacing[strake_mpdata_axis(which->problem->dims, d)];
    return diffusivity * (which->courant > 0.0 ? 1.0 : which->dt) / (spacing * spacing);
}

double strake_mpdata_narrowing(const strake_case *which, int64_t i, int64_t m)
{
    const double length = strake_case_parallel(which, i, m);
    return 1.0 / (length * length);
}

strake_status strake_mpdata_check_edges(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_mpdata_fields at = strake_mpdata_fields_of(which->problem);
    for (int d = 0; d < at.dims; d++) {
        double number = 0.0;
        const int axis = strake_mpdata_axis(at.dims, d);
        const bool is_polar = which->boundary[axis] == STRAKE_POLAR;
        const strake_source *const u = which->source[at.u + d];
        const bool is_number = u != NULL && strake_source_constant(u, &number);
        STRAKE_CHECK(!(is_polar || which->is_closed[axis]) || !is_number || !(fabs(number) > 0.0),
                     error, STRAKE_ERR_USAGE,
                     "%s: fields.%s: %g everywhere, but nothing flows through a %s (boundary.%s: "
                     "%s); give a file or a shape, or 0",
                     which->file, which->problem->field[at.u + d].name, number,
                     is_polar ? "pole" : "wall", strake_axis_name(at.dims, axis),
                     strake_boundary_name(strake_case_boundary(which, axis)));
    }
cleanup:
    return status;
}

/* With time.courant nothing but scalars of the graph follows the time step, and that follows from the flow, diffusion and decay. */
strake_status strake_mpdata_check_pace(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_mpdata_fields at = strake_mpdata_fields_of(which->problem);
    bool moves = false;
    if (!(which->courant > 0.0)) {
        return STRAKE_OK;
    }
    for (int f = at.u; f < at.u + at.dims; f++) {
        double number = 1.0;
        const strake_source *const u = which->source[f];
        const bool is_zero =
            u != NULL && strake_source_constant(u, &number) && !(fabs(number) > 0.0);
        /* One that is missing is given later, by whoever uses the library. */
        STRAKE_CHECK(u == NULL || is_zero || strake_source_is_velocity(u), error, STRAKE_ERR_USAGE,
                     "%s: time.courant needs velocities, and fields.%s is none: give it by a "
                     "velocity shape, by a file or series with as: velocity, or as 0",
                     which->file, which->problem->field[f].name);
        moves = moves || !is_zero;
    }
    for (int k = 0; k < at.u; k++) {
        moves = moves || strake_mpdata_diffusivity(which, k) > 0.0 ||
                strake_mpdata_decay(which, k) > 0.0;
    }
    STRAKE_CHECK(moves || isfinite(which->dt), error, STRAKE_ERR_USAGE,
                 "%s: time.courant: nothing flows, so that any time step would do; give time.dt",
                 which->file);
cleanup:
    return status;
}
