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

#endif
