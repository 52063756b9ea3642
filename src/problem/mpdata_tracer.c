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

/*
 * Half a step and what decay leaves in it: numbers; where the time step follows from the flow, scalars that follow it,
 * as half a step of a source of 1 and of one of -decay, or decay, in 1. @param[in,out] half_step  -1: not there yet
 */
static void plan_source(const strake_case *which, strake_graph *graph, int *half_step,
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
    const int one = strake_graph_constant(graph, "one", 1.0);
    if (*half_step < 0) {
        *half_step = STRAKE_STAGE(graph, 0, "half_step", source_before,
                                  at(strake_graph_constant(graph, "none", 0.0)),
                                  at(strake_graph_constant(graph, "half", 0.5)),
                                  at(strake_graph_scalar(graph, "dt")), at(one));
    }
    q->half_step = *half_step;
    q->keep =
        STRAKE_STAGE(graph, 0, "keep", source_before, at(one),
                     at(strake_graph_constant(graph, "loss", -q->decay)), at(*half_step), at(one));
    const int gain =
        STRAKE_STAGE(graph, 0, "gain", source_before, at(one),
                     at(strake_graph_constant(graph, "decay", q->decay)), at(*half_step), at(one));
    q->fade = STRAKE_STAGE(graph, 0, "fade", reciprocal, at(gain));
}

int strake_mpdata_tracers(const strake_case *which, strake_graph *graph,
                          strake_mpdata_tracer out[STRAKE_MAX_NAMES])
{
    const strake_mpdata_fields fields = strake_mpdata_fields_of(which->problem);
    const strake_mpdata_scheme options = strake_mpdata_scheme_of(which);
    int half_step = -1;
    bool flows_in = false;
    for (int k = 0; k < fields.u; k++) {
        strake_mpdata_tracer *const q = &out[k];
        q->decay = strake_mpdata_decay(which, k);
        q->diffusivity = strake_mpdata_diffusivity(which, k);
        q->source = own_field(which, graph, fields.source + k, options.sources, 0.0);
        q->inflow = own_field(which, graph, fields.inflow + k, options.inflow, (double)NAN);
        q->has_source = q->source >= 0 || q->decay > 0.0;
        plan_source(which, graph, &half_step, q);
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

static int diffuse_stage(const strake_case *which, strake_graph *graph, double diffusivity,
                         const strake_mpdata_cells *cells, int psi)
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
        read[count++] = at(strake_graph_constant(
            graph, "diffusion", strake_mpdata_diffusion_number(which, diffusivity, d)));
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
        psi = diffuse_stage(which, graph, tracer->diffusivity, cells, psi);
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
