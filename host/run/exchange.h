/**
 * @file exchange.h
 * How ranks exchange slabs (run.exchange) and how often (run.steps_per_sweep), where the case leaves it open: by
 * the figures that `strake model` keeps of this set-up of ranks (cost/messages.h). Each way and number of steps
 * has a predicted exchange and, with what a step was measured to take, a predicted step; the present ones stay
 * unless others are better by more than measuring them is off.
 */
#ifndef STRAKE_GROUP_EXCHANGE_H
#define STRAKE_GROUP_EXCHANGE_H

#include "run/group.h"

/** Looks for kept figures, unless run.tuned is false. Collective. @param[in] cache  folder, NULL: default */
strake_status strake_exchange_load(strake_rank_group *group, const char *cache,
                                   strake_error *error);
void strake_exchange_free(strake_rank_group *group);

/** Most steps per exchange that may be chosen. @param[in] usual  without figures @param[in] most  possible */
int strake_exchange_deepest(const strake_rank_group *group, int usual, int most);

/**
 * Chooses, once the team of every rank is placed, and places it anew where that changes it. Where parts exchange within
 * their legs there is nothing to choose, and their messages are predicted: of a pass with slices of mean size. Collective.
 */
strake_status strake_exchange_choose(strake_rank_group *group, strake_error *error);

/** The word of run.exchange for it. Returns @p text. */
const char *strake_exchange_name(strake_exchange way, char *text, size_t size);

/** Times these exchanges, and an all-reduce, for the report, and tells what was chosen. Collective. */
strake_status strake_exchange_rehearse(strake_rank_group *group, strake_error *error);

#endif
