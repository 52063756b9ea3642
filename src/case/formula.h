/**
 * @file formula.h
 * Formulas in a case: "u^3 - u", "1 - u*u", "-0.1*a*b". They are arithmetic on the values of states in one cell, which
 * problem/formula.h turns into stages; nothing of them is code.
 */
#ifndef STRAKE_CASE_FORMULA_H
#define STRAKE_CASE_FORMULA_H

#include "base/error.h"

/** What a term is: X(name, operands, word of a function, or "" of an operator). */
#define STRAKE_FORMULA_OPERATIONS(X)                                                               \
    X(add, 2, "")                                                                                  \
    X(subtract, 2, "")                                                                             \
    X(multiply, 2, "")                                                                             \
    X(divide, 2, "")                                                                               \
    X(negate, 1, "")                                                                               \
    X(min, 2, "min")                                                                               \
    X(max, 2, "max")                                                                               \
    X(abs, 1, "abs")                                                                               \
    X(sqrt, 1, "sqrt")                                                                             \
    X(exp, 1, "exp")                                                                               \
    X(log, 1, "log")                                                                               \
    X(sin, 1, "sin")                                                                               \
    X(cos, 1, "cos")

typedef enum strake_formula_operation {
#define X(name, operands, word) STRAKE_FORMULA_##name,
    STRAKE_FORMULA_OPERATIONS(X)
#undef X
        STRAKE_FORMULA_NUMBER,
    STRAKE_FORMULA_NAME
} strake_formula_operation;

enum { STRAKE_FORMULA_TERMS = 96, STRAKE_FORMULA_TEXT = 400 };

typedef struct strake_formula_term {
    strake_formula_operation operation;
    int operand[2]; /**< earlier terms; of NAME the first is its index */
    double number;
} strake_formula_term;

/** The last term is the formula's value. */
typedef struct strake_formula {
    char text[STRAKE_FORMULA_TEXT]; /**< as the case gives it */
    int terms;
    strake_formula_term term[STRAKE_FORMULA_TERMS];
} strake_formula;

/**
 * Reads numbers, names, pi, + - * / ^, brackets and the functions min, max, abs, sqrt, exp, log, sin and cos. Whole
 * powers become products, other ones exponentials of logarithms; what has numbers alone is computed at once.
 * @param[in] name  NULL-terminated
 * @return STRAKE_ERR_USAGE with what is wrong where in the text
 */
strake_status strake_formula_read(const char *text, const char *const *name, strake_formula *out,
                                  strake_error *error);

/** Its value in double precision. @param[in] value  of the names */
double strake_formula_at(const strake_formula *formula, const double *value);

#endif
