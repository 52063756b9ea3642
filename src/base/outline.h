/**
 * @file outline.h
 * The outlines of cells of a grid as polygons: valid ones, whose rings neither cross nor visit a corner twice. Cells
 * that touch at a corner only are parts of their own, unless they are joined elsewhere.
 */
#ifndef STRAKE_OUTLINE_H
#define STRAKE_OUTLINE_H

#include "base/error.h"

/** A closed ring of corners; the first one is not repeated. */
typedef struct strake_ring {
    int64_t first, count; /**< of its corners among all */
    int64_t part;         /**< that it bounds */
    bool is_hole;
} strake_ring;

/** All parts: rings of a part follow each other, its outer ring first. Plain data; zero-initialise. */
typedef struct strake_outline {
    int64_t cells; /**< that are in */
    int64_t parts;
    int64_t rings, ring_room;
    strake_ring *ring;
    int64_t corners, corner_room;
    int32_t (*corner)[2]; /**< row and column: corner [i, j] is the north-west one of cell [i, j] */
} strake_outline;

/**
 * Traces the cells of a grid that are not 0 in @p mask, [rows, cols]. With rows going south and columns east, outer
 * rings go counter-clockwise, holes clockwise. @return STRAKE_ERR_MEMORY
 */
strake_status strake_outline_trace(const unsigned char *mask, int64_t rows, int64_t cols,
                                   strake_outline *out, strake_error *error);

void strake_outline_free(strake_outline *outline);

#endif
