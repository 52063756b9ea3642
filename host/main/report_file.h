/** @file report_file.h The files of --report and --plot: before the long work, and at its end. */
#ifndef STRAKE_REPORT_FILE_H
#define STRAKE_REPORT_FILE_H

#include <stdio.h>

#include "base/file.h"
#include "io/text.h"

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
