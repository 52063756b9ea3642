#include "grid/changes.h"

#include <math.h>

#include "grid/inputs.h"

static double interval_of(const strake_grid *grid, int f)
{
    return grid->field[f].changes ? strake_source_interval(grid->which->source[f])
                                  : (double)INFINITY;
}

/* Whether an input is another one in the step that begins at one time than in that of another. */
static bool differs(const strake_grid *grid, int f, const strake_moment *one,
                    const strake_moment *other)
{
    const strake_source *const source = grid->which->source[f];
    const double interval = interval_of(grid, f);
    return interval > 0.0
               ? interval < (double)INFINITY && strake_source_level(source, one->begin) !=
                                                    strake_source_level(source, other->begin)
               : one->begin != other->begin;
}

int64_t strake_changes_least(const strake_case *which)
{
    double least = (double)INFINITY;
    for (int f = 0; f < which->problem->fields; f++) {
        least = fmin(least, strake_source_interval(which->source[f]));
    }
    const double steps = floor(least / which->dt);
    return isinf(least) ? 0 : steps < 1.0 ? 1 : steps < 0x1p53 ? (int64_t)steps : INT64_MAX;
}

/* The first step after @p step in which an input is another one, at most @p end. */
static int64_t next_change(const strake_grid *grid, int f, int64_t step, int64_t end)
{
    const strake_case *const which = grid->which;
    const strake_moment now = strake_case_moment(which, step);
    const double interval = interval_of(grid, f);
    const double level = (double)strake_source_level(which->source[f], now.begin) + 1.0;
    const double guess = floor(level * interval / which->dt);
    int64_t next = guess < (double)end ? (int64_t)guess : end;
    next = next > step ? next : step + 1;
    strake_moment then = strake_case_moment(which, next);
    while (next < end && !differs(grid, f, &now, &then)) {
        then = strake_case_moment(which, ++next);
    }
    then = strake_case_moment(which, next - 1);
    while (next - 1 > step && differs(grid, f, &now, &then)) {
        then = strake_case_moment(which, --next - 1);
    }
    return next;
}

int64_t strake_changes_steady(const strake_grid *grid, int64_t most)
{
    const int64_t step = grid->domain.step;
    int64_t end = step + most;
    for (int f = 0; f < grid->which->problem->fields && end > step + 1; f++) {
        const double interval = interval_of(grid, f);
        if (interval < (double)INFINITY) {
            end = interval > 0.0 ? next_change(grid, f, step, end) : step + 1;
        }
    }
    return end - step;
}

strake_status strake_changes_pass(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_moment before = grid->moment;
    grid->moment = strake_case_moment(grid->which, grid->domain.step);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (grid->field[f].changes && differs(grid, f, &grid->moment, &before)) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    grid->moment = status == STRAKE_OK ? grid->moment : before;
    return status;
}
