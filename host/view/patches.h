/**
 * @file patches.h
 * Where something happens: squares of cells of which one at least is active, a value above 0 of a state that wakes
 * cells (strake_field.wakes). They follow from the states alone, whoever computes them.
 */
#ifndef STRAKE_PATCHES_H
#define STRAKE_PATCHES_H

#include "output/slabs.h"

/** Zero-initialise; free with strake_patches_free(). */
typedef struct strake_patches {
    int64_t side; /**< cells; 0: there are none */
    int64_t cell_rows, cell_cols;
    int64_t rows, cols;
    bool *on; /**< rows x cols */
} strake_patches;

/** @return STRAKE_ERR_MEMORY */
strake_status strake_patches_begin(strake_patches *patches, int64_t side, int64_t cell_rows,
                                   int64_t cell_cols, strake_error *error);

/** Adds values of rows [first, end) of cells. @param[in] value  [(row - first) * cell_cols + column] */
void strake_patches_add(strake_patches *patches, int64_t first, int64_t end, const double *value);

/** Adds these rows of all states of a run that wake cells, in two dimensions. @return as strake_get_slabs() */
strake_status strake_patches_add_states(strake_patches *patches, const strake_slabs *slabs,
                                        const strake_case *which, strake_error *error);

void strake_patches_free(strake_patches *patches);

#endif
