/** @file run_course.h What becomes of a run: why it ends before its last step, and whether it kept what must be kept. */
#ifndef STRAKE_RUN_COURSE_H
#define STRAKE_RUN_COURSE_H

#include "output/report.h"

typedef struct strake_run_course {
    double first[STRAKE_MAX_QUANTITIES]; /**< of the initial fields */
    strake_result_course now;
    bool is_over; /**< as all ranks have it */
    bool is_told; /**< that it is doubtful */
} strake_run_course;

/** Whether a run of this case has one. */
bool strake_run_course_is_there(const strake_case *which);

/** Whether it is time to look, after so many steps. */
bool strake_run_course_is_due(const strake_case *which, int64_t step);

/** Measures the initial fields: before a checkpoint replaces them. */
strake_status strake_run_course_begin(strake_run_course *course, strake_solver *solver,
                                      strake_error *error);

/** Measures again. @param[out] doubt  what is to be told now, NULL: nothing */
strake_status strake_run_course_look(strake_run_course *course, const strake_case *which,
                                     strake_solver *solver, const char **doubt,
                                     strake_error *error);

/** The last look. @param[out] doubt  as before @return also STRAKE_ERR_NUMERIC where more is missing than roundings explain */
strake_status strake_run_course_end(strake_run_course *course, const strake_case *which,
                                    strake_solver *solver, const char **doubt, strake_error *error);

#endif
