/* Planning the tasks of a row pipeline: which loops, and where their operands lie. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cpu/pipeline_impl.h"

static int64_t round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
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
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, body, (size_t)length);
    for (int k = 0; k < strake_loop_code_count; k++) {
        if (strake_loop_codes[k].body == hash) {
            return strake_loop_codes[k].row[graph->precision][isa];
        }
    }
    return NULL;
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

int strake_pipeline_plan_loops(const strake_graph *graph, strake_isa isa, strake_loop *loop)
{
    int loops = plan_shared(graph, isa, loop);
    if (loops >= 0) {
        return loops;
    }
    loops = strake_loops_plan(graph, 1, graph->stages, loop);
    for (int g = 0; g < loops; g++) {
        strake_loop part[STRAKE_LOOP_STAGES];
        if (find_code(graph, &loop[g], isa) != NULL) {
            continue;
        }
        /* What comes before and after a compiled part; each set has loops of its own for static stages. */
        const int parts = isa == STRAKE_ISA_SCALAR ? 0 : strake_loop_split(graph, &loop[g], part);
        if (parts == 0 || loops + parts - 1 > graph->stages) {
            return strake_loops_plan_plain(graph, loop);
        }
        memmove(&loop[g + parts], &loop[g + 1], (size_t)(loops - g - 1) * sizeof *loop);
        memcpy(&loop[g], part, (size_t)parts * sizeof *loop);
        loops += parts - 1;
        g += parts - 1;
    }
    return loops >= 0 ? loops : strake_loops_plan_plain(graph, loop);
}

/* Address of the first operand of a line of a ring or constant, for output slab q. */
static const char *fixed_address(const strake_pipeline *p, const pass *s, const task *t,
                                 const strake_read *read, int64_t q)
{
    const strake_value *value = &p->graph->value[read->value];
    if (value->is_constant) {
        return p->constant[read->value];
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
    return (int)round_up(lo, p->vector);
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

strake_status strake_pipeline_plan_pass(strake_pipeline *p, pass *s, const strake_loop *loop,
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

void strake_pipeline_free_pass(const strake_pipeline *p, pass *s)
{
    for (int k = 0; s->task != NULL && k < p->loops; k++) {
        free(s->task[k].base);
        free(s->task[k].out);
    }
    free(s->task);
}
