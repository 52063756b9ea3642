/**
 * @file pace.h
 * How fast the parts of one process are and what follows: first shares (balance.c, choose.c, predict.c),
 * moves of slabs while a run goes on (rebalance.c), the copy of the states from which it goes on when a
 * device fails (rescue.h). It stands on a team and, like it, knows nothing of what is in a domain.
 */
#ifndef STRAKE_PACE_H
#define STRAKE_PACE_H

#include "engine/balance.h"
#include "engine/looks.h"
#include "run/rebalance.h"
#include "run/team.h"

/** What a WHERE text stands for. */
typedef enum strake_where_kind { STRAKE_WHERE_LIST, STRAKE_WHERE_AUTO } strake_where_kind;

/** The copy of all states (rescue.h). */
typedef struct strake_kept {
    bool refused; /**< there is no memory for it */
    bool valid;
    bool is_outdated; /**< it was, but inputs have changed since: nobody could go on from it */
    int64_t step;
    strake_clock clock;
    double dt_after; /**< strake_domain.dt_after */
    double since;    /**< seconds of stepping before it was made */
    double cost;     /**< seconds that it took */
    double pace;     /**< seconds per step before it, 0: unknown */
} strake_kept;

typedef struct strake_pace {
    const strake_case *which;
    strake_team *team;
    strake_domain *domain; /**< the team's */
    strake_where_kind kind;
    double weight[STRAKE_MAX_PARTS]; /**< given, where team->has_weights */
    int choices;
    strake_choice choice[STRAKE_MOST_CHOICES];

    bool balances; /**< slabs may move while it runs */
    strake_balancer balancer;
    bool levels;   /**< shares of the CPU stripe's workers may */
    bool levelled; /**< they did at the last look */
    strake_looks looks;
    double seen_busy[STRAKE_MAX_PARTS]; /**< seconds that parts worked since the last look */
    /** where slabs differ: what slabs took on trial, all of each */
    strake_times tried[STRAKE_MAX_PARTS];
    /** likewise, of tuned parts; slope 0: it is not known */
    strake_times_line predicted[STRAKE_MAX_PARTS];
    /** likewise: [slabs of this rank + 1] work before each; NULL: they are alike */
    double *before;
    double worked[STRAKE_MAX_PARTS]; /**< likewise: work of each part at the last look */
    /** where memory bounds somebody: [slabs of this rank + 1] what those before take; else NULL */
    double *load;
    double room[STRAKE_MAX_PARTS]; /**< likewise: what parts have; INFINITY: no bound */
    double whole_slab;             /**< likewise: work of a slab of which nothing is left out */
    double beyond; /**< likewise: seconds that a step of several parts took on trial beyond the
                         slowest one, 0: there was none */
    /** seconds that placing and loading parts for a trial took last, 0: there was none */
    double placing;
    bool
        is_fresh; /**< what was seen says nothing yet of later steps: a run has begun, or slabs have come to others */
    strake_decisions log;

    strake_kept kept;
    double step_seconds; /**< inside strake_step() so far */
    bool is_broken;      /**< a device failed and there was nobody to go on: no more steps */
} strake_pace;

/** Finds weights by measurement, or, for auto, which parts to use and their weights; places them. */
strake_status strake_balance(strake_pace *pace, strake_error *error);

/**
 * The policy that run.balance asks for: its words are in the order of the policies, after `auto`, which
 * keeps shares that the user gave.
 */
strake_balance_policy strake_rebalance_policy(const strake_case *which, bool has_shares);

/** First guess of what moving a slab costs [s]. */
double strake_rebalance_cost(const strake_pace *pace);

/** Finds load and room for the work of slabs as it was weighed last. @return whether memory bounds anybody */
bool strake_rooms_find(strake_pace *pace);
/** Whether a part has memory for slabs [first, end) of this rank's. */
bool strake_rooms_hold(const strake_pace *pace, int e, int64_t first, int64_t end);

/** Starts balancing, once parts are made. */
void strake_rebalance_begin(strake_pace *pace);

/**
 * Where parts meet within steps, and states were given before the first of them: shares the slabs anew by their work, which a
 * checkpoint has elsewhere than the case at its start, by whom parts were placed. (sample.c)
 */
strake_status strake_share_given(strake_pace *pace, strake_error *error);
void strake_rebalance_end(strake_pace *pace);

/** What keeps parts from having other slabs as they are; the greater one counts. */
typedef enum strake_obstacle {
    STRAKE_NO_OBSTACLE,
    STRAKE_OTHER_PARTS, /**< one would lose its last slab or get its first: it has to be made anew */
    STRAKE_NO_ROOM      /**< one has no room for what it would get */
} strake_obstacle;

/** @param[in] range  [part] slabs that it would have */
strake_obstacle strake_rebalance_obstacle(const strake_team *team, const strake_range *range);

/**
 * Gives every part so many slabs, in their order; who had none, or is to have none, makes all be made anew.
 * @param[in,out] owned  per part, as wanted, then as it is
 */
strake_status strake_rebalance_move(strake_pace *pace, int64_t *owned, strake_error *error);

/** Seconds that every part worked in the last run, of so many steps: by the device's own timer where it
 * tells, else its thread's; of several threads the slowest one's. */
void strake_parts_worked(const strake_team *team, int64_t steps, double *seconds);

/** Steps that the run has still to do, as far as the case knows. */
int64_t strake_steps_ahead(const strake_pace *pace);

/** How many of @p steps steps to run before looking at the balance. */
int64_t strake_rebalance_piece(const strake_pace *pace, int64_t steps);

/**
 * Adds a run of @p steps steps, which took @p elapsed seconds, and when enough have come together looks
 * at the balance and moves slabs where that pays. What was seen before a run was @p halted says nothing
 * about now.
 */
strake_status strake_rebalance(strake_pace *pace, int64_t steps, double elapsed, bool halted,
                               strake_error *error);

#endif
