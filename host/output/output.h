/** @file output.h The files of a run in one folder: outputs in all formats that the case wants, and index.csv. */
#ifndef STRAKE_OUTPUT_H
#define STRAKE_OUTPUT_H

#include "output/format.h"

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
bool strake_output_is_due(const strake_case *which, int64_t step);

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
