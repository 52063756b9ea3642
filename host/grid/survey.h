/** @file survey.h What decides on the stability of inputs; only for host/grid/. */
#ifndef STRAKE_GRID_SURVEY_H
#define STRAKE_GRID_SURVEY_H

#include "grid/grid.h"

typedef strake_extreme strake_extremes[STRAKE_MAX_EXTREMES];

/** What is looked at. */
typedef struct strake_surveyed {
    void *array[STRAKE_MAX_FIELDS]; /**< by field, prepared, but for */
    void *late[STRAKE_MAX_FIELDS];  /**< those on faces, NULL for others, that lack their ghosts */
    bool is_late;                   /**< across the axes 1 and 2: a survey fills them on its way */
} strake_surveyed;

/**
 * The problem's survey of the whole domain, by all threads. Ghosts that come late are there afterwards, and then
 * of several cells with the same extreme any may be the one that is found. Collective.
 */
strake_status strake_survey(strake_grid *grid, const strake_surveyed *what, strake_extremes extreme,
                            strake_error *error);

/** The problem's judgement of what a survey found; a flow that changes is told by its time, too. @return STRAKE_ERR_USAGE */
strake_status strake_survey_judge(strake_grid *grid, const strake_surveyed *what,
                                  strake_extremes extreme, strake_error *error);

#endif
