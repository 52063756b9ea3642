/**
 * @file scan_maps.h
 * Maps of all runs of a scan: for every cell how probable it is that a flow reaches it, how thick it is there in the mean
 * and at most, and when it comes at the earliest. Sums go through the runs in their order, whoever made them and when.
 */
#ifndef STRAKE_SCAN_MAPS_H
#define STRAKE_SCAN_MAPS_H

#include "main/scan_table.h"
#include "main/scan_worker.h"

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

#endif
