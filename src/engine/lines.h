/**
 * @file lines.h
 * Fields read in pieces of lines as doubles: in either precision, or one number everywhere. Loops over such
 * pieces are plain enough for compilers to vectorise.
 */
#ifndef STRAKE_LINES_H
#define STRAKE_LINES_H

#include "engine/problem.h"

enum {
    STRAKE_PIECE = 512 /* columns of a piece */,
    STRAKE_PIECE_MORE = 8 /* and beyond its end */
};

/** Room for a piece and some columns more. */
typedef double strake_piece[STRAKE_PIECE + STRAKE_PIECE_MORE];

/**
 * @p count values of a field from a point on along axis 2 (ghosts included): borrowed from the array, or
 * put into @p room. @param[in] array  NULL: the field is @p number everywhere
 */
const double *strake_piece_of(const strake_layout *layout, const void *array, double number,
                              int64_t i, int64_t m, int64_t j, int64_t count, strake_piece room);

/**
 * A field of cells at one cell, or at the one that its ghost copies: any that is less than the grid's extent beyond it.
 * For measures (strake_problem.evaluate) that read few values.
 */
double strake_snapshot_at(const strake_snapshot *snapshot, int field, int64_t i, int64_t m,
                          int64_t j);

/** The sum of a field of cells, in a fixed order with what rounding loses (base/sum.h). */
double strake_snapshot_sum(const strake_snapshot *snapshot, int field);

#endif
