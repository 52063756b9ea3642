/**
 * @file lines.h
 * Fields read in pieces of lines as doubles: in either precision, or one number everywhere. Loops over such
 * pieces are plain enough for compilers to vectorise.
 */
#ifndef STRAKE_LINES_H
#define STRAKE_LINES_H

#include "engine/layout.h"

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

#endif
