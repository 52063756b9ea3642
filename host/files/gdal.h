/**
 * @file gdal.h
 * Rasters as Strake uses them: one band of numbers on a map, read row by row from any format that GDAL knows, or
 * written as GeoTIFF; and files of points, lines and polygons. GDAL is known to the module alone (gdal_*.c).
 */
#ifndef STRAKE_GDAL_H
#define STRAKE_GDAL_H

#include "case/input.h"
#include "files/module.h"

typedef struct strake_gdal_reader strake_gdal_reader;
typedef struct strake_gdal_writer strake_gdal_writer;

/** What a file says. */
typedef struct strake_gdal_info {
    int64_t rows, cols;
    strake_georef georef; /**< of a file that was opened: its system is the caller's to free */
    bool has_nodata;
    double nodata;        /**< as the band stores it, before scale and offset */
    double scale, offset; /**< a value is offset + scale times the number that the band stores */
} strake_gdal_info;

/** What libstrake-gdal.so exports. */
typedef struct strake_gdal {
    strake_module_head head;
    /** Whether GDAL has a driver that reads the file; it may lie in a .gz or .zip file. */
    bool (*identify)(const char *path);
    /** @return STRAKE_ERR_USAGE: no raster, several bands, cells that are turned or not square; _IO, _MEMORY */
    strake_status (*open)(const char *path, strake_gdal_reader **out, strake_gdal_info *info,
                          strake_error *error);
    /** Columns [col, col + count) of a row, as double, as they are stored. @return STRAKE_ERR_IO */
    strake_status (*read)(strake_gdal_reader *reader, int64_t row, int64_t col, int64_t count,
                          double *out, strake_error *error);
    void (*close)(strake_gdal_reader **reader); /**< NULL is accepted */
    /** A file in memory, compressed. @param[in] element_size  8: double, 4: float @return STRAKE_ERR_MEMORY */
    strake_status (*create)(const strake_gdal_info *info, int element_size,
                            strake_gdal_writer **out, strake_error *error);
    /** Rows [first, end). @return STRAKE_ERR_MEMORY */
    strake_status (*write)(strake_gdal_writer *writer, int64_t first, int64_t end, const void *data,
                           strake_error *error);
    /** Completes the file. @param[out] data  its bytes; borrowed until abandon() @return STRAKE_ERR_MEMORY */
    strake_status (*finish)(strake_gdal_writer *writer, const void **data, size_t *bytes,
                            strake_error *error);
    void (*abandon)(strake_gdal_writer **writer); /**< frees everything; NULL is accepted */
    /**
     * Places become longitudes and latitudes on WGS 84. @param[in] system  strake_georef.system
     * @param[in,out] x, y  [count] east and north in units of the map, then [degree]
     * @return STRAKE_ERR_USAGE: GDAL does not know how
     */
    strake_status (*to_geographic)(const char *system, int64_t count, double *x, double *y,
                                   strake_error *error);
    /** As strake_input_kind.as_geojson. */
    strake_status (*as_geojson)(const char *path, const strake_georef *map, char **text,
                                size_t *length, strake_error *error);
} strake_gdal;

#define STRAKE_GDAL_SYMBOL "strake_gdal_module"

/** As to_geographic above, where the map has a system of its own, else nothing. @param[in] who  needs GDAL, as below */
strake_status strake_gdal_to_geographic(const char *who, const strake_georef *georef, int64_t count,
                                        double *x, double *y, strake_error *error);

/** @param[in] who  needs it, for the message @return STRAKE_ERR_USAGE with the package that is missing */
strake_status strake_gdal_load(const char *who, const strake_gdal **out, strake_error *error);

/** Fields of a case from rasters of all formats that GDAL reads. */
extern const strake_input_kind strake_raster_input;

#endif
