/**
 * @file cl_generate.h
 * OpenCL C 1.2 from a fusion plan; the kernels call the shared point functions of cl/.
 */
#ifndef STRAKE_CL_GENERATE_H
#define STRAKE_CL_GENERATE_H

#include <stdio.h>

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
 * for columns and 1 for rows. Marching ones expect one group per piece of
 * (width - side[2][0] - side[2][1]) * vector columns, the first of which begins strake_cl_lead()
 * columns before column 0, and per @c rows rows; where axis 1 is not flat, groups along dimension 0, 1
 * and 2 for columns, for pieces of height - side[1][0] - side[1][1] lines and for rows. Widths are at
 * most options->stride, heights options->lines.
 *
 * @param[in] point_header  name under cl/, for example "mpdata_point.h"
 * @return text to free(), or NULL when out of memory
 */
char *strake_cl_generate(const strake_graph *graph, const strake_cl_options *options,
                         const char *point_header, int kernels, const strake_cl_kernel_plan *plan);

/** Bytes of local memory of a marching or tiled kernel. */
size_t strake_cl_local_bytes(const strake_graph *graph, const strake_cl_options *options,
                             const strake_cl_kernel_plan *plan);

/** Columns from the first one that groups of a marching kernel store to column 0. */
int strake_cl_lead(const strake_cl_kernel_plan *plan);

/** What the parts of the generator write to and from. */
typedef struct strake_cl_writer {
    FILE *text;
    const strake_graph *graph;
    const strake_cl_options *options;
    const strake_cl_kernel_plan *plan;
    const char *indent; /**< of statements */
} strake_cl_writer;

/** The part of the generator that writes a marching kernel's body, between its braces. */
void strake_cl_write_march(const strake_cl_writer *w);

/** The same of a tiled kernel. */
void strake_cl_write_tiles(const strake_cl_writer *w);

/** What precedes a marching kernel's loop: positions, ranges, local arrays and the rows kept. */
void strake_cl_write_setup(const strake_cl_writer *w);

/** A term @p age rows before row @p u of a pass: of this pass, or carried over from an earlier one. */
void strake_cl_write_age(const strake_cl_writer *w, const strake_cl_term *term, int u, int age);

/**
 * Writes "a_psi + (at - 3 * line)", or "a_psi + at - 3 * LINE", whose last part is a constant of the
 * address: a term's array so many rows from where the work-item is.
 */
void strake_cl_write_row(const strake_cl_writer *w, const strake_cl_term *term, int row);

/** Elements of a line of a local array: work-items of the group and margins. */
size_t strake_cl_line_elements(const strake_cl_options *options, const strake_cl_kernel_plan *plan);

/**
 * A term's computation up to its operands ("const real r_x_0 = flux_update(") and from there on.
 * @param[in] u  row of the pass, part of the variable's name; -1 in point kernels
 */
void strake_cl_write_head(const strake_cl_writer *w, const strake_cl_term *term, int u);
void strake_cl_write_tail(const strake_cl_writer *w, const strake_cl_term *term, int u);

/** The free functions between the source of a stage's operand and the operand: "f(" and ")". */
void strake_cl_open_operand(const strake_cl_writer *w, const strake_stage *stage, int k);
void strake_cl_close_operand(const strake_cl_writer *w, const strake_stage *stage, int k);

/** Makes the quotients of the ratios among @p count computed terms certain. */
void strake_cl_write_settle(const strake_cl_writer *w, const int *term, int count, int u);

/**
 * Filling the ghosts of the states that a kernel writes, at its end.
 * @param[in] row, rows  first row of the group and the one after its last, as expressions
 * @param[in] col, cols  its columns
 * @param[in] item, items  a work-item's number in the group, and the group's size
 */
void strake_cl_write_ghosts(const strake_cl_writer *w, const char *row, const char *rows,
                            const char *col, const char *cols, const char *item, const char *items);

/** Variable name of a term without its row: value and offset, for example "r_x_e1". */
const char *strake_cl_term_name(const strake_graph *graph, const strake_cl_term *term, char *buffer,
                                size_t size);

#endif
