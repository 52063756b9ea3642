/**
 * @file array.h
 * One array of a finished run, whatever file it lies in: a .npy file, a grid of a map, a field of a checkpoint, or a
 * variable of a NetCDF file.
 */
#ifndef STRAKE_ARRAY_H
#define STRAKE_ARRAY_H

#include "case/input.h"
#include "files/netcdf.h"
#include "output/checkpoint.h"

/** What a path that a user names can be. */
typedef enum strake_path_kind {
    STRAKE_PATH_FOLDER,
    STRAKE_PATH_NPY,
    STRAKE_PATH_CHECKPOINT,
    STRAKE_PATH_NETCDF,
    STRAKE_PATH_GRID /**< of a map: an ESRI ASCII grid, a GeoTIFF */
} strake_path_kind;

/** An open array. Zero-initialise; free with strake_array_close(). */
typedef struct strake_array {
    const char *name;                    /**< of the file; borrowed */
    strake_input input;                  /**< the open file of .npy and of grids */
    const strake_checkpoint *checkpoint; /**< borrowed; NULL for others */
    int field;                           /**< of the checkpoint, or variable of the NetCDF file */
    const strake_netcdf *module;         /**< NULL: no NetCDF file */
    strake_netcdf_reader *reader;        /**< borrowed */
    strake_netcdf_info info;
    int64_t record; /**< -1: the whole variable */
    int dims, element_size;
    int64_t shape[STRAKE_NPY_DIMS], count;
} strake_array;

/**
 * What lies at @p path, by its first bytes.
 * @param[in] verb  of the message for a file that is none of these: "cannot VERB PATH"
 * @return STRAKE_ERR_IO if it cannot be read, STRAKE_ERR_USAGE if it is none of these.
 */
strake_status strake_path_find_kind(const char *path, const char *verb, strake_path_kind *out,
                                    strake_error *error);

/**
 * Opens a .npy file or a grid of a map, whose cells without a value become NaN; @p path is borrowed.
 * @return as strake_input_open().
 */
strake_status strake_array_open(const char *path, strake_array *out, strake_error *error);

/** A field of an open checkpoint, by its number. */
strake_array strake_array_of_checkpoint(const strake_checkpoint *checkpoint, int field);

/** A variable of an open NetCDF file, or one array of it along its first dimension, where @p record is not -1. */
strake_array strake_array_of_netcdf(const char *path, const strake_netcdf *module,
                                    strake_netcdf_reader *reader, int variable,
                                    const strake_netcdf_info *info, int64_t record);

/** Reads elements [first, first + count) in C order, converted to double. @return STRAKE_ERR_IO. */
strake_status strake_array_read(strake_array *array, int64_t first, int64_t count, double *out,
                                strake_error *error);

/** Number of a field of a checkpoint by its name, or -1. */
int strake_checkpoint_find_field(const strake_checkpoint_header *header, const char *name);

static inline void strake_array_close(strake_array *array)
{
    strake_input_close(&array->input);
    *array = (strake_array){0};
}

#endif
