/* What one work-item of a kernel evaluates: its terms; those of marching kernels are scheduled in cl_lags.c. */
#include <stddef.h>
#include <string.h>

#include "opencl/cl_facts.h"
#include "opencl/cl_plan_impl.h"

enum {
    EXCHANGE_OPS = 2,   /* a read of local memory, and the share of the write */
    RECOMPUTE_MOST = 6, /* cheaper values are computed again instead of passed between columns */
    INLINE_MOST = 4     /* cheaper static values are computed again instead of loaded */
};

typedef struct builder {
    const strake_graph *graph;
    strake_cl_kernel_plan *plan;
    bool failed;
    bool is_member[STRAKE_MAX_VALUES]; /* this kernel computes the value (somewhere) */
    short newest
        [STRAKE_MAX_VALUES]; /* one more than the newest term of a value, 0: there is none; ... */
    short older[STRAKE_CL_KERNEL_TERMS]; /* ... the same of the one before a term */
} builder;

static bool is_inlined(const builder *b, int value)
{
    const strake_value *v = &b->graph->value[value];
    return !b->plan->is_static && v->is_static && v->stage >= 0 &&
           strake_cl_stage_ops(&b->graph->stage[v->stage]) <= INLINE_MOST;
}

static void find_members(builder *b, bool inline_static)
{
    for (int k = 0; k < b->plan->stages; k++) {
        b->is_member[b->graph->stage[b->plan->stage[k]].output] = true;
    }
    for (int v = 0; v < b->graph->values && inline_static; v++) {
        b->is_member[v] = b->is_member[v] || is_inlined(b, v);
    }
}

/* As strake_cl_find_term(): very many are asked for. */
static int find(const builder *b, int value, const int offset[STRAKE_AXES])
{
    int p = b->newest[value] - 1;
    while (p >= 0 && memcmp(b->plan->term[p].offset, offset, sizeof b->plan->term[p].offset) != 0) {
        p = b->older[p] - 1;
    }
    return p;
}

/* Operations to get a value from what is loaded. */
static int recompute_ops(const builder *b, int value)
{
    const strake_stage *stage = &b->graph->stage[b->graph->value[value].stage];
    int ops = strake_cl_stage_ops(stage);
    for (int k = 0; k < stage->reads && ops <= RECOMPUTE_MOST; k++) {
        const int operand = strake_cl_source_of(b->graph, stage->read[k].value);
        if (!b->graph->value[operand].is_constant && b->is_member[operand]) {
            ops += recompute_ops(b, operand);
        }
    }
    return ops;
}

/* Where a read of a computed term leads; rows are reached through history in marching kernels. */
static void operand_offset(const strake_cl_kernel_plan *plan, const int base[STRAKE_AXES],
                           const strake_read *read, int out[STRAKE_AXES])
{
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        out[axis] = axis == 0 && plan->marches ? 0 : base[axis] + read->offset[axis];
    }
}

static void append(builder *b, const strake_cl_term *term)
{
    if (b->plan->terms == STRAKE_CL_KERNEL_TERMS) {
        b->failed = true;
        return;
    }
    b->older[b->plan->terms] = b->newest[term->value];
    b->plan->term[b->plan->terms++] = *term;
    b->newest[term->value] = (short)b->plan->terms;
}

static void want(builder *b, int value, const int offset[STRAKE_AXES]);

/* A computed term, whose operands are then in the list. */
static strake_cl_term compute(builder *b, int value, const int offset[STRAKE_AXES])
{
    const strake_graph *graph = b->graph;
    const strake_stage *stage = &graph->stage[graph->value[value].stage];
    strake_cl_term term = {.value = value, .kind = STRAKE_CL_COMPUTED, .slot = -1};
    memcpy(term.offset, offset, sizeof term.offset);
    for (int k = 0; k < stage->reads; k++) {
        int at[STRAKE_AXES];
        const int source = strake_cl_source_of(graph, stage->read[k].value);
        operand_offset(b->plan, offset, &stage->read[k], at);
        want(b, source, at);
        term.operand[k] = graph->value[source].is_constant ? -1 : find(b, source, at);
    }
    return term;
}

/* A value at all own columns: these terms stand side by side, so that they can share their lags. */
static void want_own(builder *b, int value)
{
    strake_cl_term own[STRAKE_CL_MOST_LINES * STRAKE_CL_MOST_COLUMNS];
    const int cells = b->plan->lines * b->plan->vector;
    for (int cell = 0; cell < cells; cell++) {
        const int offset[STRAKE_AXES] = {0, cell / b->plan->vector, cell % b->plan->vector};
        own[cell] = compute(b, value, offset);
    }
    for (int cell = 0; cell < cells; cell++) {
        append(b, &own[cell]);
    }
}

/* Makes sure that a term and everything it needs is in the list. */
static void want(builder *b, int value, const int offset[STRAKE_AXES])
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    const strake_cl_kernel_plan *plan = b->plan;
    const strake_value *v = &b->graph->value[value];
    if (b->failed || v->is_constant || find(b, value, offset) >= 0) {
        return;
    }
    strake_cl_term term = {.value = value, .kind = STRAKE_CL_LOADED, .slot = -1};
    memcpy(term.offset, offset, sizeof term.offset);
    if (b->is_member[value] && plan->marches && strake_cl_term_is_own(plan, &term)) {
        want_own(b, value);
        return;
    }
    if (b->is_member[value] && (!plan->marches || recompute_ops(b, value) <= RECOMPUTE_MOST)) {
        term = compute(b, value, offset);
    } else if (b->is_member[value]) {
        term.kind = STRAKE_CL_EXCHANGED;
        want(b, value, zero);
    }
    append(b, &term);
}

static void measure_points(strake_cl_kernel_plan *plan)
{
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        const int below = plan->lo[0] - term->offset[0];
        const int above = plan->hi[0] + term->offset[0];
        plan->reach[0] = below > plan->reach[0] ? below : plan->reach[0];
        plan->reach[1] = above > plan->reach[1] ? above : plan->reach[1];
    }
}

static void count_ops(const strake_graph *graph, strake_cl_kernel_plan *plan)
{
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        if (term->kind == STRAKE_CL_COMPUTED) {
            plan->ops += strake_cl_stage_ops(strake_cl_term_stage(graph, term));
        } else if (term->kind == STRAKE_CL_EXCHANGED) {
            plan->ops += EXCHANGE_OPS;
        }
    }
    const int cells = plan->vector * plan->lines;
    plan->ops = (plan->ops + cells - 1) / cells;
}

/* The arrays that the terms load, in the order of their first loads. @return false where there are too many */
static bool list_inputs(strake_cl_kernel_plan *plan)
{
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        int k = 0;
        while (k < plan->inputs && plan->input[k] != term->value) {
            k++;
        }
        if (term->kind == STRAKE_CL_LOADED && k == plan->inputs) {
            if (k == STRAKE_CL_KERNEL_ARRAYS) {
                return false;
            }
            plan->input[plan->inputs++] = term->value;
        }
    }
    return true;
}

/* Everything behind the stages, in place: a plan is too large for a second one on a small stack. */
static void clear(strake_cl_kernel_plan *plan)
{
    const size_t kept = offsetof(strake_cl_kernel_plan, inputs);
    memset((char *)plan + kept, 0, sizeof *plan - kept);
}

bool strake_cl_plan_terms(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, bool inline_static, strake_cl_kernel_plan *plan)
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    builder b = {.graph = graph, .plan = plan};
    find_members(&b, inline_static);
    clear(plan);
    plan->vector = plan->marches ? options->run.vector : 1;
    plan->lines = plan->marches && !plan->flat ? options->run.lines : 1;
    for (int k = 0; k < plan->stages && !b.failed; k++) {
        const int output = graph->stage[plan->stage[k]].output;
        if (!stored[output]) {
            continue;
        }
        if (plan->outputs == STRAKE_CL_KERNEL_ARRAYS) {
            return false;
        }
        plan->only_reduced[plan->outputs] =
            graph->value[output].is_reduced && !strake_cl_plan_is_read_outside(graph, plan, output);
        plan->output[plan->outputs++] = output;
        for (int n = 0; n < graph->reductions; n++) {
            if (graph->reduction[n].value == output) {
                plan->reduction[plan->reductions++] = n;
            }
        }
        for (int axis = 0; axis < STRAKE_AXES; axis++) {
            const strake_value *value = &graph->value[output];
            plan->lo[axis] = value->lo[axis] > plan->lo[axis] ? value->lo[axis] : plan->lo[axis];
            plan->hi[axis] = value->hi[axis] > plan->hi[axis] ? value->hi[axis] : plan->hi[axis];
        }
        if (!plan->tiled) {
            want(&b, output, zero);
        }
    }
    if (plan->tiled) {
        return strake_cl_plan_tiles(graph, options, stored, b.is_member, plan) && list_inputs(plan);
    }
    if (b.failed) {
        plan->terms = STRAKE_CL_KERNEL_TERMS + 1;
        return false;
    }
    if (!list_inputs(plan)) {
        return false;
    }
    count_ops(graph, plan);
    return true;
}

void strake_cl_plan_complete(const strake_graph *graph, const strake_cl_options *options,
                             strake_cl_kernel_plan *plan)
{
    if (plan->marches) {
        strake_cl_schedule(graph, options, plan);
    } else if (!plan->tiled) {
        measure_points(plan);
    }
}
