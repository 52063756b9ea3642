/** @file compare_footprint.h How well two flows cover the same cells. */
#ifndef STRAKE_COMPARE_FOOTPRINT_H
#define STRAKE_COMPARE_FOOTPRINT_H

#include "base/error.h"

/**
 * Prints e1 = |A and B| / |A or B| of the cells that are thicker than @p threshold [m]. Each is a grid (.npy, .asc,
 * NetCDF), or a folder of outputs: then the fields of its last step that make a footprint, added.
 * @return STRAKE_ERR_USAGE (shapes, places, nothing is thicker), STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_compare_footprints(const char *a, const char *b, double threshold,
                                        strake_error *error);

#endif
