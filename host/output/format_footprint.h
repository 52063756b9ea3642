/** @file format_footprint.h Where something is, as polygons in files of maps. */
#ifndef STRAKE_OUTPUT_FORMAT_FOOTPRINT_H
#define STRAKE_OUTPUT_FORMAT_FOOTPRINT_H

#include "base/georef.h"
#include "base/outline.h"
#include "files/text.h"

/** What a file says beside the polygons. */
typedef struct strake_footprint {
    const char *name; /**< of the case's problem */
    int64_t step;
    double time; /**< [s] */
    double area; /**< [m2] */
    strake_georef georef;
    /** longitude and latitude of the outline's corners on WGS 84 [degree], [corners]; NULL: georef says them */
    const double *longitude, *latitude;
} strake_footprint;

/**
 * GeoJSON (RFC 7946): a collection of one feature, whose geometry is a MultiPolygon in longitude and latitude, of a map that
 * says no system in its coordinates.
 */
void strake_footprint_geojson(const strake_footprint *about, const strake_outline *outline,
                              strake_text *text);

/** KML 2.2; the map must have a zone of UTM or be geographic unless longitude and latitude are given. */
void strake_footprint_kml(const strake_footprint *about, const strake_outline *outline,
                          strake_text *text);

#endif
