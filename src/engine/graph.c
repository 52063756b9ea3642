#include "engine/graph.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

bool strake_ghosts_are_kept(const strake_graph *graph)
{
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0 && graph->value[v].is_kept) {
            return true;
        }
    }
    return false;
}

bool strake_ghosts_travel(const strake_graph *graph, int value)
{
    return graph->value[value].next >= 0 && !graph->value[value].is_kept;
}

int strake_ghosts_count(const strake_graph *graph)
{
    int count = 0;
    for (int v = 0; v < graph->values; v++) {
        count += strake_ghosts_travel(graph, v) ? 1 : 0;
    }
    return count;
}

bool strake_ghosts_advance(const strake_graph *graph, int value)
{
    const strake_value *const state = &graph->value[value];
    return state->next >= 0 && state->is_kept && state->lo[0] + state->hi[0] > 0;
}

/* Nothing is derived yet, and only kept states that somebody reads in other slabs have a next value. */
static void strip(strake_graph *g)
{
    g->reductions = 0;
    for (int v = 0; v < g->values; v++) {
        strake_value *const value = &g->value[v];
        if (value->is_output && !strake_ghosts_advance(g, value->state_of)) {
            g->value[value->state_of].next = -1;
            value->is_output = false;
            value->state_of = -1;
        }
    }
    for (int v = 0; v < g->values; v++) {
        strake_value *const value = &g->value[v];
        value->is_reduced = value->is_live = false;
        memset(value->lo, 0, sizeof value->lo);
        memset(value->hi, 0, sizeof value->hi);
    }
}

strake_status strake_ghosts_graph(const strake_graph *graph, strake_graph *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = *graph;
    strip(out);
    STRAKE_TRY(strake_graph_finish(out, error));
    for (int v = 0; v < out->values; v++) {
        const strake_value *const value = &out->value[v];
        for (int axis = 0; axis < STRAKE_AXES && value->is_live && !value->is_constant; axis++) {
            STRAKE_CHECK(value->lo[axis] == 0 && value->hi[axis] == 0, error, STRAKE_ERR_STATE,
                         "stage graph: a state that is said to be pointwise reads neighbours (%s)",
                         value->name);
        }
    }
cleanup:
    return status;
}

static void break_graph(strake_graph *graph, const char *why, const char *name)
{
    if (!graph->broken) {
        graph->broken = true;
        (void)snprintf(graph->why, sizeof graph->why, "stage graph: %s (%s)", why, name);
    }
}

static double round_to(strake_precision precision, double x)
{
    return precision == STRAKE_SINGLE ? (double)(float)x : x;
}

void strake_graph_begin(strake_graph *graph, strake_precision precision)
{
    memset(graph, 0, sizeof *graph);
    graph->precision = precision;
}

static int add_value(strake_graph *graph, const char *name)
{
    if (graph->values == STRAKE_MAX_VALUES) {
        break_graph(graph, "too many values", name);
        return 0;
    }
    strake_value *value = &graph->value[graph->values];
    memset(value, 0, sizeof *value);
    if (strlen(name) >= sizeof value->name) {
        break_graph(graph, "name too long", name);
    }
    /* Kernels have variables of that name. */
    for (const char *at = name; *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_') {
            break_graph(graph, "a name has letters, digits and _ only", name);
        }
    }
    (void)snprintf(value->name, sizeof value->name, "%s", name);
    value->stage = -1;
    value->state_of = -1;
    value->next = -1;
    return graph->values++;
}

int strake_graph_input(strake_graph *graph, const char *name, bool is_static)
{
    const int index = add_value(graph, name);
    graph->value[index].is_static = is_static;
    return index;
}

/* "x", or "x_2" where there is one. */
static const char *own_name(const strake_graph *graph, const char *name,
                            char text[2 * STRAKE_NAME_LENGTH])
{
    (void)snprintf(text, 2 * STRAKE_NAME_LENGTH, "%s", name);
    for (int k = 2; strake_graph_find(graph, text) >= 0; k++) {
        (void)snprintf(text, 2 * STRAKE_NAME_LENGTH, "%s_%d", name, k);
    }
    return text;
}

int strake_graph_constant(strake_graph *graph, const char *name, double number)
{
    char text[2 * STRAKE_NAME_LENGTH];
    const int index = add_value(graph, own_name(graph, name, text));
    graph->value[index].is_static = true;
    graph->value[index].is_constant = true;
    graph->value[index].constant = round_to(graph->precision, number);
    return index;
}

double strake_graph_number(const strake_graph *graph, int value, const double *scalar)
{
    for (int k = 0; k < graph->scalars; k++) {
        if (scalar != NULL && graph->scalar[k].value == value) {
            return scalar[k];
        }
    }
    return graph->value[value].constant;
}

/* A point function of constants and scalars only, by the same row loop as everything else. */
static double fold(const strake_graph *graph, const strake_stage *stage, const double *scalar)
{
    double wide[STRAKE_MAX_READS];
    float narrow[STRAKE_MAX_READS];
    const void *in[STRAKE_MAX_READS];
    const bool single = graph->precision == STRAKE_SINGLE;
    for (int k = 0; k < stage->reads; k++) {
        wide[k] = strake_graph_number(graph, stage->read[k].value, scalar);
        narrow[k] = (float)wide[k];
        in[k] = single ? (const void *)&narrow[k] : (const void *)&wide[k];
    }
    double result = 0.0;
    float narrow_result = 0.0F;
    void *const out[] = {single ? (void *)&narrow_result : (void *)&result};
    stage->point->row[graph->precision][STRAKE_ISA_SCALAR](out, in, 1);
    return single ? (double)narrow_result : result;
}

static void add_scalar(strake_graph *graph, int index, const strake_stage *stage)
{
    strake_value *value = &graph->value[index];
    if (graph->scalars == STRAKE_MAX_SCALARS) {
        break_graph(graph, "too many scalars", value->name);
        return;
    }
    value->is_static = false;
    value->is_constant = true;
    value->is_scalar = true;
    graph->scalar[graph->scalars++] = (strake_scalar){.value = index, .stage = *stage};
}

int strake_graph_scalar(strake_graph *graph, const char *name)
{
    const strake_stage none = {.reads = 0};
    const int index = add_value(graph, name);
    add_scalar(graph, index, &none);
    return index;
}

int strake_graph_given(const strake_graph *graph)
{
    int given = 0;
    for (int k = 0; k < graph->scalars; k++) {
        given += graph->scalar[k].stage.reads == 0 ? 1 : 0;
    }
    return given;
}

void strake_graph_scalars(const strake_graph *graph, const double *given, double *out)
{
    for (int k = 0; k < graph->scalars; k++) {
        const strake_stage *stage = &graph->scalar[k].stage;
        out[k] = stage->reads > 0 ? fold(graph, stage, out) : round_to(graph->precision, *given++);
    }
}

void strake_graph_reduce(strake_graph *graph, int value, strake_reduced_kind kind)
{
    if (graph->value[value].stage < 0 || graph->reductions == STRAKE_MAX_REDUCTIONS) {
        break_graph(graph, "a reduction is of a stage, and there are few",
                    graph->value[value].name);
        return;
    }
    graph->value[value].is_reduced = true;
    graph->reduction[graph->reductions++] = (strake_reduced){value, kind};
}

double strake_reduced_start(strake_reduced_kind kind)
{
    return kind == STRAKE_MINIMUM ? (double)INFINITY : -(double)INFINITY;
}

void strake_reduced_begin(const strake_graph *graph, double *reduced)
{
    for (int k = 0; k < graph->reductions; k++) {
        reduced[k] = strake_reduced_start(graph->reduction[k].kind);
    }
}

void strake_graph_set(strake_graph *graph)
{
    graph->set++;
}

/* The stage of an earlier set that makes the same of static values; -1: none. @return its value */
static int find_static(const strake_graph *graph, const strake_point *point, int reads,
                       const strake_read *read)
{
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *stage = &graph->stage[s];
        if (stage->set < graph->set && stage->point == point && stage->reads == reads &&
            graph->value[stage->output].is_static &&
            memcmp(stage->read, read, (size_t)reads * sizeof *read) == 0) {
            return stage->output;
        }
    }
    return -1;
}

int strake_graph_stage(strake_graph *graph, int number, const char *output,
                       const strake_point *point, int reads, const strake_read *read)
{
    char name[2 * STRAKE_NAME_LENGTH];
    const int known = graph->set > 0 ? find_static(graph, point, reads, read) : -1;
    if (known >= 0) {
        return known;
    }
    const int index = add_value(graph, own_name(graph, output, name));
    if (graph->stages == STRAKE_MAX_VALUES || reads > STRAKE_MAX_READS || reads != point->inputs) {
        break_graph(graph, "wrong number of operands, or too many stages", output);
        return index;
    }
    strake_stage *stage = &graph->stage[graph->stages];
    memset(stage, 0, sizeof *stage);
    stage->number = number;
    stage->point = point;
    stage->output = index;
    stage->reads = reads;
    stage->set = graph->set;
    bool is_static = true;
    bool is_constant = true;
    bool is_scalar = false;
    for (int k = 0; k < reads; k++) {
        if (read[k].value < 0 || read[k].value >= index) {
            break_graph(graph, "operand not defined before its use", output);
            return index;
        }
        const strake_value *operand = &graph->value[read[k].value];
        stage->read[k] = read[k];
        is_static = is_static && operand->is_static;
        is_constant = is_constant && operand->is_constant;
        is_scalar = is_scalar || operand->is_scalar;
    }
    strake_value *value = &graph->value[index];
    value->is_static = is_static;
    if (is_constant && is_scalar) {
        add_scalar(graph, index, stage);
        return index;
    }
    if (is_constant) {
        value->is_constant = true;
        value->constant = fold(graph, stage, NULL);
        return index;
    }
    value->stage = graph->stages++;
    return index;
}

int strake_graph_reflect(strake_graph *graph, const char *output, const strake_point *point,
                         int state, int side)
{
    const strake_read read[] = {{.value = state}, {.value = side}};
    const int value = strake_graph_stage(graph, 0, output, point, 2, read);
    graph->value[value].is_reflected = true;
    return value;
}

bool strake_graph_has_state_stages(const strake_graph *graph)
{
    bool has = false;
    for (int s = 0; s < graph->stages; s++) {
        has = has || graph->value[graph->stage[s].output].is_reflected ||
              graph->stage[s].point == &strake_point_state_copy;
    }
    return has;
}

void strake_graph_state(strake_graph *graph, int input, int output)
{
    while (graph->value[input].is_reflected) {
        input = graph->stage[graph->value[input].stage].read[0].value;
    }
    if (graph->value[input].stage >= 0 || graph->value[output].stage < 0) {
        break_graph(graph, "a state leads from an input to a stage", graph->value[input].name);
        return;
    }
    graph->value[input].next = output;
    graph->value[output].is_output = true;
    graph->value[output].state_of = input;
}

static void need(strake_value *value, const int lo[STRAKE_AXES], const int hi[STRAKE_AXES],
                 const int offset[STRAKE_AXES])
{
    value->is_live = true;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        const int before = lo[axis] - offset[axis];
        const int after = hi[axis] + offset[axis];
        value->lo[axis] = before > value->lo[axis] ? before : value->lo[axis];
        value->hi[axis] = after > value->hi[axis] ? after : value->hi[axis];
    }
}

/* Backward propagation: outputs need nothing outside the stripe, operands what their readers need. */
static void derive_halos(strake_graph *graph)
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_reduced) {
            need(&graph->value[v], zero, zero, zero);
        }
        if (graph->value[v].is_output) {
            need(&graph->value[v], zero, zero, zero);
            /* A state input exists even if no stage should read it. */
            need(&graph->value[graph->value[v].state_of], zero, zero, zero);
        }
    }
    for (int s = graph->stages - 1; s >= 0; s--) {
        const strake_stage *stage = &graph->stage[s];
        const strake_value *output = &graph->value[stage->output];
        if (!output->is_live) {
            continue;
        }
        for (int k = 0; k < stage->reads; k++) {
            need(&graph->value[stage->read[k].value], output->lo, output->hi,
                 stage->read[k].offset);
        }
    }
}

static void drop_dead_stages(strake_graph *graph)
{
    int kept = 0;
    for (int s = 0; s < graph->stages; s++) {
        strake_value *output = &graph->value[graph->stage[s].output];
        if (output->is_live) {
            output->stage = kept;
            graph->stage[kept++] = graph->stage[s];
        }
    }
    graph->stages = kept;
}

static void derive_lags(strake_graph *graph)
{
    for (int s = 0; s < graph->stages; s++) {
        strake_stage *stage = &graph->stage[s];
        stage->lag = 0;
        for (int k = 0; k < stage->reads; k++) {
            const strake_value *operand = &graph->value[stage->read[k].value];
            if (operand->is_constant) {
                continue;
            }
            const int producer = operand->stage < 0 ? 0 : graph->stage[operand->stage].lag;
            const int lag = producer + stage->read[k].offset[0];
            stage->lag = lag > stage->lag ? lag : stage->lag;
        }
    }
}

/*
 * Each stage as late as its readers allow: that makes the rings shallowest. Outputs stay as early as
 * they can be, and so does what is reduced, which may have no readers.
 */
static void delay_stages(strake_graph *graph)
{
    for (int p = graph->stages - 1; p >= 0; p--) {
        strake_stage *producer = &graph->stage[p];
        if (graph->value[producer->output].is_output || graph->value[producer->output].is_reduced) {
            continue;
        }
        int latest = INT_MAX;
        for (int s = p + 1; s < graph->stages; s++) {
            const strake_stage *stage = &graph->stage[s];
            for (int k = 0; k < stage->reads; k++) {
                if (stage->read[k].value == producer->output) {
                    const int lag = stage->lag - stage->read[k].offset[0];
                    latest = lag < latest ? lag : latest;
                }
            }
        }
        producer->lag = latest;
    }
}

/* By a stage of the same set, or one that all sets have. */
static bool is_read_elsewhere(const strake_graph *graph, int value, int stage)
{
    for (int s = 0; s < graph->stages; s++) {
        const bool is_own = graph->stage[s].set == graph->stage[stage].set ||
                            graph->value[graph->stage[s].output].is_static;
        for (int k = 0; k < graph->stage[s].reads && s != stage && is_own; k++) {
            if (graph->stage[s].read[k].value == value) {
                return true;
            }
        }
    }
    return false;
}

/* Stages of other sets find a value where it is kept: what they compute does not depend on how it is made. */
static bool leaves_its_set(const strake_graph *graph, int stage)
{
    for (int s = 0; s < graph->stages; s++) {
        for (int k = 0; k < graph->stage[s].reads; k++) {
            if (graph->stage[s].read[k].value == graph->stage[stage].output &&
                graph->stage[s].set != graph->stage[stage].set) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Values that cost less to compute again, wherever they are read, than to keep: at most a choice and a
 * product of values that are kept for others too. Chains of them would multiply the operands.
 */
static void find_cheap(strake_graph *graph)
{
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *stage = &graph->stage[s];
        const strake_ops *ops = &stage->point->ops;
        strake_value *value = &graph->value[stage->output];
        value->is_cheap = !value->is_static && !value->is_output && !value->is_reduced &&
                          ops->adds == 0 && ops->divs == 0 && ops->muls <= 1 && ops->selects <= 1 &&
                          !leaves_its_set(graph, s);
        for (int k = 0; k < stage->reads; k++) {
            const strake_value *operand = &graph->value[stage->read[k].value];
            if (operand->stage >= 0 &&
                (operand->is_cheap || !is_read_elsewhere(graph, stage->read[k].value, s))) {
                value->is_cheap = false;
            }
        }
    }
}

/* Whether a stage that is needed reads a value. */
static bool is_operand(const strake_graph *graph, int value)
{
    bool is_read = false;
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *const stage = &graph->stage[s];
        for (int k = 0; k < stage->reads && graph->value[stage->output].is_live; k++) {
            is_read = is_read || stage->read[k].value == value;
        }
    }
    return is_read;
}

/*
 * Next states are stored where others than their readers expect them, so that no stage reads one: the next state of a
 * value that stages read, too, is a copy of it.
 */
static void copy_read_states(strake_graph *graph)
{
    const int values = graph->values;
    int number = 0;
    for (int s = 0; s < graph->stages; s++) {
        number = graph->stage[s].number > number ? graph->stage[s].number : number;
    }
    for (int v = 0; v < values; v++) {
        if (graph->value[v].is_output && is_operand(graph, v)) {
            char name[STRAKE_NAME_LENGTH];
            const strake_read read = {v, {0}};
            const int input = graph->value[v].state_of;
            (void)snprintf(name, sizeof name, "%s", graph->value[v].name);
            graph->value[v].is_output = false;
            graph->value[v].state_of = -1;
            strake_graph_state(
                graph, input,
                strake_graph_stage(graph, number, name, &strake_point_state_copy, 1, &read));
        }
    }
}

strake_status strake_graph_finish(strake_graph *graph, strake_error *error)
{
    if (!graph->broken) {
        derive_halos(graph); /* which stages are needed */
        copy_read_states(graph);
    }
    if (!graph->broken) {
        derive_halos(graph);
        drop_dead_stages(graph);
        derive_lags(graph);
        delay_stages(graph);
        find_cheap(graph);
        for (int s = 0; s < graph->stages; s++) {
            const strake_value *output = &graph->value[graph->stage[s].output];
            if (output->is_output && output->is_reduced) {
                break_graph(graph, "an output may not be reduced too", output->name);
            }
        }
    }
    graph->is_finished = !graph->broken;
    return graph->broken ? strake_fail(error, STRAKE_ERR_STATE, "%s", graph->why) : STRAKE_OK;
}

int strake_graph_find(const strake_graph *graph, const char *name)
{
    for (int v = 0; v < graph->values; v++) {
        if (strcmp(graph->value[v].name, name) == 0) {
            return v;
        }
    }
    return -1;
}

strake_ops strake_graph_ops(const strake_graph *graph)
{
    strake_ops total = {0, 0, 0, 0};
    for (int s = 0; s < graph->stages; s++) {
        if (graph->value[graph->stage[s].output].is_static) {
            continue;
        }
        const strake_ops *ops = &graph->stage[s].point->ops;
        total.adds += ops->adds;
        total.muls += ops->muls;
        total.divs += ops->divs;
        total.selects += ops->selects;
    }
    return total;
}

int strake_graph_bytes(const strake_graph *graph)
{
    int arrays = 0;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        const bool is_array_input = value->stage < 0 && !value->is_constant && value->is_live;
        arrays += is_array_input ? 1 : 0;
        arrays += value->is_output ? 1 : 0;
    }
    return arrays * strake_precision_size(graph->precision);
}

uint64_t strake_graph_hash(const strake_graph *graph)
{
    uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, STRAKE_VERSION, sizeof STRAKE_VERSION);
    hash = strake_fnv1a(hash, &graph->precision, sizeof graph->precision);
    hash = graph->origin != 0 ? strake_fnv1a(hash, &graph->origin, sizeof graph->origin) : hash;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        hash = strake_fnv1a(hash, value->name, strlen(value->name));
        hash = strake_fnv1a(hash, &value->constant, sizeof value->constant);
        hash = strake_fnv1a(hash, &value->next, sizeof value->next);
    }
    hash = strake_fnv1a(hash, graph->reduction,
                        (size_t)graph->reductions * sizeof graph->reduction[0]);
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *stage = &graph->stage[s];
        hash = strake_fnv1a(hash, stage->point->name, strlen(stage->point->name));
        hash = strake_fnv1a(hash, stage->read, (size_t)stage->reads * sizeof stage->read[0]);
    }
    return hash;
}
