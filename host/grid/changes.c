#include "grid/changes.h"

#include <math.h>

#include "grid/inputs.h"

/* A flow that turns round is taken at the middle of each step: of so many before all is back, however slow it is. */
enum { STEPS_OF_REVERSAL = 20 };

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
               : one->begin != other->begin || one->dt != other->dt;
}

int64_t strake_changes_least(const strake_case *which)
{
    double least = (double)INFINITY;
    for (int f = 0; f < which->problem->fields; f++) {
        least = fmin(least, strake_source_interval(which->source[f]));
    }
    if (which->courant > 0.0) {
        return least > 0.0 ? INT64_MAX : 1; /* nobody knows, but for a change with every step */
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

static double next_level(const strake_grid *grid, double time)
{
    double next = (double)INFINITY;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        next = grid->field[f].changes
                   ? fmin(next, strake_source_next_level(grid->which->source[f], time))
                   : next;
    }
    return next;
}

/* Steps end where the next level of an input begins, and at the end of the run; beyond that only levels count. */
static double next_stop(const strake_grid *grid, double time)
{
    const double level = next_level(grid, time), end = grid->domain.clock.stop;
    return end > time ? fmin(level, end) : level;
}

/* The step that begins at a time. */
static double step_at(const strake_grid *grid, double time)
{
    static const double rounded = 1e-9;
    const double left = grid->pace_until - time;
    return grid->pace <= left * (1.0 + rounded) ? grid->pace : left;
}

/* Steps of one length from now on. */
static int64_t timed_steady(const strake_grid *grid, int64_t most)
{
    double time = grid->domain.clock.time;
    int64_t steps = 0;
    do {
        time += grid->domain.clock.dt;
        steps++;
    } while (steps < most && next_stop(grid, time) == grid->pace_until &&
             step_at(grid, time) == grid->domain.clock.dt);
    return grid->domain.steady == 1 ? 1 : steps;
}

int64_t strake_changes_steady(const strake_grid *grid, int64_t most)
{
    if (grid->domain.is_timed) {
        return timed_steady(grid, most);
    }
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

/* Fills all velocities, as they are in a moment. */
static strake_status refill_velocities(strake_grid *grid, const strake_moment *moment,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    grid->moment = *moment;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (grid->field[f].from_shape) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    return status;
}

/* The longest step until the next level: a flow between two extremes is never faster than in one of them. */
static strake_status find_pace(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = grid->which;
    double most = 0.0, longest = which->dt;
    for (int f = 0; f < which->problem->fields; f++) {
        longest = fmin(longest, strake_source_reversal(which->source[f]) / STEPS_OF_REVERSAL);
    }
    for (int extreme = 1; extreme <= (grid->domain.steady == 1 ? 2 : 1); extreme++) {
        const strake_moment moment = {grid->domain.clock.time, 1.0, extreme};
        double rate = 0.0;
        STRAKE_TRY(
            strake_ranks_agree(grid->domain.ranks, refill_velocities(grid, &moment, error), error));
        STRAKE_TRY(strake_inputs_rate(grid, &rate, error));
        most = fmax(most, rate);
    }
    grid->pace = fmin(longest, which->courant / most);
    STRAKE_CHECK(grid->pace < (double)INFINITY, error, STRAKE_ERR_USAGE,
                 "%s: time.courant: nothing flows, so that any time step would do; give time.dt, "
                 "the longest one",
                 which->file);
cleanup:
    grid->pace = status == STRAKE_OK ? grid->pace : 0.0;
    return status;
}

/* Velocities are what flows in a step: they change with its length, too. */
static strake_status pass_timed(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_clock *const clock = &grid->domain.clock;
    const strake_moment before = grid->moment;
    const double until = next_stop(grid, clock->time);
    const bool is_new =
        grid->pace == 0.0 || grid->pace_until != until || strake_inputs_are_new(grid);
    strake_moment now = {clock->time, 0.0, 0};
    if (is_new) {
        STRAKE_TRY(find_pace(grid, error));
    }
    grid->pace_until = until;
    clock->dt = now.dt = step_at(grid, clock->time);
    if (is_new || now.dt != before.dt || (grid->domain.steady == 1 && now.begin != before.begin)) {
        STRAKE_TRY(refill_velocities(grid, &now, error));
    }
    grid->moment = now;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (!grid->field[f].from_shape && grid->field[f].changes &&
            differs(grid, f, &now, &before)) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    return status;
}

strake_status strake_changes_pass(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_moment before = grid->moment;
    if (grid->domain.is_timed) {
        return pass_timed(grid, error);
    }
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
