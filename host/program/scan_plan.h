/** @file scan_plan.h The plan of a scan: its runs, what its table has of them, and how they are dealt out. */
#ifndef STRAKE_SCAN_PLAN_H
#define STRAKE_SCAN_PLAN_H

#include "files/lock.h"
#include "program/progress.h"
#include "program/scan_deal.h"
#include "program/scan_table.h"

/** What runs have in common, and where they differ: the least and the most. */
typedef struct strake_scan_extent {
    double cells[2], steps[2];
    double work, bytes; /**< of all that are to be made: cells times steps, and of outputs */
    bool is_open;       /**< how many steps there are follows from states */
} strake_scan_extent;

/** A scan as it is planned and made. Zero-initialise, then set the arguments. */
typedef struct strake_scan {
    const strake_arguments *arguments;
    strake_scan_values values;
    strake_scan_job job;
    strake_scan_deal deal;
    strake_scan_table table;
    strake_scan_task *task;
    const strake_problem *problem;
    strake_case *first; /**< that could be read */
    double bytes;       /**< of the largest run */
    strake_scan_extent extent;
    int64_t wrong, first_wrong; /**< cases that cannot be run, and which is the first */
    strake_error why_wrong;
    int threads;     /**< that the case asks for, 0: none */
    char where[256]; /**< of the first case that says it */
    char own[256];   /**< WHERE of this rank */
    bool has_split;
    int64_t before, ended,
        failed; /**< runs that the table had, that are done now, and failed in all */
    char first_failure[STRAKE_SCAN_TEXT];
    int64_t first_failed;
    struct {
        char where[64];
        int64_t runs;
    } made[STRAKE_MOST_PLACES]; /**< runs that ended on each place */
    int places;                 /**< of these */
    strake_progress progress;
    double begin;
    strake_lock kept, mapped; /**< of the folders of --keep and --maps */
    strake_ranks *ranks;      /**< or NULL; rank 0 has the table and the maps */
    bool has_helpers;         /**< the other ranks make runs for this one */
} strake_scan;

/** Reads values and cases of all runs, and the table that there is. @return STRAKE_ERR_USAGE, STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_scan_prepare(strake_scan *scan, strake_error *error);

/** Counts what the table has already. @return whether that is all */
bool strake_scan_count_rows(strake_scan *scan);

/** Decides how runs stand side by side. */
void strake_scan_plan_deal(strake_scan *scan);

/** "grid.rows=64 time.dt=0.1" */
void strake_scan_describe(const strake_scan *scan, int64_t run, char *text, size_t size);

/** Whether a command line asks for a scan, or has an option that only a scan has. */
bool strake_scan_is_asked(const strake_arguments *arguments);

/**
 * `strake check` of a scan: reads all its cases, makes their fields, and says how much there is to compute, where, in how much
 * memory and on how much disk, and how long that takes; writes nothing but the report. @return the exit status
 */
int strake_scan_check(const strake_arguments *arguments);

#endif
