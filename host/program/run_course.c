#include "program/run_course.h"

#include <float.h>
#include <math.h>

#include "solver/solver.h"

bool strake_run_course_is_there(const strake_case *which)
{
    return which->problem->imbalance != NULL || which->problem->judge_course != NULL;
}

bool strake_run_course_is_due(const strake_case *which, int64_t step)
{
    const int64_t every = strake_batch_looks(which);
    return every > 0 && step > 0 && step % every == 0;
}

strake_status strake_run_course_begin(strake_run_course *course, strake_solver *solver,
                                      strake_error *error)
{
    return strake_solver_measure(solver, course->first, error);
}

strake_status strake_run_course_look(strake_run_course *course, const strake_case *which,
                                     strake_solver *solver, const char **doubt, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *why = NULL;
    const strake_problem *const problem = which->problem;
    double *const now = course->now.quantity;
    *doubt = NULL;
    STRAKE_TRY(strake_solver_measure(solver, now, error));
    course->now.is_there = true;
    course->now.imbalance =
        problem->imbalance != NULL ? problem->imbalance(course->first, now) : 0.0;
    if (problem->judge_course != NULL) {
        const strake_course is = problem->judge_course(which, strake_time(solver), now, &why);
        course->is_over = is == STRAKE_IS_OVER;
        course->now.why = course->is_over ? why : NULL;
        *doubt = is == STRAKE_IS_DOUBTFUL && !course->is_told ? why : NULL;
        course->is_told = course->is_told || is == STRAKE_IS_DOUBTFUL;
    }
cleanup:
    return status;
}

strake_status strake_run_course_end(strake_run_course *course, const strake_case *which,
                                    strake_solver *solver, const char **doubt, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const why =
        course->now.why; /* not of a step that nobody looks at on other processors */
    const double unit = which->precision == STRAKE_DOUBLE ? 0.5 * DBL_EPSILON : 0.5 * FLT_EPSILON;
    const double most = 4.0 * unit * (16.0 + (double)strake_step_count(solver));
    STRAKE_TRY(strake_run_course_look(course, which, solver, doubt, error));
    course->now.why = why;
    STRAKE_CHECK(fabs(course->now.imbalance) <= most, error, STRAKE_ERR_NUMERIC,
                 "%s: after step %lld there is %.3g %s than there must be, as a part of it, and "
                 "roundings explain %.3g at most: the result is wrong. Where a checkpoint was "
                 "continued, the initial fields must be those of its run; otherwise please report "
                 "this with the case",
                 which->file, (long long)strake_step_count(solver), fabs(course->now.imbalance),
                 course->now.imbalance > 0.0 ? "more" : "less", most);
cleanup:
    return status;
}
