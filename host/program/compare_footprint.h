/** @file compare_footprint.h How well two flows cover the same cells. */
#ifndef STRAKE_COMPARE_FOOTPRINT_H
#define STRAKE_COMPARE_FOOTPRINT_H

#include "base/error.h"
#include "base/georef.h"

/** Thickness from which on a cell belongs to a flow, where nothing else is said [m]. */
#define STRAKE_USUAL_THRESHOLD 0.1

/** A flow in files: a grid (.npy, .asc, NetCDF, GeoTIFF), or the sum of a folder's. */
typedef struct strake_flow strake_flow;

/**
 * @param[in] path  a grid, or a folder of outputs: then the fields of its last step that make a footprint, added; borrowed
 * @return STRAKE_ERR_USAGE (shapes, no such field), STRAKE_ERR_IO, STRAKE_ERR_MEMORY; NULL in @p out then
 */
strake_status strake_flow_open(const char *path, strake_flow **out, strake_error *error);

/** Refuses a grid of another shape, or at another place. @param[in] name  of the grid, for messages */
strake_status strake_flow_match(const strake_flow *flow, const char *name, const int64_t shape[2],
                                const strake_georef *georef, strake_error *error);

/** A row, valid until the next one is asked for. @return STRAKE_ERR_IO */
strake_status strake_flow_row(strake_flow *flow, int64_t row, const double **line,
                              strake_error *error);

void strake_flow_close(strake_flow **flow);

/** How many cells are in neither, in A, in B, and in both of two flows. Zero-initialise. */
typedef struct strake_overlap {
    int64_t cells[4];
} strake_overlap;

/** Adds cells; those that are thicker than @p threshold belong to a flow. */
void strake_overlap_add(strake_overlap *overlap, const double *a, const double *b, int64_t count,
                        double threshold);

/** e1 = |A and B| / |A or B|; NaN where neither has a cell. */
double strake_overlap_e1(const strake_overlap *overlap);

/**
 * Prints e1 = |A and B| / |A or B| of the cells that are thicker than @p threshold [m]. Each is a grid (.npy, .asc,
 * NetCDF), or a folder of outputs: then the fields of its last step that make a footprint, added.
 * @return STRAKE_ERR_USAGE (shapes, places, nothing is thicker), STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_compare_footprints(const char *a, const char *b, double threshold,
                                        strake_error *error);

#endif
