/**
 * @file within.h
 * Ranks whose parts exchange within their legs (strake_part_ops.meets_within), as particles do: they share the work of
 * slabs, which nobody tries out together, and the domain itself brings to other ranks what they need. All end their runs
 * at the same steps.
 */
#ifndef STRAKE_WITHIN_H
#define STRAKE_WITHIN_H

#include "run/group.h"

/** Slabs for every rank, the placed teams, and their exchange. Collective. */
strake_status strake_within_place(strake_rank_group *group, strake_error *error);

/**
 * Gives every rank slabs (regroup.h), which its parts take with their next order; not where some part has no room. Then
 * whether all have: until they do nobody balances. Collective.
 */
strake_status strake_within_move(strake_rank_group *group, const strake_range *owned, bool *moved,
                                 strake_error *error);
strake_status strake_within_settle(strake_rank_group *group, bool *settled, strake_error *error);

/** All ranks step up to a step before they meet; and this one goes no further, as others learn unless they know. */
void strake_within_expect(strake_rank_group *group, int64_t aim);
void strake_within_break(strake_rank_group *group);

#endif
