/** @file vtk.h Files of VTK's XML formats (.vti, .vtp), their series, and reading the .vtp files that runs write. */
#ifndef STRAKE_VTK_H
#define STRAKE_VTK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "files/text.h"
#include "output/format.h"

/* Reading the .vtp files of particles that runs write (output/format_vtp.c), row by row. */

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

/*
 * Files of VTK's XML formats (.vti, .vtp) with raw appended data: header and offsets are known before the first value,
 * so that data can follow piece by piece. Offsets and lengths have 64 bits. Format: VTK file formats, kitware.com.
 */

/** The part of a piece that an array is in: points, what they are called in the file, and their values. */
typedef enum strake_vtk_section {
    STRAKE_VTK_POINT_DATA,
    STRAKE_VTK_POINTS, /**< of .vtp: three components a point */
    STRAKE_VTK_VERTS   /**< of .vtp: "connectivity" and "offsets" */
} strake_vtk_section;

/** One array. */
typedef struct strake_vtk_array {
    strake_vtk_section section;
    const char *name;
    const char *type; /**< of VTK: "Float64", "Float32", "Int64" */
    int components;
    uint64_t bytes;
} strake_vtk_array;

/** What stands in the header. */
typedef struct strake_vtk_head {
    const char *kind;       /**< "ImageData", "PolyData" */
    const char *attributes; /**< of the element of that name: extent, origin, spacing; "": none */
    const char *piece;      /**< attributes of the one piece */
    double time;            /**< [s]; stands in the file as TimeValue */
    int arrays;             /**< those of a section follow each other */
    const strake_vtk_array *array;
} strake_vtk_head;

/** A file being written; it appears under its name when complete. Zero-initialise. */
typedef struct strake_vtk {
    strake_file file;
    const char *path; /**< borrowed */
    int arrays, next; /**< array that is written */
    uint64_t left;    /**< bytes of it that are missing */
    uint64_t *bytes;  /**< of each */
} strake_vtk;

/** Writes the header. @param[in] path  borrowed until the end @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_vtk_begin(strake_vtk *vtk, const char *path, const strake_vtk_head *head,
                               strake_error *error);

/** The next bytes of the arrays, one array after the other; no piece has bytes of two. @return STRAKE_ERR_IO */
strake_status strake_vtk_write(strake_vtk *vtk, const void *data, size_t bytes,
                               strake_error *error);

/** Completes the file. @return STRAKE_ERR_IO; STRAKE_ERR_STATE where values are missing */
strake_status strake_vtk_end(strake_vtk *vtk, strake_error *error);

/** Removes what was written; does nothing after an end or before a begin. */
static inline void strake_vtk_abandon(strake_vtk *vtk)
{
    strake_file_abandon(&vtk->file);
    free(vtk->bytes);
    *vtk = (strake_vtk){0};
}

/* Series of files for VTK with their times, NAME.pvd beside NAME_STEP.SUFFIX. */

/** Begins one, with what an earlier part of the run has written: the index tells. @return STRAKE_ERR_MEMORY */
strake_status strake_series_begin(const strake_format_run *run, const char *name,
                                  const char *suffix, strake_text *series, strake_error *error);

/** Adds the file of the present output and replaces NAME.pvd. @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_series_add(const strake_format_run *run, const char *name, const char *file,
                                strake_text *series, strake_error *error);

#endif
