#include "main/run_due.h"

#include <math.h>
#include <stdio.h>

#include "main/interrupt.h"
#include "solver/batch.h"

bool strake_run_is_done(const strake_case *which, const strake_solver *solver)
{
    return strake_step_count(solver) >= which->steps ||
           (which->problem->is_adaptive && strake_time(solver) >= which->end);
}

void strake_run_look(strake_run_due *due, const strake_case *which, const strake_solver *solver,
                     double seconds)
{
    const int64_t step = strake_step_count(solver);
    const double time = strake_time(solver), most = 60.0 * which->checkpoint_minutes;
    due->unsaved += seconds;
    due->end = strake_run_is_done(which, solver);
    due->diagnostics = strake_batch_is_due(which->diagnostics_every, which->diagnostics_seconds,
                                           step, due->before, time);
    due->output = due->end || strake_batch_is_due(which->output_every, which->output_seconds, step,
                                                  due->before, time);
    due->checkpoint = strake_batch_is_due(which->checkpoint_every, which->checkpoint_seconds, step,
                                          due->before, time);
    if (most > 0.0 && due->unsaved >= most) {
        due->unsaved = 0.0;
        due->checkpoint = true;
    }
    due->before = time;
}

strake_status strake_run_on(const strake_case *which, strake_solver *solver, int64_t steps,
                            strake_error *error)
{
    const double until = strake_batch_until(which, strake_time(solver));
    return until < INFINITY ? strake_advance(solver, until, steps, error)
                            : strake_step(solver, steps, error);
}

void strake_run_show(strake_progress *progress, const strake_case *which,
                     const strake_solver *solver)
{
    char facts[96];
    const double time = strake_time(solver);
    if (!which->problem->is_adaptive) {
        strake_progress_update(progress, strake_step_count(solver),
                               strake_solver_step_seconds(solver));
        return;
    }
    (void)snprintf(facts, sizeof facts, "%.4g of %.4g s, step %lld", time, which->end,
                   (long long)strake_step_count(solver));
    strake_progress_show(progress, which->end > 0.0 ? time / which->end : 1.0, facts);
}

strake_status strake_run_agree(strake_ranks *ranks, double *seconds, bool *interrupted, bool *draws,
                               strake_error *error)
{
    double value[3] = {*seconds, strake_interrupted() ? 1.0 : 0.0, *draws ? 1.0 : 0.0};
    const strake_status status = strake_ranks_most(ranks, value, 3, error);
    *seconds = value[0];
    *interrupted = value[1] > 0.0;
    *draws = value[2] > 0.0;
    return status;
}
