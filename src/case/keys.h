/**
 * @file keys.h
 * The table of keys that every case file may have. Reading, the check for unknown keys and
 * `strake help case` all follow it; a problem adds its own keys and fields (engine/problem.h).
 */
#ifndef STRAKE_CASE_KEYS_H
#define STRAKE_CASE_KEYS_H

#include "case/case.h"
#include "case/read.h"

typedef enum strake_common_kind {
    STRAKE_COMMON_PROBLEM,
    STRAKE_COMMON_WORD,  /**< int: the index of the word */
    STRAKE_COMMON_COUNT, /**< int64_t */
    STRAKE_COMMON_REAL,
    STRAKE_COMMON_BOOLEAN,
    STRAKE_COMMON_BOUNDARY,
    STRAKE_COMMON_FOLDER,
    STRAKE_COMMON_SETTINGS, /**< the section of run.* keys, with a table of their own (settings.h) */
    STRAKE_COMMON_NAMES,    /**< fields to write */
    STRAKE_COMMON_FORMATS,
    STRAKE_COMMON_OUTPUT, /**< of output.netcdf and output.picture, read by values.c */
    STRAKE_COMMON_FIELDS  /**< the section of fields */
} strake_common_kind;

/** One key. */
typedef struct strake_common strake_common;
struct strake_common {
    const char *path;
    strake_common_kind kind;
    unsigned dims;   /**< bit d: exists in problems of d dimensions; see strake_common_applies() */
    size_t offset;   /**< in strake_case, of the value (not for lists) */
    double fallback; /**< default of a number */
    const char *otherwise; /**< default in words; NULL: the number. Of a WORD: all words, "a|b|c" */
    strake_limits range;
    const char *text;
};

/** Whether a problem has the key: by its dimensions, and by whether its time steps are given. */
bool strake_common_applies(const strake_common *common, const strake_problem *problem);

extern const strake_common strake_commons[];
extern const int strake_common_count;

/** Legal words, in the order of the enumerations. */
extern const char strake_boundary_words[];
extern const char strake_precision_words[];

/** Refuses keys that neither every case nor @p problem has, and sections that are no mappings. */
strake_status strake_keys_check(const strake_node *root, const strake_problem *problem,
                                strake_error *error);

/** Fails because a required key is absent; the place is the nearest enclosing mapping's. */
strake_status strake_keys_missing(strake_node *root, const char *path, const char *expected,
                                  strake_error *error);

/** Reads every common key but `problem` and `fields`; absent ones take their defaults. */
strake_status strake_keys_read(strake_node *root, strake_case *which, strake_error *error);

/** Reads the problem's own keys into which->value. */
strake_status strake_keys_read_problem(strake_node *root, strake_case *which, strake_error *error);

#endif
