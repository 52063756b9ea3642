/** @file first_use.h The short tuning of devices of which nothing is known yet. */
#ifndef STRAKE_FIRST_USE_H
#define STRAKE_FIRST_USE_H

#include "main/options.h"
#include "solver/solver.h"

/**
 * Tunes the OpenCL devices of an open solver that use the default settings, for its case, for a few
 * seconds all together. Does nothing with --no-tune or --quiet, without a terminal, or where the cache
 * cannot be written. Whatever goes wrong is a note; the run goes on with the defaults.
 * @return whether there are new results: the solver should be opened again
 */
bool strake_first_use(const strake_arguments *arguments, const strake_case *which,
                      const strake_solver *solver);

#endif
