/** @file run_alone.h One run of a case, silent, in this process: what `strake scan` makes many of. */
#ifndef STRAKE_RUN_ALONE_H
#define STRAKE_RUN_ALONE_H

#include "program/options.h"
#include "opencl/cl_batch.h"
#include "output/report.h"

typedef struct strake_run_wish {
    const strake_arguments *arguments; /**< as of `strake run`; quiet */
    bool keeps; /**< writes what the case says into the folder of @c arguments, else nothing */
    /** has what the problem can tell of the past of its states (strake_field.is_traced) */
    bool traces;
    void (*notice)(void *user, const char *line); /**< of the solver */
    /** Receives the result with its statistics, before the solver is closed. */
    strake_status (*done)(void *user, const strake_result *result, strake_solver *solver,
                          strake_error *error);
    void *user;
    strake_cl_batch *batch; /**< with whose members it steps, or NULL */
    /** Before a run reads its case, and after it has opened its solver or failed to; NULL: nobody asks. */
    void (*opens)(void *user, bool begins);
} strake_run_wish;

/**
 * Runs a case from its initial fields to its last step.
 * @param[out] interrupted  a signal came before the end (interrupt.h): @c done was not called
 * @return as reading, opening and stepping the case fail
 */
strake_status strake_run_alone(const strake_run_wish *wish, bool *interrupted, strake_error *error);

#endif
