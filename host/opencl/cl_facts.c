/* What follows from a stage graph and the plan of a kernel. */
#include "opencl/cl_facts.h"

#include <string.h>

#include "engine/clock.h"

enum {
    DIVISION_OPS = 12, /* what a division costs beside an addition */
    SELECT_OPS = 2     /* a comparison and the move it controls */
};

bool strake_cl_is_here(const int offset[STRAKE_AXES])
{
    return offset[0] == 0 && offset[1] == 0 && offset[2] == 0;
}

bool strake_cl_stage_is_free(const strake_graph *graph, const strake_stage *stage)
{
    const strake_value *output = &graph->value[stage->output];
    const strake_ops *ops = &stage->point->ops;
    return !output->is_static && !output->is_output && !output->is_reduced &&
           !output->is_constant && stage->reads == 1 && strake_cl_is_here(stage->read[0].offset) &&
           ops->adds + ops->muls + ops->divs + ops->selects == 0;
}

int strake_cl_source_of(const strake_graph *graph, int value)
{
    int source = value;
    while (graph->value[source].stage >= 0 &&
           strake_cl_stage_is_free(graph, &graph->stage[graph->value[source].stage])) {
        source = graph->stage[graph->value[source].stage].read[0].value;
    }
    return source;
}

int strake_cl_stage_ops(const strake_stage *stage)
{
    const strake_ops *ops = &stage->point->ops;
    return ops->adds + ops->muls + DIVISION_OPS * ops->divs + SELECT_OPS * ops->selects;
}

void strake_cl_find_reach(const strake_graph *graph, int axis, int *lo, int *hi)
{
    *lo = 0;
    *hi = 0;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        if (value->is_live && !value->is_constant) {
            *lo = value->lo[axis] > *lo ? value->lo[axis] : *lo;
            *hi = value->hi[axis] > *hi ? value->hi[axis] : *hi;
        }
    }
}

bool strake_cl_plan_has_clock(const strake_graph *graph)
{
    int given = 0;
    for (int k = 0; k < graph->scalars; k++) {
        given += graph->scalar[k].stage.reads == 0 ? 1 : 0;
    }
    return given >= 1 && given <= STRAKE_CLOCK_TELLS && graph->reductions > 0;
}

bool strake_cl_plan_hears(const strake_graph *graph, int kernels, const strake_cl_kernel_plan *plan)
{
    int sweep = -1, count = 0;
    for (int k = 0; k < kernels; k++) {
        sweep = plan[k].is_static ? sweep : k;
        count += plan[k].is_static ? 0 : 1;
    }
    return strake_cl_plan_has_clock(graph) && count == 1 &&
           (plan[sweep].marches || plan[sweep].tiled) && plan[sweep].reductions > 0;
}

bool strake_cl_stage_reads(const strake_graph *graph, const strake_stage *stage, int value)
{
    for (int k = 0; k < stage->reads; k++) {
        if (strake_cl_source_of(graph, stage->read[k].value) == value) {
            return true;
        }
    }
    return false;
}

bool strake_cl_plan_has(const strake_cl_kernel_plan *plan, int stage)
{
    for (int k = 0; k < plan->stages; k++) {
        if (plan->stage[k] == stage) {
            return true;
        }
    }
    return false;
}

bool strake_cl_plan_is_read_outside(const strake_graph *graph, const strake_cl_kernel_plan *plan,
                                    int value)
{
    for (int s = 0; s < graph->stages; s++) {
        if (!strake_cl_stage_is_free(graph, &graph->stage[s]) &&
            strake_cl_stage_reads(graph, &graph->stage[s], value) && !strake_cl_plan_has(plan, s)) {
            return true;
        }
    }
    return false;
}

int strake_cl_plan_arrays_written(const strake_cl_kernel_plan *plan)
{
    int arrays = 0;
    for (int k = 0; k < plan->outputs; k++) {
        arrays += plan->only_reduced[k] ? 0 : 1;
    }
    return arrays;
}

bool strake_cl_plan_fills(const strake_graph *graph, const strake_cl_kernel_plan *plan)
{
    bool writes_state = false;
    for (int k = 0; k < plan->outputs; k++) {
        writes_state = writes_state || graph->value[plan->output[k]].is_output;
    }
    return plan->flat && writes_state;
}

int strake_cl_find_term(const strake_cl_kernel_plan *plan, int value, const int offset[STRAKE_AXES])
{
    for (int p = 0; p < plan->terms; p++) {
        if (plan->term[p].value == value &&
            memcmp(plan->term[p].offset, offset, sizeof plan->term[p].offset) == 0) {
            return p;
        }
    }
    return -1;
}

static bool is_own(const strake_cl_kernel_plan *plan, const int offset[STRAKE_AXES])
{
    return offset[1] >= 0 && offset[1] < plan->lines && offset[2] >= 0 && offset[2] < plan->vector;
}

bool strake_cl_term_is_own(const strake_cl_kernel_plan *plan, const strake_cl_term *term)
{
    return is_own(plan, term->offset);
}

bool strake_cl_term_is_stored(const strake_cl_kernel_plan *plan, const strake_cl_term *term)
{
    for (int k = 0; k < plan->outputs && is_own(plan, term->offset); k++) {
        if (plan->output[k] == term->value) {
            return true;
        }
    }
    return false;
}

int strake_cl_items_away(const strake_cl_kernel_plan *plan, const strake_cl_term *term, int axis)
{
    const int offset = term->offset[axis];
    const int own = axis == 2 ? plan->vector : plan->lines;
    return offset >= 0 ? offset / own : -((own - 1 - offset) / own);
}

int strake_cl_find_owner(const strake_cl_kernel_plan *plan, const strake_cl_term *term)
{
    const int offset[STRAKE_AXES] = {
        0, term->offset[1] - strake_cl_items_away(plan, term, 1) * plan->lines,
        term->offset[2] - strake_cl_items_away(plan, term, 2) * plan->vector};
    return strake_cl_find_term(plan, term->value, offset);
}

int strake_cl_lead(const strake_cl_kernel_plan *plan)
{
    return (plan->lo[2] + plan->vector - 1) / plan->vector * plan->vector;
}

size_t strake_cl_line_elements(const strake_cl_options *options, const strake_cl_kernel_plan *plan)
{
    return (size_t)options->stride + 2 * (size_t)plan->margin[2];
}

int strake_cl_halves(const strake_cl_kernel_plan *plan)
{
    return plan->lines > 1 ? 1 : 2;
}

size_t strake_cl_half_elements(const strake_cl_options *options, const strake_cl_kernel_plan *plan)
{
    const size_t lines = plan->flat ? 1 : (size_t)options->lines + 2 * (size_t)plan->margin[1];
    return lines * strake_cl_line_elements(options, plan);
}

size_t strake_cl_local_bytes(const strake_graph *graph, const strake_cl_options *options,
                             const strake_cl_kernel_plan *plan)
{
    const size_t items = plan->tiled
                             ? (size_t)options->items
                             : (size_t)options->stride * (plan->flat ? 1 : (size_t)options->lines);
    const size_t elements = (plan->tiled ? (size_t)plan->local
                                         : (size_t)plan->slots * (size_t)strake_cl_halves(plan) *
                                               strake_cl_half_elements(options, plan)) +
                            (plan->reductions > 0 ? items : 0);
    return elements * (size_t)strake_precision_size(graph->precision);
}

int strake_cl_tile_extent(const strake_cl_options *options, int axis)
{
    static const int place[STRAKE_AXES] = {1, 2, 0};
    return options->tile[place[axis]];
}

int strake_cl_phase_extent(const strake_cl_options *options, const strake_cl_phase *phase, int axis)
{
    return strake_cl_tile_extent(options, axis) + phase->lo[axis] + phase->hi[axis];
}

int strake_cl_tile_lead(const strake_cl_kernel_plan *plan, int axis)
{
    int lead = 0;
    for (int s = 0; s < plan->slots; s++) {
        const int before = plan->phase[plan->slot[s].made].lo[axis];
        lead = before > lead ? before : lead;
    }
    return lead;
}

void strake_cl_find_wholes(const strake_graph *graph, int *whole)
{
    for (int s = 0; s < graph->stages; s++) {
        whole[s] = s;
    }
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *const stage = &graph->stage[s];
        for (int k = 0; k < stage->reads && !graph->value[stage->output].is_static; k++) {
            const strake_value *const value = &graph->value[stage->read[k].value];
            const int own = whole[s];
            const int other = value->stage >= 0 && !value->is_static ? whole[value->stage] : own;
            for (int q = 0; q < graph->stages && own != other; q++) {
                const bool is_one = whole[q] == own || whole[q] == other;
                whole[q] = is_one ? (own < other ? own : other) : whole[q];
            }
        }
    }
}
