/* The fusion plan: which stages form one kernel. */
#include "opencl/cl_plan.h"

#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"

bool strake_cl_graph_has_doubts(const strake_graph *graph, const strake_cl_options *options)
{
    bool has_doubt = false;
    for (int s = 0; s < graph->stages; s++) {
        has_doubt = has_doubt || graph->stage[s].point->has_doubt;
    }
    return options->run.division == STRAKE_CL_REFINE_ON && graph->precision == STRAKE_DOUBLE &&
           has_doubt;
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

enum {
    DIVISION_OPS = 12, /* what a division costs beside an addition */
    SELECT_OPS = 2     /* a comparison and the move it controls */
};

/** Whether an offset leads nowhere. */
static bool cl_is_here(const int offset[STRAKE_AXES])
{
    return offset[0] == 0 && offset[1] == 0 && offset[2] == 0;
}

/**
 * Whether a stage is no operation on one value at its own point (|x|). Such stages have no terms and no
 * arrays; readers compute them.
 */
static bool cl_stage_is_free(const strake_graph *graph, const strake_stage *stage)
{
    const strake_value *output = &graph->value[stage->output];
    const strake_ops *ops = &stage->point->ops;
    return !output->is_static && !output->is_output && !output->is_reduced &&
           !output->is_constant && stage->reads == 1 && cl_is_here(stage->read[0].offset) &&
           ops->adds + ops->muls + ops->divs + ops->selects == 0;
}

int strake_cl_source_of(const strake_graph *graph, int value)
{
    int source = value;
    while (graph->value[source].stage >= 0 &&
           cl_stage_is_free(graph, &graph->stage[graph->value[source].stage])) {
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
    const int given = strake_graph_given(graph);
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

/** Whether a stage is one of a kernel's, and whether one that is not reads a value. */
static bool cl_plan_has(const strake_cl_kernel_plan *plan, int stage)
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
        if (!cl_stage_is_free(graph, &graph->stage[s]) &&
            strake_cl_stage_reads(graph, &graph->stage[s], value) && !cl_plan_has(plan, s)) {
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

int strake_cl_tile_lead(const strake_cl_kernel_plan *plan, int axis)
{
    int lead = 0;
    for (int s = 0; s < plan->slots; s++) {
        const int before = plan->phase[plan->slot[s].made].lo[axis];
        lead = before > lead ? before : lead;
    }
    return lead;
}

/**
 * Stages of which what one computes in a step goes to another, through others, too: those of one tracer among several, say.
 * @param[out] whole  [stage] the first one of them; of static stages themselves
 */
static void cl_find_wholes(const strake_graph *graph, int *whole)
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

enum {
    DEFAULT_HOLD = 300,
    DEFAULT_UNROLL = 2,
    DEFAULT_PREFETCH = 2,
    DEFAULT_KEEP = 1,
    DEFAULT_STRIDE = 256,
    DEFAULT_VECTOR = 1,
    DEFAULT_TILE_WIDTH = 32,
    DEFAULT_TILE_HEIGHT = 16
};

/* Costs in bytes of memory traffic per cell; ratios of a large GPU. */

static const double cost_of_operation = 1.0;

static const double cost_of_kernel = 4.0;

static const double cost_of_launch = 160.0; /* of small grids, which tiles are for, ... */

static const double bytes_of_launch = 1.6e7; /* ... of smaller ones their share of these */

static const double cost_of_spilled_real = 16.0;

strake_cl_options strake_cl_options_complete(const strake_cl_options *asked)
{
    strake_cl_options options = {.run = {.fusion = STRAKE_CL_FUSION_DEFAULT}};
    if (asked != NULL) {
        options = *asked;
    }
    options.run.hold = options.run.hold > 0 ? options.run.hold : DEFAULT_HOLD;
    options.run.unroll = options.run.unroll > 0 ? options.run.unroll : DEFAULT_UNROLL;
    options.run.prefetch = options.run.prefetch > 0 ? options.run.prefetch : DEFAULT_PREFETCH;
    options.run.keep = options.run.keep > 0 ? options.run.keep : DEFAULT_KEEP;
    options.stride = options.stride > 0 ? options.stride : DEFAULT_STRIDE;
    options.lines = options.lines > 0 ? options.lines : 1;
    options.run.lines = options.run.lines > 0 ? options.run.lines : 1;
    options.run.vector = options.run.vector > 0 ? options.run.vector : DEFAULT_VECTOR;
    options.tile[0] = options.tile[0] > 0 ? options.tile[0] : DEFAULT_TILE_WIDTH;
    options.tile[1] = options.tile[1] > 0 ? options.tile[1] : DEFAULT_TILE_HEIGHT;
    options.tile[2] = options.tile[2] > 0 ? options.tile[2] : 1;
    options.items = options.items > 0 ? options.items : options.tile[0] * options.tile[1];
    return options;
}

/* What a kernel of some stages does at least, whatever its form. */
typedef struct bound {
    strake_cl_kernel_plan plan; /* arrays written, operations */
    bool is_read[STRAKE_MAX_VALUES];
    int inputs[2]; /* arrays read: cheap static values are loaded, or are computed */
} bound;

/* Everything the search needs; on the heap, since a trial plan is large. */
typedef struct planner {
    const strake_graph *graph;
    const strake_cl_options *options;
    bool flat;
    int stages;
    int order[STRAKE_MAX_VALUES]; /* stages of every step, in the order in which they are grouped */
    int reader[STRAKE_MAX_VALUES][2]; /* where there the first and last readers of a value stand */
    int whole[STRAKE_MAX_VALUES]; /* [stage] the first of those that hand values to each other */
    strake_cl_kernel_plan trial[2];
    bound least;
    bool is_full; /* point kernels of the group have too many terms: so have those of larger ones */
} planner;

static bool reads_inputs_only(const strake_graph *graph, const strake_stage *stage)
{
    for (int k = 0; k < stage->reads; k++) {
        const strake_value *value = &graph->value[stage->read[k].value];
        if (value->stage >= 0 && !value->is_static) {
            return false;
        }
    }
    return true;
}

/* The stages of a step; those that could run at any time stand right before their first reader. */
static void order_stages(planner *p)
{
    const strake_graph *graph = p->graph;
    bool done[STRAKE_MAX_VALUES] = {false};
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *stage = &graph->stage[s];
        const strake_value *output = &graph->value[stage->output];
        if (output->is_static || cl_stage_is_free(graph, stage) ||
            (reads_inputs_only(graph, stage) && !output->is_output)) {
            continue;
        }
        for (int e = 0; e < s; e++) {
            const strake_stage *early = &graph->stage[e];
            if (!done[e] && !graph->value[early->output].is_static &&
                !cl_stage_is_free(graph, early) &&
                strake_cl_stage_reads(graph, stage, early->output)) {
                done[e] = true;
                p->order[p->stages++] = e;
            }
        }
        done[s] = true;
        p->order[p->stages++] = s;
    }
}

/* Whoever reads a value and does not stand in the order stands behind it. */
static void find_readers(planner *p)
{
    int place[STRAKE_MAX_VALUES];
    for (int s = 0; s < p->graph->stages; s++) {
        place[s] = p->stages;
    }
    for (int k = 0; k < p->stages; k++) {
        place[p->order[k]] = k;
    }
    for (int value = 0; value < p->graph->values; value++) {
        p->reader[value][0] = p->stages;
        p->reader[value][1] = -1;
    }
    for (int s = 0; s < p->graph->stages; s++) {
        const strake_stage *const stage = &p->graph->stage[s];
        for (int k = 0; k < stage->reads && !cl_stage_is_free(p->graph, stage); k++) {
            int *const reader = p->reader[strake_cl_source_of(p->graph, stage->read[k].value)];
            reader[0] = place[s] < reader[0] ? place[s] : reader[0];
            reader[1] = place[s] > reader[1] ? place[s] : reader[1];
        }
    }
}

/* Whether stages order[first..end) hand values to each other, or may: they are of one tracer. */
static bool are_whole(const planner *p, int first, int end)
{
    for (int k = first + 1; k < end; k++) {
        if (p->whole[p->order[k]] != p->whole[p->order[first]]) {
            return false;
        }
    }
    return true;
}

/* Values of the stages order[first..end) that leave them: states, what is reduced, and what others read. */
static void find_stored(const planner *p, int first, int end, bool *stored)
{
    for (int k = first; k < end; k++) {
        const int output = p->graph->stage[p->order[k]].output;
        const strake_value *const value = &p->graph->value[output];
        stored[output] = value->is_output || value->is_reduced || p->reader[output][0] < first ||
                         p->reader[output][1] >= end;
    }
}

/*
 * Cells that a marching group computes for one that it stores, in three dimensions: groups of tiles
 * are small, and so few stages pay. In two the cells computed again are few.
 */
static double redundancy(const planner *p, const strake_cl_kernel_plan *plan)
{
    const int side[STRAKE_AXES] = {0, plan->side[1][0] + plan->side[1][1],
                                   plan->side[2][0] + plan->side[2][1]};
    if (!plan->marches || plan->flat) {
        return 1.0;
    }
    const int lines = p->options->lines * plan->lines;
    if (side[1] >= lines || side[2] >= p->options->stride) {
        return DBL_MAX;
    }
    return (double)(lines * p->options->stride) /
           ((lines - side[1]) * (p->options->stride - side[2]));
}

/* Tiles of columns in three dimensions need as much local memory as tiles of two; rows of it are short. */
static bool has_room(const planner *p, const strake_cl_kernel_plan *plan)
{
    return !plan->marches || plan->flat || p->options->local == 0 ||
           strake_cl_local_bytes(p->graph, p->options, plan) <= p->options->local;
}

static double cost_of(const planner *p, const strake_cl_kernel_plan *plan)
{
    const double again = redundancy(p, plan);
    const double loaded = plan->tiled ? plan->again : again;
    const bool small = p->options->run.fusion == STRAKE_CL_FUSION_TILE;
    /* Where every step is followed by a reduction, and of cubes; others have been measured with the one number. */
    const bool is_shared = (p->graph->reductions > 0 || !p->flat) && p->options->cells > 0;
    const double share = is_shared ? bytes_of_launch / (double)p->options->cells : 0.0;
    const double launch = share > cost_of_launch ? share : cost_of_launch;
    const int spilled = plan->held / (plan->vector * plan->lines) - p->options->run.hold;
    const double size = strake_precision_size(p->graph->precision);
    /* Operations of a shorter type are as much faster as its transfers. */
    if (again >= DBL_MAX) {
        return DBL_MAX;
    }
    return size * (plan->inputs * loaded + strake_cl_plan_arrays_written(plan) +
                   plan->ops * again * cost_of_operation / 8.0) +
           (small ? launch : cost_of_kernel) + (spilled > 0 ? cost_of_spilled_real * spilled : 0.0);
}

static void name_kernel(const strake_graph *graph, strake_cl_kernel_plan *plan)
{
    const strake_stage *last = &graph->stage[plan->stage[plan->stages - 1]];
    plan->number = graph->stage[plan->stage[0]].number;
    for (int k = 1; k < plan->stages; k++) {
        const int number = graph->stage[plan->stage[k]].number;
        plan->number = number < plan->number ? number : plan->number;
    }
    (void)snprintf(plan->name, sizeof plan->name, "stage_%02d_%s", plan->number,
                   graph->value[last->output].name);
}

/* One more stage, the one at order[first]: what it computes is read no more. */
static void add_to_bound(planner *p, int first, int end)
{
    bound *const least = &p->least;
    const strake_stage *const stage = &p->graph->stage[p->order[first]];
    const strake_value *const output = &p->graph->value[stage->output];
    if (least->is_read[stage->output]) {
        least->inputs[0]--;
        least->inputs[1]--;
    }
    if (((output->is_output && !output->is_reduced) || p->reader[stage->output][1] >= end) &&
        least->plan.outputs < STRAKE_CL_KERNEL_ARRAYS) {
        least->plan.outputs++;
    }
    least->plan.ops += strake_cl_stage_ops(stage);
    for (int k = 0; k < stage->reads; k++) {
        const int value = strake_cl_source_of(p->graph, stage->read[k].value);
        if (!p->graph->value[value].is_constant && !least->is_read[value]) {
            least->is_read[value] = true;
            least->inputs[0]++;
            least->inputs[1] += p->graph->value[value].is_static ? 0 : 1;
        }
    }
}

/* The least that a kernel may cost that is a point kernel, or marches; @p inlines: it computes cheap static values. */
static double least_cost(planner *p, bool marches, bool inlines)
{
    p->least.plan.flat = p->flat;
    p->least.plan.marches = marches;
    p->least.plan.vector = 1;
    p->least.plan.lines = 1;
    p->least.plan.inputs = p->least.inputs[inlines ? 1 : 0];
    return cost_of(p, &p->least.plan);
}

/*
 * The cheapest kernel of the stages order[first..end), or a cost of DBL_MAX. All ways are tried: as
 * points and marching or tiled, static values loaded or computed. What is known to cost more than @p most with what
 * comes before (@p base), before its terms are found or before they are scheduled, is left.
 */
static void plan_group(planner *p, int first, int end, double base, double most,
                       strake_cl_kernel_plan *out)
{
    bool stored[STRAKE_MAX_VALUES] = {false};
    strake_cl_kernel_plan *trial = &p->trial[0];
    out->cost = DBL_MAX;
    memset(trial, 0, offsetof(strake_cl_kernel_plan, inputs));
    trial->flat = p->flat;
    for (int k = first; k < end; k++) {
        trial->stage[trial->stages++] = p->order[k];
    }
    name_kernel(p->graph, trial);
    find_stored(p, first, end, stored);
    /* Two of four tracers in one kernel that marches, h a field, made 0.54 of the rate of one: it holds too much (H200). */
    const bool may_march =
        p->options->run.fusion == STRAKE_CL_FUSION_STREAM && are_whole(p, first, end);
    /* In three dimensions two tracers do not fit, either. */
    const bool may_tile =
        p->options->run.fusion == STRAKE_CL_FUSION_TILE && (p->flat || are_whole(p, first, end));
    for (int way = 0; way < (may_march || may_tile ? 4 : 2); way++) {
        trial->marches = way >= 2 && may_march;
        trial->tiled = way >= 2 && may_tile;
        if (!trial->tiled && ((p->is_full && !trial->marches) ||
                              base + least_cost(p, trial->marches, way % 2 == 1) > most)) {
            continue;
        }
        if (!strake_cl_plan_terms(p->graph, p->options, stored, way % 2 == 1, trial)) {
            p->is_full = p->is_full || (way == 0 && trial->terms > STRAKE_CL_KERNEL_TERMS);
            continue;
        }
        const double least = cost_of(p, trial);
        if (least < out->cost && base + least <= most) {
            strake_cl_plan_complete(p->graph, p->options, trial);
            trial->cost = has_room(p, trial) ? cost_of(p, trial) : DBL_MAX;
            if (trial->cost < out->cost) {
                *out = *trial;
            }
        }
    }
}

static void clear_bound(planner *p)
{
    memset(&p->least, 0, sizeof p->least);
    p->is_full = false;
}

/* Cuts the order where the sum of the kernels' costs is least; of several such cuts the last one. */
static int plan_fused(planner *p, int most, strake_cl_kernel_plan *out)
{
    strake_cl_kernel_plan *const trial = &p->trial[1];
    double best[STRAKE_MAX_VALUES + 1];
    int cut[STRAKE_MAX_VALUES + 1] = {0};
    best[0] = 0.0;
    for (int end = 1; end <= p->stages; end++) {
        const bool is_one = p->options->one && end == p->stages;
        const int before = cut[end - 1];
        double known = DBL_MAX; /* a good cut is mostly where the one before it was */
        best[end] = DBL_MAX;
        clear_bound(p);
        if (!is_one && end - before <= STRAKE_CL_KERNEL_STAGES) {
            plan_group(p, before, end, 0.0, DBL_MAX, trial);
            known = trial->cost < DBL_MAX ? best[before] + trial->cost : known;
            clear_bound(p);
        }
        for (int first = end - 1; first >= 0 && end - first <= STRAKE_CL_KERNEL_STAGES; first--) {
            add_to_bound(p, first, end);
            if (is_one && first > 0) {
                continue;
            }
            plan_group(p, first, end, best[first], known, trial);
            if (trial->cost < DBL_MAX && best[first] + trial->cost < best[end]) {
                best[end] = best[first] + trial->cost;
                known = best[end] < known ? best[end] : known;
                cut[end] = first;
            }
        }
        if (best[end] >= DBL_MAX) {
            return -1;
        }
    }
    int count = 0;
    for (int end = p->stages; end > 0; end = cut[end]) {
        count++;
    }
    if (count > most) {
        return -1;
    }
    int k = count;
    for (int end = p->stages; end > 0; end = cut[end]) {
        clear_bound(p);
        plan_group(p, cut[end], end, 0.0, DBL_MAX, &out[--k]);
    }
    return count;
}

static bool same_extents(const strake_value *a, const strake_value *b)
{
    return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

/* Without fusion: one stage number, equal extents, nothing of each other at another point. */
static bool may_join(const strake_graph *graph, const strake_cl_kernel_plan *plan, int s)
{
    const strake_stage *stage = &graph->stage[s];
    const strake_stage *head = &graph->stage[plan->stage[0]];
    if (stage->number != head->number ||
        !same_extents(&graph->value[stage->output], &graph->value[head->output]) ||
        plan->stages == STRAKE_CL_KERNEL_STAGES) {
        return false;
    }
    for (int k = 0; k < stage->reads; k++) {
        const int value = strake_cl_source_of(graph, stage->read[k].value);
        const int producer = graph->value[value].stage;
        if (producer >= 0 && cl_plan_has(plan, producer) && !cl_is_here(stage->read[k].offset)) {
            return false;
        }
    }
    return true;
}

/*
 * Kernels of the given stages in order, joined by the rule above; @p stored: see strake_cl_plan_terms, NULL for
 * the stages of the planner's own order.
 */
static int plan_unfused(planner *p, const int *stage, int stages, const bool *stored, int most,
                        strake_cl_kernel_plan *out)
{
    int count = 0, first = 0;
    for (int k = 0; k < stages; k++) {
        if (count > 0 && may_join(p->graph, &out[count - 1], stage[k])) {
            out[count - 1].stage[out[count - 1].stages++] = stage[k];
            continue;
        }
        if (count == most) {
            return -1;
        }
        memset(&out[count], 0, sizeof *out);
        out[count].flat = p->flat;
        out[count].is_static = p->graph->value[p->graph->stage[stage[k]].output].is_static;
        out[count++].stage[0] = stage[k];
        out[count - 1].stages = 1;
    }
    for (int k = 0; k < count; k++) {
        bool needed[STRAKE_MAX_VALUES] = {false};
        name_kernel(p->graph, &out[k]);
        if (stored == NULL) {
            find_stored(p, first, first + out[k].stages, needed);
        }
        if (!strake_cl_plan_terms(p->graph, p->options, stored != NULL ? stored : needed, false,
                                  &out[k])) {
            return -1;
        }
        strake_cl_plan_complete(p->graph, p->options, &out[k]);
        first += out[k].stages;
    }
    return count;
}

/* Static stages whose values some kernel loads, or such a stage needs. */
static int needed_static(const strake_graph *graph, int kernels, const strake_cl_kernel_plan *plan,
                         bool *stored, int *stage)
{
    int count = 0;
    for (int k = 0; k < kernels; k++) {
        for (int i = 0; i < plan[k].inputs; i++) {
            stored[plan[k].input[i]] = true;
        }
    }
    for (int s = graph->stages - 1; s >= 0; s--) {
        const strake_stage *each = &graph->stage[s];
        const strake_value *output = &graph->value[each->output];
        for (int k = 0; k < each->reads && output->is_static && stored[each->output]; k++) {
            stored[each->read[k].value] = true;
        }
    }
    for (int s = 0; s < graph->stages; s++) {
        const int output = graph->stage[s].output;
        if (graph->value[output].is_static && stored[output]) {
            stage[count++] = s;
        }
    }
    return count;
}

int strake_cl_plan_kernels(const strake_graph *graph, const strake_cl_options *asked, bool flat,
                           int most, strake_cl_kernel_plan *out)
{
    const strake_cl_options options = strake_cl_options_complete(asked);
    bool stored[STRAKE_MAX_VALUES] = {false};
    int stage[STRAKE_MAX_VALUES];
    int count = -1;
    planner *p = calloc(1, sizeof *p);
    strake_cl_kernel_plan *fixed = calloc((size_t)most, sizeof *fixed);
    if (p == NULL || fixed == NULL) {
        goto cleanup;
    }
    p->graph = graph;
    p->options = &options;
    p->flat = flat;
    if (options.run.fusion == STRAKE_CL_FUSION_NONE) {
        for (int s = 0; s < graph->stages; s++) {
            if (!graph->value[graph->stage[s].output].is_static &&
                !cl_stage_is_free(graph, &graph->stage[s])) {
                p->order[p->stages++] = s;
            }
        }
        find_readers(p);
        count = plan_unfused(p, p->order, p->stages, NULL, most, out);
    } else {
        order_stages(p);
        find_readers(p);
        cl_find_wholes(graph, p->whole);
        count = plan_fused(p, most, out);
    }
    if (count >= 0) {
        const int stages = needed_static(graph, count, out, stored, stage);
        const int first = plan_unfused(p, stage, stages, stored, most - count, fixed);
        if (first < 0) {
            count = -1;
            goto cleanup;
        }
        memmove(out + first, out, (size_t)count * sizeof *out);
        memcpy(out, fixed, (size_t)first * sizeof *out);
        count += first;
    }
cleanup:
    free(fixed);
    free(p);
    return count;
}
