/* Planning a row pipeline: its steps, its rings, how wide a block may be. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/element.h"
#include "base/hash.h"
#include "cpu/pipeline_impl.h"
#include "cpu/stream.h"
#include "cpu/topology.h"
#include "problem/check_rows.h"

/* Planning the tasks of a row pipeline: which loops, and where their operands lie. */

static int64_t pipeline_task_round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

/* Compiled loops: those of the program, then those of problems that were loaded. */

typedef struct loop_table loop_table;
struct loop_table {
    const strake_loop_code *code;
    int count;
    uint64_t origin;
    loop_table *next;
};

static _Atomic(loop_table *) loaded_loops;

bool strake_loops_add(const strake_loop_code *code, int count, uint64_t origin)
{
    loop_table *const table = malloc(sizeof *table);
    if (table != NULL) {
        *table = (loop_table){code, count, origin, atomic_load(&loaded_loops)};
        atomic_store(&loaded_loops, table);
    }
    return table != NULL;
}

/* A compiled loop by the hash of its body; NULL: none, or not for this instruction set. */
static strake_row_function find_loop(const strake_graph *graph, uint64_t body, strake_isa isa)
{
    const loop_table own = {strake_loop_codes, strake_loop_code_count, 0,
                            atomic_load(&loaded_loops)};
    for (const loop_table *table = &own; table != NULL; table = table->next) {
        for (int k = 0; k < table->count && table->origin == graph->origin; k++) {
            const strake_row_function row = table->code[k].row[graph->precision][isa];
            if (table->code[k].body == body && row != NULL) {
                return row;
            }
        }
    }
    return NULL;
}

/* The compiled form of a loop, or NULL. */
static strake_row_function find_code(const strake_graph *graph, const strake_loop *loop,
                                     strake_isa isa)
{
    char body[STRAKE_LOOP_TEXT];
    const int length =
        isa == STRAKE_ISA_SCALAR ? -1 : strake_loop_body(graph, loop, body, sizeof body);
    if (length < 0) {
        return NULL;
    }
    return find_loop(graph, strake_fnv1a(STRAKE_FNV_SEED, body, (size_t)length), isa);
}

/* The loops that sets share, if all of them are compiled; else -1. */
static int plan_shared(const strake_graph *graph, strake_isa isa, strake_loop *loop)
{
    int loops =
        graph->set > 0 ? strake_loops_plan(graph, STRAKE_LOOP_SETS, graph->stages, loop) : -1;
    for (int g = 0; g < loops; g++) {
        loops = find_code(graph, &loop[g], isa) != NULL ? loops : -1;
    }
    return loops;
}

/*
 * Replaces each loop that is not compiled by the compiled loop within it and what comes before and after that; each set has
 * loops of its own for static stages. The parts are large: this is no part of a caller's frame, under which loops are planned.
 * @return number of loops, -1: they cannot be split so
 */
__attribute__((noinline)) static int split_loops(const strake_graph *graph, strake_isa isa,
                                                 strake_loop *loop, int loops)
{
    strake_loop part[STRAKE_LOOP_STAGES];
    for (int g = 0; g < loops; g++) {
        if (find_code(graph, &loop[g], isa) != NULL) {
            continue;
        }
        const int parts = isa == STRAKE_ISA_SCALAR ? 0 : strake_loop_split(graph, &loop[g], part);
        if (parts == 0 || loops + parts - 1 > graph->stages) {
            return -1;
        }
        memmove(&loop[g + parts], &loop[g + 1], (size_t)(loops - g - 1) * sizeof *loop);
        memcpy(&loop[g], part, (size_t)parts * sizeof *loop);
        loops += parts - 1;
        g += parts - 1;
    }
    return loops;
}

int strake_pipeline_plan_loops(const strake_graph *graph, strake_isa isa, strake_loop *loop)
{
    int loops = plan_shared(graph, isa, loop);
    if (loops >= 0) {
        return loops;
    }
    loops = split_loops(graph, isa, loop, strake_loops_plan(graph, 1, graph->stages, loop));
    return loops >= 0 ? loops : strake_loops_plan_plain(graph, loop);
}

/* Address of the first operand of a line of a ring or constant, for output slab q. */
static const char *fixed_address(const strake_pipeline *p, const pass *s, const task *t,
                                 const strake_read *read, int64_t q)
{
    const strake_value *value = &p->graph->value[read->value];
    if (value->is_constant) {
        return strake_pipeline_constant(p, read->value, s - p->pass);
    }
    const ring *r = &s->ring[read->value];
    const int64_t slab = strake_pipeline_place(q + read->offset[0], r->depth);
    const int64_t line = slab * r->lines + read->offset[1] + value->lo[1] - t->lo[1];
    return r->data + (line * p->width + p->pad - t->lo[2] + read->offset[2]) * p->size;
}

static void plan_operand(const strake_pipeline *p, const pass *s, task *t, const strake_read *read,
                         int k)
{
    const strake_value *value = &p->graph->value[read->value];
    const strake_layout *l = p->layout;
    t->moves[k] = value->is_constant ? 0 : -1;
    if (value->is_constant || value->stage >= 0) {
        t->stride[k] = value->is_constant ? 0 : p->width * p->size;
        t->ring_stride[k] = t->stride[k];
        for (int64_t phase = 0; phase < p->phases; phase++) {
            t->base[phase * t->reads + k] = fixed_address(p, s, t, read, phase);
        }
        return;
    }
    array_operand *o = &t->array[t->arrays++];
    t->stride[k] = l->pitch * p->size;
    o->index = k;
    o->value = read->value;
    o->is_state = !value->is_static;
    o->slab_offset = read->offset[0];
    o->shift = (read->offset[1] - t->lo[1]) * l->pitch + read->offset[2] - t->lo[2];
    o->fold_shift =
        (l->lo[1] + read->offset[1] - t->lo[1]) * p->width + p->pad - t->lo[2] + read->offset[2];
    t->ring_stride[k] = t->stride[k];
    if (value->next >= 0) {
        const int64_t line = value->lo[1] + read->offset[1] - t->lo[1];
        o->ring = value->next;
        o->ring_shift = line * p->width + p->pad - t->lo[2] + read->offset[2];
        t->ring_stride[k] = p->width * p->size;
    }
}

static void plan_output(const strake_pipeline *p, const pass *s, task *t, int v, int k)
{
    const strake_value *value = &p->graph->value[v];
    const ring *r = &s->ring[v];
    int64_t line = 0;
    for (int n = 0; n < p->graph->reductions; n++) {
        if (p->graph->reduction[n].value == v) {
            t->reduced[t->reductions].output = k;
            t->reduced[t->reductions++].reduction = n;
        }
    }
    if (value->is_output) {
        t->is_state = true;
        t->state[k] = v;
        t->is_in_array = s == &p->pass[p->passes - 1];
        line = p->graph->value[value->state_of].lo[1];
    }
    if (value->is_output && t->is_in_array) {
        t->out_stride = p->layout->pitch * p->size;
        return;
    }
    t->out_stride = p->width * p->size;
    for (int64_t phase = 0; phase < p->phases; phase++) {
        t->out[phase * t->outputs + k] =
            r->data +
            ((phase % r->depth * r->lines + line) * p->width + p->pad - t->lo[2]) * p->size;
    }
}

/* Columns that a task starts before its block so that it starts aligned. */
static int whole_vectors(const strake_pipeline *p, int lo)
{
    return (int)pipeline_task_round_up(lo, p->vector);
}

static bool allocate_task(const strake_pipeline *p, task *t, int reads, int outputs)
{
    t->reads = reads;
    t->outputs = outputs;
    t->base = calloc((size_t)(p->phases * reads), sizeof *t->base);
    t->out = calloc((size_t)(p->phases * outputs), sizeof *t->out);
    return t->base != NULL && t->out != NULL;
}

/* A plain loop takes its operands one by one, others every line once. */
static bool plan_task(const strake_pipeline *p, const pass *s, task *t, const strake_loop *loop)
{
    const strake_stage *first = &p->graph->stage[loop->stage[0]];
    const strake_row_function *row = first->point->row[p->graph->precision];
    const strake_read *read = loop->is_plain ? first->read : loop->input;
    if (!allocate_task(p, t, loop->is_plain ? first->reads : loop->inputs, loop->outputs)) {
        return false;
    }
    if (loop->is_plain) {
        t->row = row[p->isa] != NULL ? row[p->isa] : row[STRAKE_ISA_BASE];
    } else {
        t->row = find_code(p->graph, loop, p->isa);
    }
    t->lag = loop->lag;
    memcpy(t->lo, loop->lo, sizeof t->lo);
    memcpy(t->hi, loop->hi, sizeof t->hi);
    t->before = loop->lo[2] + s->reach;
    t->lo[2] = whole_vectors(p, t->before);
    t->hi[2] += s->reach;
    for (int k = 0; k < t->reads; k++) {
        plan_operand(p, s, t, &read[k], k);
    }
    for (int k = 0; k < loop->outputs; k++) {
        plan_output(p, s, t, loop->output[k], k);
    }
    return true;
}

/* Plans the tasks of one step; its rings and reach and the phases are known. */
static strake_status pipeline_plan_pass(strake_pipeline *p, pass *s, const strake_loop *loop,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    s->task = calloc((size_t)p->loops, sizeof *s->task);
    bool complete = s->task != NULL;
    for (int k = 0; k < p->loops && complete; k++) {
        complete = plan_task(p, s, &s->task[k], &loop[k]);
    }
    STRAKE_CHECK(complete, error, STRAKE_ERR_MEMORY, "out of memory planning the CPU pipeline");
cleanup:
    return status;
}

static void pipeline_free_pass(const strake_pipeline *p, pass *s)
{
    for (int k = 0; s->task != NULL && k < p->loops; k++) {
        free(s->task[k].base);
        free(s->task[k].out);
    }
    free(s->task);
}

enum { CALL_COLUMNS = 16 /* what the call of a loop for a line costs, in columns */ };

static const strake_row_function non_finite_rows[STRAKE_PRECISIONS][STRAKE_ISAS] =
    STRAKE_CHECK_ROWS(non_finite);

static const strake_row_function least_rows[STRAKE_PRECISIONS][STRAKE_ISAS] =
    STRAKE_CHECK_ROWS(least);

static const strake_row_function greatest_rows[STRAKE_PRECISIONS][STRAKE_ISAS] =
    STRAKE_CHECK_ROWS(greatest);

static int64_t round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

/* The depth of a ring for so many slabs: one that keeps the table of operands short for all rings together. */
static int64_t ring_depth(int64_t slabs)
{
    int64_t depth = slabs < PIPELINE_PLACES ? slabs : PIPELINE_PLACES;
    while (PIPELINE_PLACES % depth != 0) {
        depth++;
    }
    while (depth < slabs) {
        depth *= 2;
    }
    return depth;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t multiple = a;
    while (multiple % b != 0) {
        multiple += a;
    }
    return multiple;
}

/* Whether a value needs a ring: kept, computed every slab and not written to an array of the grid. */
static bool has_ring(const strake_pipeline *p, int v, bool is_last)
{
    const strake_value *value = &p->graph->value[v];
    return p->depth[v] > 0 && value->stage >= 0 && !(value->is_output && is_last);
}

/*
 * Slabs of a state between two steps that its readers need at once. The next step takes each slab as
 * soon as all states have it; at an edge of the domain it looks for ghosts among the last few.
 */
static int64_t state_depth(const strake_pipeline *p, const strake_value *output)
{
    const strake_graph *graph = p->graph;
    const strake_value *input = &graph->value[output->state_of];
    int slowest = 0;
    int depth = p->depth[output->state_of];
    depth = input->lo[0] > depth ? input->lo[0] : depth;
    depth = input->hi[0] > depth ? input->hi[0] : depth;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *other = &graph->value[v];
        if (other->is_output && graph->stage[other->stage].lag > slowest) {
            slowest = graph->stage[other->stage].lag;
        }
    }
    return depth + slowest - graph->stage[output->stage].lag;
}

int strake_pipeline_most_steps(const strake_graph *graph)
{
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        const bool is_given = value->stage < 0 && !value->is_static && value->next < 0;
        if (value->is_reduced || (value->is_live && is_given)) {
            return 1;
        }
    }
    return STRAKE_MAX_SWEEP;
}

/*
 * Bytes per column and line of a block that its stages keep in cache: the outputs of the loops of a set. Sets are
 * computed one after the other, so that what the others keep may wait in the next cache.
 */
static int64_t bytes_per_cell(const strake_pipeline *p, const strake_loop *loop, int loops)
{
    int64_t most = p->size, bytes = 0;
    for (int g = 0; g < loops; g++) {
        bytes = g > 0 && loop[g].set != loop[g - 1].set ? 0 : bytes;
        for (int k = 0; k < loop[g].outputs; k++) {
            const int v = loop[g].output[k];
            bytes += ring_depth(p->depth[v]) * p->size;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

static int64_t private_cache(void)
{
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return cache > 0 ? cache : 512 * 1024;
}

/*
 * Bytes of the rings of blocks of lines. What a block computes twice costs more than the next cache does, which
 * streams a line as fast as loops take it: half a thread's part of that one, at most three times what is left of the
 * private cache, in which the slabs of the arrays that a tick reads lie too.
 */
static int64_t block_cache(void)
{
    const int64_t cache = private_cache();
    const int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int64_t part = strake_topology_cache("/sys/devices/system", cpus) / cpus / 2;
    const int64_t most = part < 3 * cache / 2 ? part : 3 * cache / 2;
    return most > cache / 2 ? most : cache / 2;
}

/* Parts of equal width, of at most so many columns each. */
static int64_t even_columns(const strake_pipeline *p, int64_t most)
{
    const int64_t n = p->layout->n[2];
    const int64_t blocks = (n + most - 1) / most;
    return round_up((n + blocks - 1) / blocks, p->vector);
}

static void choose_columns(strake_pipeline *p, int64_t bytes, int steps)
{
    /*
     * Three eighths of the private cache for the rings: the streams of inputs and outputs need it too,
     * and every block starts those streams anew. The rings of several steps are used one after the other;
     * narrower blocks would cost more, in columns computed twice, than the next cache does.
     */
    const int64_t cache = private_cache();
    const int64_t alone = 3 * cache / 8 / bytes;
    const int64_t shared = 3 * cache / 4 / (bytes * steps);
    const int64_t most = (alone < shared ? alone : shared) / p->vector * p->vector;
    p->block[steps] = even_columns(p, most < 8 * p->vector ? 8 * p->vector : most);
}

/* Lines and columns that the loops compute beside a block's own, on average, and what a call for a line costs. */
static void find_beside(const strake_pipeline *p, const strake_loop *loop, int loops,
                        double beside[2])
{
    beside[0] = beside[1] = 0.0;
    for (int g = 0; g < loops; g++) {
        const int64_t columns =
            round_up(loop[g].lo[2], p->vector) + round_up(loop[g].hi[2], p->vector);
        beside[0] += (double)(loop[g].lo[1] + loop[g].hi[1]) / loops;
        beside[1] += (double)columns / loops;
    }
    beside[1] += CALL_COLUMNS;
}

/*
 * Slabs of many lines: blocks of lines and columns whose rings of one step fit the caches, those with the fewest
 * cells computed twice.
 */
static void choose_lines(strake_pipeline *p, const strake_loop *loop, int loops, bool is_given)
{
    const strake_layout *l = p->layout;
    const int64_t cells = block_cache() / bytes_per_cell(p, loop, loops);
    const int64_t given = p->block[1];
    double beside[2], least = INFINITY;
    find_beside(p, loop, loops, beside);
    for (int64_t parts = 1; parts <= (l->n[2] + p->vector - 1) / p->vector; parts++) {
        const int64_t columns = is_given ? given : even_columns(p, (l->n[2] + parts - 1) / parts);
        const double fit = (double)cells / ((double)columns + beside[1] - CALL_COLUMNS) - beside[0];
        const int64_t most = fit < 1.0 ? 1 : fit < (double)l->n[1] ? (int64_t)fit : l->n[1];
        const int64_t blocks = (l->n[1] + most - 1) / most;
        const int64_t lines = (l->n[1] + blocks - 1) / blocks;
        const double work = (1.0 + beside[0] / (double)lines) * (1.0 + beside[1] / (double)columns);
        if (work < least) {
            least = work;
            p->block[1] = columns;
            p->lines[1] = lines;
        }
    }
}

/*
 * Slabs of many lines, all of which are in each block of sweeps of several steps: of what is computed twice and of rings beyond
 * the caches so many columns cost least. Blocks of single steps have them, too: the lines of rings are as long as the widest
 * block (two steps of Cahn-Hilliard at 256^3 make some 1.5 times the rate that blocks of 64 columns in lines of 256 made).
 */
enum { SWEEP_COLUMNS = 128 };

static void choose_blocks(strake_pipeline *p, const strake_loop *loop, int loops, int64_t given)
{
    given = given == 0 && !p->is_flat && p->passes > 1 ? even_columns(p, SWEEP_COLUMNS) : given;
    const int64_t lines = p->layout->lo[1] + p->layout->n[1] + p->layout->hi[1];
    const int64_t bytes = bytes_per_cell(p, loop, loops) * lines;
    for (int k = 1; k <= p->passes; k++) {
        choose_columns(p, bytes, k);
        p->block[k] = given > 0 ? round_up(given, p->vector) : p->block[k];
        p->lines[k] = p->layout->n[1];
        /* At poles a step reads half a turn away what the one before it has computed: in the same block. */
        p->block[k] = p->layout->boundary[1] == STRAKE_POLAR && k > 1
                          ? round_up(p->layout->n[2], p->vector)
                          : p->block[k];
    }
    if (!p->is_flat) {
        choose_lines(p, loop, loops, given > 0);
    }
}

/*
 * Lays rings and constant lines out in one allocation; called with memory NULL it only measures.
 * Rows are computed in whole vectors and loops in the widest range of their stages, so a line may be
 * read or written a little before and beyond its ends: there is room for that.
 */
static int64_t lay_out_rings(strake_pipeline *p, pass *s, char *memory, int64_t used)
{
    const bool is_last = s == &p->pass[p->passes - 1];
    int64_t lines = 0;
    for (int k = 1; k <= p->passes; k++) {
        lines = p->lines[k] > lines ? p->lines[k] : lines;
    }
    for (int v = 0; v < p->graph->values; v++) {
        const strake_value *value = &p->graph->value[v];
        if (!has_ring(p, v, is_last)) {
            continue;
        }
        /* A state between two steps has the ghosts of the state input that it is. */
        const strake_value *shape = value->is_output ? &p->graph->value[value->state_of] : value;
        const int64_t depth = value->is_output ? state_depth(p, value) : p->depth[v];
        ring *r = &s->ring[v];
        r->depth = ring_depth(depth);
        r->lines = lines + shape->lo[1] + shape->hi[1];
        r->data = memory == NULL ? NULL : memory + used;
        used += r->depth * r->lines * p->width * p->size;
        p->phases = common_multiple(p->phases, r->depth);
    }
    for (int v = 0; v < p->graph->values && p->layout->boundary[0] == STRAKE_POLAR; v++) {
        s->beyond[v] = memory == NULL ? NULL : memory + used;
        used += strake_pipeline_beyond(p, v) * p->width * p->size;
    }
    return used;
}

/*
 * Of the states the first step reads a few slabs, of what stays the same all steps do. Where a fold has no room for
 * what the last ones read, they fold it again.
 */
static int64_t lay_out_folds(strake_pipeline *p, char *memory, int64_t used)
{
    const strake_layout *l = p->layout;
    const int64_t lines = l->lo[1] + l->n[1] + l->hi[1];
    for (int v = 0; v < p->graph->values && p->passes > l->steps; v++) {
        const strake_value *value = &p->graph->value[v];
        const int64_t own = value->lo[0] + value->hi[0] + p->slowest + 1;
        const int64_t all = own + (p->passes - 1) * (int64_t)(p->slowest + p->hi);
        fold *f = &p->fold[v];
        if (value->stage >= 0 || value->is_constant || !value->is_live) {
            continue;
        }
        f->depth = value->next >= 0 ? own : all;
        f->data = memory == NULL ? NULL : memory + used;
        used += (f->depth * lines + 1) * p->width * p->size;
        f->slab = memory == NULL ? NULL : (int64_t *)(void *)(memory + used);
        used += round_up(f->depth * (int64_t)sizeof *f->slab, PIPELINE_ALIGNMENT);
    }
    return used;
}

static void plan_streams(strake_pipeline *p)
{
    for (int v = 0; v < p->graph->values; v++) {
        const strake_value *value = &p->graph->value[v];
        if (value->is_live && !value->is_constant && (value->stage < 0 || value->is_output)) {
            p->stream[p->streams++] = v;
        }
    }
}

static int64_t lay_out(strake_pipeline *p, char *memory)
{
    int64_t used = 2 * PIPELINE_ALIGNMENT;
    p->phases = 1;
    for (int v = 0; v < p->graph->values; v++) {
        const strake_value *value = &p->graph->value[v];
        if (value->is_live && value->is_constant) {
            if (memory != NULL) {
                p->constant[v] = memory + used;
                strake_element_fill(p->constant[v], (int)p->size, 0, p->width, value->constant);
            }
            used += (value->is_scalar ? p->passes : 1) * p->width * p->size;
        }
    }
    if (strake_stream_pays(p->layout->elements * p->size * p->streams)) {
        p->line = memory == NULL ? NULL : memory + used;
        used += p->together * p->width * p->size;
    }
    for (int k = 0; k < p->passes; k++) {
        used = lay_out_rings(p, &p->pass[k], memory, used);
    }
    used = lay_out_folds(p, memory, used);
    return used + 2 * PIPELINE_ALIGNMENT;
}

/* Room of a ring line before a block: the widest task, and operands one vector further left. */
static int64_t ring_pad(const strake_pipeline *p, const strake_loop *loop, int loops)
{
    int64_t lo = 0;
    for (int g = 0; g < loops; g++) {
        lo = loop[g].lo[2] > lo ? loop[g].lo[2] : lo;
    }
    return round_up(lo + p->pass[0].reach, p->vector) + p->vector;
}

static int64_t columns_after(const strake_pipeline *p, const strake_loop *loop, int loops)
{
    int64_t hi = 0;
    for (int g = 0; g < loops; g++) {
        hi = loop[g].hi[2] > hi ? loop[g].hi[2] : hi;
    }
    return hi + p->pass[0].reach;
}

static int64_t ring_width(const strake_pipeline *p)
{
    int64_t block = 0;
    for (int k = 1; k <= p->passes; k++) {
        block = p->block[k] > block ? p->block[k] : block;
    }
    if (p->layout->boundary[0] == STRAKE_POLAR && p->passes > 1) {
        block = round_up(p->layout->n[2], p->vector); /* beside poles */
    }
    const int64_t width = p->pad + round_up(block + p->after, p->vector) + p->vector;
    /* An odd number of cache lines spreads the lines over the cache sets. */
    return width / p->vector % 2 == 0 ? width + p->vector : width;
}

/* What one step needs around its slabs and columns of the step before. */
static void plan_reach(strake_pipeline *p)
{
    int reach = 0;
    for (int v = 0; v < p->graph->values; v++) {
        const strake_value *value = &p->graph->value[v];
        if (value->next >= 0) {
            const int lag = p->graph->stage[p->graph->value[value->next].stage].lag;
            p->slowest = lag > p->slowest ? lag : p->slowest;
            p->lo = value->lo[0] > p->lo ? value->lo[0] : p->lo;
            p->hi = value->hi[0] > p->hi ? value->hi[0] : p->hi;
            reach = value->lo[2] > reach ? value->lo[2] : reach;
            reach = value->hi[2] > reach ? value->hi[2] : reach;
        }
    }
    for (int k = 0; k < p->passes; k++) {
        p->pass[k].reach = reach * (p->passes - 1 - k);
    }
}

/* Depths of the rings: 0 for values that no loop keeps. */
static void find_depths(strake_pipeline *p, const strake_loop *loop)
{
    for (int g = 0; g < p->loops; g++) {
        for (int k = 0; k < loop[g].outputs; k++) {
            const int v = loop[g].output[k];
            p->depth[v] = strake_loops_depth(p->graph, loop, p->loops, v);
            if (p->graph->value[v].is_output) {
                const int input = p->graph->value[v].state_of;
                p->depth[input] = strake_loops_depth(p->graph, loop, p->loops, input);
            }
        }
    }
}

/* Everything but the memory of the rings and the tasks. @return bytes of the rings */
static int64_t plan(strake_pipeline *p, const strake_graph *graph, const strake_layout *layout,
                    int steps, strake_isa isa, int64_t block, strake_loop *loop)
{
    p->graph = graph;
    p->layout = layout;
    p->is_flat = layout->n[1] + layout->lo[1] + layout->hi[1] == 1;
    p->size = layout->element_size;
    p->vector = PIPELINE_ALIGNMENT / p->size;
    p->passes = steps;
    p->cache = private_cache();
    p->isa = isa;
    p->loops = strake_pipeline_plan_loops(graph, isa, loop);
    find_depths(p, loop);
    plan_reach(p);
    plan_streams(p);
    for (int g = 0; g < p->loops; g++) {
        const int outputs = p->graph->value[loop[g].output[0]].is_output ? loop[g].outputs : 0;
        p->together = outputs > p->together ? outputs : p->together;
    }
    choose_blocks(p, loop, p->loops, block);
    p->pad = ring_pad(p, loop, p->loops);
    p->after = columns_after(p, loop, p->loops);
    p->width = ring_width(p);
    return round_up(lay_out(p, NULL), PIPELINE_ALIGNMENT);
}

/* Room for the loops of a graph: no more than it has stages. What is not used shall take no memory. */
static strake_loop *new_loops(const strake_graph *graph)
{
    return malloc(((size_t)graph->stages + 1) * sizeof(strake_loop));
}

static strake_pipeline *new_pipeline(int steps)
{
    return calloc(1, sizeof(strake_pipeline) + (size_t)steps * sizeof(pass));
}

int64_t strake_pipeline_bytes(const strake_graph *graph, const strake_layout *layout, int steps,
                              const strake_settings *settings)
{
    int64_t bytes = 0;
    strake_pipeline *p = new_pipeline(steps);
    strake_loop *loop = new_loops(graph);
    if (p != NULL && loop != NULL) {
        bytes = plan(p, graph, layout, steps, strake_isa_best(), settings->block_columns, loop);
    }
    free(p);
    free(loop);
    return bytes;
}

strake_status strake_pipeline_create(const strake_graph *graph, const strake_layout *layout,
                                     int steps, strake_isa isa, const strake_settings *settings,
                                     strake_pipeline **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t bytes = 0;
    strake_pipeline *p = new_pipeline(steps);
    strake_loop *loop = new_loops(graph);
    STRAKE_CHECK(p != NULL && loop != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory planning the CPU pipeline");
    bytes = plan(p, graph, layout, steps, isa, settings->block_columns, loop);
    p->non_finite = non_finite_rows[graph->precision][isa];
    p->reduce[STRAKE_MINIMUM] = least_rows[graph->precision][isa];
    p->reduce[STRAKE_MAXIMUM] = greatest_rows[graph->precision][isa];
    p->memory = aligned_alloc(PIPELINE_ALIGNMENT, (size_t)bytes);
    STRAKE_CHECK(p->memory != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory: %lld bytes for the rings of one CPU thread", (long long)bytes);
    memset(p->memory, 0, (size_t)bytes);
    (void)lay_out(p, p->memory);
    for (int k = 0; k < p->passes; k++) {
        STRAKE_TRY(pipeline_plan_pass(p, &p->pass[k], loop, error));
    }
    *out = p;
    p = NULL;
cleanup:
    free(loop);
    strake_pipeline_destroy(&p);
    return status;
}

void strake_pipeline_destroy(strake_pipeline **pipeline)
{
    strake_pipeline *p = *pipeline;
    for (int k = 0; p != NULL && k < p->passes; k++) {
        pipeline_free_pass(p, &p->pass[k]);
    }
    if (p != NULL) {
        free(p->memory);
        free(p);
        *pipeline = NULL;
    }
}

int64_t strake_pipeline_block(const strake_pipeline *pipeline, int steps)
{
    return pipeline->block[steps];
}

int64_t strake_pipeline_lines(const strake_pipeline *pipeline, int steps)
{
    return pipeline->lines[steps];
}

strake_loop_work strake_pipeline_work(const strake_pipeline *pipeline)
{
    strake_loop_work work = {.loads = 0};
    strake_loop *loop = new_loops(pipeline->graph);
    if (loop != NULL) {
        const int loops = strake_pipeline_plan_loops(pipeline->graph, pipeline->isa, loop);
        work = strake_loops_work(pipeline->graph, loop, loops);
    }
    free(loop);
    return work;
}
