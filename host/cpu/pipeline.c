#include "cpu/pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem/check_rows.h"

enum { ALIGNMENT = 64, MAX_DEPTH = 16, SLABS_AHEAD = 2 };

/* An operand that lies in an array of the grid; its address is computed for every line. */
typedef struct array_operand {
    int index; /* position among the stage's operands */
    int value;
    bool is_state;       /* ghosts along axis 0 are found by index map */
    int64_t slab_offset; /* offset[0] */
    int64_t shift;       /* elements from cell [0, 0, first column of the block] of that slab */
} array_operand;

/*
 * A value's last slabs: `depth` of them (a power of two), `lines` lines each. Column c - lo of a block
 * starting at column c is the first element of a line, so that stores are aligned.
 */
typedef struct ring {
    char *data;
    int64_t depth, lines;
} ring;

typedef struct task {
    strake_row_function row;
    int reads;
    int arrays;
    array_operand array[STRAKE_MAX_READS];
    const char *base[MAX_DEPTH][STRAKE_MAX_READS]; /* other operands, by slab modulo the phases */
    char *out[MAX_DEPTH];                          /* ring of the output, likewise; NULL: a state */
    int64_t stride[STRAKE_MAX_READS];              /* bytes from one line (axis 1) to the next */
    int64_t out_stride;
    int output;
    int lag;
    int lo[STRAKE_AXES], hi[STRAKE_AXES];
} task;

struct strake_pipeline {
    const strake_graph *graph;
    const strake_layout *layout;
    int64_t size;   /* bytes of an element */
    int64_t vector; /* elements of a cache line: rows are computed in multiples of it */
    int64_t block;  /* columns */
    int64_t width;  /* elements of a ring line */
    int64_t phases; /* deepest ring */
    int tasks;
    task *task;
    ring ring[STRAKE_MAX_VALUES];
    char *constant[STRAKE_MAX_VALUES]; /* a line filled with the number */
    char *memory;
    strake_row_function non_finite;
    bool is_finite; /* no NaN or Inf written in the last run */
};

strake_isa strake_isa_best(void)
{
#if defined(STRAKE_ROWS_X86) && (defined(__x86_64__) || defined(__i386__))
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
        return STRAKE_ISA_AVX512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return STRAKE_ISA_AVX2;
    }
#endif
    return STRAKE_ISA_BASE;
}

const char *strake_isa_name(strake_isa isa)
{
    static const char *const name[STRAKE_ISAS] = {"scalar", "base", "avx2", "avx512"};
    return name[isa];
}

static const strake_row_function non_finite_rows[STRAKE_PRECISIONS][STRAKE_ISAS] =
    STRAKE_NON_FINITE_ROWS;

static int64_t round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

static int64_t power_of_two(int64_t x)
{
    int64_t p = 1;
    while (p < x) {
        p *= 2;
    }
    return p;
}

/* Ring bytes per column of a block: decides how wide a block may be. */
static int64_t bytes_per_column(const strake_graph *graph, const strake_layout *layout)
{
    int64_t bytes = 0;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        if (value->is_live && value->stage >= 0 && !value->is_output) {
            const int64_t lines = layout->n[1] + value->lo[1] + value->hi[1];
            bytes += power_of_two(strake_graph_ring_depth(graph, v)) * lines * layout->element_size;
        }
    }
    return bytes > 0 ? bytes : layout->element_size;
}

static int64_t choose_block(const strake_graph *graph, const strake_layout *layout)
{
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (cache <= 0) {
        cache = 512 * 1024;
    }
    const int64_t line = ALIGNMENT / layout->element_size;
    /* A quarter of the private cache for the rings: the streams of inputs and outputs need it too. */
    int64_t most = cache / 4 / bytes_per_column(graph, layout) / line * line;
    most = most < 8 * line ? 8 * line : most;
    const int64_t n = layout->n[2];
    const int64_t blocks = (n + most - 1) / most;
    return round_up((n + blocks - 1) / blocks, line);
}

/* Address of the first operand of a line of a ring or constant, for output slab q. */
static const char *fixed_address(const strake_pipeline *p, const task *t, const strake_read *read,
                                 int64_t q)
{
    const strake_value *value = &p->graph->value[read->value];
    if (value->is_constant) {
        return p->constant[read->value];
    }
    const ring *r = &p->ring[read->value];
    const int64_t slab = (q + read->offset[0]) & (r->depth - 1);
    const int64_t line = slab * r->lines + read->offset[1] + value->lo[1] - t->lo[1];
    return r->data + (line * p->width + value->lo[2] - t->lo[2] + read->offset[2]) * p->size;
}

static void plan_operand(const strake_pipeline *p, task *t, const strake_read *read, int k)
{
    const strake_value *value = &p->graph->value[read->value];
    const strake_layout *l = p->layout;
    if (value->is_constant || value->stage >= 0) {
        t->stride[k] = value->is_constant ? 0 : p->width * p->size;
        for (int64_t phase = 0; phase < p->phases; phase++) {
            /* Any slab of that phase far enough from zero to stay positive. */
            t->base[phase][k] = fixed_address(p, t, read, phase + 64 * p->phases);
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
}

static void plan_tasks(strake_pipeline *p, strake_isa isa)
{
    const strake_graph *graph = p->graph;
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *stage = &graph->stage[s];
        const strake_value *output = &graph->value[stage->output];
        const ring *r = &p->ring[stage->output];
        task *t = &p->task[p->tasks++];
        t->row = stage->point->row[graph->precision][isa];
        if (t->row == NULL) {
            t->row = stage->point->row[graph->precision][STRAKE_ISA_BASE];
        }
        t->reads = stage->reads;
        t->output = stage->output;
        t->lag = stage->lag;
        for (int axis = 0; axis < STRAKE_AXES; axis++) {
            t->lo[axis] = output->lo[axis];
            t->hi[axis] = output->hi[axis];
        }
        for (int k = 0; k < stage->reads; k++) {
            plan_operand(p, t, &stage->read[k], k);
        }
        t->out_stride = (output->is_output ? p->layout->pitch : p->width) * p->size;
        for (int64_t phase = 0; phase < p->phases && !output->is_output; phase++) {
            t->out[phase] = r->data + (phase & (r->depth - 1)) * r->lines * p->width * p->size;
        }
    }
}

static void fill_constant(const strake_pipeline *p, char *line, double number)
{
    for (int64_t k = 0; k < p->width; k++) {
        if (p->size == 8) {
            ((double *)(void *)line)[k] = number;
        } else {
            ((float *)(void *)line)[k] = (float)number;
        }
    }
}

/* Lays rings and constant lines out in one allocation; called with memory NULL it only measures. */
static int64_t lay_out(strake_pipeline *p, char *memory)
{
    int64_t used = 0;
    p->phases = 1;
    for (int v = 0; v < p->graph->values; v++) {
        const strake_value *value = &p->graph->value[v];
        if (!value->is_live) {
            continue;
        }
        if (value->is_constant) {
            if (memory != NULL) {
                p->constant[v] = memory + used;
                fill_constant(p, p->constant[v], value->constant);
            }
            used += p->width * p->size;
        } else if (value->stage >= 0 && !value->is_output) {
            ring *r = &p->ring[v];
            r->depth = power_of_two(strake_graph_ring_depth(p->graph, v));
            r->lines = p->layout->n[1] + value->lo[1] + value->hi[1];
            r->data = memory == NULL ? NULL : memory + used;
            used += r->depth * r->lines * p->width * p->size;
            p->phases = r->depth > p->phases ? r->depth : p->phases;
        }
    }
    /* Rows are computed in whole vectors: the last line may be read a little beyond its end. */
    return used + 2 * ALIGNMENT;
}

/* Elements of a ring line: a block, its halos, one vector of rounding. */
static int64_t ring_width(const strake_pipeline *p)
{
    int64_t halo = 0;
    for (int v = 0; v < p->graph->values; v++) {
        const int64_t own = p->graph->value[v].lo[2] + p->graph->value[v].hi[2];
        halo = own > halo ? own : halo;
    }
    const int64_t width = round_up(p->block + halo, p->vector) + p->vector;
    /* An odd number of cache lines spreads the lines over the cache sets. */
    return width / p->vector % 2 == 0 ? width + p->vector : width;
}

strake_status strake_pipeline_create(const strake_graph *graph, const strake_layout *layout,
                                     strake_isa isa, int64_t block, strake_pipeline **out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t bytes = 0;
    strake_pipeline *p = calloc(1, sizeof *p);
    STRAKE_CHECK(p != NULL, error, STRAKE_ERR_MEMORY, "out of memory planning the CPU pipeline");
    p->graph = graph;
    p->layout = layout;
    p->size = layout->element_size;
    p->vector = ALIGNMENT / p->size;
    p->block = block > 0 ? round_up(block, p->vector) : choose_block(graph, layout);
    p->width = ring_width(p);
    p->non_finite = non_finite_rows[graph->precision][isa];
    p->task = calloc((size_t)graph->stages, sizeof *p->task);
    STRAKE_CHECK(p->task != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory planning the CPU pipeline");
    bytes = round_up(lay_out(p, NULL), ALIGNMENT);
    STRAKE_CHECK(p->phases <= MAX_DEPTH, error, STRAKE_ERR_STATE,
                 "the stage graph keeps %lld slabs of one value; at most %d are supported",
                 (long long)p->phases, (int)MAX_DEPTH);
    p->memory = aligned_alloc(ALIGNMENT, (size_t)bytes);
    STRAKE_CHECK(p->memory != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory: %lld bytes for the rings of one CPU thread", (long long)bytes);
    memset(p->memory, 0, (size_t)bytes);
    (void)lay_out(p, p->memory);
    plan_tasks(p, isa);
    *out = p;
    p = NULL;
cleanup:
    strake_pipeline_destroy(&p);
    return status;
}

void strake_pipeline_destroy(strake_pipeline **pipeline)
{
    if (*pipeline != NULL) {
        free((*pipeline)->task);
        free((*pipeline)->memory);
        free(*pipeline);
        *pipeline = NULL;
    }
}

int64_t strake_pipeline_block(const strake_pipeline *pipeline)
{
    return pipeline->block;
}

/* A new line is looked at while it is still in cache. */
static void check_line(strake_pipeline *p, const void *line, int64_t n)
{
    int64_t count = 0;
    const void *const in[] = {line};
    p->non_finite(&count, in, n);
    p->is_finite = p->is_finite && count == 0;
}

/* One slab of one stage, in the block of columns [c, c + columns). */
static void run_task(strake_pipeline *p, const task *t, int64_t q, int64_t c, int64_t columns,
                     void *const *array, void *const *next)
{
    const strake_layout *l = p->layout;
    const int64_t phase = q & (p->phases - 1);
    const int64_t n = round_up(columns + t->lo[2] + t->hi[2], p->vector);
    const void *in[STRAKE_MAX_READS];
    char *out = t->out[phase];
    for (int k = 0; k < t->reads; k++) {
        in[k] = t->base[phase][k];
    }
    for (int k = 0; k < t->arrays; k++) {
        const array_operand *o = &t->array[k];
        int64_t slab = q + o->slab_offset;
        if (o->is_state && (slab < 0 || slab >= l->n[0])) {
            slab = strake_ghost_source(l->boundary[0], l->n[0], slab);
        }
        in[o->index] = (const char *)array[o->value] +
                       (l->origin + slab * l->slab + c + o->shift) * p->size;
    }
    const bool is_state = out == NULL;
    if (is_state) {
        out = (char *)next[t->output] + strake_layout_at(l, q, 0, c) * p->size;
    }
    const int64_t lines = l->n[1] + t->lo[1] + t->hi[1];
    for (int64_t m = 0; m < lines; m++) {
        t->row(out, in, n);
        if (is_state) {
            check_line(p, out, columns);
        }
        out += t->out_stride;
        for (int k = 0; k < t->reads && m + 1 < lines; k++) {
            in[k] = (const char *)in[k] + t->stride[k];
        }
    }
}

/* Asks for a block's part of the input slab that will be needed soon: a new line stream each row. */
static void prefetch(const strake_pipeline *p, int64_t slab, int64_t c, int64_t columns,
                     void *const *array)
{
    const strake_layout *l = p->layout;
    if (slab >= l->n[0] + l->hi[0] || l->n[1] > 1) {
        return;
    }
    for (int v = 0; v < p->graph->values; v++) {
        const char *line = array[v];
        if (line == NULL) {
            continue;
        }
        line += strake_layout_at(l, slab, 0, c) * p->size;
        for (int64_t k = 0; k < columns * p->size; k += ALIGNMENT) {
            __builtin_prefetch(line + k, 0, 3);
        }
    }
}

bool strake_pipeline_run(strake_pipeline *p, int64_t first, int64_t end, void *const *array,
                         void *const *next)
{
    p->is_finite = true;
    if (first >= end) {
        return true;
    }
    const strake_layout *l = p->layout;
    int64_t begin = first;
    int64_t stop = end;
    for (int k = 0; k < p->tasks; k++) {
        const task *t = &p->task[k];
        begin = first - t->lo[0] + t->lag < begin ? first - t->lo[0] + t->lag : begin;
        stop = end + t->hi[0] + t->lag > stop ? end + t->hi[0] + t->lag : stop;
    }
    for (int64_t c = 0; c < l->n[2]; c += p->block) {
        const int64_t columns = l->n[2] - c < p->block ? l->n[2] - c : p->block;
        for (int64_t r = begin; r < stop; r++) {
            prefetch(p, r + SLABS_AHEAD, c, columns, array);
            for (int k = 0; k < p->tasks; k++) {
                const task *t = &p->task[k];
                const int64_t q = r - t->lag;
                if (q >= first - t->lo[0] && q < end + t->hi[0]) {
                    run_task(p, t, q, c, columns, array, next);
                }
            }
        }
    }
    for (int v = 0; v < p->graph->values; v++) {
        if (next[v] != NULL) {
            strake_layout_fill_lateral(l, next[v], first, end);
        }
    }
    return p->is_finite;
}
