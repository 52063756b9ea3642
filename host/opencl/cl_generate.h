/**
 * @file cl_generate.h
 * OpenCL C 1.2 from a fusion plan; the kernels call the shared point functions of cl/.
 */
#ifndef STRAKE_CL_GENERATE_H
#define STRAKE_CL_GENERATE_H

#include <stdio.h>

#include "engine/problem.h"
#include "opencl/cl_plan.h"

/**
 * The complete program text: real.h, the problem's point header, ghost.cl and the kernels.
 *
 * Arguments of every kernel: input arrays, output arrays, constants (all live constants of the graph,
 * by value index), long slab, long pitch, long origin, int n0, n1, n2 (cells of the stripe); those for
 * which strake_cl_plan_fills() then take int base (slab of the array that is slab 0), ghost_lo, ghost_hi
 * (ghost columns), boundary, the list of the pairs of slabs and int pair_count (fill_ghosts() in
 * cl/ghost.cl); marching kernels then take int rows (per group). Point kernels expect global sizes (columns, slabs, lines) of
 * n + lo + hi or more. Tiled ones expect a group of options->items in a line per tile, along dimension 0
 * for columns and 1 for rows; where options->listed, any number of them, and at the end what active.cl keeps: its
 * strake_tiles, the two lists, int room (of one) and across (tiles of a row). Marching ones expect one group per piece of
 * (width - side[2][0] - side[2][1]) * vector columns, the first of which begins strake_cl_lead()
 * columns before column 0, and per @c rows rows; where axis 1 is not flat, groups along dimension 0, 1
 * and 2 for columns, for pieces of height - side[1][0] - side[1][1] lines and for rows. Widths are at
 * most options->stride, heights options->lines.
 *
 * With options->members the arrays are those of all members, constants come from a table, and at the end stand what
 * cl/member.h says of each member, the table (a line for each member: a number for each value of the graph), int numbers of
 * a line, long elements from the array of a member to that of the next, the members of the launch or 0, and int first member then.
 *
 * @param[in] problem  whose formulas stand before the kernels
 * @return text to free(), or NULL when out of memory
 */
char *strake_cl_generate(const strake_graph *graph, const strake_cl_options *options,
                         const strake_problem *problem, int kernels,
                         const strake_cl_kernel_plan *plan);

/** The program text of cl/state.cl, which depends on nothing. @return text to free(), or NULL when out of memory */
char *strake_cl_generate_common(void);

/* Parts of the generator: what the texts of kernels have in common, and those of each form. */

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
