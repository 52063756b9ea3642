/**
 * @file diagnostics.h
 * What is measured of the states while a case runs, in tables of lines that begin with step and time: diagnostics.csv (the
 * problem's quantities), probes.csv (what the probes of a scene see) and lost.csv (particles that left; only where some did).
 */
#ifndef STRAKE_DIAGNOSTICS_H
#define STRAKE_DIAGNOSTICS_H

#include "base/clock.h"
#include "files/text.h"
#include "solver/solver.h"

typedef enum strake_measures {
    STRAKE_MEASURES_QUANTITIES,
    STRAKE_MEASURES_PROBES,
    STRAKE_MEASURES_LOST,
    STRAKE_MEASURES
} strake_measures;

/** Plain names of the files. */
extern const char *const strake_measures_name[STRAKE_MEASURES];

/** One of them; path NULL: the case has none. */
typedef struct strake_measures_table {
    char *path;
    strake_text text; /**< the whole file */
    bool is_new;      /**< has lines that the file has not */
    bool is_written;  /**< its file is in the folder */
} strake_measures_table;

/** Zero-initialise. */
typedef struct strake_diagnostics {
    const strake_case *which; /**< borrowed */
    strake_solver *solver;    /**< borrowed */
    strake_measures_table table[STRAKE_MEASURES];
    double *value;  /**< room for a line of probes */
    int64_t losses; /**< of the domain, that are in the table */
    double written; /**< when the files were, strake_clock_seconds() */
} strake_diagnostics;

/** Whether a run of this case may have some of these files. */
bool strake_diagnostics_wants(const strake_case *which);

/**
 * Starts the files of a run in an existing folder, those that the case has. @param[in] resumed  as in
 * strake_output_begin()
 */
strake_status strake_diagnostics_begin(strake_diagnostics *d, const strake_case *which,
                                       strake_solver *solver, const char *folder, int64_t resumed,
                                       strake_error *error);

/** Adds a line of each table at the present step; the files follow within seconds. */
strake_status strake_diagnostics_measure(strake_diagnostics *d, strake_error *error);

/** Brings the files up to date, each atomically, also with who left since. */
strake_status strake_diagnostics_write(strake_diagnostics *d, strake_error *error);

void strake_diagnostics_end(strake_diagnostics *d);

#endif
