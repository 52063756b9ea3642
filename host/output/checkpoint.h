/**
 * @file checkpoint.h
 * Checkpoints: the state fields of a run at one step, enough to continue it to the same bytes on any
 * devices.
 *
 * A file is: this header; the length of a text (64 bits) and the text, which has a line for every setting of the case,
 * "NAME <tab> HASH <tab> VALUE", to say which one differs in another case (version 2 has neither); the fields' bytes in
 * the order of the header (C order, the machine's byte order, which the header marks); FNV-1a-64 over all of that. It is
 * replaced atomically, so that a run killed at any moment leaves the previous checkpoint.
 */
#ifndef STRAKE_CHECKPOINT_H
#define STRAKE_CHECKPOINT_H

#include <stdlib.h>

#include "solver/solver.h"

/*
 * A field of a solver as a sequence of pieces: whole slabs of axis 0 that fit a small buffer, so that
 * outputs, checkpoints and reports need no second copy of a field.
 */

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
static inline size_t strake_slabs_bytes(const strake_slabs *slabs)
{
    return (size_t)(slabs->end - slabs->first) * slabs->slab;
}

/** Bytes of the whole field. */
static inline uint64_t strake_slabs_total(const strake_slabs *slabs)
{
    return (uint64_t)slabs->slabs * slabs->slab;
}

/** Copies the present piece from the solver to the buffer, or back. */
static inline strake_status strake_slabs_get(strake_slabs *slabs, strake_error *error)
{
    return strake_get_slabs(slabs->solver, slabs->name, slabs->first, slabs->end, slabs->data,
                            error);
}

/** Frees the buffer; a zero-initialised one is accepted. */
static inline void strake_slabs_close(strake_slabs *slabs)
{
    free(slabs->data);
    *slabs = (strake_slabs){0};
}

#define STRAKE_CHECKPOINT_NAME "checkpoint.strake"

/** Room of the header; up to STRAKE_CHECKPOINT_FEW fields it lies in the file with room for these alone. */
enum { STRAKE_CHECKPOINT_FIELDS = 16, STRAKE_CHECKPOINT_FEW = 12 };

typedef struct strake_checkpoint_field {
    char name[STRAKE_NAME_LENGTH];
    uint32_t dims; /**< 1 to 3 */
    uint32_t zero;
    int64_t shape[3]; /**< slowest first; unused ones 1 */
    uint64_t bytes;
} strake_checkpoint_field;

/** As it lies in the file, but for room of fields: no padding, fixed sizes. */
typedef struct strake_checkpoint_header {
    unsigned char magic[8];
    uint32_t byte_order;   /**< 0x01020304 as the writer stored it */
    uint32_t version;      /**< of this format */
    uint32_t element_size; /**< 8 (double) or 4 (single) */
    uint32_t fields;
    uint64_t hash; /**< strake_solver_hash() */
    int64_t step;  /**< steps done */
    double time;   /**< [s] */
    double end;    /**< of the case then, where time steps follow from the states [s] */
    int64_t cells[STRAKE_AXES];
    char problem[STRAKE_NAME_LENGTH];
    strake_checkpoint_field field[STRAKE_CHECKPOINT_FIELDS];
} strake_checkpoint_header;

/** An open, verified checkpoint. */
typedef struct strake_checkpoint {
    char *path; /**< as given */
    int descriptor;
    strake_checkpoint_header header;
    char *settings;     /**< lines of its case's settings; NULL: of a version without */
    uint64_t fields_at; /**< offset of the first field's bytes */
} strake_checkpoint;

/**
 * Writes a checkpoint of the present state of the solver behind @p slabs.
 * @return STRAKE_ERR_IO with path and reason; the previous checkpoint is then still there.
 */
strake_status strake_checkpoint_write(const char *path, const strake_case *which,
                                      strake_slabs *slabs, strake_error *error);

/**
 * Opens a checkpoint and verifies format, length and checksum.
 * @return STRAKE_ERR_USAGE if it is none or of another version, STRAKE_ERR_IO if it cannot be read,
 *         is truncated or damaged.
 */
strake_status strake_checkpoint_open(const char *path, strake_checkpoint *out, strake_error *error);

/** Reads @p bytes bytes of field number @p field, from byte @p offset of the field on. */
strake_status strake_checkpoint_read(const strake_checkpoint *checkpoint, int field,
                                     uint64_t offset, void *data, size_t bytes,
                                     strake_error *error);

/** Checks what can be compared without a solver: problem, precision, grid. @return STRAKE_ERR_USAGE saying what differs */
strake_status strake_checkpoint_match(const strake_checkpoint *checkpoint, const strake_case *which,
                                      strake_error *error);

/** Checks that a checkpoint does not lie beyond the case's last step. @return STRAKE_ERR_USAGE */
strake_status strake_checkpoint_precedes(const strake_checkpoint *checkpoint,
                                         const strake_case *which, strake_error *error);

/**
 * Puts fields and step into the solver behind @p slabs. Everything that can be wrong with the
 * checkpoint is found before the solver is touched: its content by strake_checkpoint_open(), whether
 * it fits the solver here. Only a file that cannot be read again leaves the solver half restored.
 */
strake_status strake_checkpoint_restore(const strake_checkpoint *checkpoint, strake_slabs *slabs,
                                        strake_error *error);

/**
 * What a case does otherwise than that of a checkpoint from its time on, which it may: "vents[0], vents[2] (not there
 * before)". @return free() it; NULL: nothing, or it is not known
 */
char *strake_checkpoint_news(const strake_checkpoint *checkpoint, const strake_case *which);

/** Closes; a zero-initialised or closed one is accepted. */
void strake_checkpoint_close(strake_checkpoint *checkpoint);

/** Bytes of one field. */
strake_status strake_field_bytes(const strake_solver *solver, const char *name, size_t *bytes,
                                 strake_error *error);

#endif
