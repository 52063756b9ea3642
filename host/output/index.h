/** @file index.h The index of the outputs of a run, "step,time,field,file", and what an earlier run left. */
#ifndef STRAKE_INDEX_H
#define STRAKE_INDEX_H

#include "base/error.h"

#define STRAKE_INDEX_NAME "index.csv"
#define STRAKE_INDEX_TITLE "step,time,field,file"

/** A line of an index. */
typedef struct strake_index_entry {
    int64_t step;
    double time; /**< [s]; NaN where it says none */
    char *field; /**< points into the line */
    char *file;  /**< likewise; a plain name */
} strake_index_entry;

/** Takes a line apart, in place. @return whether it is one that tells of a file */
bool strake_index_read(char *line, strake_index_entry *out);

/**
 * Reads an index. @param[out] lines  all of it; free() it @param[out] entry  what it tells of, in order,
 * pointing into @p lines; free() it  @return as strake_file_read(), and
 * STRAKE_ERR_USAGE where it is no index
 */
strake_status strake_index_load(const char *folder, char **lines, strake_index_entry **entry,
                                int64_t *entries, strake_error *error);

/**
 * Removes from a folder what its own index lists: files named FIELD_STEP.*, those of diagnostics.h, and the index
 * at last. A folder without an index of ours is left alone. @param[out] removed  outputs that were removed
 * @return STRAKE_ERR_IO where one cannot be
 */
strake_status strake_index_clear(const char *folder, int64_t *removed, strake_error *error);

#endif
