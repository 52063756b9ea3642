/* Program text: headers, ghost kernels, and point kernels; marching ones are in cl_march.c. */
#include "opencl/cl_generate.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/cl_device.h"

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

/* "(a_value + (at - slab))[1]": the place of a line, then a constant distance */
static void write_load(FILE *text, const strake_graph *graph, const strake_cl_term *term)
{
    static const char *const stride[] = {"(place)slab", "(place)pitch"};
    fprintf(text, "(a_%s + (at", graph->value[term->value].name);
    for (int axis = 0; axis < 2; axis++) {
        const int offset = term->offset[axis];
        if (offset != 0) {
            fprintf(text, " %c %d * %s", offset > 0 ? '+' : '-', abs(offset), stride[axis]);
        }
    }
    fprintf(text, "))[%d]", term->offset[2]);
}

static void write_operand(FILE *text, const strake_graph *graph, const strake_cl_kernel_plan *plan,
                          const strake_cl_term *reader, int k)
{
    char name[2 * STRAKE_NAME_LENGTH];
    const strake_stage *stage = &graph->stage[graph->value[reader->value].stage];
    const int p = reader->operand[k];
    if (p < 0) {
        fprintf(text, "c_%s", graph->value[stage->read[k].value].name);
    } else if (plan->term[p].kind == STRAKE_CL_LOADED) {
        write_load(text, graph, &plan->term[p]);
    } else {
        fprintf(text, "%s", strake_cl_term_name(graph, &plan->term[p], name, sizeof name));
    }
}

/* Stores of a cell; a value of smaller extent than the kernel's is guarded. */
static void write_store(FILE *text, const strake_graph *graph, const strake_cl_kernel_plan *plan,
                        int output)
{
    static const char index[] = "imj";
    const strake_value *value = &graph->value[output];
    bool guarded = false;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if (value->lo[axis] != plan->lo[axis] || value->hi[axis] != plan->hi[axis]) {
            fprintf(text, "%s%c >= %d && %c < n%d + %d", guarded ? " && " : "    if (", index[axis],
                    -value->lo[axis], index[axis], axis, value->hi[axis]);
            guarded = true;
        }
    }
    fprintf(text, "%s    %sa_%s[at] = r_%s;\n%s", guarded ? ") {\n" : "", guarded ? "    " : "",
            value->name, value->name, guarded ? "    }\n" : "");
}

static void write_points(FILE *text, const strake_graph *graph, const strake_cl_kernel_plan *plan)
{
    fprintf(text,
            "    const int j = (int)get_global_id(0) - %d;\n"
            "    const int i = (int)get_global_id(1) - %d;\n"
            "    const int m = (int)get_global_id(2) - %d;\n"
            "    if (i >= n0 + %d || m >= n1 + %d || j >= n2 + %d) {\n        return;\n    }\n"
            "    const place at = (place)(origin + i * slab + m * pitch + j);\n",
            plan->lo[2], plan->lo[0], plan->lo[1], plan->hi[0], plan->hi[1], plan->hi[2]);
    for (int p = 0; p < plan->terms; p++) {
        char name[2 * STRAKE_NAME_LENGTH];
        const strake_cl_term *term = &plan->term[p];
        if (term->kind != STRAKE_CL_COMPUTED) {
            continue;
        }
        const strake_stage *stage = &graph->stage[graph->value[term->value].stage];
        fprintf(text, "    /* stage %d: %s */\n    const real %s = %s(", stage->number,
                graph->value[term->value].name, strake_cl_term_name(graph, term, name, sizeof name),
                stage->point->name);
        for (int k = 0; k < stage->reads; k++) {
            fprintf(text, "%s", k > 0 ? ", " : "");
            write_operand(text, graph, plan, term, k);
        }
        fprintf(text, ");\n");
    }
    for (int k = 0; k < plan->outputs; k++) {
        write_store(text, graph, plan, plan->output[k]);
    }
}

static void write_kernel(FILE *text, const strake_graph *graph, const strake_cl_options *options,
                         const strake_cl_kernel_plan *plan)
{
    fprintf(text, "\n/* stages:");
    for (int k = 0; k < plan->stages; k++) {
        const strake_stage *stage = &graph->stage[plan->stage[k]];
        fprintf(text, " %d %s%s", stage->number, graph->value[stage->output].name,
                k + 1 < plan->stages ? "," : " */");
    }
    fprintf(text, "\n__kernel void %s(", plan->name);
    for (int k = 0; k < plan->inputs; k++) {
        fprintf(text, "__global const real *restrict a_%s, ", graph->value[plan->input[k]].name);
    }
    for (int k = 0; k < plan->outputs; k++) {
        fprintf(text, "__global real *restrict a_%s, ", graph->value[plan->output[k]].name);
    }
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live) {
            fprintf(text, "const real c_%s, ", graph->value[v].name);
        }
    }
    fprintf(text,
            "const long slab, const long pitch, const long origin, const int n0, const int n1, "
            "const int n2%s)\n{\n",
            plan->marches ? ", const int rows" : "");
    if (plan->marches) {
        strake_cl_write_march(text, graph, options, plan);
    } else {
        write_points(text, graph, plan);
    }
    fprintf(text, "}\n");
}

static void write_file(FILE *text, const char *name)
{
    const char *source = strake_cl_source(name);
    fprintf(text, "#line 1 \"cl/%s\"\n%s\n", name, source != NULL ? source : "");
}

char *strake_cl_generate(const strake_graph *graph, const strake_cl_options *options,
                         const char *point_header, int kernels, const strake_cl_kernel_plan *plan)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&memory, &size);
    if (text == NULL) {
        return NULL;
    }
    write_file(text, "real.h");
    write_file(text, point_header);
    write_file(text, "ghost.cl");
    fprintf(text,
            "#line 1 \"generated\"\n"
            "/* Place of a cell in an array: short ones need fewer registers. */\n"
            "typedef %s place;\n",
            options->large ? "ulong" : "uint");
    for (int k = 0; k < kernels; k++) {
        write_kernel(text, graph, options, &plan[k]);
    }
    if (fclose(text) != 0) {
        free(memory);
        return NULL;
    }
    return memory;
}
