#include "strake_problem.h"

#include "cl/formula.h"

#define FORMULA_POINTS(X)                                                                          \
    X(formula_add, 2, 1, 0, 0, 0)                                                                  \
    X(formula_subtract, 2, 1, 0, 0, 0)                                                             \
    X(formula_multiply, 2, 0, 1, 0, 0)                                                             \
    X(formula_divide, 2, 0, 0, 1, 0)                                                               \
    X(formula_negate, 1, 1, 0, 0, 0)                                                               \
    X(formula_min, 2, 0, 0, 0, 1)                                                                  \
    X(formula_max, 2, 0, 0, 0, 1)                                                                  \
    X(formula_abs, 1, 0, 0, 0, 1)                                                                  \
    X(formula_sqrt, 1, 0, 1, 0, 0)                                                                 \
    X(formula_exp, 1, 20, 21, 0, 4)                                                                \
    X(formula_log, 1, 21, 18, 0, 3)                                                                \
    X(formula_sin, 1, 24, 25, 0, 2)                                                                \
    X(formula_cos, 1, 24, 25, 0, 2)

STRAKE_POINTS(FORMULA_POINTS)

#ifdef STRAKE_HOST
#include "problem/formula.h"

int strake_formula_stages(const strake_formula *formula, strake_graph *graph, int number,
                          const char *label, const int *value)
{
    static const strake_point *const points[] = {
#define X(name, operands, word) &strake_point_formula_##name,
        STRAKE_FORMULA_OPERATIONS(X)
#undef X
    };
    int term[STRAKE_FORMULA_TERMS];
    for (int k = 0; k < formula->terms; k++) {
        const strake_formula_term *const t = &formula->term[k];
        if (t->operation == STRAKE_FORMULA_NUMBER) {
            term[k] = strake_graph_constant(graph, "number", t->number);
        } else if (t->operation == STRAKE_FORMULA_NAME) {
            term[k] = value[t->operand[0]];
        } else {
            const strake_point *const point = points[t->operation];
            strake_read read[2] = {{term[t->operand[0]], {0}}, {0, {0}}};
            read[1].value = point->inputs > 1 ? term[t->operand[1]] : 0;
            term[k] = strake_graph_stage(graph, number, label, point, point->inputs, read);
        }
    }
    return term[formula->terms - 1];
}
#endif
