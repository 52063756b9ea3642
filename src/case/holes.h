/**
 * @file holes.h
 * Cells without a value (NODATA) in a grid of a map that others enclose: holes, as against those that reach to the edge of
 * the grid by sides or corners of such cells, which are beyond an edge, as the sea is.
 */
#ifndef STRAKE_CASE_HOLES_H
#define STRAKE_CASE_HOLES_H

#include "case/source.h"

/** A run of cells of a hole in a row. */
typedef struct strake_hole {
    int64_t row, first, end;
    int64_t
        value; /**< where the values of its cells begin, -1: they have the field's blank_inside */
} strake_hole;

/** All holes of a file, by rows and columns. Free with strake_holes_free(). */
typedef struct strake_holes {
    int64_t count;
    strake_hole *hole;
    double inside; /**< value of cells that are not filled */
    double *value; /**< of those that are */
} strake_holes;

/**
 * Finds the holes of the files that a field's value is from, where the field tells holes from edges. With `fill: holes`
 * a cell's value becomes the mean of the nearest values to the north, east, south and west, weighted by one over their
 * distances, which keeps planes as they are. @return STRAKE_ERR_USAGE, _IO, _MEMORY with the source's place
 */
strake_status strake_holes_find(const strake_case *which, const strake_field *field,
                                strake_source *source, strake_error *error);

/** Puts the holes of a row into the line that has been read of it. */
void strake_holes_put(const strake_holes *holes, int64_t row, double *line);

/** Frees holes and sets the pointer to NULL; NULL is accepted. */
void strake_holes_free(strake_holes **holes);

#endif
