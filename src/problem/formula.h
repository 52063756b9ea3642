/** @file formula.h Stages that compute the formulas of a case (case/formula.h), one operation each. */
#ifndef STRAKE_PROBLEM_FORMULA_H
#define STRAKE_PROBLEM_FORMULA_H

#include "case/formula.h"
#include "engine/graph.h"

/**
 * Adds the stages of a formula. @param[in] number  of all of them @param[in] label  what values are called
 * @param[in] value  in the graph, of the formula's names @return the value of the formula, perhaps a constant
 */
int strake_formula_stages(const strake_formula *formula, strake_graph *graph, int number,
                          const char *label, const int *value);

#endif
