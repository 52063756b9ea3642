/**
 * @file describe.h
 * The keys of a case file in words, one after the other, from the tables that also read them: what `strake help`
 * prints, `strake new` writes and shells complete.
 */
#ifndef STRAKE_CASE_DESCRIBE_H
#define STRAKE_CASE_DESCRIBE_H

#include "case/case.h"

/** One key. */
typedef struct strake_entry {
    char path[64];
    char type[1100];     /**< "an integer from 1 to 8 [-]" */
    char otherwise[160]; /**< "default 2", "required"; "" of a section */
    char usual[160];     /**< the default as a case says it; "" where it is none */
    char example[160]; /**< another legal value, or the default where there is none; "" likewise */
    const char *choices; /**< its words, "a|b|c", where it takes no others; else NULL */
    const char *text;
    const strake_problem *problem; /**< whose key it is; NULL: every case's */
    unsigned dims;                 /**< bit d: exists in problems of d dimensions */
    bool is_tuning;                /**< may be set by `strake tune` */
} strake_entry;

/** Whether a problem has a key of every case, and its value is not the only one. */
bool strake_entry_applies(const strake_entry *entry, const strake_problem *problem);

/** Key number @p k from 0 on: those of every case in the order of a case, then each problem's keys and fields. */
bool strake_entry_read(int k, strake_entry *out);

/**
 * Explains the keys that @p topic names: a path, its last word, a section, a shape or a problem. Several are listed.
 * @param[out] near  the nearest name where there is none of this one, or NULL; of @p size bytes
 * @return how many there are
 */
int strake_case_explain(const char *topic, void (*line)(void *user, const char *text), void *user,
                        char *near, size_t size);

#endif
