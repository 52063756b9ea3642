/* Running a row pipeline: which step takes a slab when. */
#include "base/element.h"
#include "cpu/pipeline_impl.h"
#include "cpu/stream.h"

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
        strake_pipeline_plan_asking(p, w, s);
    }
    if (p->layout->boundary[0] == STRAKE_POLAR) {
        strake_pipeline_turn(p, w);
    }
    if (w->folded > 0) {
        strake_pipeline_unfold(p);
    }
    while (w->begin->tick < w->begin->stop) {
        pass *s = w->begin;
        strake_pipeline_tick(p, w, s);
        while (s > w->begin || (s < w->last && is_ready(s + 1))) {
            if (s < w->last && is_ready(s + 1)) {
                strake_pipeline_tick(p, w, ++s);
            } else {
                s--;
            }
        }
    }
}

void strake_pipeline_begin(strake_pipeline *p, const double *scalar)
{
    const strake_graph *graph = p->graph;
    for (int v = 0; v < graph->values; v++) {
        if (p->constant[v] != NULL && graph->value[v].is_scalar) {
            strake_element_fill(p->constant[v], (int)p->size, 0, p->width,
                                strake_graph_number(graph, v, scalar));
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
