/** @file survey.h What decides on the stability of inputs; only for host/grid/. */
#ifndef STRAKE_GRID_SURVEY_H
#define STRAKE_GRID_SURVEY_H

#include "grid/grid.h"

typedef strake_extreme strake_extremes[STRAKE_MAX_EXTREMES];

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

/** The problem's judgement; a flow that changes is told by its time, too. @return STRAKE_ERR_USAGE */
strake_status strake_survey_judge(const strake_grid *grid, strake_extremes extreme,
                                  strake_error *error);

#endif
