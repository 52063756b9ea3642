/**
 * @file values.h
 * What a case says of its outputs beyond which and when: their formats, and how pictures are drawn.
 */
#ifndef STRAKE_CASE_VALUES_H
#define STRAKE_CASE_VALUES_H

#include "case/read.h"

/** Formats, in the order of the words of output.formats. */
typedef enum strake_output_format {
    STRAKE_FORMAT_NPY,
    STRAKE_FORMAT_NETCDF,
    STRAKE_FORMAT_VTK,
    STRAKE_FORMAT_ASC,
    STRAKE_FORMAT_GEOTIFF,
    STRAKE_FORMAT_GEOJSON,
    STRAKE_FORMAT_KML,
    STRAKE_FORMAT_VTP,
    STRAKE_FORMAT_PNG,
    STRAKE_FORMATS
} strake_output_format;

#define STRAKE_FORMAT_WORDS "npy|netcdf|vtk|asc|geotiff|geojson|kml|vtp|png"

/** How a NetCDF file is laid out, in the order of the words of output.netcdf.format. */
typedef enum strake_netcdf_kind {
    STRAKE_NETCDF_CDF5, /**< classic, 64-bit data: readable whenever the run ends */
    STRAKE_NETCDF_4     /**< HDF5, compressed */
} strake_netcdf_kind;

#define STRAKE_NETCDF_WORDS "cdf5|netcdf4"

/** Colour maps, in the order of host/view/picture.c; the first is the default. */
#define STRAKE_MAP_WORDS "viridis|inferno|coolwarm|gray"

/** What a block of cells becomes in a picture, in the order of strake_reduction. */
#define STRAKE_REDUCTION_WORDS "mean|extreme"

/** What the ends of the colours stand for. */
typedef enum strake_picture_range {
    STRAKE_RANGE_AUTO,  /**< the least and the largest value of each picture */
    STRAKE_RANGE_FIRST, /**< of the first picture of the run */
    STRAKE_RANGE_GIVEN
} strake_picture_range;

enum { STRAKE_MAX_CONTOURS = 32 };

/** How a field is drawn: output.picture. */
typedef struct strake_picture_plan {
    int field;     /**< number of the problem's field */
    int map;       /**< of STRAKE_MAP_WORDS */
    int reduction; /**< of STRAKE_REDUCTION_WORDS */
    strake_picture_range range;
    double low, high; /**< of a given range */
    bool is_log;      /**< colours follow the logarithm */
    int contours;     /**< lines: so many ... */
    int levels;       /**< or at these values, if there are any */
    double level[STRAKE_MAX_CONTOURS];
    int along;   /**< of particles in 3D: direction in which one looks, 0 x, 1 y, 2 z */
    bool is_cut; /**< and whether it is at a layer across it ... */
    double at;   /**< ... at this coordinate [m] */
    int slice_axis; /**< axis across which a field in 3D is cut, 0, 1 or 2; -1: planes, in the middle */
    int64_t slice;    /**< index of the slab shown */
    bool has_surface; /**< a field in 3D is drawn as the surface of one value */
    double surface;
    bool has_relief; /**< on the ground that the problem has */
    bool parts;      /**< borders of the parts are drawn */
    int64_t patches; /**< side of the squares around which lines are drawn [cells]; 0: none */
} strake_picture_plan;

struct strake_case;
struct strake_common;

/** Such a key in words. */
typedef struct strake_output_key {
    const char *path;
    const char *type;    /**< what it takes */
    const char *example; /**< a value that is not the default, or "" */
} strake_output_key;

const strake_output_key *strake_output_key_find(const struct strake_common *common);

/** Number of the field that is the ground under what is drawn; -1: none. */
int strake_output_ground(const struct strake_case *which);

#endif
