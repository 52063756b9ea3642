/**
 * @file choose.h
 * Measuring a team on trial steps, and `auto`: which parts take part. The fastest part alone is where
 * it starts; others are switched on one by one, the fastest first, while each still makes a step shorter
 * (Bilotta et al. 2013: a device more where those in use are saturated).
 */
#ifndef STRAKE_CHOOSE_H
#define STRAKE_CHOOSE_H

#include "engine/balance.h"
#include "run/pace.h"

/** Seconds per step of the placed team, and of each part's own work, from trial steps. */
strake_status strake_time_team(strake_pace *pace, double *seconds, double *part_seconds,
                               strake_error *error);

/**
 * Times the placed team in several trials, for about a second and at least three times.
 * @return STRAKE_ERR_MEMORY, or what fails
 */
strake_status strake_time_often(strake_pace *pace, strake_forecast *out, strake_error *error);

/** Places and loads the parts for a trial, and notes what that takes: about as much as switching some on or off. */
strake_status strake_balance_place(strake_pace *pace, const double *weight, strake_error *error);

/**
 * Places the parts by @p weight, then twice by the rates that were measured.
 * @param[in,out] weight   per part; a part with 0 takes no part
 * @param[out]    seconds  per step, in the end
 */
strake_status strake_balance_weights(strake_pace *pace, double *weight, double *seconds,
                                     strake_error *error);

/**
 * Where parts meet within steps (sample.c): finds their rates, as tuned or on a few slabs, and places them by their
 * work; under the model's policy without those that would make no step shorter.
 */
strake_status strake_share_work(strake_pace *pace, strake_error *error);

/** Chooses who takes part, and places: of `auto`, and of a list where that may be faster (balance.c). */
strake_status strake_choose(strake_pace *pace, strake_error *error);

/** Whether steps leave out cells that are still: trials compute all, and nobody knows how many there will be. */
bool strake_may_rest(const strake_case *which);

/** Remembers what the placed team was measured to take, for strake_solver_choices(). */
void strake_tell_choice(strake_pace *pace, double seconds, bool taken, const char *why);

/** The same of places that are not placed. */
void strake_tell_choice_of(strake_pace *pace, const char *where, double seconds, bool taken,
                           const char *why);

#endif
