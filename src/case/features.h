/**
 * @file features.h
 * Points, lines and polygons on the map of a case, and what their file says of each. GeoJSON (RFC 7946) is read here; files
 * of other formats (GeoPackage, Shapefile, KML) become GeoJSON through GDAL.
 */
#ifndef STRAKE_CASE_FEATURES_H
#define STRAKE_CASE_FEATURES_H

#include "case/input.h"
#include "case/tree.h"

typedef enum strake_shape_kind {
    STRAKE_SHAPE_POINT = 1,
    STRAKE_SHAPE_LINE = 2,
    STRAKE_SHAPE_RING = 4 /**< of a polygon: its outside, or a hole */
} strake_shape_kind;

/** A point, a line, or a ring of a polygon, which goes back from its last place to its first. */
typedef struct strake_shape {
    strake_shape_kind kind;
    int64_t feature;      /**< that it belongs to */
    int64_t first, count; /**< of its places */
} strake_shape;

/** What a file has. Zero-initialise; strake_features_free() in any case. */
typedef struct strake_features {
    char *name; /**< of the file, as messages call it */
    int64_t features;
    const strake_node **properties; /**< [features] a mapping; NULL: there is none */
    int64_t shapes;
    strake_shape *shape; /**< in the order of the file */
    int64_t places;
    double (*place)[2]; /**< x, y: east and north [units of the map] */
    strake_node *root;
} strake_features;

/** Whether a file is of this kind: by its suffix, or since it begins with a brace, as GeoJSON does. */
bool strake_features_are_in(const char *path);

/**
 * Reads a file, and turns its places into those of the map. Coordinates are those that the file says: a member `crs` of
 * GeoJSON, the system of a layer. Where GeoJSON says none they are longitudes and latitudes if all can be and the map is
 * known to have others, else those of the map. They are taken as they are where the map's system is not known.
 * @param[in] kinds  formats of a program that has GDAL; NULL: GeoJSON alone
 * @param[in] map  has a place @param[in] wanted  kinds of shapes, one, or two that are or-ed: others are refused
 * @return STRAKE_ERR_USAGE with file and line, STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_features_read(const strake_input_kind *const *kinds, const char *path,
                                   const strake_georef *map, unsigned wanted, strake_features *out,
                                   strake_error *error);

/** A property of a feature, or NULL: there is none, or it is null. */
const strake_node *strake_features_property(const strake_features *features, int64_t feature,
                                            const char *name);

/**
 * @param[in] all  every place must lie in the grid; otherwise one of them
 * @return STRAKE_ERR_USAGE: not so; the message has the extents of both
 */
strake_status strake_features_check_place(const strake_features *features, const strake_georef *map,
                                          const int64_t cells[2], bool all, strake_error *error);

/** Columns [first, end) of a row of cells. @return STRAKE_ERR_MEMORY or the caller's */
typedef strake_status strake_cells_adder(void *user, int64_t row, int64_t first, int64_t end,
                                         strake_error *error);

/**
 * The cells whose middles lie in polygons: of each feature by the even-odd rule, so that its holes are out; those of several
 * features may come several times. @param[in] map  of cell [0, 0], around which rows and columns go on without end
 * @return STRAKE_ERR_USAGE: they are more than 2^31 across; STRAKE_ERR_MEMORY, and as @p add
 */
strake_status strake_features_fill(const strake_features *features, const strake_georef *map,
                                   strake_cells_adder *add, void *user, strake_error *error);

void strake_features_free(strake_features *features);

#endif
