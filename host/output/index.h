/** @file index.h The index of the outputs of a run, "step,time,field,file,run", and what an earlier run left. */
#ifndef STRAKE_INDEX_H
#define STRAKE_INDEX_H

#include "base/error.h"
#include "io/text.h"

#define STRAKE_INDEX_NAME "index.csv"
#define STRAKE_INDEX_TITLE "step,time,field,file,run"

/** What stood there before lines named their run: such an index is still read, and continued. */
#define STRAKE_INDEX_TITLE_BEFORE "step,time,field,file"

/** A line of an index. */
typedef struct strake_index_entry {
    int64_t step;
    double time; /**< [s]; NaN where it says none */
    char *field; /**< points into the line */
    char *file;  /**< likewise; a plain name */
    char *
        run; /**< likewise: id of the run that wrote it (strake_about_id()), "" in an index of before */
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

/**
 * Looks for the files that a run says it has written.
 * @param[in] lines       of an index  @param[in] run  its id: what other runs wrote is not looked for
 * @param[in,out] missing  gets the names of what is not there, each once, after commas
 * @param[in,out] count    of them
 * @return STRAKE_ERR_MEMORY
 */
strake_status strake_index_miss(const char *lines, const char *run, const char *folder,
                                strake_text *missing, int64_t *count, strake_error *error);

/** Adds a file of the folder to what is missing, where it is. */
void strake_index_miss_file(const char *folder, const char *name, strake_text *missing,
                            int64_t *count);

#endif
