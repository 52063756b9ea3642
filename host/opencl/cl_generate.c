#include "opencl/cl_generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/cl_device.h"

static bool same_extents(const strake_value *a, const strake_value *b)
{
    return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

static bool is_zero(const int offset[STRAKE_AXES])
{
    return offset[0] == 0 && offset[1] == 0 && offset[2] == 0;
}

/* Position of a value among the outputs of a kernel, or -1. */
static int output_of(const strake_graph *graph, const strake_cl_kernel_plan *plan, int value)
{
    for (int k = 0; k < plan->stages; k++) {
        if (graph->stage[plan->stage[k]].output == value) {
            return k;
        }
    }
    return -1;
}

static void add_inputs(const strake_graph *graph, strake_cl_kernel_plan *plan,
                       const strake_stage *stage)
{
    for (int k = 0; k < stage->reads; k++) {
        const int value = stage->read[k].value;
        bool known = graph->value[value].is_constant || output_of(graph, plan, value) >= 0;
        for (int i = 0; i < plan->inputs && !known; i++) {
            known = plan->input[i] == value;
        }
        if (!known) {
            plan->input[plan->inputs++] = value;
        }
    }
}

/* Whether a stage may run in the same kernel as those already planned. */
static bool may_join(const strake_graph *graph, const strake_cl_kernel_plan *plan, int s)
{
    const strake_stage *stage = &graph->stage[s];
    const strake_stage *head = &graph->stage[plan->stage[0]];
    const strake_value *output = &graph->value[stage->output];
    const strake_value *first = &graph->value[head->output];
    if (stage->number != head->number || !same_extents(output, first) ||
        output->is_static != first->is_static || plan->stages == STRAKE_CL_KERNEL_OUTPUTS ||
        plan->inputs + stage->reads > STRAKE_CL_KERNEL_ARRAYS) {
        return false;
    }
    for (int k = 0; k < stage->reads; k++) {
        if (output_of(graph, plan, stage->read[k].value) >= 0 && !is_zero(stage->read[k].offset)) {
            return false;
        }
    }
    return true;
}

int strake_cl_plan_kernels(const strake_graph *graph, int most, strake_cl_kernel_plan *out)
{
    int count = 0;
    for (int s = 0; s < graph->stages; s++) {
        if (count > 0 && may_join(graph, &out[count - 1], s)) {
            strake_cl_kernel_plan *plan = &out[count - 1];
            add_inputs(graph, plan, &graph->stage[s]);
            plan->stage[plan->stages++] = s;
            continue;
        }
        if (count == most) {
            return count;
        }
        strake_cl_kernel_plan *plan = &out[count++];
        memset(plan, 0, sizeof *plan);
        plan->number = graph->stage[s].number;
        plan->is_static = graph->value[graph->stage[s].output].is_static;
        (void)snprintf(plan->name, sizeof plan->name, "stage_%02d_%s", plan->number,
                       graph->value[graph->stage[s].output].name);
        add_inputs(graph, plan, &graph->stage[s]);
        plan->stage[plan->stages++] = s;
    }
    return count;
}

/* "value[at - slab + 1]", the local result of this kernel, or the constant's argument. */
static void write_operand(FILE *text, const strake_graph *graph, const strake_cl_kernel_plan *plan,
                          const strake_read *read)
{
    static const char *const stride[] = {" * slab", " * pitch", ""};
    const strake_value *value = &graph->value[read->value];
    if (value->is_constant) {
        fprintf(text, "c_%s", value->name);
        return;
    }
    if (output_of(graph, plan, read->value) >= 0) {
        fprintf(text, "r_%s", value->name);
        return;
    }
    fprintf(text, "a_%s[at", value->name);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        const int offset = read->offset[axis];
        if (offset != 0) {
            fprintf(text, " %c %d%s", offset > 0 ? '+' : '-', abs(offset), stride[axis]);
        }
    }
    fprintf(text, "]");
}

static void write_kernel(FILE *text, const strake_graph *graph, const strake_cl_kernel_plan *plan)
{
    fprintf(text, "\n__kernel void %s(", plan->name);
    for (int k = 0; k < plan->inputs; k++) {
        fprintf(text, "__global const real *restrict a_%s, ", graph->value[plan->input[k]].name);
    }
    for (int k = 0; k < plan->stages; k++) {
        fprintf(text, "__global real *restrict a_%s, ",
                graph->value[graph->stage[plan->stage[k]].output].name);
    }
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].is_constant && graph->value[v].is_live) {
            fprintf(text, "const real c_%s, ", graph->value[v].name);
        }
    }
    fprintf(text, "const long slab, const long pitch, const long origin,\n"
                  "    const int i0, const int i1, const int m0, const int m1, const int j0, "
                  "const int j1)\n{\n"
                  "    const int j = j0 + (int)get_global_id(0);\n"
                  "    const int i = i0 + (int)get_global_id(1);\n"
                  "    const int m = m0 + (int)get_global_id(2);\n"
                  "    if (i >= i1 || m >= m1 || j >= j1) {\n        return;\n    }\n"
                  "    const long at = origin + i * slab + m * pitch + j;\n");
    for (int k = 0; k < plan->stages; k++) {
        const strake_stage *stage = &graph->stage[plan->stage[k]];
        const char *name = graph->value[stage->output].name;
        fprintf(text, "    /* stage %d: %s */\n    const real r_%s = %s(", stage->number, name,
                name, stage->point->name);
        for (int r = 0; r < stage->reads; r++) {
            fprintf(text, "%s", r > 0 ? ", " : "");
            write_operand(text, graph, plan, &stage->read[r]);
        }
        fprintf(text, ");\n    a_%s[at] = r_%s;\n", name, name);
    }
    fprintf(text, "}\n");
}

static void write_file(FILE *text, const char *name)
{
    const char *source = strake_cl_source(name);
    fprintf(text, "#line 1 \"cl/%s\"\n%s\n", name, source != NULL ? source : "");
}

char *strake_cl_generate(const strake_graph *graph, const char *point_header, int kernels,
                         const strake_cl_kernel_plan *plan)
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
    fprintf(text, "#line 1 \"generated\"\n");
    for (int k = 0; k < kernels; k++) {
        write_kernel(text, graph, &plan[k]);
    }
    if (fclose(text) != 0) {
        free(memory);
        return NULL;
    }
    return memory;
}
