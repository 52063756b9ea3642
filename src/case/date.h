/** @file date.h Dates of files after the CF conventions (4.4 there: time coordinate). */
#ifndef STRAKE_CASE_DATE_H
#define STRAKE_CASE_DATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The date of a time of a file: "2026-01-01 06:00:00".
 * @param[in] unit  "hours since 1900-01-01 00:00:00.0" @param[in] calendar  of the file, "": standard
 * @param[in] time  in this unit
 * @return false where the unit is none, or the calendar or the zone of the clock is not known; @p out is "" then
 */
bool strake_date_of(const char *unit, const char *calendar, double time, char *out, size_t size);

#endif
