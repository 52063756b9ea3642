/** @file input.h Fields of a case from GeoTIFF files. */
#ifndef STRAKE_GDAL_INPUT_H
#define STRAKE_GDAL_INPUT_H

#include "case/input.h"

extern const strake_input_kind strake_geotiff_input;

#endif
