/** @file output.h The files of a run in one folder: outputs in all formats that the case wants, and index.csv. */
#ifndef STRAKE_OUTPUT_H
#define STRAKE_OUTPUT_H

#include "base/error.h"
#include "files/text.h"
#include "output/format.h"

/* The index of the outputs of a run, "step,time,field,file,run", and what an earlier run left. */

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

/** Zero-initialise. */
typedef struct strake_output {
    strake_format_run run;
    strake_text index; /**< the whole index file */
    bool is_written;   /**< the index is in the folder */
    int formats;
    const strake_format *format[STRAKE_FORMATS];
    void *self[STRAKE_FORMATS]; /**< of each format */
} strake_output;

/** Whether a step is one at which the case wants its fields written (step 0 is not covered). */
static inline bool strake_output_is_due(const strake_case *which, int64_t step)
{
    return step == which->steps || (which->output_every > 0 && step % which->output_every == 0);
}

/** Bytes of all outputs that a run from @p step will still write. */
double strake_output_bytes(const strake_case *which, const strake_solver *solver, int64_t step);

/** Whether all formats that a case wants can be written here. @return STRAKE_ERR_USAGE */
strake_status strake_output_look(const strake_case *which,
                                 const strake_format *const formats[STRAKE_FORMATS],
                                 strake_error *error);

/**
 * Starts the outputs of a run in an existing folder: looks whether all files can be written, changes none.
 * @param[in] run      copied, what it points to is borrowed; its index is not looked at. Entries of an existing index before the step
 *                     that it resumes are kept; a fresh run begins a new index.
 * @param[in] formats  all that there are, by strake_output_format
 * @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY. Call strake_output_end() in any case.
 */
strake_status strake_output_begin(strake_output *output, const strake_format_run *run,
                                  const strake_format *const formats[STRAKE_FORMATS],
                                  strake_error *error);

/** Writes the selected fields at the present step in all formats, then the index. */
strake_status strake_output_write(strake_output *output, strake_slabs *slabs, strake_error *error);

/** The same of fields in memory, those of the case's problem in their order, all in cells, double precision. */
strake_status strake_output_put(strake_output *output, strake_format_output when,
                                double *const *data, strake_error *error);
void strake_output_end(strake_output *output);

#endif
