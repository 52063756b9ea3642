/**
 * @file scan_trace.h
 * What a run of a scan leaves for maps of all runs (scan_maps.h): for every cell how thick the flow was there and when it
 * came. One small file a run, named after what the run is, so that runs which an earlier scan made serve again.
 */
#ifndef STRAKE_SCAN_TRACE_H
#define STRAKE_SCAN_TRACE_H

#include "solver/solver.h"

/** A run's numbers. Zero-initialise; strake_scan_trace_free(). */
typedef struct strake_scan_trace {
    int64_t rows, cols;
    double time; /**< of its last step [s] */
    /** [rows, cols]: the larger of the largest thickness of what flowed and of what lies there at the
                         end [m] */
    double *thickest;
    double *arrival; /**< [rows, cols]: when the flow came [s]; NaN: never */
    double *deposit; /**< [rows, cols]: what lies there at the end [m]; NULL in one that was read */
} strake_scan_trace;

/**
 * Whether a problem has what traces are made of: fields of an extent, a traced one that tells how thick they were, and a
 * traced one of what may never happen. @param[out] fields  numbers of these two, may be NULL
 */
bool strake_scan_trace_is_of(const strake_problem *problem, int fields[2]);

/** Reads the trace of a run that has ended out of its solver. @param[in] has_past  false: the deposit alone */
strake_status strake_scan_trace_collect(strake_solver *solver, bool has_past,
                                        strake_scan_trace *out, strake_error *error);

/** Writes thickness and arrival, atomically, where the flow was. @param[in] id  of the run */
strake_status strake_scan_trace_write(const strake_scan_trace *trace, const char *path, uint64_t id,
                                      strake_error *error);

/**
 * Reads a trace. @return STRAKE_ERR_USAGE for a file that is none of this run or is damaged, STRAKE_ERR_IO,
 * STRAKE_ERR_MEMORY
 */
strake_status strake_scan_trace_read(const char *path, uint64_t id, strake_scan_trace *out,
                                     strake_error *error);

void strake_scan_trace_free(strake_scan_trace *trace);

/** FOLDER/runs/ID.trace in new memory; NULL without memory. */
char *strake_scan_trace_path(const char *folder, uint64_t id);

#endif
