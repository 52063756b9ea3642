/**
 * @file cl_generate.h
 * OpenCL C 1.2 from a fusion plan; the kernels call the shared point functions of cl/.
 */
#ifndef STRAKE_CL_GENERATE_H
#define STRAKE_CL_GENERATE_H

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

#endif
