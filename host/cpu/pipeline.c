/* Running a row pipeline: slabs stream through all stages. */
#include "cpu/pipeline_impl.h"

enum { SLABS_AHEAD = 2 }; /* prefetched input slabs */

/* A new line is looked at while it is still in cache. */
static void check_line(strake_pipeline *p, const void *line, int64_t n)
{
    int64_t count = 0;
    void *const result[] = {&count};
    const void *const in[] = {line};
    p->non_finite(result, in, n);
    p->is_finite = p->is_finite && count == 0;
}

static void find_operands(const strake_pipeline *p, const task *t, int64_t q, int64_t c,
                          void *const *array, const void **in)
{
    const strake_layout *l = p->layout;
    const int64_t phase = q & (p->phases - 1);
    for (int k = 0; k < t->reads; k++) {
        in[k] = t->base[phase][k];
    }
    for (int k = 0; k < t->arrays; k++) {
        const array_operand *o = &t->array[k];
        int64_t slab = q + o->slab_offset;
        if (o->is_state && (slab < 0 || slab >= l->n[0])) {
            slab = strake_ghost_source(l->boundary[0], l->n[0], slab);
        }
        in[o->index] =
            (const char *)array[o->value] + (l->origin + slab * l->slab + c + o->shift) * p->size;
    }
}

/* One slab of one task, in the block of columns [c, c + columns). */
static void run_task(strake_pipeline *p, const task *t, int64_t q, int64_t c, int64_t columns,
                     void *const *array, void *const *next)
{
    const strake_layout *l = p->layout;
    const int64_t exact = columns + t->lo[2] + t->hi[2];
    const int64_t n = (exact + p->vector - 1) / p->vector * p->vector;
    const int64_t lines = l->n[1] + t->lo[1] + t->hi[1];
    const void *in[STRAKE_LOOP_INPUTS];
    void *out[STRAKE_LOOP_STAGES];
    find_operands(p, t, q, c, array, in);
    for (int k = 0; k < t->outputs; k++) {
        out[k] = t->out[q & (p->phases - 1)][k];
    }
    if (t->state >= 0) {
        out[0] = (char *)next[t->state] + strake_layout_at(l, q, 0, c) * p->size;
    }
    for (int64_t m = 0; m < lines; m++) {
        t->row(out, in, n);
        if (t->state >= 0) {
            check_line(p, out[0], columns);
        }
        for (int k = 0; k < t->outputs && m + 1 < lines; k++) {
            out[k] = (char *)out[k] + t->out_stride;
        }
        for (int k = 0; k < t->reads && m + 1 < lines; k++) {
            in[k] = (const char *)in[k] + t->stride[k];
        }
    }
}

/*
 * Asks for a part of the slabs that are read and written soon: each row of a block is a new stream to
 * the hardware. Part `part` of `parts`, spread over the tasks of a slab, since a burst would stall.
 */
static void prefetch(const strake_pipeline *p, int64_t r, int64_t c, int64_t columns, int part,
                     int parts, void *const *array, void *const *next)
{
    const strake_layout *l = p->layout;
    const int64_t slab = r + SLABS_AHEAD;
    const int64_t lines = (columns * p->size + PIPELINE_ALIGNMENT - 1) / PIPELINE_ALIGNMENT;
    const int64_t first = lines * part / parts * PIPELINE_ALIGNMENT;
    const int64_t end = lines * (part + 1) / parts * PIPELINE_ALIGNMENT;
    if (slab >= l->n[0] || slab < 0 || l->n[1] > 1) {
        return;
    }
    for (int k = 0; k < p->streams; k++) {
        const int v = p->stream[k];
        const bool is_output = p->graph->value[v].is_output;
        const char *line = is_output ? next[v] : array[v];
        line += strake_layout_at(l, slab, 0, c) * p->size;
        for (int64_t at = first; at < end; at += PIPELINE_ALIGNMENT) {
            if (is_output) {
                __builtin_prefetch(line + at, 1, 3);
            } else {
                __builtin_prefetch(line + at, 0, 3);
            }
        }
    }
    /* Without a side effect gcc takes the whole function for pure and drops its calls. */
    __asm__ volatile("");
}

/* The slab that group g computes when input slab r arrives, as far as stripe [first, end) needs it. */
static void run_group(strake_pipeline *p, const group *g, int64_t first, int64_t end, int64_t r,
                      int64_t c, int64_t columns, void *const *array, void *const *next)
{
    const int64_t q = r - g->lag;
    if (g->is_fused && q >= first - g->lo && q < end + g->hi) {
        run_task(p, &g->fused, q, c, columns, array, next);
        return;
    }
    for (int k = 0; k < g->stages; k++) {
        const task *t = &p->single[g->stage[k]];
        if (q >= first - t->lo[0] && q < end + t->hi[0]) {
            run_task(p, t, q, c, columns, array, next);
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
    for (int s = 0; s < p->graph->stages; s++) {
        const task *t = &p->single[s];
        begin = first - t->lo[0] + t->lag < begin ? first - t->lo[0] + t->lag : begin;
        stop = end + t->hi[0] + t->lag > stop ? end + t->hi[0] + t->lag : stop;
    }
    for (int64_t c = 0; c < l->n[2]; c += p->block) {
        const int64_t columns = l->n[2] - c < p->block ? l->n[2] - c : p->block;
        for (int64_t r = begin; r < stop; r++) {
            for (int g = 0; g < p->groups; g++) {
                prefetch(p, r, c, columns, g, p->groups, array, next);
                run_group(p, &p->group[g], first, end, r, c, columns, array, next);
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
