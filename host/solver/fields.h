/**
 * @file fields.h
 * Fields of several ranks through rank 0: it alone reads and writes files, and asks the others for the
 * slabs that they own, or gives them theirs. The program of every rank calls, in the same order,
 * strake_remote_begin(), then strake_remote_serve() on all ranks but 0, and strake_remote_end() on 0,
 * between which rank 0 uses strake_get_slabs() and strake_set_slabs() as ever.
 */
#ifndef STRAKE_SOLVER_FIELDS_H
#define STRAKE_SOLVER_FIELDS_H

#include "solver/solver.h"

/** Brings the devices' states of every rank into its host arrays. Collective. */
strake_status strake_remote_begin(strake_solver *solver, strake_error *error);

/**
 * Rank 0: no more requests; tells the others how it went, and the step that the fields stand at.
 * @param[in] outcome  of what rank 0 did, with its message in @p error
 * @return the same
 */
strake_status strake_remote_end(strake_solver *solver, strake_status outcome, strake_error *error);

/** The other ranks: answers rank 0 until it ends. @return its outcome, with its message */
strake_status strake_remote_serve(strake_solver *solver, strake_error *error);

/** Gathers the reports of all parts of all ranks for strake_solver_parts() on rank 0. Collective. */
strake_status strake_remote_parts(strake_solver *solver, strake_error *error);

#endif
