/*
 * problem_file CASE.yaml NAME: prints a problem in a file of its own (src/strake_problem.h) whose steps are those of a
 * case: its stage table, with the numbers of the case, and the formulas of its problem. What was loaded and what is built
 * in can so be compared in bytes and in speed. Not for adaptive problems.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "opencl/cl_device.h"
#include "strake.h"

static strake_graph graph;

static void print_field(const strake_field *field)
{
    printf("    {\"%s\", (strake_position)%d, .is_state = %d, .required = %d, .is_velocity = %d, "
           ".fallback = %a,\n"
           "     .unit = \"[-]\", .text = \"as built in\", .open = {%d, %d, %d}, .wall = {%d, %d, "
           "%d}},\n",
           field->name, (int)field->position, field->is_state, field->required, field->is_velocity,
           field->fallback, (int)field->open[0], (int)field->open[1], (int)field->open[2],
           (int)field->wall[0], (int)field->wall[1], (int)field->wall[2]);
}

/* The points that stages use, once each. */
static void print_list(void)
{
    printf("#define OWN_POINTS(X)");
    for (int s = 0; s < graph.stages; s++) {
        const strake_point *const p = graph.stage[s].point;
        bool is_new = true;
        for (int t = 0; t < s; t++) {
            is_new = is_new && graph.stage[t].point != p;
        }
        if (is_new) {
            printf(" \\\n    X(%s, %d, %d, %d, %d, %d)", p->name, p->inputs, p->ops.adds,
                   p->ops.muls, p->ops.divs, p->ops.selects);
        }
    }
    printf("\n\nSTRAKE_POINTS(OWN_POINTS)\n\n");
}

static void print_stage(const strake_stage *stage)
{
    printf("    v[%d] = strake_graph_stage(g, %d, \"%s\", &strake_point_%s, %d, (strake_read[]){",
           stage->output, stage->number, graph.value[stage->output].name, stage->point->name,
           stage->reads);
    for (int k = 0; k < stage->reads; k++) {
        const strake_read *const r = &stage->read[k];
        printf("%s{v[%d], {%d, %d, %d}}", k > 0 ? ", " : "", r->value, r->offset[0], r->offset[1],
               r->offset[2]);
    }
    printf("});\n");
}

static void print_build(void)
{
    printf("static strake_status build(const strake_case *which, const bool *constant, const "
           "double *number,\n"
           "                           strake_graph *g, strake_error *error)\n{\n    int v[%d];\n"
           "    (void)constant;\n    (void)number;\n    strake_graph_begin(g, which->precision);\n",
           graph.values);
    for (int k = 0; k < graph.values; k++) {
        const strake_value *const value = &graph.value[k];
        if (value->stage >= 0) {
            print_stage(&graph.stage[value->stage]);
        } else if (value->is_constant) {
            printf("    v[%d] = strake_graph_constant(g, \"%s\", %a);\n", k, value->name,
                   value->constant);
        } else if (value->is_live || value->next >= 0) {
            printf("    v[%d] = strake_graph_input(g, \"%s\", %s);\n", k, value->name,
                   value->is_static ? "true" : "false");
        }
    }
    for (int k = 0; k < graph.values; k++) {
        if (graph.value[k].next >= 0) {
            printf("    strake_graph_state(g, v[%d], v[%d]);\n", k, graph.value[k].next);
        }
    }
    printf("    return strake_graph_finish(g, error);\n}\n\n");
}

int main(int argc, char **argv)
{
    strake_case *which = NULL;
    strake_error error;
    double number[STRAKE_MAX_FIELDS];
    if (argc != 3 || strake_case_open(argv[1], NULL, &which, &error) != STRAKE_OK ||
        strake_case_graph(which, number, &graph, &error) != STRAKE_OK) {
        (void)fprintf(stderr, "problem_file CASE.yaml NAME: %s\n",
                      argc == 3 ? error.text : "usage");
        return 1;
    }
    const strake_problem *const p = which->problem;
    printf("/* The step of a case of %s. */\n#include \"strake_problem.h\"\n\n%s\n", p->name,
           strake_cl_source(p->cl_source));
    print_list();
    printf("#ifdef STRAKE_HOST\n\nstatic const strake_field fields[] = {\n");
    for (int f = 0; f < p->fields; f++) {
        const int value = strake_graph_find(&graph, p->field[f].name);
        if (value >= 0 && graph.value[value].stage < 0 && !graph.value[value].is_constant) {
            print_field(&p->field[f]);
        }
    }
    printf("};\n\n");
    print_build();
    printf("STRAKE_PROBLEM(%s) = {\n    .name = \"%s\",\n    .text = \"a step of %s\",\n    .dims "
           "= %d,\n"
           "    .fields = sizeof fields / sizeof fields[0],\n    .field = fields,\n    .boundaries "
           "= %uU,\n"
           "    .dt_required = %d,\n    .closes_open = %d,\n    .build = build,\n};\n#endif\n",
           argv[2], argv[2], p->name, p->dims, p->boundaries, p->dt_required, p->closes_open);
    strake_case_close(&which);
    return 0;
}
