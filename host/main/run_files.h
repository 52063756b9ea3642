/** @file run_files.h What the files of a run say of where they come from, and whether their disk has room. */
#ifndef STRAKE_RUN_FILES_H
#define STRAKE_RUN_FILES_H

#include "io/text.h"
#include "main/options.h"
#include "solver/solver.h"

enum { STRAKE_RUN_SOURCE = 80 };

/** Appends when (strake_clock_date()) and how a run was started; @p source becomes the program and its version. */
void strake_run_origin(const strake_arguments *arguments, int64_t started, strake_text *history,
                       char source[STRAKE_RUN_SOURCE]);

/** Warns where the outputs and checkpoints to come need more than the disk of an existing folder has free. */
void strake_warn_of_full_disk(const strake_case *which, const strake_solver *solver,
                              const char *folder, bool writes_fields);

#endif
