/* What happens to a tracer of MPDATA beside its advection: inflow, diffusion, sources and decay. */
#include <math.h>

#include "problem/mpdata.h"

static strake_read at(int value)
{
    const strake_read read = {value, {0, 0, 0}};
    return read;
}

static strake_read along(int value, int axis, int offset)
{
    strake_read read = at(value);
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
    return STRAKE_STAGE(
        graph, 0, name, source_before, at(strake_graph_constant(graph, "none", 0.0)),
        at(strake_graph_constant(graph, "per_second", number)), at(of->dt), at(of->one));
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
    q->keep = STRAKE_STAGE(graph, 0, "keep", source_before, at(of->one),
                           at(strake_graph_constant(graph, "loss", -q->decay)), at(q->half_step),
                           at(of->one));
    const int gain = STRAKE_STAGE(graph, 0, "gain", source_before, at(of->one),
                                  at(strake_graph_constant(graph, "decay", q->decay)),
                                  at(q->half_step), at(of->one));
    q->fade = STRAKE_STAGE(graph, 0, "fade", reciprocal, at(gain));
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

int strake_mpdata_tracers(const strake_case *which, strake_graph *graph,
                          strake_mpdata_tracer out[STRAKE_MAX_NAMES])
{
    const strake_mpdata_fields fields = strake_mpdata_fields_of(which->problem);
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    follower of = {-1, -1, -1};
    bool flows_in = false;
    for (int k = 0; k < fields.u; k++) {
        strake_mpdata_tracer *const q = &out[k];
        q->decay = strake_mpdata_decay(which, k);
        q->diffusivity = strake_mpdata_diffusivity(which, k);
        q->source = own_field(which, graph, fields.source + k, options.sources, 0.0);
        q->inflow = own_field(which, graph, fields.inflow + k, options.inflow, (double)NAN);
        q->has_source = q->source >= 0 || q->decay > 0.0;
        plan_source(which, graph, &of, q);
        plan_diffusion(which, graph, &of, k, out);
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
    const strake_read none = at(strake_graph_constant(graph, "none", 0.0));
    return STRAKE_STAGE(graph, 0, name, source_before, a, none, none, b);
}

void strake_mpdata_sphere(const strake_case *which, strake_graph *graph, strake_mpdata_cells *cells)
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
        graph, "same_side", along(narrowing, strake_mpdata_axis(dims, across), -1), at(narrowing));
    cells->face_h[across] =
        STRAKE_STAGE(graph, 0, "h_face_without_poles", inflow, at(cells->face_h[across]),
                     at(same_side), at(strake_graph_constant(graph, "nothing_at_poles", 0.0)));
    cells->face_h[across + 1] =
        product(graph, "h_face_narrowed", at(cells->face_h[across + 1]),
                at(STRAKE_STAGE(graph, 0, "narrowing_of_row", magnitude, at(narrowing))));
}

static int diffuse_stage(const strake_case *which, strake_graph *graph,
                         const strake_mpdata_tracer *tracer, const strake_mpdata_cells *cells,
                         int psi)
{
    static const strake_point *const points[] = {&strake_point_diffuse_1d, &strake_point_diffuse,
                                                 &strake_point_diffuse_3d};
    const int dims = which->problem->dims;
    strake_read read[STRAKE_MAX_READS] = {at(psi)};
    int count = 1;
    for (int d = 0; d < dims; d++) {
        const int axis = strake_mpdata_axis(dims, d);
        read[count++] = along(psi, axis, -1);
        read[count++] = along(psi, axis, 1);
    }
    for (int d = 0; d < dims; d++) {
        read[count++] = at(cells->face_h[d]);
        read[count++] = along(cells->face_h[d], strake_mpdata_axis(dims, d), 1);
    }
    read[count++] = at(cells->h_reciprocal);
    for (int d = 0; d < dims; d++) {
        read[count++] = at(tracer->diffusion[d]);
    }
    return strake_graph_stage(graph, 0, "psi_diffused", points[dims - 1], count, read);
}

int strake_mpdata_before(const strake_case *which, strake_graph *graph,
                         const strake_mpdata_tracer *tracer, const strake_mpdata_cells *cells,
                         int psi)
{
    if (tracer->inflow >= 0) {
        psi = STRAKE_STAGE(graph, 0, "psi_inflow", inflow, at(psi), at(cells->inside),
                           at(tracer->inflow));
        strake_graph_set(graph);
    }
    if (tracer->diffusivity > 0.0) {
        psi = diffuse_stage(which, graph, tracer, cells, psi);
        strake_graph_set(graph);
    }
    if (tracer->has_source) {
        psi = STRAKE_STAGE(graph, 0, "psi_source", source_before, at(psi), at(tracer->source),
                           at(tracer->half_step), at(tracer->keep));
        strake_graph_set(graph);
    }
    return psi;
}

int strake_mpdata_after(const strake_case *which, strake_graph *graph,
                        const strake_mpdata_tracer *tracer, int x)
{
    const int number = 4 * which->problem->dims + 4; /* after the last one of a second pass */
    if (!tracer->has_source) {
        return x;
    }
    strake_graph_set(graph);
    return STRAKE_STAGE(graph, number, "psi_out", source_after, at(x), at(tracer->source),
                        at(tracer->half_step), at(tracer->fade));
}
