/** @file vtp.h Reading the .vtp files of particles that runs write (output/format_vtp.c), row by row. */
#ifndef STRAKE_VIEW_VTP_H
#define STRAKE_VIEW_VTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** An open file; zero-initialise, and close in any case. */
typedef struct strake_vtp {
    const char *path; /**< borrowed */
    bool is_open;
    int descriptor;
    char *head;      /**< up to the data */
    int64_t points;  /**< rows of every array */
    uint64_t begins; /**< where offsets count from */
    uint64_t bytes;  /**< of the file */
} strake_vtp;

/** One of its arrays. */
typedef struct strake_vtp_array {
    char type[12]; /**< "Float64", "Float32", "Int64" or "UInt8" */
    int components, size;
    uint64_t begins;
} strake_vtp_array;

/** @return STRAKE_ERR_IO; STRAKE_ERR_USAGE for a file of another kind */
strake_status strake_vtp_open(const char *path, strake_vtp *out, strake_error *error);

/** Finds an array by its name. @return whether it is there, whole and of such a type */
bool strake_vtp_find(const strake_vtp *vtp, const char *name, strake_vtp_array *out);

/**
 * Rows [first, first + count) of an array. @param[out] out  @p columns of each row; two of three are the first and the last:
 * in 2D the middle one is not used @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_vtp_read(const strake_vtp *vtp, const strake_vtp_array *array, int64_t first,
                              int64_t count, int columns, double *out, strake_error *error);

void strake_vtp_close(strake_vtp *vtp);

#endif
