/* What one work-item of a kernel evaluates: its terms, and when a marching kernel computes them. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/cl_plan.h"

/* After so many rows without use a line is taken to have left the cache. */
enum { FAR_ROWS = 4 };

static bool reads_of_neighbour(const strake_cl_kernel_plan *plan, int reader, int p)
{
    const strake_cl_term *by = &plan->term[reader];
    const strake_cl_term *term = &plan->term[p];
    return by->kind == STRAKE_CL_EXCHANGED && by->value == term->value &&
           strake_cl_term_is_own(plan, term) &&
           (by->offset[1] - term->offset[1]) % plan->lines == 0 &&
           (by->offset[2] - term->offset[2]) % plan->vector == 0;
}

/* The uses of all terms, those of one after the other: by which reader, and rows away. */
typedef struct uses {
    int first[STRAKE_CL_KERNEL_TERMS + 1];
    struct {
        short reader, row;
    } use[STRAKE_CL_KERNEL_TERMS * STRAKE_MAX_READS];
} uses;

static void find_uses(const strake_graph *graph, const strake_cl_kernel_plan *plan, uses *all)
{
    int used[STRAKE_CL_KERNEL_TERMS] = {0};
    all->first[0] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < plan->terms; c++) {
            const strake_cl_term *const reader = &plan->term[c];
            const strake_stage *const stage =
                reader->kind == STRAKE_CL_COMPUTED ? strake_cl_term_stage(graph, reader) : NULL;
            for (int k = 0; stage != NULL && k < stage->reads; k++) {
                const int p = reader->operand[k];
                if (p >= 0 && pass == 1) {
                    const int at = all->first[p + 1] - used[p];
                    all->use[at].reader = (short)c;
                    all->use[at].row = (short)stage->read[k].offset[0];
                }
                if (p >= 0) {
                    used[p] += pass == 0 ? 1 : -1;
                }
            }
        }
        for (int p = 0; p < plan->terms && pass == 0; p++) {
            all->first[p + 1] = all->first[p] + used[p];
        }
    }
}

/*
 * Own columns of a computed value share their lag: the latest (+1) or the earliest (-1) of their lags.
 * They stand side by side, the first one at @p first; nothing that depends on them lies between.
 */
static void join_columns(strake_cl_kernel_plan *plan, int first, int sign)
{
    strake_cl_term *term = &plan->term[first];
    int lag = term->lag;
    const int cells = plan->lines * plan->vector;
    for (int column = 1; column < cells; column++) {
        lag = sign * term[column].lag > sign * lag ? term[column].lag : lag;
    }
    for (int column = 0; column < cells; column++) {
        term[column].lag = lag;
    }
}

/* Whether a term is an own computed one at a given column. */
static bool is_column(const strake_cl_kernel_plan *plan, int p, int column)
{
    const strake_cl_term *term = &plan->term[p];
    return term->kind == STRAKE_CL_COMPUTED && strake_cl_term_is_own(plan, term) &&
           term->offset[1] * plan->vector + term->offset[2] == column;
}

/* The own term of the work-item that an exchanged term comes from. */
static int find_owner(const strake_cl_kernel_plan *plan, const strake_cl_term *term)
{
    const int offset[STRAKE_AXES] = {
        0, term->offset[1] - strake_cl_items_away(plan, term, 1) * plan->lines,
        term->offset[2] - strake_cl_items_away(plan, term, 2) * plan->vector};
    return strake_cl_find_term(plan, term->value, offset);
}

/* The earliest iteration in which every computed term has its operands; loads come when asked for. */
static void earliest_lags(const strake_graph *graph, strake_cl_kernel_plan *plan)
{
    for (int c = 0; c < plan->terms; c++) {
        strake_cl_term *term = &plan->term[c];
        term->lag = 0;
        if (term->kind == STRAKE_CL_EXCHANGED) {
            term->lag = plan->term[find_owner(plan, term)].lag + 1;
        } else if (term->kind == STRAKE_CL_COMPUTED) {
            const strake_stage *stage = strake_cl_term_stage(graph, term);
            for (int k = 0; k < stage->reads; k++) {
                const int p = term->operand[k];
                if (p >= 0 && plan->term[p].kind != STRAKE_CL_LOADED) {
                    const int lag = plan->term[p].lag + stage->read[k].offset[0];
                    term->lag = lag > term->lag ? lag : term->lag;
                }
            }
            const int last = plan->lines * plan->vector - 1;
            if (is_column(plan, c, last)) {
                join_columns(plan, c - last, 1);
            }
        }
    }
}

/* Whether a work-item loads a value for one of its own columns, which brings the neighbours' near. */
static bool has_own_load(const strake_cl_kernel_plan *plan, int value)
{
    for (int p = 0; p < plan->terms; p++) {
        if (plan->term[p].kind == STRAKE_CL_LOADED && plan->term[p].value == value &&
            strake_cl_term_is_own(plan, &plan->term[p])) {
            return true;
        }
    }
    return false;
}

/* Own columns of a value are loaded together, when the first of them is needed. */
static void join_loads(strake_cl_kernel_plan *plan)
{
    for (int p = 0; p < plan->terms; p++) {
        strake_cl_term *term = &plan->term[p];
        const bool is_own = term->kind == STRAKE_CL_LOADED && strake_cl_term_is_own(plan, term);
        for (int q = 0; is_own && q < plan->terms; q++) {
            const strake_cl_term *other = &plan->term[q];
            if (other->value == term->value && strake_cl_term_is_own(plan, other)) {
                term->lag = other->lag < term->lag ? other->lag : term->lag;
            }
        }
    }
}

/* Everything but what is stored as late as its readers allow: then the least is kept. */
static void delay_terms(const uses *all, strake_cl_kernel_plan *plan, int prefetch)
{
    for (int p = plan->terms - 1; p >= 0; p--) {
        strake_cl_term *term = &plan->term[p];
        const int earliest = term->lag;
        term->lag = INT_MAX;
        for (int k = all->first[p]; k < all->first[p + 1]; k++) {
            const int lag = plan->term[all->use[k].reader].lag - all->use[k].row;
            term->lag = lag < term->lag ? lag : term->lag;
        }
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
            const bool is_first =
                strake_cl_term_is_own(plan, term) || !has_own_load(plan, term->value);
            term->lag -= is_first ? prefetch : 0;
        } else if (strake_cl_term_is_stored(plan, term)) {
            term->lag = earliest;
        }
        if (is_column(plan, p, 0)) {
            join_columns(plan, p, -1);
        }
    }
}

/* Work-items before and after that need a term are those of its reader, @p lines and @p items away. */
static void widen(int side[STRAKE_AXES][2], const int by[STRAKE_AXES][2], int lines, int items)
{
    const int away[STRAKE_AXES] = {0, lines, items};
    for (int axis = 1; axis < STRAKE_AXES; axis++) {
        const int wide[2] = {by[axis][0] - away[axis], by[axis][1] + away[axis]};
        for (int k = 0; k < 2; k++) {
            side[axis][k] = wide[k] > side[axis][k] ? wide[k] : side[axis][k];
        }
    }
}

/* What a use of a term by a reader, @p row rows away, asks of it. */
static void measure_use(const strake_cl_kernel_plan *plan, strake_cl_term *term,
                        const strake_cl_term *by, int row)
{
    const int depth = by->lag - row - term->lag + 1;
    term->depth = depth > term->depth ? depth : term->depth;
    term->before = by->before - row > term->before ? by->before - row : term->before;
    /* Lines: from the own one of the reader to that of an own or exchanged operand. */
    const int last = plan->lines - 1;
    const int from = by->offset[1] < 0 ? 0 : by->offset[1] > last ? last : by->offset[1];
    const bool is_there = term->kind == STRAKE_CL_EXCHANGED || strake_cl_term_is_own(plan, term);
    widen(term->side, by->side, is_there ? term->offset[1] - from : 0, 0);
}

/* How long each term is kept, and how far beyond what is stored it is needed. */
static void measure_terms(const uses *all, strake_cl_kernel_plan *plan)
{
    for (int p = plan->terms - 1; p >= 0; p--) {
        strake_cl_term *term = &plan->term[p];
        term->depth = 1;
        term->before = strake_cl_term_is_stored(plan, term) ? 0 : INT_MIN / 2;
        for (int k = all->first[p]; k < all->first[p + 1]; k++) {
            measure_use(plan, term, &plan->term[all->use[k].reader], all->use[k].row);
        }
        for (int c = p + 1; c < plan->terms; c++) {
            if (reads_of_neighbour(plan, c, p)) {
                const strake_cl_term *by = &plan->term[c];
                const int depth = term->sent_lag - term->lag + 1;
                term->depth = depth > term->depth ? depth : term->depth;
                term->before = by->before > term->before ? by->before : term->before;
                widen(term->side, by->side, 0, strake_cl_items_away(plan, by, 2));
            }
        }
    }
}

static bool same_place(const strake_cl_term *a, const strake_cl_term *b)
{
    return a->value == b->value && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

/* The load of a term's value at another lag: an existing one, or a new one. -1 where there is no room. */
static int load_at(strake_cl_kernel_plan *plan, int p, int lag)
{
    for (int q = 0; q < plan->terms; q++) {
        const strake_cl_term *term = &plan->term[q];
        if (term->kind == STRAKE_CL_LOADED && same_place(term, &plan->term[p]) &&
            term->lag == lag) {
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
        term->again += same_place(other, term) && other->again > 0 && q != p ? 1 : 0;
    }
    term->depth = 1;
    term->before = INT_MIN / 2;
    return plan->terms++;
}

/* Rows between the use of a value @p age rows after its load and the last use of its row before that. */
static int gap_before(const uses *all, const strake_cl_kernel_plan *plan, int terms, int p, int age)
{
    int last = 0;
    for (int q = 0; q < terms; q++) {
        const strake_cl_term *const load = &plan->term[q];
        const bool is_same = load->value == plan->term[p].value && load->kind == STRAKE_CL_LOADED;
        for (int k = all->first[q]; is_same && k < all->first[q + 1]; k++) {
            const int lag = plan->term[all->use[k].reader].lag - all->use[k].row;
            const int other = lag - plan->term[p].lag;
            last = other < age && other > last ? other : last;
        }
    }
    return age - last;
}

/*
 * A row of an array that is needed again long after it was loaded is loaded again (it is then in the
 * nearest cache) rather than kept: registers decide how many groups a GPU runs at once. After a long
 * time it has left that cache, and is loaded as early as it was first.
 */
static void reload_terms(const strake_graph *graph, const uses *all, strake_cl_kernel_plan *plan,
                         int prefetch, int keep)
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
        const strake_stage *stage = strake_cl_term_stage(graph, reader);
        for (int k = 0; k < stage->reads; k++) {
            const int p = reader->operand[k];
            if (p < 0 || plan->term[p].kind != STRAKE_CL_LOADED) {
                continue;
            }
            const int row = stage->read[k].offset[0];
            const int age = reader->lag - row - plan->term[p].lag;
            const bool is_old =
                age > (strake_cl_term_is_own(plan, &plan->term[p]) ? keep : keep - prefetch);
            const int early =
                is_old && gap_before(all, plan, terms, p, age) >= FAR_ROWS ? prefetch : 0;
            const int again = is_old ? load_at(plan, p, reader->lag - row - early) : -1;
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
        if (strake_cl_term_is_stored(plan, term)) {
            plan->drain = term->lag > plan->drain ? term->lag : plan->drain;
        }
        if (term->kind != STRAKE_CL_LOADED) {
            widen(plan->side, term->side, 0, 0);
        }
        for (int axis = 1; axis < STRAKE_AXES && term->kind == STRAKE_CL_EXCHANGED; axis++) {
            const int away = abs(strake_cl_items_away(plan, term, axis));
            plan->margin[axis] = away > plan->margin[axis] ? away : plan->margin[axis];
        }
        plan->held += term->depth;
    }
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        if (term->kind == STRAKE_CL_LOADED) {
            const int below = plan->lo[0] - plan->start + term->lag;
            const int above = plan->hi[0] + plan->drain + options->run.unroll - 1 - term->lag;
            plan->reach[0] = below > plan->reach[0] ? below : plan->reach[0];
            plan->reach[1] = above > plan->reach[1] ? above : plan->reach[1];
        }
    }
}

/** Lags, depths, reach and estimates of a marching kernel whose terms are known. */
static void cl_schedule(const strake_graph *graph, const strake_cl_options *options,
                        strake_cl_kernel_plan *plan)
{
    const int ahead = options->run.prefetch - 1;
    uses all;
    find_uses(graph, plan, &all);
    earliest_lags(graph, plan);
    delay_terms(&all, plan, ahead);
    join_loads(plan);
    measure_terms(&all, plan);
    reload_terms(graph, &all, plan, ahead, ahead + options->run.keep - 1);
    measure_march(options, plan);
}

enum {
    EXCHANGE_OPS = 2,   /* a read of local memory, and the share of the write */
    RECOMPUTE_MOST = 6, /* cheaper values are computed again instead of passed between columns */
    INLINE_MOST = 4     /* cheaper static values are computed again instead of loaded */
};

typedef struct builder {
    const strake_graph *graph;
    strake_cl_kernel_plan *plan;
    bool failed;
    bool is_member[STRAKE_MAX_VALUES];   /* this kernel computes the value (somewhere) */
    short newest[STRAKE_MAX_VALUES];     /* 1 + the newest term of a value, 0: there is none; ... */
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
        cl_schedule(graph, options, plan);
    } else if (!plan->tiled) {
        measure_points(plan);
    }
}
