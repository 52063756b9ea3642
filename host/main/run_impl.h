/** @file run_impl.h A run of `strake run` or of a scan; only for cmd_run.c, which begins and ends it, and run_loop.c. */
#ifndef STRAKE_RUN_IMPL_H
#define STRAKE_RUN_IMPL_H

#include "main/live.h"
#include "main/progress.h"
#include "main/report_file.h"
#include "main/run_alone.h"
#include "main/run_course.h"
#include "main/run_files.h"
#include "output/checkpoint.h"
#include "output/diagnostics.h"
#include "output/output.h"

/** One run and everything that it holds. */
typedef struct strake_run {
    const strake_arguments *arguments;
    const strake_run_wish *wish; /* NULL: it is `strake run` itself */
    strake_ranks *ranks;         /* NULL: this process is alone */
    strake_case *which;
    strake_solver *solver;
    const char *folder;
    bool writes_fields, writes_files;
    char *checkpoint_path;
    int64_t checkpoint_step; /* of the last checkpoint written, -1 for none */
    strake_checkpoint resumed;
    strake_output output;
    strake_diagnostics diagnostics;
    strake_progress progress;
    strake_live live;
    bool draws; /* all ranks agree that it is time for a picture */
    strake_run_course course;
    strake_result result;
    strake_report_file report;
    strake_slabs slabs; /* for a part of a field */
    double io_seconds;
    bool interrupted;
    int signal_number; /* of the signal that interrupted any rank, 0: none */
    bool fails_late;   /**< a step after others failed: the run had begun */
    bool begun;        /* has written something */
    strake_run_origin origin;
    strake_lock owner; /* of the folder; the first rank has it */
} strake_run;

/** Rank 0, or a lone process: it alone uses files and speaks. */
bool strake_run_is_first(const strake_run *run);

/** Rank 0 does a job that uses fields and files; the others meanwhile give it their slabs. */
strake_status strake_run_at_first(strake_run *run,
                                  strake_status (*job)(strake_run *, strake_error *),
                                  strake_error *error);

/** Warns of what makes results worth less, at the present time. @param[in] doubt  NULL: nothing does */
void strake_run_tell_doubt(const strake_run *run, const char *doubt);

/** Steps to the end, or until it is interrupted, with all that is written and drawn on the way. */
strake_status strake_run_loop(strake_run *run, strake_error *error);

#endif
