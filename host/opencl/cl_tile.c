/* Text of a tiled kernel; see cl_plan.h for what it does. */
#include <stdlib.h>

#include "opencl/cl_write.h"

typedef strake_cl_writer writer;

/* " + 2", " - 1" or nothing. */
static void write_distance(const writer *w, long long distance)
{
    if (distance != 0) {
        fprintf(w->text, " %c %lld", distance > 0 ? '+' : '-', llabs(distance));
    }
}

/* "min(max(i, -3), n0 + 2)": the nearest cell that arrays have along an axis. */
static void write_clamped(const writer *w, const char *index, int axis)
{
    int lo = 0;
    int hi = 0;
    strake_cl_find_reach(w->graph, axis, &lo, &hi);
    fprintf(w->text, "(place)min(max(%s, %d), n%d", index, -lo, axis);
    write_distance(w, hi - 1);
    fprintf(w->text, ")");
}

/* "shared[t - 38]": a term's element of its local array. */
static void write_shared(const writer *w, const strake_cl_term *term)
{
    fprintf(w->text, "shared[t");
    write_distance(w, (long long)w->plan->slot[term->slot].base +
                          (long long)term->offset[0] * w->plan->plane +
                          (long long)term->offset[1] * w->plan->line + term->offset[2]);
    fprintf(w->text, "]");
}

/* "(a_psi + at - 2 * LINE)[1]" */
static void write_loaded(const writer *w, const strake_cl_term *term)
{
    fprintf(w->text, "(");
    strake_cl_write_row(w, term, term->offset[0]);
    fprintf(w->text, ")[%d]", term->offset[2]);
}

/* Whether a term goes to memory. */
static bool is_stored(const writer *w, const strake_cl_term *term)
{
    return term->kind == STRAKE_CL_COMPUTED && term->offset[0] == 0 && term->offset[1] == 0 &&
           strake_cl_term_is_stored(w->plan, term);
}

/* What a cell takes from memory and from earlier phases. */
static void write_operands(const writer *w, const strake_cl_phase *phase)
{
    for (int p = phase->first; p < phase->end; p++) {
        const strake_cl_term *term = &w->plan->term[p];
        if (term->kind == STRAKE_CL_COMPUTED) {
            continue;
        }
        fprintf(w->text, "%sconst real ", w->indent);
        strake_cl_write_variable(w, term, -1, 'r');
        fprintf(w->text, " = ");
        (term->kind == STRAKE_CL_EXCHANGED ? write_shared : write_loaded)(w, term);
        fprintf(w->text, ";\n");
    }
}

static void write_operand(const writer *w, const strake_cl_term *reader, int k, int u)
{
    strake_cl_write_variable(w, &w->plan->term[reader->operand[k]], u, 'r');
}

/* Whether an output has the cell along an axis, and the tile, if the phase has more cells. */
static void write_inside(const writer *w, const char *index, const char *start, int axis,
                         const strake_value *value, const strake_cl_phase *phase)
{
    if (phase->lo[axis] + phase->hi[axis] > 0) {
        fprintf(w->text, "(uint)(%s - %s) < %du && ", index, start,
                strake_cl_tile_extent(w->options, axis));
    }
    if (value->lo[axis] != w->plan->lo[axis]) {
        fprintf(w->text, "%s >= %d && ", index, -value->lo[axis]);
    }
    fprintf(w->text, "%s < n%d", index, axis);
    write_distance(w, value->hi[axis]);
    fprintf(w->text, "%s", axis == 2 ? "" : " && ");
}

/* Hands a cell's values to later phases and to memory: a cell of the tile and of the output. */
static void write_results(const writer *w, const strake_cl_phase *phase)
{
    const strake_cl_kernel_plan *plan = w->plan;
    for (int p = phase->first; p < phase->end; p++) {
        const strake_cl_term *term = &plan->term[p];
        if (term->kind != STRAKE_CL_EXCHANGED && term->slot >= 0) {
            fprintf(w->text, "%s", w->indent);
            write_shared(w, term);
            fprintf(w->text, " = ");
            strake_cl_write_variable(w, term, -1, 'r');
            fprintf(w->text, ";\n");
        }
        if (!is_stored(w, term)) {
            continue;
        }
        const strake_value *value = &w->graph->value[term->value];
        fprintf(w->text, "%sif (", w->indent);
        write_inside(w, "i", "first", 0, value, phase);
        if (!plan->flat) {
            write_inside(w, "l", "front", 1, value, phase);
        }
        write_inside(w, "j", "left", 2, value, phase);
        fprintf(w->text, ") {\n");
        if (strake_cl_write_is_array(w, term->value)) {
            fprintf(w->text, "%s    a_%s[at] = ", w->indent, value->name);
            strake_cl_write_variable(w, term, -1, 'r');
            fprintf(w->text, ";\n");
        }
        strake_cl_write_reduced(w, term, -1, "            ");
        fprintf(w->text, "%s}\n", w->indent);
    }
}

/* Which values a phase makes, and for how many cells. */
static void write_title(const writer *w, int number, const int extent[STRAKE_AXES])
{
    const strake_cl_kernel_plan *plan = w->plan;
    const strake_cl_phase *phase = &plan->phase[number];
    fprintf(w->text, "\n    /* ---- phase %d of %d: %d x ", number + 1, plan->phases, extent[2]);
    if (!plan->flat) {
        fprintf(w->text, "%d x ", extent[1]);
    }
    fprintf(w->text, "%d cells;", extent[0]);
    for (int p = phase->first; p < phase->end; p++) {
        const strake_cl_term *term = &plan->term[p];
        if (is_stored(w, term) || (term->kind != STRAKE_CL_EXCHANGED && term->slot >= 0)) {
            fprintf(w->text, " %s", w->graph->value[term->value].name);
        }
    }
    fprintf(w->text, " ---- */\n");
}

/* The cells of the phase that a work-item has: one, or every so many of them. */
static void write_cells(const writer *w, const int extent[STRAKE_AXES])
{
    const long long cells = (long long)extent[0] * extent[1] * extent[2];
    const int items = w->options->items;
    if (cells > items) {
        fprintf(w->text, "    for (uint k = item; k < %lldu; k += %du) {\n", cells, items);
    } else {
        if (cells < items) {
            fprintf(w->text, "    if (item < %lldu) {\n", cells);
        } else {
            fprintf(w->text, "    {\n");
        }
        fprintf(w->text, "        const uint k = item;\n");
    }
}

/* Which cell of the phase it is: along each axis. */
static void write_cell(const writer *w, const int extent[STRAKE_AXES])
{
    if (w->plan->flat) {
        fprintf(w->text,
                "        const int down = (int)(k / %du);\n"
                "        const int right = (int)k - down * %d;\n",
                extent[2], extent[2]);
    } else {
        fprintf(w->text,
                "        const int down = (int)(k / %du);\n"
                "        const int in_plane = (int)k - down * %d;\n"
                "        const int along = in_plane / %d;\n"
                "        const int right = in_plane - along * %d;\n",
                extent[1] * extent[2], extent[1] * extent[2], extent[2], extent[2]);
    }
}

/* Its place in arrays. */
static void write_place(const writer *w, const strake_cl_phase *phase)
{
    fprintf(w->text, "        const int i = first + down");
    write_distance(w, -phase->lo[0]);
    if (!w->plan->flat) {
        fprintf(w->text, ";\n        const int l = front + along");
        write_distance(w, -phase->lo[1]);
    }
    fprintf(w->text, ";\n        const int j = left + right");
    write_distance(w, -phase->lo[2]);
    fprintf(w->text, ";\n        const place at = (place)origin + ");
    write_clamped(w, "i", 0);
    fprintf(w->text, " * %s +\n            ", w->options->pitch > 0 ? "LINE" : "line");
    if (!w->plan->flat) {
        write_clamped(w, "l", 1);
        fprintf(w->text, " * across +\n            ");
    }
    write_clamped(w, "j", 2);
    fprintf(w->text, ";\n");
}

/* Which cell it is, and its places in arrays and in local ones. */
static void write_position(const writer *w, const strake_cl_phase *phase,
                           const int extent[STRAKE_AXES])
{
    const strake_cl_kernel_plan *plan = w->plan;
    bool in_arrays = false;
    for (int p = phase->first; p < phase->end; p++) {
        in_arrays =
            in_arrays || plan->term[p].kind == STRAKE_CL_LOADED || is_stored(w, &plan->term[p]);
    }
    write_cell(w, extent);
    if (in_arrays) {
        write_place(w, phase);
    }
    if (plan->slots > 0) {
        fprintf(w->text, "        const int t = down * %d + ", plan->plane);
        if (!plan->flat) {
            fprintf(w->text, "along * %d + ", plan->line);
        }
        fprintf(w->text, "right");
        write_distance(w,
                       (long long)(strake_cl_tile_lead(plan, 0) - phase->lo[0]) * plan->plane +
                           (long long)(strake_cl_tile_lead(plan, 1) - phase->lo[1]) * plan->line +
                           strake_cl_tile_lead(plan, 2) - phase->lo[2]);
        fprintf(w->text, ";\n");
    }
}

static void write_phase(const writer *w, int number)
{
    const strake_cl_kernel_plan *plan = w->plan;
    const strake_cl_phase *phase = &plan->phase[number];
    int extent[STRAKE_AXES];
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        extent[axis] = strake_cl_phase_extent(w->options, phase, axis);
    }
    write_title(w, number, extent);
    write_cells(w, extent);
    write_position(w, phase, extent);
    write_operands(w, phase);
    strake_cl_write_terms(w, phase->first, phase->end, write_operand);
    write_results(w, phase);
    fprintf(w->text, "    }\n");
    if (number + 1 < plan->phases) {
        fprintf(w->text, "    barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
}

/* The tile of the group: the one that it has the number of, or one after the other from a list. */
static void write_tile(const writer *w)
{
    if (w->options->listed) {
        fprintf(w->text, "    const int tiles = state->tiles[state->look %% STRAKE_TILES_TURNS];\n"
                         "    __global const int *const list = lists + (state->look & 1) * room;\n"
                         "    for (int turn = (int)get_group_id(0); turn < tiles;\n"
                         "         turn += (int)get_num_groups(0)) {\n"
                         "    const int down_to = list[turn] / across;\n"
                         "    const int right_to = list[turn] - down_to * across;\n");
    } else {
        fprintf(w->text,
                "    const int down_to = (int)get_group_id(%d);\n"
                "    const int right_to = (int)get_group_id(0);\n",
                w->plan->flat ? 1 : 2);
    }
}

void strake_cl_write_tiles(const strake_cl_writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    const strake_cl_options *o = w->options;
    fprintf(w->text, "    /* a tile of %d x ", o->tile[0]);
    if (!plan->flat) {
        fprintf(w->text, "%d x ", o->tile[2]);
    }
    fprintf(w->text,
            "%d cells, %d work-items */\n"
            "    const uint item = (uint)get_local_id(0);\n",
            o->tile[1], o->items);
    if (o->pitch > 0) {
        fprintf(w->text, "    enum { LINE = %lld };\n", (long long)o->pitch);
    } else {
        fprintf(w->text, "    const place line = (place)slab;\n");
    }
    if (!plan->flat) {
        fprintf(w->text, "    const place across = (place)pitch;\n"
                         "    const int front = (int)get_group_id(1) * ");
        fprintf(w->text, "%d - %d;\n", o->tile[2], plan->lo[1]);
    }
    if (plan->slots > 0) {
        fprintf(w->text, "    __local real shared[%lld];\n", (long long)plan->local);
    }
    write_tile(w);
    fprintf(w->text,
            "    const int first = down_to * %d - %d;\n"
            "    const int left = right_to * %d - %d;\n",
            o->tile[1], plan->lo[0], o->tile[0], plan->lo[2]);
    for (int phase = 0; phase < plan->phases; phase++) {
        write_phase(w, phase);
    }
    if (strake_cl_plan_fills(w->graph, plan)) {
        char text[4][32];
        (void)snprintf(text[0], sizeof text[0], "first + %d", o->tile[1]);
        (void)snprintf(text[1], sizeof text[1], "left + %d", o->tile[0]);
        (void)snprintf(text[2], sizeof text[2], "%d", o->items);
        fprintf(w->text, "\n");
        strake_cl_write_ghosts(w, "first", text[0], "left", text[1], "(int)item", text[2]);
    }
    if (o->listed) {
        fprintf(w->text, "    barrier(CLK_LOCAL_MEM_FENCE);\n    }\n");
    }
}
