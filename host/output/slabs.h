/**
 * @file slabs.h
 * A field of a solver as a sequence of pieces: whole slabs of axis 0 that fit a small buffer, so that
 * outputs, checkpoints and reports need no second copy of a field.
 */
#ifndef STRAKE_SLABS_H
#define STRAKE_SLABS_H

#include "solver/solver.h"

/** One buffer and a place in a field. Zero-initialise before use. */
typedef struct strake_slabs {
    strake_solver *solver; /**< borrowed; NULL: the buffer is a whole field of somebody's */
    size_t element_size;   /**< 4 or 8 bytes: float or double */
    void *data;            /**< the buffer: a piece, dense */
    size_t capacity;       /**< of the buffer [bytes] */
    const char *name;      /**< the field, borrowed */
    int dims;
    int64_t shape[3];   /**< slowest first; unused ones 1 */
    size_t slab;        /**< bytes of one slab */
    int64_t slabs;      /**< of the field */
    int64_t first, end; /**< the present piece */
} strake_slabs;

/** Allocates a buffer for a piece of any field (strake_piece_bytes()). @return STRAKE_ERR_MEMORY. */
strake_status strake_slabs_open(strake_slabs *slabs, const strake_case *which,
                                strake_solver *solver, strake_error *error);

/** A field of doubles in memory as one piece, the present one; nothing of it is freed. @param[in] shape  slowest first */
strake_slabs strake_slabs_of(const char *name, int dims, const int64_t *shape, double *data);

/** Goes to the place before the first piece of a field. @p name must live as long as it is used. */
strake_status strake_slabs_select(strake_slabs *slabs, const char *name, strake_error *error);

/** Goes to the next piece. @return false, before the first piece again, if there is none. */
bool strake_slabs_next(strake_slabs *slabs);

/** Bytes of the present piece, and of the field before it. */
size_t strake_slabs_bytes(const strake_slabs *slabs);
uint64_t strake_slabs_offset(const strake_slabs *slabs);

/** Bytes of the whole field. */
uint64_t strake_slabs_total(const strake_slabs *slabs);

/** Copies the present piece from the solver to the buffer, or back. */
strake_status strake_slabs_get(strake_slabs *slabs, strake_error *error);
strake_status strake_slabs_set(strake_slabs *slabs, strake_error *error);

/** Frees the buffer; a zero-initialised one is accepted. */
void strake_slabs_close(strake_slabs *slabs);

#endif
