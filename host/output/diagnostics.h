/** @file diagnostics.h What is measured of the states while a case runs: diagnostics.csv. */
#ifndef STRAKE_DIAGNOSTICS_H
#define STRAKE_DIAGNOSTICS_H

#include "base/clock.h"
#include "io/text.h"
#include "solver/solver.h"

#define STRAKE_DIAGNOSTICS_NAME "diagnostics.csv"

/** Zero-initialise. */
typedef struct strake_diagnostics {
    const strake_case *which; /**< borrowed; NULL: the case wants none */
    strake_solver *solver;    /**< borrowed */
    char *path;
    strake_text text; /**< the whole file */
    bool is_new;      /**< has lines that the file has not */
    double written;   /**< when the file was, strake_clock_seconds() */
} strake_diagnostics;

/**
 * Starts the file of a run in an existing folder, if the case wants one. @param[in] resumed  as in
 * strake_output_begin()
 */
strake_status strake_diagnostics_begin(strake_diagnostics *d, const strake_case *which,
                                       strake_solver *solver, const char *folder, int64_t resumed,
                                       strake_error *error);

/** Adds a line if one is due at the present step; the file follows within seconds. */
strake_status strake_diagnostics_measure(strake_diagnostics *d, strake_error *error);

/** Brings the file up to date, atomically. */
strake_status strake_diagnostics_write(strake_diagnostics *d, strake_error *error);

void strake_diagnostics_end(strake_diagnostics *d);

#endif
