/* Text of a marching kernel; see cl_plan.h for what it does. */
#include <stdlib.h>

#include "opencl/cl_write.h"

typedef strake_cl_writer writer;

/* The row that iteration i + u gives of a term. */
static void write_row(const writer *w, const strake_cl_term *term, int u)
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
    (void)strake_cl_term_name(w->graph, term, name, sizeof name);
    fprintf(w->text, "        const real%d v%s_%d = *(__global const real%d *)", w->plan->vector,
            name + 1, u, w->plan->vector);
    fprintf(w->text, "(");
    write_row(w, term, u);
    fprintf(w->text, ");\n");
    for (int column = 0; column < w->plan->vector; column++) {
        fprintf(w->text, "        const real ");
        strake_cl_write_age(w, &w->plan->term[find_beside(w, p, column)], u, 0);
        fprintf(w->text, " = v%s_%d.s%d;\n", name + 1, u, column);
    }
}

static void write_received(const writer *w, const strake_cl_term *term, int u)
{
    const int away =
        strake_cl_items_away(w->plan, term, 1) * (int)strake_cl_line_elements(w->options, w->plan) +
        strake_cl_items_away(w->plan, term, 2);
    fprintf(w->text, "        const real ");
    strake_cl_write_age(w, term, u, 0);
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
            strake_cl_write_age(w, term, u, 0);
            fprintf(w->text, " = (");
            write_row(w, term, u);
            fprintf(w->text, ")[%d];\n", term->offset[2]);
        }
    }
}

static void write_operand(const writer *w, const strake_cl_term *reader, int k, int u)
{
    const strake_cl_term *operand = &w->plan->term[reader->operand[k]];
    const int row = strake_cl_term_stage(w->graph, reader)->read[k].offset[0];
    strake_cl_write_age(w, operand, u, reader->lag - row - operand->lag);
}

static void write_send(const writer *w, const strake_cl_term *term, int u)
{
    fprintf(w->text, "        shared[%d][", term->slot);
    write_half(w, u, true);
    fprintf(w->text, "][t] = ");
    strake_cl_write_age(w, term, u, term->sent_lag - term->lag);
    fprintf(w->text, ";\n");
}

/* What becomes of an output's cell. */
static void write_cell_store(const writer *w, const strake_cl_term *term, int u, const char *indent)
{
    if (strake_cl_write_is_array(w, term->value)) {
        fprintf(w->text, "%s(", indent);
        write_row(w, term, u);
        fprintf(w->text, ")[%d] = ", term->offset[2]);
        strake_cl_write_age(w, term, u, 0);
        fprintf(w->text, ";\n");
    }
    strake_cl_write_reduced(w, term, u, indent);
}

static void write_store(const writer *w, const strake_cl_term *term, int u)
{
    const char *name = w->graph->value[term->value].name;
    fprintf(w->text, "        if ((uint)(i %+d - first_%s) < count_%s%s) {\n", u - term->lag, name,
            name, strake_cl_line_name(w->plan, term->offset[1]));
    write_cell_store(w, term, u, "            ");
    fprintf(w->text, "        }\n");
}

/* All own columns of an output, in one store where they all lie inside. */
static void write_joined_store(const writer *w, int value, int line, int lag, int u)
{
    const char *of_line = strake_cl_line_name(w->plan, line);
    const strake_cl_kernel_plan *plan = w->plan;
    const char *name = w->graph->value[value].name;
    int cell[STRAKE_AXES] = {0, line, 0};
    fprintf(w->text, "        if ((uint)(i %+d - first_%s) < count_%s%s) {\n", u - lag, name, name,
            of_line);
    if (strake_cl_write_is_array(w, value)) {
        fprintf(w->text, "            *(__global real%d *)(", plan->vector);
        write_row(w, &plan->term[strake_cl_find_term(plan, value, cell)], u);
        fprintf(w->text, ") = (real%d)(", plan->vector);
        for (cell[2] = 0; cell[2] < plan->vector; cell[2]++) {
            fprintf(w->text, "%s", cell[2] > 0 ? ", " : "");
            strake_cl_write_age(w, &plan->term[strake_cl_find_term(plan, value, cell)], u, 0);
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
            strake_cl_write_computed(w, &plan->term[order[o]], u, write_operand);
            continue;
        }
        strake_cl_write_settle(w, order + settled, o - settled, u);
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
            strake_cl_write_age(w, term, 0, age);
            fprintf(w->text, " = ");
            strake_cl_write_age(w, term, unroll, age);
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
    strake_cl_write_rows_kept(w);
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
    strake_cl_write_start(w, true);
    strake_cl_write_reductions(w, true);
    fprintf(w->text, "    {\n");
    write_loop(&again);
    fprintf(w->text, "    }\n");
}

void strake_cl_write_march(const strake_cl_writer *w)
{
    strake_cl_write_setup(w);
    (strake_cl_plan_has_doubts(w->graph, w->options, w->plan) ? write_loops : write_loop)(w);
    if (strake_cl_plan_fills(w->graph, w->plan)) {
        write_group_ghosts(w);
    }
}
