/** @file series.h Series of files for VTK with their times, NAME.pvd beside NAME_STEP.SUFFIX. */
#ifndef STRAKE_SERIES_H
#define STRAKE_SERIES_H

#include "output/format.h"

/** Begins one, with what an earlier part of the run has written: the index tells. @return STRAKE_ERR_MEMORY */
strake_status strake_series_begin(const strake_format_run *run, const char *name,
                                  const char *suffix, strake_text *series, strake_error *error);

/** Adds the file of the present output and replaces NAME.pvd. @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_series_add(const strake_format_run *run, const char *name, const char *file,
                                strake_text *series, strake_error *error);

#endif
