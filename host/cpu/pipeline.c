/* Running a row pipeline: slabs stream through all stages. */
#include <string.h>

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

/* The slab that is read for slab q: ghosts copy another one, or would if they were computed. */
static int64_t source_slab(const strake_pipeline *p, int64_t q)
{
    const strake_layout *l = p->layout;
    return q >= 0 && q < l->n[0] ? q : strake_ghost_source(l->boundary[0], l->n[0], q);
}

static void find_operands(const strake_pipeline *p, const pass *before, const task *t, int64_t q,
                          int64_t c, void *const *array, const void **in)
{
    const strake_layout *l = p->layout;
    const bool is_periodic = l->boundary[0] == STRAKE_PERIODIC;
    const char *const *base = t->base + (q & (p->phases - 1)) * t->reads;
    for (int k = 0; k < t->reads; k++) {
        in[k] = base[k];
    }
    for (int k = 0; k < t->arrays; k++) {
        const array_operand *o = &t->array[k];
        int64_t slab = q + o->slab_offset;
        if (o->is_state && before != NULL) {
            const ring *r = &before->ring[o->ring];
            slab = is_periodic ? slab : source_slab(p, slab);
            in[o->index] =
                r->data + ((slab & (r->depth - 1)) * r->lines * p->width + o->ring_shift) * p->size;
            continue;
        }
        if (o->is_state || is_periodic) {
            slab = source_slab(p, slab);
        }
        in[o->index] =
            (const char *)array[o->value] + (l->origin + slab * l->slab + c + o->shift) * p->size;
    }
}

static void copy_elements(const strake_pipeline *p, char *to, const char *from, int64_t elements)
{
    memcpy(to, from, (size_t)(elements * p->size));
}

/*
 * A new slab of a state between two steps: its ghosts beyond the domain's edges take what they would in
 * an array of the grid. Along a periodic axis 2 they were computed instead, in every block.
 */
static void extend_slab(const strake_pipeline *p, const pass *s, int v, int64_t q, int64_t c,
                        int64_t columns)
{
    const strake_layout *l = p->layout;
    const strake_value *input = &p->graph->value[p->graph->value[v].state_of];
    const ring *r = &s->ring[v];
    const int64_t n = l->n[2];
    const int64_t line = p->width * p->size;
    char *slab = r->data + ((q & (r->depth - 1)) * r->lines + input->lo[1]) * line;
    const int64_t left = c - s->reach > -input->lo[2] ? c - s->reach : -input->lo[2];
    const int64_t right = n + input->hi[2];
    const int64_t end = c + columns + s->reach < right ? c + columns + s->reach : right;
    for (int64_t m = 0; m < l->n[1] && l->boundary[2] != STRAKE_PERIODIC; m++) {
        char *cell = slab + m * line + (p->pad - c) * p->size;
        for (int64_t j = left; j < 0; j++) {
            const int64_t from = strake_ghost_source(l->boundary[2], n, j);
            copy_elements(p, cell + j * p->size, cell + from * p->size, 1);
        }
        for (int64_t j = n; j < end; j++) {
            const int64_t from = strake_ghost_source(l->boundary[2], n, j);
            copy_elements(p, cell + j * p->size, cell + from * p->size, 1);
        }
    }
    for (int64_t m = -input->lo[1]; m < l->n[1] + input->hi[1]; m++) {
        const int64_t from = strake_ghost_source(l->boundary[1], l->n[1], m);
        if (from != m) {
            copy_elements(p, slab + m * line, slab + from * line, p->width);
        }
    }
}

/* Where a run of a sweep is: its passes, its arrays, its columns. */
typedef struct sweep {
    pass *begin, *last;
    int64_t first, end; /* the stripe */
    int64_t c, columns; /* the block */
    void *const *array;
    void *const *next;
} sweep;

/* One slab of one task of one step. */
static void run_task(strake_pipeline *p, const sweep *w, const pass *s, const task *t, int64_t q)
{
    const strake_layout *l = p->layout;
    const pass *before = s == w->begin ? NULL : s - 1;
    const int64_t exact = w->columns + t->lo[2] + t->hi[2];
    const int64_t n = (exact + p->vector - 1) / p->vector * p->vector;
    const int64_t lines = l->n[1] + t->lo[1] + t->hi[1];
    const int64_t *stride = before == NULL ? t->stride : t->ring_stride;
    const bool is_checked = t->state >= 0 && q >= w->first && q < w->end;
    const void *in[STRAKE_LOOP_INPUTS];
    void *out[STRAKE_LOOP_STAGES];
    find_operands(p, before, t, q, w->c, w->array, in);
    for (int k = 0; k < t->outputs; k++) {
        out[k] = t->out[(q & (p->phases - 1)) * t->outputs + k];
    }
    if (t->is_in_array) {
        out[0] = (char *)w->next[t->state] + strake_layout_at(l, q, 0, w->c) * p->size;
    }
    for (int64_t m = 0; m < lines; m++) {
        t->row(out, in, n);
        if (is_checked) {
            check_line(p, (const char *)out[0] + t->lo[2] * p->size, w->columns);
        }
        for (int k = 0; k < t->outputs && m + 1 < lines; k++) {
            out[k] = (char *)out[k] + t->out_stride;
        }
        for (int k = 0; k < t->reads && m + 1 < lines; k++) {
            in[k] = (const char *)in[k] + stride[k];
        }
    }
    if (t->state >= 0 && !t->is_in_array) {
        extend_slab(p, s, t->state, q, w->c, w->columns);
    }
}

/*
 * Asks for a part of the slabs that are read and written soon: each row of a block is a new stream to
 * the hardware. Part `part` of `parts`, spread over the tasks of a slab, since a burst would stall.
 * The first step reads the arrays, the last one writes them.
 */
static void prefetch(const strake_pipeline *p, const sweep *w, const pass *s, int part)
{
    const strake_layout *l = p->layout;
    const int64_t slab = s->tick + SLABS_AHEAD;
    const int64_t lines = (w->columns * p->size + PIPELINE_ALIGNMENT - 1) / PIPELINE_ALIGNMENT;
    const int64_t first = lines * part / p->groups * PIPELINE_ALIGNMENT;
    const int64_t end = lines * (part + 1) / p->groups * PIPELINE_ALIGNMENT;
    if (slab >= l->n[0] || slab < 0 || l->n[1] > 1) {
        return;
    }
    for (int k = 0; k < p->streams; k++) {
        const int v = p->stream[k];
        const bool is_output = p->graph->value[v].is_output;
        if (s != (is_output ? w->last : w->begin)) {
            continue;
        }
        const char *line = is_output ? w->next[v] : w->array[v];
        line += strake_layout_at(l, slab, 0, w->c) * p->size;
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

/* The slab that group g computes at the present tick of a step, as far as it is needed. */
static void run_group(strake_pipeline *p, const sweep *w, const pass *s, const group *g)
{
    const int64_t q = s->tick - g->lag;
    if (g->is_fused && q >= s->first - g->lo && q < s->end + g->hi) {
        run_task(p, w, s, &g->fused, q);
        return;
    }
    for (int k = 0; k < g->stages; k++) {
        const task *t = &s->single[g->stage[k]];
        if (q >= s->first - t->lo[0] && q < s->end + t->hi[0]) {
            run_task(p, w, s, t, q);
        }
    }
}

/* One step takes one input slab. */
static void run_tick(strake_pipeline *p, const sweep *w, pass *s)
{
    for (int g = 0; g < p->groups; g++) {
        prefetch(p, w, s, g);
        run_group(p, w, s, &s->group[g]);
    }
    s->tick++;
    s->done = s->tick - p->slowest < s->end ? s->tick - p->slowest : s->end;
}

/* Whether a step has a tick left, and the step before has computed what it reads. */
static bool is_ready(const pass *s)
{
    if (s->tick == s->stop) {
        return false;
    }
    int64_t need = s->tick < s->newest ? s->tick : s->newest;
    need = need > s->head ? need : s->head;
    return need < s[-1].done;
}

/* Ticks of a step for its range of slabs. */
static void plan_ticks(const strake_pipeline *p, pass *s)
{
    s->tick = s->first;
    s->stop = s->end;
    for (int k = 0; k < p->graph->stages; k++) {
        const task *t = &s->single[k];
        const int64_t begin = s->first - t->lo[0] + t->lag;
        const int64_t stop = s->end + t->hi[0] + t->lag;
        s->tick = begin < s->tick ? begin : s->tick;
        s->stop = stop > s->stop ? stop : s->stop;
    }
    s->done = s->first;
}

/*
 * Slabs of each step, backwards from the stripe: what the next step reads, ghosts beyond an edge that
 * is not periodic replaced by what they copy.
 */
static void plan_ranges(const strake_pipeline *p, const sweep *w)
{
    const int64_t n = p->layout->n[0];
    const bool is_periodic = p->layout->boundary[0] == STRAKE_PERIODIC;
    w->last->first = w->first;
    w->last->end = w->end;
    for (pass *s = w->last; s > w->begin; s--) {
        const int64_t first = s->first - p->lo;
        const int64_t end = s->end + p->hi;
        s[-1].first = is_periodic || first > 0 ? first : 0;
        s[-1].end = is_periodic || end < n ? end : n;
        s->head = INT64_MIN;
        s->newest = s[-1].end - 1;
        for (int64_t q = first; q < 0 && !is_periodic; q++) {
            const int64_t source = source_slab(p, q);
            s[-1].end = source >= s[-1].end ? source + 1 : s[-1].end;
            s->head = source > s->head ? source : s->head;
        }
        for (int64_t q = n; q < end && !is_periodic; q++) {
            const int64_t source = source_slab(p, q);
            s[-1].first = source < s[-1].first ? source : s[-1].first;
        }
    }
}

/* All slabs of one block; each step takes a slab before the one before computes another. */
static void run_block(strake_pipeline *p, const sweep *w)
{
    for (pass *s = w->begin; s <= w->last; s++) {
        plan_ticks(p, s);
    }
    while (w->begin->tick < w->begin->stop) {
        pass *s = w->begin;
        run_tick(p, w, s);
        while (s > w->begin || (s < w->last && is_ready(s + 1))) {
            if (s < w->last && is_ready(s + 1)) {
                run_tick(p, w, ++s);
            } else {
                s--;
            }
        }
    }
}

bool strake_pipeline_run(strake_pipeline *p, int steps, int64_t first, int64_t end,
                         void *const *array, void *const *next)
{
    p->is_finite = true;
    if (first >= end) {
        return true;
    }
    const strake_layout *l = p->layout;
    sweep w = {.begin = &p->pass[p->passes - steps],
               .last = &p->pass[p->passes - 1],
               .first = first,
               .end = end,
               .array = array,
               .next = next};
    plan_ranges(p, &w);
    for (; w.c < l->n[2]; w.c += p->block[steps]) {
        w.columns = l->n[2] - w.c < p->block[steps] ? l->n[2] - w.c : p->block[steps];
        run_block(p, &w);
    }
    for (int v = 0; v < p->graph->values; v++) {
        if (next[v] != NULL) {
            strake_layout_fill_lateral(l, next[v], first, end);
        }
    }
    return p->is_finite;
}
