/* In which order a work-item computes its terms, and where it looks at its divisions. */
#include "opencl/cl_facts.h"

bool strake_cl_term_is_ratio(const strake_graph *graph, const strake_cl_options *options,
                             const strake_cl_term *term)
{
    return options->run.division == STRAKE_CL_REFINE_ON &&
           strake_cl_term_stage(graph, term)->point->is_ratio;
}

bool strake_cl_graph_has_doubts(const strake_graph *graph, const strake_cl_options *options)
{
    bool has_doubt = false;
    for (int s = 0; s < graph->stages; s++) {
        has_doubt = has_doubt || graph->stage[s].point->has_doubt;
    }
    return options->run.division == STRAKE_CL_REFINE_ON && graph->precision == STRAKE_DOUBLE &&
           has_doubt;
}

bool strake_cl_plan_has_doubts(const strake_graph *graph, const strake_cl_options *options,
                               const strake_cl_kernel_plan *plan)
{
    bool has_doubt = false;
    for (int p = 0; p < plan->terms; p++) {
        has_doubt = has_doubt || (plan->term[p].kind == STRAKE_CL_COMPUTED &&
                                  strake_cl_term_stage(graph, &plan->term[p])->point->has_doubt);
    }
    return has_doubt && plan->marches && strake_cl_graph_has_doubts(graph, options);
}

/* Whether a term needs another one of the same row: older rows are there already. */
static bool needs(const strake_graph *graph, const strake_cl_kernel_plan *plan,
                  const strake_cl_term *term, int p)
{
    const strake_stage *stage = strake_cl_term_stage(graph, term);
    for (int k = 0; k < stage->reads; k++) {
        const int row = stage->read[k].offset[0];
        if (term->operand[k] == p && (!plan->marches || term->lag - row - plan->term[p].lag == 0)) {
            return true;
        }
    }
    return false;
}

/* Whether everything that a term needs is known: computed, and no division that is still open. */
static bool is_ready(const strake_graph *graph, const strake_cl_kernel_plan *plan,
                     const bool *known, const strake_cl_term *term, int first, int end)
{
    for (int p = first; p < end; p++) {
        if (plan->term[p].kind == STRAKE_CL_COMPUTED && !known[p] && needs(graph, plan, term, p)) {
            return false;
        }
    }
    return true;
}

int strake_cl_order_terms(const strake_graph *graph, const strake_cl_options *options,
                          const strake_cl_kernel_plan *plan, int first, int end, int *order)
{
    bool known[STRAKE_CL_KERNEL_TERMS] = {false};
    bool written[STRAKE_CL_KERNEL_TERMS] = {false};
    int open[STRAKE_CL_KERNEL_TERMS];
    int opened = 0;
    int count = 0;
    int left = 0;
    for (int p = first; p < end; p++) {
        left += plan->term[p].kind == STRAKE_CL_COMPUTED ? 1 : 0;
    }
    while (left > 0 || opened > 0) {
        const int before = left;
        for (int p = first; p < end; p++) {
            const strake_cl_term *term = &plan->term[p];
            if (term->kind != STRAKE_CL_COMPUTED || written[p] ||
                !is_ready(graph, plan, known, term, first, end)) {
                continue;
            }
            written[p] = true;
            order[count++] = p;
            left--;
            if (strake_cl_term_is_ratio(graph, options, term)) {
                open[opened++] = p;
            } else {
                known[p] = true;
            }
        }
        if (left == before) {
            order[count++] = STRAKE_CL_SETTLE;
            while (opened > 0) {
                known[open[--opened]] = true;
            }
        }
    }
    return count;
}
