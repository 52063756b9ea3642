/** @file inputs.h Fields from a case, ready to be stepped; only for host/solver/. */
#ifndef STRAKE_INPUTS_H
#define STRAKE_INPUTS_H

#include "grid/grid.h"

/* Fields of which a problem takes nothing negative (strake_problem.nonnegative); only for host/grid/. */

/**
 * The same of dense slabs [first, end) that somebody gives. Of states what roundings leave below 0 is let through: they
 * come back from models and checkpoints.
 */
strake_status strake_signs_check_given(const strake_grid *grid, int field, int64_t first,
                                       int64_t end, const void *data, strake_error *error);

/* What is largest in fields, and what decides on the stability of inputs; only for host/grid/. */

typedef strake_extreme strake_extremes[STRAKE_MAX_EXTREMES];

/** Adds what is largest in some slabs, of whatever is looked for. */
typedef void strake_survey_look(const void *user, strake_range slabs, strake_extremes found);

/** What some slabs lack that are surveyed next, by the same thread. */
typedef void strake_survey_work(const void *user, strake_range slabs);

/**
 * Fills every field that the case gives, or that has a default: states in this rank's slabs, inputs that
 * stay the same in its window.
 */
strake_status strake_inputs_fill(strake_grid *grid, strake_error *error);

/** Of the inputs that are new: ghosts, weighting of velocities, stability. Collective. */
strake_status strake_inputs_prepare(strake_grid *grid, strake_error *error);

/** Fills an input anew from the case, as it is in the grid's moment; it is to be prepared then. */
strake_status strake_inputs_refill(strake_grid *grid, int field, strake_error *error);

/**
 * What the problem's survey says of the longest step (strake_problem.pace), of inputs filled for one of 1 s: they are
 * to be filled anew then.
 * Collective.
 */
strake_status strake_inputs_rate(strake_grid *grid, double *rate, strake_error *error);

/** Whether an input becomes another one by itself: with time, or with the time step that follows from it. */
bool strake_inputs_move(const strake_grid *grid, int field);

/** Whether an input that decides on stability is new: given by a user, or filled and not prepared yet. */
bool strake_inputs_are_new(const strake_grid *grid);

/** Fills the field that is poured anew, as it is from the clock's time on. */
void strake_inputs_pour(strake_grid *grid);

/** Whether the problem pours something into an input of this case, rather than that it is given. */
bool strake_inputs_are_poured(const strake_case *which, int field);

#endif
