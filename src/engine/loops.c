#include "engine/loops.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool strake_isa_is_there(strake_isa isa)
{
#if defined(STRAKE_ROWS_X86) && (defined(__x86_64__) || defined(__i386__))
    __builtin_cpu_init();
    if (isa == STRAKE_ISA_AVX512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    }
    if (isa == STRAKE_ISA_AVX2) {
        return __builtin_cpu_supports("avx2");
    }
#endif
    return isa == STRAKE_ISA_SCALAR || isa == STRAKE_ISA_BASE;
}

strake_isa strake_isa_best(void)
{
    int isa = STRAKE_ISAS - 1;
    while (!strake_isa_is_there((strake_isa)isa)) {
        isa--;
    }
    return (strake_isa)isa;
}

const char *strake_isa_name(strake_isa isa)
{
    static const char *const name[STRAKE_ISAS] = {"scalar", "base", "avx2", "avx512"};
    return name[isa];
}

/* When the stages of a set are computed. */

/** Lags of the stages of group @p set of sets; each static one is as late as those allow that read it. */
static void loops_lags(const strake_graph *graph, int together, int set, int lag[STRAKE_MAX_VALUES])
{
    for (int p = graph->stages - 1; p >= 0; p--) {
        const strake_stage *producer = &graph->stage[p];
        const bool is_static = graph->value[producer->output].is_static;
        lag[p] = is_static ? INT_MAX : producer->lag;
        for (int s = p + 1; s < graph->stages && is_static; s++) {
            const strake_stage *stage = &graph->stage[s];
            const bool is_its =
                graph->value[stage->output].is_static || stage->set / together == set;
            for (int k = 0; k < stage->reads && is_its && lag[s] < INT_MAX; k++) {
                if (stage->read[k].value == producer->output) {
                    const int latest = lag[s] - stage->read[k].offset[0];
                    lag[p] = latest < lag[p] ? latest : lag[p];
                }
            }
        }
    }
}

enum {
    MOST_INPUTS = 28,
    MOST_STAGES = 12 /* of one set */,
    MOST_OPERANDS = 8 * STRAKE_MAX_READS,
    HI_SLACK = 4
};

static int loop_of_set(const strake_loop *loop, int loops, int set, int stage)
{
    for (int g = 0; g < loops; g++) {
        for (int k = 0; k < loop[g].stages && loop[g].set == set; k++) {
            if (loop[g].stage[k] == stage) {
                return g;
            }
        }
    }
    return -1;
}

static bool has_stage(const strake_loop *loop, int stage)
{
    return stage >= 0 && loop_of_set(loop, 1, loop->set, stage) == 0;
}

static bool same_read(const strake_read *a, const strake_read *b)
{
    return a->value == b->value && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

/* A value computed by the loop itself at the same point: it stays in a register. */
static bool is_local(const strake_graph *graph, const strake_loop *loop, const strake_read *read)
{
    static const int zero[STRAKE_AXES] = {0, 0, 0};
    return has_stage(loop, graph->value[read->value].stage) &&
           memcmp(read->offset, zero, sizeof zero) == 0;
}

/*
 * The line that a loop takes an operand from: columns are addressed by a constant in the loop's text
 * (few pointers, which matters: there are only sixteen registers for them), and a constant is the
 * same everywhere.
 */
static strake_read line_of(const strake_graph *graph, const strake_read *read)
{
    strake_read line = *read;
    line.offset[2] = 0;
    if (graph->value[read->value].is_constant) {
        memset(line.offset, 0, sizeof line.offset);
    }
    return line;
}

/* A read of the operand of a value that is itself read at an offset. */
static strake_read read_through(const strake_read *outer, const strake_read *inner)
{
    strake_read read = *inner;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        read.offset[axis] += outer->offset[axis];
    }
    return read;
}

/* What a stage reads once cheap values are computed where they are read. @return number of reads */
static int operands_of(const strake_graph *graph, const strake_stage *stage, bool is_plain,
                       strake_read out[MOST_OPERANDS])
{
    int count = 0;
    for (int k = 0; k < stage->reads; k++) {
        const strake_value *value = &graph->value[stage->read[k].value];
        if (is_plain || !value->is_cheap) {
            out[count++] = stage->read[k];
            continue;
        }
        const strake_stage *cheap = &graph->stage[value->stage];
        for (int m = 0; m < cheap->reads && count < MOST_OPERANDS; m++) {
            out[count++] = read_through(&stage->read[k], &cheap->read[m]);
        }
    }
    return count;
}

static bool add_input(strake_loop *loop, const strake_read *read)
{
    for (int k = 0; k < loop->inputs; k++) {
        if (same_read(&loop->input[k], read)) {
            return true;
        }
    }
    if (loop->inputs == MOST_INPUTS) {
        return false;
    }
    loop->input[loop->inputs++] = *read;
    return true;
}

static bool add_stage(const strake_graph *graph, strake_loop *loop, int s, int lag)
{
    const strake_stage *stage = &graph->stage[s];
    const strake_value *output = &graph->value[stage->output];
    strake_read operand[MOST_OPERANDS];
    const int operands = operands_of(graph, stage, loop->is_plain, operand);
    for (int k = 0; k < operands; k++) {
        const strake_read line = line_of(graph, &operand[k]);
        if (!is_local(graph, loop, &operand[k]) && !add_input(loop, &line)) {
            return false;
        }
    }
    loop->stage[loop->stages++] = s;
    loop->lag = lag;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        loop->lo[axis] = output->lo[axis] > loop->lo[axis] ? output->lo[axis] : loop->lo[axis];
        loop->hi[axis] = output->hi[axis] > loop->hi[axis] ? output->hi[axis] : loop->hi[axis];
    }
    return true;
}

/* The common column range may not reach operands that are not there (a few to the right are padding). */
static bool operands_reach(const strake_graph *graph, const strake_loop *loop)
{
    for (int m = 0; m < loop->stages; m++) {
        strake_read operand[MOST_OPERANDS];
        const int operands =
            operands_of(graph, &graph->stage[loop->stage[m]], loop->is_plain, operand);
        for (int k = 0; k < operands; k++) {
            const strake_read *read = &operand[k];
            const strake_value *value = &graph->value[read->value];
            if (!value->is_constant && !is_local(graph, loop, read) &&
                (value->lo[2] < loop->lo[2] - read->offset[2] ||
                 value->hi[2] + HI_SLACK < loop->hi[2] + read->offset[2])) {
                return false;
            }
        }
    }
    return true;
}

/* Whether a stage may run in loop g, given where its operands are computed. */
static bool may_join(const strake_graph *graph, const strake_loop *loop, int loops, int g, int s,
                     int lag)
{
    const strake_stage *stage = &graph->stage[s];
    const strake_value *output = &graph->value[stage->output];
    const strake_value *first = &graph->value[graph->stage[loop[g].stage[0]].output];
    const int most = loop[g].sets > 1 ? STRAKE_LOOP_STAGES : MOST_STAGES;
    if (loop[g].lag != lag || loop[g].stages == most || output->is_output != first->is_output ||
        output->lo[1] != first->lo[1] || output->hi[1] != first->hi[1]) {
        return false;
    }
    strake_read operand[MOST_OPERANDS];
    const int operands = operands_of(graph, stage, false, operand);
    for (int k = 0; k < operands; k++) {
        const strake_read *read = &operand[k];
        const int producer = graph->value[read->value].stage;
        const int where = producer < 0 ? -1 : loop_of_set(loop, loops, loop[g].set, producer);
        /* From the same loop: at the same point, or from an earlier slab. */
        const bool is_point = read->offset[0] == 0 && read->offset[1] == 0 && read->offset[2] == 0;
        if (where > g || (where == g && !is_point && read->offset[0] >= 0)) {
            return false;
        }
    }
    strake_loop trial = loop[g];
    return add_stage(graph, &trial, s, lag) && operands_reach(graph, &trial);
}

/* Values read by other loops, or by the same one at an offset, and the states, are stored; each set has its static ones. */
static void find_outputs(const strake_graph *graph, const strake_loop *loop, int loops,
                         strake_loop *owner)
{
    for (int m = 0; m < owner->stages; m++) {
        const int value = graph->stage[owner->stage[m]].output;
        bool leaves = graph->value[value].is_output || graph->value[value].is_reduced;
        for (int g = 0; g < loops && !leaves; g++) {
            const bool is_its = loop[g].set == owner->set || !graph->value[value].is_static;
            for (int k = 0; k < loop[g].inputs && !leaves && is_its; k++) {
                leaves = loop[g].input[k].value == value;
            }
        }
        if (leaves) {
            owner->output[owner->outputs++] = value;
        }
    }
}

static int collect_unit(const strake_graph *graph, bool *is_taken, int s, int *unit, int count);

/* What a reader of a value needs before itself; cheap values are computed where they are read. */
static int collect_value(const strake_graph *graph, bool *is_taken, int v, int *unit, int count)
{
    const strake_value *value = &graph->value[v];
    if (value->stage < 0) {
        return count;
    }
    if (!value->is_cheap) {
        return is_taken[value->stage] ? count
                                      : collect_unit(graph, is_taken, value->stage, unit, count);
    }
    const strake_stage *cheap = &graph->stage[value->stage];
    for (int m = 0; m < cheap->reads; m++) {
        const int producer = graph->value[cheap->read[m].value].stage;
        if (producer >= 0 && !is_taken[producer]) {
            count = collect_unit(graph, is_taken, producer, unit, count);
        }
    }
    return count;
}

/*
 * A stage and, before it, what it needs of the static stages that have no loop yet: those are left until
 * somebody reads them, so that they can be computed there and need not be stored. @return their number.
 */
static int collect_unit(const strake_graph *graph, bool *is_taken, int s, int *unit, int count)
{
    const strake_stage *stage = &graph->stage[s];
    is_taken[s] = true;
    for (int k = 0; k < stage->reads; k++) {
        count = collect_value(graph, is_taken, stage->read[k].value, unit, count);
    }
    unit[count] = s;
    return count + 1;
}

/* Lets all stages of a unit join loop g, or none. */
static bool join(const strake_graph *graph, const int *lag, strake_loop *loop, int loops, int g,
                 const int *unit, int count)
{
    const strake_loop before = loop[g];
    for (int k = 0; k < count; k++) {
        if (loop[g].stages > 0 && !may_join(graph, loop, loops, g, unit[k], lag[unit[k]])) {
            loop[g] = before;
            return false;
        }
        (void)add_stage(graph, &loop[g], unit[k], lag[unit[k]]);
    }
    return true;
}

/*
 * Finds a loop for a unit, the first that takes it or a new one, which begins as @p empty. @return number of loops,
 * -1: too many.
 */
static int place(const strake_graph *graph, const int *lag, strake_loop *loop, int loops, int most,
                 const strake_loop *empty, const int *unit, int count)
{
    for (int g = 0; g < loops; g++) {
        if (loop[g].set == empty->set && join(graph, lag, loop, loops, g, unit, count)) {
            return loops;
        }
    }
    if (loops == most) {
        return -1;
    }
    loop[loops] = *empty;
    if (join(graph, lag, loop, loops + 1, loops, unit, count)) {
        return loops + 1;
    }
    for (int k = 0; k < count && loops >= 0; k++) {
        loops = place(graph, lag, loop, loops, most, empty, &unit[k], 1);
    }
    return loops;
}

/* The loops of a group of sets; those of the groups before stand already. @return number of loops, -1: too many */
static int plan_group(const strake_graph *graph, const strake_loop *empty, strake_loop *loop,
                      int loops, int most)
{
    bool is_taken[STRAKE_MAX_VALUES] = {false};
    int unit[STRAKE_MAX_VALUES], lag[STRAKE_MAX_VALUES];
    loops_lags(graph, empty->sets, empty->set, lag);
    for (int s = 0; s < graph->stages; s++) {
        is_taken[s] = graph->stage[s].set / empty->sets < empty->set &&
                      !graph->value[graph->stage[s].output].is_static;
    }
    for (int s = 0; s < graph->stages && loops >= 0; s++) {
        const strake_value *output = &graph->value[graph->stage[s].output];
        const bool is_its = graph->stage[s].set / empty->sets == empty->set;
        if (is_its && !is_taken[s] && !output->is_static && !output->is_cheap) {
            const int count = collect_unit(graph, is_taken, s, unit, 0);
            loops = place(graph, lag, loop, loops, most, empty, unit, count);
        }
    }
    return loops;
}

int strake_loops_plan(const strake_graph *graph, int together, int most, strake_loop *out)
{
    int loops = 0;
    for (int set = 0; set <= graph->set / together && loops >= 0; set++) {
        const strake_loop empty = {.set = set, .sets = together};
        loops = plan_group(graph, &empty, out, loops, most);
    }
    for (int g = 0; g < loops; g++) {
        find_outputs(graph, out, loops, &out[g]);
    }
    return loops;
}

int strake_loop_split(const strake_graph *graph, const strake_loop *loop, strake_loop *out)
{
    for (int m = 0; m < loop->stages; m++) {
        const strake_stage *stage = &graph->stage[loop->stage[m]];
        for (int k = 0; k < stage->reads; k++) {
            if (graph->value[stage->read[k].value].is_cheap) {
                return 0;
            }
        }
        out[m] = (strake_loop){.set = loop->set, .is_plain = true};
        (void)add_stage(graph, &out[m], loop->stage[m], loop->lag);
        out[m].output[out[m].outputs++] = stage->output;
    }
    return loop->stages;
}

int strake_loops_plan_plain(const strake_graph *graph, strake_loop *out)
{
    for (int s = 0; s < graph->stages; s++) {
        memset(&out[s], 0, sizeof *out);
        out[s].is_plain = true;
        (void)add_stage(graph, &out[s], s, graph->stage[s].lag);
        out[s].output[out[s].outputs++] = graph->stage[s].output;
    }
    return graph->stages;
}

int strake_loops_depth(const strake_graph *graph, const strake_loop *loop, int loops, int value)
{
    int lag = graph->value[value].stage < 0 ? 0 : INT_MAX;
    int depth = 1;
    for (int g = 0; g < loops && lag != 0; g++) { /* of static values each set has a loop */
        for (int k = 0; k < loop[g].outputs; k++) {
            lag = loop[g].output[k] == value && loop[g].lag < lag ? loop[g].lag : lag;
        }
    }
    lag = lag == INT_MAX ? graph->stage[graph->value[value].stage].lag : lag;
    for (int g = 0; g < loops; g++) {
        for (int k = 0; k < loop[g].inputs; k++) {
            const strake_read *read = &loop[g].input[k];
            const int kept = loop[g].lag - read->offset[0] - lag + 1;
            depth = read->value == value && kept > depth ? kept : depth;
        }
    }
    return depth;
}

/* Whether a loop's stages before the m-th, or its operands before the k-th, have the same operand. */
static bool is_met(const strake_graph *graph, const strake_loop *loop, int m, int k,
                   const strake_read *read)
{
    for (int before = 0; before <= m; before++) {
        strake_read operand[MOST_OPERANDS];
        const int operands =
            operands_of(graph, &graph->stage[loop->stage[before]], loop->is_plain, operand);
        for (int at = 0; at < (before < m ? operands : k); at++) {
            if (same_read(&operand[at], read)) {
                return true;
            }
        }
    }
    return false;
}

/* The same for what stages read themselves. */
static bool is_read(const strake_graph *graph, const strake_loop *loop, int m, int k,
                    const strake_read *read)
{
    for (int before = 0; before <= m; before++) {
        const strake_stage *stage = &graph->stage[loop->stage[before]];
        for (int at = 0; at < (before < m ? stage->reads : k); at++) {
            if (same_read(&stage->read[at], read)) {
                return true;
            }
        }
    }
    return false;
}

static void add_ops(strake_ops *sum, const strake_ops *ops)
{
    sum->adds += ops->adds;
    sum->muls += ops->muls;
    sum->divs += ops->divs;
    sum->selects += ops->selects;
}

static void add_work(const strake_graph *graph, const strake_loop *loop, strake_loop_work *work)
{
    for (int m = 0; m < loop->stages; m++) {
        const strake_stage *stage = &graph->stage[loop->stage[m]];
        strake_read operand[MOST_OPERANDS];
        const int operands = operands_of(graph, stage, loop->is_plain, operand);
        add_ops(&work->ops, &stage->point->ops);
        for (int k = 0; k < operands; k++) {
            if (!is_local(graph, loop, &operand[k]) &&
                !graph->value[operand[k].value].is_constant &&
                !is_met(graph, loop, m, k, &operand[k])) {
                work->loads++;
                work->across += operand[k].offset[2] != 0 ? 1 : 0;
            }
        }
        for (int k = 0; k < stage->reads && !loop->is_plain; k++) {
            const strake_value *value = &graph->value[stage->read[k].value];
            if (value->is_cheap && !is_read(graph, loop, m, k, &stage->read[k])) {
                add_ops(&work->ops, &graph->stage[value->stage].point->ops);
            }
        }
    }
    work->stores += loop->outputs;
}

strake_loop_work strake_loops_work(const strake_graph *graph, const strake_loop *loop, int loops)
{
    strake_loop_work work = {{0, 0, 0, 0}, 0, 0, 0};
    for (int g = 0; g < loops; g++) {
        add_work(graph, &loop[g], &work);
    }
    return work;
}

static int input_index(const strake_loop *loop, const strake_read *read)
{
    for (int k = 0; k < loop->inputs; k++) {
        if (same_read(&loop->input[k], read)) {
            return k;
        }
    }
    return -1;
}

static int local_index(const strake_graph *graph, const strake_loop *loop, int value)
{
    for (int k = 0; k < loop->stages; k++) {
        if (graph->stage[loop->stage[k]].output == value) {
            return k;
        }
    }
    return -1;
}

static void write_call(FILE *file, const strake_graph *graph, const strake_loop *loop,
                       const strake_stage *stage, const strake_read *at);

static void write_operand(FILE *file, const strake_graph *graph, const strake_loop *loop,
                          const strake_read *read)
{
    const strake_read line = line_of(graph, read);
    if (is_local(graph, loop, read)) {
        (void)fprintf(file, "r%d", local_index(graph, loop, read->value));
    } else if (graph->value[read->value].is_cheap) {
        const strake_stage *cheap = &graph->stage[graph->value[read->value].stage];
        write_call(file, graph, loop, cheap, read);
    } else if (graph->value[read->value].is_constant) {
        (void)fprintf(file, "c%d", input_index(loop, &line));
    } else if (read->offset[2] == 0) {
        (void)fprintf(file, "a%d[j]", input_index(loop, &line));
    } else {
        (void)fprintf(file, "a%d[j %c %d]", input_index(loop, &line),
                      read->offset[2] > 0 ? '+' : '-', abs(read->offset[2]));
    }
}

/* A stage's formula, evaluated where a read of its output is. */
static void write_call(FILE *file, const strake_graph *graph, const strake_loop *loop,
                       const strake_stage *stage, const strake_read *at)
{
    (void)fprintf(file, "%s(", stage->point->name);
    for (int k = 0; k < stage->reads; k++) {
        const strake_read operand = read_through(at, &stage->read[k]);
        (void)fprintf(file, "%s", k > 0 ? ", " : "");
        write_operand(file, graph, loop, &operand);
    }
    (void)fprintf(file, ")");
}

int strake_loop_body(const strake_graph *graph, const strake_loop *loop, char *text, size_t size)
{
    FILE *file = fmemopen(text, size, "w");
    if (file == NULL) {
        return -1;
    }
    for (int m = 0; m < loop->stages; m++) {
        const strake_stage *stage = &graph->stage[loop->stage[m]];
        const strake_read here = {.value = stage->output, .offset = {0, 0, 0}};
        (void)fprintf(file, "const real r%d = ", m);
        write_call(file, graph, loop, stage, &here);
        (void)fprintf(file, "; ");
    }
    for (int k = 0; k < loop->outputs; k++) {
        (void)fprintf(file, "y%d[j] = r%d; ", k, local_index(graph, loop, loop->output[k]));
    }
    const long length = ftell(file);
    const bool complete = ferror(file) == 0 && length >= 0 && (size_t)length < size;
    return fclose(file) == 0 && complete ? (int)length : -1;
}
