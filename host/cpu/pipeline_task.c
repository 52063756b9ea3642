/* Planning the tasks of a row pipeline: which loops, and where their operands lie. */
#include <stdlib.h>
#include <string.h>

#include "cpu/pipeline_impl.h"

static int64_t round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

/* The compiled form of a loop, or NULL: then its stages run one by one. */
static strake_row_function find_code(const strake_graph *graph, const strake_loop *loop,
                                     strake_isa isa)
{
    char body[STRAKE_LOOP_TEXT];
    if (isa == STRAKE_ISA_SCALAR || strake_loop_body(graph, loop, body, sizeof body) < 0) {
        return NULL;
    }
    for (int k = 0; k < strake_loop_code_count; k++) {
        if (strcmp(strake_loop_codes[k].body, body) == 0) {
            return strake_loop_codes[k].row[graph->precision][isa];
        }
    }
    return NULL;
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
    const int64_t slab = (q + read->offset[0]) & (r->depth - 1);
    const int64_t line = slab * r->lines + read->offset[1] + value->lo[1] - t->lo[1];
    return r->data + (line * p->width + p->pad - t->lo[2] + read->offset[2]) * p->size;
}

static void plan_operand(const strake_pipeline *p, const pass *s, task *t, const strake_read *read,
                         int k)
{
    const strake_value *value = &p->graph->value[read->value];
    const strake_layout *l = p->layout;
    if (value->is_constant || value->stage >= 0) {
        t->stride[k] = value->is_constant ? 0 : p->width * p->size;
        t->ring_stride[k] = t->stride[k];
        for (int64_t phase = 0; phase < p->phases; phase++) {
            /* Any slab of that phase far enough from zero to stay positive. */
            t->base[phase * t->reads + k] = fixed_address(p, s, t, read, phase + 64 * p->phases);
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
    if (value->is_output) {
        t->state = v;
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
            (((phase & (r->depth - 1)) * r->lines + line) * p->width + p->pad - t->lo[2]) * p->size;
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

static bool plan_single(const strake_pipeline *p, pass *s, int number, strake_isa isa)
{
    const strake_stage *stage = &p->graph->stage[number];
    const strake_value *output = &p->graph->value[stage->output];
    task *t = &s->single[number];
    t->row = stage->point->row[p->graph->precision][isa];
    if (t->row == NULL) {
        t->row = stage->point->row[p->graph->precision][STRAKE_ISA_BASE];
    }
    if (!allocate_task(p, t, stage->reads, 1)) {
        return false;
    }
    t->state = -1;
    t->lag = stage->lag;
    memcpy(t->lo, output->lo, sizeof t->lo);
    memcpy(t->hi, output->hi, sizeof t->hi);
    t->lo[2] = whole_vectors(p, output->lo[2] + s->reach);
    t->hi[2] += s->reach;
    for (int k = 0; k < stage->reads; k++) {
        plan_operand(p, s, t, &stage->read[k], k);
    }
    plan_output(p, s, t, stage->output, 0);
    return true;
}

static bool plan_group(const strake_pipeline *p, const pass *s, group *g, const strake_loop *loop,
                       strake_row_function code)
{
    const strake_graph *graph = p->graph;
    const strake_value *first = &graph->value[graph->stage[loop->stage[0]].output];
    g->stages = loop->stages;
    memcpy(g->stage, loop->stage, sizeof g->stage);
    g->lag = loop->lag;
    g->lo = first->lo[0];
    g->hi = first->hi[0];
    for (int k = 0; k < loop->stages; k++) {
        const strake_value *value = &graph->value[graph->stage[loop->stage[k]].output];
        g->lo = value->lo[0] < g->lo ? value->lo[0] : g->lo;
        g->hi = value->hi[0] < g->hi ? value->hi[0] : g->hi;
    }
    g->is_fused = code != NULL && loop->stages > 1;
    if (!g->is_fused) {
        return true;
    }
    task *t = &g->fused;
    if (!allocate_task(p, t, loop->inputs, loop->outputs)) {
        return false;
    }
    t->row = code;
    t->state = -1;
    t->lag = loop->lag;
    memcpy(t->lo, first->lo, sizeof t->lo);
    memcpy(t->hi, first->hi, sizeof t->hi);
    t->lo[2] = whole_vectors(p, loop->lo + s->reach);
    t->hi[2] = loop->hi + s->reach;
    for (int k = 0; k < loop->inputs; k++) {
        plan_operand(p, s, t, &loop->input[k], k);
    }
    for (int k = 0; k < loop->outputs; k++) {
        plan_output(p, s, t, loop->output[k], k);
    }
    return true;
}

strake_status strake_pipeline_plan_pass(strake_pipeline *p, pass *s, const strake_loop *loop,
                                        int loops, strake_isa isa, strake_error *error)
{
    strake_status status = STRAKE_OK;
    s->single = calloc((size_t)p->graph->stages, sizeof *s->single);
    s->group = calloc((size_t)loops, sizeof *s->group);
    bool complete = s->single != NULL && s->group != NULL;
    for (int k = 0; k < p->graph->stages && complete; k++) {
        complete = plan_single(p, s, k, isa);
    }
    for (int g = 0; g < loops && complete; g++) {
        complete = plan_group(p, s, &s->group[g], &loop[g], find_code(p->graph, &loop[g], isa));
    }
    STRAKE_CHECK(complete, error, STRAKE_ERR_MEMORY, "out of memory planning the CPU pipeline");
cleanup:
    return status;
}

static void free_task(task *t)
{
    free(t->base);
    free(t->out);
}

void strake_pipeline_free_pass(const strake_pipeline *p, pass *s)
{
    for (int k = 0; s->single != NULL && k < p->graph->stages; k++) {
        free_task(&s->single[k]);
    }
    for (int g = 0; s->group != NULL && g < p->groups; g++) {
        free_task(&s->group[g].fused);
    }
    free(s->single);
    free(s->group);
}
