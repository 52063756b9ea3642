/** @file run_files.h What the files of a run say of where they come from, and whether their disk has room. */
#ifndef STRAKE_RUN_FILES_H
#define STRAKE_RUN_FILES_H

#include "main/options.h"
#include "output/about.h"
#include "output/output.h"

/** When, how and by which program a run was started. @c arguments and @c started are given; free @c history. */
typedef struct strake_run_origin {
    const strake_arguments *arguments;
    int64_t started;     /**< strake_clock_date() */
    strake_text history; /**< date and command */
    char source[80];     /**< program and version */
} strake_run_origin;

/** strake_output_begin() in all formats that the case wants. @param[in] origin  kept as long as the outputs */
strake_status strake_begin_formats(strake_output *output, strake_run_origin *origin,
                                   const strake_case *which, strake_solver *solver,
                                   const char *folder, int64_t resumed, strake_error *error);

/** What an earlier run left goes, unless this one @p resumes it, and what this one is stands beside its files. */
strake_status strake_begin_folder(const strake_about *about, const strake_case *which,
                                  const strake_solver *solver, const char *folder, bool resumes,
                                  strake_error *error);

/** Warns where the outputs and checkpoints to come need more than the disk of an existing folder has free. */
void strake_warn_of_full_disk(const strake_case *which, const strake_solver *solver,
                              const char *folder, bool writes_fields);

#endif
