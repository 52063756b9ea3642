/**
 * @file settings.h
 * The run.* keys that tuning may set: numbers and words that change the speed of a run, never its
 * results. Every key of the table whose value is 0 by default, meaning "the program chooses", is one.
 */
#ifndef STRAKE_CASE_SETTINGS_H
#define STRAKE_CASE_SETTINGS_H

#include "case/case.h"

/** Whether a key exists and may be tuned. */
bool strake_setting_is_tunable(const char *path);

/** Whether a key exists, may be tuned, and @p value (as in a case file) is legal for it. */
bool strake_setting_is_legal(const char *path, const char *value);

/** Whether a case gives the key: its value is not the default 0. */
bool strake_setting_is_given(const strake_case *which, const char *path);

/** The value of a case as a case file has it ("64", "stream"). Returns @p buffer. */
const char *strake_setting_text(const strake_case *which, const char *path, char *buffer,
                                size_t size);

/** Sets a legal key of a case to a legal value, whatever it had. @return false if one is not legal. */
bool strake_setting_set(strake_case *which, const char *path, const char *value);

#endif
