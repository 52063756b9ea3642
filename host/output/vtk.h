/**
 * @file vtk.h
 * Files of VTK's XML formats (.vti, .vtp) with raw appended data: header and offsets are known before the first value,
 * so that data can follow piece by piece. Offsets and lengths have 64 bits. Format: VTK file formats, kitware.com.
 */
#ifndef STRAKE_VTK_H
#define STRAKE_VTK_H

#include "base/file.h"
#include "files/text.h"

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
void strake_vtk_abandon(strake_vtk *vtk);

/** Beginning and end of a .pvd, a series of files with their times; strake_vtk_series_add() between them. */
void strake_vtk_series_begin(strake_text *text);
void strake_vtk_series_add(strake_text *text, double time, const char *file);
void strake_vtk_series_end(strake_text *text);

#endif
