/** @file cl_write.h Parts of the generator: what the texts of kernels have in common, and those of each form. */
#ifndef STRAKE_CL_WRITE_H
#define STRAKE_CL_WRITE_H

#include <stdio.h>

#include "opencl/cl_plan.h"

/** What the parts of the generator write to and from. */
typedef struct strake_cl_writer {
    FILE *text;
    const strake_graph *graph;
    const strake_cl_options *options;
    const strake_cl_kernel_plan *plan;
    const char *indent; /**< of statements */
    bool certain; /**< divisions and roots are the device's own: of rows that are computed again */
} strake_cl_writer;

/** Writes a marching kernel's body, between its braces. */
void strake_cl_write_march(const strake_cl_writer *w);

/**
 * The variable of a term.
 * @param[in] u     row of the pass of a marching kernel, part of the name; -1 in the others
 * @param[in] kind  'r' for its value, 'q' for its ratio
 */
void strake_cl_write_variable(const strake_cl_writer *w, const strake_cl_term *term, int u,
                              char kind);

/**
 * Writes "a_psi + (at - 3 * line)", or "a_psi + at - 3 * LINE", whose last part is a constant of the
 * address: a term's array so many rows from where the work-item is.
 */
void strake_cl_write_row(const strake_cl_writer *w, const strake_cl_term *term, int row);

/** How a form of kernels writes the term that is operand @p k of @p reader, in row @p u. */
typedef void strake_cl_operand_function(const strake_cl_writer *w, const strake_cl_term *reader,
                                        int k, int u);

/** The computations of the terms [first, end) of a point kernel or a phase, in their order. */
void strake_cl_write_terms(const strake_cl_writer *w, int first, int end,
                           strake_cl_operand_function *write_operand);

/** Whether an output has an array. */
bool strake_cl_write_is_array(const strake_cl_writer *w, int value);

/** Takes the number in a variable into account in the reductions of a value. @param[in] u  as above */
void strake_cl_write_reduced(const strake_cl_writer *w, const strake_cl_term *term, int u,
                             const char *indent);

/** Where a work-item's reductions begin, before its cells. @param[in] anew  once more, if doubted */
void strake_cl_write_reductions(const strake_cl_writer *w, bool anew);

/**
 * Filling the ghosts of the states that a kernel writes, at its end.
 * @param[in] row, rows  first row of the group and the one after its last, as expressions
 * @param[in] col, cols  its columns
 * @param[in] item, items  a work-item's number in the group, and the group's size
 */
void strake_cl_write_ghosts(const strake_cl_writer *w, const char *row, const char *rows,
                            const char *col, const char *cols, const char *item, const char *items);

#endif
