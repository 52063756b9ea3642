/** @file batch.h How many steps a run takes before it looks up. */
#ifndef STRAKE_BATCH_H
#define STRAKE_BATCH_H

#include "case/case.h"

/**
 * Steps until something is due: the batch is over, or outputs, checkpoints, diagnostics or the last step.
 */
int64_t strake_batch_steps(const strake_case *which, int64_t step, int64_t batch);

/**
 * The batch after one of @p batch (cut to @p done) steps that took @p seconds: whole sweeps of the @p sweep
 * steps that are taken at once.
 */
int64_t strake_batch_next(int64_t batch, int64_t done, int64_t sweep, double seconds);

/** Whether a case asks for checkpoints, for diagnostics. */
bool strake_batch_has_checkpoints(const strake_case *which);
bool strake_batch_has_diagnostics(const strake_case *which);

/**
 * Steps between two looks at the course of a run, which take as long as its cells are many: STRAKE_LOOK_STEPS, of more
 * than 250,000 cells as many more. It does not depend on where a case runs. 0: nobody looks
 */
int64_t strake_batch_looks(const strake_case *which);

/** The first multiple of @p every [s] after a time, less what only rounding keeps a time from it. */
double strake_batch_multiple(double every, double time);

/** Time at which outputs, checkpoints or diagnostics are due by it, the first after @p time; INFINITY: none. */
double strake_batch_until(const strake_case *which, double time);

/** Whether something is due after @p step, which is at @p time, the step looked at before at @p before. */
bool strake_batch_is_due(int64_t every, double seconds, int64_t step, double before, double time);

#endif
