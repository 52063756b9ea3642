/** @file points.h Points of a value over time: lists in a case, and files of columns. */
#ifndef STRAKE_CASE_POINTS_H
#define STRAKE_CASE_POINTS_H

#include "case/tree.h"

/** What values are, for messages. */
typedef struct strake_points_words {
    const char *name, *unit; /**< "rate", "m3/s" */
    const char *example;     /**< of a line of a file: "3600, 4.5" */
} strake_points_words;

/** As they were written, in any order; zero-initialise. */
typedef struct strake_points {
    double *time, *value;
    int64_t points;
} strake_points;

/** A list of [time, value]; strake_points_free() in any case. @return STRAKE_ERR_USAGE, STRAKE_ERR_MEMORY */
strake_status strake_points_read_pairs(const strake_node *list, const strake_points_words *words,
                                       strake_points *out, strake_error *error);

/** The file that a node names, from @p folder: lines of a time and a value; a title, empty lines and those from # on are
 * passed over. As above. */
strake_status strake_points_read_csv(const strake_node *node, const char *folder,
                                     const strake_points_words *words, strake_points *out,
                                     strake_error *error);

void strake_points_free(strake_points *points);

#endif
