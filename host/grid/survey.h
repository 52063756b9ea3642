/** @file survey.h What is largest in fields, and what decides on the stability of inputs; only for host/grid/. */
#ifndef STRAKE_GRID_SURVEY_H
#define STRAKE_GRID_SURVEY_H

#include "grid/grid.h"

typedef strake_extreme strake_extremes[STRAKE_MAX_EXTREMES];

/** Adds what is largest in some slabs, of whatever is looked for. */
typedef void strake_survey_look(const void *user, strake_range slabs, strake_extremes found);

/** Looks at slabs of this process, by so many threads. @return STRAKE_ERR_MEMORY */
strake_status strake_survey_slabs(const strake_grid *grid, strake_range slabs, int threads,
                                  strake_survey_look *look, const void *user, strake_extremes out,
                                  strake_error *error);

/** The same of the whole domain, by all threads of all ranks. Collective. */
strake_status strake_survey_all(const strake_grid *grid, strake_survey_look *look, const void *user,
                                strake_extremes out, strake_error *error);

/** What some slabs lack that are surveyed next, by the same thread. */
typedef void strake_survey_work(const void *user, strake_range slabs);

/**
 * The problem's survey of the whole domain, by all threads.
 * @param[in] array   by field, prepared but for @p before
 * @param[in] before  called for a few slabs after the other; NULL: nothing is left to do
 * Collective.
 */
strake_status strake_survey(strake_grid *grid, void *const *array, strake_survey_work *before,
                            const void *user, strake_extremes extreme, strake_error *error);

/** "; so it is in step 7, from 1.5 s on" of what changes with time, else "". @return @p text */
const char *strake_survey_when(const strake_grid *grid, bool changes, char text[80]);

/** The problem's judgement; a flow that changes is told by its time, too. @return STRAKE_ERR_USAGE */
strake_status strake_survey_judge(const strake_grid *grid, strake_extremes extreme,
                                  strake_error *error);

#endif
