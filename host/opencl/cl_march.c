/* Text of a marching kernel; see cl_plan.h for what it does. */
#include <stdlib.h>

#include "opencl/cl_generate.h"

typedef strake_cl_writer writer;

static size_t line_elements(const strake_cl_options *options, const strake_cl_kernel_plan *plan)
{
    return (size_t)options->stride + 2 * (size_t)plan->margin;
}

size_t strake_cl_local_bytes(const strake_graph *graph, const strake_cl_options *options,
                             const strake_cl_kernel_plan *plan)
{
    return (size_t)plan->slots * 2 * line_elements(options, plan) *
           (size_t)strake_precision_size(graph->precision);
}

/* A term @p age rows before row @p u of a pass: of this pass, or carried over from an earlier one. */
static void write_age(const writer *w, const strake_cl_term *term, int u, int age)
{
    char name[2 * STRAKE_NAME_LENGTH];
    const int row = u - age;
    fprintf(w->text, "%s_%s%d", strake_cl_term_name(w->graph, term, name, sizeof name),
            row < 0 ? "old" : "", abs(row));
}

/* " - 3 * pitch": the row that iteration i + u gives at a lag. */
static void write_row(const writer *w, int u, int lag)
{
    const int row = u - lag;
    if (row != 0) {
        fprintf(w->text, " %c %d * line", row > 0 ? '+' : '-', abs(row));
    }
}

/* Which half of a local array is written in row u; neighbours read the other half. */
static void write_half(const writer *w, int u, bool written)
{
    if (w->options->unroll == 1) {
        fprintf(w->text, "%s(i & 1)", written ? "" : "1 - ");
    } else {
        fprintf(w->text, "%d", written ? u % 2 : 1 - u % 2);
    }
}

/* Whether a value is loaded in one row and used from the next one on. */
static bool is_ahead(const writer *w, int p)
{
    const strake_cl_kernel_plan *plan = w->plan;
    for (int c = 0; c < plan->terms; c++) {
        const strake_cl_term *reader = &plan->term[c];
        if (reader->kind != STRAKE_CL_COMPUTED) {
            continue;
        }
        const strake_stage *stage = &w->graph->stage[w->graph->value[reader->value].stage];
        for (int k = 0; k < stage->reads; k++) {
            if (reader->operand[k] == p &&
                reader->lag - stage->read[k].offset[0] == plan->term[p].lag) {
                return false;
            }
        }
    }
    return plan->term[p].kind == STRAKE_CL_LOADED;
}

/* What a row takes from memory and from neighbours: what it uses at once, or what is for later rows. */
static void write_fresh(const writer *w, int u, bool ahead)
{
    const strake_cl_kernel_plan *plan = w->plan;
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        const int column = term->offset[2];
        if (term->kind == STRAKE_CL_COMPUTED || is_ahead(w, p) != ahead) {
            continue;
        }
        fprintf(w->text, "        const real ");
        write_age(w, term, u, 0);
        if (term->kind == STRAKE_CL_LOADED) {
            fprintf(w->text, " = (a_%s + (at", w->graph->value[term->value].name);
            write_row(w, u, term->lag);
            fprintf(w->text, "))[%d];\n", column);
        } else {
            fprintf(w->text, " = shared[%d][", term->slot);
            write_half(w, u, false);
            fprintf(w->text, "][t %c %d];\n", column > 0 ? '+' : '-', abs(column));
        }
    }
}

static void write_computed(const writer *w, const strake_cl_term *term, int u)
{
    const strake_stage *stage = &w->graph->stage[w->graph->value[term->value].stage];
    fprintf(w->text, "        /* stage %d: %s, row i%+d */\n", stage->number,
            w->graph->value[term->value].name, u - term->lag);
    strake_cl_write_head(w, term, u);
    for (int k = 0; k < stage->reads; k++) {
        const int p = term->operand[k];
        fprintf(w->text, "%s", k > 0 ? ", " : "");
        if (p < 0) {
            fprintf(w->text, "c_%s", w->graph->value[stage->read[k].value].name);
        } else {
            const strake_cl_term *operand = &w->plan->term[p];
            strake_cl_open_operand(w, stage, k);
            write_age(w, operand, u, term->lag - stage->read[k].offset[0] - operand->lag);
            strake_cl_close_operand(w, stage, k);
        }
    }
    strake_cl_write_tail(w, term, u);
}

static void write_send(const writer *w, const strake_cl_term *term, int u)
{
    fprintf(w->text, "        shared[%d][", term->slot);
    write_half(w, u, true);
    fprintf(w->text, "][t] = ");
    write_age(w, term, u, term->sent_lag - term->lag);
    fprintf(w->text, ";\n");
}

static void write_store(const writer *w, const strake_cl_term *term, int u)
{
    const char *name = w->graph->value[term->value].name;
    fprintf(w->text, "        if ((uint)(i %+d - first_%s) < count_%s) {\n            a_%s[at",
            u - term->lag, name, name, name);
    write_row(w, u, term->lag);
    fprintf(w->text, "] = ");
    write_age(w, term, u, 0);
    fprintf(w->text, ";\n        }\n");
}

static bool is_output(const writer *w, const strake_cl_term *term)
{
    for (int k = 0; k < w->plan->outputs && term->offset[2] == 0; k++) {
        if (w->plan->output[k] == term->value) {
            return true;
        }
    }
    return false;
}

/* Hands the values that are certain to the neighbours and to memory. */
static void write_results(const writer *w, const int *order, int count, int u)
{
    for (int k = 0; k < count; k++) {
        const strake_cl_term *term = &w->plan->term[order[k]];
        if (term->slot >= 0) {
            write_send(w, term, u);
        }
        if (is_output(w, term)) {
            write_store(w, term, u);
        }
    }
}

static void write_pass_row(const writer *w, int u)
{
    const strake_cl_kernel_plan *plan = w->plan;
    int order[2 * STRAKE_CL_KERNEL_TERMS];
    const int steps = strake_cl_order_terms(w->graph, w->options, plan, order);
    int settled = 0;
    fprintf(w->text, "        /* ---- row %d of the pass ---- */\n", u);
    /* A compiler may wait for all loads that it issued before the one it needs. */
    write_fresh(w, u, false);
    write_fresh(w, u, true);
    for (int o = 0; o < steps; o++) {
        if (order[o] != STRAKE_CL_SETTLE) {
            write_computed(w, &plan->term[order[o]], u);
            continue;
        }
        strake_cl_write_settle(w, order + settled, o - settled, u);
        write_results(w, order + settled, o - settled, u);
        settled = o + 1;
    }
    write_results(w, order + settled, steps - settled, u);
    if (plan->slots > 0) {
        fprintf(w->text, "        barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
}

/* The rows that the next pass still needs become its old ones. */
static void write_carry(const writer *w)
{
    const int unroll = w->options->unroll;
    for (int p = 0; p < w->plan->terms; p++) {
        const strake_cl_term *term = &w->plan->term[p];
        for (int age = term->depth - 1; age > 0; age--) {
            fprintf(w->text, "        ");
            write_age(w, term, 0, age);
            fprintf(w->text, " = ");
            write_age(w, term, unroll, age);
            fprintf(w->text, ";\n");
        }
    }
}

/* Columns of any array: the loads of work-items beyond them are moved there. */
static void column_reach(const strake_graph *graph, int *lo, int *hi)
{
    *lo = 0;
    *hi = 0;
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        if (value->is_live && !value->is_constant) {
            *lo = value->lo[2] > *lo ? value->lo[2] : *lo;
            *hi = value->hi[2] > *hi ? value->hi[2] : *hi;
        }
    }
}

static void write_setup(const writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    int lo = 0;
    int hi = 0;
    column_reach(w->graph, &lo, &hi);
    fprintf(w->text,
            "    const int width = (int)get_local_size(0);\n"
            "    const int item = (int)get_local_id(0);\n"
            "    const int j = (int)get_group_id(0) * (width - %d) - %d + item;\n"
            "    const int first = (int)get_group_id(1) * rows - %d;\n"
            "    const int end = min(first + rows, n0 + %d);\n"
            "    const bool inside = item >= %d && item < width - %d;\n",
            plan->side[0] + plan->side[1], plan->lo[2] + plan->side[0], plan->lo[0], plan->hi[0],
            plan->side[0], plan->side[1]);
    for (int k = 0; k < plan->outputs; k++) {
        const strake_value *value = &w->graph->value[plan->output[k]];
        fprintf(w->text,
                "    const int first_%s = max(first, %d);\n"
                "    const uint count_%s = inside && j >= %d && j < n2 + %d\n"
                "        ? (uint)max(min(end, n0 + %d) - first_%s, 0) : 0U;\n",
                value->name, -value->lo[0], value->name, -value->lo[2], value->hi[2], value->hi[0],
                value->name);
    }
    fprintf(w->text,
            "    int i = first %+d;\n"
            "    const place line = (place)pitch;\n"
            "    place at = (place)(origin + i * pitch + min(max(j, %d), n2 + %d));\n",
            plan->start, -lo, hi - 1);
    if (plan->slots > 0) {
        const int line = (int)line_elements(w->options, plan);
        fprintf(w->text,
                "    __local real shared[%d][2][%d];\n"
                "    const int t = item + %d;\n"
                "    for (int k = item; k < %d; k += width) {\n"
                "        (&shared[0][0][0])[k] = REAL(0.0);\n    }\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n",
                plan->slots, line, plan->margin, plan->slots * 2 * line);
    }
    for (int p = 0; p < plan->terms; p++) {
        for (int age = 1; age < plan->term[p].depth; age++) {
            fprintf(w->text, "    real ");
            write_age(w, &plan->term[p], 0, age);
            fprintf(w->text, " = REAL(0.0);\n");
        }
    }
}

void strake_cl_write_march(const strake_cl_writer *w)
{
    write_setup(w);
    fprintf(w->text, "    for (; i < end %+d; i += %d) {\n", w->plan->drain, w->options->unroll);
    for (int u = 0; u < w->options->unroll; u++) {
        write_pass_row(w, u);
    }
    write_carry(w);
    fprintf(w->text, "        at += %d * line;\n    }\n", w->options->unroll);
}
