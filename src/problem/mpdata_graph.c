/*
 * The stages of MPDATA in one to three dimensions, with the nonoscillatory option 11, 16 and 21 for two
 * iterations (Wyrzykowski, Szustak & Rojek 2014, sections 4 and 5; variants as in Smolarkiewicz &
 * Margolin 1998 and libmpdata++, Jaruga et al. 2015). Stages of one number run together.
 */
#include <math.h>
#include <stdio.h>

#include "problem/formula.h"
#include "problem/mpdata.h"

/* What happens to a tracer of MPDATA beside its advection: inflow, diffusion, sources and decay. */

static strake_read mpdata_tracer_at(int value)
{
    const strake_read read = {value, {0, 0, 0}};
    return read;
}

static strake_read mpdata_tracer_along(int value, int axis, int offset)
{
    strake_read read = mpdata_tracer_at(value);
    read.offset[axis] = offset;
    return read;
}

/* A field that a tracer may have: an input, a constant, or -1 where it is @p none or nobody gives it. */
static int own_field(const strake_case *which, strake_graph *graph, int field, bool is_later,
                     double none)
{
    const char *const name = which->problem->field[field].name;
    double number = none;
    const bool is_constant = which->source[field] != NULL
                                 ? strake_source_constant(which->source[field], &number)
                                 : !is_later;
    if (!is_constant) {
        return strake_graph_input(graph, name, true);
    }
    const bool is_none = isnan(none) ? isnan(number) != 0 : !(fabs(number - none) > 0.0);
    const int value = strake_graph_constant(graph, name, is_none ? 0.0 : number);
    return is_none ? -1 : value;
}

/* Values that tracers share where the time step follows from the flow, and with it some of their numbers; -1: not there. */
typedef struct follower {
    int dt, one, half_step;
} follower;

/* A number times the time step, as a step of a source of it in nothing. */
static int with_step(strake_graph *graph, const char *name, double number, follower *of)
{
    if (of->dt < 0) {
        of->dt = strake_graph_scalar(graph, "dt");
        of->one = strake_graph_constant(graph, "one", 1.0);
    }
    return STRAKE_STAGE(graph, 0, name, source_before,
                        mpdata_tracer_at(strake_graph_constant(graph, "none", 0.0)),
                        mpdata_tracer_at(strake_graph_constant(graph, "per_second", number)),
                        mpdata_tracer_at(of->dt), mpdata_tracer_at(of->one));
}

/*
 * Half a step and what decay leaves in it: numbers; where the time step follows from the flow, scalars that follow it,
 * as half a step of a source of 1 and of one of -decay, or decay, in 1.
 */
static void plan_source(const strake_case *which, strake_graph *graph, follower *of,
                        strake_mpdata_tracer *q)
{
    const double half = 0.5 * which->dt;
    q->half_step = q->keep = q->fade = -1;
    if (!q->has_source) {
        return;
    }
    if (!(which->courant > 0.0)) {
        q->half_step = strake_graph_constant(graph, "half_step", half);
        q->keep = strake_graph_constant(graph, "keep", 1.0 - half * q->decay);
        q->fade = strake_graph_constant(graph, "fade", 1.0 / (1.0 + half * q->decay));
        return;
    }
    of->half_step = of->half_step < 0 ? with_step(graph, "half_step", 0.5, of) : of->half_step;
    q->half_step = of->half_step;
    q->keep = STRAKE_STAGE(graph, 0, "keep", source_before, mpdata_tracer_at(of->one),
                           mpdata_tracer_at(strake_graph_constant(graph, "loss", -q->decay)),
                           mpdata_tracer_at(q->half_step), mpdata_tracer_at(of->one));
    const int gain = STRAKE_STAGE(graph, 0, "gain", source_before, mpdata_tracer_at(of->one),
                                  mpdata_tracer_at(strake_graph_constant(graph, "decay", q->decay)),
                                  mpdata_tracer_at(q->half_step), mpdata_tracer_at(of->one));
    q->fade = STRAKE_STAGE(graph, 0, "fade", reciprocal, mpdata_tracer_at(gain));
}

/* Diffusion numbers of a step; those of tracers and directions that are equal are one value. */
static void plan_diffusion(const strake_case *which, strake_graph *graph, follower *of, int tracer,
                           strake_mpdata_tracer *all)
{
    const int dims = which->problem->dims;
    const double own = all[tracer].diffusivity;
    for (int d = 0; d < dims && own > 0.0; d++) {
        const double number = strake_mpdata_diffusion_number(which, own, d);
        int value = -1;
        for (int k = 0; k < tracer * dims + d && value < 0; k++) {
            const strake_mpdata_tracer *const other = &all[k / dims];
            const double its = strake_mpdata_diffusion_number(which, other->diffusivity, k % dims);
            value = its >= number && its <= number ? other->diffusion[k % dims] : -1;
        }
        if (value < 0) {
            value = which->courant > 0.0 ? with_step(graph, "diffusion", number, of)
                                         : strake_graph_constant(graph, "diffusion", number);
        }
        all[tracer].diffusion[d] = value;
    }
}

/** Adds the fields of the tracers to a graph. @return the value that is 0 beyond open edges */
static int mpdata_tracers(const strake_case *which, strake_graph *graph,
                          strake_mpdata_tracer out[STRAKE_MAX_NAMES])
{
    const strake_mpdata_fields fields = strake_mpdata_fields_of(which->problem);
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    const strake_formula *const reactions =
        which->formula[strake_case_key(which, "parameters.reaction")];
    follower of = {-1, -1, -1};
    bool flows_in = false;
    int whole_step = -1;
    for (int k = 0; k < fields.u; k++) {
        strake_mpdata_tracer *const q = &out[k];
        q->decay = strake_mpdata_decay(which, k);
        q->diffusivity = strake_mpdata_diffusivity(which, k);
        q->source = own_field(which, graph, fields.source + k, options.sources, 0.0);
        q->inflow = own_field(which, graph, fields.inflow + k, options.inflow, (double)NAN);
        q->has_source = q->source >= 0 || q->decay > 0.0;
        plan_source(which, graph, &of, q);
        plan_diffusion(which, graph, &of, k, out);
        q->reaction = reactions != NULL ? &reactions[k] : NULL;
        if (reactions != NULL) {
            whole_step = whole_step >= 0 ? whole_step
                         : which->courant > 0.0
                             ? with_step(graph, "whole_step", 1.0, &of)
                             : strake_graph_constant(graph, "whole_step", which->dt);
        }
        q->whole_step = whole_step;
        flows_in = flows_in || q->inflow >= 0;
        /* No step reads it. */
        (void)strake_graph_constant(graph, which->problem->field[fields.reference + k].name, 0.0);
    }
    const int nothing = strake_graph_constant(graph, "nothing", 0.0);
    for (int k = 0; k < fields.u; k++) {
        out[k].source = out[k].source >= 0 ? out[k].source : nothing;
    }
    return flows_in ? strake_graph_input(graph, "inside", true)
                    : strake_graph_constant(graph, "inside", 1.0);
}

/* The product of two values: a source of nothing in one of them, of which the other is kept. */
static int product(strake_graph *graph, const char *name, strake_read a, strake_read b)
{
    const strake_read none = mpdata_tracer_at(strake_graph_constant(graph, "none", 0.0));
    return STRAKE_STAGE(graph, 0, name, source_before, a, none, none, b);
}

/**
 * On a sphere where a tracer diffuses: nothing does so through poles, and mpdata_tracer_along rows more where these are short.
 * @param[in,out] cells  whose h mpdata_tracer_at the faces is weighted with that
 */
static void mpdata_sphere(const strake_case *which, strake_graph *graph, strake_mpdata_cells *cells)
{
    const int dims = which->problem->dims;
    const int across = dims - 2;
    bool diffuses = false;
    for (int k = 0; k < strake_mpdata_fields_of(which->problem).u; k++) {
        diffuses = diffuses || strake_mpdata_diffusivity(which, k) > 0.0;
    }
    if (!diffuses || !strake_case_is_sphere(which)) {
        (void)strake_graph_constant(graph, "narrowing", 1.0);
        return;
    }
    const int narrowing = strake_graph_input(graph, "narrowing", true);
    const int same_side = product(
        graph, "same_side", mpdata_tracer_along(narrowing, strake_mpdata_axis(dims, across), -1),
        mpdata_tracer_at(narrowing));
    cells->face_h[across] =
        STRAKE_STAGE(graph, 0, "h_face_without_poles", inflow,
                     mpdata_tracer_at(cells->face_h[across]), mpdata_tracer_at(same_side),
                     mpdata_tracer_at(strake_graph_constant(graph, "nothing_at_poles", 0.0)));
    cells->face_h[across + 1] =
        product(graph, "h_face_narrowed", mpdata_tracer_at(cells->face_h[across + 1]),
                mpdata_tracer_at(STRAKE_STAGE(graph, 0, "narrowing_of_row", magnitude,
                                              mpdata_tracer_at(narrowing))));
}

static int diffuse_stage(const strake_case *which, strake_graph *graph,
                         const strake_mpdata_tracer *tracer, const strake_mpdata_cells *cells,
                         int psi)
{
    static const strake_point *const points[] = {&strake_point_diffuse_1d, &strake_point_diffuse,
                                                 &strake_point_diffuse_3d};
    const int dims = which->problem->dims;
    strake_read read[STRAKE_MAX_READS] = {mpdata_tracer_at(psi)};
    int count = 1;
    for (int d = 0; d < dims; d++) {
        const int axis = strake_mpdata_axis(dims, d);
        read[count++] = mpdata_tracer_along(psi, axis, -1);
        read[count++] = mpdata_tracer_along(psi, axis, 1);
    }
    for (int d = 0; d < dims; d++) {
        read[count++] = mpdata_tracer_at(cells->face_h[d]);
        read[count++] = mpdata_tracer_along(cells->face_h[d], strake_mpdata_axis(dims, d), 1);
    }
    read[count++] = mpdata_tracer_at(cells->h_reciprocal);
    for (int d = 0; d < dims; d++) {
        read[count++] = mpdata_tracer_at(tracer->diffusion[d]);
    }
    return strake_graph_stage(graph, 0, "psi_diffused", points[dims - 1], count, read);
}

/**
 * The stages before and after the advection of a tracer: sets of their own, so that its fused loops are those of one
 * without them. @return the value that goes on
 */
static int mpdata_before(const strake_case *which, strake_graph *graph,
                         const strake_mpdata_tracer *tracer, const strake_mpdata_cells *cells,
                         const int *all, int psi)
{
    if (tracer->reaction != NULL) {
        const int rate = strake_formula_stages(tracer->reaction, graph, 0, "reaction", all);
        psi = STRAKE_STAGE(graph, 0, "psi_reacted", source_before, mpdata_tracer_at(psi),
                           mpdata_tracer_at(rate), mpdata_tracer_at(tracer->whole_step),
                           mpdata_tracer_at(strake_graph_constant(graph, "one", 1.0)));
        strake_graph_set(graph);
    }
    if (tracer->inflow >= 0) {
        psi = STRAKE_STAGE(graph, 0, "psi_inflow", inflow, mpdata_tracer_at(psi),
                           mpdata_tracer_at(cells->inside), mpdata_tracer_at(tracer->inflow));
        strake_graph_set(graph);
    }
    if (tracer->diffusivity > 0.0) {
        psi = diffuse_stage(which, graph, tracer, cells, psi);
        strake_graph_set(graph);
    }
    if (tracer->has_source) {
        psi = STRAKE_STAGE(graph, 0, "psi_source", source_before, mpdata_tracer_at(psi),
                           mpdata_tracer_at(tracer->source), mpdata_tracer_at(tracer->half_step),
                           mpdata_tracer_at(tracer->keep));
        strake_graph_set(graph);
    }
    return psi;
}

static int mpdata_after(const strake_case *which, strake_graph *graph,
                        const strake_mpdata_tracer *tracer, int x)
{
    const int number = 4 * which->problem->dims + 4; /* after the last one of a second pass */
    if (!tracer->has_source) {
        return x;
    }
    strake_graph_set(graph);
    return STRAKE_STAGE(graph, number, "psi_out", source_after, mpdata_tracer_at(x),
                        mpdata_tracer_at(tracer->source), mpdata_tracer_at(tracer->half_step),
                        mpdata_tracer_at(tracer->fade));
}

enum { DIMS = STRAKE_AXES };

/* A point function of each number of dimensions. */
#define BY_DIMS(name)                                                                              \
    {                                                                                              \
        &strake_point_##name##_1d, &strake_point_##name, &strake_point_##name##_3d                 \
    }

/* Value indices shared by the stages of a step. */
typedef struct table {
    strake_graph *g;
    strake_mpdata_scheme options;
    int dims;
    int h_before; /* of the beginning of the step; h is that of its end */
    int h, h_reciprocal;
    int face_h[DIMS], face_h_reciprocal[DIMS];
    strake_mpdata_cells cells;
} table;

/* A read at an offset along up to three directions of the grid. */
static strake_read at(int value)
{
    const strake_read read = {value, {0, 0, 0}};
    return read;
}

static strake_read by(const table *t, strake_read read, int d, int offset)
{
    read.offset[strake_mpdata_axis(t->dims, d)] += offset;
    return read;
}

static strake_read along(const table *t, int value, int d, int offset)
{
    return by(t, at(value), d, offset);
}

/* The other directions of a face across direction d. @return their number */
static int others(const table *t, int d, int other[DIMS])
{
    int count = 0;
    for (int e = 0; e < t->dims; e++) {
        if (e != d) {
            other[count++] = e;
        }
    }
    return count;
}

/* "f2_full_3": of direction 2 (-1: of none) and iteration 3; the first two iterations have no number. */
static const char *label(char text[STRAKE_NAME_LENGTH], const char *head, int d, const char *tail,
                         int iteration)
{
    char direction[12] = "";
    char pass[12] = "";
    if (d >= 0) {
        (void)snprintf(direction, sizeof direction, "%d", d + 1);
    }
    if (iteration > 2) {
        (void)snprintf(pass, sizeof pass, "_%d", iteration);
    }
    (void)snprintf(text, STRAKE_NAME_LENGTH, "%s%s%s%s", head, direction, tail, pass);
    return text;
}

/* The flux of a field through the faces across direction d. */
static int flux_stage(const table *t, int number, const char *name, int d, int x, int u)
{
    return STRAKE_STAGE(t->g, number, name, donor_flux, along(t, x, d, -1), at(x), at(u));
}

/* The faces of a cell, the lower one of each direction first. @return their number */
static int faces(const table *t, const int f[DIMS], strake_read *read)
{
    for (int d = 0; d < t->dims; d++) {
        read[2 * d] = at(f[d]);
        read[2 * d + 1] = along(t, f[d], d, 1);
    }
    return 2 * t->dims;
}

/* A new x; the first one of a step begins with another h than it ends with where h changes. */
static int update_stage(const table *t, int number, const char *name, int x, const int f[DIMS],
                        bool is_first)
{
    static const strake_point *const points[2][DIMS] = {BY_DIMS(flux_update),
                                                        BY_DIMS(content_update)};
    const bool changes = is_first && t->options.changes;
    strake_read read[STRAKE_MAX_READS] = {at(x), at(t->h_before)};
    int count = changes ? 2 : 1;
    count += faces(t, f, read + count);
    read[count++] = at(t->h_reciprocal);
    return strake_graph_stage(t->g, number, name, points[changes ? 1 : 0][t->dims - 1], count,
                              read);
}

/* The four faces across direction e around a face across direction d. */
static void around(const table *t, int u, int d, int e, strake_read read[4])
{
    read[0] = along(t, u, d, -1);
    read[1] = by(t, along(t, u, d, -1), e, 1);
    read[2] = along(t, u, e, 1);
    read[3] = at(u);
}

/* The cells beside the two of a face across direction d, along direction e: lower ones first. */
static void beside(const table *t, int x, int d, int e, strake_read read[4])
{
    read[0] = by(t, along(t, x, d, -1), e, -1);
    read[1] = along(t, x, e, -1);
    read[2] = by(t, along(t, x, d, -1), e, 1);
    read[3] = along(t, x, e, 1);
}

/* Of three dimensions: the sums of the transverse velocities at a face across direction d. */
static void transverse_stages(const table *t, int number, int iteration, int d, const int u[DIMS],
                              int b[DIMS])
{
    static const char *const tail[] = {"_of1", "_of2", "_of3"};
    char text[STRAKE_NAME_LENGTH];
    int other[DIMS];
    const int count = others(t, d, other);
    for (int k = 0; k < count; k++) {
        strake_read read[4];
        around(t, u[other[k]], d, other[k], read);
        b[k] = strake_graph_stage(t->g, number, label(text, "b", d, tail[other[k]], iteration),
                                  &strake_point_transverse, 4, read);
    }
}

/* Stages 5 and 6 of two dimensions: corrective velocity through the faces across direction d. */
static int corrective_stage(const table *t, int number, int iteration, int d, int x,
                            const int u[DIMS], const int b[DIMS])
{
    static const strake_point *const by_gauge[2][DIMS] = {BY_DIMS(corrective),
                                                          BY_DIMS(corrective_gauge)};
    const strake_point *const *points = by_gauge[t->options.gauge ? 1 : 0];
    const int r = t->options.gauge ? t->face_h_reciprocal[d] : t->face_h[d];
    char text[STRAKE_NAME_LENGTH];
    int other[DIMS];
    strake_read read[STRAKE_MAX_READS] = {at(u[d])};
    int count = 1;
    (void)others(t, d, other);
    if (t->dims == 2) {
        around(t, u[other[0]], d, other[0], read + 1);
        count = 5;
    } else if (t->dims == 3) {
        strake_read across[10] = {at(b[0]), at(b[1])};
        beside(t, x, d, other[0], across + 2);
        beside(t, x, d, other[1], across + 6);
        read[count++] = at(strake_graph_stage(
            t->g, number, label(text, "v", d, "_across", iteration),
            t->options.gauge ? &strake_point_across_gauge_3d : &strake_point_across_3d, 10,
            across));
    }
    read[count++] = at(r);
    read[count++] = along(t, x, d, -1);
    read[count++] = at(x);
    if (t->dims == 2) {
        beside(t, x, d, other[0], read + count);
        count += 4;
    }
    return strake_graph_stage(t->g, number, label(text, "v", d, "", iteration), points[t->dims - 1],
                              count, read);
}

/* The factor of a cross term of third order, for faces across direction d and differences along e. */
static int across_factor(const table *t, int number, const char *name, int d, int e,
                         const int u[DIMS])
{
    strake_read read[6] = {at(u[d])};
    around(t, u[e], d, e, read + 1);
    read[5] = at(t->face_h_reciprocal[d]);
    return strake_graph_stage(t->g, number, name, &strake_point_third_order_across, 6, read);
}

/* What three dimensions have of third order beyond two: the other direction across, and the corners. */
static int third_order_3d(const table *t, int number, int iteration, int d, int x, int v,
                          const int u[DIMS], const int b[DIMS])
{
    char text[STRAKE_NAME_LENGTH];
    int other[DIMS];
    (void)others(t, d, other);
    const int factor2 =
        across_factor(t, number, label(text, "t", d, "_across_b", iteration), d, other[1], u);
    strake_read cross[6] = {at(v), at(factor2)};
    beside(t, x, d, other[1], cross + 2);
    v = strake_graph_stage(t->g, number, label(text, "v", d, "_cross", iteration),
                           t->options.gauge ? &strake_point_third_order_cross_gauge
                                            : &strake_point_third_order_cross,
                           6, cross);
    const int factor3 =
        STRAKE_STAGE(t->g, number, label(text, "t", d, "_corners", iteration), third_order_corners,
                     at(u[d]), at(b[0]), at(b[1]), at(t->face_h_reciprocal[d]));
    strake_read corner[10] = {at(v), at(factor3)};
    for (int k = 0; k < 8; k++) {
        strake_read read = along(t, x, d, (k & 1) != 0 ? 0 : -1);
        read = by(t, read, other[0], (k & 4) != 0 ? 1 : -1);
        corner[2 + k] = by(t, read, other[1], (k & 2) != 0 ? 1 : -1);
    }
    return strake_graph_stage(t->g, number, label(text, "v", d, "_corner", iteration),
                              t->options.gauge ? &strake_point_third_order_corner_gauge
                                               : &strake_point_third_order_corner,
                              10, corner);
}

/* The third-order terms, added to a corrective velocity. */
static int third_order_stage(const table *t, int number, int iteration, int d, int x, int v,
                             const int u[DIMS], const int b[DIMS])
{
    static const strake_point *const points[2][2] = {
        {&strake_point_third_order_1d, &strake_point_third_order_gauge_1d},
        {&strake_point_third_order, &strake_point_third_order_gauge}};
    char text[STRAKE_NAME_LENGTH];
    int other[DIMS];
    (void)others(t, d, other);
    const int factor1 = STRAKE_STAGE(t->g, number, label(text, "t", d, "_along", iteration),
                                     third_order_along, at(u[d]), at(t->face_h_reciprocal[d]));
    strake_read read[11] = {at(v), at(factor1)};
    int count = 2;
    if (t->dims > 1) {
        read[count++] =
            at(across_factor(t, number, label(text, "t", d, "_across", iteration), d, other[0], u));
    }
    for (int offset = -2; offset <= 1; offset++) {
        read[count++] = along(t, x, d, offset);
    }
    if (t->dims > 1) {
        beside(t, x, d, other[0], read + count);
        count += 4;
    }
    v = strake_graph_stage(t->g, number, label(text, "v", d, "_third", iteration),
                           points[t->dims > 1 ? 1 : 0][t->options.gauge ? 1 : 0], count, read);
    return t->dims == 3 ? third_order_3d(t, number, iteration, d, x, v, u, b) : v;
}

/* What flows out of a cell with the velocities u and, in the first pass, is added to h. */
static int outflow_stage(const table *t, int number, int iteration, const int u[DIMS])
{
    static const strake_point *const points[] = BY_DIMS(divergence);
    char text[STRAKE_NAME_LENGTH];
    strake_read read[2 * DIMS];
    const int count = faces(t, u, read);
    const int out = strake_graph_stage(t->g, number, label(text, "outflow", -1, "", iteration),
                                       points[t->dims - 1], count, read);
    return iteration == 2 && t->options.changes
               ? STRAKE_STAGE(t->g, number, "outflow_and_change", with_change, at(out),
                              at(t->h_before), at(t->h))
               : out;
}

/* The term of a divergent flow, added to a corrective velocity. */
static int divergent_stage(const table *t, int number, int iteration, int d, int x, int v, int u,
                           int out)
{
    char text[STRAKE_NAME_LENGTH];
    const strake_read read[] = {at(v),
                                at(u),
                                at(t->face_h_reciprocal[d]),
                                along(t, out, d, -1),
                                at(out),
                                along(t, x, d, -1),
                                at(x)};
    return strake_graph_stage(t->g, number, label(text, "v", d, "_divergent", iteration),
                              t->options.gauge ? &strake_point_divergent_gauge
                                               : &strake_point_divergent,
                              t->options.gauge ? 7 : 5, read);
}

/* Corrective velocities, all terms, from those of the pass before; x: what the ratios are built from. */
static void velocity_stages(const table *t, int number, int iteration, int x, const int u[DIMS],
                            int v[DIMS])
{
    const int out = t->options.divergent ? outflow_stage(t, number - 1, iteration, u) : 0;
    for (int d = 0; d < t->dims; d++) {
        int b[DIMS] = {0};
        if (t->dims == 3) {
            transverse_stages(t, number + d, iteration, d, u, b);
        }
        v[d] = corrective_stage(t, number + d, iteration, d, x, u, b);
        if (t->options.third_order) {
            v[d] = third_order_stage(t, number + d, iteration, d, x, v[d], u, b);
        }
        if (t->options.divergent) {
            v[d] = divergent_stage(t, number + d, iteration, d, x, v[d], u[d], out);
        }
    }
}

/* Stages 10 and 11 of two dimensions. */
static int limit_stage(const table *t, int number, const char *name, const strake_point *point,
                       int bound, int x, const int f[DIMS])
{
    strake_read read[STRAKE_MAX_READS] = {at(bound), at(x), at(t->h)};
    const int count = 3 + faces(t, f, read + 3);
    return strake_graph_stage(t->g, number, name, point, count, read);
}

/* Stages 4 and 7: bounds, from the cross of x and, if there is one, the earlier bound. */
static void bound_stages(const table *t, int number, int iteration, int x, int bound[2])
{
    static const strake_point *const points[2][2][DIMS] = {
        {BY_DIMS(cross_max), BY_DIMS(cross_min)}, {BY_DIMS(widen_max), BY_DIMS(widen_min)}};
    static const char *const head[] = {"mx", "mn"};
    char text[STRAKE_NAME_LENGTH];
    for (int side = 0; side < 2; side++) {
        strake_read read[2 + 2 * DIMS] = {at(bound[side]), at(x)};
        for (int d = 0; d < t->dims; d++) {
            read[2 + 2 * d] = along(t, x, d, -1);
            read[3 + 2 * d] = along(t, x, d, 1);
        }
        const int first = iteration == 1 ? 1 : 0;
        const char *const name = label(text, head[side], -1, first == 1 ? "_in" : "", iteration);
        const strake_point *const point = points[first == 1 ? 0 : 1][side][t->dims - 1];
        bound[side] =
            strake_graph_stage(t->g, number, name, point, 2 + 2 * t->dims - first, read + first);
    }
}

/* What the ratios are built from: |x|, computed with x, or x itself. */
static int magnitude_stage(const table *t, int number, int iteration, int x)
{
    char text[STRAKE_NAME_LENGTH];
    return t->options.gauge || t->options.nonnegative
               ? x
               : STRAKE_STAGE(t->g, number, label(text, "x_magnitude", -1, "", iteration),
                              magnitude, at(x));
}

/* The fluxes of x with corrective velocities; in infinite gauge these themselves. */
static void flux_stages(const table *t, int number, const char *tail, int iteration, int x,
                        const int v[DIMS], int f[DIMS])
{
    char text[STRAKE_NAME_LENGTH];
    for (int d = 0; d < t->dims; d++) {
        f[d] = t->options.gauge
                   ? v[d]
                   : flux_stage(t, number + d, label(text, "f", d, tail, iteration), d, x, v[d]);
    }
}

/* Limits corrective velocities, so that x stays within its bounds: stages 7 to 13 of two dimensions. */
static void limiter_stages(const table *t, int number, int iteration, int x, int bound[2],
                           int v[DIMS])
{
    static const strake_point *const inflow[] = BY_DIMS(limit_inflow);
    static const strake_point *const outflow[] = BY_DIMS(limit_outflow);
    const bool by_velocity = t->options.gauge || t->options.nonnegative;
    char text[STRAKE_NAME_LENGTH];
    int f[DIMS];
    int now[2] = {bound[0], bound[1]};
    bound_stages(t, number, iteration, x, now);
    flux_stages(t, number + 1, "_full", iteration, x, v, f);
    number += t->dims + 1;
    const int up = limit_stage(t, number, label(text, "cp", -1, "", iteration), inflow[t->dims - 1],
                               now[0], x, f);
    const int down = limit_stage(t, number + 1, label(text, "cn", -1, "", iteration),
                                 outflow[t->dims - 1], now[1], x, f);
    for (int d = 0; d < t->dims; d++) {
        v[d] = STRAKE_STAGE(t->g, number + 2 + d, label(text, "v", d, "_limited", iteration),
                            limit_velocity, at(v[d]), at(by_velocity ? v[d] : f[d]),
                            along(t, up, d, -1), at(up), along(t, down, d, -1), at(down));
    }
    for (int side = 0; side < 2 && !t->options.initial_bounds; side++) {
        bound[side] = now[side];
    }
}

/* One corrective iteration, from x and its magnitude: stages 5 to 16 of two dimensions, 17 to 28 for the third one, ... */
static int corrective_iteration(const table *t, int iteration, int x, int size, int u[DIMS],
                                int bound[2])
{
    char text[STRAKE_NAME_LENGTH];
    const int base = (t->dims + 3) + 4 * (t->dims + 1) * (iteration - 2);
    int v[DIMS];
    int f[DIMS];
    velocity_stages(t, base, iteration, size, u, v);
    for (int d = 0; d < t->dims; d++) {
        u[d] = v[d];
    }
    if (t->options.nonoscillatory) {
        limiter_stages(t, base + t->dims, iteration, x, bound, v);
    }
    for (int d = 0; d < t->dims && !t->options.unlimited; d++) {
        u[d] = v[d];
    }
    flux_stages(t, base + 3 * (t->dims + 1), "_limited", iteration, x, v, f);
    return update_stage(t, base + 4 * t->dims + 3, label(text, "x_out", -1, "", iteration), x, f,
                        false);
}

/* What follows from h alone. */
static void h_stages(table *t)
{
    char text[STRAKE_NAME_LENGTH];
    t->h_reciprocal = STRAKE_STAGE(t->g, 0, "h_reciprocal", reciprocal, at(t->h));
    for (int d = 0; d < t->dims; d++) {
        t->face_h[d] = STRAKE_STAGE(t->g, 0, label(text, "h_face", d, "", 0), face_mean,
                                    along(t, t->h, d, -1), at(t->h));
        t->face_h_reciprocal[d] = STRAKE_STAGE(t->g, 0, label(text, "h_face", d, "_reciprocal", 0),
                                               reciprocal, at(t->face_h[d]));
        t->cells.face_h[d] = t->face_h[d];
    }
    t->cells.h_reciprocal = t->h_reciprocal;
    for (int d = 0; d < t->dims && t->options.changes; d++) {
        t->cells.face_h[d] = STRAKE_STAGE(t->g, 0, label(text, "h_before_face", d, "", 0),
                                          face_mean, along(t, t->h_before, d, -1), at(t->h_before));
    }
    if (t->options.changes) {
        t->cells.h_reciprocal =
            STRAKE_STAGE(t->g, 0, "h_before_reciprocal", reciprocal, at(t->h_before));
    }
}

/* The advection of one field. @return its new value */
static int step_stages(const table *t, int psi, const int velocity[DIMS])
{
    char text[STRAKE_NAME_LENGTH];
    int u[DIMS];
    int f[DIMS];
    int bound[2] = {0, 0};
    for (int d = 0; d < t->dims; d++) {
        u[d] = velocity[d];
        f[d] = flux_stage(t, 1 + d, label(text, "f", d, "", 0), d, psi, u[d]);
    }
    int x = update_stage(t, t->dims + 1, "x", psi, f, true);
    int size = magnitude_stage(t, t->dims + 1, 2, x);
    if (t->options.nonoscillatory && t->options.iterations > 1) {
        bound_stages(t, t->dims + 2, 1, psi, bound);
    }
    for (int iteration = 2; iteration <= t->options.iterations; iteration++) {
        x = corrective_iteration(t, iteration, x, size, u, bound);
        const int number = (5 * t->dims + 6) + 4 * (t->dims + 1) * (iteration - 2);
        size = magnitude_stage(t, number, iteration + 1, x);
    }
    return x;
}

static int field_input(strake_graph *g, const char *name, bool is_constant, double number)
{
    return is_constant ? strake_graph_constant(g, name, number) : strake_graph_input(g, name, true);
}

strake_status strake_mpdata_build(const strake_case *which, const bool *constant,
                                  const double *number, strake_graph *graph, strake_error *error)
{
    const strake_field *const field = which->problem->field;
    const strake_mpdata_fields at_field = strake_mpdata_fields_of(which->problem);
    table t = {.g = graph, .options = strake_mpdata_scheme_of(which), .dims = at_field.dims};
    int u[DIMS];
    int psi[STRAKE_MAX_NAMES];
    strake_mpdata_tracer own[STRAKE_MAX_NAMES];
    strake_graph_begin(graph, which->precision);
    for (int k = 0; k < at_field.u; k++) {
        psi[k] = strake_graph_input(graph, field[k].name, false);
    }
    /* One constant velocity beside a varying one is still extended by the divergence of the other. */
    bool steady = true;
    for (int d = 0; d < t.dims; d++) {
        steady = steady && constant[at_field.u + d];
    }
    for (int d = 0; d < t.dims; d++) {
        const int f = at_field.u + d;
        u[d] = field_input(graph, field[f].name, steady, number[f]);
    }
    t.h_before = field_input(graph, "h", constant[at_field.h], number[at_field.h]);
    /* Where h stays there is no other one. Beyond open edges and walls it is h, and so no constant. */
    bool has_edges = false;
    for (int d = 0; d < t.dims; d++) {
        has_edges = has_edges || which->boundary[strake_mpdata_axis(t.dims, d)] == STRAKE_OPEN;
    }
    const int h_next = t.options.changes
                           ? field_input(graph, "h_next", constant[at_field.h_next] && !has_edges,
                                         number[at_field.h_next])
                           : strake_graph_constant(graph, "h_next", 1.0);
    t.h = t.options.changes ? h_next : t.h_before;
    t.cells.inside = mpdata_tracers(which, graph, own);
    h_stages(&t);
    mpdata_sphere(which, graph, &t.cells);
    for (int k = 0; k < at_field.u; k++) {
        if (k > 0) {
            strake_graph_set(graph);
        }
        const int begun = mpdata_before(which, graph, &own[k], &t.cells, psi, psi[k]);
        const int x = step_stages(&t, begun, u);
        strake_graph_state(graph, psi[k], mpdata_after(which, graph, &own[k], x));
    }
    if (graph->broken && at_field.u > 1) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: tracers: a step of %d with these options has more intermediate "
                           "values than the %d that there may be; run fewer in one case",
                           which->file, at_field.u, STRAKE_MAX_VALUES);
    }
    return strake_graph_finish(graph, error);
}
