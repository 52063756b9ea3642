/**
 * @file expression.h
 * Conditions of a search space as text: numbers, names, + - * / % ( ), comparisons, ! && ||.
 * Truth is 1, falsehood 0; whatever is not 0 is true. Division by zero gives 0.
 */
#ifndef STRAKE_AUTOTUNE_EXPRESSION_H
#define STRAKE_AUTOTUNE_EXPRESSION_H

#include "base/error.h"

/** Gives a name its value. @return false for an unknown name. */
typedef bool (*strake_name_value)(void *user, const char *name, size_t length, double *value);

/**
 * Evaluates an expression; every name in it is looked up, whatever the rest says.
 * @return STRAKE_ERR_USAGE with the text and the place of what cannot be read
 */
strake_status strake_expression_evaluate(const char *text, strake_name_value value_of, void *user,
                                         double *value, strake_error *error);

#endif
