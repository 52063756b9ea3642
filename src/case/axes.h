/**
 * @file axes.h
 * What the files of a case's fields say of their axes: when the levels of series are, which way rows go, where the
 * grid lies on the earth.
 */
#ifndef STRAKE_CASE_AXES_H
#define STRAKE_CASE_AXES_H

#include "case/case.h"

/** The date of time 0 in outputs of cases that have none; in files it says nothing. */
#define STRAKE_AXES_NO_DATE "2000-01-01 00:00:00"

/**
 * Compares `every` of each series with the times in its file, or takes it from there; notes what outputs tell of the
 * axes (strake_case.axes). @return STRAKE_ERR_USAGE, _MEMORY
 */
strake_status strake_axes_complete(strake_case *which, strake_error *error);

void strake_axes_free(strake_case *which);

#endif
