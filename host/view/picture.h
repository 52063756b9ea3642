/**
 * @file picture.h
 * A two-dimensional array made small enough to look at: blocks of cells become one value each. Nothing is
 * sampled, so nothing that is there can be missed.
 */
#ifndef STRAKE_PICTURE_H
#define STRAKE_PICTURE_H

#include "output/array.h"
#include "view/colour.h"

/** What a block of cells becomes, in the order of strake_reduction_words. */
typedef enum strake_reduction {
    STRAKE_REDUCE_MEAN,   /**< the mean of its finite values */
    STRAKE_REDUCE_EXTREME /**< the value farthest from the mean of the whole picture */
} strake_reduction;

/** NULL-terminated. */
extern const char *const strake_reduction_words[];

/** Zero-initialise; free with strake_picture_free(). */
typedef struct strake_picture {
    int rows, cols;               /**< of the picture */
    int64_t cell_rows, cell_cols; /**< of the array (of a slice in 3D) */
    int64_t plane, planes;        /**< the slice shown; 0 of 1 in 2D */
    double *value;      /**< rows x cols, C order; NaN where a block has no finite value */
    double least, most; /**< of the array's (slice's) finite values; NaN where there is none */
    int64_t not_finite; /**< cells that are NaN or infinite */
} strake_picture;

/**
 * Reads an array and reduces it.
 * @param[in] most_rows, most_cols  largest size of the picture; the aspect of the cells is kept
 * @param[in] stretch  height of a point of the picture over its width (1: square)
 * @param[in] plane    of an array of three dimensions; -1: the middle one
 * @return STRAKE_ERR_USAGE for arrays that have no picture (0 or more than 3 dimensions, or a plane that
 *         is not there), STRAKE_ERR_IO, STRAKE_ERR_MEMORY.
 */
strake_status strake_picture_read(strake_array *array, int most_rows, int most_cols, double stretch,
                                  int64_t plane, strake_reduction reduction, strake_picture *out,
                                  strake_error *error);

/** The value's place on the map: 0 at @p low, 1 at @p high; 0.5 everywhere if these are equal. */
double strake_picture_place(double value, double low, double high);

void strake_picture_free(strake_picture *picture);

#endif
