/* What one work-item of a kernel evaluates: terms, their lags, and how long rows are kept. */
#include <limits.h>
#include <string.h>

#include "opencl/cl_plan.h"

enum {
    DIVISION_OPS = 12,  /* what a division costs beside an addition */
    SELECT_OPS = 2,     /* a comparison and the move it controls */
    EXCHANGE_OPS = 2,   /* a read of local memory, and the share of the write */
    RECOMPUTE_MOST = 6, /* cheaper values are computed again instead of passed between columns */
    FAR_ROWS = 4,       /* after so many rows without use a line is taken to have left the cache */
    INLINE_MOST = 4     /* cheaper static values are computed again instead of loaded */
};

typedef struct builder {
    const strake_graph *graph;
    strake_cl_kernel_plan *plan;
    bool inline_static;
    bool failed;
} builder;

static int stage_ops(const strake_stage *stage)
{
    const strake_ops *ops = &stage->point->ops;
    return ops->adds + ops->muls + DIVISION_OPS * ops->divs + SELECT_OPS * ops->selects;
}

static bool is_inlined(const builder *b, int value)
{
    const strake_value *v = &b->graph->value[value];
    return b->inline_static && !b->plan->is_static && v->is_static && v->stage >= 0 &&
           stage_ops(&b->graph->stage[v->stage]) <= INLINE_MOST;
}

/* Whether this kernel computes a value (somewhere). */
static bool is_member(const builder *b, int value)
{
    for (int k = 0; k < b->plan->stages; k++) {
        if (b->graph->stage[b->plan->stage[k]].output == value) {
            return true;
        }
    }
    return is_inlined(b, value);
}

/* Operations to get a value from what is loaded. */
static int recompute_ops(const builder *b, int value)
{
    const strake_stage *stage = &b->graph->stage[b->graph->value[value].stage];
    int ops = stage_ops(stage);
    for (int k = 0; k < stage->reads && ops <= RECOMPUTE_MOST; k++) {
        const int operand = strake_cl_source_of(b->graph, stage->read[k].value);
        if (!b->graph->value[operand].is_constant && is_member(b, operand)) {
            ops += recompute_ops(b, operand);
        }
    }
    return ops;
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

/* Where a read of a computed term leads; rows are reached through history in marching kernels. */
static void operand_offset(const strake_cl_kernel_plan *plan, const int base[STRAKE_AXES],
                           const strake_read *read, int out[STRAKE_AXES])
{
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        out[axis] = axis == 0 && plan->marches ? 0 : base[axis] + read->offset[axis];
    }
}

static void add_input(builder *b, int value)
{
    strake_cl_kernel_plan *plan = b->plan;
    for (int k = 0; k < plan->inputs; k++) {
        if (plan->input[k] == value) {
            return;
        }
    }
    if (plan->inputs == STRAKE_CL_KERNEL_ARRAYS) {
        b->failed = true;
        return;
    }
    plan->input[plan->inputs++] = value;
}

/* Makes sure that a term and everything it needs is in the list. */
static void want(builder *b, int value, const int offset[STRAKE_AXES])
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    const strake_value *v = &b->graph->value[value];
    if (b->failed || v->is_constant || strake_cl_find_term(b->plan, value, offset) >= 0) {
        return;
    }
    strake_cl_term term = {.value = value, .kind = STRAKE_CL_LOADED, .slot = -1};
    memcpy(term.offset, offset, sizeof term.offset);
    if (!is_member(b, value)) {
        add_input(b, value);
    } else if (!b->plan->marches || offset[2] == 0 || recompute_ops(b, value) <= RECOMPUTE_MOST) {
        const strake_stage *stage = &b->graph->stage[v->stage];
        term.kind = STRAKE_CL_COMPUTED;
        for (int k = 0; k < stage->reads; k++) {
            int at[STRAKE_AXES];
            const int source = strake_cl_source_of(b->graph, stage->read[k].value);
            operand_offset(b->plan, offset, &stage->read[k], at);
            want(b, source, at);
            term.operand[k] =
                b->graph->value[source].is_constant ? -1 : strake_cl_find_term(b->plan, source, at);
        }
    } else {
        term.kind = STRAKE_CL_EXCHANGED;
        want(b, value, zero);
    }
    if (b->plan->terms == STRAKE_CL_KERNEL_TERMS) {
        b->failed = true;
        return;
    }
    b->plan->term[b->plan->terms++] = term;
}

static bool is_stored(const strake_cl_kernel_plan *plan, const strake_cl_term *term)
{
    for (int k = 0; k < plan->outputs && term->offset[2] == 0; k++) {
        if (plan->output[k] == term->value) {
            return true;
        }
    }
    return false;
}

static bool reads_of_neighbour(const strake_cl_kernel_plan *plan, int reader, int p)
{
    return plan->term[reader].kind == STRAKE_CL_EXCHANGED &&
           plan->term[reader].value == plan->term[p].value && p != reader &&
           plan->term[p].kind == STRAKE_CL_COMPUTED && plan->term[p].offset[2] == 0;
}

/* Calls back for every use of term @p p: the reader's lag less the row offset, and the reader. */
typedef void use_function(strake_cl_kernel_plan *plan, int p, int reader, int row);

static void each_use(const strake_graph *graph, strake_cl_kernel_plan *plan, int p,
                     use_function *use)
{
    for (int c = p + 1; c < plan->terms; c++) {
        const strake_cl_term *reader = &plan->term[c];
        if (reader->kind == STRAKE_CL_COMPUTED) {
            const strake_stage *stage = &graph->stage[graph->value[reader->value].stage];
            for (int k = 0; k < stage->reads; k++) {
                if (reader->operand[k] == p) {
                    use(plan, p, c, stage->read[k].offset[0]);
                }
            }
        }
    }
}

/* The earliest iteration in which every computed term has its operands; loads come when asked for. */
static void earliest_lags(const strake_graph *graph, strake_cl_kernel_plan *plan)
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    for (int c = 0; c < plan->terms; c++) {
        strake_cl_term *term = &plan->term[c];
        term->lag = 0;
        if (term->kind == STRAKE_CL_EXCHANGED) {
            term->lag = plan->term[strake_cl_find_term(plan, term->value, zero)].lag + 1;
        } else if (term->kind == STRAKE_CL_COMPUTED) {
            const strake_stage *stage = &graph->stage[graph->value[term->value].stage];
            for (int k = 0; k < stage->reads; k++) {
                const int p = term->operand[k];
                if (p >= 0 && plan->term[p].kind != STRAKE_CL_LOADED) {
                    const int lag = plan->term[p].lag + stage->read[k].offset[0];
                    term->lag = lag > term->lag ? lag : term->lag;
                }
            }
        }
    }
}

static void delay_use(strake_cl_kernel_plan *plan, int p, int reader, int row)
{
    const int lag = plan->term[reader].lag - row;
    plan->term[p].lag = lag < plan->term[p].lag ? lag : plan->term[p].lag;
}

/* Everything but what is stored as late as its readers allow: then the least is kept. */
static void delay_terms(const strake_graph *graph, strake_cl_kernel_plan *plan, int prefetch)
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    for (int p = plan->terms - 1; p >= 0; p--) {
        strake_cl_term *term = &plan->term[p];
        const int earliest = term->lag;
        term->lag = INT_MAX;
        each_use(graph, plan, p, delay_use);
        int sent = INT_MAX;
        for (int c = p + 1; c < plan->terms; c++) {
            if (reads_of_neighbour(plan, c, p)) {
                sent = plan->term[c].lag - 1 < sent ? plan->term[c].lag - 1 : sent;
            }
        }
        if (sent < INT_MAX) {
            term->slot = plan->slots++;
            term->sent_lag = sent;
            for (int c = p + 1; c < plan->terms; c++) {
                if (reads_of_neighbour(plan, c, p)) {
                    plan->term[c].lag = sent + 1;
                    plan->term[c].slot = term->slot;
                }
            }
            term->lag = sent < term->lag ? sent : term->lag;
        }
        if (term->kind == STRAKE_CL_LOADED) {
            /* One column's load brings the neighbours' lines near, too. */
            term->lag -= term->offset[2] == 0 || strake_cl_find_term(plan, term->value, zero) < 0
                             ? prefetch
                             : 0;
        } else if (is_stored(plan, term)) {
            term->lag = earliest;
        }
    }
}

static void measure_use(strake_cl_kernel_plan *plan, int p, int reader, int row)
{
    strake_cl_term *term = &plan->term[p];
    const strake_cl_term *by = &plan->term[reader];
    const int depth = by->lag - row - term->lag + 1;
    term->depth = depth > term->depth ? depth : term->depth;
    term->before = by->before - row > term->before ? by->before - row : term->before;
    for (int k = 0; k < 2; k++) {
        term->side[k] = by->side[k] > term->side[k] ? by->side[k] : term->side[k];
    }
}

/* How long each term is kept, and how far beyond what is stored it is needed. */
static void measure_terms(const strake_graph *graph, strake_cl_kernel_plan *plan)
{
    for (int p = plan->terms - 1; p >= 0; p--) {
        strake_cl_term *term = &plan->term[p];
        term->depth = 1;
        term->before = is_stored(plan, term) ? 0 : INT_MIN / 2;
        each_use(graph, plan, p, measure_use);
        for (int c = p + 1; c < plan->terms; c++) {
            if (reads_of_neighbour(plan, c, p)) {
                const strake_cl_term *by = &plan->term[c];
                const int column = by->offset[2];
                const int depth = term->sent_lag - term->lag + 1;
                const int side[2] = {by->side[0] - column, by->side[1] + column};
                term->depth = depth > term->depth ? depth : term->depth;
                term->before = by->before > term->before ? by->before : term->before;
                for (int k = 0; k < 2; k++) {
                    term->side[k] = side[k] > term->side[k] ? side[k] : term->side[k];
                }
            }
        }
    }
}

/* The load of a term's value at another lag: an existing one, or a new one. -1 where there is no room. */
static int load_at(strake_cl_kernel_plan *plan, int p, int lag)
{
    for (int q = 0; q < plan->terms; q++) {
        const strake_cl_term *term = &plan->term[q];
        if (term->kind == STRAKE_CL_LOADED && term->value == plan->term[p].value &&
            term->offset[2] == plan->term[p].offset[2] && term->lag == lag) {
            return q;
        }
    }
    if (plan->terms == STRAKE_CL_KERNEL_TERMS) {
        return -1;
    }
    strake_cl_term *term = &plan->term[plan->terms];
    *term = plan->term[p];
    term->lag = lag;
    term->again = 1;
    for (int q = 0; q < plan->terms; q++) {
        const strake_cl_term *other = &plan->term[q];
        term->again += other->value == term->value && other->offset[2] == term->offset[2] &&
                               other->again > 0 && q != p
                           ? 1
                           : 0;
    }
    term->depth = 1;
    term->before = INT_MIN / 2;
    return plan->terms++;
}

/* Rows between the use of a value @p age rows after its load and the last use of its row before that. */
static int gap_before(const strake_graph *graph, const strake_cl_kernel_plan *plan, int terms,
                      int p, int age)
{
    int last = 0;
    for (int c = 0; c < terms; c++) {
        const strake_cl_term *reader = &plan->term[c];
        const strake_stage *stage = &graph->stage[graph->value[reader->value].stage];
        for (int k = 0; reader->kind == STRAKE_CL_COMPUTED && k < stage->reads; k++) {
            const int q = reader->operand[k];
            if (q >= 0 && plan->term[q].kind == STRAKE_CL_LOADED &&
                plan->term[q].value == plan->term[p].value) {
                const int other = reader->lag - stage->read[k].offset[0] - plan->term[p].lag;
                last = other < age && other > last ? other : last;
            }
        }
    }
    return age - last;
}

/*
 * A row of an array that is needed again long after it was loaded is loaded again (it is then in the
 * nearest cache) rather than kept: registers decide how many groups a GPU runs at once. After a long
 * time it has left that cache, and is loaded as early as it was first.
 */
static void reload_terms(const strake_graph *graph, strake_cl_kernel_plan *plan, int prefetch,
                         int keep)
{
    int depth[STRAKE_CL_KERNEL_TERMS];
    const int terms = plan->terms;
    for (int p = 0; p < terms; p++) {
        depth[p] = plan->term[p].kind == STRAKE_CL_LOADED ? 1 : plan->term[p].depth;
    }
    for (int c = 0; c < terms; c++) {
        strake_cl_term *reader = &plan->term[c];
        if (reader->kind != STRAKE_CL_COMPUTED) {
            continue;
        }
        const strake_stage *stage = &graph->stage[graph->value[reader->value].stage];
        for (int k = 0; k < stage->reads; k++) {
            const int p = reader->operand[k];
            if (p < 0 || plan->term[p].kind != STRAKE_CL_LOADED) {
                continue;
            }
            const int row = stage->read[k].offset[0];
            const int age = reader->lag - row - plan->term[p].lag;
            const int early = gap_before(graph, plan, terms, p, age) >= FAR_ROWS ? prefetch : 0;
            const int again = age > (plan->term[p].offset[2] == 0 ? keep : keep - prefetch)
                                  ? load_at(plan, p, reader->lag - row - early)
                                  : -1;
            if (again >= 0) {
                strake_cl_term *load = &plan->term[again];
                const int before = reader->before - row;
                reader->operand[k] = again;
                if (again < terms) {
                    depth[again] = early + 1 > depth[again] ? early + 1 : depth[again];
                }
                load->depth = early + 1 > load->depth ? early + 1 : load->depth;
                load->before = before > load->before ? before : load->before;
            } else {
                depth[p] = age + 1 > depth[p] ? age + 1 : depth[p];
            }
        }
    }
    for (int p = 0; p < terms; p++) {
        plan->term[p].depth = depth[p];
    }
}

static void measure_march(const strake_cl_options *options, strake_cl_kernel_plan *plan)
{
    plan->start = INT_MAX;
    plan->drain = INT_MIN;
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        const int first = term->lag - term->before;
        plan->start = first < plan->start ? first : plan->start;
        if (is_stored(plan, term)) {
            plan->drain = term->lag > plan->drain ? term->lag : plan->drain;
        }
        for (int k = 0; k < 2 && term->kind != STRAKE_CL_LOADED; k++) {
            plan->side[k] = term->side[k] > plan->side[k] ? term->side[k] : plan->side[k];
        }
        if (term->kind == STRAKE_CL_EXCHANGED) {
            const int away = term->offset[2] < 0 ? -term->offset[2] : term->offset[2];
            plan->margin = away > plan->margin ? away : plan->margin;
        }
        plan->held += term->depth;
    }
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        if (term->kind == STRAKE_CL_LOADED) {
            const int below = plan->lo[0] - plan->start + term->lag;
            const int above = plan->hi[0] + plan->drain + options->unroll - 1 - term->lag;
            plan->reach[0] = below > plan->reach[0] ? below : plan->reach[0];
            plan->reach[1] = above > plan->reach[1] ? above : plan->reach[1];
        }
    }
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
            plan->ops += stage_ops(&graph->stage[graph->value[term->value].stage]);
        } else if (term->kind == STRAKE_CL_EXCHANGED) {
            plan->ops += EXCHANGE_OPS;
        }
    }
}

static void clear(strake_cl_kernel_plan *plan)
{
    strake_cl_kernel_plan kept = {.number = plan->number,
                                  .is_static = plan->is_static,
                                  .marches = plan->marches,
                                  .stages = plan->stages};
    memcpy(kept.name, plan->name, sizeof kept.name);
    memcpy(kept.stage, plan->stage, sizeof kept.stage);
    *plan = kept;
}

bool strake_cl_plan_terms(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, bool inline_static, strake_cl_kernel_plan *plan)
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    builder b = {graph, plan, inline_static, false};
    clear(plan);
    for (int k = 0; k < plan->stages && !b.failed; k++) {
        const int output = graph->stage[plan->stage[k]].output;
        if (!stored[output]) {
            continue;
        }
        if (plan->outputs == STRAKE_CL_KERNEL_ARRAYS) {
            return false;
        }
        plan->output[plan->outputs++] = output;
        for (int axis = 0; axis < STRAKE_AXES; axis++) {
            const strake_value *value = &graph->value[output];
            plan->lo[axis] = value->lo[axis] > plan->lo[axis] ? value->lo[axis] : plan->lo[axis];
            plan->hi[axis] = value->hi[axis] > plan->hi[axis] ? value->hi[axis] : plan->hi[axis];
        }
        want(&b, output, zero);
    }
    if (b.failed) {
        return false;
    }
    if (plan->marches) {
        earliest_lags(graph, plan);
        delay_terms(graph, plan, options->prefetch - 1);
        measure_terms(graph, plan);
        reload_terms(graph, plan, options->prefetch - 1, options->prefetch - 1 + options->keep - 1);
        measure_march(options, plan);
    } else {
        measure_points(plan);
    }
    count_ops(graph, plan);
    return true;
}
