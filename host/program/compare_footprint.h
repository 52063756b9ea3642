/** @file compare_footprint.h How well two flows cover the same cells. */
#ifndef STRAKE_COMPARE_FOOTPRINT_H
#define STRAKE_COMPARE_FOOTPRINT_H

#include "base/error.h"
#include "base/georef.h"

/** Thickness from which on a cell belongs to a flow, where nothing else is said [m]. */
#define STRAKE_USUAL_THRESHOLD 0.1

/** A flow in files: a grid (.npy, .asc, NetCDF, GeoTIFF), the sum of a folder's, or polygons (case/features.h). */
typedef struct strake_flow strake_flow;

/**
 * @param[in] path  a grid, polygons, or a folder of outputs: then the fields of its last step that make a footprint, added;
 * borrowed
 * @return STRAKE_ERR_USAGE (shapes, no such field), STRAKE_ERR_IO, STRAKE_ERR_MEMORY; NULL in @p out then
 */
strake_status strake_flow_open(const char *path, strake_flow **out, strake_error *error);

/**
 * Says in which cells a flow is looked at, once. Those whose middles lie in polygons have an infinite thickness; of a grid of
 * another extent or spacing on the map each takes the value of the cell with the nearest middle.
 * @param[in] name  of the grid, for messages @param[in] georef  of it; borrowed
 * @return STRAKE_ERR_USAGE: they lie at different places, or on different maps, or not both say where; as the files'
 */
strake_status strake_flow_match(strake_flow *flow, const char *name, const int64_t shape[2],
                                const strake_georef *georef, strake_error *error);

/** A row of the grid, valid until the next one is asked for. @return STRAKE_ERR_IO */
strake_status strake_flow_row(strake_flow *flow, int64_t row, const double **line,
                              strake_error *error);

/** How many cells thicker than @p threshold there are beyond the grid of so many rows, if it went on. @return as above */
strake_status strake_flow_beyond(strake_flow *flow, int64_t rows, double threshold, int64_t *count,
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
 * NetCDF), polygons, or a folder of outputs. Those that are no grids, or of another one, are looked at in the cells of the
 * grid of the first that has one, and in such cells beyond it.
 * @return STRAKE_ERR_USAGE (shapes, places, nothing is thicker), STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_compare_footprints(const char *a, const char *b, double threshold,
                                        strake_error *error);

#endif
