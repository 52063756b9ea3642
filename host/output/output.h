/** @file output.h The files of a run: FIELD_STEP.npy and index.csv in one folder. */
#ifndef STRAKE_OUTPUT_H
#define STRAKE_OUTPUT_H

#include "output/slabs.h"
#include "io/text.h"

typedef struct strake_output {
    const strake_case *which; /**< borrowed */
    char *folder;
    strake_text index; /**< the whole index file */
    int64_t files;     /**< written so far */
} strake_output;

/** Whether a step is one at which the case wants its fields written (step 0 is not covered). */
bool strake_output_is_due(const strake_case *which, int64_t step);

/** Bytes of all outputs that a run from @p step will still write. */
double strake_output_bytes(const strake_case *which, const strake_solver *solver, int64_t step);

/**
 * Starts the outputs of a run in an existing folder.
 * @param[in] resumed  step of the checkpoint it continues, or -1. Entries of an existing index
 *                     before that step are kept; a fresh run begins a new index.
 * @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY. Call strake_output_end() in any case.
 */
strake_status strake_output_begin(strake_output *output, const strake_case *which,
                                  const char *folder, int64_t resumed, strake_error *error);

/** Writes the selected fields at the present step, then the index, each atomically. */
strake_status strake_output_write(strake_output *output, strake_slabs *slabs, strake_error *error);

void strake_output_end(strake_output *output);

#endif
