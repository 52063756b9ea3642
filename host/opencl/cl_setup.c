/* Where a marching kernel begins: positions, ranges and local arrays of its groups. */
#include "opencl/cl_write.h"

typedef strake_cl_writer writer;

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
    const char *of_line = strake_cl_line_name(plan, line);
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

/* The element of column j in the first row; columns and lines beyond the arrays become the nearest. */
void strake_cl_write_start(const writer *w, bool anew)
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

void strake_cl_write_setup(const writer *w)
{
    write_position(w);
    write_ranges(w);
    write_line(w);
    strake_cl_write_start(w, false);
    if (w->plan->slots > 0) {
        write_local(w);
    }
}

void strake_cl_write_rows_kept(const writer *w)
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
            strake_cl_write_age(w, &w->plan->term[p], 0, age);
            fprintf(w->text, " = REAL(0.0);\n");
        }
    }
}
