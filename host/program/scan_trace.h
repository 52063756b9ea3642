/**
 * @file scan_trace.h
 * What a run of a scan leaves for maps of all runs: for every cell how thick the flow was there and when it
 * came. One small file a run, named after what the run is, so that runs which an earlier scan made serve again.
 * And these maps.
 */
#ifndef STRAKE_SCAN_TRACE_H
#define STRAKE_SCAN_TRACE_H

#include "program/scan_table.h"
#include "program/scan_worker.h"
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

/* Maps of all runs. */

/** Whether the options of maps and of a mapped flow belong together. @return STRAKE_ERR_USAGE */
strake_status strake_scan_maps_check_options(const strake_arguments *arguments,
                                             strake_error *error);

/**
 * Whether a case can be a part of the maps that a scan wants, and be compared with its mapped flow.
 * @param[in] first  of the cases: all must have its grid @return STRAKE_ERR_USAGE, and as strake_flow_open()
 */
strake_status strake_scan_maps_check_case(const strake_scan_job *job, const strake_case *first,
                                          const strake_case *which, strake_error *error);

/** Takes lines out of a table whose runs left nothing for maps, or something damaged: they are made again. */
strake_status strake_scan_maps_find(const strake_scan_job *job, strake_scan_table *table,
                                    strake_error *error);

/**
 * Writes the maps where the scan wants any and says so: in the formats of a case, and with a picture of the probability
 * where pictures can be drawn. Runs that failed have no part in them.
 * @return STRAKE_ERR_USAGE (a trace that is damaged; no run at all), STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_maps_write(const strake_scan_job *job, const strake_scan_table *table,
                                     const strake_case *which, strake_error *error);

/** Maps of a case's grid, and what made them. */
typedef struct strake_scan_maps {
    const strake_arguments *arguments; /**< of the command ... */
    const char *command;               /**< ... with this name */
    const char *text;                  /**< what the maps are */
    const strake_case *which;          /**< whose grid, formats and ground they have */
    const char *folder;
    int fields;
    const strake_field *field; /**< [fields]; there is a picture of the first ... */
    double *const *map;        /**< [fields][rows, cols] */
    double high;               /**< ... with colours from 0 to this */
    double time;               /**< [s] */
} strake_scan_maps;

/** Writes maps into their folder, in the formats of the case. @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_scan_maps_put(const strake_scan_maps *maps, strake_error *error);

#endif
