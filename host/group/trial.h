/**
 * @file trial.h
 * Ways to exchange that are tried before the first step: real steps with their exchange, which leave the states as
 * they were. What figures predict to be about as fast takes part; every round all are placed and timed in turn, and
 * half of them go on, for twice as long, until the last two have had two rounds. Predictions are corrected by what was
 * measured (strake_round_learn()); the best by them is one of these, and stays unless another one is faster by more than
 * both scatter.
 */
#ifndef STRAKE_GROUP_TRIAL_H
#define STRAKE_GROUP_TRIAL_H

#include "group/group.h"

/**
 * Takes the fastest of strake_rank_exchange.option, beginning with @p first, the best as predicted, and places it; the
 * present way and steps where a rank has no room for it. The longer the run is predicted to take the more are tried:
 * for a second, or a hundredth of it up to ten, and for as long as it at most; of a short run none, nor where states
 * decide on the time step. Collective.
 */
strake_status strake_trial_choose(strake_rank_group *group, int first, strake_error *error);

#endif
