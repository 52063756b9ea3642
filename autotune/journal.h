/**
 * @file journal.h
 * Every measurement goes to a file at once: a tuning that was killed resumes without repeating any.
 */
#ifndef STRAKE_AUTOTUNE_JOURNAL_H
#define STRAKE_AUTOTUNE_JOURNAL_H

#include "autotune/measure.h"
#include "autotune/space.h"

/** One measurement. */
typedef struct strake_journal_entry {
    int64_t n[STRAKE_AXES]; /**< grid */
    int settings;
    strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
    strake_measurement result;
    double when; /**< seconds since 1970 */
} strake_journal_entry;

/** An open journal with what it already held. Zero-initialise. */
typedef struct strake_journal {
    int file; /**< descriptor for appending, valid while @c is_open */
    bool is_open;
    char *path;
    int entries, resumed; /**< resumed: those found when it was opened */
    strake_journal_entry *entry;
} strake_journal;

/**
 * Opens PATH and reads what it holds if its first line is @p identity (one line, no newline);
 * otherwise it begins anew. A last line that was cut short is dropped.
 * @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_journal_open(strake_journal *journal, const char *path, const char *identity,
                                  strake_error *error);

/** Appends a measurement. @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_journal_add(strake_journal *journal, const strake_journal_entry *entry,
                                 strake_error *error);

/** A measurement of these settings on this grid, NULL if there is none. */
const strake_measurement *strake_journal_find(const strake_journal *journal,
                                              const int64_t n[STRAKE_AXES], int settings,
                                              const strake_tuned_setting *setting);

/** Forgets what was measured on a grid: it is to be measured again. @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_journal_forget(strake_journal *journal, const int64_t n[STRAKE_AXES],
                                    strake_error *error);

/** Closes; with @p remove the file goes too. A zero-initialised journal is accepted. */
void strake_journal_close(strake_journal *journal, bool remove);

/** All entries in the T4 results schema of auto-tuning tools (AutoTuningAssociation, version 1.0.0). */
void strake_journal_print_t4(const strake_journal *journal, strake_text *text);

#endif
