/* What the texts of all kernels have in common (names, computations, ghosts), and that of marching kernels. */
#include "opencl/cl_generate.h"

#include <stdlib.h>

typedef strake_cl_writer writer;

/* Variable name of a term without its row: value and offset, for example "r_x_e1". */
static const char *term_name(const strake_graph *graph, const strake_cl_term *term, char *buffer,
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
    (void)term_name(w->graph, term, name, sizeof name);
    fprintf(w->text, "%c%s", kind, name + 1);
    if (u >= 0) {
        fprintf(w->text, "_%d", u);
    }
}

/* What tells ranges of a work-item's lines apart in their names: "" where it has one. */
static const char *line_name(const strake_cl_kernel_plan *plan, int line)
{
    static const char *const name[STRAKE_CL_MOST_LINES] = {"_line0", "_line1", "_line2", "_line3"};
    return plan->lines > 1 ? name[line] : "";
}

/* A term @p age rows before row @p u of a pass: of this pass, or carried over from an earlier one. */
static void write_age(const writer *w, const strake_cl_term *term, int u, int age)
{
    char name[2 * STRAKE_NAME_LENGTH];
    const int row = u - age;
    fprintf(w->text, "%s_%s%d", term_name(w->graph, term, name, sizeof name), row < 0 ? "old" : "",
            abs(row));
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

/* Whether a kernel hands its functions a doubt: a marching one does, in others the device's own operations are as fast. */
static bool plan_has_doubts(const strake_graph *graph, const strake_cl_options *options,
                            const strake_cl_kernel_plan *plan)
{
    bool has_doubt = false;
    for (int p = 0; p < plan->terms; p++) {
        has_doubt = has_doubt || (plan->term[p].kind == STRAKE_CL_COMPUTED &&
                                  strake_cl_term_stage(graph, &plan->term[p])->point->has_doubt);
    }
    return has_doubt && plan->marches && strake_cl_graph_has_doubts(graph, options);
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
        const bool doubts = plan_has_doubts(w->graph, w->options, w->plan);
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

/* A term's computation ("const real r_x_0 = flux_update(...);"), under its title; u: row, or -1. */
static void write_computed(const writer *w, const strake_cl_term *term, int u,
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

/* Makes the quotients of the ratios among @p count computed terms certain. */
static void write_settle(const writer *w, const int *term, int count, int u)
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
            write_settle(w, order + settled, o - settled, -1);
            settled = o + 1;
        } else {
            write_computed(w, &w->plan->term[order[o]], -1, write_operand);
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

/* Which cells a work-item has: columns j and on, line m. */
static void write_position(const writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    const int *side = plan->side[2];
    const int *above = plan->side[1];
    char times[16] = "";
    if (plan->lines > 1) {
        (void)snprintf(times, sizeof times, " * %d", plan->lines);
    }
    fprintf(w->text, "    const int width = (int)get_local_size(0);\n"
                     "    const int item = (int)get_local_id(0);\n");
    if (plan->vector == 1) {
        fprintf(w->text, "    const int j = (int)get_group_id(0) * (width - %d) - %d + item;\n",
                side[0] + side[1], plan->lo[2] + side[0]);
    } else {
        fprintf(w->text,
                "    const int j = ((int)get_group_id(0) * (width - %d) - %d + item) * %d;\n",
                side[0] + side[1], strake_cl_lead(plan) / plan->vector + side[0], plan->vector);
    }
    if (!w->plan->flat) {
        fprintf(w->text,
                "    const int height = (int)get_local_size(1);\n"
                "    const int item_line = (int)get_local_id(1);\n"
                "    const int m = (int)get_group_id(1) * (height%s - %d) - %d + item_line%s;\n",
                times, above[0] + above[1], plan->lo[1] + above[0], times);
    }
    fprintf(w->text,
            "    const int first = (int)get_group_id(%d) * rows - %d;\n"
            "    const int end = min(first + rows, n0 + %d);\n"
            "    const bool inside = item >= %d && item < width - %d",
            w->plan->flat ? 1 : 2, plan->lo[0], plan->hi[0], side[0], side[1]);
    if (!w->plan->flat && plan->lines == 1) {
        fprintf(w->text, " &&\n        item_line >= %d && item_line < height - %d", above[0],
                above[1]);
    }
    fprintf(w->text, ";\n");
}

/* Which rows of a line of its columns a work-item stores. */
static void write_range(const writer *w, const strake_value *value, int line)
{
    const strake_cl_kernel_plan *plan = w->plan;
    const char *name = value->name;
    const char *of_line = line_name(plan, line);
    fprintf(w->text, "    const uint %s_%s%s = inside", plan->vector == 1 ? "count" : "rows", name,
            of_line);
    if (plan->lines > 1) {
        fprintf(w->text,
                " &&\n            item_line * %d >= %d && item_line * %d < height * %d - %d &&\n"
                "            m + %d >= %d && m + %d < n1 + %d",
                plan->lines, plan->side[1][0] - line, plan->lines, plan->lines,
                plan->side[1][1] + line, line, -value->lo[1], line, value->hi[1]);
    } else if (!plan->flat) {
        fprintf(w->text, " && m >= %d && m < n1 + %d", -value->lo[1], value->hi[1]);
    }
    if (plan->vector == 1) {
        fprintf(w->text, " && j >= %d && j < n2 + %d", -value->lo[2], value->hi[2]);
    }
    fprintf(w->text, "\n        ? (uint)max(min(end, n0 + %d) - first_%s, 0) : 0U;\n", value->hi[0],
            name);
    if (plan->vector > 1) {
        fprintf(w->text,
                "    const uint count_%s%s = j >= %d && j + %d < n2 + %d ? rows_%s%s : 0U;\n"
                "    const uint part_%s%s = rows_%s%s - count_%s%s;\n",
                name, of_line, -value->lo[2], plan->vector - 1, value->hi[2], name, of_line, name,
                of_line, name, of_line, name, of_line);
    }
}

static void write_ranges(const writer *w)
{
    for (int k = 0; k < w->plan->outputs; k++) {
        const strake_value *value = &w->graph->value[w->plan->output[k]];
        fprintf(w->text, "    const int first_%s = max(first, %d);\n", value->name, -value->lo[0]);
        for (int line = 0; line < w->plan->lines; line++) {
            write_range(w, value, line);
        }
    }
}

static void write_local(const writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    const int line = (int)strake_cl_line_elements(w->options, plan);
    const int half = (int)strake_cl_half_elements(w->options, plan);
    fprintf(w->text, "    __local real shared[%d][%d][%d];\n", plan->slots, strake_cl_halves(plan),
            half);
    if (w->plan->flat) {
        fprintf(w->text, "    const int t = item + %d;\n", plan->margin[2]);
    } else {
        fprintf(w->text, "    const int t = (item_line + %d) * %d + item + %d;\n", plan->margin[1],
                line, plan->margin[2]);
    }
}

static void write_line(const writer *w)
{
    if (w->options->pitch > 0) {
        fprintf(w->text, "    enum { LINE = %lld };\n    const place line = LINE;\n",
                (long long)w->options->pitch);
    } else {
        fprintf(w->text, "    const place line = (place)%s;\n", w->plan->flat ? "pitch" : "slab");
    }
    if (!w->plan->flat) {
        fprintf(w->text, "    const place across = (place)pitch;\n");
    }
}

/*
 * The first row (@p anew: once more if doubted), and the element of column j in it; columns and lines beyond the arrays
 * become the nearest.
 */
static void write_start(const writer *w, bool anew)
{
    const strake_cl_kernel_plan *plan = w->plan;
    int lo = 0;
    int hi = 0;
    strake_cl_find_reach(w->graph, 2, &lo, &hi);
    if (anew) {
        fprintf(w->text, "    i = doubted != 0 ? first %+d : end %+d;\n", plan->start, plan->drain);
    } else {
        fprintf(w->text, "    int i = first %+d;\n", plan->start);
    }
    fprintf(w->text, "    %s = (place)(origin + i * %s + ", anew ? "at" : "place at",
            w->plan->flat ? "pitch" : "slab");
    if (plan->vector == 1) {
        fprintf(w->text, "min(max(j, %d), n2 + %d)", -lo, hi - 1);
    } else {
        fprintf(w->text, "min(max(j, %d), (n2 + %d) / %d * %d)",
                -((lo + plan->vector - 1) / plan->vector * plan->vector), hi - 1, plan->vector,
                plan->vector);
    }
    if (!w->plan->flat) {
        strake_cl_find_reach(w->graph, 1, &lo, &hi);
        fprintf(w->text, " +\n        min(max(m, %d), n1 + %d) * pitch", 1 - lo - plan->lines,
                hi - 1);
    }
    fprintf(w->text, ");\n");
}

/* What precedes the loop over rows: positions, ranges, local arrays. */
static void write_setup(const writer *w)
{
    write_position(w);
    write_ranges(w);
    write_line(w);
    write_start(w, false);
    if (w->plan->slots > 0) {
        write_local(w);
    }
}

/* Before each loop over rows: empty local arrays, and the rows that are kept. */
static void write_rows_kept(const writer *w)
{
    if (w->plan->slots > 0) {
        fprintf(w->text,
                "    for (int k = %s; k < %d; k += %s) {\n"
                "        (&shared[0][0][0])[k] = REAL(0.0);\n    }\n"
                "    barrier(CLK_LOCAL_MEM_FENCE);\n",
                w->plan->flat ? "item" : "item_line * width + item",
                w->plan->slots * strake_cl_halves(w->plan) *
                    (int)strake_cl_half_elements(w->options, w->plan),
                w->plan->flat ? "width" : "width * height");
    }
    for (int p = 0; p < w->plan->terms; p++) {
        for (int age = 1; age < w->plan->term[p].depth; age++) {
            fprintf(w->text, "    real ");
            write_age(w, &w->plan->term[p], 0, age);
            fprintf(w->text, " = REAL(0.0);\n");
        }
    }
}

/* The row that iteration i + u gives of a term. */
static void write_term_row(const writer *w, const strake_cl_term *term, int u)
{
    strake_cl_write_row(w, term, u - term->lag);
}

/* Which half of a local array is written in row u; neighbours read the other half. */
static void write_half(const writer *w, int u, bool written)
{
    if (strake_cl_halves(w->plan) == 1) {
        fprintf(w->text, "0");
    } else if (w->options->run.unroll == 1) {
        fprintf(w->text, "%s(i & 1)", written ? "" : "1 - ");
    } else {
        fprintf(w->text, "%d", written ? u % 2 : 1 - u % 2);
    }
}

/* Whether a value is loaded in one row and used from the next one on. */
static bool is_used_later(const writer *w, int p)
{
    const strake_cl_kernel_plan *plan = w->plan;
    for (int c = 0; c < plan->terms; c++) {
        const strake_cl_term *reader = &plan->term[c];
        if (reader->kind != STRAKE_CL_COMPUTED) {
            continue;
        }
        const strake_stage *stage = strake_cl_term_stage(w->graph, reader);
        for (int k = 0; k < stage->reads; k++) {
            if (reader->operand[k] == p &&
                reader->lag - stage->read[k].offset[0] == plan->term[p].lag) {
                return false;
            }
        }
    }
    return plan->term[p].kind == STRAKE_CL_LOADED;
}

/* The load of another own column together with term @p p, whose column is 0; -1: there is none. */
static int find_beside(const writer *w, int p, int column)
{
    const strake_cl_term *term = &w->plan->term[p];
    for (int q = 0; q < w->plan->terms; q++) {
        const strake_cl_term *other = &w->plan->term[q];
        if (other->kind == STRAKE_CL_LOADED && other->value == term->value &&
            other->offset[1] == term->offset[1] && other->offset[2] == column &&
            other->lag == term->lag) {
            return q;
        }
    }
    return -1;
}

/* Whether all own columns of a value are loaded with term @p p, so that one load brings them. */
static bool is_joined(const writer *w, int p)
{
    const strake_cl_term *term = &w->plan->term[p];
    const int vector = w->plan->vector;
    const bool own =
        term->kind == STRAKE_CL_LOADED && vector > 1 && strake_cl_term_is_own(w->plan, term);
    for (int column = 0; column < vector && own; column++) {
        if (find_beside(w, p, column) < 0) {
            return false;
        }
    }
    return own;
}

static void write_joined_load(const writer *w, int p, int u)
{
    char name[2 * STRAKE_NAME_LENGTH];
    const strake_cl_term *term = &w->plan->term[p];
    if (term->offset[2] != 0) {
        return; /* came with column 0 */
    }
    (void)term_name(w->graph, term, name, sizeof name);
    fprintf(w->text, "        const real%d v%s_%d = *(__global const real%d *)", w->plan->vector,
            name + 1, u, w->plan->vector);
    fprintf(w->text, "(");
    write_term_row(w, term, u);
    fprintf(w->text, ");\n");
    for (int column = 0; column < w->plan->vector; column++) {
        fprintf(w->text, "        const real ");
        write_age(w, &w->plan->term[find_beside(w, p, column)], u, 0);
        fprintf(w->text, " = v%s_%d.s%d;\n", name + 1, u, column);
    }
}

static void write_received(const writer *w, const strake_cl_term *term, int u)
{
    const int away =
        strake_cl_items_away(w->plan, term, 1) * (int)strake_cl_line_elements(w->options, w->plan) +
        strake_cl_items_away(w->plan, term, 2);
    fprintf(w->text, "        const real ");
    write_age(w, term, u, 0);
    fprintf(w->text, " = shared[%d][", term->slot);
    write_half(w, u, false);
    fprintf(w->text, "][t %c %d];\n", away > 0 ? '+' : '-', abs(away));
}

/* The same of everything that one load brings. */
static bool is_ahead(const writer *w, int p)
{
    bool ahead = is_used_later(w, p);
    for (int column = 0; column < w->plan->vector && is_joined(w, p); column++) {
        ahead = ahead && is_used_later(w, find_beside(w, p, column));
    }
    return ahead;
}

/* What a row takes from memory and from neighbours: what it uses at once, or what is for later rows. */
static void write_fresh(const writer *w, int u, bool ahead)
{
    const strake_cl_kernel_plan *plan = w->plan;
    for (int p = 0; p < plan->terms; p++) {
        const strake_cl_term *term = &plan->term[p];
        if (term->kind == STRAKE_CL_COMPUTED || is_ahead(w, p) != ahead) {
            continue;
        }
        if (term->kind == STRAKE_CL_EXCHANGED) {
            write_received(w, term, u);
        } else if (is_joined(w, p)) {
            write_joined_load(w, p, u);
        } else {
            fprintf(w->text, "        const real ");
            write_age(w, term, u, 0);
            fprintf(w->text, " = (");
            write_term_row(w, term, u);
            fprintf(w->text, ")[%d];\n", term->offset[2]);
        }
    }
}

static void write_operand(const writer *w, const strake_cl_term *reader, int k, int u)
{
    const strake_cl_term *operand = &w->plan->term[reader->operand[k]];
    const int row = strake_cl_term_stage(w->graph, reader)->read[k].offset[0];
    write_age(w, operand, u, reader->lag - row - operand->lag);
}

static void write_send(const writer *w, const strake_cl_term *term, int u)
{
    fprintf(w->text, "        shared[%d][", term->slot);
    write_half(w, u, true);
    fprintf(w->text, "][t] = ");
    write_age(w, term, u, term->sent_lag - term->lag);
    fprintf(w->text, ";\n");
}

/* What becomes of an output's cell. */
static void write_cell_store(const writer *w, const strake_cl_term *term, int u, const char *indent)
{
    if (strake_cl_write_is_array(w, term->value)) {
        fprintf(w->text, "%s(", indent);
        write_term_row(w, term, u);
        fprintf(w->text, ")[%d] = ", term->offset[2]);
        write_age(w, term, u, 0);
        fprintf(w->text, ";\n");
    }
    strake_cl_write_reduced(w, term, u, indent);
}

static void write_store(const writer *w, const strake_cl_term *term, int u)
{
    const char *name = w->graph->value[term->value].name;
    fprintf(w->text, "        if ((uint)(i %+d - first_%s) < count_%s%s) {\n", u - term->lag, name,
            name, line_name(w->plan, term->offset[1]));
    write_cell_store(w, term, u, "            ");
    fprintf(w->text, "        }\n");
}

/* All own columns of an output, in one store where they all lie inside. */
static void write_joined_store(const writer *w, int value, int line, int lag, int u)
{
    const char *of_line = line_name(w->plan, line);
    const strake_cl_kernel_plan *plan = w->plan;
    const char *name = w->graph->value[value].name;
    int cell[STRAKE_AXES] = {0, line, 0};
    fprintf(w->text, "        if ((uint)(i %+d - first_%s) < count_%s%s) {\n", u - lag, name, name,
            of_line);
    if (strake_cl_write_is_array(w, value)) {
        fprintf(w->text, "            *(__global real%d *)(", plan->vector);
        write_term_row(w, &plan->term[strake_cl_find_term(plan, value, cell)], u);
        fprintf(w->text, ") = (real%d)(", plan->vector);
        for (cell[2] = 0; cell[2] < plan->vector; cell[2]++) {
            fprintf(w->text, "%s", cell[2] > 0 ? ", " : "");
            write_age(w, &plan->term[strake_cl_find_term(plan, value, cell)], u, 0);
        }
        fprintf(w->text, ");\n");
    }
    for (cell[2] = 0; cell[2] < plan->vector; cell[2]++) {
        strake_cl_write_reduced(w, &plan->term[strake_cl_find_term(plan, value, cell)], u,
                                "            ");
    }
    fprintf(w->text, "        } else if ((uint)(i %+d - first_%s) < part_%s%s) {\n", u - lag, name,
            name, of_line);
    for (cell[2] = 0; cell[2] < plan->vector; cell[2]++) {
        const strake_value *range = &w->graph->value[value];
        fprintf(w->text, "            if (j + %d >= %d && j + %d < n2 + %d) {\n", cell[2],
                -range->lo[2], cell[2], range->hi[2]);
        write_cell_store(w, &plan->term[strake_cl_find_term(plan, value, cell)], u,
                         "                ");
        fprintf(w->text, "            }\n");
    }
    fprintf(w->text, "        }\n");
}

/* Whether another own column of a term's value is computed later in the row. */
static bool another_follows(const writer *w, const int *order, int from, int steps, int value,
                            int line)
{
    for (int o = from; o < steps; o++) {
        if (order[o] != STRAKE_CL_SETTLE && w->plan->term[order[o]].value == value &&
            w->plan->term[order[o]].offset[1] == line &&
            strake_cl_term_is_own(w->plan, &w->plan->term[order[o]])) {
            return true;
        }
    }
    return false;
}

/* Hands the values order[first..end), which are certain, to the neighbours and to memory. */
static void write_results(const writer *w, const int *order, int first, int end, int steps, int u)
{
    for (int o = first; o < end; o++) {
        const strake_cl_term *term = &w->plan->term[order[o]];
        if (term->slot >= 0) {
            write_send(w, term, u);
        }
        if (!strake_cl_term_is_stored(w->plan, term)) {
            continue;
        }
        if (w->plan->vector == 1) {
            write_store(w, term, u);
        } else if (!another_follows(w, order, o + 1, steps, term->value, term->offset[1])) {
            write_joined_store(w, term->value, term->offset[1], term->lag, u);
        }
    }
}

static void write_pass_row(const writer *w, int u)
{
    const strake_cl_kernel_plan *plan = w->plan;
    int order[2 * STRAKE_CL_KERNEL_TERMS];
    const int steps = strake_cl_order_terms(w->graph, w->options, plan, 0, plan->terms, order);
    int settled = 0;
    fprintf(w->text, "        /* ---- row %d of the pass ---- */\n", u);
    /* A compiler may wait for all loads that it issued before the one it needs. */
    write_fresh(w, u, false);
    if (plan->slots > 0 && strake_cl_halves(plan) == 1) {
        fprintf(w->text, "        barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
    write_fresh(w, u, true);
    for (int o = 0; o < steps; o++) {
        if (order[o] != STRAKE_CL_SETTLE) {
            write_computed(w, &plan->term[order[o]], u, write_operand);
            continue;
        }
        write_settle(w, order + settled, o - settled, u);
        write_results(w, order, settled, o, steps, u);
        settled = o + 1;
    }
    write_results(w, order, settled, steps, steps, u);
    if (plan->slots > 0) {
        fprintf(w->text, "        barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
}

/* The rows that the next pass still needs become its old ones. */
static void write_carry(const writer *w)
{
    const int unroll = w->options->run.unroll;
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

/* The cells that a group stores: places are found anew, see group_again() in cl/ghost.cl. */
static void write_group_ghosts(const writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    const int sides = plan->side[2][0] + plan->side[2][1];
    fprintf(w->text,
            "    const int stored = ((int)get_local_size(0) - %d) * %d;\n"
            "    const int row = group_again(1) * rows - %d;\n"
            "    const int col = group_again(0) * stored - %d;\n",
            sides, plan->vector, plan->lo[0],
            plan->vector == 1 ? plan->lo[2] : strake_cl_lead(plan));
    strake_cl_write_ghosts(w, "row", "row + rows", "col", "col + stored", "item_again()",
                           "(int)get_local_size(0)");
}

static void write_loop(const writer *w)
{
    write_rows_kept(w);
    fprintf(w->text, "    for (; i < end %+d; i += %d) {\n", w->plan->drain,
            w->options->run.unroll);
    for (int u = 0; u < w->options->run.unroll; u++) {
        write_pass_row(w, u);
    }
    write_carry(w);
    fprintf(w->text, "        at += %d * line;\n    }\n", w->options->run.unroll);
}

/*
 * The loop with refined divisions and, in a group where one of them was in doubt, once more without. Were rows
 * computed again one by one, operands would take registers until the end of their row. The second loop has no rows
 * where there is no doubt: a branch around its barriers would make compilers for processors very slow.
 */
static void write_loops(const writer *w)
{
    writer again = *w;
    again.certain = true;
    fprintf(w->text, "    uint doubt = 0;\n    __local int doubted;\n"
                     "    if (item == 0) {\n        doubted = 0;\n    }\n"
                     "    barrier(CLK_LOCAL_MEM_FENCE);\n    {\n");
    write_loop(w);
    fprintf(w->text, "    }\n    if (STRAKE_IS_DOUBTED(doubt)) {\n        doubted = 1;\n    }\n"
                     "    barrier(CLK_LOCAL_MEM_FENCE);\n");
    write_start(w, true);
    strake_cl_write_reductions(w, true);
    fprintf(w->text, "    {\n");
    write_loop(&again);
    fprintf(w->text, "    }\n");
}

void strake_cl_write_march(const strake_cl_writer *w)
{
    write_setup(w);
    (plan_has_doubts(w->graph, w->options, w->plan) ? write_loops : write_loop)(w);
    if (strake_cl_plan_fills(w->graph, w->plan)) {
        write_group_ghosts(w);
    }
}
