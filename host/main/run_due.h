/** @file run_due.h What is due where in a run: by steps, by simulated time, by the time that it takes. */
#ifndef STRAKE_RUN_DUE_H
#define STRAKE_RUN_DUE_H

#include "main/progress.h"
#include "mpi/ranks.h"
#include "solver/solver.h"

/** What is due after a batch of steps. */
typedef struct strake_run_due {
    bool diagnostics, output, checkpoint;
    bool end;       /**< the case asks for no further step */
    double before;  /**< time at which that was looked at last [s] */
    double unsaved; /**< seconds since the last checkpoint by every_minutes, as all ranks have it */
} strake_run_due;

/** Looks again, after some more seconds. */
void strake_run_look(strake_run_due *due, const strake_case *which, const strake_solver *solver,
                     double seconds);

/** Whether the case asks for no further step. */
bool strake_run_is_done(const strake_case *which, const strake_solver *solver);

/** Steps at most @p steps, up to the next time at which something is due. */
strake_status strake_run_on(const strake_case *which, strake_solver *solver, int64_t steps,
                            strake_error *error);

void strake_run_show(strake_progress *progress, const strake_case *which,
                     const strake_solver *solver);

/** What all ranks go by after a batch: the slowest one's seconds, whether any was interrupted or draws. */
strake_status strake_run_agree(strake_ranks *ranks, double *seconds, bool *interrupted, bool *draws,
                               strake_error *error);

#endif
