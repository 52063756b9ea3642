/**
 * @file axes.h
 * What the files of a case's fields say of their axes: when the levels of series are, which way rows go, where the
 * grid lies on the earth.
 */
#ifndef STRAKE_CASE_AXES_H
#define STRAKE_CASE_AXES_H

#include <stdbool.h>
#include <stddef.h>

#include "case/case.h"

/* Dates of files after the CF conventions (4.4 there: time coordinate). */

/**
 * The date of a time of a file: "2026-01-01 06:00:00".
 * @param[in] unit  "hours since 1900-01-01 00:00:00.0" @param[in] calendar  of the file, "": standard
 * @param[in] time  in this unit
 * @return false where the unit is none, or the calendar or the zone of the clock is not known; @p out is "" then
 */
bool strake_date_of(const char *unit, const char *calendar, double time, char *out, size_t size);

/** The date of time 0 in outputs of cases that have none; in files it says nothing. */
#define STRAKE_AXES_NO_DATE "2000-01-01 00:00:00"

/**
 * Compares `every` of each series with the times in its file, or takes it from there; notes what outputs tell of the
 * axes (strake_case.axes). @return STRAKE_ERR_USAGE, _MEMORY
 */
strake_status strake_axes_complete(strake_case *which, strake_error *error);
void strake_axes_free(strake_case *which);

/** Whether coordinates are latitudes, and longitudes: their unit says so; where they have none, their name. */
bool strake_input_axis_is_latitude(const char *name, const char *unit);
bool strake_input_axis_is_longitude(const char *name, const char *unit);

#endif
