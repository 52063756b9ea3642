/** @file shares.h Which slabs belong to which rank. */
#ifndef STRAKE_SHARES_H
#define STRAKE_SHARES_H

#include "group/group.h"

/**
 * Takes the part of a list for several ranks, "cpu/ocl:0", that is this rank's: the only one, or one for
 * each rank. @param[in] option  its name, for messages
 */
strake_status strake_shares_pick(const strake_rank_group *group, const char *option,
                                 const char *text, char *out, size_t size, strake_error *error);

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

#endif
