/* Running a row pipeline: which step takes a slab when. */
#include <string.h>

#include "base/element.h"
#include "cpu/pipeline_impl.h"
#include "cpu/stream.h"

/* One tick of a row pipeline: every task computes a slab. */

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

int64_t strake_pipeline_beyond(const strake_pipeline *p, int state)
{
    const strake_value *value = &p->graph->value[state];
    return value->next >= 0 ? value->lo[0] + value->hi[0] : 0;
}

/* The line of a slab beyond a pole; of those that nobody needs, the nearest one. */
static char *beyond_pole(const strake_pipeline *p, const pass *s, int state, int64_t slab)
{
    const strake_value *value = &p->graph->value[state];
    const int64_t n = p->layout->n[0];
    int64_t line = slab < 0 ? slab + value->lo[0] : slab - n + value->lo[0];
    line = line > 0 ? line : 0;
    line = line < value->lo[0] + value->hi[0] ? line : value->lo[0] + value->hi[0] - 1;
    return s->beyond[state] + line * p->width * p->size;
}

/* Before a block: those that its first step reads, from the arrays. */
static void pipeline_turn(const strake_pipeline *p, const sweep *w)
{
    const strake_layout *l = p->layout;
    for (int v = 0; v < p->graph->values; v++) {
        const strake_value *value = &p->graph->value[v];
        if (strake_pipeline_beyond(p, v) == 0) {
            continue;
        }
        for (int64_t q = w->begin->first - value->lo[0]; q < w->begin->end + value->hi[0]; q++) {
            q = q >= 0 && q < l->n[0] ? l->n[0] : q;
            if (q < w->begin->end + value->hi[0]) {
                const int64_t source = strake_layout_at(l, strake_pipeline_source(p, q), 0, 0);
                strake_layout_turn(l, beyond_pole(p, w->begin, v, q),
                                   (const char *)w->array[v] + source * p->size, w->c - p->pad,
                                   p->width);
            }
        }
    }
}

/* A new slab of a state between two steps is what the next one finds beyond a pole: of a block that goes all round. */
static void turn_slab(const strake_pipeline *p, const pass *s, int v, int64_t q)
{
    const strake_layout *l = p->layout;
    const int state = p->graph->value[v].state_of;
    const strake_value *input = &p->graph->value[state];
    const ring *r = &s->ring[v];
    const char *line = r->data + strake_pipeline_place(q, r->depth) * p->width * p->size;
    for (int side = 0; side < 2; side++) {
        const int64_t ghost = side == 0 ? -1 - q : 2 * l->n[0] - 1 - q;
        if (ghost >= -input->lo[0] && ghost < l->n[0] + input->hi[0]) {
            strake_layout_turn(l, beyond_pole(p, s + 1, state, ghost), line + p->pad * p->size,
                               -p->pad, p->width);
        }
    }
}

/* Before a block that reads beyond the arrays' ghosts: what was folded is another one's. */
static void pipeline_unfold(const strake_pipeline *p)
{
    for (int v = 0; v < p->graph->values; v++) {
        for (int64_t k = 0; k < p->fold[v].depth; k++) {
            p->fold[v].slab[k] = INT64_MIN;
        }
    }
}

/* Lines of a slab of an array from the first column that the block reads on, to the first one of the fold. */
static void fold_slab(const strake_pipeline *p, const sweep *w, const char *array, int64_t slab,
                      char *to)
{
    const strake_layout *l = p->layout;
    const int64_t first = w->c - p->pad, end = first + w->folded;
    const int64_t from = first > -l->lo[2] ? first : -l->lo[2];
    const int64_t after = l->n[2] + l->hi[2] < end ? l->n[2] + l->hi[2] : end;
    for (int64_t m = -l->lo[1]; m < l->n[1] + l->hi[1]; m++, to += p->width * p->size) {
        const char *const line = array + strake_layout_at(l, slab, m, 0) * p->size;
        if (l->boundary[2] == STRAKE_PERIODIC) {
            strake_layout_wrap(l, to, line, first, w->folded);
        } else { /* further out is what nobody uses */
            memcpy(to + (from - first) * p->size, line + from * p->size,
                   (size_t)((after - from) * p->size));
        }
    }
}

/* The operand in a slab with its columns beyond the array's. @param[in] q  the slab, or the ghost that copies it */
static const char *pipeline_tick_find_folded(const strake_pipeline *p, const sweep *w,
                                             const array_operand *o, int64_t slab, int64_t q)
{
    const fold *f = &p->fold[o->value];
    const strake_layout *l = p->layout;
    const int64_t lines = l->lo[1] + l->n[1] + l->hi[1];
    const int64_t place = strake_pipeline_place(q, f->depth);
    char *const data = f->data + place * lines * p->width * p->size;
    if (f->slab[place] != q) {
        fold_slab(p, w, w->array[o->value], slab, data);
        f->slab[place] = q;
    }
    return data + o->fold_shift * p->size;
}

/* The operands of a slab: those in rings are in the table, those in arrays are put there. */
static const void **find_operands(const strake_pipeline *p, const sweep *w, const pass *s,
                                  const task *t, int64_t q, int64_t place)
{
    const strake_layout *l = p->layout;
    const bool is_periodic = l->boundary[0] == STRAKE_PERIODIC;
    const void **in = t->base + place * t->reads;
    for (int k = 0; k < t->arrays; k++) {
        const array_operand *o = &t->array[k];
        int64_t slab = q + o->slab_offset;
        if (o->is_state || is_periodic) {
            slab = strake_pipeline_source(p, slab);
        } else {
            /* A loop goes as far as the widest of its stages; what the others read there is not used. */
            slab = slab > -l->lo[0] ? slab : -l->lo[0];
            slab = slab < l->n[0] + l->hi[0] ? slab : l->n[0] + l->hi[0] - 1;
        }
        if (w->folded == 0) {
            in[o->index] =
                (const char *)w->array[o->value] +
                (l->origin + slab * l->slab + w->m * l->pitch + w->c + o->shift) * p->size;
        } else if (!o->is_state || s == w->begin) {
            in[o->index] = pipeline_tick_find_folded(p, w, o, slab, q + o->slab_offset);
        }
    }
    for (int k = 0; k < t->arrays && l->boundary[0] == STRAKE_POLAR; k++) {
        const array_operand *o = &t->array[k];
        const int64_t slab = q + o->slab_offset;
        if (o->is_state && (slab < 0 || slab >= l->n[0])) {
            in[o->index] = beyond_pole(p, s, o->value, slab) + o->ring_shift * p->size;
        }
    }
    for (int k = 0; k < t->arrays && s > w->begin; k++) {
        const array_operand *o = &t->array[k];
        int64_t slab = q + o->slab_offset;
        const bool is_beyond = l->boundary[0] == STRAKE_POLAR && (slab < 0 || slab >= l->n[0]);
        if (o->is_state && !is_beyond) {
            const ring *r = &s[-1].ring[o->ring];
            slab = is_periodic ? slab : strake_pipeline_source(p, slab);
            const int64_t line = strake_pipeline_place(slab, r->depth) * r->lines;
            in[o->index] = r->data + (line * p->width + o->ring_shift) * p->size;
        }
    }
    return in;
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
    char *slab = r->data + (strake_pipeline_place(q, r->depth) * r->lines + input->lo[1]) * line;
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
        if (strake_ghost_is_turned(l->boundary[1], l->n[1], m)) {
            strake_layout_turn(l, slab + m * line, slab + from * line + p->pad * p->size, -p->pad,
                               p->width); /* the block goes all round */
        } else if (from != m) {
            copy_elements(p, slab + m * line, slab + from * line, p->width);
        }
    }
    if (l->boundary[0] == STRAKE_POLAR && c == 0 && columns == n) {
        turn_slab(p, s, v, q);
    }
}

/* Plans for a block of a sweep what is asked for while slabs of it are computed. */
static void pipeline_plan_asking(const strake_pipeline *p, const sweep *w, pass *s)
{
    const strake_layout *l = p->layout;
    int64_t calls = 0;
    for (int k = 0; k < p->loops; k++) {
        calls += w->lines + s->task[k].lo[1] + s->task[k].hi[1];
    }
    s->asking = (asking){.reads = w->asks && s == w->begin && p->spans == NULL,
                         .writes = w->asks && s == w->last && p->spans == NULL && p->line == NULL,
                         .first = w->m - l->lo[1],
                         .end = w->m + w->lines + l->hi[1],
                         .left = w->c - (l->lo[2] + p->vector - 1) / p->vector * p->vector};
    asking *a = &s->asking;
    a->pieces = (w->c + w->columns + l->hi[2] - a->left + p->vector - 1) / p->vector;
    a->share = (a->pieces * (a->end - a->first) + calls - 1) / calls;
}

static void begin_asking(const strake_pipeline *p, const sweep *w, pass *s)
{
    asking *a = &s->asking;
    a->slab = s->tick + (p->is_flat ? SLABS_AHEAD : 1);
    const bool is_there = a->slab >= 0 && a->slab < p->layout->n[0];
    const int64_t at = is_there ? strake_layout_at(p->layout, a->slab, 0, 0) * p->size : 0;
    const bool is_asked = is_there && (a->reads || a->writes);
    a->read = a->written = 0;
    for (int k = 0; k < p->streams && is_asked; k++) {
        const int v = p->stream[k];
        if (!p->graph->value[v].is_output && a->reads) {
            a->from[a->read++] = (const char *)w->array[v] + at;
        } else if (p->graph->value[v].is_output && a->writes) {
            a->to[a->written++] = (char *)w->next[v] + at;
        }
    }
    a->line = a->read + a->written > 0 ? a->first : a->end;
    a->piece = 0;
}

/* Asks for @p count lines of cache of one line, in all arrays. */
static void ask_line(const strake_pipeline *p, const sweep *w, const asking *a, int64_t count)
{
    const int64_t column = a->left + a->piece * p->vector;
    const int64_t place = (a->line * p->layout->pitch + column) * p->size;
    const bool is_own = a->line >= w->m && a->line < w->m + w->lines;
    for (int k = 0; k < a->read; k++) {
        for (int64_t n = 0; n < count; n++) {
            __builtin_prefetch(a->from[k] + place + n * PIPELINE_ALIGNMENT, 0, 3);
        }
    }
    for (int k = 0; k < a->written && is_own; k++) {
        for (int64_t n = 0; n < count; n++) {
            const int64_t j = column + n * p->vector;
            if (j >= w->c && j < w->c + w->columns) {
                __builtin_prefetch(a->to[k] + place + n * PIPELINE_ALIGNMENT, 1, 3);
            }
        }
    }
    /* Without a side effect gcc takes the whole function for pure and drops its calls. */
    __asm__ volatile("");
}

/* The share of a call. */
static void ask_ahead(const strake_pipeline *p, const sweep *w, asking *a)
{
    for (int64_t left = a->share; left > 0 && a->line < a->end;) {
        const int64_t rest = a->pieces - a->piece;
        const int64_t count = rest < left ? rest : left;
        ask_line(p, w, a, count);
        left -= count;
        a->piece += count;
        if (a->piece == a->pieces) {
            a->piece = 0;
            a->line++;
        }
    }
}

/* Elements that a task computes of a line for so many columns: whole vectors. */
static int64_t elements_of(const strake_pipeline *p, const task *t, int64_t columns)
{
    return (columns + t->lo[2] + t->hi[2] + p->vector - 1) / p->vector * p->vector;
}

/*
 * New states that go past the caches, with the ghosts that copy them: once a line has gone it would have to be
 * fetched, as the places of the ghosts are, which are asked for before.
 */
static __attribute__((noinline)) void stream_line(strake_pipeline *p, const sweep *w, const task *t,
                                                  const void *const *in, void *const *out,
                                                  int64_t n, int64_t at, bool is_checked)
{
    const int64_t first = (at - w->c) * p->size; /* column 0 */
    const int64_t bytes = (at + w->columns) * p->size;
    const int64_t whole = bytes / PIPELINE_ALIGNMENT * PIPELINE_ALIGNMENT;
    void *waiting[STRAKE_LOOP_STAGES];
    for (int k = 0; k < t->outputs; k++) {
        waiting[k] = p->line + k * p->width * p->size;
        __builtin_prefetch((char *)out[k] + (at - 1) * p->size, 1, 3);
        __builtin_prefetch((char *)out[k] + (at + w->columns) * p->size, 1, 3);
    }
    t->row(waiting, in, n);
    for (int k = 0; k < t->outputs; k++) {
        if (is_checked) {
            check_line(p, (const char *)waiting[k] + at * p->size, w->columns);
        }
        /* No further: ghosts that another block has filled may follow. */
        strake_stream_copy(p->isa, out[k], waiting[k], whole);
        memcpy((char *)out[k] + whole, (const char *)waiting[k] + whole, (size_t)(bytes - whole));
        strake_layout_fill_part(p->layout, (char *)out[k] + first, (const char *)waiting[k] + first,
                                w->c, w->c + w->columns);
    }
}

/* A line of @p n elements, whose own columns begin with element @p at. */
static void run_line(strake_pipeline *p, const task *t, const void *const *in, void *const *out,
                     int64_t n, int64_t at, int64_t columns, bool is_checked)
{
    t->row(out, in, n);
    for (int k = 0; k < t->outputs && is_checked; k++) {
        check_line(p, (const char *)out[k] + at * p->size, columns);
    }
}

/* The same of a whole block; new states go past the caches if these do not hold the arrays. */
static void run_block_line(strake_pipeline *p, const sweep *w, const task *t, const void *const *in,
                           void *const *out, int64_t n, bool is_own)
{
    if (t->is_in_array && p->line != NULL) {
        stream_line(p, w, t, in, out, n, t->lo[2], is_own && t->is_state);
    } else {
        run_line(p, t, in, out, n, t->lo[2], w->columns, is_own && t->is_state);
    }
}

/* Columns of a line of what is reduced, from column @p at of the block on, while it is in cache. */
static void reduce_line(strake_pipeline *p, const task *t, void *const *out, int64_t at,
                        int64_t columns)
{
    for (int k = 0; k < t->reductions; k++) {
        const int n = t->reduced[k].reduction;
        void *const into[] = {&p->found[n]};
        const void *const line[] = {(const char *)out[t->reduced[k].output] +
                                    (at + t->lo[2]) * p->size};
        p->reduce[p->graph->reduction[n].kind](into, line, columns);
    }
}

/* The lines of a slab with several. */
static void run_lines(strake_pipeline *p, const sweep *w, pass *s, const task *t,
                      const void *const *first_in, void *const *first_out, bool is_own)
{
    const int64_t lines = w->lines + t->lo[1] + t->hi[1];
    const int64_t n = elements_of(p, t, w->columns);
    const int64_t *stride = s == w->begin ? t->stride : t->ring_stride;
    const void *in[STRAKE_LOOP_INPUTS];
    void *out[STRAKE_LOOP_STAGES];
    memcpy(in, first_in, (size_t)t->reads * sizeof *in);
    memcpy(out, first_out, (size_t)t->outputs * sizeof *out);
    for (int64_t m = 0; m < lines; m++) {
        ask_ahead(p, w, &s->asking);
        run_block_line(p, w, t, in, out, n, is_own);
        if (is_own && m >= t->lo[1] && m < t->lo[1] + w->lines) {
            reduce_line(p, t, out, 0, w->columns);
        }
        for (int k = 0; k < t->outputs; k++) {
            out[k] = (char *)out[k] + t->out_stride;
        }
        for (int k = 0; k < t->reads; k++) {
            in[k] = (const char *)in[k] +
                    (w->folded > 0 ? t->moves[k] & (p->width * p->size) : stride[k]);
        }
    }
}

/* The part of a span in the block, from the block's first column on. */
static strake_range cut_span(const sweep *w, strake_range span)
{
    const int64_t first = span.first > w->c ? span.first - w->c : 0;
    const int64_t end = span.end - w->c < w->columns ? span.end - w->c : w->columns;
    return (strake_range){first, end > first ? end : first};
}

/*
 * The columns of a flat slab that change, or, of what is only needed for others, that these need. Nothing but
 * these is written to the arrays; lines of rings begin where others read them first.
 */
static void run_spans(strake_pipeline *p, const sweep *w, const task *t, int64_t q,
                      const void *const *first_in, void *const *first_out, bool is_own)
{
    const void *in[STRAKE_LOOP_INPUTS];
    void *out[STRAKE_LOOP_STAGES];
    const int64_t ahead = t->lo[2] - t->before;
    int spans = 0;
    const strake_range *span = strake_spans_of(p->spans, !t->is_state, q, &spans);
    for (int s = 0; s < spans; s++) {
        const strake_range columns = cut_span(w, span[s]);
        const int64_t count = columns.end - columns.first;
        const int64_t n = t->is_in_array ? count : elements_of(p, t, count - ahead);
        if (columns.first >= columns.end) {
            continue;
        }
        const int64_t shift = (columns.first + ahead) * p->size;
        for (int k = 0; k < t->reads; k++) {
            in[k] = (const char *)first_in[k] + (shift & t->moves[k]);
        }
        for (int k = 0; k < t->outputs; k++) {
            out[k] = (char *)first_out[k] + shift;
        }
        run_line(p, t, in, out, n, t->before, count, is_own && t->is_state);
    }
    if (t->reductions == 0 || !is_own) {
        return;
    }
    span = strake_spans_of(p->spans, false, q, &spans);
    for (int s = 0; s < spans; s++) {
        const strake_range columns = cut_span(w, span[s]);
        reduce_line(p, t, first_out, columns.first, columns.end - columns.first);
    }
}

/* One slab of one task of one step. */
static void run_task(strake_pipeline *p, const sweep *w, pass *s, const task *t, int64_t q)
{
    const bool is_own = q >= w->first && q < w->end;
    const int64_t place = strake_pipeline_place(q, p->phases);
    const void *const *in = find_operands(p, w, s, t, q, place);
    void **out = t->out + place * t->outputs;
    if (t->is_in_array) {
        const int64_t at = strake_layout_at(p->layout, q, w->m, w->c) * p->size;
        for (int k = 0; k < t->outputs; k++) {
            out[k] = (char *)w->next[t->state[k]] + at;
        }
    }
    if (p->spans != NULL) {
        run_spans(p, w, t, q, in, out, is_own);
    } else if (p->is_flat) {
        run_block_line(p, w, t, in, out, elements_of(p, t, w->columns), is_own);
        if (is_own) {
            reduce_line(p, t, out, 0, w->columns);
        }
    } else {
        run_lines(p, w, s, t, in, out, is_own);
    }
    for (int k = 0; k < t->outputs && t->is_state && !t->is_in_array; k++) {
        extend_slab(p, s, t->state[k], q, w->c, w->columns);
    }
}

static bool has_columns(const strake_pipeline *p, const task *t, int64_t q)
{
    int spans = 1;
    if (p->spans != NULL) {
        (void)strake_spans_of(p->spans, !t->is_state, q, &spans);
    }
    return spans > 0;
}

/* One step takes one input slab. */
static void pipeline_tick(strake_pipeline *p, const sweep *w, pass *s)
{
    begin_asking(p, w, s);
    for (int k = 0; k < p->loops; k++) {
        const task *t = &s->task[k];
        const int64_t q = s->tick - t->lag;
        if (p->is_flat) {
            ask_ahead(p, w, &s->asking);
        }
        if (q >= s->first - t->lo[0] && q < s->end + t->hi[0] && has_columns(p, t, q)) {
            run_task(p, w, s, t, q);
        }
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
    for (int k = 0; k < p->loops; k++) {
        const task *t = &s->task[k];
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
            const int64_t source = strake_pipeline_source(p, q);
            s[-1].end = source >= s[-1].end ? source + 1 : s[-1].end;
            s->head = source > s->head ? source : s->head;
        }
        for (int64_t q = n; q < end && !is_periodic; q++) {
            const int64_t source = strake_pipeline_source(p, q);
            s[-1].first = source < s[-1].first ? source : s[-1].first;
        }
    }
}

/* All slabs of one block; each step takes a slab before the one before computes another. */
static void run_block(strake_pipeline *p, const sweep *w)
{
    for (pass *s = w->begin; s <= w->last; s++) {
        plan_ticks(p, s);
        pipeline_plan_asking(p, w, s);
    }
    if (p->layout->boundary[0] == STRAKE_POLAR) {
        pipeline_turn(p, w);
    }
    if (w->folded > 0) {
        pipeline_unfold(p);
    }
    while (w->begin->tick < w->begin->stop) {
        pass *s = w->begin;
        pipeline_tick(p, w, s);
        while (s > w->begin || (s < w->last && is_ready(s + 1))) {
            if (s < w->last && is_ready(s + 1)) {
                pipeline_tick(p, w, ++s);
            } else {
                s--;
            }
        }
    }
}

void strake_pipeline_begin(strake_pipeline *p, int later, const double *scalar)
{
    const strake_graph *graph = p->graph;
    for (int v = 0; v < graph->values; v++) {
        if (p->constant[v] != NULL && graph->value[v].is_scalar) {
            strake_element_fill(strake_pipeline_constant(p, v, p->passes - 1 - later), (int)p->size,
                                0, p->width, strake_graph_number(graph, v, scalar));
        }
    }
    for (int n = 0; n < graph->reductions; n++) {
        strake_element_fill(&p->found[n], (int)p->size, 0, 1,
                            strake_reduced_start(graph->reduction[n].kind));
    }
}

void strake_pipeline_end(const strake_pipeline *p, double *reduced)
{
    const strake_graph *graph = p->graph;
    for (int n = 0; n < graph->reductions; n++) {
        strake_reduced_add(graph->reduction[n].kind, &reduced[n],
                           strake_element_get(&p->found[n], (int)p->size, 0));
    }
}

void strake_pipeline_limit(strake_pipeline *p, const strake_spans *spans)
{
    p->spans = spans;
}

/* Cuts a sweep down to the slabs and columns that have something to compute. */
static void cut_sweep(const strake_pipeline *p, sweep *w, int64_t *left, int64_t *right)
{
    const int64_t first = w->first, end = w->end;
    int64_t low = *right, high = *left;
    w->end = first;
    for (int64_t q = first; q < end; q++) {
        int spans = 0;
        const strake_range *const span = strake_spans_of(p->spans, false, q, &spans);
        if (spans > 0) {
            w->first = w->end == first ? q : w->first;
            w->end = q + 1;
            low = span[0].first < low ? span[0].first : low;
            high = span[spans - 1].end > high ? span[spans - 1].end : high;
        }
    }
    low = low / p->vector * p->vector;
    *left = low > *left ? low : *left;
    *right = high < *right ? high : *right;
}

/* New states' ghosts that copy columns, where these were computed. */
static void fill_spans(const strake_pipeline *p, const sweep *w, void *array)
{
    const strake_layout *const l = p->layout;
    for (int64_t q = w->first; q < w->end; q++) {
        int spans = 0;
        const strake_range *const span = strake_spans_of(p->spans, false, q, &spans);
        if (spans > 0 && (span[0].first < l->lo[2] || span[spans - 1].end > l->n[2] - l->hi[2])) {
            strake_layout_fill_lateral(l, array, q, q + 1);
        }
    }
}

/* Columns that a block reads, if some of them lie beyond the ghosts of the arrays, which are too few for such sweeps. */
static int64_t find_folded(const strake_pipeline *p, const sweep *w)
{
    const strake_layout *l = p->layout;
    const int64_t whole = (w->columns + p->after + p->vector - 1) / p->vector * p->vector;
    const int64_t columns = p->pad + whole + p->vector;
    const int64_t first = w->c - p->pad;
    const bool is_inside = first >= -l->lo[2] && first + columns <= l->n[2] + l->hi[2];
    return w->last - w->begin < l->steps || is_inside ? 0 : columns;
}

/* All blocks of slabs [first, end), of equal width, in whole cache lines. */
static void run_blocks(strake_pipeline *p, sweep w, int64_t left, int64_t right, int64_t most,
                       int64_t lines)
{
    const int64_t blocks = (right - left + most - 1) / most;
    const int64_t even = (right - left + blocks - 1) / blocks;
    const int64_t block = (even + p->vector - 1) / p->vector * p->vector;
    plan_ranges(p, &w);
    for (w.m = 0; w.m < p->layout->n[1]; w.m += w.lines) {
        w.lines = p->layout->n[1] - w.m < lines ? p->layout->n[1] - w.m : lines;
        for (w.c = left; w.c < right; w.c += block) {
            w.columns = right - w.c < block ? right - w.c : block;
            w.folded = find_folded(p, &w);
            run_block(p, &w);
        }
    }
}

/*
 * Slabs from one on that can be computed together: beside a pole, further steps read half a turn away what earlier
 * ones of the same sweep have computed, so that blocks go all round. @return the end; 0 columns: blocks as usual
 */
static int64_t find_zone(const strake_pipeline *p, int steps, int64_t first, int64_t end,
                         int64_t *columns)
{
    const int64_t north = (int64_t)(steps - 1) * p->lo;
    const int64_t south = p->layout->n[0] - (int64_t)(steps - 1) * p->hi;
    *columns = 0;
    if (p->layout->boundary[0] != STRAKE_POLAR || steps == 1) {
        return end;
    }
    if (first >= north && first < south) {
        return end < south ? end : south;
    }
    *columns = p->layout->n[2];
    return first < north && end > north ? north : end;
}

bool strake_pipeline_run(strake_pipeline *p, int steps, int64_t first, int64_t end, int64_t left,
                         int64_t right, void *const *array, void *const *next)
{
    const strake_layout *l = p->layout;
    sweep w = {.begin = &p->pass[p->passes - steps],
               .last = &p->pass[p->passes - 1],
               .first = first,
               .end = end,
               .asks = (end - first) * l->slab * p->size * p->streams > p->cache,
               .array = array,
               .next = next};
    p->is_finite = true;
    if (p->spans != NULL) {
        cut_sweep(p, &w, &left, &right);
    }
    if (w.first >= w.end || left >= right) {
        return true;
    }
    const strake_range slabs = {w.first, w.end};
    for (w.end = w.first; w.end < slabs.end;) {
        int64_t columns = 0;
        w.first = w.end;
        w.end = find_zone(p, steps, w.first, slabs.end, &columns);
        run_blocks(p, w, left, right, columns > 0 ? columns : p->block[steps], p->lines[steps]);
    }
    w.first = slabs.first;
    if (p->line != NULL) {
        strake_stream_fence();
    }
    for (int v = 0; v < p->graph->values; v++) {
        if (next[v] != NULL && p->spans != NULL) {
            fill_spans(p, &w, next[v]);
        } else if (next[v] != NULL && p->line != NULL) {
            strake_layout_fill_lines(l, next[v], first, end);
        } else if (next[v] != NULL && left == 0 && right == l->n[2]) {
            strake_layout_fill_lateral(l, next[v], first, end);
        } else if (next[v] != NULL) {
            strake_layout_fill_columns(l, next[v], first, end, left, right);
        }
    }
    return p->is_finite;
}
