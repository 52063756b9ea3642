/** @file scan_table.h The table of a scan: a line for each run, in their order, and what an earlier scan left of it. */
#ifndef STRAKE_SCAN_TABLE_H
#define STRAKE_SCAN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "files/text.h"
#include "program/scan_worker.h"

/** One run. */
typedef struct strake_scan_row {
    /** of the case and all that was set: two runs with the same one are the same run */
    uint64_t id;
    char *text; /**< its line without the number, NULL: not yet run */
    bool failed;
} strake_scan_row;

typedef struct strake_scan_table {
    const char *path;   /**< borrowed */
    strake_text header; /**< its first line */
    int state, folder;  /**< columns, from 0 on; the id is the last one */
    int64_t rows;
    strake_scan_row *row;
    bool is_new;    /**< has lines that the file has not */
    double written; /**< when the file was */
} strake_scan_table;

/** Cell @p k of a line, from 0 on, as it stands there. @param[out] length  without what follows @return NULL: there are fewer */
const char *strake_scan_table_cell(const char *line, int k, size_t *length);

/** Makes the header: the keys that vary, and what is told of each run. */
void strake_scan_table_head(strake_scan_table *table, const strake_scan_job *job,
                            const strake_problem *problem);

/**
 * Takes over what a file has of the rows, by their ids. @param[in] keeps  only lines that name a folder count
 * @return STRAKE_ERR_USAGE for a file that is no table of this scan, STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_scan_table_read(strake_scan_table *table, bool keeps, strake_error *error);

/** Gives a row its line; the file follows within a second (strake_scan_table_write()). @return STRAKE_ERR_MEMORY */
strake_status strake_scan_table_put(strake_scan_table *table, const strake_scan_job *job,
                                    const strake_scan_answer *answer, strake_error *error);

/** Brings the file up to date, atomically: @p now, or where its last change is a second old. */
strake_status strake_scan_table_write(strake_scan_table *table, bool now, strake_error *error);

void strake_scan_table_free(strake_scan_table *table);

#endif
