/** @file report_file.h The files of --report and --plot: before the long work, and at its end. */
#ifndef STRAKE_REPORT_FILE_H
#define STRAKE_REPORT_FILE_H

#include <stdio.h>

#include "base/file.h"
#include "files/lock.h"
#include "files/text.h"
#include "program/options.h"
#include "output/about.h"
#include "output/diagnostics.h"
#include "output/format.h"
#include "output/output.h"

/** All formats of outputs, by strake_output_format. */
extern const strake_format *const strake_formats[STRAKE_FORMATS];

/* What the files of a run say of where they come from, and whether their disk has room. */

/** When, how and by which program a run was started. @c arguments and @c started are given; free @c history. */
typedef struct strake_run_origin {
    const strake_arguments *arguments;
    int64_t started;     /**< strake_clock_date() */
    strake_text history; /**< date and command */
    char source[80];     /**< program and version */
    char id[STRAKE_ABOUT_ID];
} strake_run_origin;

/**
 * Makes this process the one owner of a folder of outputs, if the folder is there, until strake_lock_release() or its
 * end. Does nothing where it is that already; warns where the file system has no locks.
 * @return STRAKE_ERR_STATE with host and process where another run has it, STRAKE_ERR_IO
 */
strake_status strake_folder_own(strake_lock *owner, const char *folder, strake_error *error);

/** Whether a held lock is that of a folder, by whatever name. */
bool strake_folder_is_own(const strake_lock *owner, const char *folder);

/** The files of a run, as far as they are written; what is NULL is not. */
typedef struct strake_run_written {
    const char *folder, *run; /**< its id */
    const strake_output *output;
    const strake_diagnostics *diagnostics;
    bool has_checkpoint;
} strake_run_written;

/**
 * Before a run writes on: its folder, index.csv and run.json are still there, and it is still the owner.
 * @return STRAKE_ERR_IO with what is missing, or as strake_folder_own()
 */
strake_status strake_folder_keep(strake_lock *owner, const strake_run_written *written,
                                 strake_error *error);

/** At the end of a run: all that it wrote is still there. @return STRAKE_ERR_IO with what is missing */
strake_status strake_folder_complete(const strake_run_written *written, strake_error *error);

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

/** Zero-initialise. */
typedef struct strake_report_file {
    const char *path; /**< borrowed; NULL: none is wanted */
    strake_file file; /**< open from the beginning where it is a pipe or a device */
} strake_report_file;

/** Where tables go: standard output, or standard error where a report goes there. */
FILE *strake_table_stream(const char *report);

/**
 * Proves, as far as can be told, that a report can be written; a pipe must have a reader now.
 * @param[in] path  NULL: none is wanted  @return STRAKE_ERR_IO with path and reason
 */
strake_status strake_report_begin(strake_report_file *report, const char *path,
                                  strake_error *error);

/** Writes it, if one is wanted. */
strake_status strake_report_end(strake_report_file *report, const strake_text *text,
                                strake_error *error);

/** Lets go of what strake_report_begin() opened; does nothing after strake_report_end(). */
void strake_report_drop(strake_report_file *report);

#endif
