/**
 * @file regroup.h
 * Shares of ranks that follow measured times while a run goes on: now and then, when all ranks have done
 * the same steps, each tells what a step of its own slabs took it without waiting for others. Rank 0
 * decides by the rule that moves slabs between the parts of a process (engine/balance.h), and where that
 * pays every rank sends slabs, states and what stays the same, to their new owners and places its team
 * anew around what it then has. What a part of a rank can take over from another part of it is left to
 * rebalance.c.
 */
#ifndef STRAKE_REGROUP_H
#define STRAKE_REGROUP_H

#include "run/group.h"

/* Which slabs belong to which rank. */

/** Says which slabs every rank has from now on. */
void strake_shares_set(strake_rank_group *group, const strake_range *owned);

/** The present split of this rank's slabs among its places, for another number of them. */
void strake_shares_split(const strake_rank_group *group, double *weight);

/** Refuses what this rank's places cannot be under ranks. @return STRAKE_ERR_USAGE */
strake_status strake_shares_check(const strake_rank_group *group, strake_error *error);

/** Weights given for the ranks, or equal ones. @return STRAKE_ERR_USAGE for what are none */
strake_status strake_shares_weights(const strake_rank_group *group, double *weight,
                                    strake_error *error);

/** First shares, before any measurement. */
strake_status strake_shares_begin(strake_rank_group *group, strake_error *error);

/**
 * Places the team of every rank: shares by given weights or in proportion to the measured rates, steps
 * at once that suit all, and the exchange between them. Collective.
 */
strake_status strake_shares_place(strake_rank_group *group, strake_error *error);

/** What strake_solver_rank_policy() says. */
int strake_regroup_policy(const strake_rank_group *group, double *slab_seconds, int64_t *least);

/** Starts, once all ranks are placed; does nothing for a lone one. @return STRAKE_ERR_MEMORY on rank 0 */
strake_status strake_regroup_begin(strake_rank_group *group, strake_error *error);
void strake_regroup_end(strake_rank_group *group);

/** How many of @p steps steps all ranks do before they look at their balance. */
int64_t strake_regroup_piece(const strake_rank_group *group, int64_t steps);

/** Adds a run of the team of @p steps steps. */
void strake_regroup_observe(strake_rank_group *group, int64_t steps);

/**
 * After @p steps steps of all ranks, which took @p elapsed seconds: when enough have come together they look
 * at the balance and move slabs where that pays. Collective.
 */
strake_status strake_regroup(strake_rank_group *group, int64_t steps, double elapsed,
                             strake_error *error);

#endif
