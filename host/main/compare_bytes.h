/** @file compare_bytes.h Output files without arrays: tables as numbers, others byte by byte. */
#ifndef STRAKE_COMPARE_BYTES_H
#define STRAKE_COMPARE_BYTES_H

#include <stdbool.h>

#include "base/error.h"

/** What a file of outputs is compared by, told by its name. */
typedef enum strake_compare_by {
    STRAKE_COMPARE_NOT,       /**< it is no output, or says only where and when others were made */
    STRAKE_COMPARE_VALUES,    /**< .npy, .asc, .tif */
    STRAKE_COMPARE_VARIABLES, /**< .nc */
    STRAKE_COMPARE_TABLE,     /**< .csv */
    STRAKE_COMPARE_BYTES      /**< .vti, .vtp, .geojson, .kml */
} strake_compare_by;

strake_compare_by strake_compare_find(const char *name);

/**
 * Compares two files and prints where they differ; @p equal turns false. A table with a tolerance by its numbers, everything
 * else by bytes. @param[in] label  of what is printed @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_compare_plain(strake_compare_by by, const char *label, const char *path_a,
                                   const char *path_b, double tolerance, bool *equal,
                                   strake_error *error);

#endif
