/**
 * @file names.h
 * Names for which a problem has fields and quantities once each: the tracers of a flow. The table of a problem is for
 * one name, its default; a case with others has a table of its own, which everything else reads as any problem's.
 */
#ifndef STRAKE_CASE_NAMES_H
#define STRAKE_CASE_NAMES_H

#include "case/case.h"
#include "case/tree.h"

/** Whether a text is a name: a letter, then letters, digits and _, at most so many characters. */
bool strake_name_is_word(const char *text, size_t most);

/**
 * Reads the names, where the problem has a key of them and the case gives it; which->problem is then the case's own.
 * @return STRAKE_ERR_USAGE for what is no name, twice one, one of another field, or too many; STRAKE_ERR_MEMORY
 */
strake_status strake_names_read(strake_node *root, strake_case *which, strake_error *error);

/**
 * Adds an input for every axis with walls across which a state is odd (strake_field): 1 in the domain and -1 beyond
 * the wall. Boundaries must be known; which->problem is then the case's own. @return STRAKE_ERR_MEMORY
 */
strake_status strake_names_add_sides(strake_case *which, strake_error *error);

/** "side_rows": the name of the input that strake_names_add_sides() adds for an axis. @return @p text */
const char *strake_side_name(const strake_problem *problem, int axis,
                             char text[STRAKE_NAME_LENGTH]);

#endif
