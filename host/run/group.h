/**
 * @file group.h
 * The ranks that advance a domain together: which has which slabs (shares.h), what they exchange after a
 * sweep (border.h) and have in common (commons.h), and moves of slabs between them (regroup.h). Each has a
 * team and a pace of its own. A lone process is a group of one, with ranks = NULL. Of what is in the slabs
 * a group knows only where it lies in memory (strake_domain_ops.piece).
 */
#ifndef STRAKE_GROUP_H
#define STRAKE_GROUP_H

#include "cost/messages.h"
#include "run/pace.h"

enum { STRAKE_MOST_COMMONS = 4, STRAKE_MOST_ROUND_OPTIONS = 12 };

/** How ranks exchange, by the figures that `strake model` keeps of them (exchange.h). The same on all ranks. */
typedef struct strake_rank_exchange {
    strake_rank_model *figures; /**< NULL: none are known, ... */
    char why[1200];             /**< ... since ... */
    strake_exchange way;        /**< in effect, never auto */
    bool chose_way, chose_steps;
    int options;
    strake_round_option option[STRAKE_MOST_ROUND_OPTIONS];
    double predicted; /**< [s] of the exchange in effect, of host arrays; NaN: unknown */
    double whole;     /**< [s] likewise, with the ways between devices and host arrays */
    double measured;  /**< [s] of that, all ranks ready for it; NaN: it was not */
    int samples;      /**< that it is of */
    double reduce;    /**< predicted [s] of an all-reduce by itself, and ...; NaN: unknown */
    double reduced;   /**< ... measured likewise */
    double waited;    /**< [s] until all is sent and received, in all sweeps of this rank, ... */
    int64_t sweeps;   /**< ... so many */
} strake_rank_exchange;

/** Exchange with other ranks (border.h). */
typedef struct strake_border strake_border;

typedef struct strake_rank_group {
    const strake_case *which;
    strake_ranks *ranks;   /**< borrowed; NULL: this process is alone */
    strake_domain *domain; /**< the team's */
    strake_team *team;
    strake_pace *pace;
    strake_range *owned; /**< slabs of every rank, NULL if it is alone */
    strake_border *border;
    int64_t aim; /**< step up to which all ranks step before they meet */
    int commons; /**< slabs whose states are in memory of other ranks too, with what shares pages with them */
    strake_range common[STRAKE_MOST_COMMONS];

    strake_rank_exchange exchange;

    bool balances;                    /**< slabs may move between ranks */
    strake_balancer *balancer;        /**< on rank 0 */
    struct strake_regroup_look *look; /**< room for what ranks tell each other */
    strake_looks looks;
    double usual; /**< seconds that steps usually take since slabs moved, 0: unknown */
    double busy[STRAKE_MAX_PARTS]; /**< seconds that parts worked since the last look, ... */
    double done[STRAKE_MAX_PARTS]; /**< ... and slabs times steps that they did */
    double *before; /**< on rank 0, [all slabs + 1]: work before each; NULL: slabs are alike */
    double worked;  /**< likewise, on all: work of this rank's slabs at the last look */
    /* Where parts exchange within their legs: */
    bool is_moving; /**< slabs were given that not all ranks have taken yet */
    bool is_fresh;  /**< slabs have come to others, who compute all of them at first */
    strake_decisions log;
} strake_rank_group;

/** Whether ranks exchange within the legs of their parts (within.h), not between them (border.h). */
static inline bool strake_is_within(const strake_rank_group *group)
{
    return group->team->part[0].ops->meets_within;
}

#endif
