/* The phases of a tiled kernel, the cells that each computes, and what lies in local memory. */
#include <string.h>

#include "opencl/cl_plan.h"

enum {
    EXCHANGE_OPS = 2,    /* a read of local memory, and the share of the write */
    RECOMPUTE_MOST = 16, /* cheaper values are computed again by readers: others cost a barrier */
    INPUT_PHASE = 0      /* in which inputs come to local memory, if any do */
};

/* How readers get a value. */
typedef enum way {
    LOADED, /* of another kernel, or an input: from its array */
    STAGED, /* the same through local memory */
    CHEAP,  /* they compute it themselves, wherever they need it */
    OWN,    /* computed with its readers, which are at the same cell in the same phase */
    SHARED  /* through local memory */
} way;

typedef struct tiler {
    const strake_graph *graph;
    const strake_cl_options *options;
    const bool *stored, *member;
    strake_cl_kernel_plan *plan;
    way way[STRAKE_MAX_VALUES];
    int cost[STRAKE_MAX_VALUES];  /* operations of a cheap value, with those of its operands */
    int need[STRAKE_MAX_VALUES];  /* first phase that can compute it */
    int phase[STRAKE_MAX_VALUES]; /* that computes it, or -1 */
    int slot[STRAKE_MAX_VALUES];
    int current; /* phase whose terms are being added */
    bool failed;
} tiler;

static const int zero[STRAKE_AXES] = {0, 0, 0};

static int source_of(const tiler *t, const strake_read *read)
{
    return strake_cl_source_of(t->graph, read->value);
}

static const strake_stage *stage_of(const tiler *t, int k)
{
    return &t->graph->stage[t->plan->stage[k]];
}

/* Which values are cheap; the others are their readers' own unless one is at another cell. */
static void choose_ways(tiler *t)
{
    for (int v = 0; v < t->graph->values; v++) {
        t->slot[v] = -1;
        t->phase[v] = -1;
        if (t->member[v]) { /* stages' own follow: here the static ones that are computed again */
            t->way[v] = CHEAP;
            t->cost[v] = strake_cl_stage_ops(&t->graph->stage[t->graph->value[v].stage]);
        }
    }
    for (int k = 0; k < t->plan->stages; k++) {
        const strake_stage *stage = stage_of(t, k);
        t->cost[stage->output] = strake_cl_stage_ops(stage);
        for (int r = 0; r < stage->reads; r++) {
            const int v = source_of(t, &stage->read[r]);
            t->cost[stage->output] += t->way[v] == CHEAP ? t->cost[v] : 0;
        }
        t->way[stage->output] = t->cost[stage->output] <= RECOMPUTE_MOST ? CHEAP : OWN;
        for (int r = 0; r < stage->reads; r++) {
            const int v = source_of(t, &stage->read[r]);
            if (t->way[v] == OWN && (t->way[stage->output] == CHEAP ||
                                     memcmp(stage->read[r].offset, zero, sizeof zero) != 0)) {
                t->way[v] = SHARED;
            }
        }
    }
}

/* Whether a stage of the kernel reads a value at another cell. */
static bool is_read_away(const tiler *t, int value)
{
    for (int k = 0; k < t->plan->stages; k++) {
        const strake_stage *stage = stage_of(t, k);
        for (int r = 0; r < stage->reads; r++) {
            if (source_of(t, &stage->read[r]) == value &&
                memcmp(stage->read[r].offset, zero, sizeof zero) != 0) {
                return true;
            }
        }
    }
    return false;
}

/* How many values shared with other cells lie on the longest way to a stage's output. */
static int depth_of(const tiler *t, const strake_stage *stage, const int *depth)
{
    int most = 0;
    for (int r = 0; r < stage->reads; r++) {
        const int v = source_of(t, &stage->read[r]);
        const bool is_far = t->member[v] && t->way[v] == SHARED && is_read_away(t, v);
        const int after = t->member[v] ? depth[v] + (is_far ? 1 : 0) : 0;
        most = after > most ? after : most;
    }
    return most;
}

/*
 * A value that is shared only because cheap ones of its own cell may be computed at others: where all that read
 * it could be computed with it, those are computed once instead.
 */
static void keep_together(tiler *t)
{
    int depth[STRAKE_MAX_VALUES] = {0};
    for (int k = 0; k < t->plan->stages; k++) {
        depth[stage_of(t, k)->output] = depth_of(t, stage_of(t, k), depth);
    }
    for (int k = 0; k < t->plan->stages; k++) {
        const int v = stage_of(t, k)->output;
        bool together = t->way[v] == SHARED && !is_read_away(t, v);
        for (int c = 0; c < t->plan->stages; c++) {
            const strake_stage *reader = stage_of(t, c);
            together = together && (!strake_cl_stage_reads(t->graph, reader, v) ||
                                    depth[reader->output] == depth[v]);
        }
        for (int c = 0; together && c < t->plan->stages; c++) {
            const strake_stage *reader = stage_of(t, c);
            if (strake_cl_stage_reads(t->graph, reader, v) && t->way[reader->output] == CHEAP) {
                t->way[reader->output] = is_read_away(t, reader->output) ? SHARED : OWN;
            }
        }
        t->way[v] = together ? OWN : t->way[v];
    }
}

/* The phases of all values; a value of which two phases would compute their own is shared instead. */
static bool settle_phases(tiler *t)
{
    bool settled = true;
    for (int k = 0; k < t->plan->stages; k++) {
        const strake_stage *stage = stage_of(t, k);
        const int output = stage->output;
        t->need[output] = 0;
        for (int r = 0; r < stage->reads; r++) {
            const int v = source_of(t, &stage->read[r]);
            const int after = t->member[v] ? t->need[v] + (t->way[v] == SHARED ? 1 : 0) : 0;
            t->need[output] = after > t->need[output] ? after : t->need[output];
        }
        const bool fixed = t->way[output] == SHARED || t->stored[output];
        t->phase[output] = fixed ? t->need[output] : -1;
    }
    for (int k = t->plan->stages - 1; k >= 0; k--) {
        const strake_stage *stage = stage_of(t, k);
        for (int r = 0; r < stage->reads; r++) {
            const int v = source_of(t, &stage->read[r]);
            if (t->way[v] == OWN && t->phase[v] < 0) {
                t->phase[v] = t->phase[stage->output];
            } else if (t->way[v] == OWN && t->phase[v] != t->phase[stage->output]) {
                t->way[v] = SHARED;
                settled = false;
            }
        }
    }
    return settled;
}

static int find(const tiler *t, int value, const int offset[STRAKE_AXES])
{
    const strake_cl_kernel_plan *plan = t->plan;
    for (int p = plan->phase[t->current].first; p < plan->terms; p++) {
        if (plan->term[p].value == value &&
            memcmp(plan->term[p].offset, offset, sizeof plan->term[p].offset) == 0) {
            return p;
        }
    }
    return -1;
}

static int new_slot(tiler *t, int value, int phase)
{
    strake_cl_kernel_plan *plan = t->plan;
    if (plan->slots == STRAKE_CL_KERNEL_SLOTS) {
        t->failed = true;
        return -1;
    }
    plan->slot[plan->slots] = (strake_cl_slot){.value = value, .made = phase, .last = phase};
    t->slot[value] = plan->slots;
    return plan->slots++;
}

/* Makes sure that a term of the current phase and everything it needs is in the list. */
static void want(tiler *t, int value, const int offset[STRAKE_AXES])
{
    strake_cl_kernel_plan *plan = t->plan;
    strake_cl_term term = {.value = value, .kind = STRAKE_CL_LOADED, .slot = -1};
    if (t->failed || t->graph->value[value].is_constant || find(t, value, offset) >= 0) {
        return;
    }
    memcpy(term.offset, offset, sizeof term.offset);
    if (t->way[value] == STAGED || (t->way[value] == SHARED && t->phase[value] < t->current)) {
        term.kind = STRAKE_CL_EXCHANGED;
        term.slot = t->slot[value];
        plan->slot[term.slot].last = t->current;
    } else if (t->way[value] != LOADED) {
        const strake_stage *stage = &t->graph->stage[t->graph->value[value].stage];
        term.kind = STRAKE_CL_COMPUTED;
        for (int k = 0; k < stage->reads; k++) {
            int at[STRAKE_AXES];
            const int source = source_of(t, &stage->read[k]);
            for (int axis = 0; axis < STRAKE_AXES; axis++) {
                at[axis] = offset[axis] + stage->read[k].offset[axis];
            }
            want(t, source, at);
            term.operand[k] = t->graph->value[source].is_constant ? -1 : find(t, source, at);
        }
        if (t->way[value] == SHARED) {
            term.slot = new_slot(t, value, t->current);
        }
    }
    if (plan->terms == STRAKE_CL_KERNEL_TERMS) {
        t->failed = true;
    }
    if (!t->failed) {
        plan->term[plan->terms++] = term;
    }
}

/* Loads an input for all phases: all that this phase does with it. */
static void stage_input(tiler *t, int value)
{
    strake_cl_kernel_plan *plan = t->plan;
    t->failed = t->failed || plan->terms == STRAKE_CL_KERNEL_TERMS;
    const int slot = t->failed ? -1 : new_slot(t, value, INPUT_PHASE);
    if (slot >= 0) {
        plan->term[plan->terms++] =
            (strake_cl_term){.value = value, .kind = STRAKE_CL_LOADED, .slot = slot};
    }
}

static void begin_phase(tiler *t)
{
    strake_cl_kernel_plan *plan = t->plan;
    t->failed = t->failed || plan->phases == STRAKE_CL_KERNEL_PHASES;
    if (!t->failed) {
        t->current = plan->phases++;
        plan->phase[t->current] = (strake_cl_phase){.first = plan->terms};
    }
}

/* The terms of all phases, after one for inputs if some come through local memory. */
static void add_phases(tiler *t, int phases, bool staged)
{
    strake_cl_kernel_plan *plan = t->plan;
    plan->phases = 0;
    plan->terms = 0;
    plan->slots = 0;
    if (staged) {
        begin_phase(t);
        for (int v = 0; v < t->graph->values; v++) {
            if (t->way[v] == STAGED) {
                stage_input(t, v);
            }
        }
        plan->phase[INPUT_PHASE].end = plan->terms;
        for (int k = 0; k < plan->stages; k++) {
            t->phase[stage_of(t, k)->output] += t->phase[stage_of(t, k)->output] < 0 ? 0 : 1;
        }
    }
    for (int phase = staged ? 1 : 0; phase < phases + (staged ? 1 : 0) && !t->failed; phase++) {
        begin_phase(t);
        for (int k = 0; k < plan->stages && !t->failed; k++) {
            const int output = stage_of(t, k)->output;
            if (t->phase[output] == phase && (t->way[output] == SHARED || t->stored[output])) {
                want(t, output, zero);
            }
        }
        if (!t->failed) {
            plan->phase[t->current].end = plan->terms;
        }
    }
}

/* Marks the inputs that are read at several cells. */
static bool choose_staged(tiler *t)
{
    const strake_cl_kernel_plan *plan = t->plan;
    bool found = false;
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        for (int q = 0; q < p && term->kind == STRAKE_CL_LOADED; q++) {
            const strake_cl_term *other = &plan->term[q];
            if (other->kind == STRAKE_CL_LOADED && other->value == term->value &&
                memcmp(other->offset, term->offset, sizeof term->offset) != 0) {
                t->way[term->value] = STAGED;
                found = true;
            }
        }
    }
    return found;
}

static void widen(int *extent, int by)
{
    *extent = by > *extent ? by : *extent;
}

/* The cells of each phase: those of all phases that read what it makes, and their neighbours. */
static void measure_phases(strake_cl_kernel_plan *plan)
{
    for (int phase = plan->phases - 1; phase >= 0; phase--) {
        const strake_cl_phase *by = &plan->phase[phase];
        for (int p = by->first; p < by->end; p++) {
            const strake_cl_term *term = &plan->term[p];
            if (term->kind != STRAKE_CL_EXCHANGED) {
                continue;
            }
            strake_cl_phase *from = &plan->phase[plan->slot[term->slot].made];
            for (int axis = 0; axis < STRAKE_AXES; axis++) {
                widen(&from->lo[axis], by->lo[axis] - term->offset[axis]);
                widen(&from->hi[axis], by->hi[axis] + term->offset[axis]);
            }
        }
    }
}

/*
 * Places of the local arrays: the first where no array lies that some phase needs beside this one. All
 * have lines of one length, so that one number finds a cell in all of them; neighbours in a line are
 * neighbours in memory, and work-items go along lines, so that they meet no bank twice.
 */
static void place_slots(const strake_cl_options *options, strake_cl_kernel_plan *plan)
{
    int64_t first[STRAKE_CL_KERNEL_SLOTS];
    int64_t size[STRAKE_CL_KERNEL_SLOTS];
    int64_t start[STRAKE_CL_KERNEL_SLOTS];
    const int lead[STRAKE_AXES] = {strake_cl_tile_lead(plan, 0), strake_cl_tile_lead(plan, 1),
                                   strake_cl_tile_lead(plan, 2)};
    int lines = 1;
    for (int s = 0; s < plan->slots; s++) {
        const strake_cl_phase *const made = &plan->phase[plan->slot[s].made];
        widen(&plan->line, strake_cl_phase_extent(options, made, 2));
        widen(&lines, strake_cl_phase_extent(options, made, 1));
    }
    plan->plane = lines * plan->line;
    for (int s = 0; s < plan->slots; s++) {
        const strake_cl_phase *phase = &plan->phase[plan->slot[s].made];
        first[s] = (int64_t)(lead[0] - phase->lo[0]) * plan->plane +
                   (int64_t)(lead[1] - phase->lo[1]) * plan->line + (lead[2] - phase->lo[2]);
        size[s] = (int64_t)(strake_cl_phase_extent(options, phase, 0) - 1) * plan->plane +
                  (int64_t)(strake_cl_phase_extent(options, phase, 1) - 1) * plan->line +
                  strake_cl_phase_extent(options, phase, 2);
        start[s] = 0;
        for (int other = 0; other < s; other++) {
            const bool both = plan->slot[other].last >= plan->slot[s].made &&
                              plan->slot[other].made <= plan->slot[s].last;
            if (both && start[other] < start[s] + size[s] &&
                start[s] < start[other] + size[other]) {
                start[s] = start[other] + size[other];
                other = -1; /* the new place may meet an earlier one */
            }
        }
        plan->slot[s].base = start[s] - first[s];
        plan->local = start[s] + size[s] > plan->local ? start[s] + size[s] : plan->local;
    }
}

/* Work per cell of a tile, and what the kernel touches. */
static void measure_work(const tiler *t)
{
    strake_cl_kernel_plan *plan = t->plan;
    const double tile = (double)t->options->tile[0] * t->options->tile[1] * t->options->tile[2];
    double ops = 0.0;
    int lo = 0;
    int hi = 0;
    strake_cl_find_reach(t->graph, 0, &lo, &hi);
    for (int phase = 0; phase < plan->phases; phase++) {
        const strake_cl_phase *by = &plan->phase[phase];
        const double share = (double)strake_cl_phase_extent(t->options, by, 0) *
                             strake_cl_phase_extent(t->options, by, 1) *
                             strake_cl_phase_extent(t->options, by, 2) / tile;
        int live = 0;
        for (int p = by->first; p < by->end; p++) {
            const strake_cl_term *term = &plan->term[p];
            if (term->kind == STRAKE_CL_COMPUTED) {
                const int stage = t->graph->value[term->value].stage;
                ops += share * strake_cl_stage_ops(&t->graph->stage[stage]);
            } else if (term->kind == STRAKE_CL_EXCHANGED) {
                ops += share * EXCHANGE_OPS;
            } else {
                plan->again = share > plan->again ? share : plan->again;
                widen(&plan->reach[0], lo - term->offset[0]);
                widen(&plan->reach[1], hi + term->offset[0]);
            }
        }
        for (int s = 0; s < plan->slots; s++) {
            live += plan->slot[s].made <= phase && plan->slot[s].last >= phase ? 1 : 0;
        }
        widen(&plan->held, live);
    }
    plan->ops = (int)(ops + 0.5);
}

bool strake_cl_plan_tiles(const strake_graph *graph, const strake_cl_options *options,
                          const bool *stored, const bool *member, strake_cl_kernel_plan *plan)
{
    tiler t = {.graph = graph, .options = options, .stored = stored, .member = member};
    int phases = 0;
    t.plan = plan;
    choose_ways(&t);
    keep_together(&t);
    while (!settle_phases(&t)) {
    }
    for (int k = 0; k < plan->stages; k++) {
        widen(&phases, t.phase[stage_of(&t, k)->output] + 1);
    }
    add_phases(&t, phases, false);
    if (!t.failed && options->run.prefetch > 1 && choose_staged(&t)) {
        add_phases(&t, phases, true);
    }
    if (t.failed) {
        return false;
    }
    measure_phases(plan);
    place_slots(options, plan);
    measure_work(&t);
    return options->local == 0 || strake_cl_local_bytes(graph, options, plan) <= options->local;
}
