/**
 * @file faces.h
 * Values at the centres of cells as values on faces: what `at: cells` of a field on faces means. A face between two
 * cells has the mean of both, also where a periodic grid closes; an open edge has the value of the cell beside it; a
 * wall and a pole let nothing through and have 0.
 */
#ifndef STRAKE_CASE_FACES_H
#define STRAKE_CASE_FACES_H

#include "engine/layout.h"

/**
 * The cells beside a face across an axis.
 * @param[in] boundary  of the axis @param[in] n  cells along it @param[in] face  0 to n
 * @param[out] cell  their numbers, the one before the face first
 * @return how many there are: 2; 1 at an open edge; 0 where nothing passes
 */
int strake_faces_cells(strake_boundary boundary, int64_t n, int64_t face, int64_t cell[2]);

/**
 * Turns a line of cells along the axis into its faces.
 * @param[in,out] line  n cells; then n faces where the axis is periodic, else n + 1
 */
void strake_faces_along(strake_boundary boundary, int64_t n, double *line);

/** The mean of two lines. @param[in,out] line  the first one @param[in] after  the second one */
void strake_faces_between(int64_t n, const double *restrict after, double *restrict line);

#endif
