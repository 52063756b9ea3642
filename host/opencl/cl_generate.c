/* Program text: headers, point kernels and tiled kernels; cl_march.c writes marching kernels. See cl_plan.h for what these do. */
#include "opencl/cl_generate.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "opencl/cl_device.h"

typedef strake_cl_writer writer;

/* "(a_value + (at - slab))[1]": the place of a line, then a constant distance */
static void write_load(const writer *w, const strake_cl_term *term)
{
    static const char *const stride[] = {"(place)slab", "(place)pitch"};
    fprintf(w->text, "(a_%s + (at", w->graph->value[term->value].name);
    for (int axis = 0; axis < 2; axis++) {
        const int offset = term->offset[axis];
        if (offset != 0) {
            fprintf(w->text, " %c %d * %s", offset > 0 ? '+' : '-', abs(offset), stride[axis]);
        }
    }
    fprintf(w->text, "))[%d]", term->offset[2]);
}

static void write_operand(const writer *w, const strake_cl_term *reader, int k, int u)
{
    const strake_cl_term *term = &w->plan->term[reader->operand[k]];
    if (term->kind == STRAKE_CL_LOADED) {
        write_load(w, term);
    } else {
        strake_cl_write_variable(w, term, u, 'r');
    }
}

/* Stores of a cell; a value of smaller extent than the kernel's is guarded. */
static void write_store(const writer *w, int output)
{
    static const char index[] = "imj";
    const strake_value *value = &w->graph->value[output];
    bool guarded = false;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if (value->lo[axis] != w->plan->lo[axis] || value->hi[axis] != w->plan->hi[axis]) {
            fprintf(w->text, "%s%c >= %d && %c < n%d + %d", guarded ? " && " : "        if (",
                    index[axis], -value->lo[axis], index[axis], axis, value->hi[axis]);
            guarded = true;
        }
    }
    const char *const indent = guarded ? "            " : "        ";
    fprintf(w->text, "%s", guarded ? ") {\n" : "");
    if (strake_cl_write_is_array(w, output)) {
        fprintf(w->text, "%sa_%s[at] = r_%s;\n", indent, value->name, value->name);
    }
    static const int here[STRAKE_AXES] = {0, 0, 0};
    strake_cl_write_reduced(w, &w->plan->term[strake_cl_find_term(w->plan, output, here)], -1,
                            indent);
    fprintf(w->text, "%s", guarded ? "        }\n" : "");
}

/* The cells of a point kernel's group. */
static void write_group_ghosts(const writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    fprintf(w->text,
            "    const int width = (int)get_local_size(0);\n"
            "    const int height = (int)get_local_size(1);\n"
            "    const int col = (int)get_group_id(0) * width - %d;\n"
            "    const int row = (int)get_group_id(1) * height - %d;\n",
            plan->lo[2], plan->lo[0]);
    strake_cl_write_ghosts(w, "row", "row + height", "col", "col + width",
                           "(int)(get_local_id(1) * width + get_local_id(0))", "width * height");
}

static void write_points(const writer *w)
{
    const strake_cl_kernel_plan *plan = w->plan;
    char plane[48];
    (void)snprintf(plane, sizeof plane, "(int)get_global_id(2) - %d", plan->lo[1]);
    fprintf(w->text,
            "    const int j = (int)get_global_id(0) - %d;\n"
            "    const int i = (int)get_global_id(1) - %d;\n"
            "    const int m = %s;\n"
            "    if (%si < n0 + %d && m < n1 + %d && j < n2 + %d) {\n"
            "        const place at = (place)(origin + i * slab + m * pitch + j);\n",
            plan->lo[2], plan->lo[0], w->options->members > 0 ? "0" : plane,
            w->graph->scalars > 0 ? "!is_over && " : "", plan->hi[0], plan->hi[1], plan->hi[2]);
    strake_cl_write_terms(w, 0, plan->terms, write_operand);
    for (int k = 0; k < plan->outputs; k++) {
        write_store(w, plan->output[k]);
    }
    fprintf(w->text, "    }\n");
    if (strake_cl_plan_fills(w->graph, plan)) {
        write_group_ghosts(w);
    }
}

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

static void write_tile_operand(const writer *w, const strake_cl_term *reader, int k, int u)
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
    strake_cl_write_terms(w, phase->first, phase->end, write_tile_operand);
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

/* The body of a tiled kernel. */
static void write_tiles(const strake_cl_writer *w)
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

/* Arguments for what a kernel reduces: numbers of groups, how many are there already, local memory. */
static void write_reduced_arguments(FILE *text, const strake_cl_kernel_plan *plan)
{
    for (int k = 0; k < plan->reductions; k++) {
        fprintf(text, "__global real *restrict of_groups_%d, const int before_%d, ",
                plan->reduction[k], plan->reduction[k]);
    }
    if (plan->reductions > 0) {
        fprintf(text, "__local real *found, ");
    }
}

/*
 * Constants by value. Of scalars so are those that the host tells; a device with a clock of its own has
 * them in @p told, after whether there is anything to do, or in what the sweep before left.
 */
static void write_constant_arguments(FILE *text, const strake_graph *graph, bool hears,
                                     bool has_members)
{
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live && !has_members) {
            fprintf(text, "const real %s_%s, ", graph->value[v].is_scalar ? "v" : "c",
                    graph->value[v].name);
        }
    }
    if (hears) {
        fprintf(text, "__global real *told, __global strake_clock *clock, const int clock_turn, "
                      "__global const real *restrict of_last, const int count_last, ");
    } else if (graph->scalars > 0) {
        fprintf(text, "__global const real *restrict told, ");
    }
}

/* The state whose next value a value is, or it itself; -1: it is no state. */
static int state_of(const strake_graph *graph, int value)
{
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].next >= 0 && (v == value || graph->value[v].next == value)) {
            return v;
        }
    }
    return -1;
}

/* The array of a value of the group's member: one of the two of a state, or the only one. */
static void write_member_array(FILE *text, const strake_graph *graph, int value, bool is_read)
{
    const char *const name = graph->value[value].name;
    const int state = state_of(graph, value);
    fprintf(text, "    __global %sreal *restrict a_%s = b_%s + ", is_read ? "const " : "", name,
            name);
    if (state >= 0) {
        fprintf(text, "(2 * member + %s) * apart;\n", state == value ? "parity" : "1 - parity");
    } else {
        fprintf(text, "member * apart;\n");
    }
}

/* The member that a group computes, its arrays and its constants. */
static void write_member(FILE *text, const strake_graph *graph, const strake_cl_kernel_plan *plan,
                         bool is_listed)
{
    fprintf(text, "    const int turn_of = (int)get_group_id(2);\n"
                  "    const int member = order != 0 ? order[turn_of] : first_member + turn_of;\n"
                  "    const int parity = members[member].parity;\n");
    if (!plan->is_static) {
        fprintf(text, "    if (!members[member].goes) {\n        return;\n    }\n");
    }
    if (is_listed) {
        fprintf(text, "    state += member;\n    lists += 2 * member * room;\n");
    }
    for (int k = 0; k < plan->inputs; k++) {
        write_member_array(text, graph, plan->input[k], true);
    }
    for (int k = 0; k < plan->outputs; k++) {
        if (!plan->only_reduced[k]) {
            write_member_array(text, graph, plan->output[k], false);
        }
    }
    for (int v = 0; v < graph->values; v++) {
        const strake_value *const value = &graph->value[v];
        if (value->is_constant && value->is_live && !value->is_scalar) {
            fprintf(text, "    const real c_%s = numbers[member * numbers_each + %d];\n",
                    value->name, v);
        }
    }
    for (int k = 0; k < graph->scalars; k++) {
        const strake_value *const value = &graph->value[graph->scalar[k].value];
        if (value->is_live) {
            fprintf(text, "    const real c_%s = told[member * STRAKE_TOLD + %d];\n", value->name,
                    k + 1);
        }
    }
    if (graph->scalars > 0) {
        fprintf(text, "    const bool is_over = false;\n");
    }
}

/* By the first reduction, which bounds the time step. */
static void write_hearing(FILE *text, const strake_graph *graph)
{
    const bool is_greatest = graph->reduction[0].kind == STRAKE_MAXIMUM;
    fprintf(text,
            "    __local real heard[STRAKE_TOLD];\n"
            "    hear(told, clock, clock_turn, of_last, count_last, %s(real)INFINITY, %d, found, "
            "heard);\n"
            "    if (heard[0] == REAL(0.0)) {\n        return;\n    }\n",
            is_greatest ? "-" : "", is_greatest);
}

static void write_scalars(FILE *text, const strake_graph *graph, bool hears, bool returns)
{
    /* Point kernels, which processors compute best without a branch around their barriers, go on. */
    if (hears) {
        write_hearing(text, graph);
    } else if (graph->scalars > 0) {
        fprintf(text, "    const bool is_over = told != 0 && told[0] == REAL(0.0);\n%s",
                returns ? "    if (is_over) {\n        return;\n    }\n" : "");
    }
    for (int k = 0; k < graph->scalars; k++) {
        const strake_value *value = &graph->value[graph->scalar[k].value];
        if (value->is_live) {
            fprintf(text, "    const real c_%s = told != 0 ? %s[%d] : v_%s;\n", value->name,
                    hears ? "heard" : "told", k + 1, value->name);
        }
    }
}

/* What the groups hand over of what they reduced, at the end of a kernel. */
static void write_groups_reduced(const writer *w)
{
    for (int k = 0; k < w->plan->reductions; k++) {
        const int n = w->plan->reduction[k];
        fprintf(w->text, "    reduce_group(least_%d, found, of_groups_%d + before_%d, %d);\n", n, n,
                n, w->graph->reduction[n].kind == STRAKE_MAXIMUM);
    }
}

static void write_kernel(FILE *text, const strake_graph *graph, const strake_cl_options *options,
                         const strake_cl_kernel_plan *plan)
{
    const bool hears = options->hears && !plan->is_static;
    const bool has_members = options->members > 0;
    const char kind = has_members ? 'b' : 'a';
    const char *const restricted = has_members ? "" : "restrict ";
    fprintf(text, "\n/* stages:");
    for (int k = 0; k < plan->stages; k++) {
        const strake_stage *stage = &graph->stage[plan->stage[k]];
        fprintf(text, " %d %s%s", stage->number, graph->value[stage->output].name,
                k + 1 < plan->stages ? "," : " */");
    }
    fprintf(text, "\n__kernel ");
    if (plan->tiled || plan->items[0] > 0) {
        fprintf(text, "__attribute__((reqd_work_group_size(%d, %d, 1)))\n",
                plan->tiled ? options->items : plan->items[0], plan->tiled ? 1 : plan->items[1]);
    }
    fprintf(text, "void %s(", plan->name);
    for (int k = 0; k < plan->inputs; k++) {
        fprintf(text, "__global const real *%s%c_%s, ", restricted, kind,
                graph->value[plan->input[k]].name);
    }
    for (int k = 0; k < plan->outputs; k++) {
        if (!plan->only_reduced[k]) {
            fprintf(text, "__global real *%s%c_%s, ", restricted, kind,
                    graph->value[plan->output[k]].name);
        }
    }
    write_reduced_arguments(text, plan);
    write_constant_arguments(text, graph, hears, has_members);
    fprintf(text,
            "const long slab, const long pitch, const long origin, const int n0, const int n1, "
            "const int n2%s%s%s)\n{\n",
            strake_cl_plan_fills(graph, plan)
                ? ", const int base, const int ghost_lo, const int ghost_hi, const int boundary, "
                  "__constant int *pairs, const int pair_count"
                : "",
            plan->marches                    ? ", const int rows"
            : options->listed && plan->tiled ? ", __global const strake_tiles *restrict state, "
                                               "__global const int *restrict lists, "
                                               "const int room, const int across"
                                             : "",
            has_members ? ", __global const strake_member *members, __global const real *numbers, "
                          "const int numbers_each, const long apart, __global const int *order, "
                          "const int first_member"
                        : "");
    const writer w = {text, graph, options, plan, "        ", false};
    if (has_members) {
        write_member(text, graph, plan, options->listed && plan->tiled);
    } else {
        write_scalars(text, graph, hears, plan->marches || plan->tiled);
    }
    strake_cl_write_reductions(&w, false);
    if (plan->marches) {
        strake_cl_write_march(&w);
    } else if (plan->tiled) {
        write_tiles(&w);
    } else {
        write_points(&w);
    }
    write_groups_reduced(&w);
    fprintf(text, "}\n");
}

static void write_file(FILE *text, const char *name)
{
    const char *source = strake_cl_source(name);
    fprintf(text, "#line 1 \"cl/%s\"\n%s\n", name, source != NULL ? source : "");
}

/*
 * The formulas of a problem: a header under cl/, or the problem's own file, in which nothing is included here; it was
 * loaded (strake_problem.cl_text) or is part of the program. What they do not use of elementary.h would only take
 * compilers time and memory.
 */
static void write_formulas(FILE *text, const strake_graph *graph, const strake_problem *problem)
{
    static const char *const elementary[] = {"strake_power_of_two(", "strake_inverse_cube_root(",
                                             "STRAKE_EXP(",          "STRAKE_LOG(",
                                             "STRAKE_SIN(",          "STRAKE_COS("};
    const char *const name = strake_path_last(problem->cl_source);
    const char *line = problem->cl_text != NULL ? problem->cl_text : strake_cl_source(name);
    bool has_own = false; /* of the case: src/problem/formula.h */
    for (int s = 0; s < graph->stages; s++) {
        has_own = has_own || strncmp(graph->stage[s].point->name, "formula_", 8) == 0;
    }
    bool is_needed = has_own;
    for (size_t k = 0; k < sizeof elementary / sizeof elementary[0] && line != NULL; k++) {
        is_needed = is_needed || strstr(line, elementary[k]) != NULL;
    }
    if (is_needed) {
        write_file(text, "elementary.h");
    }
    if (has_own) {
        write_file(text, "formula.h");
    }
    fprintf(text, "#line 1 \"%s%s\"\n", problem->cl_text != NULL ? "" : "cl/", name);
    while (line != NULL && *line != '\0') {
        const size_t length = strcspn(line, "\n");
        const size_t blanks = strspn(line, " \t");
        fprintf(text, "%.*s\n", strncmp(line + blanks, "#include", 8) == 0 ? 0 : (int)length, line);
        line += length + (line[length] != '\0' ? 1 : 0);
    }
}

/* A number of the working precision, by its bits. */
static void write_number(FILE *text, strake_precision precision, double number)
{
    const float narrow = (float)number;
    unsigned int word = 0;
    unsigned long long words = 0;
    memcpy(&word, &narrow, sizeof word);
    memcpy(&words, &number, sizeof words);
    if (precision == STRAKE_SINGLE) {
        fprintf(text, "strake_real_of(0x%08xu)", word);
    } else {
        fprintf(text, "strake_real_of(0x%016llxul)", words);
    }
}

/*
 * tell_scalars(): what the next sweep is told, given what the clock tells (engine/clock.h). Constants of members come from
 * a table.
 */
static void write_clock(FILE *text, const strake_graph *graph, bool has_doubts, bool has_members)
{
    fprintf(text,
            "#line 1 \"generated\"\n"
            "#define STRAKE_TOLD %d\n"
            "static inline void tell_scalars(real *told, const real go, const real given0,\n"
            "                                const real given1%s)\n"
            "{\n    told[0] = go;\n",
            graph->scalars + 1, has_members ? ", __global const real *numbers" : "");
    for (int k = 0, given = 0; k < graph->scalars; k++) {
        const strake_stage *stage = &graph->scalar[k].stage;
        const bool is_ratio = stage->reads > 0 && stage->point->is_ratio;
        fprintf(text, "    const real c_%s = ", graph->value[graph->scalar[k].value].name);
        if (stage->reads > 0) {
            fprintf(text, "%s%s", is_ratio ? "strake_divided(" : "", stage->point->name);
        } else {
            fprintf(text, "given%d", given++);
        }
        for (int r = 0; r < stage->reads; r++) {
            const strake_value *operand = &graph->value[stage->read[r].value];
            const bool doubts = has_doubts && stage->point->has_doubt;
            fprintf(text, "%s", r > 0 ? ", " : doubts ? "(0, " : "(");
            if (operand->is_scalar) {
                fprintf(text, "c_%s", operand->name);
            } else if (has_members) {
                fprintf(text, "numbers[%d]", stage->read[r].value);
            } else {
                write_number(text, graph->precision, operand->constant);
            }
        }
        fprintf(text, "%s%s;\n    told[%d] = c_%s;\n", stage->reads > 0 ? ")" : "",
                is_ratio ? ")" : "", k + 1, graph->value[graph->scalar[k].value].name);
    }
    fprintf(text, "}\n");
    write_file(text, "clock.h");
    write_file(text, has_members ? "member.cl" : "clock.cl");
}

/* Ends a text. @return it, to be freed, or NULL when out of memory */
static char *close_text(FILE *text, char **memory)
{
    if (fclose(text) != 0) {
        free(*memory);
        return NULL;
    }
    return *memory;
}

char *strake_cl_generate_common(void)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&memory, &size);
    if (text == NULL) {
        return NULL;
    }
    write_file(text, "real.h");
    write_file(text, "ghost.cl");
    write_file(text, "state.cl");
    return close_text(text, &memory);
}

char *strake_cl_generate(const strake_graph *graph, const strake_cl_options *options,
                         const strake_problem *problem, int kernels,
                         const strake_cl_kernel_plan *plan)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&memory, &size);
    if (text == NULL) {
        return NULL;
    }
    fprintf(text, "/*\n"
                  " * Kernels of one time step, in OpenCL C 1.2: what all programs share, then the "
                  "generated\n"
                  " * ones. Stages bear the numbers that the problem's paper gives them (its stage "
                  "table says\n"
                  " * which); 0 is for values that the paper does not number.\n"
                  " */\n");
    const bool has_doubts = strake_cl_graph_has_doubts(graph, options);
    if (has_doubts) {
        fprintf(text, "#define STRAKE_QUICK\n");
    }
    write_file(text, "real.h");
    write_file(text, "quotient.h");
    if (has_doubts) {
        write_file(text, "quick.h");
    }
    if (strake_graph_has_state_stages(graph)) {
        write_file(text, "wall.h");
    }
    write_formulas(text, graph, problem);
    write_file(text, "ghost.cl");
    if (graph->reductions > 0) {
        write_file(text, "reduce.cl");
    }
    if (options->members > 0) {
        fprintf(text, "#define STRAKE_MEMBERS\n");
        write_file(text, "member.h");
    }
    if (strake_cl_plan_has_clock(graph)) {
        fprintf(text, "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
        write_clock(text, graph, has_doubts, options->members > 0);
        fprintf(text, "#endif\n");
    } else if (options->members > 0) {
        write_file(text, "member.cl");
    }
    if (options->listed) {
        write_file(text, "active.h");
        write_file(text, "active.cl");
    }
    fprintf(text,
            "#line 1 \"generated\"\n"
            "/* Place of a cell in an array: short ones need fewer registers. */\n"
            "typedef %s place;\n",
            options->large ? "ulong" : "uint");
    for (int k = 0; k < kernels; k++) {
        write_kernel(text, graph, options, &plan[k]);
    }
    return close_text(text, &memory);
}
