/** @file about.h What a run says of itself beside its outputs, for whoever finds them later: run.json. */
#ifndef STRAKE_ABOUT_H
#define STRAKE_ABOUT_H

#include "base/clock.h"
#include "base/georef.h"
#include "case/tree.h"
#include "files/json.h"
#include "files/text.h"
#include "solver/solver.h"

#define STRAKE_ABOUT_NAME "run.json"

/** Room for the id of a run. */
enum { STRAKE_ABOUT_ID = 128 };

/** What the case and the solver do not know. */
typedef struct strake_about {
    const char *commit;       /**< of the program's source, "": unknown */
    const char *const *sets;  /**< NULL-terminated PATH=VALUE that changed the case */
    const char *const *overs; /**< so: PATH=VALUES that differ from run to run; NULL: of one run */
    int ranks;
    int64_t first_step; /**< that this run began from */
    int64_t started;    /**< strake_clock_date() */
    const char *run;    /**< its id */
} strake_about;

/**
 * The id of a run of this process: "2026-11-22T21:58:20Z-node7-1234", its start, host and process. It stands in run.json
 * and in each line of index.csv, so that files of two runs in one folder can be told apart.
 */
void strake_about_id(int64_t started, char id[STRAKE_ABOUT_ID]);

/** Writes run.json into a folder, atomically. @param[in] solver  NULL: of no devices @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY */
strake_status strake_about_write(const strake_about *about, const strake_case *which,
                                 const strake_solver *solver, const char *folder,
                                 strake_error *error);

/** Appends the members "problem" to "units" of run.json: grid, time, and what their numbers and the fields' count. */
void strake_about_grid(const strake_case *which, strake_json *json);

/** Where run.json says that the grid lies: what strake_case_place() was. @param[in] root  of its text, which the system is
 * borrowed from; may be NULL */
strake_georef strake_about_place(const strake_node *root);

#endif
