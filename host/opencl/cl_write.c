/* What the texts of all kernels have in common: names, loads, computations, ghosts. */
#include "opencl/cl_write.h"

#include <stdlib.h>

typedef strake_cl_writer writer;

const char *strake_cl_term_name(const strake_graph *graph, const strake_cl_term *term, char *buffer,
                                size_t size)
{
    /* before and after along axis 0, 1 and 2: north and south, down and up, west and east */
    static const char before[] = "ndw";
    static const char after[] = "sue";
    int used = snprintf(buffer, size, "r_%s", graph->value[term->value].name);
    for (int axis = 0; axis < STRAKE_AXES && used > 0 && (size_t)used < size; axis++) {
        const int offset = term->offset[axis];
        if (offset != 0) {
            used += snprintf(buffer + used, size - (size_t)used, "_%c%d",
                             offset < 0 ? before[axis] : after[axis], abs(offset));
        }
    }
    if (term->again > 0 && used > 0 && (size_t)used < size) {
        (void)snprintf(buffer + used, size - (size_t)used, "_again%d", term->again);
    }
    return buffer;
}

void strake_cl_write_variable(const writer *w, const strake_cl_term *term, int u, char kind)
{
    char name[2 * STRAKE_NAME_LENGTH];
    (void)strake_cl_term_name(w->graph, term, name, sizeof name);
    fprintf(w->text, "%c%s", kind, name + 1);
    if (u >= 0) {
        fprintf(w->text, "_%d", u);
    }
}

const char *strake_cl_line_name(const strake_cl_kernel_plan *plan, int line)
{
    static const char *const name[STRAKE_CL_MOST_LINES] = {"_line0", "_line1", "_line2", "_line3"};
    return plan->lines > 1 ? name[line] : "";
}

void strake_cl_write_age(const writer *w, const strake_cl_term *term, int u, int age)
{
    char name[2 * STRAKE_NAME_LENGTH];
    const int row = u - age;
    fprintf(w->text, "%s_%s%d", strake_cl_term_name(w->graph, term, name, sizeof name),
            row < 0 ? "old" : "", abs(row));
}

void strake_cl_write_row(const writer *w, const strake_cl_term *term, int row)
{
    const bool fixed = w->options->pitch > 0;
    fprintf(w->text, "a_%s + %sat", w->graph->value[term->value].name, fixed ? "" : "(");
    if (row != 0) {
        fprintf(w->text, " %c %d * %s", row > 0 ? '+' : '-', abs(row), fixed ? "LINE" : "line");
    }
    if (term->offset[1] != 0) {
        fprintf(w->text, " %c %d * across", term->offset[1] > 0 ? '+' : '-', abs(term->offset[1]));
    }
    fprintf(w->text, "%s", fixed ? "" : ")");
}

static void write_head(const writer *w, const strake_cl_term *term, int u)
{
    const strake_stage *stage = strake_cl_term_stage(w->graph, term);
    const bool is_ratio = stage->point->is_ratio;
    const bool refined = strake_cl_term_is_ratio(w->graph, w->options, term);
    fprintf(w->text, "%sconst %s ", w->indent, refined ? "strake_ratio" : "real");
    strake_cl_write_variable(w, term, u, refined ? 'q' : 'r');
    fprintf(w->text, " = %s%s(", is_ratio && !refined ? "strake_divided(" : "", stage->point->name);
    if (stage->point->has_doubt && strake_cl_graph_has_doubts(w->graph, w->options)) {
        const bool doubts = strake_cl_plan_has_doubts(w->graph, w->options, w->plan);
        fprintf(w->text, doubts && !w->certain ? "&doubt, " : "0, ");
    }
}

static void write_tail(const writer *w, const strake_cl_term *term, int u)
{
    const strake_stage *stage = strake_cl_term_stage(w->graph, term);
    const bool is_ratio = stage->point->is_ratio;
    const bool refined = strake_cl_term_is_ratio(w->graph, w->options, term);
    fprintf(w->text, "%s;\n", is_ratio && !refined ? "))" : ")");
    if (refined) {
        fprintf(w->text, "%sreal ", w->indent);
        strake_cl_write_variable(w, term, u, 'r');
        fprintf(w->text, " = strake_refined(");
        strake_cl_write_variable(w, term, u, 'q');
        fprintf(w->text, ");\n");
    }
}

/* The free functions between the source of a stage's operand and the operand: "f(" and ")". */
static void open_operand(const writer *w, const strake_stage *stage, int k)
{
    const int source = strake_cl_source_of(w->graph, stage->read[k].value);
    for (int v = stage->read[k].value; v != source;) {
        const strake_stage *free_stage = &w->graph->stage[w->graph->value[v].stage];
        fprintf(w->text, "%s(", free_stage->point->name);
        v = free_stage->read[0].value;
    }
}

static void close_operand(const writer *w, const strake_stage *stage, int k)
{
    const int source = strake_cl_source_of(w->graph, stage->read[k].value);
    for (int v = stage->read[k].value; v != source;) {
        fprintf(w->text, ")");
        v = w->graph->stage[w->graph->value[v].stage].read[0].value;
    }
}

void strake_cl_write_computed(const writer *w, const strake_cl_term *term, int u,
                              strake_cl_operand_function *write_operand)
{
    const strake_stage *stage = strake_cl_term_stage(w->graph, term);
    fprintf(w->text, "%s/* stage %d: %s", w->indent, stage->number,
            w->graph->value[term->value].name);
    if (u >= 0) {
        fprintf(w->text, ", row i%+d", u - term->lag);
    }
    fprintf(w->text, " */\n");
    write_head(w, term, u);
    for (int k = 0; k < stage->reads; k++) {
        fprintf(w->text, "%s", k > 0 ? ", " : "");
        if (term->operand[k] < 0) {
            fprintf(w->text, "c_%s", w->graph->value[stage->read[k].value].name);
        } else {
            open_operand(w, stage, k);
            write_operand(w, term, k, u);
            close_operand(w, stage, k);
        }
    }
    write_tail(w, term, u);
}

void strake_cl_write_settle(const writer *w, const int *term, int count, int u)
{
    bool first = true;
    for (int k = 0; k < count; k++) {
        if (strake_cl_term_is_ratio(w->graph, w->options, &w->plan->term[term[k]])) {
            fprintf(w->text, "%s%s", first ? w->indent : " &\n", first ? "if (!(" : w->indent);
            fprintf(w->text, "%sSTRAKE_IS_REFINED(", first ? "" : "      ");
            strake_cl_write_variable(w, &w->plan->term[term[k]], u, 'q');
            fprintf(w->text, ", ");
            strake_cl_write_variable(w, &w->plan->term[term[k]], u, 'r');
            fprintf(w->text, ")");
            first = false;
        }
    }
    fprintf(w->text, ")) {\n");
    for (int k = 0; k < count; k++) {
        if (strake_cl_term_is_ratio(w->graph, w->options, &w->plan->term[term[k]])) {
            fprintf(w->text, "%s    ", w->indent);
            strake_cl_write_variable(w, &w->plan->term[term[k]], u, 'r');
            fprintf(w->text, " = strake_divided(");
            strake_cl_write_variable(w, &w->plan->term[term[k]], u, 'q');
            fprintf(w->text, ");\n");
        }
    }
    fprintf(w->text, "%s}\n", w->indent);
}

void strake_cl_write_terms(const writer *w, int first, int end,
                           strake_cl_operand_function *write_operand)
{
    int order[2 * STRAKE_CL_KERNEL_TERMS];
    const int steps = strake_cl_order_terms(w->graph, w->options, w->plan, first, end, order);
    int settled = 0;
    for (int o = 0; o < steps; o++) {
        if (order[o] == STRAKE_CL_SETTLE) {
            strake_cl_write_settle(w, order + settled, o - settled, -1);
            settled = o + 1;
        } else {
            strake_cl_write_computed(w, &w->plan->term[order[o]], -1, write_operand);
        }
    }
}

bool strake_cl_write_is_array(const writer *w, int value)
{
    for (int k = 0; k < w->plan->outputs; k++) {
        if (w->plan->output[k] == value) {
            return !w->plan->only_reduced[k];
        }
    }
    return false;
}

static bool is_greatest(const writer *w, int n)
{
    return w->graph->reduction[n].kind == STRAKE_MAXIMUM;
}

void strake_cl_write_reduced(const writer *w, const strake_cl_term *term, int u, const char *indent)
{
    for (int k = 0; k < w->plan->reductions; k++) {
        const int n = w->plan->reduction[k];
        if (w->graph->reduction[n].value == term->value) {
            fprintf(w->text, "%sleast_%d = reduce_two(least_%d, ", indent, n, n);
            strake_cl_write_variable(w, term, u, 'r');
            fprintf(w->text, ", %d);\n", is_greatest(w, n));
        }
    }
}

void strake_cl_write_reductions(const writer *w, bool anew)
{
    for (int k = 0; k < w->plan->reductions; k++) {
        const int n = w->plan->reduction[k];
        const char *const sign = is_greatest(w, n) ? "-" : "";
        if (anew) {
            fprintf(w->text, "    least_%d = doubted != 0 ? %s(real)INFINITY : least_%d;\n", n,
                    sign, n);
        } else {
            fprintf(w->text, "    real least_%d = %s(real)INFINITY;\n", n, sign);
        }
    }
}

void strake_cl_write_groups_reduced(const writer *w)
{
    for (int k = 0; k < w->plan->reductions; k++) {
        const int n = w->plan->reduction[k];
        fprintf(w->text, "    reduce_group(least_%d, found, of_groups_%d + before_%d, %d);\n", n, n,
                n, is_greatest(w, n));
    }
}

void strake_cl_write_ghosts(const writer *w, const char *row, const char *rows, const char *col,
                            const char *cols, const char *item, const char *items)
{
    for (int k = 0; k < w->plan->outputs; k++) {
        const strake_value *value = &w->graph->value[w->plan->output[k]];
        if (value->is_output) {
            fprintf(w->text,
                    "    fill_ghosts(a_%s, slab, origin, max(%s, 0), min(%s, n0),\n"
                    "                max(%s, 0), min(%s, n2), n2, ghost_lo, ghost_hi,\n"
                    "                boundary, base, pairs, pair_count, %s, %s);\n",
                    value->name, row, rows, col, cols, item, items);
        }
    }
}
