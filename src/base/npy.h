/**
 * @file npy.h
 * NumPy's .npy files: reading arrays of floating-point and whole numbers of either byte order and memory
 * order, and writing C-order arrays of floating-point numbers. Format: NumPy Enhancement Proposal 1 (versions 1.0 to 3.0).
 */
#ifndef STRAKE_NPY_H
#define STRAKE_NPY_H

#include "base/file.h"

enum { STRAKE_NPY_DIMS = 8 };

/** What the header of a .npy file says. */
typedef struct strake_npy_info {
    int dims;                       /**< 0 to STRAKE_NPY_DIMS */
    int64_t shape[STRAKE_NPY_DIMS]; /**< slowest dimension first, whatever the memory order */
    int64_t count;                  /**< elements */
    int element_size;               /**< bytes: 4 (float32) or 8 (what a double holds) */
    int stored_size;                /**< bytes of one in the file: of whole numbers 1 to 8 */
    bool swapped;                   /**< byte order differs from this machine's */
    bool fortran;                   /**< first dimension contiguous */
    int64_t data;                   /**< offset of the first element [byte] */
} strake_npy_info;

/** An open .npy file. */
typedef struct strake_npy_reader strake_npy_reader;

/**
 * Opens a file and checks header and length; float64, float32, integers and bool of either
 * byte order are accepted.
 * @return STRAKE_ERR_IO if it cannot be opened or read, STRAKE_ERR_USAGE if it is malformed,
 *         truncated, too long or of another dtype, STRAKE_ERR_MEMORY. Messages begin with the path.
 */
strake_status strake_npy_open(const char *path, strake_npy_reader **out, strake_error *error);

/** The header; borrowed until the reader is closed. */
const strake_npy_info *strake_npy_header(const strake_npy_reader *reader);

/**
 * Reads elements [first, first + count), counted in C order, converted to double: exactly, but for whole
 * numbers beyond 2^53, which are rounded.
 * Non-finite values are passed on. A file is never loaded whole: of one in Fortran order a band of 8 MiB,
 * or of a 32nd of the first dimension, is held, so it is best read from the beginning to the end.
 * @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY.
 */
strake_status strake_npy_read(strake_npy_reader *reader, int64_t first, int64_t count, double *out,
                              strake_error *error);

/** Closes a reader and sets the pointer to NULL; NULL is accepted. */
void strake_npy_close(strake_npy_reader **reader);

/** Text of a shape, "[2048, 2048]", in @p buffer; returns @p buffer. */
const char *strake_npy_shape_text(int dims, const int64_t *shape, char *buffer, size_t size);

/**
 * Writes the header, of version 1.0, of a C-order float64 (@p element_size 8) or float32 (4) array; its elements follow
 * in the order of this machine's bytes.
 * @return STRAKE_ERR_IO
 */
strake_status strake_npy_write_header(strake_file *file, int element_size, int dims,
                                      const int64_t *shape, strake_error *error);

#endif
